/* SPDX-License-Identifier: MIT */
/* lines.h - waymark list --lines: the source lines at which a program can be probed. */
#ifndef WM_CMD_LIST_LINES_H
#define WM_CMD_LIST_LINES_H

#include <stdbool.h>

/* Prints the lines for a place, "PROGRAM:FUNCTION" or "PROGRAM:FILE". Returns the exit status. */
int wm_list_lines(const char *place, bool json);

#endif
