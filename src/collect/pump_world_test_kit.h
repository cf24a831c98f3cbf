/* SPDX-License-Identifier: MIT */
/*
 * pump_world_test_kit.h - for tests of this room only: a trace writer that remembers and checks
 * packets instead of writing them, and a clock that tests set. Both replace the library's; include
 * this file once per test program.
 */
#ifndef WM_COLLECT_PUMP_WORLD_TEST_KIT_H
#define WM_COLLECT_PUMP_WORLD_TEST_KIT_H

#include "collect/pump_program_test_kit.h"

#include <errno.h>

#define CLOCK_ADVANCE 1000u
#define RANGES        128u

/* --- the clock: replaces base's for pump and test ------------------------ */

static uint64_t world_clock = (uint64_t)1 << 52;

uint64_t wm_clock_read(enum wm_clock_kind kind)
{
	return wm_add_relaxed(&world_clock, 1);
}

/* --- the trace writer that remembers packets ------------------------------- */

struct range {
	uint64_t first, end;
	uint32_t tid;
};

struct wm_producer {
	uint64_t next[THREADS_MAX];  /* one more than the highest sequence number of each thread */
	struct range recent[RANGES]; /* ranges of recent packets, as a ring */
	uint64_t nr_ranges;
	bool concurrent; /* a later chunk of a thread may be read before an earlier one */
	uint64_t events, packets, lost_in_packets, last_begin;
	uint64_t lost[WM_LOST_NR]; /* from wm_writer_lost() */
	/* Losses of a failed packet that have yet to be reported, as in the real writer. */
	uint64_t carry;
	bool hostile; /* the content of packets is not checked */
	int fail;     /* error with which the next `nr_fail` packets fail */
	uint32_t nr_fail;
	uint64_t failed;
};

int64_t wm_producer_record_bytes(const struct wm_producer *p, const void *at, size_t avail)
{
	const uint64_t *r = at;
	uint64_t bytes = avail >= 16 ? (r[1] & 0xffffffff) * 8 : 0;

	return bytes >= 24 && bytes <= avail ? (int64_t)bytes : -EBADMSG;
}

/* Checks one record of a packet; returns its size in words. */
static inline uint32_t check_record(struct wm_producer *p, const struct wm_raw_packet *k,
				    const uint64_t *r, size_t left, uint64_t *clock)
{
	uint32_t words, tid;
	uint64_t seq;

	assert_true(left >= 3);
	words = (uint32_t)r[1];
	tid = (uint32_t)(r[1] >> 32);
	assert_int_equal(r[0] & 0xffff, EVENT_ID);
	assert_true(words >= 3 && words <= left && words <= RECORD_WORDS);
	assert_int_equal(tid, k->tid);
	assert_true(tid >= 100 && tid < 100 + THREADS_MAX);
	seq = r[2];
	for (uint32_t i = 3; i < words; i++)
		assert_true(r[i] == seq);
	assert_true(p->concurrent || seq >= p->next[tid - 100]);
	if (seq >= p->next[tid - 100])
		p->next[tid - 100] = seq + 1;
	*clock += ((r[0] >> 16) - *clock) & (((uint64_t)1 << 48) - 1);
	return words;
}

/*
 * Checks that no record is written twice; if rounds run concurrently with threads, only among the
 * last RANGES packets.
 */
static inline void check_range(struct wm_producer *p, const struct range *new)
{
	for (uint64_t i = 0; i < RANGES && i < p->nr_ranges; i++) {
		const struct range *old = &p->recent[i];

		assert_true(old->tid != new->tid || new->end <= old->first ||
			    new->first >= old->end);
	}
	p->recent[p->nr_ranges++ % RANGES] = *new;
}

static inline void check_packet(struct wm_producer *p, const struct wm_raw_packet *k)
{
	const uint64_t *r = k->payload.iov_base;
	size_t words = k->payload.iov_len / 8, at = 0, last = 0;
	uint64_t clock = k->begin, count = 0;
	uint64_t first = r[2];

	assert_true(words > 0);
	assert_int_equal(k->payload.iov_len % 8, 0);
	while (at < words) {
		last = at;
		/* Within one chunk, no record is missing. */
		assert_int_equal(r[at + 2], first + count);
		at += check_record(p, k, r + at, words - at, &clock);
		if (!count++)
			assert_int_equal(clock, k->begin);
	}
	check_range(p, &(struct range){first, first + count, k->tid});
	assert_int_equal(count, k->count);
	assert_int_equal(last * 8, k->last_offset);
	assert_int_equal(clock, k->end);
	assert_true(k->end - k->begin < (uint64_t)1 << 46);
	assert_true(k->end <= wm_load_relaxed(&world_clock));
}

/* Reads every byte, as a write to a file would. */
static inline void touch_packet(const struct wm_raw_packet *k)
{
	const volatile uint64_t *r = k->payload.iov_base;

	assert_int_equal(k->payload.iov_len % 8, 0);
	assert_true(k->last_offset < k->payload.iov_len);
	for (size_t i = 0; i < k->payload.iov_len / 8; i++)
		(void)r[i];
}

int wm_producer_packet(struct wm_producer *p, const struct wm_raw_packet *k)
{
	assert_true(k->begin <= k->end);
	assert_true(k->count > 0 && k->count * 8 <= k->payload.iov_len);
	if (p->nr_fail) {
		p->nr_fail--;
		p->failed += k->count;
		if (p->fail != -EBADMSG)
			p->carry += k->lost + k->count;
		return p->fail;
	}
	if (!p->hostile)
		check_packet(p, k);
	else
		touch_packet(k);
	p->lost_in_packets += k->lost + p->carry;
	p->carry = 0;
	p->events += k->count;
	p->packets++;
	return 0;
}

int wm_writer_lost(struct wm_producer *p, uint64_t from, uint64_t to, const char *cause,
		   uint64_t count)
{
	assert_true(count > 0);
	assert_true(from <= to);
	for (int i = 0; i < WM_LOST_NR; i++)
		if (!strcmp(cause, wm_lost_name((enum wm_lost)i)))
			p->lost[i] += count;
	return 0;
}

#endif
