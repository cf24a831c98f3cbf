/* SPDX-License-Identifier: MIT */
/*
 * symbols_int.h - private to the resolver: symbols.c finds and caches symbols,
 * symbols_load.c reads a module's names, kernel_symbols.c the kernel's.
 */
#ifndef WM_SYMBOL_SYMBOLS_INT_H
#define WM_SYMBOL_SYMBOLS_INT_H

#include "base/table.h"
#include "elf/elf_code.h"
#include "symbol/symbols.h"

#define WM_JIT_MAP_MAX (256u << 20)

/* A range of the file and its address in the image. */
struct wm_module_segment {
	uint64_t offset, bytes, address;
};

struct wm_symbol_hit {
	uint64_t address;
	const struct wm_symbol *symbol; /* NULL: no symbol contains the address */
};

/* The symbols of one build. All modules of that build point to it. */
struct wm_module_symbols {
	struct wm_module_symbols *next; /* in the list of all tables */
	struct wm_code code;
	struct wm_symbol **made;   /* indexed like the names in `code` */
	struct wm_symbol *whole;   /* WM_MODULE_CODE: its only symbol */
	enum wm_unnamed why;       /* WM_NAMED, or why there are no names */
	enum wm_unnamed otherwise; /* the reason for an address between symbols */
	char sentence[WM_DIAG_SENTENCE];
	struct wm_module_segment *segments;
	uint32_t nr_segments, last_segment;
	uint64_t moved; /* kernel: recorded address minus address in this table */
	/* the lookup key */
	enum wm_module_kind kind;
	uint8_t build_id_bytes;
	unsigned char build_id[WM_MODULE_BUILD_BYTES];
	const struct wm_trace *trace;
	struct wm_symbol_hit *hits;
	uint32_t room_hits;
	struct wm_table hit_table; /* hits, by address */
};

/* Fill t->code, segments, why and sentence. May be called on any thread. 0 or -ENOMEM. */
int wm_symbols_load(struct wm_module_symbols *t, const struct wm_module *m,
		    const struct wm_symbols_options *options);
int wm_symbols_load_kernel(struct wm_module_symbols *t, const struct wm_module *m,
			   const struct wm_symbols_options *options);

/*
 * Parses lines as in /proc/kallsyms. Takes ownership of `text`, which is malloc'ed and
 * NUL-terminated, since names point into it. Returns 0, -ENOMEM, or -ENOENT when it has no
 * addresses.
 */
int wm_kallsyms_parse(struct wm_code *c, char *text, size_t bytes);

/*
 * Gets the build-id of the kernel itself, even when `m` is a kernel module. Returns its size; 0:
 * unknown.
 */
uint32_t wm_symbols_kernel_build(const struct wm_module *m, const unsigned char **ret_id);

/* Returns whether the running kernel has that build-id. */
bool wm_symbols_kernel_runs(const unsigned char *id, uint32_t id_bytes);

/* Returns the difference between the kernel's recorded addresses and those in `c`. */
uint64_t wm_symbols_kernel_moved(const struct wm_code *c, const struct wm_kernel_mark *mark);

/*
 * Opens the vmlinux file with that build-id, if its debug information is installed. Returns 0 or
 * -ENOENT.
 */
int wm_vmlinux_open(const struct wm_module_places *places, const unsigned char *id,
		    uint32_t id_bytes, struct wm_module_files *ret);

#endif
