/* SPDX-License-Identifier: MIT */
/*
 * address_spaces.h - address spaces over time: what was mapped where in each process
 * and in the kernel, at the moment up to which a trace was read.
 *
 * The trace's own events say it (perf's mmap, fork, comm and exit, waymark's
 * and LTTng's records of processes and modules): feed them in order of time
 * with everything else, and ask for addresses in between. A new mapping cuts
 * what it overlaps; a forked child shares its parent's mappings until either
 * changes. Exec puts them aside: what the new program maps comes first, but the
 * call of exec itself lies in the old one. Spaces of processes that ended are kept for a
 * while, as events of their last moments may come behind the end.
 */
#ifndef WM_SYMBOL_ADDRESS_SPACES_H
#define WM_SYMBOL_ADDRESS_SPACES_H

#include "symbol/modules.h"
#include "trace/reader.h"

#define WM_SPACE_MAPPINGS_MAX 65536u /* of one process: above the kernel's usual limit */
#define WM_SPACES_DEAD_MAX    1024u  /* spaces of ended processes that are kept */

/* An address inside a module. */
struct wm_place {
	struct wm_module *module;
	uint64_t address; /* in the module, as `is_offset` says; of the kernel: as it is */
	bool is_offset;   /* in the file, not in its image as linked */
};

struct wm_spaces;

struct wm_spaces *wm_spaces_create(struct wm_modules *modules); /* NULL: out of memory */
void wm_spaces_destroy(struct wm_spaces *s);

/*
 * Learns from an event what it says of address spaces; of most that is
 * nothing, which costs 2 ns. 0 or -ENOMEM.
 */
int wm_spaces_feed(struct wm_spaces *s, const struct wm_event *e);

/* Whether events of that type say something, for who reads only what it needs. */
bool wm_spaces_wants(const struct wm_event_type *type);

/*
 * Where an address of a process lies; false: nothing known is there. Addresses
 * of the kernel are told by the mode or, when that is not known, by their
 * upper half. A kernel nobody described is one module, "[kernel.kallsyms]".
 */
bool wm_spaces_find(struct wm_spaces *s, int32_t pid, uint64_t address, enum wm_event_mode mode,
		    struct wm_place *ret);

/* Another number whenever addresses of the process, or the kernel, may have another answer. */
uint64_t wm_spaces_version(struct wm_spaces *s, int32_t pid);

/* ---- what the feed does, for other sources -------------------------------- */

struct wm_mapping {
	uint64_t start, end; /* addresses, end excluded */
	uint64_t base;       /* address - base is the one in the module */
	struct wm_module *module;
	bool is_offset; /* see struct wm_place */
};

/* pid -1: the kernel. What it overlaps is cut. 0, -ENOMEM, -E2BIG: too many mappings. */
int wm_spaces_map(struct wm_spaces *s, int32_t pid, const struct wm_mapping *m);
void wm_spaces_unmap(struct wm_spaces *s, int32_t pid, uint64_t start, uint64_t end);
int wm_spaces_fork(struct wm_spaces *s, int32_t parent, int32_t child);
void wm_spaces_exec(struct wm_spaces *s, int32_t pid);
void wm_spaces_exit(struct wm_spaces *s, int32_t pid);

/* Mappings that were not kept because a process had too many. */
uint64_t wm_spaces_nr_refused(const struct wm_spaces *s);

/* What came behind was followed by other spaces, from the same beginning on. */
void wm_spaces_join(struct wm_spaces *s, const struct wm_spaces *later);

struct wm_modules *wm_spaces_modules(const struct wm_spaces *s);

/* How many processes have a space, and how many mappings are held in memory. */
void wm_spaces_size(const struct wm_spaces *s, uint32_t *ret_processes, uint64_t *ret_mappings);

#endif
