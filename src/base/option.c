/* SPDX-License-Identifier: MIT */
/*
 * option.c - option tables over getopt_long: parsing, defaults, bounds, errors with hints.
 * option_help.c prints the same tables. Not thread-safe (getopt is not); knows nothing about verbs
 * and prints nothing.
 */
#include "base/option.h"

#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/number.h"

/*
 * getopt's `val` for a long option is LONG_BASE plus its index in the table, which is above any
 * letter.
 */
#define LONG_BASE 0x1000
#define HELP_LONG 0x0fff

struct parser {
	const struct wm_option *table;
	unsigned nr;
	struct option longs[WM_OPTION_MAX + 2];
	char letters[2 + 3 * (WM_OPTION_MAX + 1) + 1];
	bool own_h; /* the table defines its own -h */
};

static unsigned table_length(const struct wm_option *table)
{
	unsigned nr = 0;

	while (!wm_option_is_end(&table[nr]))
		nr++;
	assert(nr <= WM_OPTION_MAX);
	return nr;
}

static int has_argument(const struct wm_option *o)
{
	if (!o->argument)
		return no_argument;
	return o->optional ? optional_argument : required_argument;
}

static void option_build(struct parser *p, const struct wm_option *table,
			 enum wm_option_order order)
{
	static const char *const colons[] = {
	    [no_argument] = "", [required_argument] = ":", [optional_argument] = "::"};
	unsigned nr_longs = 0;
	char *letters = p->letters;

	p->table = table;
	p->nr = table_length(table);
	p->own_h = false;
	if (order == WM_OPTION_FIRST)
		*letters++ = '+';
	*letters++ = ':';
	for (unsigned i = 0; i < p->nr; i++) {
		const struct wm_option *o = &table[i];

		if (o->letter) {
			*letters++ = o->letter;
			letters = stpcpy(letters, colons[has_argument(o)]);
			p->own_h |= o->letter == 'h';
		}
		if (o->name)
			p->longs[nr_longs++] =
			    (struct option){o->name, has_argument(o), NULL, LONG_BASE + (int)i};
	}
	p->longs[nr_longs++] = (struct option){"help", no_argument, NULL, HELP_LONG};
	p->longs[nr_longs] = (struct option){NULL, 0, NULL, 0};
	if (!p->own_h)
		*letters++ = 'h';
	*letters = '\0';
}

static const struct wm_option *by_code(const struct parser *p, int code)
{
	if (code >= LONG_BASE)
		return &p->table[code - LONG_BASE];
	for (unsigned i = 0; i < p->nr; i++) {
		if (p->table[i].letter && p->table[i].letter == code)
			return &p->table[i];
	}
	return NULL;
}

/* Writes the option as the user would type it, "--name" or "-x", for error messages. */
static const char *option_spelled(const struct wm_option *o, char *buf, size_t bytes)
{
	if (o->name)
		(void)snprintf(buf, bytes, "--%s", o->name);
	else
		(void)snprintf(buf, bytes, "-%c", o->letter);
	return buf;
}

/* `hint` is "" or a sentence. */
static int wrong_but(struct wm_diag *diag, const struct wm_option *o, const char *argument,
		     const char *wants, const char *hint)
{
	char name[64];

	return wm_diag_set(diag, -EINVAL, NULL, -1, "option '%s' needs %s, not '%.80s'%s%s",
			   option_spelled(o, name, sizeof(name)), wants, argument,
			   *hint ? "; " : "", hint);
}

static int wrong(struct wm_diag *diag, const struct wm_option *o, const char *argument,
		 const char *wants)
{
	return wrong_but(diag, o, argument, wants, "");
}

/* ---- values ----------------------------------------------------------- */

static int find_choice(const struct wm_option *o, const char *argument)
{
	const char *word = o->choices;

	for (int i = 0; word; i++) {
		size_t length = strcspn(word, "|");

		if (strlen(argument) == length && !strncmp(word, argument, length))
			return i;
		word = word[length] ? word + length + 1 : NULL;
	}
	return -EINVAL;
}

const char *wm_option_choice(const struct wm_option *o, int index, char *buf, size_t bytes)
{
	const char *word = o->choices;

	buf[0] = '\0';
	for (int i = 0; word; i++) {
		size_t length = strcspn(word, "|");

		if (i == index) {
			(void)snprintf(buf, bytes, "%.*s", (int)length, word);
			break;
		}
		word = word[length] ? word + length + 1 : NULL;
	}
	return buf;
}

static int set_choice(const struct wm_option *o, const char *argument, void *at,
		      struct wm_diag *diag)
{
	int index = find_choice(o, argument);
	char wants[160], word[64], hint[WM_DIAG_SENTENCE / 2];
	size_t used = (size_t)snprintf(wants, sizeof(wants), "one of ");
	struct wm_nearest near;

	if (index >= 0) {
		*(int *)at = index;
		return 0;
	}
	wm_nearest_init(&near, argument);
	for (int i = 0; *wm_option_choice(o, i, word, sizeof(word)); i++) {
		wm_nearest_offer(&near, word);
		if (used < sizeof(wants))
			used += (size_t)snprintf(wants + used, sizeof(wants) - used, "%s%s",
						 i ? ", " : "", word);
	}
	wm_nearest_sentence(&near, "", hint, sizeof(hint));
	return wrong_but(diag, o, argument, wants, hint);
}

static int set_integer(const struct wm_option *o, const char *argument, void *at,
		       struct wm_diag *diag)
{
	bool bounded = o->min || o->max;
	int64_t min = bounded ? o->min : INT64_MIN, max = bounded ? o->max : INT64_MAX;
	char wants[96];

	if (!wm_number_parse_integer(argument, min, max, at))
		return 0;
	if (!bounded)
		return wrong(diag, o, argument, "a whole number");
	if (max == INT64_MAX)
		(void)snprintf(wants, sizeof(wants), "a whole number, at least %" PRId64, min);
	else
		(void)snprintf(wants, sizeof(wants), "a whole number from %" PRId64 " to %" PRId64,
			       min, max);
	return wrong(diag, o, argument, wants);
}

/*
 * Sets a SIZE or DURATION, which differ only in the parser, the printer and the example in the
 * message.
 */
static int set_scaled(const struct wm_option *o, const char *argument, void *at,
		      struct wm_diag *diag)
{
	bool size = o->kind == WM_OPTION_SIZE, bounded = o->min || o->max;
	uint64_t min = (uint64_t)o->min, max = bounded ? (uint64_t)o->max : UINT64_MAX;
	const char *what = size ? "a size such as 64M" : "a duration such as 100ms or 2s";
	char low[WM_NUMBER_TEXT], high[WM_NUMBER_TEXT], wants[128];
	int err = size ? wm_number_parse_size(argument, min, max, at)
		       : wm_number_parse_duration(argument, min, max, at);

	if (!err)
		return 0;
	if (!bounded)
		return wrong(diag, o, argument, what);
	(void)snprintf(wants, sizeof(wants), "%s, from %s to %s", what,
		       size ? wm_number_print_size(min, low) : wm_number_print_duration(min, low),
		       size ? wm_number_print_size(max, high)
			    : wm_number_print_duration(max, high));
	return wrong(diag, o, argument, wants);
}

static int set_call(const struct wm_option *o, const char *argument, void *values,
		    struct wm_diag *diag)
{
	struct wm_diag inner = {.offset = -1};
	char name[64];
	int err = o->call(o, argument, values, &inner);

	if (err >= 0)
		return 0;
	if (!inner.sentence[0])
		(void)wm_diag_set(&inner, err, NULL, -1, "%s", strerror(-err));
	(void)wm_diag_set(diag, err, inner.where, inner.offset, "option '%s': %s",
			  option_spelled(o, name, sizeof(name)), inner.sentence);
	if (diag) {
		diag->line = inner.line;
		diag->column = inner.column;
	}
	return -EINVAL;
}

static int option_set(const struct wm_option *o, const char *argument, void *values,
		      struct wm_diag *diag)
{
	void *at = (char *)values + o->offset;

	switch (o->kind) {
	case WM_OPTION_FLAG:
		*(bool *)at = true;
		return 0;
	case WM_OPTION_TEXT:
		*(const char **)at = argument ? argument : "";
		return 0;
	case WM_OPTION_INTEGER:
		return set_integer(o, argument, at, diag);
	case WM_OPTION_SIZE:
	case WM_OPTION_DURATION:
		return set_scaled(o, argument, at, diag);
	case WM_OPTION_CHOICE:
		return set_choice(o, argument, at, diag);
	default:
		return set_call(o, argument, values, diag);
	}
}

static void set_defaults(const struct parser *p, void *values)
{
	for (unsigned i = 0; i < p->nr; i++) {
		const struct wm_option *o = &p->table[i];
		int err = 0;

		if (o->initial && o->kind != WM_OPTION_CALL && o->kind != WM_OPTION_TITLE)
			err = option_set(o, o->initial, values, NULL);
		assert(!err && "the default of an option fails its own bounds");
		(void)err; /* not used when NDEBUG is defined */
	}
}

/* ---- errors ------------------------------------------------------------ */

static void option_offer_names(const struct parser *p, struct wm_nearest *near)
{
	for (unsigned i = 0; i < p->nr; i++) {
		if (p->table[i].name && !p->table[i].hidden)
			wm_nearest_offer(near, p->table[i].name);
	}
	wm_nearest_offer(near, "help");
}

/*
 * Explains why getopt refused "--word": there is no such option, or the abbreviation is ambiguous.
 */
static int unknown_long(const struct parser *p, const char *word, struct wm_diag *diag)
{
	size_t length = strcspn(word, "=");
	char name[WM_NEAREST_NAME_MAX], list[128], hint[WM_DIAG_SENTENCE];
	struct wm_nearest near;
	unsigned nr = 0;
	size_t used = 0;

	(void)snprintf(name, sizeof(name), "%.*s", length > 60 ? 60 : (int)length, word);
	list[0] = '\0';
	for (unsigned i = 0; i < p->nr; i++) {
		if (!p->table[i].name || strncmp(p->table[i].name, name, strlen(name)))
			continue;
		if (used < sizeof(list))
			used += (size_t)snprintf(list + used, sizeof(list) - used, "%s'--%s'",
						 nr ? ", " : "", p->table[i].name);
		nr++;
	}
	if (nr > 1)
		return wm_diag_set(diag, -EINVAL, NULL, -1, "option '--%s' is ambiguous: %s", name,
				   list);
	wm_nearest_init(&near, name);
	option_offer_names(p, &near);
	wm_nearest_sentence(&near, "--", hint, sizeof(hint));
	return wm_diag_set(diag, -EINVAL, NULL, -1, "unknown option '--%s'%s%s", name,
			   *hint ? "; " : "", hint);
}

/* Explains an unknown letter; suggests "--filter" for "-filter". */
static int unknown_letter(const struct parser *p, int letter, int argc, char **argv,
			  struct wm_diag *diag)
{
	for (int at = optind; at >= optind - 1 && at > 0; at--) {
		const char *word = at < argc ? argv[at] : "";

		if (word[0] != '-' || word[1] == '-' || !strchr(word, letter) || !word[1] ||
		    !word[2])
			continue;
		for (unsigned i = 0; i < p->nr; i++) {
			if (p->table[i].name && !strcmp(p->table[i].name, word + 1))
				return wm_diag_set(diag, -EINVAL, NULL, -1,
						   "unknown option '-%c'; did you mean '-%s'?",
						   letter, word);
		}
	}
	return wm_diag_set(diag, -EINVAL, NULL, -1, "unknown option '-%c'", letter);
}

static int option_refuse(const struct parser *p, int code, int argc, char **argv,
			 struct wm_diag *diag)
{
	const struct wm_option *o = by_code(p, optopt);
	char name[64];

	if (code == ':' && o)
		return wm_diag_set(diag, -EINVAL, NULL, -1, "option '%s' needs an argument: %s",
				   optopt >= LONG_BASE ? option_spelled(o, name, sizeof(name))
						       : (char[]){'-', (char)optopt, '\0'},
				   o->argument);
	if (optopt == HELP_LONG)
		return wm_diag_set(diag, -EINVAL, NULL, -1, "option '--help' takes no argument");
	if (optopt >= LONG_BASE)
		return wm_diag_set(diag, -EINVAL, NULL, -1, "option '%s' takes no argument",
				   option_spelled(o, name, sizeof(name)));
	if (optopt)
		return unknown_letter(p, optopt, argc, argv, diag);
	return unknown_long(p, argv[optind - 1] + 2, diag);
}

/*
 * Finds the argument of an option. An optional argument may be the next word if that is one of the
 * option's values, as in "-g dwarf,4096".
 */
static const char *argument_of(const struct wm_option *o, int argc, char **argv)
{
	const char *next = optind < argc ? argv[optind] : "";
	size_t n = strcspn(next, ",");

	if (optarg || !o->optional || !o->choices)
		return optarg;
	for (const char *word = o->choices; word;) {
		size_t length = strcspn(word, "|");

		if (n == length && !strncmp(word, next, length)) {
			optind++;
			return next;
		}
		word = word[length] ? word + length + 1 : NULL;
	}
	return NULL;
}

int wm_option_parse(const struct wm_option *table, enum wm_option_order order, int argc,
		    char **argv, void *values, int *ret_first, struct wm_diag *diag)
{
	struct parser p;
	int code, err;

	option_build(&p, table, order);
	set_defaults(&p, values);
	opterr = 0;
	optind = 0; /* reinitialises getopt in glibc and musl */
	while ((code = getopt_long(argc, argv, p.letters, p.longs, NULL)) != -1) {
		if (code == HELP_LONG || (code == 'h' && !p.own_h))
			return 1;
		if (code == '?' || code == ':')
			return option_refuse(&p, code, argc, argv, diag);
		err = option_set(by_code(&p, code), argument_of(by_code(&p, code), argc, argv),
				 values, diag);
		if (err < 0)
			return err;
	}
	*ret_first = optind;
	return 0;
}
