/* SPDX-License-Identifier: MIT */
/*
 * modules.h - modules that contain code: programs, libraries, the kernel and
 * its modules, memory that a just-in-time compiler filled. Each exists once,
 * however many processes map it, and has the name that perf gives it.
 *
 * A trace records which build of a file was mapped, in the mapping or
 * separately (wm_modules_build_id()); without a build, a file is identified by
 * its path alone. This file opens no files: symbols.h does.
 */
#ifndef WM_SYMBOL_MODULES_H
#define WM_SYMBOL_MODULES_H

#include "trace/reader.h"

#define WM_MODULES_MAX        (1u << 20)
#define WM_MODULE_PATH_MAX    4096u
#define WM_MODULE_BUILD_BYTES 20u /* longer build-ids are truncated */

enum wm_module_kind {
	WM_MODULE_FILE,    /* a program or library */
	WM_MODULE_KERNEL,  /* "[kernel.kallsyms]" */
	WM_MODULE_KMODULE, /* "[ext4]"; `file` is the path of its .ko */
	WM_MODULE_VDSO,    /* "[vdso]" */
	WM_MODULE_VDSO32,  /* of a 32-bit program */
	WM_MODULE_JIT,     /* executable memory of one process: "/tmp/perf-PID.map" names it */
	WM_MODULE_CODE,    /* one function that the kernel generated: its name is the module's */
	WM_MODULE_MEMORY,  /* "[stack]", "[heap]", "//anon": no code */
	WM_MODULE_GUEST,   /* of a virtual machine: nothing is known about it */
};

struct wm_module_symbols;

/* The recorded address of a symbol of the kernel, which differs from boot to boot. */
struct wm_kernel_mark {
	uint64_t address; /* 0: not recorded */
	char name[16];
};

/* Read-only for users; `symbols` is the resolver's. Lives as long as the wm_modules. */
struct wm_module {
	const char *path; /* as perf names it; bytes of a trace, not safe for a terminal */
	const char *name; /* last part of the path; JIT: "[JIT] tid PID" */
	const char *file; /* the file's path if `path` is not; else NULL */
	enum wm_module_kind kind;
	uint32_t index;                /* from 0, in order of appearance */
	int32_t pid;                   /* first process that mapped it; -1: the kernel */
	struct wm_trace *trace;        /* from wm_modules_of_trace(); may be NULL */
	struct wm_kernel_mark *kernel; /* shared by all modules */
	uint8_t build_id_bytes;        /* 0: unknown */
	unsigned char build_id[WM_MODULE_BUILD_BYTES];
	struct wm_module_symbols *symbols;
};

struct wm_modules;

struct wm_modules *wm_modules_create(void); /* NULL: out of memory */
void wm_modules_destroy(struct wm_modules *m);

/* Identifies a mapped module, as recorded in a trace. The pointers are not kept. */
struct wm_module_key {
	enum wm_module_kind kind;
	const char *path;
	size_t path_bytes;
	int32_t pid; /* JIT: the owner; otherwise the process that mapped it */
	const unsigned char *build_id;
	size_t build_id_bytes; /* 0: see wm_modules_build_id() */
};

/*
 * Returns the module of that kind, path and build; JIT: of that process. NULL:
 * no memory, or too many.
 */
struct wm_module *wm_modules_get(struct wm_modules *m, const struct wm_module_key *key);

/*
 * Records that the file of that path (perf's name for it) has this build, when
 * the trace states it separately from the mappings. Applies to existing and
 * future modules, except those whose mapping had a build. 0 or -ENOMEM.
 */
int wm_modules_build_id(struct wm_modules *m, const char *path, size_t path_bytes,
			const unsigned char *id, size_t id_bytes);

/*
 * Does the same for all builds that a trace states (wm_trace.binaries), and
 * keeps the trace for the kernel's symbols. Call it before feeding the trace's
 * events. 0 or -ENOMEM.
 */
int wm_modules_of_trace(struct wm_modules *m, struct wm_trace *t);

/* The same for a reopened trace, before the old one is closed. */
int wm_modules_rebind(struct wm_modules *m, struct wm_trace *t);

/*
 * Merges the modules of a later part of the same traces, in their order: *ret,
 * malloc'ed, maps their index to the module here. 0 or -ENOMEM.
 */
int wm_modules_join(struct wm_modules *m, const struct wm_modules *later, struct wm_module ***ret);

uint32_t wm_modules_nr(const struct wm_modules *m);
struct wm_module *wm_modules_at(const struct wm_modules *m, uint32_t index); /* index < nr */

#endif
