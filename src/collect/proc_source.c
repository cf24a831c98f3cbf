/* SPDX-License-Identifier: MIT */
/* proc_source.c - see proc_source.h. */
#include "collect/proc_source.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect/cpu_packet_int.h"
#include "event/desc_build.h"
#include "event/filter.h"
#include "kernel/proc_tasks.h"

#define SOON_NS 10000000u /* a new process is first read after this time */

#define RECORD_MAX                                                                                 \
	(WM_RECORD_HEADER_BYTES + sizeof(struct wm_task_context) + WM_PROC_RECORD_BYTES_MAX)

struct kind {
	const struct wm_proc_event *event;
	struct wm_kproc_plan *plan;
	struct wm_filter *filter; /* NULL: no filter */
	uint64_t every_ns, next_ns;
	uint64_t last_clock; /* time of the last reading; 0: none yet */
	uint32_t id;         /* the event's id in its stream */
	unsigned slot;       /* index of the event's file among a process's files */
	int fd;              /* descriptor of a system-wide file; -1 for per-process files */
};

struct wm_proc_source {
	struct wm_trace_writer *writer;
	enum wm_clock_kind clock;
	struct kind *kinds;
	size_t nr_kinds;
	struct wm_cpu_packet machine, tasks;
	struct wm_proc_tasks processes;
	struct wm_proc_text text;
	struct wm_source_totals totals; /* totals, except the packets' */
};

/* --- making ---------------------------------------------------------------------------- */

static int link_filter(struct kind *k, const char *text, const unsigned char *desc,
		       size_t desc_bytes, struct wm_diag *diag)
{
	unsigned char *code = NULL;
	size_t bytes;
	int64_t n;
	int err;

	if (!text)
		return 0;
	err = wm_filter_parse(text, &code, &bytes, diag);
	if (!err)
		err = wm_filter_check(code, bytes, desc, desc_bytes, diag);
	k->filter = err ? NULL : aligned_alloc(8, WM_FILTER_STORAGE_MAX);
	if (!err && !k->filter)
		err = -ENOMEM;
	if (!err) {
		n = wm_filter_link(code, bytes, desc, desc_bytes, k->filter, WM_FILTER_STORAGE_MAX);
		err = n < 0 ? (int)n : 0;
	}
	free(code);
	return err;
}

int wm_source_proc_check(const struct wm_proc_choice *choice, struct wm_diag *diag)
{
	struct kind k = {.event = choice->event};
	unsigned char *desc = NULL;
	size_t bytes;
	int err = wm_proc_learn(k.event, &k.plan, diag);

	if (!err) {
		desc = wm_desc_simple(WM_PROC_PROVIDER, k.event->name, wm_kproc_plan_schema(k.plan),
				      NULL, 0, &bytes);
		err = desc ? link_filter(&k, choice->filter, desc, bytes, diag) : -ENOMEM;
	}
	free(desc);
	free(k.filter);
	wm_kproc_plan_destroy(k.plan);
	return err;
}

static int proc_source_declare(struct wm_proc_source *s, struct kind *k, const char *filter,
			       struct wm_diag *diag)
{
	struct wm_cpu_packet *to = k->event->of_task ? &s->tasks : &s->machine;
	struct wm_class *class;
	size_t bytes;
	unsigned char *desc;
	int err = wm_proc_learn(k->event, &k->plan, diag);

	if (err)
		return err;
	desc = wm_desc_simple(WM_PROC_PROVIDER, k->event->name, wm_kproc_plan_schema(k->plan), NULL,
			      0, &bytes);
	if (!desc)
		return -ENOMEM;
	err = link_filter(k, filter, desc, bytes, diag);
	if (!err)
		err = wm_class_parse(desc, bytes, NULL, &class, diag);
	if (!err)
		err = wm_stream_kernel_event(to->stream, k->id, class);
	free(desc);
	return err;
}

/* Creates the stream for system-wide or per-process events, if any are chosen. */
static int proc_source_make_stream(struct wm_proc_source *s, const struct wm_proc_choice *choices,
				   size_t nr, bool of_task)
{
	struct wm_kernel_stream *stream;
	int err;

	for (size_t i = 0; i < nr; i++) {
		if (choices[i].event->of_task != of_task)
			continue;
		err = wm_stream_kernel_create(
		    s->writer, of_task ? WM_KERNEL_TASK_COUNTERS : WM_KERNEL_COUNTERS, &stream);
		return err ? err
			   : wm_cpu_packet_init(of_task ? &s->tasks : &s->machine, stream,
						RECORD_MAX);
	}
	return 0;
}

static int proc_source_add_kind(struct wm_proc_source *s, const struct wm_proc_choice *choice,
				uint32_t ids[2], uint64_t now, struct wm_diag *diag)
{
	struct kind *k = &s->kinds[s->nr_kinds++];
	int err;

	*k = (struct kind){.event = choice->event,
			   .every_ns = choice->every_ns,
			   .next_ns = now,
			   .id = ids[choice->event->of_task]++,
			   .fd = -1};
	k->slot = k->id;
	err = proc_source_declare(s, k, choice->filter, diag);
	if (!err && !k->event->of_task) {
		k->fd = wm_proc_open(k->event, 0);
		err = k->fd < 0 ? k->fd : 0;
	}
	return err;
}

int wm_source_proc_create(struct wm_trace_writer *writer, enum wm_clock_kind clock,
			  const struct wm_proc_choice *choices, size_t nr_choices, bool everything,
			  const pid_t ours[2], struct wm_proc_source **ret, struct wm_diag *diag)
{
	struct wm_proc_source *s = calloc(1, sizeof(*s));
	uint64_t now = wm_clock_monotonic_ns();
	uint32_t ids[2] = {0};
	int err;

	if (!s)
		return -ENOMEM;
	s->writer = writer;
	s->clock = clock;
	wm_proc_tasks_init(&s->processes, everything, ours);
	s->kinds = calloc(nr_choices + 1, sizeof(*s->kinds));
	err = s->kinds ? proc_source_make_stream(s, choices, nr_choices, false) : -ENOMEM;
	if (!err)
		err = proc_source_make_stream(s, choices, nr_choices, true);
	for (size_t i = 0; !err && i < nr_choices; i++)
		err = proc_source_add_kind(s, &choices[i], ids, now, diag);
	if (err) {
		wm_source_proc_destroy(s);
		return err;
	}
	*ret = s;
	return 0;
}

void wm_source_proc_destroy(struct wm_proc_source *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->nr_kinds; i++) {
		if (s->kinds[i].fd >= 0)
			close(s->kinds[i].fd);
		wm_kproc_plan_destroy(s->kinds[i].plan);
		free(s->kinds[i].filter);
	}
	free(s->kinds);
	wm_cpu_packet_done(&s->machine);
	wm_cpu_packet_done(&s->tasks);
	wm_proc_tasks_done(&s->processes);
	wm_proc_text_done(&s->text);
	free(s);
}

int wm_source_proc_follow(struct wm_proc_source *s, pid_t pid)
{
	uint64_t soon = wm_clock_monotonic_ns() + SOON_NS;

	for (size_t i = 0; i < s->nr_kinds; i++)
		if (s->kinds[i].event->of_task && s->kinds[i].next_ns > soon)
			s->kinds[i].next_ns = soon;
	return wm_proc_tasks_follow(&s->processes, pid);
}

const struct wm_proc_event *wm_source_proc_left_out(const struct wm_proc_source *s,
						    uint32_t *ret_nr)
{
	for (size_t i = 0; i < s->nr_kinds; i++) {
		*ret_nr = wm_kproc_plan_left_out(s->kinds[i].plan);
		if (*ret_nr)
			return s->kinds[i].event;
	}
	return NULL;
}

/* --- records -------------------------------------------------------------------------------- */

static bool proc_source_passes(const struct kind *k, const unsigned char *fields, size_t bytes,
			       const struct wm_proc_task *task)
{
	struct wm_filter_contexts contexts = {0};

	if (!k->filter)
		return true;
	if (task) {
		contexts.pid = contexts.tid = task->pid;
		memcpy(contexts.comm, task->comm, sizeof(contexts.comm));
	}
	return wm_filter_run(k->filter, fields, bytes, &contexts);
}

/* Writes all records found in a file's text. `task` is NULL for a system-wide file. */
static void proc_source_put_text(struct wm_proc_source *s, const struct kind *k,
				 const struct wm_proc_task *task, uint64_t clock)
{
	struct wm_cpu_packet *to = task ? &s->tasks : &s->machine;
	const char *at = s->text.data, *end = at + s->text.bytes;
	const uint64_t header = htole64(wm_header_make((uint16_t)k->id, clock));
	const int32_t pid = task ? (int32_t)htole32((uint32_t)task->pid) : 0;
	const struct wm_task_context context = {pid, pid};
	size_t before = WM_RECORD_HEADER_BYTES + (task ? sizeof(context) : 0);
	int64_t n;

	for (;;) {
		unsigned char *record = wm_cpu_packet_at(to, clock);

		n = wm_kproc_put(k->plan, &at, end, record + before);
		if (n == 0)
			break;
		if (n < 0) {
			s->totals.torn++;
			continue;
		}
		if (!proc_source_passes(k, record + before, (size_t)n, task))
			continue;
		memcpy(record, &header, sizeof(header));
		if (task)
			memcpy(record + WM_RECORD_HEADER_BYTES, &context, sizeof(context));
		wm_cpu_packet_add(to, clock, before + (size_t)n);
	}
}

/* --- readings ------------------------------------------------------------------------------ */

static void reading_failed(struct wm_proc_source *s, int err)
{
	if (s->totals.more[WM_PROC_MORE_FAILED]++ == 0)
		s->totals.more[WM_PROC_MORE_ERROR] = (uint64_t)-err;
}

static void read_machine(struct wm_proc_source *s, struct kind *k)
{
	uint64_t clock = wm_clock_read(s->clock);
	int err = wm_proc_read(k->fd, &s->text);

	k->last_clock = clock;
	if (err)
		reading_failed(s, err);
	else
		proc_source_put_text(s, k, NULL, clock);
}

static void read_task(struct wm_proc_source *s, struct kind *k, struct wm_proc_task *task)
{
	uint64_t clock = wm_clock_read(s->clock);
	int err = wm_proc_task_read(&s->processes, task, k->event, k->slot, &s->text);

	if (!err)
		proc_source_put_text(s, k, task, clock);
	else if (err == -EACCES || err == -EPERM)
		s->totals.more[WM_PROC_MORE_DENIED]++;
	/* Otherwise the process has exited, which is not an error. */
	else if (err != -ESRCH && err != -ENOENT)
		reading_failed(s, err);
}

/* Writes a task's name before its first event, and when it has changed. */
static void tell_names(struct wm_proc_source *s)
{
	for (size_t i = 0; i < s->processes.nr; i++) {
		struct wm_proc_task *task = &s->processes.tasks[i];

		if (task->followed && wm_proc_task_renamed(&s->processes, task))
			(void)wm_writer_thread(s->writer, (uint32_t)task->pid, (uint32_t)task->pid,
					       wm_clock_read(s->clock), task->comm);
	}
}

static void read_tasks(struct wm_proc_source *s, struct kind *k)
{
	k->last_clock = wm_clock_read(s->clock);
	for (size_t i = 0; i < s->processes.nr; i++)
		if (s->processes.tasks[i].followed)
			read_task(s, k, &s->processes.tasks[i]);
}

/* Counts the reads before `now` that were missed, and schedules the next one after `now`. */
static void keep_time(struct wm_proc_source *s, struct kind *k, uint64_t now)
{
	uint64_t missed = (now - k->next_ns) / k->every_ns;
	uint64_t late = now - k->next_ns - missed * k->every_ns;

	if (late > s->totals.more[WM_PROC_MORE_LATE_MAX_NS])
		s->totals.more[WM_PROC_MORE_LATE_MAX_NS] = late;
	k->next_ns += (missed + 1) * k->every_ns;
	if (!missed)
		return;
	s->totals.more[WM_PROC_MORE_MISSED] += missed;
	(void)wm_writer_kernel_lost(s->writer, -1, k->last_clock, wm_clock_read(s->clock), "late",
				    missed);
}

static void proc_source_tick(struct wm_proc_source *s, uint64_t now, bool all)
{
	bool asked = false, due = false;

	for (size_t i = 0; i < s->nr_kinds; i++) {
		struct kind *k = &s->kinds[i];

		if (k->next_ns > now && !all)
			continue;
		due = true;
		if (k->next_ns <= now)
			keep_time(s, k, now);
		if (!k->event->of_task) {
			read_machine(s, k);
			continue;
		}
		if (!asked) {
			int err = wm_proc_tasks_refresh(&s->processes);

			if (err)
				reading_failed(s, err);
			tell_names(s);
		}
		asked = true;
		read_tasks(s, k);
	}
	if (!due)
		return;
	s->totals.more[WM_PROC_MORE_TICKS]++;
	s->totals.more[WM_PROC_MORE_SPENT_NS] += wm_clock_monotonic_ns() - now;
}

void wm_source_proc_tick(struct wm_proc_source *s, uint64_t now_ns)
{
	proc_source_tick(s, now_ns, false);
}

void wm_source_proc_last(struct wm_proc_source *s)
{
	proc_source_tick(s, wm_clock_monotonic_ns(), true);
}

uint64_t wm_source_proc_next(const struct wm_proc_source *s)
{
	uint64_t next = UINT64_MAX;

	for (size_t i = 0; i < s->nr_kinds; i++)
		if (s->kinds[i].next_ns < next)
			next = s->kinds[i].next_ns;
	return next;
}

int wm_source_proc_flush(struct wm_proc_source *s)
{
	int err = s->machine.stream ? wm_cpu_packet_flush(&s->machine) : 0;
	int other = s->tasks.stream ? wm_cpu_packet_flush(&s->tasks) : 0;

	return err ? err : other;
}

void wm_source_proc_totals(const struct wm_proc_source *s, struct wm_source_totals *ret)
{
	*ret = s->totals;
	wm_cpu_packet_account(&s->machine, ret);
	wm_cpu_packet_account(&s->tasks, ret);
}
