/* SPDX-License-Identifier: MIT */
/*
 * terminal_none.c - terminal.h without a terminal, for builds without
 * libncursesw: opening fails, so the other functions are never called.
 */
#include <errno.h>

#include "view/screen/terminal.h"

int wm_terminal_usable(struct wm_diag *diag)
{
	return wm_diag_set(diag, -ENOTSUP, NULL, -1, "waymark was built without libncursesw");
}

int wm_terminal_open(bool color, struct wm_terminal **ret, struct wm_diag *diag)
{
	return wm_terminal_usable(diag);
}

void wm_terminal_close(struct wm_terminal *t)
{
}

void wm_terminal_size(const struct wm_terminal *t, int *ret_rows, int *ret_columns)
{
	*ret_rows = *ret_columns = 0;
}

void wm_terminal_begin(struct wm_terminal *t)
{
}

void wm_terminal_show(struct wm_terminal *t)
{
}

int wm_terminal_put(struct wm_terminal *t, int row, int column, int edge, const char *text,
		    size_t bytes, unsigned ink)
{
	return column;
}

void wm_terminal_fill(struct wm_terminal *t, int row, int column, unsigned ink)
{
}

unsigned wm_terminal_width(const struct wm_terminal *t, const char *text, size_t bytes)
{
	return 0;
}

void wm_terminal_cursor(struct wm_terminal *t, int row, int column)
{
}

uint32_t wm_terminal_key(struct wm_terminal *t, int timeout_ms)
{
	return WM_KEY_ENDED;
}

void wm_terminal_fds(const struct wm_terminal *t, int fds[2])
{
	fds[0] = fds[1] = -1;
}

int wm_terminal_signal(const struct wm_terminal *t)
{
	return 0;
}
