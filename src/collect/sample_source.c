/* SPDX-License-Identifier: MIT */
/* sample_source.c - writes the sampler's rings to a trace; see sample_source.h. */
#include "collect/sample_source.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/clock.h"
#include "collect/cpu_packet_int.h"
#include "collect/residual_filter_int.h"
#include "collect/task_names.h"
#include "collect/task_record_int.h"
#include "trace/trace_layout.h"

#define FORMATS_BYTES_MAX ((size_t)64 << 20)
#define OURS_MAX          4u
#define ALL_EVERY_NS      WM_NS_PER_SECOND /* interval at which all rings are drained */
/* Between these, drains only rings that are at least 1/WORTH_PART full. */
#define WORTH_PART 8

/* One CPU's state between rounds. The times of records in a stream do not decrease. */
struct place {
	uint64_t last_sample, last_task; /* clock values */
	uint64_t told;                   /* number of losses that the ring has reported */
};

struct wm_sample_source {
	struct wm_trace_writer *writer;
	struct wm_calibrate *clock;
	struct wm_calibration fit; /* the fit of this round */
	int clockid;
	struct wm_arena arena;
	struct wm_kmachine machine;
	struct wm_sample_plan *plans;
	size_t nr_plans;
	struct wm_perf_shape tasks_shape;
	struct wm_cpu_packet samples, tasks;
	struct wm_task_names *names;
	struct wm_sieve *sieve; /* NULL: no event has a filter */
	struct wm_sampler *sampler;
	struct place *places;
	pid_t ours[OURS_MAX];
	size_t nr_ours;
	uint64_t all_ns,
	    /*
	     * all_ns: when all rings were last drained; told: the time of wm_sample_source_tell()'s
	     * records.
	     */
	    told;
	struct wm_source_totals totals; /* totals, except the packets' */
};

/* --- beginning ----------------------------------------------------------------------- */

int wm_sample_clockid(enum wm_clock_kind kind)
{
	return kind == WM_CLOCK_MONOTONIC ? CLOCK_MONOTONIC : CLOCK_MONOTONIC_RAW;
}

bool wm_sample_has_switches(const struct wm_sample_event *events, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (events[i].system && !strcmp(events[i].system, "sched") &&
		    !strcmp(events[i].name, "sched_switch"))
			return true;
	return false;
}

static int set_tasks_shape(struct wm_sample_source *s)
{
	const bool big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	struct perf_event_attr bytes;
	struct wm_perf_attr attr;
	int err;

	wm_sampler_tasks_attr(s->clockid, &bytes);
	err = wm_kperf_attr_parse(&bytes, sizeof(bytes), false, &attr, NULL);
	if (!err)
		wm_kperf_shape_init(&s->tasks_shape, &attr, big_endian);
	return err;
}

static int make_streams(struct wm_sample_source *s, const struct wm_sample_event *events, size_t nr,
			struct wm_diag *diag)
{
	struct wm_kernel_stream *samples = NULL, *tasks;
	int err = nr ? wm_stream_kernel_create(s->writer, WM_KERNEL_SAMPLES, &samples) : 0;

	if (!err)
		err = wm_stream_kernel_create(s->writer, WM_KERNEL_TASKS, &tasks);
	if (!err)
		err = wm_task_records_declare(tasks, wm_sample_has_switches(events, nr));
	if (!err)
		err = wm_cpu_packet_init(&s->samples, samples, WM_SAMPLE_BYTES_MAX);
	if (!err)
		err = wm_cpu_packet_init(&s->tasks, tasks, WM_TASK_RECORD_BYTES);
	s->plans = wm_arena_array(&s->arena, nr + 1, sizeof(*s->plans));
	if (!err && !s->plans)
		err = -ENOMEM;
	for (size_t i = 0; !err && i < nr; i++)
		if (events[i].format)
			err = wm_writer_kernel_format(s->writer, events[i].system, events[i].name,
						      events[i].format, events[i].format_bytes);
	if (!err && nr)
		err = wm_writer_kernel_formats(s->writer);
	for (size_t i = 0; !err && i < nr; i++)
		err = wm_sample_plan_make(&s->plans[s->nr_plans++], &events[i], s->clockid, samples,
					  (uint32_t)i, &s->machine, &s->arena, diag);
	return err;
}

static int sample_source_add_filters(struct wm_sample_source *s,
				     const struct wm_sample_event *events, size_t nr)
{
	const unsigned char *desc;
	size_t bytes;
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		if (!events[i].filter || !s->plans[i].fields)
			continue;
		if (!s->sieve)
			s->sieve = wm_sieve_create(s->clock->kind, NULL);
		desc = wm_kplan_desc(s->plans[i].fields, &bytes);
		err = s->sieve ? wm_sieve_link(s->sieve, events[i].filter, events[i].filter_bytes,
					       desc, bytes, &s->plans[i].filter)
			       : -ENOMEM;
	}
	return err;
}

int wm_sample_source_create(struct wm_trace_writer *writer, struct wm_calibrate *clock,
			    const struct wm_sample_event *events, size_t nr_events,
			    struct wm_sample_source **ret, struct wm_diag *diag)
{
	struct wm_sample_source *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	s->writer = writer;
	s->clock = clock;
	s->clockid = wm_sample_clockid(clock->kind);
	wm_arena_init(&s->arena, FORMATS_BYTES_MAX);
	wm_kmachine_init(&s->machine, sizeof(long), __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	s->names = wm_task_names_create(writer);
	err = s->names ? set_tasks_shape(s) : -ENOMEM;
	if (!err)
		err = make_streams(s, events, nr_events, diag);
	if (!err)
		err = sample_source_add_filters(s, events, nr_events);
	if (err) {
		wm_sample_source_destroy(s);
		return err;
	}
	*ret = s;
	return 0;
}

void wm_sample_source_destroy(struct wm_sample_source *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->nr_plans; i++)
		wm_sample_plan_done(&s->plans[i]);
	wm_cpu_packet_done(&s->samples);
	wm_cpu_packet_done(&s->tasks);
	wm_task_names_destroy(s->names);
	wm_sieve_destroy(s->sieve);
	wm_sampler_close(s->sampler);
	wm_arena_done(&s->arena);
	free(s);
}

int wm_sample_source_attach(struct wm_sample_source *s, struct wm_sampler *sampler)
{
	s->places = wm_arena_array(&s->arena, wm_sampler_nr_cpus(sampler), sizeof(*s->places));
	if (!s->places)
		return -ENOMEM;
	s->sampler = sampler;
	return 0;
}

void wm_sample_source_leave_out(struct wm_sample_source *s, pid_t pid)
{
	if (s->nr_ours < OURS_MAX)
		s->ours[s->nr_ours++] = pid;
}

struct wm_sampler *wm_sample_source_sampler(struct wm_sample_source *s)
{
	return s->sampler;
}

/* --- records -------------------------------------------------------------------------- */

/*
 * Returns a time that is not before *last: an interrupt may write its record after another record
 * got its time and before that record is written.
 */
static uint64_t no_earlier(uint64_t clock, uint64_t *last)
{
	if (clock < *last)
		return *last;
	return *last = clock;
}

static uint64_t clock_of(struct wm_sample_source *s, const void *record,
			 const struct wm_perf_shape *shape)
{
	uint64_t ns;

	if (wm_kperf_record_time(shape, record, &ns))
		return 0; /* the caller then uses the time of the previous record */
	return wm_calibration_clock(&s->fit, ns);
}

static void put_header(unsigned char *to, uint32_t id, uint64_t clock)
{
	const uint64_t header = htole64(wm_header_make((uint16_t)id, clock));

	memcpy(to, &header, sizeof(header));
}

static bool sample_source_is_ours(const struct wm_sample_source *s, uint32_t pid)
{
	for (size_t i = 0; i < s->nr_ours; i++)
		if (s->ours[i] == (pid_t)pid)
			return true;
	return false;
}

/* Whether a record passes the filter. `record` has its header, context and payload. */
static bool sample_source_passes(struct wm_sample_source *s, const struct wm_sample_plan *plan,
				 const unsigned char *record, int64_t bytes,
				 const struct wm_sieve_context *c)
{
	const size_t context = sizeof(struct wm_sample_context);

	return wm_sieve_pass(s->sieve, plan->filter, c, record + WM_RECORD_HEADER_BYTES + context,
			     (size_t)bytes - context);
}

static void sample_source_add_sample(struct wm_sample_source *s, struct place *p,
				     const void *record, size_t bytes, size_t event)
{
	const struct wm_sample_plan *plan = &s->plans[event];
	uint64_t clock = clock_of(s, record, &plan->shape);
	unsigned char *to;
	uint32_t pid, tid;
	int64_t n;

	clock = clock < p->last_sample ? p->last_sample : clock;
	to = wm_cpu_packet_at(&s->samples, clock);
	n = wm_sample_put(plan, record, bytes, to + WM_RECORD_HEADER_BYTES, &pid, &tid);
	if (n < 0) {
		s->totals.torn++;
		return;
	}
	if (sample_source_is_ours(s, pid))
		return;
	if (plan->filter &&
	    !sample_source_passes(s, plan, to, n,
				  &(struct wm_sieve_context){pid, tid, s->samples.cpu, clock})) {
		s->totals.filtered++;
		return;
	}
	put_header(to, (uint32_t)event, no_earlier(clock, &p->last_sample));
	wm_cpu_packet_add(&s->samples, clock, WM_RECORD_HEADER_BYTES + (size_t)n);
	wm_task_names_meet(s->names, tid, clock);
}

/* Records losses, which happened between the last sample and the kernel's report. */
static void sample_source_note_loss(struct wm_sample_source *s, struct place *p, uint64_t lost,
				    uint64_t until)
{
	uint64_t from = p->last_sample ? p->last_sample : until;

	(void)wm_cpu_packet_flush(&s->samples); /* errors are in the totals */
	s->samples.lost += lost;
	s->totals.lost[WM_LOST_FULL] += lost;
	(void)wm_writer_kernel_lost(s->writer, s->samples.cpu, from < until ? from : until, until,
				    "full", lost);
}

/* Passes task names on to the filters. */
static void tell_sieve(struct wm_sieve *s, const struct wm_perf_record *r)
{
	if (r->header.type == WM_PERF_COMM)
		wm_sieve_renamed(s, r->comm.pid, r->comm.tid, r->comm.comm.data,
				 r->comm.comm.bytes);
	else if (r->header.type == WM_PERF_FORK)
		wm_sieve_forked(s, r->task.pid, r->task.tid, r->task.ptid);
}

static void put_task(struct wm_sample_source *s, const struct wm_perf_record *r, uint64_t clock)
{
	unsigned char *to = wm_cpu_packet_at(&s->tasks, clock);
	size_t n = wm_task_record_put(r, to + WM_RECORD_HEADER_BYTES);

	if (s->sieve)
		tell_sieve(s->sieve, r);
	if (!n)
		return;
	put_header(to, r->header.type, clock);
	wm_cpu_packet_add(&s->tasks, clock, WM_RECORD_HEADER_BYTES + n);
}

static void add_task(struct wm_sample_source *s, struct place *p, const void *record, size_t bytes,
		     const struct wm_perf_shape *shape)
{
	uint64_t clock = clock_of(s, record, shape);
	struct wm_perf_record r;

	if (wm_kperf_record_parse(shape, record, bytes, &r, NULL) < 0) {
		s->totals.torn++;
		return;
	}
	if (r.header.type == WM_PERF_LOST)
		p->told += r.lost.lost;
	if (r.header.type == WM_PERF_LOST || r.header.type == WM_PERF_LOST_SAMPLES) {
		sample_source_note_loss(s, p, r.lost.lost, clock);
		return;
	}
	s->totals.more[WM_SAMPLE_MORE_THROTTLED] += r.header.type == WM_PERF_THROTTLE;
	if (r.header.type == WM_PERF_SWITCH_CPU_WIDE)
		r.header.type = WM_PERF_SWITCH;
	/* sched_switch samples cover switches out, and the idle thread does not wait. */
	if (r.header.type == WM_PERF_SWITCH &&
	    (r.header.misc & WM_PERF_MISC_SWITCH_OUT || !r.id.tid))
		return;
	put_task(s, &r, no_earlier(clock, &p->last_task));
}

static void sample_source_add_record(struct wm_sample_source *s, struct place *p,
				     const void *record, size_t bytes)
{
	struct wm_perf_header h = wm_kperf_header_get(record, false);
	size_t event = WM_SAMPLER_NONE;
	uint64_t id;

	/* the id has the same offset for all attrs */
	if (!wm_kperf_record_id(&s->tasks_shape, record, &id))
		event = wm_sampler_event_of(s->sampler, id);
	if (h.type == WM_PERF_SAMPLE && event < s->nr_plans)
		sample_source_add_sample(s, p, record, bytes, event);
	else if (h.type != WM_PERF_SAMPLE)
		add_task(s, p, record, bytes,
			 event < s->nr_plans ? &s->plans[event].shape : &s->tasks_shape);
	else
		s->totals.torn++;
}

/* --- rounds ------------------------------------------------------------------------------ */

static void sample_source_drain(struct wm_sample_source *s, size_t place)
{
	struct wm_perf_ring *ring = wm_sampler_ring(s->sampler, place);
	const void *record;
	size_t bytes;

	/*
	 * The packet may hold records from wm_sample_source_tell(), whose times are later than this
	 * ring's.
	 */
	(void)wm_cpu_packet_flush(&s->tasks);
	s->samples.cpu = s->tasks.cpu = (uint32_t)wm_sampler_cpu(s->sampler, place);
	while ((record = wm_perf_ring_next(ring, &bytes)))
		sample_source_add_record(s, &s->places[place], record, bytes);
	wm_perf_ring_end(ring);
	/*
	 * Writes mappings first, so that a reader of the growing trace has them when it reads
	 * samples.
	 */
	(void)wm_cpu_packet_flush(&s->tasks);
	(void)wm_cpu_packet_flush(&s->samples);
}

/*
 * Takes a pair of clock readings first, so that the times in the rings lie between two pairs, not
 * after the last.
 */
static bool fit_clock(struct wm_sample_source *s)
{
	struct wm_calibration fit;

	wm_calibrate_tick(s->clock);
	if (wm_calibrate_fit(s->clock, &fit))
		return false;
	s->fit = fit;
	if (fit.error_ns > s->totals.more[WM_SAMPLE_MORE_CLOCK_ERROR_NS])
		s->totals.more[WM_SAMPLE_MORE_CLOCK_ERROR_NS] = fit.error_ns;
	return true;
}

static bool sample_source_is_worth(struct wm_perf_ring *ring, bool all)
{
	uint64_t waiting = ring ? wm_perf_ring_begin(ring) : 0;

	return waiting && (all || waiting >= ring->bytes / WORTH_PART);
}

static int drain_rings(struct wm_sample_source *s, bool all)
{
	uint64_t before = s->samples.packets + s->tasks.packets;
	bool fitted = false;

	for (size_t i = 0; i < wm_sampler_nr_cpus(s->sampler); i++) {
		if (!sample_source_is_worth(wm_sampler_ring(s->sampler, i), all))
			continue;
		fitted = fitted || fit_clock(s);
		if (fitted)
			sample_source_drain(s, i);
	}
	return (int)(s->samples.packets + s->tasks.packets - before);
}

int wm_sample_source_round(struct wm_sample_source *s)
{
	uint64_t now = wm_clock_monotonic_ns();
	bool all = now - s->all_ns >= ALL_EVERY_NS;

	if (!s->sampler)
		return 0;
	if (all)
		s->all_ns = now;
	return drain_rings(s, all);
}

int wm_sample_source_seal(struct wm_sample_source *s)
{
	if (!s->sampler)
		return 0;
	s->all_ns = wm_clock_monotonic_ns();
	return drain_rings(s, true);
}

/* Reports the last losses, which no later record would report. */
static void tell_last_losses(struct wm_sample_source *s, size_t place)
{
	struct place *p = &s->places[place];
	uint64_t lost = wm_sampler_lost(s->sampler, place);

	s->samples.cpu = (uint32_t)wm_sampler_cpu(s->sampler, place);
	if (lost > p->told)
		sample_source_note_loss(s, p, lost - p->told, wm_clock_read(s->clock->kind));
}

int wm_sample_source_finish(struct wm_sample_source *s)
{
	if (!s->sampler)
		return 0;
	(void)drain_rings(s, true);
	for (size_t i = 0; i < wm_sampler_nr_cpus(s->sampler); i++)
		tell_last_losses(s, i);
	return s->samples.error ? s->samples.error : s->tasks.error;
}

/* All records get the time of the first call, before any ring is read. */
void wm_sample_source_tell(struct wm_sample_source *s, const struct wm_perf_record *r)
{
	if (!s->told) {
		s->told = wm_clock_read(s->clock->kind);
		s->tasks.cpu = (uint32_t)wm_sampler_cpu(s->sampler, 0);
	}
	put_task(s, r, s->told);
	s->places[0].last_task = s->told;
}

void wm_sample_source_totals(const struct wm_sample_source *s, struct wm_source_totals *ret)
{
	*ret = s->totals;
	wm_cpu_packet_account(&s->samples, ret);
	wm_cpu_packet_account(&s->tasks, ret);
	ret->events = s->samples.events;
	ret->buffer_bytes = s->sampler ? wm_sampler_buffer_bytes(s->sampler) : 0;
}
