/* SPDX-License-Identifier: MIT */
/*
 * enable.c - starts a recording from within the traced program, for WAYMARK_ENABLE='glob,glob'
 * ./app. The constructor starts a recorder for its own process,
 *
 *   waymark record -q [-o $WAYMARK_OUTPUT] -e GLOB... -p PID
 *
 * found beside the runtime, and waits for its attach request (at most WAIT_MS), so that events
 * before main are recorded too. The recorder is a separate process: it survives a kill -9 of the
 * program and allocates nothing in it.
 *
 * The recorder is an orphan from the start: the program's wait() never returns it. Programs that
 * the traced program executes join through $WAYMARK_SESSION.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "base/atomic.h"
#include "runtime/runtime_int.h"
#include "runtime/sys_int.h"

#define WAIT_MS   2000
#define ARGS_MAX  160
#define PATHS_MAX 8

extern char **environ;

struct start {
	char *argv[ARGS_MAX];
	unsigned argc;
	char **envp;
	char path[PATHS_MAX][600];
	unsigned nr_paths;
	char text[4096]; /* the globs, split at commas */
	char pid[16];
	long tool;
};

static bool enable_begins(const char *s, const char *with)
{
	while (*with)
		if (*s++ != *with++)
			return false;
	return true;
}

static void add_path(struct start *s, const char *directory, size_t bytes, const char *rest)
{
	size_t n = wm_str_len(rest);

	if (s->nr_paths == PATHS_MAX || bytes + n >= sizeof(s->path[0]))
		return;
	wm_mem_copy(s->path[s->nr_paths], directory, bytes);
	wm_mem_copy(s->path[s->nr_paths] + bytes, rest, n + 1);
	s->nr_paths++;
}

/*
 * Looks for the tool in $WAYMARK_TOOL, beside the library (a build tree), in the library's prefix,
 * and in the usual folders.
 */
static void find_tool(struct start *s)
{
	const char *named = getenv("WAYMARK_TOOL");
	Dl_info where;
	size_t n = 0;

	if (named)
		add_path(s, "", 0, named);
	if (dladdr(&wm_rt, &where) && where.dli_fname) {
		for (size_t i = 0; where.dli_fname[i]; i++)
			if (where.dli_fname[i] == '/')
				n = i + 1;
		add_path(s, where.dli_fname, n, "waymark");
		add_path(s, where.dli_fname, n, "../bin/waymark");
		add_path(s, where.dli_fname, n, "../../bin/waymark");
	}
	add_path(s, "", 0, "/usr/local/bin/waymark");
	add_path(s, "", 0, "/usr/bin/waymark");
}

static void add_arg(struct start *s, char *arg)
{
	if (s->argc < ARGS_MAX - 1)
		s->argv[s->argc++] = arg;
}

static void add_globs(struct start *s, const char *list)
{
	size_t n = wm_str_len(list);
	char *p = s->text;

	n = n < sizeof(s->text) - 1 ? n : sizeof(s->text) - 1;
	wm_mem_copy(s->text, list, n);
	while (*p) {
		char *end = p;
		while (*end && *end != ',')
			end++;
		if (end > p) {
			add_arg(s, "-e");
			add_arg(s, p);
		}
		p = end + (*end == ',');
		*end = 0;
	}
}

static void enable_put_number(char *to, uint32_t v)
{
	char digits[12];
	int n = 0;

	do
		digits[n++] = (char)('0' + v % 10);
	while (v /= 10);
	while (n)
		*to++ = digits[--n];
	*to = 0;
}

/* Copies the environment without the variables that would make the tool itself a traced program. */
static bool clean_environment(struct start *s)
{
	size_t n = 0, k = 0;

	while (environ && environ[n])
		n++;
	s->envp = wm_sys_map((n + 1) * sizeof(*s->envp));
	for (size_t i = 0; s->envp && i < n; i++)
		if (!enable_begins(environ[i], "WAYMARK_") &&
		    !enable_begins(environ[i], "LD_PRELOAD="))
			s->envp[k++] = environ[i];
	return s->envp != NULL;
}

/*
 * Starts the tool in a new process, which shares the program's memory until execve(), as with
 * vfork(). If no tool can be executed, the process prints an error message instead.
 */
static __attribute__((noinline)) long become_tool(struct start *s)
{
	static const char none[] =
	    "waymark: WAYMARK_ENABLE is set, but no waymark command was found "
	    "beside the runtime or in /usr/bin; set WAYMARK_TOOL to its path\n";
	long pid = WM_SYS_6(SYS_clone, CLONE_VM | CLONE_VFORK, 0, 0, 0, 0, 0);

	if (pid)
		return pid;
	(void)WM_SYS_0(SYS_setsid);
	for (unsigned i = 0; i < s->nr_paths; i++)
		(void)WM_SYS_3(SYS_execve, s->path[i], s->argv, s->envp);
	(void)WM_SYS_3(SYS_write, 2, none, sizeof(none) - 1);
	(void)WM_SYS_1(SYS_exit, 127);
	return -1;
}

/* Double fork, so that the tool is not a child of this program. */
static __attribute__((noinline)) long start_tool(struct start *s)
{
	long pid = WM_SYS_6(SYS_clone, CLONE_VM | CLONE_VFORK, 0, 0, 0, 0, 0);

	if (!pid) {
		s->tool = become_tool(s);
		(void)WM_SYS_1(SYS_exit, 0);
	}
	if (!wm_sys_failed(pid))
		(void)WM_SYS_4(SYS_wait4, pid, 0, __WCLONE, 0);
	return wm_sys_failed(pid) ? pid : s->tool;
}

/* Returns when the tool has written an attach request or has exited, or after WAIT_MS. */
static void wait_for_request(long tool)
{
	struct timespec nap = {0, 500 * 1000};

	for (unsigned i = 0; i < WAIT_MS * 2; i++) {
		if (wm_load_acquire(&waymark_control.attach_request) !=
		    wm_load_acquire(&waymark_control.attach_done)) {
			wm_runtime_attach_check();
			return;
		}
		if (WM_SYS_2(SYS_kill, tool, 0) == -ESRCH)
			return;
		(void)WM_SYS_2(SYS_nanosleep, &nap, 0);
	}
}

void wm_enable_from_environment(const char *globs)
{
	struct start *s = wm_sys_map(sizeof(*s));
	const char *output = getenv("WAYMARK_OUTPUT");
	long tool;

	if (!s)
		return;
	find_tool(s);
	add_arg(s, "waymark");
	add_arg(s, "record");
	add_arg(s, "-q");
	if (output && *output) {
		add_arg(s, "-o");
		add_arg(s, (char *)(uintptr_t)output);
	}
	add_globs(s, globs);
	enable_put_number(s->pid, wm_sys_pid());
	add_arg(s, "-p");
	add_arg(s, s->pid);
	if (clean_environment(s)) {
		/*
		 * The tool writes the control page through /proc, which Yama permits only after
		 * this call.
		 */
		(void)WM_SYS_2(SYS_prctl, PR_SET_PTRACER, -1);
		tool = start_tool(s);
		if (!wm_sys_failed(tool))
			wait_for_request(tool);
		(void)WM_SYS_2(SYS_prctl, PR_SET_PTRACER, 0);
		if (wm_rt.session[0].active)
			(void)setenv(WM_SESSION_ENV, wm_rt.session[0].folder, 1);
	}
	wm_sys_unmap(s, sizeof(*s));
}
