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
#include "ring/pool.h"
#include "view/value_text.h"

#define FAULTS_SAID 20u

static const char prefix[] = "waymark-";

/* Later metadata wins; of the same moment, the later name. */
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

int wm_trace_dir_find(int nr_args, char **args, char ret_dir[PATH_MAX])
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

int wm_trace_dir_open(const char *dir, struct wm_trace_reader **ret)
{
	struct wm_diag diag = {.offset = -1};
	int err = wm_trace_reader_open(dir, ret, &diag);

	if (!err)
		return WM_EXIT_DONE;
	wm_say_diag("read the trace", dir, err, &diag);
	return wm_exit_of(err);
}

void wm_trace_dir_fault(struct wm_text *t, const struct wm_trace_fault *f)
{
	if (f->file[0]) {
		wm_view_safe(t, f->file, strlen(f->file), false);
		wm_text_f(t, ": at offset %llu: ", (unsigned long long)f->offset);
	}
	wm_view_safe(t, f->reason, strlen(f->reason), false);
}

uint64_t wm_trace_dir_nr_lost(const struct wm_trace_summary *s)
{
	uint64_t sum = s->lost_unknown;

	for (int i = 0; i < WM_LOST_NR; i++) {
		if (__builtin_add_overflow(sum, s->lost[i], &sum))
			return UINT64_MAX;
	}
	return sum;
}

void wm_trace_dir_lost(struct wm_text *t, const struct wm_trace_summary *s)
{
	const char *between = ": ";

	wm_text_u64(t, wm_trace_dir_nr_lost(s));
	wm_text_str(t, " lost");
	for (int i = 0; i <= WM_LOST_NR; i++) {
		uint64_t n = i < WM_LOST_NR ? s->lost[i] : s->lost_unknown;

		if (!n)
			continue;
		wm_text_str(t, between);
		wm_text_u64(t, n);
		wm_text_f(t, " %s",
			  i < WM_LOST_NR ? wm_lost_name((enum wm_lost)i) : "for an unknown cause");
		between = ", ";
	}
}

static void say_faults(struct wm_trace_reader *r)
{
	uint32_t count = wm_trace_reader_nr_faults(r);
	struct wm_text t;

	wm_text_init(&t);
	for (uint32_t i = 0; i < count && i < FAULTS_SAID; i++) {
		wm_text_cut(&t, 0);
		wm_trace_dir_fault(&t, wm_trace_reader_fault(r, i));
		if (!t.failed)
			wm_say("%s", t.data);
	}
	if (count > FAULTS_SAID)
		wm_say("... and %u more; 'waymark info' lists them", count - FAULTS_SAID);
	wm_text_done(&t);
}

int wm_trace_dir_finish(struct wm_trace_reader *r, int status)
{
	struct wm_trace_summary s;
	struct wm_text t;
	bool lost;

	if (wm_trace_reader_summary(r, &s))
		return WM_EXIT_FAILED;
	say_faults(r);
	lost = wm_trace_dir_nr_lost(&s);
	if (lost) {
		wm_text_init(&t);
		wm_trace_dir_lost(&t, &s);
		if (!t.failed)
			wm_say("events are missing: %s", t.data);
		wm_text_done(&t);
	}
	if (!lost && !wm_trace_reader_nr_faults(r))
		return status;
	return status == WM_EXIT_DONE || status == WM_EXIT_NO_MATCH ? WM_EXIT_INCOMPLETE : status;
}

int wm_trace_dir_flush(struct wm_text *t)
{
	int err = 0;

	if (t->failed)
		return -ENOMEM;
	if (t->bytes && fwrite(t->data, 1, t->bytes, stdout) != t->bytes)
		err = errno ? -errno : -EIO;
	wm_text_cut(t, 0);
	return err;
}
