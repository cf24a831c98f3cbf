/* SPDX-License-Identifier: MIT */
/*
 * programs_32bit.c - 32-bit programs on a 64-bit machine: waymark's libraries cannot be loaded into
 * them, and the kernel has no events for their individual system calls. Without a message, the user
 * would not learn why nothing is recorded. See recorder_int.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/program.h"
#include "control/recorder/recorder_int.h"
#include "elf/elf_file.h"

bool wm_recorder_is_narrow(const struct wm_recorder_plan *plan)
{
	char *path = plan->command ? wm_program_find(plan->command[0], plan->search) : NULL;
	bool narrow = path && wm_elf_is_narrow(path);

	free(path);
	return narrow;
}

/* Describes the first 32-bit program; "" if there is none. */
static void find_narrow(const struct wm_recorder_plan *plan, char *name, size_t bytes)
{
	char path[48];

	name[0] = '\0';
	for (size_t i = 0; i < plan->nr_pids && !*name; i++) {
		(void)snprintf(path, sizeof(path), "/proc/%d/exe", (int)plan->pids[i]);
		if (wm_elf_is_narrow(path))
			(void)snprintf(name, bytes, "process %d", (int)plan->pids[i]);
	}
	if (!*name && !plan->nr_pids && wm_recorder_is_narrow(plan))
		(void)snprintf(name, bytes, "'%.100s'", plan->command[0]);
}

void wm_recorder_say_narrow(const struct wm_recorder_plan *plan)
{
	const struct wm_recorder_kernel *kernel = plan->events->kernel;
	char name[128];

	find_narrow(plan, name, sizeof(name));
	if (!*name)
		return;
	if (kernel && wm_recorder_kernel_has_system(kernel, "syscalls"))
		wm_words_say(
		    plan->words,
		    "%s is a 32-bit program: the kernel has no events for its individual system "
		    "calls; raw_syscalls:sys_enter and raw_syscalls:sys_exit record them, with "
		    "the numbers of 32-bit programs",
		    name);
	if (!plan->nr_pids && plan->nr_asked && !(plan->preload && !strcmp(plan->preload, "none")))
		wm_words_say(plan->words,
			     "%s is a 32-bit program: its tracepoints are not recorded, and "
			     "nothing is loaded into its child processes",
			     name);
}
