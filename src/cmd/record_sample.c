/* SPDX-License-Identifier: MIT */
/*
 * record_sample.c - sampling in `waymark record`: what -F, -c and -g say, and
 * the events they are said of.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "cmd/exit.h"
#include "cmd/record.h"
#include "cmd/say.h"
#include "kernel/event_name.h"
#include "kernel/privilege.h"

#define RATE_DEFAULT  4000 /* samples a second, where only -g was said */
#define MAX_RATE_FILE "/proc/sys/kernel/perf_event_max_sample_rate"

/* --- options --------------------------------------------------------------------------- */

int wm_record_sample_rate(struct wm_sampling_how *how, const char *argument, bool frequency,
			  struct wm_diag *diag)
{
	int64_t n;

	if (how->frequency || how->period)
		return wm_diag_set(diag, -EINVAL, NULL, -1,
				   "-F and -c exclude each other, and each is said once");
	if (wm_number_parse_integer(argument, 1, INT64_MAX, &n) < 0)
		return wm_diag_set(
		    diag, -EINVAL, NULL, -1, "'%s' is not a number of 1 or more: %s", argument,
		    frequency ? "samples a second" : "one sample each so many events");
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
		return wm_diag_set(diag, -EINVAL, NULL, -1,
				   "'%s': the stack's bytes are a multiple of 8, at most %u",
				   argument, WM_SAMPLE_STACK_MAX);
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

/* --- events ------------------------------------------------------------------------------ */

/* Where only -g was said: each tracepoint, and of others as many a second as perf takes. */
static void set_rate(struct wm_sampling_how *how, const struct wm_event_def *def)
{
	int64_t most;

	if (how->frequency || how->period)
		return;
	if (def->type == PERF_TYPE_TRACEPOINT) {
		how->period = 1;
		return;
	}
	how->frequency = RATE_DEFAULT;
	if (wm_privilege_setting(MAX_RATE_FILE, &most) == 0 && most > 0 && most < RATE_DEFAULT)
		how->frequency = (uint64_t)most;
}

static void say_narrowed(const struct wm_event_def *def)
{
	struct wm_privilege p;

	wm_privilege_read(&p);
	wm_say("%s is sampled outside the kernel only: what happens in it is not ours to see "
	       "(kernel.perf_event_paranoid is %" PRId64 "); run as root, or: sudo sysctl "
	       "kernel.perf_event_paranoid=1",
	       def->name, p.paranoid);
}

static int make(struct wm_record_sampled *s)
{
	if (*s->sampling)
		return 0;
	return wm_sampling_create(wm_clock_best(), s->cpus, s->nr_cpus, s->sampling);
}

int wm_record_sample_add(struct wm_record_sampled *s, const struct wm_event_def *def,
			 const char *filter, struct wm_diag *diag)
{
	struct wm_sampling_how how = s->how;
	int got = make(s);

	set_rate(&how, def);
	if (!got)
		got = wm_sampling_add(*s->sampling, def, filter, &how, s->everywhere, diag);
	if (got == 1)
		say_narrowed(def);
	return got < 0 ? got : 0;
}

/* The first of them that this machine has. */
int wm_record_sample_default(struct wm_record_sampled *s, bool quiet)
{
	static const char *const names[] = {"cpu:cycles", "sw:cpu-clock"};
	struct wm_diag diag = {.offset = -1};
	struct wm_event_space space;
	struct wm_event_defs defs;
	int got = -ENOENT;

	if (wm_event_space_open(&space, getenv("PATH")) < 0)
		return -WM_EXIT_FAILED;
	wm_event_defs_init(&defs);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && got < 0; i++) {
		got = wm_event_name_resolve(&space, names[i], &defs, &diag);
		if (got > 0)
			got = wm_record_sample_add(s, &defs.defs[defs.nr - 1], NULL, &diag);
		if (got >= 0 && !quiet)
			wm_say("sampling %s%s", names[i],
			       i ? " (this machine has no cpu:cycles for us)" : "");
	}
	if (got < 0)
		wm_say("%s", diag.sentence[0] ? diag.sentence : strerror(-got));
	wm_event_defs_done(&defs);
	wm_event_space_close(&space);
	return got < 0 ? -(int)wm_exit_of(got) : 0;
}
