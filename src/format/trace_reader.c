/* SPDX-License-Identifier: MIT */
/*
 * trace_reader.c - a whole trace in order of time: opens the metadata, finds
 * the packets of all stream files, listens to the recorder's stream, then
 * merges the files through a heap. Knows no bytes of records: that is
 * trace_cursor.h.
 */
#include "format/trace_reader.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "format/trace_cursor.h"
#include "format/trace_people.h"

#define FAULTS_MAX 1000u

struct wm_trace_reader {
	int dirfd;
	struct wm_ctf_metadata *metadata;
	struct wm_plan plan;
	struct wm_cursor *cursors;
	uint32_t nr_cursors;
	struct wm_trace_people people;

	/* The merge: a heap of those that have something, the earliest first. */
	struct wm_cursor **heap;
	uint32_t nr_heap;
	bool emitted; /* heap[0]'s record was given out */

	struct wm_trace_fault *faults;
	uint32_t nr_faults;
	uint64_t nr_more_faults;

	/* The process asked for last. */
	const struct wm_trace_process *owner;
	struct wm_trace_summary summary;
	uint64_t discarded; /* of the file being indexed, its last total */
};

/* --- faults ---------------------------------------------------------------------- */

static void add_fault(void *data, const char *file, uint64_t offset, const char *reason)
{
	struct wm_trace_reader *r = data;
	struct wm_trace_fault *f;

	if (r->nr_faults == FAULTS_MAX) {
		f = &r->faults[FAULTS_MAX - 1];
		f->file[0] = 0;
		f->offset = 0;
		(void)snprintf(f->reason, sizeof(f->reason), "and %llu more like these",
			       (unsigned long long)++r->nr_more_faults + 1);
		return;
	}
	if (!r->faults)
		r->faults = calloc(FAULTS_MAX, sizeof(*r->faults));
	if (!r->faults)
		return; /* the reader says -ENOMEM soon enough */
	f = &r->faults[r->nr_faults++];
	(void)snprintf(f->file, sizeof(f->file), "%s", file);
	f->offset = offset;
	(void)snprintf(f->reason, sizeof(f->reason), "%s", reason);
}

uint32_t wm_trace_reader_nr_faults(const struct wm_trace_reader *r)
{
	return r->nr_faults;
}

const struct wm_trace_fault *wm_trace_reader_fault(const struct wm_trace_reader *r, uint32_t i)
{
	return i < r->nr_faults ? &r->faults[i] : NULL;
}

static void no_fault(void *data, const char *file, uint64_t offset, const char *reason)
{
}

/* --- opening: metadata ---------------------------------------------------------------- */

static int open_metadata(struct wm_trace_reader *r, struct wm_diag *diag)
{
	struct wm_diag damage;
	size_t bytes = 0;
	char *text = NULL, reason[WM_DIAG_SENTENCE];
	int err = wm_file_read(r->dirfd, "metadata", WM_CTF_METADATA_MAX, &text, &bytes);

	if (err)
		return wm_diag_set(diag, err, "metadata", -1, "%s",
				   err == -ENOENT ? "there is none, so this is no trace"
						  : strerror(-err));
	if (!bytes)
		err = wm_diag_set(diag, -EBADMSG, "metadata", 0, "it is empty");
	else
		err = wm_ctf_metadata_parse("metadata", text, bytes, &r->metadata, &damage, diag);
	if (!err && damage.sentence[0]) {
		(void)snprintf(reason, sizeof(reason), "line %u: %.180s", damage.line,
			       damage.sentence);
		add_fault(r, "metadata", damage.offset < 0 ? 0 : (uint64_t)damage.offset, reason);
	}
	if (!err)
		err = wm_plan_build(r->metadata, &r->plan, diag);
	free(text);
	return err;
}

/* --- opening: files -------------------------------------------------------------------- */

static void count_packet(void *data, const struct wm_frame *f)
{
	struct wm_trace_reader *r = data;
	struct wm_trace_summary *s = &r->summary;
	uint64_t begin, end;

	r->discarded = f->discarded;
	s->packets++;
	if (f->stream->id == WM_STREAM_RECORDER) {
		s->recorder_events += f->count;
		return;
	}
	s->events += f->count;
	if (f->has_count && !f->count)
		return;
	begin = wm_plan_ns(&r->plan, f->begin);
	end = wm_plan_ns(&r->plan, f->end);
	if (!s->begin_ns || s->begin_ns > begin)
		s->begin_ns = begin;
	if (s->end_ns < end)
		s->end_ns = end;
}

static int open_file(struct wm_trace_reader *r, const char *name, uint64_t *discarded)
{
	struct wm_fault_sink sink = {add_fault, r};
	struct wm_packet_visit visit = {count_packet, r};
	struct wm_stream_file file;
	int err;

	r->discarded = 0;
	err = wm_stream_file_index(&r->plan, r->dirfd, name, &sink, &visit, &file);
	if (err == -ENOMEM)
		return err;
	if (err) {
		add_fault(r, name, 0,
			  err == -ENODATA ? "the file became shorter while it was read"
					  : strerror(-err));
		return 0;
	}
	*discarded += r->discarded;
	r->summary.bytes += file.bytes;
	wm_cursor_init(&r->cursors[r->nr_cursors++], &r->plan, r->dirfd, &sink, &file);
	return 0;
}

static void add_gone(void *data, const char *name, uint64_t nr_packets)
{
	char reason[WM_DIAG_SENTENCE];

	(void)snprintf(reason, sizeof(reason), "the file is gone; its index knows %llu packets",
		       (unsigned long long)nr_packets);
	add_fault(data, name, 0, reason);
}

static int open_files(struct wm_trace_reader *r, uint64_t *discarded, struct wm_diag *diag)
{
	char **names = NULL;
	int count = wm_stream_files_list(r->dirfd, &names), err = 0;

	if (count < 0)
		return wm_diag_set(diag, count, NULL, -1, "%s",
				   count == -E2BIG ? "too many files" : strerror(-count));
	r->cursors = calloc((size_t)count + 1, sizeof(*r->cursors));
	r->heap = calloc((size_t)count + 1, sizeof(*r->heap));
	if (!r->cursors || !r->heap)
		err = -ENOMEM;
	for (int i = 0; i < count; i++) {
		if (!err)
			err = open_file(r, names[i], discarded);
		free(names[i]);
	}
	free(names);
	wm_stream_files_gone(r->dirfd, add_gone, r);
	return err;
}

/* --- opening: the recorder's stream ------------------------------------------------------ */

static int hear(struct wm_trace_reader *r, struct wm_cursor *c)
{
	struct wm_record_parts parts;
	int got, err = 0;

	while (!err && (got = wm_cursor_step(c)) == 1) {
		if (!c->buffer || c->frame.stream->id != WM_STREAM_RECORDER)
			continue;
		wm_cursor_parts(c, &parts);
		err = wm_trace_people_add(&r->people, c->event->class, parts.payload,
					  parts.payload_bytes);
	}
	return err ? err : got;
}

/* Goes through the file once, silently, and leaves the cursor at its begin. */
static int hear_file(struct wm_trace_reader *r, struct wm_cursor *c)
{
	struct wm_fault_sink sink = c->sink, silent = {no_fault, NULL};
	struct wm_stream_file file;
	int err;

	c->sink = silent;
	err = hear(r, c);
	file = c->file;
	free(c->buffer);
	wm_cursor_init(c, &r->plan, r->dirfd, &sink, &file);
	return err;
}

static int hear_recorder(struct wm_trace_reader *r)
{
	int err = 0;

	for (uint32_t i = 0; i < r->nr_cursors && !err; i++) {
		struct wm_cursor *c = &r->cursors[i];

		if (c->file.nr_packets && c->file.first.stream->id == WM_STREAM_RECORDER)
			err = hear_file(r, c);
	}
	wm_trace_people_sort(&r->people);
	for (uint32_t i = 0; i < r->people.count; i++) {
		struct wm_trace_process *one = &r->people.list[i];

		one->begin_ns = wm_plan_ns(&r->plan, one->begin_clock);
	}
	return err;
}

/* --- the merge ----------------------------------------------------------------------------- */

static bool before(const struct wm_cursor *a, const struct wm_cursor *b)
{
	if (a->clock != b->clock)
		return a->clock < b->clock;
	if (a->frame.stream->id != b->frame.stream->id)
		return a->frame.stream->id < b->frame.stream->id;
	if (a->frame.instance != b->frame.instance)
		return a->frame.instance < b->frame.instance;
	return a < b; /* they are in order of their names */
}

static void sink_down(struct wm_trace_reader *r, uint32_t at)
{
	struct wm_cursor *c = r->heap[at];

	for (;;) {
		uint32_t child = 2 * at + 1;

		if (child + 1 < r->nr_heap && before(r->heap[child + 1], r->heap[child]))
			child++;
		if (child >= r->nr_heap || !before(r->heap[child], c))
			break;
		r->heap[at] = r->heap[child];
		at = child;
	}
	r->heap[at] = c;
}

/* Moves the earliest file on. */
static int step_first(struct wm_trace_reader *r)
{
	int got = wm_cursor_step(r->heap[0]);

	if (got < 0)
		return got;
	if (!got)
		r->heap[0] = r->heap[--r->nr_heap];
	if (r->nr_heap)
		sink_down(r, 0);
	return 0;
}

static int fill_heap(struct wm_trace_reader *r)
{
	for (uint32_t i = 0; i < r->nr_cursors; i++) {
		int got = wm_cursor_step(&r->cursors[i]);

		if (got < 0)
			return got;
		if (got)
			r->heap[r->nr_heap++] = &r->cursors[i];
	}
	for (uint32_t i = r->nr_heap / 2; i-- > 0;)
		sink_down(r, i);
	return 0;
}

/* --- one event ---------------------------------------------------------------------------------
 */

static void set_owner(struct wm_trace_reader *r, struct wm_trace_event *e, uint64_t clock)
{
	const struct wm_trace_process *p = r->owner;

	if (!p || p->pid != e->pid || clock < p->begin_clock || clock > p->end_clock)
		p = wm_trace_people_find(&r->people, e->pid, clock);
	/* Only one whose time is known to hold may be kept for the next event. */
	r->owner = p && p + 1 < r->people.list + r->people.count && p[1].pid == p->pid ? NULL : p;
	e->comm = p ? p->comm : "";
}

/* Of an event of the kernel: its thread's process, as far as somebody asked then. */
static void set_task(struct wm_trace_reader *r, struct wm_trace_event *e)
{
	const struct wm_trace_thread *t = wm_trace_people_thread(&r->people, e->tid, e->clock);

	e->pid = t ? t->pid : e->tid;
	e->comm = t ? t->comm : "";
}

static void give(struct wm_trace_reader *r, struct wm_trace_event *ret)
{
	const struct wm_cursor *c = r->heap[0];
	struct wm_record_parts parts;
	struct wm_trace_event e = {.clock = c->clock};
	uint32_t cpu = 0;

	wm_cursor_parts(c, &parts);
	e.time_ns = wm_plan_ns(&r->plan, c->clock);
	e.pid = parts.owner.pid;
	e.vpid = parts.owner.vpid;
	e.tid = parts.owner.tid;
	e.level = parts.owner.level;
	e.class = c->event->class;
	e.has_cpu = parts.cpu || c->frame.stream->kernel;
	cpu = htole32(c->frame.cpu);
	if (parts.cpu)
		memcpy(&cpu, parts.cpu, sizeof(cpu));
	e.cpu = le32toh(cpu);
	e.ustack = parts.ustack;
	e.nr_ustack = parts.nr_ustack;
	e.payload = parts.payload;
	e.payload_bytes = parts.payload_bytes;
	e.recorder = c->frame.stream->id == WM_STREAM_RECORDER;
	if (e.recorder)
		e.pid =
		    (uint32_t)wm_trace_people_number(e.class, e.payload, e.payload_bytes, "pid");
	/* A chunk may be older than its process's joining, but its end is not. */
	if (c->frame.stream->kernel)
		set_task(r, &e);
	else
		set_owner(r, &e, c->frame.stream->mixed || e.recorder ? c->clock : c->frame.end);
	*ret = e;
}

int wm_trace_reader_next(struct wm_trace_reader *r, struct wm_trace_event *ret)
{
	int err = 0;

	if (r->emitted)
		err = step_first(r);
	r->emitted = false;
	while (!err && r->nr_heap && !r->heap[0]->buffer)
		err = step_first(r); /* a packet that was not read yet */
	if (err || !r->nr_heap)
		return err;
	give(r, ret);
	r->emitted = true;
	return 1;
}

/* --- the outside ---------------------------------------------------------------------------------
 */

static const char *env_text(const struct wm_trace_reader *r, const char *key)
{
	const struct wm_ctf_pair *p = wm_ctf_env(r->metadata, key);

	return p && p->text ? p->text : "";
}

static uint64_t env_number(const struct wm_trace_reader *r, const char *key)
{
	const struct wm_ctf_pair *p = wm_ctf_env(r->metadata, key);

	return p && !p->text && p->number > 0 ? (uint64_t)p->number : 0;
}

static void summarize(struct wm_trace_reader *r, uint64_t discarded)
{
	struct wm_trace_summary *s = &r->summary;

	s->clock_hz = r->plan.clock->hz;
	s->clock_error_ns = env_number(r, "clock_error_ns");
	s->nr_streams = r->nr_cursors;
	for (uint32_t i = 0; i < r->metadata->nr_events; i++)
		s->nr_classes += r->metadata->events[i].stream_id != WM_STREAM_RECORDER;
	s->nr_processes = r->people.count;
	(void)snprintf(s->format, sizeof(s->format), "CTF %s",
		       r->metadata->major == 2 ? "2" : "1.8");
	(void)snprintf(s->host, sizeof(s->host), "%s", env_text(r, "hostname"));
	(void)snprintf(s->tracer, sizeof(s->tracer), "%.40s %llu.%llu.%llu",
		       env_text(r, "tracer_name"),
		       (unsigned long long)env_number(r, "tracer_major"),
		       (unsigned long long)env_number(r, "tracer_minor"),
		       (unsigned long long)env_number(r, "tracer_patch"));
	(void)snprintf(s->command, sizeof(s->command), "%s", env_text(r, "command"));
	(void)snprintf(s->clock, sizeof(s->clock), "%s", r->plan.clock->name);
	memcpy(s->lost, r->people.lost, sizeof(s->lost));
	s->lost_unknown = r->people.lost_unknown;
	/* The recorder's stream may be damaged; the others' counters know a lower bound. */
	if (discarded > r->people.lost_all)
		s->lost_unknown += discarded - r->people.lost_all;
}

static int open_all(struct wm_trace_reader *r, const char *dir, struct wm_diag *diag)
{
	uint64_t discarded = 0;
	int err;

	r->dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (r->dirfd < 0)
		return wm_diag_set(diag, -errno, NULL, -1, "%s", strerror(errno));
	err = open_metadata(r, diag);
	if (!err)
		err = open_files(r, &discarded, diag);
	if (!err)
		err = hear_recorder(r);
	if (err)
		return err;
	summarize(r, discarded);
	return fill_heap(r);
}

int wm_trace_reader_open(const char *dir, struct wm_trace_reader **ret, struct wm_diag *diag)
{
	struct wm_trace_reader *r = calloc(1, sizeof(*r));
	struct wm_diag own;
	int err;

	if (!r)
		return -ENOMEM;
	if (!diag)
		diag = &own;
	*diag = (struct wm_diag){.offset = -1};
	r->dirfd = -1;
	wm_trace_people_init(&r->people);
	err = open_all(r, dir, diag);
	if (err) {
		wm_trace_reader_close(r);
		return err;
	}
	*ret = r;
	return 0;
}

void wm_trace_reader_close(struct wm_trace_reader *r)
{
	if (!r)
		return;
	for (uint32_t i = 0; i < r->nr_cursors; i++)
		wm_cursor_done(&r->cursors[i]);
	free(r->cursors);
	free(r->heap);
	free(r->faults);
	wm_trace_people_done(&r->people);
	wm_ctf_metadata_destroy(r->metadata);
	if (r->dirfd >= 0)
		close(r->dirfd);
	free(r);
}

uint32_t wm_trace_reader_nr_processes(const struct wm_trace_reader *r)
{
	return r->people.count;
}

const struct wm_trace_process *wm_trace_reader_process(const struct wm_trace_reader *r, uint32_t i)
{
	return i < r->people.count ? &r->people.list[i] : NULL;
}

int wm_trace_reader_summary(struct wm_trace_reader *r, struct wm_trace_summary *ret)
{
	*ret = r->summary;
	return 0;
}
