/* SPDX-License-Identifier: MIT */
/*
 * explain_empty.c - reports why nothing was recorded, as far as this is visible from outside the
 * program, with a hint. Neither the program nor the runtime prints the reason.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/program.h"
#include "cmd/record/record.h"
#include "cmd/say.h"
#include "elf/elf_file.h"
#include "elf/sites.h"

/*
 * Returns whether a program is setuid, setgid or has capabilities: the loader then ignores
 * LD_PRELOAD.
 */
static bool is_privileged(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && ((st.st_mode & (S_ISUID | S_ISGID)) ||
					getxattr(path, "security.capability", NULL, 0) > 0);
}

static bool is_static(const struct wm_elf *e)
{
	return !wm_elf_section(e, ".interp") && !wm_elf_section(e, ".dynamic");
}

static bool has_marks(const struct wm_elf *e)
{
	struct wm_elf_sites sites;
	bool any;

	if (wm_elf_sites_read(e, &sites, NULL) < 0)
		return false;
	any = sites.nr_events != 0;
	wm_elf_sites_done(&sites);
	return any;
}

/* Reports why no process joined, as far as CMD's file shows it. */
static void say_of_file(const char *path, const char *name, const struct wm_recorder_plan *plan)
{
	struct wm_diag diag = {.offset = -1};
	struct wm_elf *elf = NULL;
	int err = wm_elf_open(path, &elf, &diag);

	if (is_privileged(path))
		wm_say("no process joined: '%s' has privileges of its own (setuid, setgid or "
		       "capabilities), so the loader does not preload the runtime; as root, attach "
		       "with: waymark record -p PID",
		       name);
	else if (plan->preload && !strcmp(plan->preload, "none"))
		wm_say("no process joined: '%s' does not contain the runtime, and --preload none "
		       "excluded it",
		       name);
	else if (err == 0 && is_static(elf))
		wm_say("no process joined: '%s' is linked statically and without the runtime; %s",
		       name,
		       has_marks(elf)
			   ? "link libwaymark-rt.a into it (pkg-config --static waymark-rt)"
			   : "no library can be loaded into it");
	else if (err < 0 && diag.sentence[0] && err != -ENOEXEC)
		wm_say("no process joined: '%s': %s", name, diag.sentence);
	else
		wm_say("no process joined: '%s' or the program that starts it cleared the "
		       "environment (LD_PRELOAD, WAYMARK_SESSION), or is built for another "
		       "architecture; attach with: waymark record -p PID",
		       name);
	wm_elf_close(elf);
}

static void say_nobody(const struct wm_recorder_plan *plan, const struct wm_recorder *recorder)
{
	char *path;

	if (plan->all)
		wm_say("no process joined: no process contains the runtime, or no thread reached "
		       "a requested tracepoint; 'waymark list' shows the processes with "
		       "tracepoints");
	if (plan->all || plan->nr_pids) {
		(void)wm_recorder_say_missing(recorder);
		return;
	}
	path = wm_program_find(plan->command[0], getenv("PATH"));
	say_of_file(path ? path : plan->command[0], plan->command[0], plan);
	free(path);
}

/* Suggests what can be recorded for programs without marks. */
static void say_no_marks(const struct wm_recorder_plan *plan)
{
	bool alone = plan->command && !plan->nr_pids && !plan->all;
	const char *name = alone ? plan->command[0] : "";

	if (!alone || plan->preload)
		wm_say("no process that joined has tracepoints (a process started with a cleared "
		       "environment does not join)");
	else
		wm_say("no process of '%s' has tracepoints (one started with a cleared "
		       "environment does not join). Try: waymark record -g -- %s (samples of its "
		       "functions), waymark record -e 'syscall:*' -- %s (system calls; as root), "
		       "or waymark record --preload malloc,pthread -- %s (calls of the C library)",
		       name, name, name, name);
}

void wm_record_say_empty(const struct wm_recorder_plan *plan, const struct wm_recording_totals *t,
			 const struct wm_recorder *recorder)
{
	if (!t->nr_processes)
		say_nobody(plan, recorder);
	else if (!t->events && !wm_recording_lost(t) && !plan->nr_asked && !t->nr_changes &&
		 !t->nr_unpatched && !(t->matched[0] & 1))
		say_no_marks(plan);
}
