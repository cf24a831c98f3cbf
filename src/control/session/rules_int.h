/* SPDX-License-Identifier: MIT */
/*
 * rules_int.h - shared by rules.c (builds rules from globs and filters, writes the file) and
 * rules_change.c (reads rules back and changes them). For those two files only.
 */
#ifndef WM_CONTROL_SESSION_RULES_INT_H
#define WM_CONTROL_SESSION_RULES_INT_H

#include "control/rules.h"
#include "runtime/agent.h"

struct wm_rules_one {
	char *given;            /* the glob as the caller wrote it */
	struct wm_rule *record; /* record, glob, filter and padding, as in the file */
};

struct wm_rules {
	struct wm_rules_options options;
	struct wm_rules_one *rules; /* in order of their change numbers */
	uint32_t nr_rules;
	uint64_t generation; /* the file's generation when last written; 0: not written */
	size_t bytes;        /* the file's size with these rules */
};

static inline const char *wm_rule_glob(const struct wm_rule *r)
{
	return (const char *)(r + 1);
}

/*
 * Appends a rule. On success takes ownership of `record`; `given` is copied. Returns the rule's
 * index, -E2BIG with diag if the file would be too large, or -ENOMEM.
 */
int wm_rules_append(struct wm_rules *r, const char *given, struct wm_rule *record,
		    struct wm_diag *diag);

#endif
