/* SPDX-License-Identifier: MIT */
/*
 * bpf.h - assembles and loads this room's BPF programs: a buffer for instructions, and the few
 * bpf(2) commands that are needed. The programs are written instruction by instruction, without a
 * compiler or object files, so libbpf would not help.
 */
#ifndef WM_KERNEL_COUNTING_BPF_H
#define WM_KERNEL_COUNTING_BPF_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

#define WM_BPF_CODE_MAX 1024u

/*
 * Registers and jumps as in <linux/bpf.h>. A program that is too long fails to load.
 */
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
/* Emits dst = *(size *)(src + off), where size is 1, 2, 4 or 8. */
void wm_bpf_load(struct wm_bpf_code *c, uint32_t size, uint8_t dst, uint8_t src, int16_t off);
void wm_bpf_store(struct wm_bpf_code *c, uint32_t size, uint8_t dst, int16_t off, uint8_t src);
void wm_bpf_store_value(struct wm_bpf_code *c, uint32_t size, uint8_t dst, int16_t off,
			int32_t value);
void wm_bpf_call(struct wm_bpf_code *c, int32_t helper);
void wm_bpf_load_map(struct wm_bpf_code *c, uint8_t dst, int map);
void wm_bpf_return(struct wm_bpf_code *c, int32_t value);

/* Emits a forward jump; pass the return value to wm_bpf_land() at the target. */
uint32_t wm_bpf_jump_if(struct wm_bpf_code *c, uint8_t op, uint8_t dst, int32_t value);
void wm_bpf_land(struct wm_bpf_code *c, uint32_t jump);

/* diag->where when the kernel refuses BPF as a whole, not one event. */
#define WM_BPF_REFUSED "BPF"

/* Returns a descriptor, or -errno with an error message. */
int wm_bpf_map(enum bpf_map_type type, uint32_t key_bytes, uint32_t value_bytes, uint32_t entries,
	       struct wm_diag *diag);
int wm_bpf_load_program(const struct wm_bpf_code *c, struct wm_diag *diag);

/* Returns 0 or -errno; `flags` is BPF_ANY or similar. */
int wm_bpf_map_set(int map, const void *key, const void *value, uint64_t flags);
int wm_bpf_map_get(int map, const void *key, void *ret_value);
/* Finds the key after `key` (NULL: the first). Returns -ENOENT if there are no more keys. */
int wm_bpf_map_next(int map, const void *key, void *ret_key);

/* The number of times the program was skipped because it was already running on that CPU. */
uint64_t wm_bpf_missed(int program);

#endif
