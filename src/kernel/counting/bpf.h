/* SPDX-License-Identifier: MIT */
/*
 * bpf.h - loading BPF programs that are written here, instruction by
 * instruction: a buffer to write them in, and the few calls of bpf(2) needed.
 * No compiler, no object files, so nothing of libbpf would be used.
 */
#ifndef WM_KERNEL_COUNTING_BPF_H
#define WM_KERNEL_COUNTING_BPF_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

#define WM_BPF_CODE_MAX 1024u

/* Registers and jumps as in <linux/bpf.h>. Too long a program fails when it is loaded. */
struct wm_bpf_code {
	struct bpf_insn insns[WM_BPF_CODE_MAX];
	uint32_t nr;
	bool failed;
};

void wm_bpf_emit(struct wm_bpf_code *c, uint8_t code, uint8_t dst, uint8_t src, int16_t off,
		 int32_t imm);
void wm_bpf_move(struct wm_bpf_code *c, uint8_t dst, uint8_t src);
void wm_bpf_set(struct wm_bpf_code *c, uint8_t dst, int32_t value);
void wm_bpf_add(struct wm_bpf_code *c, uint8_t dst, int32_t value);
/* dst = *(size *)(src + off); size 1, 2, 4, 8. */
void wm_bpf_load(struct wm_bpf_code *c, uint32_t size, uint8_t dst, uint8_t src, int16_t off);
void wm_bpf_store(struct wm_bpf_code *c, uint32_t size, uint8_t dst, int16_t off, uint8_t src);
void wm_bpf_store_value(struct wm_bpf_code *c, uint32_t size, uint8_t dst, int16_t off,
			int32_t value);
void wm_bpf_call(struct wm_bpf_code *c, int32_t helper);
void wm_bpf_load_map(struct wm_bpf_code *c, uint8_t dst, int map);
void wm_bpf_return(struct wm_bpf_code *c, int32_t value);

/* A jump whose target comes later: `jump` returns what `land` wants. */
uint32_t wm_bpf_jump_if(struct wm_bpf_code *c, uint8_t op, uint8_t dst, int32_t value);
void wm_bpf_land(struct wm_bpf_code *c, uint32_t jump);

/* diag->where of what the kernel refuses here, whatever is to be counted. */
#define WM_BPF_REFUSED "BPF"

/* Descriptors, or a negative errno with a sentence. */
int wm_bpf_map(enum bpf_map_type type, uint32_t key_bytes, uint32_t value_bytes, uint32_t entries,
	       struct wm_diag *diag);
int wm_bpf_load_program(const struct wm_bpf_code *c, struct wm_diag *diag);

/* 0 or -errno; `flags` BPF_ANY ... */
int wm_bpf_map_set(int map, const void *key, const void *value, uint64_t flags);
int wm_bpf_map_get(int map, const void *key, void *ret_value);
/* The key behind `key` (NULL: the first). -ENOENT: there is none. */
int wm_bpf_map_next(int map, const void *key, void *ret_key);

/* How often a program was not run because one ran already on that CPU. */
uint64_t wm_bpf_missed(int program);

#endif
