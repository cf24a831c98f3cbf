/* SPDX-License-Identifier: MIT */
/*
 * symbols_int.h - private to the resolver: symbols.c finds and caches symbols,
 * symbols_load.c reads a module's names, kernel_symbols.c the kernel's.
 */
#ifndef WM_SYMBOL_SYMBOLS_INT_H
#define WM_SYMBOL_SYMBOLS_INT_H

#include "elf/elf_code.h"
#include "symbol/symbols.h"

#define WM_JIT_MAP_MAX (256u << 20)

/* The place in the image of a range of the file. */
struct wm_module_segment {
	uint64_t offset, bytes, address;
};

struct wm_symbol_hit {
	uint64_t address;
	const struct wm_symbol *symbol; /* NULL: none at the address */
	bool used;
};

/* The names of one build. Modules point to it. */
struct wm_module_symbols {
	struct wm_module_symbols *next; /* in the hash bucket */
	struct wm_code code;
	struct wm_symbol **made;   /* by index in code */
	struct wm_symbol *whole;   /* WM_MODULE_CODE: its only symbol */
	enum wm_unnamed why;       /* WM_NAMED: has names */
	enum wm_unnamed otherwise; /* the reason for an address between them */
	char sentence[WM_DIAG_SENTENCE];
	struct wm_module_segment *segments;
	uint32_t nr_segments, last_segment;
	uint64_t moved; /* kernel: address when recorded - address of these names */
	/* the lookup key */
	enum wm_module_kind kind;
	uint8_t build_id_bytes;
	unsigned char build_id[WM_MODULE_BUILD_BYTES];
	const struct wm_trace *trace;
	/* open addressing, a power of two */
	struct wm_symbol_hit *hits;
	uint32_t nr_hits, room_hits;
};

/* Fill t->code, segments, why and sentence; may run on any thread. 0 or -ENOMEM. */
int wm_symbols_load(struct wm_module_symbols *t, const struct wm_module *m,
		    const struct wm_symbols_options *options);
int wm_symbols_load_kernel(struct wm_module_symbols *t, const struct wm_module *m,
			   const struct wm_symbols_options *options);

/*
 * Parses lines as in /proc/kallsyms. `text` is malloc'ed and NUL-terminated,
 * and belongs to the code from now on, as names point into it. 0, -ENOENT: no
 * addresses in it; -ENOMEM.
 */
int wm_kallsyms_parse(struct wm_code *c, char *text, size_t bytes);

/* Returns the build of the kernel itself, also for a module of the kernel; 0: unknown. */
uint32_t wm_kernel_build(const struct wm_module *m, const unsigned char **ret_id);

/* Returns whether that kernel is running, by its build-id note. */
bool wm_kernel_runs(const unsigned char *id, uint32_t id_bytes);

/* Returns the distance of the kernel's recorded addresses from those of these names. */
uint64_t wm_kernel_moved(const struct wm_code *c, const struct wm_kernel_mark *mark);

/* Opens the kernel as linked, if debug information of that build is kept here. 0 or -ENOENT. */
int wm_vmlinux_open(const struct wm_module_places *places, const unsigned char *id,
		    uint32_t id_bytes, struct wm_module_files *ret);

/* Parses lines "START BYTES name" in hexadecimal, as compilers write them. 0 or -ENOMEM. */
int wm_jit_map_parse(struct wm_code *c, char *text);

#endif
