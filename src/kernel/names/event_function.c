/* SPDX-License-Identifier: MIT */
/*
 * event_function.c - finds a program's functions by linker name or C++ name, by name and offset,
 * and by glob. See event_file.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "base/nearest.h"
#include "base/plural.h"
#include "elf/demangle.h"
#include "elf/elf_symbols.h"
#include "kernel/names/event_file.h"

struct search {
	const struct wm_event_place *p;
	struct wm_event_file *file;
	struct wm_elf_symbols symbols;
	const char *wanted; /* a name or a glob */
	uint64_t offset;
	bool both; /* probe both entry and return */
	int nr;
	uint64_t last; /* address of the last function added */
};

static bool is_function(const struct wm_elf_symbol *s)
{
	return s->type == STT_FUNC || s->type == STT_GNU_IFUNC;
}

static int no_function(const struct search *s)
{
	struct wm_nearest near;
	char hint[120];

	wm_nearest_init(&near, s->wanted);
	for (size_t i = 0; i < s->symbols.nr; i++) {
		const struct wm_elf_symbol *symbol = &s->symbols.symbols[i];
		char *written;

		if (!is_function(symbol))
			continue;
		written = wm_demangle_may(symbol->name) ? wm_demangle(symbol->name) : NULL;
		wm_nearest_offer(&near, written ? written : symbol->name);
		free(written);
	}
	wm_nearest_sentence(&near, "", hint, sizeof(hint));
	return wm_diag_set(
	    s->p->diag, -ENOENT, NULL, -1, "'%.80s' has no function '%.50s'; %s", s->file->path,
	    s->wanted,
	    *hint ? hint
		  : "it may be stripped or inlined; an address can be given instead: 0x1234");
}

static int event_function_add(struct search *s, const struct wm_elf_symbol *symbol,
			      const char *name)
{
	struct wm_event_spot spot = {
	    .symbol = name, .address = symbol->address, .offset = s->offset};
	int err;

	if (symbol->bytes && s->offset >= symbol->bytes)
		return wm_diag_set(s->p->diag, -EINVAL, NULL, -1,
				   "'%.60s' has %" PRIu64 " %s: +%" PRIu64 " is outside", name,
				   symbol->bytes, wm_plural(symbol->bytes, "byte", "bytes"),
				   s->offset);
	if ((unsigned)s->nr >= WM_EVENT_FUNCTIONS_MAX)
		return wm_diag_set(
		    s->p->diag, -E2BIG, NULL, -1,
		    "'%s:%.80s' matches more than %u functions of '%.80s'; use a narrower pattern",
		    s->p->family, s->p->text, WM_EVENT_FUNCTIONS_MAX, s->file->path);
	err = wm_event_spot_add(s->p, s->file, &spot);
	spot.returns = true;
	if (!err && s->both)
		err = wm_event_spot_add(s->p, s->file, &spot);
	s->nr += err ? 0 : 1 + s->both;
	s->last = symbol->address;
	return err;
}

/*
 * Adds all functions that match, by linker name or demangled; several at one address count as one.
 */
static int event_function_add_matching(struct search *s)
{
	size_t bytes = strlen(s->wanted);
	int err = 0;

	for (size_t i = 0; i < s->symbols.nr && !err; i++) {
		const struct wm_elf_symbol *symbol = &s->symbols.symbols[i];
		char *written = NULL;

		if (!is_function(symbol) || (s->nr && symbol->address == s->last))
			continue;
		if (wm_glob_match(s->wanted, bytes, symbol->name, strlen(symbol->name))) {
			err = event_function_add(s, symbol, symbol->name);
			continue;
		}
		if (wm_demangle_may(symbol->name))
			written = wm_demangle(symbol->name);
		if (written && wm_glob_match(s->wanted, bytes, written, strlen(written)))
			err = event_function_add(s, symbol, written);
		free(written);
	}
	return err ? err : s->nr ? 0 : no_function(s);
}

static int add_named(struct search *s)
{
	const struct wm_elf_symbol *symbol = wm_elf_symbol_named(&s->symbols, s->wanted);

	return symbol && is_function(symbol) ? event_function_add(s, symbol, s->wanted)
					     : event_function_add_matching(s);
}

/* Notes that copies are not probed, with the reason of the first. */
static int event_function_without(struct search *s, size_t nr, const struct wm_diag *why)
{
	struct wm_event_defs *defs = s->p->defs;
	char text[WM_DIAG_SENTENCE + 80];
	int n = snprintf(text, sizeof(text), "%zu %s of '%.60s' %s not probed: %s", nr,
			 wm_plural(nr, "inlined copy", "inlined copies"), s->wanted,
			 wm_plural(nr, "is", "are"), why->sentence);

	defs->defs[defs->nr - 1].places_left_out = wm_arena_copy(&defs->arena, text, (size_t)n);
	return defs->defs[defs->nr - 1].places_left_out ? 0 : -ENOMEM;
}

/*
 * Adds the inlined copies of a function that was named without a wildcard or offset. Skips copies
 * where a value cannot be fetched, and reports them, unless no other place is left.
 */
static int event_function_add_copies(struct search *s)
{
	struct wm_elf_vars *vars = wm_event_file_vars(s->file);
	struct wm_event_place quiet = *s->p;
	struct wm_diag diag = {.offset = -1}, first = {.offset = -1};
	uint64_t *addresses = NULL;
	size_t nr = 0, nr_without = 0;
	int err = vars ? wm_elf_vars_copies(vars, s->wanted, &addresses, &nr) : 0;

	quiet.diag = &diag;
	for (size_t i = 0; i < nr && !err; i++) {
		err = wm_event_spot_add(&quiet, s->file,
					&(struct wm_event_spot){.symbol = s->wanted,
								.address = addresses[i],
								.is_copy = true,
								.more = s->nr > 0});
		s->nr += !err;
		if (err != -EOPNOTSUPP && err != -ENOENT)
			continue;
		if (!nr_without++)
			first = diag;
		err = 0;
	}
	free(addresses);
	if (err || (nr_without && !s->nr)) {
		if (s->p->diag)
			*s->p->diag = err ? diag : first;
		return err ? err : -EOPNOTSUPP;
	}
	return nr_without ? event_function_without(s, nr_without, &first) : 0;
}

/* Completes the probes of a name; `err` is -ENOENT when no symbol has it. */
static int event_function_and_copies(struct search *s, int err)
{
	struct wm_elf_vars *vars;
	uint64_t *addresses = NULL;
	size_t nr = 0;
	int failed;

	if (!strcmp(s->p->family, "uprobe")) {
		failed = event_function_add_copies(s);
		if (!failed && s->nr && err && s->p->diag)
			*s->p->diag = (struct wm_diag){.offset = -1};
		return failed ? failed : s->nr ? 0 : err;
	}
	vars = err ? wm_event_file_vars(s->file) : NULL;
	if (vars && wm_elf_vars_copies(vars, s->wanted, &addresses, &nr) == 0 && nr)
		(void)wm_diag_set(
		    s->p->diag, err, NULL, -1,
		    "'%.80s': '%.60s' has only inlined copies, which uprobe can probe, "
		    "and which have no return",
		    s->file->path, s->wanted);
	free(addresses);
	return err;
}

static int event_function_add_all(const struct wm_event_place *p, struct wm_event_file *f,
				  const char *text, bool both)
{
	struct search s = {.p = p, .file = f, .both = both};
	size_t bytes = strlen(text);
	char *name;
	int err;

	if (!wm_glob_is_pattern(text, bytes) && wm_event_place_offset(text, &bytes, &s.offset) < 0)
		return wm_diag_set(p->diag, -EINVAL, NULL, -1,
				   "'%s:%.80s': the offset is not a number", p->family, p->text);
	err = wm_elf_symbols_read(f->elf, &s.symbols, p->diag);
	if (err < 0)
		return err;
	s.wanted = name = strndup(text, bytes);
	if (!name)
		err = -ENOMEM;
	else
		err = wm_glob_is_pattern(name, bytes) ? event_function_add_matching(&s)
						      : add_named(&s);
	if ((!err || err == -ENOENT) && name && !wm_glob_is_pattern(name, bytes) && !s.offset &&
	    !both)
		err = event_function_and_copies(&s, err);
	free(name);
	wm_elf_symbols_done(&s.symbols);
	return err ? err : s.nr;
}

int wm_event_function_add(const struct wm_event_place *p, struct wm_event_file *f, const char *name)
{
	return event_function_add_all(p, f, name, false);
}

int wm_event_function_add_returns(const struct wm_event_place *p, struct wm_event_file *f,
				  const char *name)
{
	return event_function_add_all(p, f, name, true);
}
