/* SPDX-License-Identifier: MIT */
/*
 * lines.c - see lines.h. Prints the source text with the numbers of the lines that contain code;
 * when the source cannot be read, only the numbers.
 */
#include "cmd/list/lines.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cmd/exit.h"
#include "cmd/say.h"
#include "kernel/probe_source.h"
#include "view/document.h"

#define SOURCE_MAX (64u << 20)

struct printing {
	struct wm_json *j; /* NULL: text */
	unsigned nr;       /* sources printed */
	unsigned nr_lines;
};

/* A source text, read line by line. */
struct text {
	char *data;
	const char *at; /* the line after the last one returned; NULL: no more lines */
	uint32_t line;  /* number of that line */
};

/* Returns the line with that number, and its length; NULL when there is no such line. */
static const char *text_line(struct text *t, uint32_t line, size_t *ret_bytes)
{
	while (t->at && t->line < line) {
		t->at = strchr(t->at, '\n');
		t->at += t->at != NULL;
		t->line++;
	}
	if (!t->at || !*t->at)
		return NULL;
	*ret_bytes = strcspn(t->at, "\r\n");
	return t->at;
}

/* Prints source text; control bytes other than tabs become '?'. */
static void lines_put(const char *text, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		unsigned char c = (unsigned char)text[i];

		(void)putchar((c < 0x20 && c != '\t') || c == 0x7f ? '?' : c);
	}
}

static void lines_text_line(uint32_t line, bool has_code, const char *text, size_t bytes)
{
	if (has_code)
		(void)printf("%7" PRIu32, line);
	if (text && bytes) {
		(void)printf("%*s", has_code ? 2 : 9, "");
		lines_put(text, bytes);
	}
	(void)putchar('\n');
}

static void lines_json_line(struct wm_json *j, uint32_t line, const char *text, size_t bytes)
{
	wm_json_object(j, NULL);
	wm_json_u64(j, "line", line);
	if (text)
		wm_json_bytes(j, "text", text, bytes);
	wm_json_end(j);
}

/*
 * Prints the requested lines of a source. JSON contains only those with code; text also those in
 * between, if the source can be read.
 */
static void lines_print(const struct wm_probe_source *s, struct text *t, struct printing *p)
{
	const uint32_t *lines = s->source->lines;
	size_t next = 0, nr = s->source->nr_lines, bytes = 0;
	uint64_t from = s->source->first < lines[0] ? s->source->first : lines[0];
	uint64_t to = s->last ? s->last : lines[nr - 1];

	for (uint64_t line = s->first ? s->first : from; line <= to; line++) {
		const char *text = text_line(t, (uint32_t)line, &bytes);
		bool has_code;

		while (next < nr && lines[next] < line)
			next++;
		if (!text && next == nr)
			break;
		if (!text && lines[next] > line) {
			line = lines[next] - 1;
			continue;
		}
		has_code = next < nr && lines[next] == line;
		p->nr_lines += has_code;
		if (!p->j)
			lines_text_line((uint32_t)line, has_code, text, bytes);
		else if (has_code)
			lines_json_line(p->j, (uint32_t)line, text, bytes);
	}
}

static int lines_on_source(const struct wm_probe_source *s, void *data)
{
	struct printing *p = data;
	struct text text = {.line = 1};
	size_t bytes;
	int err = wm_file_read(AT_FDCWD, s->source->file, SOURCE_MAX, &text.data, &bytes);

	text.at = err ? NULL : text.data;
	if (p->j) {
		wm_json_object(p->j, NULL);
		wm_json_string(p->j, "source", s->source->file);
		wm_json_string(p->j, "program", s->program);
		wm_json_array(p->j, "lines");
	} else {
		(void)printf("%s", p->nr ? "\n" : "");
		wm_say_clean(stdout, s->source->file);
		(void)printf("\n");
	}
	lines_print(s, &text, p);
	if (p->j) {
		wm_json_end(p->j);
		wm_json_end(p->j);
	}
	p->nr++;
	if (err)
		wm_say_cannot("read source", s->source->file, err);
	else
		free(text.data);
	return 0;
}

int wm_list_lines(const char *place, bool json)
{
	static const char family[] = "uprobe:";
	struct wm_diag diag = {.offset = -1};
	struct wm_event_space space;
	struct printing p = {.j = NULL};
	struct wm_json j;
	int err = wm_event_space_open(&space, getenv("PATH"));

	if (!strncmp(place, family, strlen(family)))
		place += strlen(family);
	if (json) {
		wm_view_document(&j, stdout, 4, "list");
		wm_json_array(&j, "groups");
		p.j = &j;
	}
	if (!err)
		err = wm_probe_source_each(&space, place, lines_on_source, &p, &diag);
	wm_event_space_close(&space);
	if (json) {
		wm_json_end(&j);
		wm_json_end(&j);
	}
	if (err < 0) {
		wm_say("list: %s", wm_words_of(err, &diag));
		return err == -ENOENT   ? WM_EXIT_NO_MATCH
		       : err == -EINVAL ? WM_EXIT_USAGE
					: (int)wm_exit_of(err);
	}
	if (!p.nr_lines) {
		wm_say("list: none of these lines has code");
		return WM_EXIT_NO_MATCH;
	}
	return WM_EXIT_DONE;
}
