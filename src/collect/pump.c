/* SPDX-License-Identifier: MIT */
/*
 * pump.c - rounds over all sources: collect parts, let the caller learn ids, write
 * the parts in time order, release chunks, account for losses. See pump.h.
 */
#include "collect/pump.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collect/pool_source_int.h"

struct wm_pump {
	struct wm_pump_options options;
	struct wm_pump_source *sources;
	struct wm_parts parts; /* parts of this round */
	bool busy;
	/* Totals of sources that have been removed: lost, clamped, quarantined. */
	struct wm_pump_totals totals;
};

int wm_pump_create(const struct wm_pump_options *o, struct wm_pump **ret)
{
	struct wm_pump *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->options = *o;
	if (wm_parts_init(&p->parts) < 0) {
		free(p);
		return -ENOMEM;
	}
	*ret = p;
	return 0;
}

static void drop_source(struct wm_pump *p, struct wm_pump_source *s)
{
	if (s->prev)
		s->prev->next = s->next;
	else
		p->sources = s->next;
	if (s->next)
		s->next->prev = s->prev;
	wm_source_closing(s);
	wm_source_destroy(s);
}

void wm_pump_destroy(struct wm_pump *p)
{
	if (!p)
		return;
	while (p->sources)
		drop_source(p, p->sources);
	wm_parts_done(&p->parts);
	free(p);
}

int wm_pump_add(struct wm_pump *p, struct wm_pool *pool, struct wm_producer *producer, uint32_t pid,
		struct wm_pump_source **ret)
{
	struct wm_pump_source *s;
	int err;

	if (!producer && pool->mode != WM_POOL_OVERWRITE)
		return -EINVAL;
	err = wm_source_create(pool, producer, pid, p->options.clock_kind, &s);
	if (err)
		return err;
	s->next = p->sources;
	if (s->next)
		s->next->prev = s;
	p->sources = s;
	*ret = s;
	return 0;
}

bool wm_pump_source_has_parts(const struct wm_pump_source *s)
{
	return s->has_parts;
}

const char *wm_pump_source_fault(const struct wm_pump_source *s)
{
	return s->fault;
}

static void add_source_totals(const struct wm_pump_source *s, struct wm_pump_totals *t)
{
	for (int i = 0; i < WM_LOST_NR; i++)
		t->lost[i] = wm_sum(t->lost[i], s->lost[i]);
	t->clamped = wm_sum(t->clamped, s->clamped);
	t->quarantined += s->fault != NULL;
}

void wm_pump_totals(const struct wm_pump *p, struct wm_pump_totals *ret)
{
	*ret = p->totals;
	for (const struct wm_pump_source *s = p->sources; s; s = s->next)
		add_source_totals(s, ret);
}

/* --- writing ------------------------------------------------------------------ */

/* The result of a round. */
struct outcome {
	int packets, error;
};

static int pump_by_begin(const void *a, const void *b)
{
	const struct wm_part *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return x->end < y->end ? -1 : x->end > y->end;
}

/* Whether the writer refused the packet as malformed. */
static bool pump_refused(int err)
{
	return err == -EBADMSG || err == -EINVAL;
}

/* Writes a part to the source's own producer, and counts its records as written or lost. */
static int write_own(struct wm_pump *p, const struct wm_part *part, struct wm_raw_packet *k)
{
	struct wm_pump_source *s = part->source;
	int err;

	k->lost = s->unsent;
	err = wm_producer_packet(s->producer, k);
	if (pump_refused(err)) {
		/* The records do not match their descriptions, so no reader could decode them. */
		wm_source_lost(s, WM_LOST_TORN, k->count, true);
		return 0;
	}
	s->unsent = 0; /* on failure the writer keeps the number and reports these losses later */
	if (err) {
		wm_source_lost(s, WM_LOST_DISK, k->count, false);
		p->totals.error = err;
		return err;
	}
	p->totals.packets++;
	p->totals.events += k->count;
	p->totals.bytes += k->payload.iov_len;
	return 0;
}

static int write_guest(const struct wm_part *part, struct wm_raw_packet *k)
{
	struct wm_pump_source *s = part->source;
	int err;

	k->lost = s->guest_unsent;
	err = wm_producer_packet(s->guest, k);
	if (pump_refused(err))
		return 0;
	s->guest_unsent = 0;
	return err;
}

static void pump_write_part(struct wm_pump *p, const struct wm_part *part, bool guest,
			    struct outcome *out)
{
	struct wm_raw_packet k = {
	    .tid = part->tid,
	    .level = part->level,
	    .begin = part->begin,
	    .end = part->end,
	    .count = part->count,
	    .payload = {.iov_base = (void *)part->data, .iov_len = part->bytes},
	    .last_offset = part->last_offset,
	};
	int err;

	_Static_assert(sizeof(part->comm) == sizeof(k.comm), "a thread's name");
	memcpy(k.comm, part->comm, sizeof(k.comm));
	if (guest && !part->source->guest)
		return;
	err = guest ? write_guest(part, &k) : write_own(p, part, &k);
	if (err)
		out->error = err;
	else
		/* A refused packet counts, too, because it was work in this round. */
		out->packets++;
}

/* Writes all parts, oldest first so that lanes are reused, and releases their chunks. */
static void write_parts(struct wm_pump *p, bool guest, struct outcome *out)
{
	struct wm_parts *l = &p->parts;

	wm_parts_split(l, guest);
	qsort(l->part, l->nr, sizeof(*l->part), pump_by_begin);
	for (uint32_t i = 0; i < l->nr; i++) {
		struct wm_part *part = &l->part[i];
		struct wm_pool *pool = &part->source->pool;

		if (part->bytes)
			pump_write_part(p, part, guest, out);
		if (part->pinned)
			wm_pool_release(pool, part->chunk, pool->mode != WM_POOL_OVERWRITE);
		free(part->copy);
		part->source->has_parts = false;
	}
	l->nr = 0;
}

static void pump_before_write(struct wm_pump *p)
{
	if (p->parts.nr && p->options.before_write)
		p->options.before_write(p->options.data);
}

static int outcome_of(const struct outcome *out)
{
	return out->error ? out->error : out->packets;
}

/* --- rounds --------------------------------------------------------------------- */

/*
 * Collects parts. Returns false if memory did not suffice for all parts: the caller writes these,
 * then calls again.
 */
static bool collect_all(struct wm_pump *p, bool seal)
{
	bool all = true;

	for (struct wm_pump_source *s = p->sources; s; s = s->next) {
		if (s->pool.mode == WM_POOL_OVERWRITE)
			continue;
		wm_source_beat(s);
		if (wm_source_collect(s, seal, &p->parts) < 0)
			all = false;
		wm_source_sample(s);
		wm_source_settle_losses(s);
	}
	return all;
}

int wm_pump_round(struct wm_pump *p, bool seal)
{
	struct outcome out = {0};
	bool all;

	if (p->busy)
		return -EBUSY;
	p->busy = true;
	do {
		all = collect_all(p, seal);
		if (!all && !p->parts.nr)
			out.error = -ENOMEM;
		pump_before_write(p);
		write_parts(p, false, &out);
	} while (!all && !out.error);
	for (struct wm_pump_source *s = p->sources; s; s = s->next)
		wm_source_tell_losses(s);
	p->busy = false;
	return outcome_of(&out);
}

/*
 * Drops the parts of flight recorders without a producer. They were never read, so they count as
 * overwritten.
 */
static void drop_parts(struct wm_pump *p)
{
	for (uint32_t i = 0; i < p->parts.nr; i++) {
		struct wm_part *part = &p->parts.part[i];

		wm_source_lost(part->source, WM_LOST_OVERWRITTEN, part->count, true);
		free(part->copy);
		part->source->has_parts = false;
	}
	p->parts.nr = 0;
}

static int collect_last(struct wm_pump *p, struct wm_pump_source *s)
{
	int err;

	if (s->pool.mode != WM_POOL_OVERWRITE)
		return wm_source_collect(s, true, &p->parts);
	wm_source_sample(s);
	err = wm_snapshot_collect(s, false, &p->parts);
	wm_source_settle_losses(s);
	return err;
}

int wm_pump_finish(struct wm_pump *p, struct wm_pump_source *s, const char **ret_fault)
{
	struct outcome out = {0};
	bool more;

	if (p->busy)
		return -EBUSY;
	p->busy = true;
	do {
		more = collect_last(p, s) < 0;
		if (more && !p->parts.nr)
			out.error = -ENOMEM;
		pump_before_write(p);
		if (s->producer)
			write_parts(p, false, &out);
		else
			drop_parts(p);
	} while (more && !out.error);
	wm_source_sample(s);
	wm_source_settle_losses(s);
	wm_source_tell_losses(s);
	add_source_totals(s, &p->totals);
	if (ret_fault)
		*ret_fault = s->fault;
	drop_source(p, s);
	p->busy = false;
	return out.error < 0 ? out.error : 0;
}

/* --- snapshots ------------------------------------------------------------------ */

/* Gets the guest producers of the sources that have parts, and writes the losses to them. */
static void meet_guests(struct wm_pump *p,
			struct wm_producer *(*producer)(struct wm_pump_source *s, void *data),
			void *data)
{
	for (struct wm_pump_source *s = p->sources; s; s = s->next)
		s->guest_asked = false;
	for (uint32_t i = 0; i < p->parts.nr; i++) {
		struct wm_pump_source *s = p->parts.part[i].source;
		uint64_t now = wm_clock_read(s->clock_kind);

		if (s->guest_asked)
			continue;
		s->guest_asked = true;
		s->guest = producer(s, data);
		s->guest_unsent = 0;
		for (int c = 0; s->guest && c < WM_LOST_NR; c++) {
			if (!s->sampled[c])
				continue;
			s->guest_unsent = wm_sum(s->guest_unsent, s->sampled[c]);
			(void)wm_writer_lost(s->guest, s->added_at,
					     now, /* the packet contains the sum, too */
					     wm_lost_name((enum wm_lost)c), s->sampled[c]);
		}
	}
}

int wm_pump_snapshot(struct wm_pump *p,
		     struct wm_producer *(*producer)(struct wm_pump_source *s, void *data),
		     void *data)
{
	struct outcome out = {0};
	bool guest = producer != NULL;

	if (p->busy)
		return -EBUSY;
	p->busy = true;
	for (struct wm_pump_source *s = p->sources; s; s = s->next) {
		if (s->pool.mode != WM_POOL_OVERWRITE || (!guest && !s->producer))
			continue;
		wm_source_sample(s);
		if (wm_snapshot_collect(s, guest, &p->parts) < 0)
			out.error = -ENOMEM;
		wm_source_settle_losses(s);
	}
	pump_before_write(p);
	if (guest)
		meet_guests(p, producer, data);
	write_parts(p, guest, &out);
	for (struct wm_pump_source *s = p->sources; s; s = s->next)
		wm_source_tell_losses(s);
	p->busy = false;
	return outcome_of(&out);
}
