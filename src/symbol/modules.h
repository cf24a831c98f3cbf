/* SPDX-License-Identifier: MIT */
/*
 * modules.h - the things that code lies in: programs, libraries, the kernel
 * and its modules, memory that a just-in-time compiler filled. Each is kept
 * once, however many processes map it, and called what perf calls it.
 *
 * A trace says which build of a file was mapped, with the mapping itself or
 * beside it (wm_modules_build_id()); without that, a file is known by its path
 * alone. Knows no files: symbols.h opens them.
 */
#ifndef WM_SYMBOL_MODULES_H
#define WM_SYMBOL_MODULES_H

#include "trace/reader.h"

#define WM_MODULES_MAX        (1u << 20)
#define WM_MODULE_PATH_MAX    4096u
#define WM_MODULE_BUILD_BYTES 20u /* more of a build-id is not kept */

enum wm_module_kind {
	WM_MODULE_FILE,    /* a program or library */
	WM_MODULE_KERNEL,  /* "[kernel.kallsyms]" */
	WM_MODULE_KMODULE, /* "[ext4]"; `file` is where its .ko was */
	WM_MODULE_VDSO,    /* "[vdso]" */
	WM_MODULE_VDSO32,  /* that of a program of 32 bits */
	WM_MODULE_JIT,     /* executable memory of one process: "/tmp/perf-PID.map" has its names */
	WM_MODULE_CODE,    /* one function that the kernel made: it is called what the module is */
	WM_MODULE_MEMORY,  /* "[stack]", "[heap]", "//anon": no code */
	WM_MODULE_GUEST,   /* of another machine: nothing is known about it */
};

struct wm_module_symbols;

/* Where a symbol of the kernel was when it was recorded: it moves from boot to boot. */
struct wm_kernel_mark {
	uint64_t address; /* 0: not said */
	char name[16];
};

/* Users read it; `symbols` is the resolver's. Lives as long as the wm_modules. */
struct wm_module {
	const char *path; /* as perf names it; bytes of a trace, not clean for a terminal */
	const char *name; /* its last part; of JIT "[JIT] tid PID" */
	const char *file; /* where the file was, when path is not that; else NULL */
	enum wm_module_kind kind;
	uint32_t index;                /* from 0, in the order of appearance */
	int32_t pid;                   /* who mapped it first; -1: the kernel */
	struct wm_trace *trace;        /* of wm_modules_of_trace(); NULL: none said */
	struct wm_kernel_mark *kernel; /* one for all modules */
	uint8_t build_id_bytes;        /* 0: not known */
	unsigned char build_id[WM_MODULE_BUILD_BYTES];
	struct wm_module_symbols *symbols;
};

struct wm_modules;

struct wm_modules *wm_modules_create(void); /* NULL: out of memory */
void wm_modules_destroy(struct wm_modules *m);

/* What is mapped: as a trace says it. Nothing is kept of the pointers. */
struct wm_module_key {
	enum wm_module_kind kind;
	const char *path;
	size_t path_bytes;
	int32_t pid; /* JIT: whose; else who mapped it */
	const unsigned char *build_id;
	size_t build_id_bytes; /* 0: see wm_modules_build_id() */
};

/* The module of that kind, path and build; of JIT: of that process. NULL: no memory, too many. */
struct wm_module *wm_modules_get(struct wm_modules *m, const struct wm_module_key *key);

/*
 * What the trace says beside its mappings: the file of that path (as perf
 * names it) is this build. For modules there are already and for those to
 * come, but not for those whose mapping said it. 0 or -ENOMEM.
 */
int wm_modules_build_id(struct wm_modules *m, const char *path, size_t path_bytes,
			const unsigned char *id, size_t id_bytes);

/*
 * The same for all that a trace says so (wm_trace.binaries), which is asked for
 * the kernel's symbols later. Before its events are fed. 0 or -ENOMEM.
 */
int wm_modules_of_trace(struct wm_modules *m, struct wm_trace *t);

/* The same when that trace was opened anew and the one before is about to go. */
int wm_modules_rebind(struct wm_modules *m, struct wm_trace *t);

/*
 * The modules of a part of the same traces that lies behind, in their order:
 * *ret, malloc'ed, has for each of them the one here. 0 or -ENOMEM.
 */
int wm_modules_join(struct wm_modules *m, const struct wm_modules *later, struct wm_module ***ret);

uint32_t wm_modules_nr(const struct wm_modules *m);
struct wm_module *wm_modules_at(const struct wm_modules *m, uint32_t index); /* index < nr */

#endif
