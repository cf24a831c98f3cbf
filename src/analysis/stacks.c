/* SPDX-License-Identifier: MIT */
/*
 * stacks.c - see stacks.h. There are three tables, in which equal entries are stored once:
 *
 *   chain   hash of {process's version, addresses}  ->  stack    the fast path
 *   stack   list of frames                          ->  its id
 *   frame   {module, address, inlined function}     ->  its id
 *
 * Chains are compared by a 64-bit hash only: two different chains with the same hash would be
 * treated as one, which happens with a probability of 1/30 in a billion chains. Stacks and frames
 * are compared in full.
 */
#include "analysis/stacks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/stacks_int.h"
#include "base/array.h"

#define FRAMES_OF_CHAIN_MAX 4096u
#define CHAINS_MAX          (1u << 18) /* chains cached at a time */

/* ---- making ------------------------------------------------------------------------ */

struct wm_stacks *wm_stacks_create(struct wm_names *names, struct wm_spaces *spaces,
				   struct wm_symbols *symbols, struct wm_lines *lines, bool inlines,
				   uint64_t seed)
{
	struct wm_stacks *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->names = names;
	s->spaces = spaces;
	s->symbols = symbols;
	s->lines = lines;
	s->inlines = inlines;
	s->seed = seed;
	wm_table_init(&s->chain_table);
	wm_table_init(&s->stack_table);
	wm_table_init(&s->frame_table);
	wm_table_init(&s->function_table);
	wm_table_init(&s->corrupt_table);
	s->scratch = malloc(FRAMES_OF_CHAIN_MAX * sizeof(*s->scratch));
	if (s->scratch && wm_stacks_add(s, NULL, 0) == WM_STACK_NONE)
		return s;
	wm_stacks_destroy(s);
	return NULL;
}

void wm_stacks_destroy(struct wm_stacks *s)
{
	if (!s)
		return;
	wm_table_done(&s->chain_table);
	wm_table_done(&s->stack_table);
	wm_table_done(&s->frame_table);
	wm_table_done(&s->function_table);
	wm_table_done(&s->corrupt_table);
	free(s->scratch);
	free(s->chains);
	free(s->corrupt);
	free(s->stacks);
	free(s->pool);
	free(s->frames);
	free(s->functions);
	free(s);
}

void wm_stacks_expect_names(struct wm_stacks *s)
{
	s->names_ahead = true;
}

/* ---- frames -------------------------------------------------------------------------- */

static uint64_t frame_hash(const struct wm_stacks *s, const struct wm_frame *f)
{
	return wm_mix(wm_mix(s->seed ^ (uintptr_t)f->place.module, f->place.address),
		      (uint64_t)f->level ^ (uintptr_t)f->inlined);
}

static bool same_frame(const struct wm_frame *a, const struct wm_frame *b)
{
	return a->place.module == b->place.module && a->place.address == b->place.address &&
	       a->level == b->level && a->inlined == b->inlined;
}

uint32_t wm_stacks_frame(struct wm_stacks *s, const struct wm_frame *f)
{
	uint64_t hash = frame_hash(s, f);
	struct wm_table_walk w = wm_table_walk(hash);

	while (wm_table_next(&s->frame_table, &w))
		if (same_frame(&s->frames[w.index], f))
			return w.index;
	if (WM_ARRAY_GROW(s->frames, s->room_frames, (size_t)s->nr_frames + 1) ||
	    wm_table_add(&s->frame_table, hash, s->nr_frames))
		return UINT32_MAX;
	s->frames[s->nr_frames] = *f;
	if (s->names_ahead && f->place.module)
		wm_symbols_expect(s->symbols, f->place.module);
	return s->nr_frames++;
}

static char level_of(enum wm_event_mode mode, uint64_t address)
{
	static const char levels[] = {
	    [WM_MODE_KERNEL] = 'k',       [WM_MODE_USER] = '.',       [WM_MODE_HYPERVISOR] = 'H',
	    [WM_MODE_GUEST_KERNEL] = 'g', [WM_MODE_GUEST_USER] = 'u',
	};

	if (mode > WM_MODE_UNKNOWN && mode <= WM_MODE_GUEST_USER)
		return levels[mode];
	return address >> 63 ? 'k' : '.';
}

/*
 * Creates the frame of an address. A caller's address is the return address; if a function ends
 * with a call, that is in the next function. It is used nevertheless, as in perf, so that names
 * agree with perf's. UINT32_MAX: out of memory.
 */
static uint32_t frame_of(struct wm_stacks *s, int32_t pid, enum wm_event_mode mode,
			 uint64_t address)
{
	struct wm_frame f = {.level = level_of(mode, address), .symbol = UINT32_MAX};

	if (!wm_spaces_find(s->spaces, pid, address, mode, &f.place))
		f.place = (struct wm_place){.address = address};
	return wm_stacks_frame(s, &f);
}

/* Appends the functions inlined at a frame, innermost first, and then the frame to s->scratch. */
static bool add_frames(struct wm_stacks *s, uint32_t frame, uint32_t *nr)
{
	struct wm_frame f = s->frames[frame];
	const struct wm_line_frames *lines =
	    s->inlines && f.place.module ? wm_lines_find(s->lines, &f.place) : NULL;

	f.symbol = UINT32_MAX;
	f.stack = WM_STACK_NONE;
	for (uint32_t i = 0; lines && i + 1 < lines->nr && *nr + 1 < FRAMES_OF_CHAIN_MAX; i++) {
		f.inlined = &lines->frames[i];
		s->scratch[*nr] = wm_stacks_frame(s, &f);
		if (s->scratch[(*nr)++] == UINT32_MAX)
			return false;
	}
	s->scratch[(*nr)++] = frame;
	return true;
}

/* ---- stacks --------------------------------------------------------------------------- */

uint32_t wm_stacks_add(struct wm_stacks *s, const uint32_t *frames, uint32_t nr)
{
	uint64_t hash =
	    wm_mix_bytes(s->seed + nr, frames ? (const void *)frames : "", nr * sizeof(*frames));
	struct wm_table_walk w = wm_table_walk(hash);

	while (wm_table_next(&s->stack_table, &w)) {
		const struct wm_stack *known = &s->stacks[w.index];

		if (known->nr == nr &&
		    (!nr || !memcmp(s->pool + known->first, frames, nr * sizeof(*frames))))
			return w.index;
	}
	if (WM_ARRAY_GROW(s->pool, s->room_pool, (size_t)s->nr_pool + nr) ||
	    WM_ARRAY_GROW(s->stacks, s->room_stacks, (size_t)s->nr_stacks + 1) ||
	    wm_table_add(&s->stack_table, hash, s->nr_stacks))
		return UINT32_MAX;
	if (nr)
		memcpy(s->pool + s->nr_pool, frames, nr * sizeof(*frames));
	s->stacks[s->nr_stacks] = (struct wm_stack){.first = s->nr_pool, .nr = nr};
	s->nr_pool += nr;
	return s->nr_stacks++;
}

bool wm_stacks_mode(uint64_t marker, enum wm_event_mode *mode)
{
	static const struct {
		int64_t marker;
		enum wm_event_mode mode;
	} table[] = {
	    {-32, WM_MODE_HYPERVISOR},     {-128, WM_MODE_KERNEL},      {-512, WM_MODE_USER},
	    {-2176, WM_MODE_GUEST_KERNEL}, {-2560, WM_MODE_GUEST_USER},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if ((int64_t)marker == table[i].marker) {
			*mode = table[i].mode;
			return true;
		}
	return false;
}

bool wm_stacks_note_corrupt(struct wm_stacks *s, uint64_t hash)
{
	struct wm_table_walk w = wm_table_walk(hash);
	uint32_t nr = s->corrupt_table.nr;

	if (nr == WM_STACKS_CORRUPT_MAX)
		return true;
	while (wm_table_next(&s->corrupt_table, &w))
		if (s->corrupt[w.index] == hash)
			return true;
	if (WM_ARRAY_GROW(s->corrupt, s->room_corrupt, (size_t)nr + 1) ||
	    wm_table_add(&s->corrupt_table, hash, nr))
		return false;
	s->corrupt[nr] = hash;
	return true;
}

/*
 * Returns whether no code can be at a caller's address: a frame-pointer walk follows whatever a
 * program without frame pointers keeps in the register. No machine has user code between 2^56 and
 * the last 2^56 addresses.
 */
static bool is_phantom(enum wm_event_mode mode, uint64_t address)
{
	uint64_t top = address >> 56;

	return mode == WM_MODE_USER && (address == 0 || (top != 0 && top != 0xff));
}

/* The user part of the chain being resolved: frames in s->scratch from `first` on. */
struct user_part {
	bool any;
	uint32_t first, innermost_end;
};

/*
 * Drops the callers at the end of a program's chain that are in no mapping: a frame-pointer walk in
 * a program without frame pointers reads unrelated values. Code mapped unseen, such as JIT-compiled
 * code, is followed by callers with a mapping, and stays.
 */
static enum wm_stacks_user end_user_part(const struct wm_stacks *s, const struct user_part *u,
					 uint32_t *nr_frames)
{
	if (!u->any || *nr_frames == u->first)
		return WM_STACKS_NO_USER;
	while (*nr_frames > u->innermost_end && !s->frames[s->scratch[*nr_frames - 1]].place.module)
		--*nr_frames;
	return *nr_frames == u->innermost_end ? WM_STACKS_BROKEN : WM_STACKS_CALLERS;
}

/*
 * Converts a chain to frames. A chain that the kernel walked by frame pointers can run into
 * arbitrary data. When it contains a value that is neither an address nor a marker, only its
 * innermost frame is reliable; perf also drops the others.
 */
static uint32_t stacks_resolve(struct wm_stacks *s, int32_t pid, enum wm_event_mode mode,
			       const uint64_t *addresses, uint32_t nr, uint64_t hash)
{
	uint32_t nr_frames = 0, frame, id;
	struct user_part u = {0};
	enum wm_stacks_user user;

	for (uint32_t i = 0; i < nr && nr_frames < FRAMES_OF_CHAIN_MAX; i++) {
		if (addresses[i] >= WM_STACKS_MARKERS) {
			if (wm_stacks_mode(addresses[i], &mode)) {
				u = (struct user_part){mode == WM_MODE_USER, nr_frames, 0};
				continue;
			}
			if (!wm_stacks_note_corrupt(s, hash))
				return UINT32_MAX;
			nr_frames = nr_frames ? 1 : 0;
			break;
		}
		if (nr_frames && is_phantom(mode, addresses[i]))
			continue;
		frame = frame_of(s, pid, mode, addresses[i]);
		if (frame == UINT32_MAX || !add_frames(s, frame, &nr_frames))
			return UINT32_MAX;
		if (!u.innermost_end)
			u.innermost_end = nr_frames;
	}
	user = end_user_part(s, &u, &nr_frames);
	id = wm_stacks_add(s, s->scratch, nr_frames);
	if (id != UINT32_MAX && user > s->stacks[id].user)
		s->stacks[id].user = (unsigned char)user;
	return id;
}

/* Creates the stack of a single address without the cache: finding its frame is just as fast. */
static uint32_t single(struct wm_stacks *s, int32_t pid, enum wm_event_mode mode, uint64_t address)
{
	uint32_t frame = frame_of(s, pid, mode, address), nr = 0;

	if (frame == UINT32_MAX)
		return UINT32_MAX;
	if (s->frames[frame].stack == WM_STACK_NONE) {
		uint32_t id =
		    add_frames(s, frame, &nr) ? wm_stacks_add(s, s->scratch, nr) : UINT32_MAX;

		if (id == UINT32_MAX)
			return UINT32_MAX;
		s->frames[frame].stack = id;
	}
	return s->frames[frame].stack;
}

/*
 * Adds a chain to the cache. A full cache is cleared, because chains of exited processes are no
 * longer needed; those in use are added again.
 */
static bool stacks_remember(struct wm_stacks *s, uint64_t hash, uint32_t id)
{
	uint32_t nr;

	if (s->chain_table.nr == CHAINS_MAX)
		wm_table_clear(&s->chain_table);
	nr = s->chain_table.nr;
	if (WM_ARRAY_GROW(s->chains, s->room_chains, (size_t)nr + 1) ||
	    wm_table_add(&s->chain_table, hash, nr))
		return false;
	s->chains[nr] = (struct wm_chain){hash, id};
	return true;
}

uint32_t wm_stacks_chain(struct wm_stacks *s, int32_t pid, enum wm_event_mode mode,
			 const uint64_t *addresses, uint32_t nr)
{
	uint64_t hash = wm_mix(wm_mix(s->seed ^ (uint32_t)pid, wm_spaces_version(s->spaces, pid)),
			       (uint64_t)mode << 32 | nr);
	struct wm_table_walk w;
	uint32_t id;

	if (nr == 1 && addresses[0] < WM_STACKS_MARKERS)
		return single(s, pid, mode, addresses[0]);
	hash = wm_mix_words(hash, addresses, nr);
	w = wm_table_walk(hash);
	while (wm_table_next(&s->chain_table, &w))
		if (s->chains[w.index].hash == hash)
			return s->chains[w.index].stack;
	id = stacks_resolve(s, pid, mode, addresses, nr, hash);
	return id == UINT32_MAX || stacks_remember(s, hash, id) ? id : UINT32_MAX;
}

const uint32_t *wm_stacks_frames(const struct wm_stacks *s, uint32_t stack, uint32_t *ret_nr)
{
	*ret_nr = s->stacks[stack].nr;
	return s->pool ? s->pool + s->stacks[stack].first : NULL;
}

enum wm_stacks_user wm_stacks_user(const struct wm_stacks *s, uint32_t stack)
{
	return s->stacks[stack].user;
}

const struct wm_place *wm_stacks_place(const struct wm_stacks *s, uint32_t frame)
{
	return &s->frames[frame].place;
}
