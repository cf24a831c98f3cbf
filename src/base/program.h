/* SPDX-License-Identifier: MIT */
/* program.h - finds a program's file by name, as a shell does. */
#ifndef WM_BASE_PROGRAM_H
#define WM_BASE_PROGRAM_H

/*
 * A name with a slash is a file name; any other name is looked up in the folders of `search`
 * ($PATH: separated by ':', an empty entry means the current folder; NULL: the system's default).
 * Returns NULL when not found or out of memory; free() the result.
 */
char *wm_program_find(const char *name, const char *search);

/* Like wm_program_find(), for libraries, which on some systems lack execute permission. */
char *wm_program_find_library(const char *name, const char *search);

#endif
