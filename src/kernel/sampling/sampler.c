/* SPDX-License-Identifier: MIT */
/*
 * sampler.c - opens a plan's events, each on each thread and CPU, because the kernel lets children
 * inherit an event with a ring only if the event is bound to a CPU. A CPU's first descriptor owns
 * the ring, and the others write to it. See sampler.h.
 */
#include "kernel/sampler.h"
#include "base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/table.h"
#include "kernel/perf_event.h"

#define RING_MAX ((size_t)1 << 30) /* for each CPU */
#define WAKE_AT  4                 /* wakes the reader when 1/WAKE_AT of a ring is full */

struct place {
	int cpu, fd; /* `fd` is -1 if no thread has an event on this CPU */
	struct wm_perf_ring ring;
};

struct id {
	uint64_t id;
	size_t event;
};

struct opened {
	int fd;
	uint32_t place;
};

struct wm_sampler {
	const struct wm_sampler_plan *plan; /* valid only while opening */
	struct place *places;
	size_t nr_places;
	struct opened *fds; /* descriptors; those for task activity come first */
	size_t nr_fds, room_fds, nr_tasks_fds;
	struct id *ids;
	uint32_t room_ids;
	struct wm_table id_table;
	bool *user_only;  /* by event */
	bool counts_lost; /* the kernel counts lost records for each event */
	bool plain_tasks; /* the kernel is too old for build-ids in mapping records */
};

/* --- ids ------------------------------------------------------------------------- */

static struct id *sampler_find(const struct wm_sampler *s, uint64_t id)
{
	struct wm_table_walk w = wm_table_walk(wm_table_hash(&s->id_table, id));

	while (wm_table_next(&s->id_table, &w))
		if (s->ids[w.index].id == id)
			return &s->ids[w.index];
	return NULL;
}

static int add_id(struct wm_sampler *s, int fd, size_t event)
{
	uint32_t nr = s->id_table.nr;
	struct id *known;
	uint64_t id;

	if (ioctl(fd, PERF_EVENT_IOC_ID, &id) < 0)
		return -errno;
	known = sampler_find(s, id);
	if (known) {
		known->event = event;
		return 0;
	}
	if (WM_ARRAY_GROW(s->ids, s->room_ids, (size_t)nr + 1))
		return -ENOMEM;
	s->ids[nr] = (struct id){id, event};
	return wm_table_add(&s->id_table, wm_table_hash(&s->id_table, id), nr);
}

size_t wm_sampler_event_of(const struct wm_sampler *s, uint64_t id)
{
	const struct id *found = sampler_find(s, id);

	return found ? found->event : WM_SAMPLER_NONE;
}

/* --- opening ---------------------------------------------------------------------- */

/* Adds a descriptor; takes ownership of it, even on failure. */
static int sampler_keep(struct wm_sampler *s, int fd, size_t event, size_t place)
{
	if (WM_ARRAY_GROW(s->fds, s->room_fds, s->nr_fds + 1)) {
		(void)close(fd);
		return -ENOMEM;
	}
	s->fds[s->nr_fds++] = (struct opened){fd, (uint32_t)place};
	return add_id(s, fd, event);
}

static size_t ring_bytes(const struct wm_sampler_plan *plan)
{
	size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
	uint64_t most = plan->buffer_bytes / plan->nr_cpus;

	if (most > RING_MAX)
		most = RING_MAX;
	while (2 * bytes <= most)
		bytes *= 2;
	return bytes;
}

/* Maps the largest ring that the limits permit. */
static int map_ring(struct place *p, size_t bytes, struct wm_diag *diag)
{
	int err = wm_perf_ring_map(p->fd, bytes, &p->ring);

	while (err == -EPERM && bytes > (size_t)sysconf(_SC_PAGESIZE)) {
		bytes /= 2;
		err = wm_perf_ring_map(p->fd, bytes, &p->ring);
	}
	if (err)
		wm_diag_set(diag, err, NULL, -1, "cannot get a ring for samples on CPU %d: %s%s",
			    p->cpu, err == -EPERM ? strerror(-err) : wm_diag_errno(err),
			    err == -EPERM ? "; raise kernel.perf_event_mlock_kb, the memory that a "
					    "user may have for rings, or run as root"
					  : "");
	return err;
}

/*
 * Directs a descriptor's output to the CPU's ring; a CPU's first descriptor gets its own ring.
 */
static int join_ring(struct wm_sampler *s, struct place *p, int fd, struct wm_diag *diag)
{
	if (p->fd < 0) {
		p->fd = fd;
		return map_ring(p, ring_bytes(s->plan), diag);
	}
	if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, p->fd) < 0)
		return wm_diag_set(diag, -errno, NULL, -1,
				   "cannot share the ring for samples on CPU %d: %s", p->cpu,
				   strerror(errno));
	return 0;
}

/*
 * Whether data mappings are recorded, too. A program's unwind tables are in such a mapping, where
 * perf looks for them when it reads a converted recording.
 */
static bool wants_data(const struct wm_sampler_plan *p)
{
	for (size_t i = 0; i < p->nr_events; i++)
		if (p->events[i].chain == WM_CHAIN_STACK)
			return true;
	return false;
}

static int open_tasks(struct wm_sampler *s, struct wm_perf_where where, struct wm_diag *diag)
{
	struct perf_event_attr a;
	int fd = -EINVAL;

	wm_sampler_tasks_attr(s->plan->clockid, &a);
	a.mmap_data = wants_data(s->plan);
	a.context_switch = s->plan->switches;
	a.inherit = s->plan->nr_tids && !s->plan->alone;
	a.disabled = s->plan->on_exec;
	a.enable_on_exec = s->plan->on_exec;
	a.watermark = 1;
	a.wakeup_watermark = (uint32_t)(ring_bytes(s->plan) / WAKE_AT);
	a.read_format = s->counts_lost ? PERF_FORMAT_LOST : 0;
	if (!s->plain_tasks)
		fd = wm_perf_open(&a, where, -1, "sw:dummy", diag);
	if (fd == -EINVAL && s->counts_lost) { /* kernel before Linux 6.0 */
		s->counts_lost = false;
		return open_tasks(s, where, diag);
	}
	if (fd != -EINVAL)
		return fd;
	s->plain_tasks = true; /* kernel before Linux 5.12 */
	a.build_id = a.ksymbol = 0;
	return wm_perf_open(&a, where, -1, "sw:dummy", diag);
}

static int open_event(struct wm_sampler *s, size_t event, struct wm_perf_where where,
		      struct wm_diag *diag)
{
	const struct wm_sampler_event *e = &s->plan->events[event];
	struct perf_event_attr a;
	int fd, err;

	wm_sampler_attr(e, s->plan->clockid, &a);
	a.inherit = s->plan->nr_tids && !s->plan->alone;
	a.enable_on_exec = s->plan->on_exec;
	a.read_format = s->counts_lost ? PERF_FORMAT_LOST : 0;
	if (s->user_only[event])
		wm_sampler_narrow(&a);
	fd = wm_perf_open(&a, where, -1, e->def->name, diag);
	if (fd < 0 && !s->user_only[event] && wm_event_def_may_narrow(e->def, fd)) {
		wm_sampler_narrow(&a);
		fd = wm_perf_open(&a, where, -1, e->def->name, diag);
		s->user_only[event] = fd >= 0;
	}
	err = fd >= 0 && e->filter ? wm_perf_filter(fd, e->filter, e->def->name, diag) : 0;
	if (err < 0)
		(void)close(fd);
	return err < 0 ? err : fd;
}

/* Opens one event, or task activity, on each thread and CPU. Skips threads that have ended. */
static int sampler_open_row(struct wm_sampler *s, size_t event, struct wm_diag *diag)
{
	const struct wm_sampler_plan *plan = s->plan;
	size_t nr_tids = plan->nr_tids ? plan->nr_tids : 1;

	for (size_t t = 0; t < nr_tids; t++) {
		for (size_t c = 0; c < s->nr_places; c++) {
			const struct wm_perf_where where = {plan->nr_tids ? plan->tids[t] : -1,
							    s->places[c].cpu};
			int fd = event == WM_SAMPLER_TASKS ? open_tasks(s, where, diag)
							   : open_event(s, event, where, diag);
			int err = fd < 0 ? fd : sampler_keep(s, fd, event, c);

			if (!err)
				err = join_ring(s, &s->places[c], fd, diag);
			if (err == -ESRCH)
				break;
			if (err)
				return err;
		}
	}
	return s->nr_fds ? 0 : -ESRCH;
}

int wm_sampler_open(const struct wm_sampler_plan *plan, struct wm_sampler **ret,
		    struct wm_diag *diag)
{
	struct wm_sampler *s = calloc(1, sizeof(*s));
	int err = 0;

	if (!s)
		return -ENOMEM;
	s->plan = plan;
	s->counts_lost = true;
	wm_table_init(&s->id_table);
	s->places = calloc(plan->nr_cpus, sizeof(*s->places));
	s->user_only = calloc(plan->nr_events + 1, sizeof(*s->user_only));
	if (!s->places || !s->user_only)
		err = -ENOMEM;
	for (size_t i = 0; !err && i < plan->nr_cpus; i++)
		s->places[s->nr_places++] = (struct place){.cpu = plan->cpus[i], .fd = -1};
	if (!err)
		err = sampler_open_row(s, WM_SAMPLER_TASKS, diag);
	s->nr_tasks_fds = s->nr_fds;
	for (size_t i = 0; !err && i < plan->nr_events; i++)
		err = sampler_open_row(s, i, diag);
	s->plan = NULL;
	if (err) {
		wm_sampler_close(s);
		return err;
	}
	*ret = s;
	return 0;
}

void wm_sampler_close(struct wm_sampler *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->nr_places; i++)
		wm_perf_ring_unmap(&s->places[i].ring);
	for (size_t i = 0; i < s->nr_fds; i++)
		(void)close(s->fds[i].fd);
	free(s->places);
	free(s->fds);
	free(s->ids);
	wm_table_done(&s->id_table);
	free(s->user_only);
	free(s);
}

/* --- running ------------------------------------------------------------------------ */

int wm_sampler_start(struct wm_sampler *s)
{
	int err = 0;

	for (size_t i = s->nr_tasks_fds; i < s->nr_fds && !err; i++)
		err = wm_perf_enable(s->fds[i].fd, false);
	return err;
}

void wm_sampler_stop(struct wm_sampler *s)
{
	/* In reverse order: an event is disabled before the one whose mapping it uses. */
	for (size_t i = s->nr_fds; i > 0; i--)
		(void)wm_perf_disable(s->fds[i - 1].fd, false);
}

size_t wm_sampler_nr_cpus(const struct wm_sampler *s)
{
	return s->nr_places;
}

int wm_sampler_cpu(const struct wm_sampler *s, size_t i)
{
	return s->places[i].cpu;
}

int wm_sampler_fd(const struct wm_sampler *s, size_t i)
{
	return s->places[i].fd;
}

struct wm_perf_ring *wm_sampler_ring(struct wm_sampler *s, size_t i)
{
	return s->places[i].ring.page ? &s->places[i].ring : NULL;
}

uint64_t wm_sampler_lost(const struct wm_sampler *s, size_t place)
{
	uint64_t sum = 0, values[2]; /* the values are the count and the number of lost records */

	for (size_t i = 0; s->counts_lost && i < s->nr_fds; i++)
		if (s->fds[i].place == place &&
		    read(s->fds[i].fd, values, sizeof(values)) == (ssize_t)sizeof(values))
			sum += values[1];
	return sum;
}

uint64_t wm_sampler_buffer_bytes(const struct wm_sampler *s)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < s->nr_places; i++)
		sum += s->places[i].ring.bytes;
	return sum;
}
