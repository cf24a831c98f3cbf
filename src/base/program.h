/* SPDX-License-Identifier: MIT */
/* program.h - where a program is that a person named as in a shell. */
#ifndef WM_BASE_PROGRAM_H
#define WM_BASE_PROGRAM_H

/*
 * A name with a slash is a file; another is looked for in the folders of
 * `search` ($PATH: separated by ':', an empty one is the current folder; NULL:
 * the system's). NULL when there is none, or out of memory; free() it.
 */
char *wm_program_find(const char *name, const char *search);

#endif
