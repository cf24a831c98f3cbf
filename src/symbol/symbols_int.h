/* SPDX-License-Identifier: MIT */
/*
 * symbols_int.h - the inside of the resolver: symbols.c finds and remembers,
 * symbols_load.c reads a module's names, kernel_symbols.c the kernel's.
 */
#ifndef WM_SYMBOL_SYMBOLS_INT_H
#define WM_SYMBOL_SYMBOLS_INT_H

#include "elf/elf_code.h"
#include "symbol/symbols.h"

#define WM_KALLSYMS_MAX (256u << 20) /* bytes of text */
#define WM_JIT_MAP_MAX  (256u << 20)

/* Where bytes of a file are in its image. */
struct wm_module_segment {
	uint64_t offset, bytes, address;
};

struct wm_symbol_hit {
	uint64_t address;
	const struct wm_symbol *symbol; /* NULL: none is there */
	bool used;
};

/* The names of one build. Modules point at it. */
struct wm_module_symbols {
	struct wm_module_symbols *next; /* of all */
	struct wm_code code;
	struct wm_symbol **made;   /* by index in code */
	struct wm_symbol *whole;   /* of WM_MODULE_CODE: the only one */
	enum wm_unnamed why;       /* WM_NAMED: there are some */
	enum wm_unnamed otherwise; /* what an address between them is */
	char sentence[WM_DIAG_SENTENCE];
	struct wm_module_segment *segments;
	uint32_t nr_segments, last_segment;
	uint64_t moved; /* of the kernel: address as it ran - address of these names */
	/* by what it is found again */
	enum wm_module_kind kind;
	uint8_t build_id_bytes;
	unsigned char build_id[WM_MODULE_BUILD_BYTES];
	const struct wm_trace *trace;
	/* open addressing, a power of two */
	struct wm_symbol_hit *hits;
	uint32_t nr_hits, room_hits;
};

/* Fill t->code, segments, why and sentence, on any thread. 0 or -ENOMEM. */
int wm_symbols_load(struct wm_module_symbols *t, const struct wm_module *m,
		    const struct wm_symbols_options *options);
int wm_symbols_load_kernel(struct wm_module_symbols *t, const struct wm_module *m,
			   const struct wm_symbols_options *options);

/*
 * Lines as in /proc/kallsyms, malloc'ed, with a NUL behind: the code's from now
 * on, as names stay where they are. 0, -ENOENT: no address in it is told; -ENOMEM.
 */
int wm_kallsyms_parse(struct wm_code *c, char *text, size_t bytes);

/* The build of the kernel itself, also when a module of it is asked about; 0: not told. */
uint32_t wm_kernel_build(const struct wm_module *m, const unsigned char **ret_id);

/* Is that the kernel that runs here? By its build-id note. */
bool wm_kernel_runs(const unsigned char *id, uint32_t id_bytes);

/* How far the kernel was from where these names are. */
uint64_t wm_kernel_moved(const struct wm_code *c, const struct wm_kernel_mark *mark);

/* The kernel as it was linked, where debug information of that build is kept. 0 or -ENOENT. */
int wm_vmlinux_open(const struct wm_module_places *places, const unsigned char *id,
		    uint32_t id_bytes, struct wm_module_files *ret);

/* Lines "START BYTES name" in hexadecimal, as compilers write them. 0 or -ENOMEM. */
int wm_jit_map_parse(struct wm_code *c, char *text);

#endif
