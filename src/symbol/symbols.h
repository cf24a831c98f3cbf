/* SPDX-License-Identifier: MIT */
/*
 * symbols.h - names for places in modules (address_spaces.h): functions of programs
 * and libraries, of the kernel, of code made at run time. They are the names
 * that perf report shows.
 *
 * A module's symbols are read when first asked for, and once for all modules
 * of one build; or before that, beside what else is done, when it was said that
 * they will be asked for. What has no name is counted, by the reason.
 *
 * For one thread.
 */
#ifndef WM_SYMBOL_SYMBOLS_H
#define WM_SYMBOL_SYMBOLS_H

#include "symbol/address_spaces.h"
#include "symbol/module_file.h"

struct wm_symbol {
	const char *name;    /* demangled; of a file: not clean for a terminal */
	uint64_t start, end; /* in the module: addresses of its image, of the kernel as it ran */
};

struct wm_symbols_options {
	struct wm_module_places places;
	bool raw_names; /* as linked */
};

struct wm_symbols;

/* NULL: out of memory. Options are copied, their strings not. */
struct wm_symbols *wm_symbols_create(const struct wm_symbols_options *options);
void wm_symbols_destroy(struct wm_symbols *s);

/*
 * Names of the module will be asked for: they are read meanwhile, on a thread of
 * their own. A hint: while it reads those of another module, nothing happens.
 */
void wm_symbols_expect(struct wm_symbols *s, struct wm_module *m);

/* Waits until nothing is read meanwhile: before a trace goes that modules are of. */
void wm_symbols_settle(struct wm_symbols *s);

/*
 * The symbol at a place (NULL: nothing is mapped there), or NULL and the
 * reason. Lives as long as `s`; the same symbol is the same pointer, in all
 * modules of one build.
 */
const struct wm_symbol *wm_symbols_find(struct wm_symbols *s, const struct wm_place *place,
					enum wm_unnamed *ret_why);

/* How often wm_symbols_find() gave that answer. */
uint64_t wm_symbols_count(const struct wm_symbols *s, enum wm_unnamed why);

/*
 * What is to be said about a module's symbols: WM_NAMED and "" when it has
 * some, else the reason and a sentence that may have more. Reads them.
 */
enum wm_unnamed wm_symbols_state(struct wm_symbols *s, struct wm_module *m,
				 const char **ret_sentence);

/* The address of a place in its module's image as linked. false: the file is not here. */
bool wm_symbols_address(struct wm_symbols *s, const struct wm_place *place, uint64_t *ret);

const struct wm_module_places *wm_symbols_places(const struct wm_symbols *s);

#endif
