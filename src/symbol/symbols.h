/* SPDX-License-Identifier: MIT */
/*
 * symbols.h - names for places in modules (address_spaces.h): functions in programs and libraries,
 * in the kernel, and in code generated at run time. They are the names that perf report shows.
 *
 * A module's symbols are read on first use, once for all modules of the same build, or in the
 * background after wm_symbols_expect(). Addresses without a name are counted by reason.
 *
 * Not thread-safe.
 */
#ifndef WM_SYMBOL_SYMBOLS_H
#define WM_SYMBOL_SYMBOLS_H

#include "symbol/address_spaces.h"
#include "symbol/module_file_int.h"

struct wm_symbol {
	/* demangled; raw bytes from a file, not safe to print on a terminal */
	const char *name;
	uint64_t start, end; /* address range in the module's image, or in the running kernel */
};

struct wm_symbols_options {
	struct wm_module_places places;
	bool raw_names; /* do not demangle names */
};

struct wm_symbols;

/* NULL: out of memory. Copies the options, but not their strings. */
struct wm_symbols *wm_symbols_create(const struct wm_symbols_options *options);
void wm_symbols_destroy(struct wm_symbols *s);

/*
 * Announces that names of the module will be needed: a thread reads them in the
 * background. This is a hint: it is ignored while the thread reads another module's names.
 */
void wm_symbols_expect(struct wm_symbols *s, struct wm_module *m);

/* Waits for the background thread. Call it before closing a trace that modules refer to. */
void wm_symbols_settle(struct wm_symbols *s);

/*
 * Returns the symbol at a place, or NULL with the reason. `place` is NULL when there is no mapping.
 * The result is valid as long as `s`; a symbol has the same pointer in all modules of the same
 * build.
 */
const struct wm_symbol *wm_symbols_find(struct wm_symbols *s, const struct wm_place *place,
					enum wm_unnamed *ret_why);

/* Returns how often wm_symbols_find() returned that reason. */
uint64_t wm_symbols_count(const struct wm_symbols *s, enum wm_unnamed why);

/*
 * Describes the state of a module's symbols: WM_NAMED and "" if it has some,
 * otherwise the reason and a sentence with details, if any. Reads the symbols.
 */
enum wm_unnamed wm_symbols_state(struct wm_symbols *s, struct wm_module *m,
				 const char **ret_sentence);

/*
 * Converts a place to a link-time address in its module's image. Returns false when the file is not
 * on this machine.
 */
bool wm_symbols_address(struct wm_symbols *s, const struct wm_place *place, uint64_t *ret);

const struct wm_module_places *wm_symbols_places(const struct wm_symbols *s);

#endif
