/* SPDX-License-Identifier: MIT */
/* readers.h - finds a shared mapping of this process, and the processes that share it, in /proc. */
#ifndef BENCH_READERS_H
#define BENCH_READERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define BENCH_READERS_MAX 8

struct bench_mapping {
	uintptr_t start, end;
	char id[64]; /* device and inode of the file */
};

/* Finds the first mapping, from the beginning of its file, whose name contains `name`. */
bool bench_find_mapping(const char *name, struct bench_mapping *ret);

/*
 * Finds the other processes that map it. Returns their number (at most BENCH_READERS_MAX), -ENOENT
 * or -ESRCH.
 */
int bench_find_readers(const char *name, pid_t *ret);

#endif
