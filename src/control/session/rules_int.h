/* SPDX-License-Identifier: MIT */
/*
 * rules_int.h - what rules.c (rules people give, the file they become) and
 * rules_change.c (rules read back and changed) share. For those two only.
 */
#ifndef WM_CONTROL_SESSION_RULES_INT_H
#define WM_CONTROL_SESSION_RULES_INT_H

#include "control/rules.h"
#include "runtime/agent.h"

struct wm_rules_one {
	char *given;            /* the glob as people wrote it */
	struct wm_rule *record; /* record, glob, filter, padding: as in the file */
};

struct wm_rules {
	struct wm_rules_options options;
	struct wm_rules_one *rules; /* by change */
	uint32_t nr_rules;
	uint64_t generation; /* of the file as it stands; 0: not written */
	size_t bytes;        /* of the file with these rules */
};

static inline const char *wm_rule_glob(const struct wm_rule *r)
{
	return (const char *)(r + 1);
}

/*
 * Takes the record over when it succeeds; `given` is copied. The rule's index,
 * -E2BIG when the file would be too large (with a sentence), or -ENOMEM.
 */
int wm_rules_append(struct wm_rules *r, const char *given, struct wm_rule *record,
		    struct wm_diag *diag);

#endif
