/* SPDX-License-Identifier: MIT */
/* option.c - reads the options of both versions, and the list of buffers. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "read/tracedat/tracedat_int.h"

int wm_td_add_buffer(struct wm_td *td, const char *name, uint64_t offset)
{
	struct wm_arena *a = &td->trace->arena;
	struct wm_td_buffer *more;

	if (td->nr_buffers >= WM_TD_BUFFERS_MAX)
		return -E2BIG;
	more = wm_arena_grow(a, td->buffers, td->nr_buffers, sizeof(*more));
	name = wm_arena_copy(a, name, strlen(name));
	if (!more || !name)
		return -ENOMEM;
	td->buffers = more;
	td->buffers[td->nr_buffers++] = (struct wm_td_buffer){name, offset};
	return 0;
}

int wm_td_add_cpu(struct wm_td *td, const struct wm_td_cpu *cpu)
{
	struct wm_td_cpu *more;

	if (td->nr_cpus >= WM_TD_CPUS_MAX)
		return -E2BIG;
	more = wm_arena_grow(&td->trace->arena, td->cpus, td->nr_cpus, sizeof(*more));
	if (!more)
		return -ENOMEM;
	td->cpus = more;
	td->cpus[td->nr_cpus++] = *cpu;
	return 0;
}

/* Takes the whole option as text. */
static int tracedat_option_text(struct wm_td_in *in, char **ret)
{
	uint64_t bytes = in->end - in->at;
	const unsigned char *p = wm_td_take(in, bytes);

	*ret = p ? strndup((const char *)p, bytes) : NULL;
	return *ret || in->failed ? 0 : -ENOMEM;
}

static int tracedat_option_add_word(struct wm_td *td, const char *key, struct wm_td_in *in)
{
	char *text = NULL;
	int err = tracedat_option_text(in, &text);

	if (!err && text) {
		text[strcspn(text, "\n")] = 0;
		err = wm_trace_add_word(td->trace, key, text);
	}
	free(text);
	return err;
}

/* Finds the clock in brackets: "[local] global counter". */
static int add_clock_name(struct wm_td *td, struct wm_td_in *in)
{
	char *text = NULL, *open, *close;
	int err = tracedat_option_text(in, &text);

	open = text ? strchr(text, '[') : NULL;
	close = open ? strchr(open, ']') : NULL;
	if (!err && close) {
		*close = 0;
		td->clock->name = wm_arena_copy(&td->trace->arena, open + 1, strlen(open + 1));
		err = td->clock->name ? 0 : -ENOMEM;
	}
	free(text);
	return err;
}

/* Adds a number of units of `unit` nanoseconds, given as text, to the clock's offset. */
static int add_offset(struct wm_td *td, struct wm_td_in *in, int64_t unit, bool is_epoch)
{
	char *text = NULL;
	int err = tracedat_option_text(in, &text);
	long long value;
	int64_t ns;

	if (!err && text) {
		value = strtoll(text, NULL, 0);
		if (!__builtin_mul_overflow((int64_t)value, unit, &ns))
			td->offset_ns = (int64_t)((uint64_t)td->offset_ns + (uint64_t)ns);
		td->clock->is_epoch |= is_epoch;
	}
	free(text);
	return err;
}

static void take_tsc(struct wm_td *td, struct wm_td_in *in)
{
	uint32_t mult = wm_td_u32(in), shift = wm_td_u32(in);

	if (in->failed || shift > 63)
		return;
	td->mult = mult;
	td->shift = shift;
}

static int tracedat_option_keep(struct wm_td *td, uint16_t id, const struct wm_td_in *in)
{
	struct wm_arena *a = &td->trace->arena;
	uint64_t bytes = in->end - in->at;
	struct wm_td_kept *more;

	if (id == WM_TD_OPTION_CPUCOUNT || bytes > WM_TD_KEPT_MAX)
		return 0;
	more = wm_arena_grow(a, td->kept, td->nr_kept, sizeof(*more));
	if (!more)
		return -ENOMEM;
	td->kept = more;
	more += td->nr_kept;
	*more = (struct wm_td_kept){id, (uint32_t)bytes,
				    wm_arena_copy(a, in->mem + in->at, (size_t)bytes)};
	return more->data ? (int)(td->nr_kept++, 0) : -ENOMEM;
}

int wm_td_read_option(struct wm_td *td, uint16_t id, struct wm_td_in *in, struct wm_diag *diag)
{
	int err = tracedat_option_keep(td, id, in);

	if (err)
		return err;
	switch (id) {
	case WM_TD_OPTION_DATE: /* in microseconds */
		return add_offset(td, in, 1000, true);
	case WM_TD_OPTION_OFFSET:
		return add_offset(td, in, 1, false);
	case WM_TD_OPTION_TRACECLOCK:
		return add_clock_name(td, in);
	case WM_TD_OPTION_UNAME:
		return tracedat_option_add_word(td, "uname", in);
	case WM_TD_OPTION_VERSION:
		return tracedat_option_add_word(td, "tracer_version", in);
	case WM_TD_OPTION_CPUCOUNT:
		td->cpu_count = wm_td_u32(in);
		return 0;
	case WM_TD_OPTION_TIME_SHIFT:
		return wm_td_read_sync(td, in, diag);
	case WM_TD_OPTION_TSC2NSEC:
		take_tsc(td, in);
		return 0;
	default:
		return 0;
	}
}
