/* SPDX-License-Identifier: MIT */
/*
 * text_test.c - the print forms of the corpus's kernel events, compared line by line with the
 * output of `trace-cmd report`.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "read/open.h"
#include "trace/reader.h"

struct lines {
	char **at;
	size_t nr, room;
};

static void add_line(struct lines *l, const char *text, size_t bytes)
{
	assert_int_equal(WM_ARRAY_GROW(l->at, l->room, l->nr + 1), 0);
	l->at[l->nr] = strndup(text, bytes);
	assert_non_null(l->at[l->nr]);
	l->nr++;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void done(struct lines *l)
{
	for (size_t i = 0; i < l->nr; i++)
		free(l->at[i]);
	free(l->at);
}

/* --- waymark ------------------------------------------------------------------ */

/* Adds "[CPU] SECONDS.MICROSECONDS: EVENT: TEXT"; a text of several lines adds several lines. */
static void add_event(const struct wm_trace *t, const struct wm_event *e, struct wm_text *text,
		      struct lines *ret)
{
	uint64_t us = (uint64_t)(e->ns + 500) / 1000;
	const char *at, *nl;
	size_t head;

	wm_text_cut(text, 0);
	wm_text_f(text, "[%03d] %llu.%06llu: %s: ", e->cpu, (unsigned long long)(us / 1000000),
		  (unsigned long long)(us % 1000000), strchr(e->type->name, ':') + 1);
	head = text->bytes;
	assert_true(t->ops->print(t, e, NULL, text));
	while (text->data[head] == ' ')
		memmove(text->data + head, text->data + head + 1, strlen(text->data + head));
	for (at = text->data; (nl = strchr(at, '\n')); at = nl + 1)
		add_line(ret, at, (size_t)(nl - at));
	add_line(ret, at, strlen(at));
}

static void read_ours(const char *path, struct lines *ret)
{
	struct wm_diag diag = {.sentence = ""};
	struct wm_packet_reader *r;
	struct wm_batch b = {0};
	struct wm_text text;
	struct wm_trace *t;

	assert_int_equal(wm_read_open(path, &t, &diag), 0);
	r = t->ops->reader_create(t, NULL);
	assert_non_null(r);
	wm_text_init(&text);
	for (uint64_t i = 0; i < t->nr_packets; i++) {
		assert_int_equal(t->ops->reader_begin(r, &t->packets[i]), 0);
		while (wm_batch_read(t, r, &b) > 0)
			for (uint32_t k = 0; k < b.nr_events; k++)
				add_event(t, &b.events[k], &text, ret);
	}
	wm_text_done(&text);
	wm_batch_done(&b);
	t->ops->reader_destroy(r);
	wm_trace_close(t);
}

/* --- trace-cmd ------------------------------------------------------------------ */

/* Converts " comm-pid [CPU] SECONDS.MICROSECONDS: EVENT: TEXT" to the form of add_event(). */
static void add_report(char *line, struct lines *ret)
{
	char *cpu = strstr(line, " ["), *time, *name, *text, *whole = NULL;

	line[strcspn(line, "\n")] = 0;
	time = cpu ? strstr(cpu, "] ") : NULL;
	if (!time || cpu - line > 40) { /* continuation of the previous line's text */
		add_line(ret, line, strlen(line));
		return;
	}
	time += 2 + strspn(time + 2, " ");
	name = time + strcspn(time, " ");
	name += strspn(name, " ");
	text = name + strcspn(name, " ");
	text += strspn(text, " ");
	assert_true(asprintf(&whole, "%.*s %.*s %.*s %s", 5, cpu + 1, (int)strcspn(time, " "), time,
			     (int)strcspn(name, " "), name, text) > 0);
	add_line(ret, whole, strlen(whole));
	free(whole);
}

static bool read_report(const char *path, struct lines *ret)
{
	char command[5000], *line = NULL;
	size_t room = 0;
	FILE *f;

	(void)snprintf(command, sizeof(command), "trace-cmd report -N '%s' 2>/dev/null", path);
	f = popen(command, "re");
	assert_non_null(f);
	while (getline(&line, &room, f) > 0) {
		if (strncmp(line, "cpus=", 5) != 0 && strncmp(line, "version", 7) != 0)
			add_report(line, ret);
	}
	free(line);
	return pclose(f) == 0;
}

static void check_file(const char *path)
{
	struct lines ours = {0}, theirs = {0};

	assert_true(read_report(path, &theirs));
	read_ours(path, &ours);
	qsort(ours.at, ours.nr, sizeof(*ours.at), by_text);
	qsort(theirs.at, theirs.nr, sizeof(*theirs.at), by_text);
	for (size_t i = 0; i < ours.nr && i < theirs.nr; i++)
		assert_string_equal(ours.at[i], theirs.at[i]);
	assert_int_equal(ours.nr, theirs.nr);
	done(&ours);
	done(&theirs);
}

static void texts_are_trace_cmds(void **state)
{
	static const char *const files[] = {"lisa/trace.dat", "trappy/raw_trace.dat",
					    "trappy/trace.dat", "trappy/trace_idle.dat"};
	const char *corpus = getenv("WAYMARK_CORPUS");
	char path[4096];

	if (!corpus || system("trace-cmd -h >/dev/null 2>&1") == 127 * 256) {
		print_message("no corpus or no trace-cmd: set WAYMARK_CORPUS, install trace-cmd\n");
		skip();
	}
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		(void)snprintf(path, sizeof(path), "%s/trace.dat/%s", corpus, files[i]);
		check_file(path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(texts_are_trace_cmds)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
