/* SPDX-License-Identifier: MIT */
/*
 * modules.h - modules that contain code: programs, libraries, the kernel and its modules, memory
 * filled by a just-in-time compiler. Each exists once, however many processes map it, and is named
 * as in perf.
 *
 * A trace records which build of a file was mapped, in the mapping or separately
 * (wm_modules_build_id()); without a build, a file is identified by its path alone. Files are
 * opened in symbols.h, not here.
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
	WM_MODULE_VDSO32,  /* the vdso of a 32-bit program */
	WM_MODULE_JIT,     /* executable memory of one process: "/tmp/perf-PID.map" names it */
	WM_MODULE_CODE,    /* one function that the kernel generated: the module has its name */
	WM_MODULE_MEMORY,  /* "[stack]", "[heap]", "//anon": no code */
	WM_MODULE_GUEST,   /* code of a virtual machine, about which nothing is known */
};

struct wm_module_symbols;

/* The recorded address of a kernel symbol: it shows how far the kernel was moved at boot. */
struct wm_kernel_mark {
	uint64_t address; /* 0: not recorded */
	char name[16];
};

/*
 * A module, read-only for users of this header; only the resolver uses `symbols`. Valid as long as
 * the wm_modules.
 */
struct wm_module {
	/* as perf names it; raw bytes from a trace, not safe to print on a terminal */
	const char *path;
	const char *name; /* last part of the path; JIT: "[JIT] tid PID" */
	const char *file; /* path of the file if `path` is something else; otherwise NULL */
	enum wm_module_kind kind;
	uint32_t index;                /* number in order of appearance, from 0 */
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

/* Identifies a mapped module, as recorded in a trace. The strings are copied. */
struct wm_module_key {
	enum wm_module_kind kind;
	const char *path;
	size_t path_bytes;
	int32_t pid; /* JIT: the process that owns the code; otherwise the one that mapped it */
	const unsigned char *build_id;
	size_t build_id_bytes; /* 0: see wm_modules_build_id() */
};

/*
 * Returns the module with that kind, path and build-id (for JIT, that process's module), creating
 * it if needed. NULL: out of memory, or too many modules.
 */
struct wm_module *wm_modules_get(struct wm_modules *m, const struct wm_module_key *key);

/*
 * Sets a file's build-id that the trace gives separately from the mappings. `path` is the file as
 * perf names it. Applies to existing and future modules, except those whose mapping had a build-id.
 * Returns 0 or -ENOMEM.
 */
int wm_modules_build_id(struct wm_modules *m, const char *path, size_t path_bytes,
			const unsigned char *id, size_t id_bytes);

/*
 * Calls wm_modules_build_id() for all build-ids of a trace
 * (wm_trace.binaries), and stores the trace pointer for reading the kernel's
 * symbols later. Call it before feeding the trace's events. 0 or -ENOMEM.
 */
int wm_modules_of_trace(struct wm_modules *m, struct wm_trace *t);

/* Replaces a trace with the same trace, reopened; call it before the old one is closed. */
int wm_modules_rebind(struct wm_modules *m, struct wm_trace *t);

/*
 * Adds the modules of a later part of the same traces, in their order. *ret, malloc'ed, maps an
 * index in `later` to the module here. Returns 0 or -ENOMEM.
 */
int wm_modules_join(struct wm_modules *m, const struct wm_modules *later, struct wm_module ***ret);

uint32_t wm_modules_nr(const struct wm_modules *m);
/* requires index < nr */
struct wm_module *wm_modules_at(const struct wm_modules *m, uint32_t index);

#endif
