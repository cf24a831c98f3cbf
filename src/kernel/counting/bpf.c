/* SPDX-License-Identifier: MIT */
/* bpf.c - see bpf.h. */
#include "kernel/counting/bpf.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel/privilege.h"

#define LICENSE "Dual MIT/GPL"

/* ---- writing ---------------------------------------------------------------------- */

void wm_bpf_emit(struct wm_bpf_code *c, uint8_t code, uint8_t dst, uint8_t src, int16_t off,
		 int32_t imm)
{
	if (c->nr == WM_BPF_CODE_MAX) {
		c->failed = true;
		return;
	}
	c->insns[c->nr++] = (struct bpf_insn){code, dst, src, off, imm};
}

void wm_bpf_move(struct wm_bpf_code *c, uint8_t dst, uint8_t src)
{
	wm_bpf_emit(c, BPF_ALU64 | BPF_MOV | BPF_X, dst, src, 0, 0);
}

void wm_bpf_set(struct wm_bpf_code *c, uint8_t dst, int32_t value)
{
	wm_bpf_emit(c, BPF_ALU64 | BPF_MOV | BPF_K, dst, 0, 0, value);
}

void wm_bpf_add(struct wm_bpf_code *c, uint8_t dst, int32_t value)
{
	wm_bpf_emit(c, BPF_ALU64 | BPF_ADD | BPF_K, dst, 0, 0, value);
}

static uint8_t size_bits(uint32_t size)
{
	return size == 1 ? BPF_B : size == 2 ? BPF_H : size == 4 ? BPF_W : BPF_DW;
}

void wm_bpf_load(struct wm_bpf_code *c, uint32_t size, uint8_t dst, uint8_t src, int16_t off)
{
	wm_bpf_emit(c, BPF_LDX | size_bits(size) | BPF_MEM, dst, src, off, 0);
}

void wm_bpf_store(struct wm_bpf_code *c, uint32_t size, uint8_t dst, int16_t off, uint8_t src)
{
	wm_bpf_emit(c, BPF_STX | size_bits(size) | BPF_MEM, dst, src, off, 0);
}

void wm_bpf_store_value(struct wm_bpf_code *c, uint32_t size, uint8_t dst, int16_t off,
			int32_t value)
{
	wm_bpf_emit(c, BPF_ST | size_bits(size) | BPF_MEM, dst, 0, off, value);
}

void wm_bpf_call(struct wm_bpf_code *c, int32_t helper)
{
	wm_bpf_emit(c, BPF_JMP | BPF_CALL, 0, 0, 0, helper);
}

void wm_bpf_load_map(struct wm_bpf_code *c, uint8_t dst, int map)
{
	wm_bpf_emit(c, BPF_LD | BPF_DW | BPF_IMM, dst, BPF_PSEUDO_MAP_FD, 0, map);
	wm_bpf_emit(c, 0, 0, 0, 0, 0);
}

void wm_bpf_return(struct wm_bpf_code *c, int32_t value)
{
	wm_bpf_set(c, BPF_REG_0, value);
	wm_bpf_emit(c, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

uint32_t wm_bpf_jump_if(struct wm_bpf_code *c, uint8_t op, uint8_t dst, int32_t value)
{
	wm_bpf_emit(c, BPF_JMP | op | BPF_K, dst, 0, 0, value);
	return c->nr - 1;
}

void wm_bpf_land(struct wm_bpf_code *c, uint32_t jump)
{
	c->insns[jump].off = (int16_t)(c->nr - jump - 1);
}

/* ---- the system call ------------------------------------------------------------------ */

static int bpf(int command, union bpf_attr *attr)
{
	long ret = syscall(SYS_bpf, command, attr, sizeof(*attr));

	return ret < 0 ? -errno : (int)ret;
}

/* Kernels before 5.11 charge maps as locked memory. */
static void raise_memlock(void)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_MEMLOCK, &r) < 0)
		return;
	r.rlim_cur = r.rlim_max;
	(void)setrlimit(RLIMIT_MEMLOCK, &r);
	r.rlim_cur = r.rlim_max = RLIM_INFINITY;
	(void)setrlimit(RLIMIT_MEMLOCK, &r);
}

static int bpf_say_refused(int err, const char *what, struct wm_diag *diag)
{
	struct wm_privilege p;

	wm_privilege_read(&p);
	if (err == -EPERM || err == -EACCES)
		return wm_diag_set(diag, err, WM_BPF_REFUSED, -1,
				   "BPF %s is not permitted; %s, or with CAP_BPF and CAP_PERFMON",
				   what, wm_privilege_hint(&p));
	if (err == -ENOSYS)
		return wm_diag_set(diag, err, WM_BPF_REFUSED, -1,
				   "this kernel was built without BPF (CONFIG_BPF_SYSCALL)");
	return wm_diag_set(diag, err, WM_BPF_REFUSED, -1, "the kernel refuses the BPF %s: %s", what,
			   strerror(-err));
}

int wm_bpf_map(enum bpf_map_type type, uint32_t key_bytes, uint32_t value_bytes, uint32_t entries,
	       struct wm_diag *diag)
{
	union bpf_attr attr;
	int fd;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = type;
	attr.key_size = key_bytes;
	attr.value_size = value_bytes;
	attr.max_entries = entries;
	fd = bpf(BPF_MAP_CREATE, &attr);
	if (fd == -EPERM) {
		raise_memlock();
		fd = bpf(BPF_MAP_CREATE, &attr);
	}
	return fd < 0 ? bpf_say_refused(fd, "map", diag) : fd;
}

int wm_bpf_load_program(const struct wm_bpf_code *c, struct wm_diag *diag)
{
	union bpf_attr attr;
	int fd;

	if (c->failed)
		return wm_diag_set(diag, -E2BIG, NULL, -1, "too many fields for one BPF program");
	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_TRACEPOINT;
	attr.insns = (uint64_t)(uintptr_t)c->insns;
	attr.insn_cnt = c->nr;
	attr.license = (uint64_t)(uintptr_t)LICENSE;
	fd = bpf(BPF_PROG_LOAD, &attr);
	return fd < 0 ? bpf_say_refused(fd, "program", diag) : fd;
}

int wm_bpf_map_set(int map, const void *key, const void *value, uint64_t flags)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_fd = (uint32_t)map;
	attr.key = (uint64_t)(uintptr_t)key;
	attr.value = (uint64_t)(uintptr_t)value;
	attr.flags = flags;
	return bpf(BPF_MAP_UPDATE_ELEM, &attr);
}

int wm_bpf_map_get(int map, const void *key, void *ret_value)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_fd = (uint32_t)map;
	attr.key = (uint64_t)(uintptr_t)key;
	attr.value = (uint64_t)(uintptr_t)ret_value;
	return bpf(BPF_MAP_LOOKUP_ELEM, &attr);
}

int wm_bpf_map_next(int map, const void *key, void *ret_key)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_fd = (uint32_t)map;
	attr.key = (uint64_t)(uintptr_t)key;
	attr.next_key = (uint64_t)(uintptr_t)ret_key;
	return bpf(BPF_MAP_GET_NEXT_KEY, &attr);
}

uint64_t wm_bpf_missed(int program)
{
	struct bpf_prog_info info;
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	memset(&info, 0, sizeof(info));
	attr.info.bpf_fd = (uint32_t)program;
	attr.info.info_len = sizeof(info);
	attr.info.info = (uint64_t)(uintptr_t)&info;
	return bpf(BPF_OBJ_GET_INFO_BY_FD, &attr) < 0 ? 0 : info.recursion_misses;
}
