/* SPDX-License-Identifier: MIT */
/* trace_dir.c - see trace_dir.h. */
#include "cmd/trace_dir.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/exit.h"
#include "cmd/say.h"

static const char prefix[] = "waymark-";

/* Compares by modification time, then by name. */
static bool newer(const struct stat *a, const char *a_name, const struct stat *b,
		  const char *b_name)
{
	if (a->st_mtim.tv_sec != b->st_mtim.tv_sec)
		return a->st_mtim.tv_sec > b->st_mtim.tv_sec;
	if (a->st_mtim.tv_nsec != b->st_mtim.tv_nsec)
		return a->st_mtim.tv_nsec > b->st_mtim.tv_nsec;
	return strcmp(a_name, b_name) > 0;
}

static bool find_newest(char ret_dir[PATH_MAX])
{
	char path[PATH_MAX];
	struct stat st, best = {0};
	struct dirent *entry;
	DIR *here = opendir(".");
	bool found = false;

	while (here && (entry = readdir(here))) {
		if (strncmp(entry->d_name, prefix, sizeof(prefix) - 1) != 0)
			continue;
		(void)snprintf(path, sizeof(path), "%s/metadata", entry->d_name);
		if (stat(path, &st) || !S_ISREG(st.st_mode))
			continue;
		if (found && !newer(&st, entry->d_name, &best, ret_dir))
			continue;
		found = true;
		best = st;
		(void)snprintf(ret_dir, PATH_MAX, "%s", entry->d_name);
	}
	if (here)
		closedir(here);
	return found;
}

int wm_input_find_dir(int nr_args, char **args, char ret_dir[PATH_MAX])
{
	if (nr_args) {
		if (snprintf(ret_dir, PATH_MAX, "%s", args[0]) < PATH_MAX)
			return WM_EXIT_DONE;
		wm_say("the name of the trace is too long");
		return WM_EXIT_USAGE;
	}
	if (find_newest(ret_dir))
		return WM_EXIT_DONE;
	wm_say("no trace (waymark-*) in this folder; name one, or make one with 'waymark record'");
	return WM_EXIT_NO_MATCH;
}

int wm_verb_flush(struct wm_text *t)
{
	int err = 0;

	if (t->failed)
		return -ENOMEM;
	if (t->bytes && fwrite(t->data, 1, t->bytes, stdout) != t->bytes)
		err = errno ? -errno : -EIO;
	wm_text_cut(t, 0);
	return err;
}
