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

static int read_proc(uint32_t pid, const char *leaf, size_t limit, char **ret, size_t *ret_bytes)
{
	char name[96];

	(void)snprintf(name, sizeof(name), "/proc/%u/%s", pid, leaf);
	return wm_file_read(AT_FDCWD, name, limit, ret, ret_bytes);
}

uint32_t wm_process_parent(uint32_t pid)
{
	char *text = NULL;
	const char *p;
	size_t bytes;
	unsigned parent = 0;

	if (read_proc(pid, "stat", 4096, &text, &bytes) < 0)
		return 0;
	p = strrchr(text, ')'); /* comm may contain any byte, even ')' */
	if (!p || sscanf(p + 1, " %*c %u", &parent) != 1)
		parent = 0;
	free(text);
	return parent;
}

/* Returns field `nr` of /proc/PID/stat; `after_comm` is the text after field 2. */
static unsigned long stat_field(const char *after_comm, int nr)
{
	const char *at = after_comm;

	for (int field = 3; at && field < nr; field++)
		at = strchr(at + 1, ' ');
	return at ? strtoul(at + 1, NULL, 10) : 0;
}

uint32_t wm_process_left_threads(uint32_t pid, int *ret_status)
{
	char *text = NULL;
	const char *p;
	size_t bytes;
	uint32_t threads = 0;

	if (read_proc(pid, "stat", 4096, &text, &bytes) < 0)
		return 0;
	p = strrchr(text, ')');
	if (p && !strncmp(p, ") Z", 3)) {
		threads = (uint32_t)stat_field(p + 1, 20);
		*ret_status = (int)stat_field(p + 1, 52);
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
