/* SPDX-License-Identifier: MIT */
/*
 * show.c - see top.h: prints results as blocks of text or as JSON objects, one per line, or draws
 * them on the terminal and handles its keys.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/plural.h"
#include "base/text.h"
#include "cmd/exit.h"
#include "cmd/say.h"
#include "cmd/top/top.h"
#include "view/result_view.h"
#include "view/ticker.h"

#define ROWS_OF_TEXT 20
#define PROBLEMS_MAX 20u /* lines of their page */
#define DELAY_MIN_S  0.1
#define DELAY_MAX_S  60.0

struct wm_top_show {
	const struct wm_top_values *v;
	struct wm_top_count *count;
	struct wm_top_does does;
	struct wm_terminal *terminal; /* NULL: prints text or JSON */
	struct wm_watch *watches[2];
	struct wm_ticker ticker;
	struct wm_result *result; /* the result shown last; owned by the count */
	struct wm_text above, below;
	char message[WM_DIAG_SENTENCE];
	const char *keys; /* an entry of keys_in_turn; NULL: the initial keys */
	uint32_t nr_keys; /* number of times the keys have changed */
	double delay_s;
	bool paused, help, problems; /* the last two: a page covers the tables */
};

/* The keys that 's' cycles through. */
static const char *const keys_in_turn[] = {
    "comm,dso,sym", "sym", "dso", "comm", "pid,comm", "cpu", "event",
};

static const char *const help[] = {
    "waymark top: a live profile of events",
    "",
    "q          quit",
    "p, space   pause or resume; events are counted meanwhile",
    "Enter e g  show or hide the calls of the selected row (needs -g)",
    "up down    select another row (also j k, page up and down, home, end)",
    "s          split by other keys: comm,dso,sym; sym; dso; comm; pid,comm; cpu; event",
    "z          reset all counts",
    "n          show problems, such as addresses without names",
    "+ -        halve or double the time between refreshes",
    "h ?        show this help; any key closes it",
};

/* --- text and JSON ---------------------------------------------------------------------------- */

static int top_show_write_text(const struct wm_top_show *s)
{
	const struct wm_result_view view = {.max_rows =
						s->v->rows ? (uint64_t)s->v->rows : ROWS_OF_TEXT};
	struct wm_text t;
	int err;

	wm_text_init(&t);
	wm_view_result_text(&t, s->result, &view);
	wm_text_char(&t, '\n');
	err = t.failed ? -ENOMEM : wm_file_write(STDOUT_FILENO, t.data, t.bytes);
	wm_text_done(&t);
	return err;
}

static int write_json(const struct wm_top_show *s)
{
	wm_view_result_json_line(stdout, "top", s->result);
	return fflush(stdout) ? -errno : 0;
}

/* --- terminal -------------------------------------------------------------------------- */

/* Builds the line above the tables: "waymark top 12 s 4012 samples/s 49012 samples 0 lost". */
static void make_above(struct wm_top_show *s, struct wm_top_figures *f)
{
	wm_top_count_figures(s->count, f);
	s->above.bytes = 0;
	wm_text_f(&s->above,
		  " waymark top   %.0f s   %.0f %s/s   %" PRIu64 " %s   %" PRIu64 " lost",
		  f->elapsed_s, f->records_per_s, f->samples ? "samples" : "events", f->records,
		  f->samples ? wm_plural(f->records, "sample", "samples")
			     : wm_plural(f->records, "event", "events"),
		  f->lost);
	if (f->late)
		wm_text_f(&s->above, "   %" PRIu64 " out of order", f->late);
	wm_text_f(&s->above, "   every %g s%s", s->delay_s, s->paused ? "   PAUSED" : "");
}

static uint32_t nr_problems(const struct wm_top_show *s)
{
	uint32_t nr = 0;

	for (const struct wm_result_note *n = s->result ? s->result->notes : NULL; n; n = n->next)
		nr += n->kind == WM_NOTE_PROBLEM;
	return nr;
}

/* Builds the line below the tables: the keys, and how many problems there are. */
static void make_below(struct wm_top_show *s)
{
	uint32_t nr = nr_problems(s);

	s->below.bytes = 0;
	wm_text_f(&s->below,
		  " q quit   p pause   Enter calls   s split   z reset   +- interval   h help");
	if (nr)
		wm_text_f(&s->below, "   n %" PRIu32 " %s", nr,
			  wm_plural(nr, "problem", "problems"));
}

static void draw_problems(const struct wm_top_show *s)
{
	const char *lines[PROBLEMS_MAX + 1] = {"Problems; any key closes this page"};
	uint32_t nr = 1;

	for (const struct wm_result_note *n = s->result ? s->result->notes : NULL;
	     n && nr <= PROBLEMS_MAX; n = n->next)
		if (n->kind == WM_NOTE_PROBLEM)
			lines[nr++] = n->text;
	wm_ticker_page(s->terminal, lines, nr);
}

/* Returns whether the result has a table besides the figures. */
static bool has_profile(const struct wm_top_show *s)
{
	return s->result && s->result->tables && s->result->tables->next;
}

static int top_show_expand(void *own, struct wm_result_row *row)
{
	const struct wm_top_show *s = own;

	return wm_top_count_expand(s->count, row);
}

static void top_show_draw(struct wm_top_show *s)
{
	struct wm_top_figures f;
	struct wm_ticker_picture p = {
	    .no_problems = has_profile(s),
	    .result = s->result,
	    .but = "now", /* omitted: its contents are in the line above */
	    .nothing = "waiting for the first events",
	    .max_rows = (uint64_t)s->v->rows,
	    .expand = top_show_expand,
	    .own = s,
	};

	if (s->help) {
		wm_ticker_page(s->terminal, help, sizeof(help) / sizeof(help[0]));
		return;
	}
	if (s->problems) {
		draw_problems(s);
		return;
	}
	make_above(s, &f);
	make_below(s);
	p.below = s->message[0] ? s->message : s->below.failed ? "" : s->below.data;
	p.above = s->above.failed ? "" : s->above.data;
	p.loss = f.lost > 0;
	wm_ticker_draw(&s->ticker, s->terminal, &p);
}

static void top_show_split(struct wm_top_show *s)
{
	const uint32_t nr = sizeof(keys_in_turn) / sizeof(keys_in_turn[0]);

	s->keys = keys_in_turn[s->nr_keys++ % nr];
	s->result = NULL;
	s->ticker = (struct wm_ticker){0};
	wm_top_count_zero(s->count, s->keys);
	wm_top_show_say(s, s->keys);
}

static void pace(struct wm_top_show *s, double factor)
{
	double delay = s->delay_s * factor;

	if (delay < DELAY_MIN_S || delay > DELAY_MAX_S)
		return;
	s->delay_s = delay;
	s->does.delay(s->does.data, delay);
}

static void on_key(struct wm_top_show *s, uint32_t key)
{
	if ((s->help || s->problems) && key < WM_KEY_RESIZE) {
		s->help = s->problems = false;
		return;
	}
	s->message[0] = '\0';
	if (wm_ticker_key(&s->ticker, key)) {
		if (s->ticker.open[0] && !s->v->profile.graph)
			wm_top_show_say(s, "start top with -g to see calls");
		return;
	}
	switch (key) {
	case 'q':
	case WM_KEY_INTERRUPT:
	case WM_KEY_ENDED:
		s->does.quit(s->does.data);
		break;
	case 'p':
	case ' ':
		s->paused = !s->paused;
		break;
	case 's':
		top_show_split(s);
		break;
	case 'z':
		s->result = NULL;
		wm_top_count_zero(s->count, NULL);
		break;
	case '+':
	case '=':
		pace(s, 0.5);
		break;
	case '-':
		pace(s, 2);
		break;
	case 'n':
		s->problems = true;
		break;
	case 'h':
	case '?':
		s->help = true;
		break;
	default:
		break;
	}
}

static void on_terminal(int fd, uint32_t events, void *data)
{
	struct wm_top_show *s = data;
	uint32_t key;

	(void)fd;
	(void)events;
	while ((key = wm_terminal_key(s->terminal, 0)) != WM_KEY_NONE) {
		on_key(s, key);
		if (key == WM_KEY_ENDED)
			break;
	}
	top_show_draw(s);
}

static int open_terminal(struct wm_top_show *s, struct wm_loop *loop)
{
	struct wm_diag diag = {.offset = -1};
	const char *no_color = getenv("NO_COLOR");
	int fds[2], err = wm_terminal_open(!no_color || !no_color[0], &s->terminal, &diag);

	if (err) {
		wm_say("top: %s; use --stdio for blocks of text", diag.sentence);
		return wm_exit_of(err);
	}
	wm_terminal_fds(s->terminal, fds);
	for (int i = 0; i < 2 && !err; i++)
		if (fds[i] >= 0)
			err = wm_loop_fd(loop, fds[i], EPOLLIN, on_terminal, s, &s->watches[i]);
	if (err < 0)
		return WM_EXIT_FAILED;
	top_show_draw(s);
	return 0;
}

/* --- interface ------------------------------------------------------------------------- */

int wm_top_show_create(const struct wm_top_values *v, struct wm_top_count *c, struct wm_loop *loop,
		       const struct wm_top_does *does, struct wm_top_show **ret)
{
	struct wm_top_show *s = calloc(1, sizeof(*s));
	int status = s ? 0 : WM_EXIT_FAILED;

	if (!s)
		return status;
	s->v = v;
	s->count = c;
	s->does = *does;
	s->delay_s = v->delay_s;
	wm_text_init(&s->above);
	wm_text_init(&s->below);
	if (!v->stdio && !v->json && isatty(STDOUT_FILENO) && isatty(STDIN_FILENO))
		status = open_terminal(s, loop);
	if (status)
		wm_top_show_destroy(s);
	else
		*ret = s;
	return status;
}

void wm_top_show_destroy(struct wm_top_show *s)
{
	if (!s)
		return;
	for (int i = 0; i < 2; i++)
		if (s->watches[i])
			wm_watch_remove(s->watches[i]);
	wm_terminal_close(s->terminal);
	wm_text_done(&s->above);
	wm_text_done(&s->below);
	free(s);
}

int wm_top_show_refresh(struct wm_top_show *s)
{
	if (s->terminal && s->paused)
		return 0;
	s->result = wm_top_count_result(s->count);
	if (!s->result)
		return -ENOMEM;
	if (s->v->json)
		return write_json(s);
	if (!s->terminal)
		return top_show_write_text(s);
	top_show_draw(s);
	return 0;
}

void wm_top_show_say(struct wm_top_show *s, const char *sentence)
{
	if (!s || !s->terminal) {
		wm_say("%s", sentence);
		return;
	}
	(void)snprintf(s->message, sizeof(s->message), " %s", sentence);
}
