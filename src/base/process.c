/* SPDX-License-Identifier: MIT */
/*
 * process.c - see process.h.
 */
#include "base/process.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

#define ENVIRONMENT_MAX (4u << 20)
#define STAT_MAX        4096u

static int read_proc(uint32_t pid, const char *leaf, size_t limit, char **ret, size_t *ret_bytes)
{
	char name[96];

	(void)snprintf(name, sizeof(name), "/proc/%u/%s", pid, leaf);
	return wm_file_read(AT_FDCWD, name, limit, ret, ret_bytes);
}

/*
 * Reads /proc/PID/stat, that of this process if `pid` is 0. Returns the text after the name, which
 * may contain any byte, even ')'; NULL on failure. The caller frees *ret_text.
 */
static const char *read_stat(uint32_t pid, char **ret_text)
{
	const char *end;
	size_t bytes;
	int err = pid ? read_proc(pid, "stat", STAT_MAX, ret_text, &bytes)
		      : wm_file_read(AT_FDCWD, "/proc/self/stat", STAT_MAX, ret_text, &bytes);

	if (err < 0) {
		*ret_text = NULL;
		return NULL;
	}
	end = strrchr(*ret_text, ')');
	return end ? end + 1 : NULL;
}

/* Returns a field by its number in proc(5), from 4. `after_name` is from read_stat(). */
static uint64_t stat_field(const char *after_name, int nr)
{
	const char *at = after_name;

	for (int field = 3; at && field < nr; field++)
		at = strchr(at + 1, ' ');
	return at ? strtoull(at + 1, NULL, 10) : 0;
}

uint32_t wm_process_parent(uint32_t pid)
{
	char *text;
	const char *stat = read_stat(pid, &text);
	uint32_t parent = stat ? (uint32_t)stat_field(stat, 4) : 0;

	free(text);
	return parent;
}

uint64_t wm_process_start(uint32_t pid)
{
	char *text;
	const char *stat = read_stat(pid, &text);
	uint64_t start = stat ? stat_field(stat, 22) : 0;

	free(text);
	return start;
}

uint32_t wm_process_left_threads(uint32_t pid, int *ret_status)
{
	char *text;
	const char *stat = read_stat(pid, &text);
	uint32_t threads = 0;

	if (stat && !strncmp(stat, " Z", 2)) {
		threads = (uint32_t)stat_field(stat, 20);
		*ret_status = (int)stat_field(stat, 52);
	}
	free(text);
	return threads ? threads - 1 : 0; /* the leader counts until all have exited */
}

static bool thread_is_named(uint32_t pid, const char *tid, const char *name)
{
	char leaf[64], *text = NULL;
	size_t bytes;
	bool yes;

	(void)snprintf(leaf, sizeof(leaf), "task/%.20s/comm", tid);
	if (read_proc(pid, leaf, 64, &text, &bytes) < 0)
		return false;
	text[strcspn(text, "\n")] = '\0';
	yes = !strcmp(text, name);
	free(text);
	return yes;
}

bool wm_process_has_thread(uint32_t pid, const char *name)
{
	char path[64];
	struct dirent *entry;
	bool found = false;
	DIR *tasks;

	(void)snprintf(path, sizeof(path), "/proc/%u/task", pid);
	tasks = opendir(path);
	while (tasks && !found && (entry = readdir(tasks)))
		found = entry->d_name[0] != '.' && thread_is_named(pid, entry->d_name, name);
	if (tasks)
		closedir(tasks);
	return found;
}

bool wm_process_environment_has(uint32_t pid, const char *text)
{
	char *environment = NULL;
	size_t bytes;
	bool found;

	if (read_proc(pid, "environ", ENVIRONMENT_MAX, &environment, &bytes) < 0)
		return false;
	found = memmem(environment, bytes, text, strlen(text)) != NULL;
	free(environment);
	return found;
}

/* Returns the last number of a line of /proc/ID/status, or 0 when there is no such line. */
static uint32_t status_number(uint32_t id, const char *name)
{
	char *text = NULL, *line;
	size_t bytes;
	unsigned long number = 0;

	if (read_proc(id, "status", 16384, &text, &bytes) < 0)
		return 0;
	line = strstr(text, name);
	if (line) {
		line++;
		line[strcspn(line, "\n")] = '\0';
		line = strrchr(line, '\t');
		number = line ? strtoul(line, NULL, 10) : 0;
	}
	free(text);
	return (uint32_t)number;
}

uint32_t wm_process_of_thread(uint32_t tid)
{
	return status_number(tid, "\nTgid:");
}

uint32_t wm_process_inner_id(uint32_t tid)
{
	return status_number(tid, "\nNSpid:");
}
