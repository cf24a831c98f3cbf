/* SPDX-License-Identifier: MIT */
/*
 * straight.h - events whose values come one after the other whatever they
 * are: no lists, no options, nothing that is given by a field. Most are. Their
 * hash (value_sum.h) is a list of short steps, each with its value's factor.
 */
#ifndef WM_READ_CTF_STRAIGHT_H
#define WM_READ_CTF_STRAIGHT_H

#include <stdint.h>

enum wm_ctf_straight_code {
	WM_CTF_STRAIGHT_END, /* `at`: how many values there were */
	WM_CTF_STRAIGHT_RUN, /* aligned by the mask `at`; `length` bits */
	WM_CTF_STRAIGHT_U8,  /* `at` bytes from the run's begin */
	WM_CTF_STRAIGHT_U16,
	WM_CTF_STRAIGHT_U32,
	WM_CTF_STRAIGHT_U64,
	WM_CTF_STRAIGHT_S8,
	WM_CTF_STRAIGHT_S16,
	WM_CTF_STRAIGHT_S32,
	WM_CTF_STRAIGHT_F32,
	WM_CTF_STRAIGHT_F64,
	WM_CTF_STRAIGHT_TEXT, /* `n` bytes, up to a NUL */
	WM_CTF_STRAIGHT_STRING,
	WM_CTF_STRAIGHT_NR
};

struct wm_ctf_straight {
	uint32_t at;
	uint16_t n;
	uint16_t code; /* enum wm_ctf_straight_code */
	union {
		uint64_t factor;
		uint64_t length;
	};
};

struct wm_arena;
struct wm_ctf_event_plan;

/* The event's steps in the arena; NULL: it is not straight, or there is no memory for them. */
const struct wm_ctf_straight *wm_ctf_straight_make(struct wm_arena *a,
						   const struct wm_ctf_event_plan *plan);

#endif
