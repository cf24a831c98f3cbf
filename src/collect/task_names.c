/* SPDX-License-Identifier: MIT */
/* task_names.c - names of threads; see task_names.h. */
#include "collect/task_names.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"

#define SMALL_FILE 65536u
#define LIST_BYTES (64u << 20)
#define MISSED_MAX 8192u /* limited, because each is searched in a list of some thousand lines */

struct wm_task_names *wm_task_names_create(struct wm_trace_writer *w)
{
	struct wm_task_names *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->writer = w;
	/* Pages that are never touched cost nothing. */
	n->met = calloc(WM_TASK_IDS / 64, sizeof(*n->met));
	if (!n->met) {
		free(n);
		return NULL;
	}
	return n;
}

void wm_task_names_destroy(struct wm_task_names *n)
{
	if (!n)
		return;
	free(n->met);
	free(n->missed);
	free(n->missed_at);
	free(n);
}

static void task_names_remember(struct wm_task_names *n, uint32_t tid, uint64_t clock)
{
	uint32_t tids = n->room_missed, clocks = n->room_missed;

	if (n->nr_missed >= MISSED_MAX ||
	    WM_ARRAY_GROW(n->missed, tids, (size_t)n->nr_missed + 1) ||
	    WM_ARRAY_GROW(n->missed_at, clocks, tids))
		return;
	n->room_missed = tids;
	n->missed[n->nr_missed] = tid;
	n->missed_at[n->nr_missed++] = clock;
}

/* Returns the text after "KEY:" and blanks in a status file, up to the end of the line, or NULL. */
static char *task_names_value_of(char *text, const char *key)
{
	char *at = strstr(text, key), *end;

	if (!at)
		return NULL;
	at += strlen(key);
	at += strspn(at, " \t");
	end = strchr(at, '\n');
	if (end)
		*end = '\0';
	return at;
}

int wm_task_look(uint32_t tid, uint32_t *ret_pid, char comm[WM_TASK_COMM_BYTES])
{
	char file[64], *text, *tgid, *name;
	size_t bytes;

	(void)memset(comm, 0, WM_TASK_COMM_BYTES);
	if (tid == 0) {
		*ret_pid = 0;
		(void)strcpy(comm, "swapper");
		return 0;
	}
	(void)snprintf(file, sizeof(file), "/proc/%u/status", tid);
	if (wm_file_read(AT_FDCWD, file, SMALL_FILE, &text, &bytes) < 0)
		return -ENOENT;
	tgid = task_names_value_of(text + strcspn(text, "\n"), "\nTgid:");
	name = task_names_value_of(text, "Name:");
	*ret_pid = tgid ? (uint32_t)strtoul(tgid, NULL, 10) : tid;
	(void)snprintf(comm, WM_TASK_COMM_BYTES, "%s", name ? name : "");
	free(text);
	return 0;
}

void wm_task_names_ask(struct wm_task_names *n, uint32_t tid, uint64_t clock)
{
	char comm[WM_TASK_COMM_BYTES];
	uint32_t pid;

	n->met[tid / 64] |= 1ull << (tid % 64);
	if (wm_task_look(tid, &pid, comm) < 0)
		task_names_remember(n, tid, clock);
	else
		(void)wm_writer_thread(n->writer, pid, tid, clock, comm);
}

char *wm_task_saved_read(const struct wm_instance *i)
{
	size_t bytes;
	char *list;

	if (wm_instance_read_file(i, "../../saved_cmdlines", LIST_BYTES, &list, &bytes) < 0)
		return NULL;
	return list;
}

/* Each line of the list is "123 name". */
bool wm_task_saved(const char *list, uint32_t tid, char comm[WM_TASK_COMM_BYTES])
{
	char key[16];
	const char *at = list;
	size_t n = (size_t)snprintf(key, sizeof(key), "%u ", tid);

	while (at && strncmp(at, key, n)) {
		at = strchr(at, '\n');
		at = at ? at + 1 : NULL;
	}
	if (!at)
		return false;
	(void)memset(comm, 0, WM_TASK_COMM_BYTES);
	(void)snprintf(comm, WM_TASK_COMM_BYTES, "%.*s", (int)strcspn(at + n, "\n"), at + n);
	return true;
}

void wm_task_names_finish(struct wm_task_names *n, const struct wm_instance *i)
{
	char comm[WM_TASK_COMM_BYTES], *list = n->nr_missed ? wm_task_saved_read(i) : NULL;

	if (!list)
		return;
	for (uint32_t k = 0; k < n->nr_missed; k++)
		if (wm_task_saved(list, n->missed[k], comm))
			(void)wm_writer_thread(n->writer, n->missed[k], n->missed[k],
					       n->missed_at[k], comm);
	n->nr_missed = 0;
	free(list);
}
