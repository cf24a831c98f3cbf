/* SPDX-License-Identifier: MIT */
/*
 * unused.c - refuses options that would have no effect, because no event of the kind they act on is
 * recorded. test/record_options.bats has the whole table of options and kinds of events.
 */
#include <string.h>

#include "base/glob.h"
#include "cmd/exit.h"
#include "cmd/record/events.h"
#include "cmd/say.h"
#include "control/recorder.h"
#include "event/context.h"

#define ANY_RING (WM_RECORD_PROGRAMS | WM_RECORD_KERNEL | WM_RECORD_SAMPLES)

static bool record_unused_has_cpus(const struct wm_record_asked *r)
{
	return r->nr_cpus;
}

static bool record_unused_has_buffer(const struct wm_record_asked *r)
{
	return r->buffer_bytes;
}

static bool blocks(const struct wm_record_asked *r)
{
	return r->mode == WM_POOL_BLOCK;
}

static bool has_stacks(const struct wm_record_asked *r)
{
	return r->more.kernel_stacks || r->more.user_stacks;
}

static bool has_user_stack(const struct wm_record_asked *r)
{
	return r->list.events[0].contexts & WM_CONTEXT_USTACK;
}

static bool has_interval(const struct wm_record_asked *r)
{
	return r->list.events[0].every_ns;
}

static const struct {
	bool (*given)(const struct wm_record_asked *r);
	unsigned kinds; /* the option acts on any of these */
	const char *sentence;
} uses[] = {
    {record_unused_has_cpus, ANY_RING,
     "-C selects CPUs, but the counters of /proc are those of the whole machine: omit it"},
    {record_unused_has_buffer, ANY_RING,
     "-b sets the size of buffers, and the counters of /proc have none: omit it"},
    {blocks, WM_RECORD_PROGRAMS,
     "the mode 'block' makes programs wait for their own events, and none are recorded: omit it"},
    {has_stacks, WM_RECORD_KERNEL,
     "--stacks records a stack after each tracepoint, system call or probe, and none is recorded: "
     "use -g for samples and for events of programs"},
    {has_user_stack, WM_RECORD_PROGRAMS,
     "--context ustack belongs to events of programs, and none are recorded: use -g, or --stacks "
     "user"},
    {has_interval, WM_RECORD_PROC,
     "--every is the interval of the counters of /proc, and none are recorded: name one, such as "
     "-e proc:vmstat"},
};

int wm_record_check_uses(const struct wm_record_asked *r)
{
	for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); i++)
		if (uses[i].given(r) && !(r->kinds & uses[i].kinds)) {
			wm_say("%s", uses[i].sentence);
			return WM_EXIT_USAGE;
		}
	return WM_EXIT_DONE;
}

int wm_record_check_own_uses(const struct wm_listed_event *own, unsigned kind)
{
	if ((own->contexts & WM_CONTEXT_USTACK) && kind != WM_RECORD_PROGRAMS) {
		wm_say("'%s' is no event of programs, which alone have --context ustack: use -g, "
		       "or --stacks user",
		       own->names);
		return WM_EXIT_USAGE;
	}
	if (own->every_ns && kind != WM_RECORD_PROC) {
		wm_say("'%s' is not read at intervals: --every belongs to the counters of /proc",
		       own->names);
		return WM_EXIT_USAGE;
	}
	return WM_EXIT_DONE;
}

/* --- helper libraries --------------------------------------------------------------------- */

/* Whether a rule may match events of the provider. */
static bool names_provider(const struct wm_recorder_events *e, const char *provider, size_t bytes)
{
	for (uint32_t i = 0; i < wm_rules_count(e->rules); i++) {
		const char *glob = wm_rules_glob(e->rules, i);

		if (e->in_kernel[i])
			continue;
		if (!strchr(glob, ':') || wm_glob_match(glob, strcspn(glob, ":"), provider, bytes))
			return true;
	}
	return false;
}

bool wm_record_names_helpers(const struct wm_record_asked *r)
{
	for (const char *p = r->preload; *p;) {
		size_t n = strcspn(p, ",");

		if (names_provider(&r->events, p, n))
			return true;
		p += n + (p[n] == ',');
	}
	return false;
}
