/* SPDX-License-Identifier: MIT */
/*
 * terminal.c - see terminal.h. ncursesw holds the screen contents and the terminal description.
 * Signals that would terminate the process are blocked and read as keys, so that the terminal is
 * always restored on the normal path; ncurses itself handles Ctrl-Z, and restores the terminal
 * while the process is stopped.
 */
#define NCURSES_WIDECHAR 1
#define NCURSES_NOMACROS 1

#include "view/screen/terminal.h"

#include <errno.h>
#include <langinfo.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

#include <curses.h>

#include "base/signals.h"
#include "view/screen/glyph.h"
#include "view/value_text.h"

/* timeout after which Esc counts as a key; the bytes of longer keys arrive together */
#define ESCAPE_MS 25
#define CELL_WIDE 5 /* wide characters per cell: one, and combining characters */

struct wm_terminal {
	SCREEN *screen;
	int signals;   /* descriptor of signalfd(2) */
	sigset_t mask; /* the previous signal mask */
	struct termios modes;
	int ended_by;
	bool utf8;
	attr_t looks[WM_INK_NR];
	struct wm_text safe;
};

/* --- opening and closing -------------------------------------------------------------- */

static const int signal_list[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH};

static int take_signals(struct wm_terminal *t)
{
	sigset_t set;

	(void)sigemptyset(&set);
	for (size_t i = 0; i < sizeof(signal_list) / sizeof(signal_list[0]); i++)
		if (!wm_signal_is_ignored(signal_list[i]))
			(void)sigaddset(&set, signal_list[i]);
	t->signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	if (t->signals < 0)
		return -errno;
	(void)pthread_sigmask(SIG_BLOCK, &set, &t->mask);
	return 0;
}

static void give_back_signals(struct wm_terminal *t)
{
	(void)pthread_sigmask(SIG_SETMASK, &t->mask, NULL);
	(void)close(t->signals);
}

static void choose_looks(struct wm_terminal *t, bool color)
{
	static const attr_t plain[WM_INK_NR] = {
	    [WM_INK_TITLE] = A_BOLD, [WM_INK_BAR] = A_REVERSE, [WM_INK_HOT] = A_BOLD,
	    [WM_INK_FAINT] = A_DIM,  [WM_INK_LOSS] = A_BOLD,   [WM_INK_MATCH] = A_UNDERLINE,
	};
	static const short colors[WM_INK_NR] = {
	    [WM_INK_HOT] = COLOR_RED,
	    [WM_INK_WARM] = COLOR_GREEN,
	    [WM_INK_LOSS] = COLOR_RED,
	    [WM_INK_MATCH] = COLOR_CYAN,
	};

	memcpy(t->looks, plain, sizeof(plain));
	if (!color || !has_colors() || start_color() == ERR || use_default_colors() == ERR)
		return;
	for (short i = 0; i < WM_INK_NR; i++)
		if (colors[i] && init_pair(i, colors[i], -1) != ERR)
			t->looks[i] |= COLOR_PAIR(i);
}

static void terminal_settle(struct wm_terminal *t, bool color)
{
	(void)cbreak();
	(void)noecho();
	(void)nonl();
	(void)intrflush(stdscr, FALSE);
	(void)keypad(stdscr, TRUE);
	(void)nodelay(stdscr, TRUE);
	(void)set_escdelay(ESCAPE_MS);
	(void)curs_set(0);
	choose_looks(t, color);
	t->utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
}

static int no_such_terminal(struct wm_diag *diag)
{
	const char *term = getenv("TERM");

	return wm_diag_set(diag, -ENODEV, NULL, -1,
			   term && *term ? "TERM='%.40s' is a terminal that cannot move the cursor"
					 : "TERM%.0s is not set",
			   term ? term : "");
}

/*
 * Returns whether the terminal can position its cursor. newterm() also accepts terminals that
 * cannot, but draws nothing on them.
 */
static bool can_place(void)
{
	int known;
	bool can;

	if (setupterm(NULL, STDOUT_FILENO, &known) == ERR)
		return false;
	can = cursor_address != NULL && clear_screen != NULL;
	(void)del_curterm(cur_term);
	return can;
}

int wm_terminal_usable(struct wm_diag *diag)
{
	if (!isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO))
		return wm_diag_set(diag, -ENOTTY, NULL, -1, "standard %s is not a terminal",
				   isatty(STDOUT_FILENO) ? "input" : "output");
	return can_place() ? 0 : no_such_terminal(diag);
}

int wm_terminal_open(bool color, struct wm_terminal **ret, struct wm_diag *diag)
{
	struct wm_terminal *t;
	int err = wm_terminal_usable(diag);

	if (err)
		return err;
	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	err = take_signals(t);
	if (err) {
		free(t);
		return err;
	}
	(void)tcgetattr(STDIN_FILENO, &t->modes);
	t->screen = newterm(NULL, stdout, stdin);
	if (!t->screen) {
		give_back_signals(t);
		free(t);
		return no_such_terminal(diag);
	}
	wm_text_init(&t->safe);
	terminal_settle(t, color);
	*ret = t;
	return 0;
}

void wm_terminal_close(struct wm_terminal *t)
{
	if (!t)
		return;
	(void)endwin();
	/*
	 * Restore the modes here: after a Ctrl-Z, ncurses assumes that the current modes are the
	 * original ones.
	 */
	(void)tcsetattr(STDIN_FILENO, TCSADRAIN, &t->modes);
	delscreen(t->screen);
	give_back_signals(t);
	wm_text_done(&t->safe);
	free(t);
}

void wm_terminal_size(const struct wm_terminal *t, int *ret_rows, int *ret_columns)
{
	*ret_rows = getmaxy(stdscr);
	*ret_columns = getmaxx(stdscr);
}

/* --- drawing -------------------------------------------------------------------------- */

void wm_terminal_begin(struct wm_terminal *t)
{
	(void)werase(stdscr);
	(void)curs_set(0);
}

void wm_terminal_show(struct wm_terminal *t)
{
	(void)wrefresh(stdscr);
}

void wm_terminal_cursor(struct wm_terminal *t, int row, int column)
{
	if (row < 0 || wmove(stdscr, row, column) == ERR)
		return;
	(void)curs_set(1);
}

static attr_t terminal_look_of(const struct wm_terminal *t, unsigned ink)
{
	unsigned plain = ink & ~(unsigned)WM_INK_CURSOR;
	attr_t look = t->looks[plain < WM_INK_NR ? plain : WM_INK_PLAIN];

	return ink & WM_INK_CURSOR ? look | A_REVERSE : look;
}

/*
 * Reads one cell from text[at]: a character and its combining characters.
 * Returns the offset of the next cell.
 */
static size_t read_cell(const struct wm_terminal *t, size_t at, wchar_t *cell, int *ret_width)
{
	struct wm_glyph g;
	size_t next = at + wm_glyph_read(t->safe.data + at, t->safe.bytes - at, t->utf8, &g);
	int nr = 0;

	*ret_width = g.width ? g.width : 1;
	if (!g.width)
		cell[nr++] = L' '; /* no base character to combine with */
	cell[nr++] = (wchar_t)g.c;
	while (next < t->safe.bytes) {
		size_t n = wm_glyph_read(t->safe.data + next, t->safe.bytes - next, t->utf8, &g);

		if (g.width)
			break;
		if (nr < CELL_WIDE)
			cell[nr++] = (wchar_t)g.c;
		next += n;
	}
	cell[nr] = L'\0';
	return next;
}

int wm_terminal_put(struct wm_terminal *t, int row, int column, int edge, const char *text,
		    size_t bytes, unsigned ink)
{
	int nr_rows = getmaxy(stdscr), nr_columns = getmaxx(stdscr);
	wchar_t cell[CELL_WIDE + 1];

	wm_text_cut(&t->safe, 0);
	wm_view_safe(&t->safe, text, bytes, false);
	if (row < 0 || row >= nr_rows || t->safe.failed)
		return column;
	edge = edge > 0 && edge < nr_columns ? edge : nr_columns;
	(void)wattrset(stdscr, (int)terminal_look_of(t, ink));
	for (size_t at = 0; at < t->safe.bytes && column < edge;) {
		int width;

		at = read_cell(t, at, cell, &width);
		if (column >= 0 && column + width <= edge)
			(void)mvwaddwstr(stdscr, row, column, cell);
		column += width;
	}
	(void)wattrset(stdscr, A_NORMAL);
	return column;
}

void wm_terminal_fill(struct wm_terminal *t, int row, int column, unsigned ink)
{
	int nr_columns = getmaxx(stdscr);

	(void)wattrset(stdscr, (int)terminal_look_of(t, ink));
	if (column < nr_columns && row >= 0 && row < getmaxy(stdscr))
		(void)mvwhline(stdscr, row, column < 0 ? 0 : column, ' ' | terminal_look_of(t, ink),
			       nr_columns - (column < 0 ? 0 : column));
	(void)wattrset(stdscr, A_NORMAL);
}

unsigned wm_terminal_width(const struct wm_terminal *t, const char *text, size_t bytes)
{
	return wm_glyph_columns(text, bytes, t->utf8);
}

/* --- keys ----------------------------------------------------------------------------- */

static uint32_t resize(void)
{
	struct winsize size;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row && size.ws_col)
		(void)resizeterm(size.ws_row, size.ws_col);
	return WM_KEY_RESIZE;
}

static uint32_t signal_key(struct wm_terminal *t)
{
	struct signalfd_siginfo info;

	if (read(t->signals, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return WM_KEY_NONE;
	if (info.ssi_signo == SIGWINCH)
		return resize();
	if (info.ssi_signo == SIGINT)
		return WM_KEY_INTERRUPT;
	t->ended_by = (int)info.ssi_signo;
	return WM_KEY_ENDED;
}

static const struct {
	int curses;
	uint32_t key;
} key_table[] = {
    {KEY_UP, WM_KEY_UP},       {KEY_DOWN, WM_KEY_DOWN},     {KEY_LEFT, WM_KEY_LEFT},
    {KEY_RIGHT, WM_KEY_RIGHT}, {KEY_PPAGE, WM_KEY_PAGE_UP}, {KEY_NPAGE, WM_KEY_PAGE_DOWN},
    {KEY_HOME, WM_KEY_HOME},   {KEY_FIND, WM_KEY_HOME},     {KEY_END, WM_KEY_END},
    {KEY_SELECT, WM_KEY_END},  {KEY_ENTER, WM_KEY_ENTER},   {KEY_BACKSPACE, WM_KEY_BACKSPACE},
    {KEY_DC, WM_KEY_DELETE},   {KEY_BTAB, WM_KEY_BACK_TAB}, {KEY_RESIZE, WM_KEY_RESIZE},
};

static uint32_t function_key(wint_t c)
{
	if (c >= (wint_t)KEY_F(1) && c <= (wint_t)KEY_F(12))
		return WM_KEY_F1 + (uint32_t)(c - (wint_t)KEY_F(1));
	for (size_t i = 0; i < sizeof(key_table) / sizeof(key_table[0]); i++)
		if ((wint_t)key_table[i].curses == c)
			return key_table[i].key;
	return WM_KEY_NONE;
}

static uint32_t typed_key(void)
{
	wint_t c;

	switch (wget_wch(stdscr, &c)) {
	case OK:
		return c == '\r' ? WM_KEY_ENTER : c == '\b' ? WM_KEY_BACKSPACE : (uint32_t)c;
	case KEY_CODE_YES:
		return function_key(c);
	default:
		return WM_KEY_NONE;
	}
}

uint32_t wm_terminal_key(struct wm_terminal *t, int timeout_ms)
{
	struct pollfd fds[2] = {{.fd = STDIN_FILENO, .events = POLLIN},
				{.fd = t->signals, .events = POLLIN}};
	uint32_t key = typed_key(); /* ncurses may have buffered it */

	while (!key) {
		int nr = poll(fds, 2, timeout_ms);

		if (nr < 0 && errno == EINTR)
			return resize(); /* the process was stopped and continued */
		if (nr <= 0)
			return WM_KEY_NONE;
		if (fds[1].revents)
			key = signal_key(t);
		else if (fds[0].revents & POLLIN)
			key = typed_key();
		if (!key && fds[0].revents & (POLLHUP | POLLERR | POLLNVAL))
			key = WM_KEY_ENDED;
	}
	return key;
}

void wm_terminal_fds(const struct wm_terminal *t, int fds[2])
{
	fds[0] = STDIN_FILENO;
	fds[1] = t->signals;
}

int wm_terminal_signal(const struct wm_terminal *t)
{
	return t->ended_by;
}
