/* SPDX-License-Identifier: MIT */
/*
 * arguments.c - option arguments of `waymark record`: -F, -c and -g; --trigger, --synthetic,
 * --stacks; --every.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/number.h"
#include "cmd/record/record.h"
#include "collect/proc_source.h"

/* --- sampling ---------------------------------------------------------------------------- */

int wm_record_sample_rate(struct wm_sampling_how *how, const char *argument, bool frequency,
			  struct wm_diag *diag)
{
	int64_t n;

	if (how->frequency || how->period)
		return wm_diag_set(diag, -EINVAL, NULL, -1,
				   "give -F or -c only once, and not both");
	if (wm_number_parse_integer(argument, 1, INT64_MAX, &n) < 0)
		return wm_diag_set(diag, -EINVAL, NULL, -1, "'%s' is not a positive integer (%s)",
				   argument,
				   frequency ? "samples per second" : "events per sample");
	if (frequency)
		how->frequency = (uint64_t)n;
	else
		how->period = (uint64_t)n;
	return 0;
}

int wm_record_sample_chain(struct wm_sampling_how *how, const char *argument, struct wm_diag *diag)
{
	int64_t bytes = WM_SAMPLE_STACK_DEFAULT;

	if (!argument || !strcmp(argument, "fp")) {
		how->chain = WM_CHAIN_FRAMES;
		return 0;
	}
	if (strncmp(argument, "dwarf", 5) != 0 || (argument[5] && argument[5] != ','))
		return wm_diag_set(diag, -EINVAL, NULL, -1, "'%s' is neither fp nor dwarf[,BYTES]",
				   argument);
	if (argument[5] &&
	    (wm_number_parse_integer(argument + 6, 8, WM_SAMPLE_STACK_MAX, &bytes) < 0 ||
	     bytes % 8))
		return wm_diag_set(
		    diag, -EINVAL, NULL, -1,
		    "'%s': the stack size must be a multiple of 8 and at most %u bytes", argument,
		    WM_SAMPLE_STACK_MAX);
	how->chain = WM_CHAIN_STACK;
	how->stack_bytes = (uint32_t)bytes;
	return 0;
}

bool wm_record_sample_join(const struct wm_sampling_how *general, const struct wm_sampling_how *own,
			   struct wm_sampling_how *ret)
{
	*ret = *own;
	if (!ret->frequency && !ret->period) {
		ret->frequency = general->frequency;
		ret->period = general->period;
	}
	if (!ret->chain) {
		ret->chain = general->chain;
		ret->stack_bytes = general->stack_bytes;
	}
	return ret->frequency || ret->period || ret->chain;
}

/* --- other requests to the kernel ---------------------------------------------------------- */

static int record_arguments_add(const char *list[WM_RECORD_MORE_MAX], unsigned *nr,
				const char *argument, struct wm_diag *diag)
{
	if (*nr == WM_RECORD_MORE_MAX)
		return wm_diag_set(diag, -E2BIG, NULL, -1, "given more than %u times",
				   WM_RECORD_MORE_MAX);
	list[(*nr)++] = argument;
	return 0;
}

int wm_record_more_trigger(struct wm_record_more *m, const char *argument, struct wm_diag *diag)
{
	return record_arguments_add(m->triggers, &m->nr_triggers, argument, diag);
}

int wm_record_more_synthetic(struct wm_record_more *m, const char *argument, struct wm_diag *diag)
{
	return record_arguments_add(m->synthetics, &m->nr_synthetics, argument, diag);
}

int wm_record_more_stacks(struct wm_record_more *m, const char *argument, struct wm_diag *diag)
{
	for (const char *p = argument; *p;) {
		size_t n = strcspn(p, ",");

		if (n == strlen("kernel") && !strncmp(p, "kernel", n))
			m->kernel_stacks = true;
		else if (n == strlen("user") && !strncmp(p, "user", n))
			m->user_stacks = true;
		else
			return wm_diag_set(diag, -EINVAL, NULL, -1,
					   "unknown stack '%.*s': use kernel or user", (int)n, p);
		p += n + (p[n] == ',');
	}
	return 0;
}

int wm_record_more_begin(const struct wm_record_more *m, struct wm_recorder_events *e,
			 const char **ret_text, struct wm_diag *diag)
{
	int err = 0;

	*ret_text = NULL;
	for (unsigned i = 0; !err && i < m->nr_synthetics; i++)
		err = wm_recorder_want_synthetic(e, m->synthetics[i], diag);
	if (!err && m->kernel_stacks)
		err = wm_recorder_want_stacks(e, true, diag);
	if (!err && m->user_stacks)
		err = wm_recorder_want_stacks(e, false, diag);
	for (unsigned i = 0; !err && i < m->nr_triggers; i++) {
		*ret_text = m->triggers[i];
		err = wm_recorder_want_trigger(e, m->triggers[i], diag);
	}
	return err;
}

/* --- /proc counters ----------------------------------------------------------------------- */

int wm_record_proc_every(uint64_t *every_ns, const char *argument, struct wm_diag *diag)
{
	if (*every_ns)
		return wm_diag_set(diag, -EINVAL, NULL, -1, "given twice for the same events");
	if (wm_number_parse_duration(argument, WM_PROC_EVERY_MIN_NS, WM_PROC_EVERY_MAX_NS,
				     every_ns))
		return wm_diag_set(diag, -EINVAL, NULL, -1,
				   "'%s' is not a duration between 1ms and 1h, such as 100ms",
				   argument);
	return 0;
}
