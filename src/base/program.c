/* SPDX-License-Identifier: MIT */
/* program.c - see program.h. */
#include "base/program.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char *program_find(const char *name, const char *search, int mode)
{
	char whole[PATH_MAX];

	if (strchr(name, '/'))
		return access(name, F_OK) == 0 ? strdup(name) : NULL;
	for (const char *p = search ? search : "/bin:/usr/bin"; *p;) {
		size_t n = strcspn(p, ":");

		if (snprintf(whole, sizeof(whole), "%.*s/%s", n ? (int)n : 1, n ? p : ".", name) <
			(int)sizeof(whole) &&
		    access(whole, mode) == 0)
			return strdup(whole);
		p += n + (p[n] == ':');
	}
	return NULL;
}

char *wm_program_find(const char *name, const char *search)
{
	return program_find(name, search, X_OK);
}

char *wm_program_find_library(const char *name, const char *search)
{
	return program_find(name, search, R_OK);
}
