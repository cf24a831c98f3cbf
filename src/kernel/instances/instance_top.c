/* SPDX-License-Identifier: MIT */
/*
 * instance_top.c - the system's own trace buffer as an instance, for functions and markers on older
 * kernels, which offer them in no other instance. All tools share the buffer, so it is taken only
 * when it is not in use, and its previous state is restored afterwards.
 *
 * The previous state is recorded in the name of a folder, an instance that records nothing: it is
 * created before any change, locked like other instances, and visible in every container until the
 * machine is restarted. A process that finds it with no lock holder restores the buffer.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/plural.h"
#include "base/text.h"
#include "kernel/instances/instance_int.h"

#define PREFIX     "waymark-top-"
#define WORD_BYTES 96
#define SMALL_FILE 65536u
#define LIST_BYTES (16u << 20) /* limit for set_ftrace_filter, which may list every function */
#define CPUS_BITS  32u         /* bits in each word of a CPU mask */

/* The settings that are changed, with their previous values. */
struct found {
	int pid; /* the process that took the buffer */
	unsigned on, percent, cpus, fork;
	unsigned long long kib; /* size of each ring; 0: not changed */
	char clock[16];
};

static const char name_form[] = PREFIX "%d-%u-%llu-%u-%u-%u-%s";

bool wm_instance_is_top(const char *name)
{
	return !strncmp(name, PREFIX, sizeof(PREFIX) - 1);
}

static bool instance_top_parse_name(const char *name, struct found *f)
{
	return sscanf(name, PREFIX "%d-%u-%llu-%u-%u-%u-%15s", &f->pid, &f->on, &f->kib,
		      &f->percent, &f->cpus, &f->fork, f->clock) == 7;
}

/* --- whether it is in use ----------------------------------------------------------- */

/* The files that have a significant line while a tool uses the buffer for tracing. */
static const char *const used_by[] = {
    "current_tracer",        "set_event",          "set_event_pid",
    "set_event_notrace_pid", "set_ftrace_pid",     "set_ftrace_notrace_pid",
    "set_ftrace_filter",     "set_ftrace_notrace", "set_graph_function",
    "set_graph_notrace",     "tracing_thresh",     "max_graph_depth",
};

static bool says_nothing(const char *line, size_t bytes)
{
	static const char *const nothing[] = {"", "nop", "0", "no pid"};

	for (size_t i = 0; i < sizeof(nothing) / sizeof(nothing[0]); i++)
		if (strlen(nothing[i]) == bytes && !memcmp(nothing[i], line, bytes))
			return true;
	return *line == '#';
}

/* Reads the first significant line in a file; returns false if there is none. */
static bool first_word(const struct wm_instance *i, const char *name, char word[WORD_BYTES])
{
	char *text, *line;
	bool found = false;
	size_t bytes;

	if (wm_instance_read_file(i, name, LIST_BYTES, &text, &bytes) < 0)
		return false; /* this kernel lacks the file */
	for (line = text; *line && !found;) {
		size_t n = strcspn(line, "\n");

		found = !says_nothing(line, n);
		if (found)
			(void)snprintf(word, WORD_BYTES, "%.*s", (int)n, line);
		line += n + (line[n] == '\n');
	}
	free(text);
	return found;
}

static bool has_snapshot(const struct wm_instance *i)
{
	char head[512] = "";
	int fd = openat(i->dirfd, "snapshot", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, head, sizeof(head) - 1);

	if (fd >= 0)
		close(fd);
	return n > 0 && !strstr(head, "Snapshot is freed");
}

static unsigned long long nr_unread(const struct wm_instance *i)
{
	unsigned long long sum = 0;

	for (uint32_t cpu = 0; cpu < i->nr_cpus; cpu++) {
		char name[64], *text;
		size_t bytes;

		(void)snprintf(name, sizeof(name), "per_cpu/cpu%u/stats", cpu);
		if (wm_instance_read_file(i, name, SMALL_FILE, &text, &bytes) < 0)
			continue;
		if (!strncmp(text, "entries:", strlen("entries:")))
			sum += strtoull(text + strlen("entries:"), NULL, 10);
		free(text);
	}
	return sum;
}

/* --- its readers -------------------------------------------------------------------- */

static bool instance_top_ends(const char *text, const char *with)
{
	size_t n = strlen(text), m = strlen(with);

	return n >= m && !strcmp(text + n - m, with);
}

/* Whether a descriptor in /proc/PID/fd is a file that consumes the buffer's events. */
static bool takes_events(int folder, const char *fd, dev_t tracefs)
{
	char target[512];
	ssize_t n = readlinkat(folder, fd, target, sizeof(target) - 1);
	struct stat st;

	if (n <= 0)
		return false;
	target[n] = '\0';
	if (strstr(target, "/instances/") || !(instance_top_ends(target, "/trace_pipe") ||
					       instance_top_ends(target, "/trace_pipe_raw") ||
					       instance_top_ends(target, "/snapshot_raw")))
		return false;
	return fstatat(folder, fd, &st, 0) == 0 && st.st_dev == tracefs;
}

static bool is_reader(const char *pid, dev_t tracefs)
{
	char path[32];
	struct dirent *d;
	bool reads = false;
	DIR *dir;

	(void)snprintf(path, sizeof(path), "/proc/%.16s/fd", pid);
	dir = opendir(path);
	while (dir && !reads && (d = readdir(dir)))
		reads = takes_events(dirfd(dir), d->d_name, tracefs);
	if (dir)
		closedir(dir);
	return reads;
}

/* Describes a reader of the buffer, as in "process 123 (cat)"; returns false if there is none. */
static bool find_reader(const struct wm_instance *i, char who[WORD_BYTES])
{
	DIR *proc = opendir("/proc");
	struct dirent *d;
	struct stat st;
	bool found = false;

	if (fstat(i->dirfd, &st) < 0)
		st.st_dev = 0;
	while (proc && !found && (d = readdir(proc))) {
		char path[32], *comm = NULL;
		size_t bytes;

		if (!isdigit((unsigned char)*d->d_name) || !is_reader(d->d_name, st.st_dev))
			continue;
		found = true;
		(void)snprintf(path, sizeof(path), "/proc/%.16s/comm", d->d_name);
		(void)wm_file_read(AT_FDCWD, path, SMALL_FILE, &comm, &bytes);
		(void)snprintf(who, WORD_BYTES, "process %.16s (%.*s)", d->d_name,
			       comm ? (int)strcspn(comm, "\n") : 0, comm ? comm : "");
		free(comm);
	}
	if (proc)
		closedir(proc);
	return found;
}

/*
 * Whether another waymark recording uses the buffer, that is, whether its folder was locked during
 * the sweep.
 */
static bool find_ours(const struct wm_instance *i, char who[WORD_BYTES])
{
	int fd = openat(i->parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct found f = {0};
	struct dirent *d;
	bool found = false;

	while (dir && !found && (d = readdir(dir)))
		found = wm_instance_is_top(d->d_name) && instance_top_parse_name(d->d_name, &f);
	if (found)
		(void)snprintf(who, WORD_BYTES, "process %d", f.pid);
	if (dir)
		closedir(dir);
	return found;
}

/*
 * The number of CPUs in a mask like "3,ffffffff", in which the lowest bits are set; 0 for any other
 * mask.
 */
static unsigned instance_top_find_cpus(const struct wm_instance *i)
{
	unsigned bits = 0;
	char *text;
	size_t bytes;

	if (wm_instance_read_file(i, "tracing_cpumask", SMALL_FILE, &text, &bytes) < 0)
		return 0;
	for (const char *c = text; *c && *c != '\n'; c++) {
		const char *digits = "0137f", *at = strchr(digits, *c);

		if (*c == ',')
			continue;
		if (!at || (bits && *c != 'f')) {
			bits = 0;
			break;
		}
		bits += (unsigned)(at - digits);
	}
	free(text);
	return bits;
}

static int in_use(struct wm_diag *diag, const char *what, const char *by)
{
	return wm_diag_set(
	    diag, -EBUSY, NULL, -1,
	    "this kernel offers %s only in the system's own trace buffer, which is in use: %s",
	    what, by);
}

/*
 * Returns 0, or -EBUSY with an error message that names the user, or the setting that shows the
 * use.
 */
static int check_free(const struct wm_instance *i, const struct wm_tracefs *t, const char *what,
		      struct wm_diag *diag)
{
	char word[WORD_BYTES], by[2 * WORD_BYTES + sizeof(t->path)];
	unsigned long long unread;

	if (find_reader(i, word)) {
		(void)snprintf(by, sizeof(by), "%s reads it", word);
		return in_use(diag, what, by);
	}
	if (find_ours(i, word)) {
		(void)snprintf(by, sizeof(by), "another waymark recording uses it, %s", word);
		return in_use(diag, what, by);
	}
	for (size_t k = 0; k < sizeof(used_by) / sizeof(used_by[0]); k++) {
		if (!first_word(i, used_by[k], word))
			continue;
		(void)snprintf(by, sizeof(by), "%s/%s contains '%s'", t->path, used_by[k], word);
		return in_use(diag, what, by);
	}
	if (has_snapshot(i)) {
		(void)snprintf(by, sizeof(by), "%s/snapshot is allocated ('echo 0' frees it)",
			       t->path);
		return in_use(diag, what, by);
	}
	if (instance_top_find_cpus(i) < i->nr_cpus) {
		(void)snprintf(by, sizeof(by),
			       "%s/tracing_cpumask excludes some CPUs; set all bits", t->path);
		return in_use(diag, what, by);
	}
	unread = nr_unread(i);
	if (!unread)
		return 0;
	(void)snprintf(by, sizeof(by), "it holds %llu unread %s ('echo > %s/trace' empties it)",
		       unread, wm_plural(unread, "event", "events"), t->path);
	return in_use(diag, what, by);
}

/* --- its previous state ------------------------------------------------------------ */

/* Finds the current clock, which is in brackets: "local [global] mono". */
static void instance_top_find_clock(const struct wm_instance *i, char clock[16])
{
	char *text, *at;
	size_t bytes;

	(void)snprintf(clock, 16, "local");
	if (wm_instance_read_file(i, "trace_clock", SMALL_FILE, &text, &bytes) < 0)
		return;
	at = strchr(text, '[');
	if (at)
		(void)snprintf(clock, 16, "%.*s", (int)strcspn(at + 1, "]"), at + 1);
	free(text);
}

/*
 * Parses a ring size: "1408", or "7 (expanded: 1408)" for a ring never used; 0 for "X" (different
 * sizes).
 */
static unsigned long long find_kib(const struct wm_instance *i)
{
	static const char expanded[] = "(expanded: ";
	unsigned long long kib = 0;
	char *text, *at;
	size_t bytes;

	if (wm_instance_read_file(i, "buffer_size_kb", SMALL_FILE, &text, &bytes) < 0)
		return 0;
	at = strstr(text, expanded);
	kib = strtoull(at ? at + strlen(expanded) : text, NULL, 10);
	free(text);
	return kib;
}

static void put_cpus(const struct wm_instance *i, unsigned cpus)
{
	struct wm_text t;

	wm_text_init(&t);
	for (unsigned word = (cpus + CPUS_BITS - 1) / CPUS_BITS; word-- > 0;) {
		unsigned bits = cpus - word * CPUS_BITS;

		wm_text_f(&t, "%08x%s", bits >= CPUS_BITS ? ~0u : (1u << bits) - 1,
			  word ? "," : "");
	}
	if (!t.failed)
		(void)wm_instance_put(i, "tracing_cpumask", t.data);
	wm_text_done(&t);
}

/* --- taking and restoring it --------------------------------------------------------- */

/* Creates and locks the folder that records the previous state. */
static int make_journal(struct wm_instance *i, const struct found *f)
{
	struct wm_instance journal;

	(void)snprintf(i->name, sizeof(i->name), name_form, f->pid, f->on, f->kib, f->percent,
		       f->cpus, f->fork, f->clock);
	if (mkdirat(i->parent, i->name, 0700) < 0)
		return -errno;
	i->journal = openat(i->parent, i->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (i->journal < 0 || flock(i->journal, LOCK_EX | LOCK_NB) < 0)
		return -errno;
	journal = (struct wm_instance){.dirfd = i->journal};
	(void)wm_instance_put(&journal, "tracing_on", "0");
	(void)wm_instance_put(&journal, "buffer_size_kb", "1");
	return 0;
}

/* Enlarges the rings. Rings that are already larger, or that differ in size, are not changed. */
static void instance_top_make_room(struct wm_instance *i, const struct found *f, uint64_t bytes)
{
	uint64_t kib = wm_instance_cpu_bytes(i, bytes) / 1024;

	i->cpu_bytes = f->kib * 1024;
	if (f->kib && kib > f->kib && wm_instance_put_number(i, "buffer_size_kb", kib) == 0)
		i->cpu_bytes = kib * 1024;
}

static int instance_top_set_up(struct wm_instance *i, const struct wm_instance_options *o,
			       struct wm_diag *diag)
{
	struct found f = {
	    .pid = getpid(),
	    .on = wm_instance_get_number(i, "tracing_on") != 0,
	    .kib = find_kib(i),
	    .percent = (unsigned)wm_instance_get_number(i, "buffer_percent"),
	    .cpus = instance_top_find_cpus(i),
	    .fork = wm_instance_get_number(i, "options/function-fork") != 0,
	};
	int err;

	instance_top_find_clock(i, f.clock);
	err = make_journal(i, &f);
	if (err)
		return wm_diag_set(diag, err, NULL, -1,
				   "cannot save the state of the system's trace buffer: %s",
				   strerror(-err));
	err = wm_instance_put(i, "tracing_on", "0");
	if (!err)
		err = wm_instance_set_clock(i, o->clock, diag);
	if (err)
		return err;
	instance_top_make_room(i, &f, o->buffer_bytes);
	(void)wm_instance_put(i, "buffer_percent", WM_INSTANCE_WAKE_PERCENT);
	return wm_instance_open_rings(i, diag);
}

int wm_instance_take_top(const struct wm_tracefs *t, const struct wm_instance_options *o,
			 const char *what, struct wm_instance **ret, struct wm_diag *diag)
{
	struct wm_instance *i;
	int err = wm_instance_allocate(&i);

	if (err)
		return err;
	i->parent = wm_instance_open_parent(t, diag);
	i->dirfd = i->parent < 0 ? -1 : fcntl(t->dirfd, F_DUPFD_CLOEXEC, 0);
	err = i->parent < 0 ? i->parent : i->dirfd < 0 ? -errno : 0;
	i->top = true;
	i->page_bytes = (uint32_t)wm_instance_get_number(i, "buffer_subbuf_size_kb") * 1024;
	if (!i->page_bytes)
		i->page_bytes = (uint32_t)sysconf(_SC_PAGESIZE);
	if (!err) {
		(void)wm_instance_sweep_in(i->parent);
		err = check_free(i, t, what, diag);
	}
	if (!err)
		err = instance_top_set_up(i, o, diag);
	if (i->parent >= 0)
		(void)flock(i->parent, LOCK_UN);
	if (err) {
		wm_instance_destroy(i);
		return err;
	}
	*ret = i;
	return 0;
}

/*
 * Restores all settings, even if one fails: the tracer cannot be changed while the buffer has a
 * reader.
 */
static bool restore(const struct wm_instance *top, const struct found *f)
{
	int err;

	(void)wm_instance_put(top, "tracing_on", "0");
	err = wm_instance_put(top, "current_tracer", "nop");
	(void)wm_instance_put(top, "set_ftrace_filter", "");
	(void)wm_instance_put(top, "set_ftrace_pid", "");
	(void)wm_instance_put(top, "set_ftrace_notrace_pid", "");
	(void)wm_instance_put_number(top, "options/function-fork", f->fork);
	put_cpus(top, f->cpus);
	if (f->kib)
		(void)wm_instance_put_number(top, "buffer_size_kb", f->kib);
	(void)wm_instance_put_number(top, "buffer_percent", f->percent);
	(void)wm_instance_put(top, "trace_clock", f->clock);
	(void)wm_instance_put(top, "trace", ""); /* the buffer was empty before */
	(void)wm_instance_put_number(top, "tracing_on", f->on);
	return err == 0;
}

bool wm_instance_top_restore(int parent, const char *name)
{
	struct wm_instance top = {.dirfd =
				      openat(parent, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
	struct found f;
	bool done;

	if (top.dirfd < 0)
		return false;
	done = !instance_top_parse_name(name, &f) || restore(&top, &f);
	close(top.dirfd);
	return done;
}

/*
 * Called by each holder (the pump, then the command). The first one removes the folder; after that
 * another process may own the buffer. The lock needs a new open file description, because
 * i->parent's is shared across the fork.
 */
void wm_instance_give_top_back(struct wm_instance *i)
{
	int parent = openat(i->parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (parent < 0)
		return;
	if (flock(parent, LOCK_EX) == 0 && faccessat(parent, i->name, F_OK, 0) == 0 &&
	    wm_instance_top_restore(parent, i->name))
		(void)unlinkat(parent, i->name, AT_REMOVEDIR);
	close(parent);
}
