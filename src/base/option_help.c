/* SPDX-License-Identifier: MIT */
/*
 * option_help.c - prints an option table for --help. See option.h.
 */
#include <string.h>

#include "base/option.h"

#define INDENT 30u /* column where the help texts begin */

static unsigned print_usage(const struct wm_option *o, FILE *out)
{
	int n = 0;

	if (o->letter && o->name)
		n = fprintf(out, "  -%c, --%s", o->letter, o->name);
	else if (o->name)
		n = fprintf(out, "      --%s", o->name);
	else
		n = fprintf(out, "  -%c", o->letter);
	if (o->argument && o->optional)
		n += fprintf(out, o->name ? "[=%s]" : "[%s]", o->argument);
	else if (o->argument)
		n += fprintf(out, " %s", o->argument);
	return n > 0 ? (unsigned)n : 0;
}

/* Prints wrapped text that begins at `column`; returns the column reached. */
static unsigned print_words(const char *text, unsigned column, unsigned columns, FILE *out)
{
	while (*text) {
		size_t length = strcspn(text, " ");

		if (column + length + 1 > columns && column > INDENT) {
			(void)fprintf(out, "\n%*s", (int)INDENT, "");
			column = INDENT;
		}
		(void)fprintf(out, "%s%.*s", column > INDENT ? " " : "", (int)length, text);
		column += (unsigned)length + (column > INDENT);
		text += length;
		text += strspn(text, " ");
	}
	return column;
}

static void print_choices(const struct wm_option *o, char *buf, size_t bytes)
{
	size_t used = (size_t)snprintf(buf, bytes, "(");
	char word[64];

	for (int i = 0; *wm_option_choice(o, i, word, sizeof(word)); i++) {
		if (used < bytes)
			used +=
			    (size_t)snprintf(buf + used, bytes - used, "%s%s", i ? ", " : "", word);
	}
	if (used < bytes)
		(void)snprintf(buf + used, bytes - used, ")");
}

static void print_entry(const struct wm_option *o, unsigned columns, FILE *out)
{
	unsigned column = print_usage(o, out);
	char extra[256];

	if (column + 2 > INDENT) {
		(void)fprintf(out, "\n");
		column = 0;
	}
	(void)fprintf(out, "%*s", (int)(INDENT - column), "");
	column = print_words(o->help ? o->help : "", INDENT, columns, out);
	if (o->kind == WM_OPTION_CHOICE) {
		print_choices(o, extra, sizeof(extra));
		column = print_words(extra, column, columns, out);
	}
	if (o->initial) {
		(void)snprintf(extra, sizeof(extra), "[%s]", o->initial);
		(void)print_words(extra, column, columns, out);
	}
	(void)fprintf(out, "\n");
}

void wm_option_help(const struct wm_option *table, unsigned columns, FILE *out)
{
	static const struct wm_option help = {
	    .name = "help", .letter = 'h', .help = "show this text"};
	static const struct wm_option long_help = {.name = "help", .help = "show this text"};
	bool own_h = false;

	for (; !wm_option_is_end(table); table++) {
		own_h |= table->letter == 'h';
		if (table->kind == WM_OPTION_TITLE)
			(void)fprintf(out, "\n%s:\n", table->help);
		else if (!table->hidden)
			print_entry(table, columns, out);
	}
	print_entry(own_h ? &long_help : &help, columns, out);
}
