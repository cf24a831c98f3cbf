/* SPDX-License-Identifier: MIT */
/*
 * address_spaces.h - address spaces over time: the mappings of each process and of the kernel, as
 * of the event read last.
 *
 * They come from the trace's own events (perf's mmap, fork, comm and exit, waymark's and LTTng's
 * records of processes and modules): feed all events in time order, and look up addresses in
 * between. A new mapping truncates those it overlaps; a forked child shares its parent's mappings
 * until either changes. Exec sets the old mappings aside: the new program's are searched first, but
 * the exec call itself is in the old ones. Spaces of exited processes are kept for a while, because
 * events from their last moments may follow the exit.
 */
#ifndef WM_SYMBOL_ADDRESS_SPACES_H
#define WM_SYMBOL_ADDRESS_SPACES_H

#include "symbol/modules.h"
#include "trace/reader.h"

/* mappings per process; more than the kernel's usual limit */
#define WM_SPACE_MAPPINGS_MAX 65536u
#define WM_SPACES_DEAD_MAX    1024u /* exited processes whose spaces are kept */

/* An address inside a module. */
struct wm_place {
	struct wm_module *module;
	uint64_t address; /* address in the module, see `is_offset`; for the kernel unchanged */
	/* the address is an offset in the file, not an address in its linked image */
	bool is_offset;
};

struct wm_spaces;

struct wm_spaces *wm_spaces_create(struct wm_modules *modules); /* NULL: out of memory */
void wm_spaces_destroy(struct wm_spaces *s);

/*
 * Updates the address spaces from an event. Most events do not affect them and cost 2 ns. Returns 0
 * or -ENOMEM.
 */
int wm_spaces_feed(struct wm_spaces *s, const struct wm_event *e);

/*
 * Returns whether events of this type describe address spaces, for callers that read only such
 * events.
 */
bool wm_spaces_wants(const struct wm_event_type *type);

/*
 * Finds the place of an address in a process; false: no known mapping. The mode identifies kernel
 * addresses; if it is unknown, the upper half is the kernel's. A kernel that no event described is
 * a single module, "[kernel.kallsyms]".
 */
bool wm_spaces_find(struct wm_spaces *s, int32_t pid, uint64_t address, enum wm_event_mode mode,
		    struct wm_place *ret);

/*
 * Returns a number that changes whenever looking up an address of the process or the kernel may
 * yield a different result.
 */
uint64_t wm_spaces_version(struct wm_spaces *s, int32_t pid);

/* Like wm_spaces_version(), for kernel addresses alone. */
uint64_t wm_spaces_kernel_version(const struct wm_spaces *s);

/* ---- called by the feed, and by other sources ----------------------------- */

struct wm_mapping {
	uint64_t start, end; /* address range; `end` is exclusive */
	uint64_t base;       /* address - base is the address in the module */
	struct wm_module *module;
	bool is_offset; /* see struct wm_place */
};

/*
 * Adds a mapping; pid -1 is the kernel. Truncates the mappings that it overlaps. Returns 0,
 * -ENOMEM, or -E2BIG when there are too many mappings.
 */
int wm_spaces_map(struct wm_spaces *s, int32_t pid, const struct wm_mapping *m);
void wm_spaces_unmap(struct wm_spaces *s, int32_t pid, uint64_t start, uint64_t end);
int wm_spaces_fork(struct wm_spaces *s, int32_t parent, int32_t child);
void wm_spaces_exec(struct wm_spaces *s, int32_t pid);
void wm_spaces_exit(struct wm_spaces *s, int32_t pid);

/* Returns the number of mappings dropped because a process had too many. */
uint64_t wm_spaces_nr_refused(const struct wm_spaces *s);

/*
 * Copies the number of dropped mappings from `later`, which was fed the same events and later ones.
 */
void wm_spaces_join(struct wm_spaces *s, const struct wm_spaces *later);

struct wm_modules *wm_spaces_modules(const struct wm_spaces *s);

/* Returns how many processes have a space, and how many mappings are in memory. */
void wm_spaces_size(const struct wm_spaces *s, uint32_t *ret_processes, uint64_t *ret_mappings);

#endif
