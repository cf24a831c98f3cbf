/* SPDX-License-Identifier: MIT */
/*
 * mutants.c - damages traces in many ways and reads each result as waymark does:
 *
 *   fuzz-mutants [-n MUTANTS] [-s SEED] [-j JOBS] [-k FOLDER] [-m MAX_BYTES] [-r REFEREE] TRACE...
 *
 * Each mutant is read by its own process. A signal, a hang, too much memory, and an event that is
 * missing without a message are bugs. Bugs are reported, their mutants kept in FOLDER, and the exit
 * status is 1. The same seed and traces give the same mutants.
 *
 * A change may turn a file into another valid one with fewer events, which no reader can detect.
 * REFEREE is a command that prints how many events it finds in a trace. If it reports no error and
 * the same number of events as waymark, the mutant counts as valid. If the referee cannot read the
 * unchanged trace, the mutant cannot be judged; at most one in UNJUDGED may be so.
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "input.h"
#include "judge.h"
#include "view/writer.h"

#define MEMORY_MAX   (1ull << 30)
#define CPU_SECONDS  2u  /* limit in processor time, which does not depend on other load */
#define WALL_SECONDS 60u /* limit for a process that sleeps for ever */
#define JOBS_MAX     64u
#define UNJUDGED     200u
#define REFEREE_BEYOND                                                                             \
	3 /* the referee's exit status for a valid trace that is too large for it                  \
	   */

/* programs with sanitizers need unlimited address space */
#if defined(__SANITIZE_ADDRESS__)
#define LIMIT_MEMORY 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LIMIT_MEMORY 0
#endif
#endif
#ifndef LIMIT_MEMORY
#define LIMIT_MEMORY 1
#endif

enum find { NO_FIND, FIND_SIGNAL, FIND_HANG, FIND_SILENT, FIND_MEMORY, FIND_FLAW, NR_FINDS };

static const char *const find_names[NR_FINDS] = {"-",      "signals", "hangs",
						 "silent", "memory",  "bad words"};

struct tally {
	uint64_t done, refused, damaged, same, sound, unjudged, finds[NR_FINDS];
	uint64_t max_rss_kib, max_cpu_us;
};

struct job {
	struct fuzz_verdict verdict; /* result for the mutant in progress */
	bool told;                   /* the process reached its end */
	struct tally tally;
};

struct campaign {
	uint64_t nr, seed, max_bytes;
	unsigned nr_jobs;
	const char *keep, *referee;
	struct fuzz_input *inputs;
	struct fuzz_verdict *whole; /* result for each unchanged trace */
	size_t nr_inputs;
	uint64_t *weights, weight; /* weight of each trace, and of all */
	struct job *jobs;          /* shared with the processes that read mutants */
	char scratch[PATH_MAX];
};

/* A mutant: the file and input that were changed, and the result. */
struct mutant {
	uint64_t number;
	size_t input, file;
	struct fuzz_bytes bytes;
};

/* --- mutants ------------------------------------------------------------------------- */

/* Chooses small traces more often: their content is read as thoroughly, and faster. */
static size_t choose_input(const struct campaign *c, struct fuzz_random *r)
{
	uint64_t at = fuzz_random_below(r, c->weight);
	size_t i = 0;

	while (at >= c->weights[i])
		at -= c->weights[i++];
	return i;
}

/*
 * Chooses descriptions more often than their share among many files, because all other data depends
 * on them.
 */
static size_t choose_file(const struct fuzz_input *in, struct fuzz_random *r)
{
	size_t which = fuzz_random_below(r, in->nr_files);

	if (fuzz_random_below(r, 3) == 0)
		for (size_t i = 0; i < in->nr_files; i++)
			if (in->files[i].is_text)
				which = i;
	return which;
}

static bool make_mutant(const struct campaign *c, uint64_t number, struct mutant *m)
{
	const struct fuzz_file *f;
	struct fuzz_random r;

	fuzz_random_init(&r, c->seed, number);
	m->number = number;
	m->input = choose_input(c, &r);
	m->file = choose_file(&c->inputs[m->input], &r);
	f = &c->inputs[m->input].files[m->file];
	m->bytes.room = fuzz_mutate_room(f->bytes);
	m->bytes.bytes = f->bytes;
	m->bytes.data = malloc(m->bytes.room);
	if (!m->bytes.data)
		return false;
	memcpy(m->bytes.data, f->data, f->bytes);
	fuzz_mutate(&m->bytes, f->is_text || fuzz_random_below(&r, 6) == 0, &r);
	return true;
}

/* --- one process for one trace ---------------------------------------------------------- */

static void limit(int what, uint64_t value)
{
	struct rlimit r = {value, value};

	(void)setrlimit(what, &r);
}

/* Runs in the child: reads the trace at `path` and exits. */
static void read_and_exit(struct job *j, const char *path, unsigned style)
{
	if (LIMIT_MEMORY)
		limit(RLIMIT_AS, MEMORY_MAX);
	limit(RLIMIT_CPU, CPU_SECONDS);
	limit(RLIMIT_CORE, 0);
	(void)alarm(WALL_SECONDS);
	fuzz_judge(path, style, &j->verdict);
	j->told = true;
	_exit(0);
}

static enum find judge_end(const struct campaign *c, const struct job *j, const struct mutant *m,
			   int status)
{
	const struct fuzz_verdict *v = &j->verdict, *whole = &c->whole[m->input];
	int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;

	if (signal == SIGXCPU || signal == SIGKILL || signal == SIGALRM)
		return FIND_HANG;
	if (signal || !j->told)
		return FIND_SIGNAL;
	if (v->flaw == FUZZ_NO_MEMORY)
		return FIND_MEMORY;
	if (v->flaw)
		return FIND_FLAW;
	/* A trace without any events is reported. */
	if (v->err || v->events >= whole->events || !v->events)
		return NO_FIND;
	/* A message that the unchanged trace also causes does not report the change. */
	return (v->nr_faults && v->faults != whole->faults) || v->nr_lost > whole->nr_lost
		   ? NO_FIND
		   : FIND_SILENT;
}

static void keep(const struct campaign *c, const struct mutant *m, char *path)
{
	path[0] = 0;
	if (!c->keep)
		return;
	(void)snprintf(path, PATH_MAX, "%s/%s-%llu", c->keep, basename(c->inputs[m->input].path),
		       (unsigned long long)m->number);
	if (c->inputs[m->input].is_folder)
		(void)mkdir(path, 0700);
	if (fuzz_input_write(&c->inputs[m->input], path, m->file, &m->bytes))
		(void)fprintf(stderr, "fuzz-mutants: cannot keep '%s'\n", path);
}

static void tell(const struct campaign *c, const struct job *j, const struct mutant *m,
		 enum find find, int status)
{
	const struct fuzz_input *in = &c->inputs[m->input];
	char path[PATH_MAX];

	keep(c, m, path);
	(void)printf("find: %s: mutant %llu of %s, %s: ", find_names[find],
		     (unsigned long long)m->number, in->path, in->files[m->file].name);
	if (find == FIND_SIGNAL || find == FIND_HANG)
		(void)printf("status 0x%x", status);
	else if (find == FIND_SILENT)
		(void)printf("%llu of %llu events", (unsigned long long)j->verdict.events,
			     (unsigned long long)c->whole[m->input].events);
	else
		(void)printf("%s: %s", fuzz_flaw_names[j->verdict.flaw], j->verdict.reason);
	(void)printf("%s%s\n", path[0] ? "; kept as " : "", path);
	(void)fflush(stdout);
}

static void count(const struct campaign *c, struct job *j, const struct mutant *m, enum find find,
		  const struct rusage *used)
{
	const struct fuzz_verdict *v = &j->verdict;
	struct tally *t = &j->tally;
	uint64_t cpu = (uint64_t)(used->ru_utime.tv_sec + used->ru_stime.tv_sec) * 1000000 +
		       (uint64_t)(used->ru_utime.tv_usec + used->ru_stime.tv_usec);

	t->done++;
	t->finds[find]++;
	t->refused += v->err != 0;
	t->damaged += !v->err && v->nr_faults + v->nr_lost > 0;
	t->same +=
	    !v->err && v->events == c->whole[m->input].events && v->hash == c->whole[m->input].hash;
	if ((uint64_t)used->ru_maxrss > t->max_rss_kib)
		t->max_rss_kib = (uint64_t)used->ru_maxrss;
	if (cpu > t->max_cpu_us)
		t->max_cpu_us = cpu;
}

/* Reads a trace that was written; returns the exit status of the process. */
static int run(struct job *j, const char *path, unsigned style, struct rusage *used)
{
	int status = 0;
	pid_t pid;

	j->told = false;
	memset(&j->verdict, 0, sizeof(j->verdict));
	pid = fork();
	if (pid == 0)
		read_and_exit(j, path, style);
	if (pid < 0 || wait4(pid, &status, 0, used) < 0) {
		perror("fuzz-mutants: fork");
		exit(2);
	}
	return status;
}

static void write_or_die(const struct fuzz_input *in, const char *path, size_t which,
			 const struct fuzz_bytes *changed)
{
	int err = in->is_folder && mkdir(path, 0700) ? -errno : 0;

	if (!err)
		err = fuzz_input_write(in, path, which, changed);
	if (!err)
		return;
	(void)fprintf(stderr, "fuzz-mutants: cannot write '%s': %s\n", path, strerror(-err));
	exit(2);
}

enum opinion { UNSOUND, SOUND, BEYOND };

/* Asks the referee. SOUND: it reports no error and as many events as waymark. */
static enum opinion ask(const struct campaign *c, uint64_t wanted, const char *path)
{
	unsigned long long events;
	char command[2 * PATH_MAX];
	int status;
	bool good;
	FILE *f;

	if (!c->referee)
		return UNSOUND;
	(void)snprintf(command, sizeof(command), "%s '%s'", c->referee, path);
	f = popen(command, "r");
	if (!f)
		return UNSOUND;
	good = fscanf(f, "%llu", &events) == 1;
	status = pclose(f);
	if (WIFEXITED(status) && WEXITSTATUS(status) == REFEREE_BEYOND)
		return BEYOND;
	return status == 0 && good && events == wanted ? SOUND : UNSOUND;
}

/*
 * Judges the mutant at `path`, which has fewer events; also asks the referee about the unchanged
 * trace.
 */
static enum find ask_referee(const struct campaign *c, struct job *j, const struct mutant *m,
			     const char *path)
{
	const struct fuzz_input *in = &c->inputs[m->input];
	char whole[2 * PATH_MAX];
	enum opinion opinion = ask(c, j->verdict.events, path);
	bool judged;

	if (opinion == SOUND) {
		j->tally.sound++;
		return NO_FIND;
	}
	(void)snprintf(whole, sizeof(whole), "%s-whole", path);
	write_or_die(in, whole, SIZE_MAX, NULL);
	judged = opinion != BEYOND && ask(c, c->whole[m->input].events, whole) == SOUND;
	fuzz_input_remove(in, whole);
	j->tally.unjudged += !judged;
	return judged ? FIND_SILENT : NO_FIND;
}

static void try_mutant(const struct campaign *c, struct job *j, uint64_t number, const char *path)
{
	struct rusage used;
	struct mutant m;
	enum find find;
	int status;

	if (!make_mutant(c, number, &m)) {
		perror("fuzz-mutants");
		exit(2);
	}
	write_or_die(&c->inputs[m.input], path, m.file, &m.bytes);
	status = run(j, path, (unsigned)(number % WM_VIEW_NR_FORMATS), &used);
	find = judge_end(c, j, &m, status);
	if (find == FIND_SILENT)
		find = ask_referee(c, j, &m, path);
	fuzz_input_remove(&c->inputs[m.input], path);
	count(c, j, &m, find, &used);
	if (find)
		tell(c, j, &m, find, status);
	free(m.bytes.data);
}

/* --- all of them ------------------------------------------------------------------------- */

/* Reads the unchanged traces. */
static void read_inputs(struct campaign *c)
{
	for (size_t i = 0; i < c->nr_inputs; i++) {
		struct rusage used;
		char path[PATH_MAX + 16];

		(void)snprintf(path, sizeof(path), "%s/whole", c->scratch);
		write_or_die(&c->inputs[i], path, SIZE_MAX, NULL);
		if (run(&c->jobs[0], path, 0, &used))
			(void)printf("'%s' cannot be read as it is\n", c->inputs[i].path);
		c->whole[i] = c->jobs[0].verdict;
		fuzz_input_remove(&c->inputs[i], path);
	}
}

static void work(const struct campaign *c, unsigned job)
{
	char path[PATH_MAX + 16];

	(void)snprintf(path, sizeof(path), "%s/%u", c->scratch, job);
	for (uint64_t n = job; n < c->nr; n += c->nr_jobs)
		try_mutant(c, &c->jobs[job], n, path);
}

static bool work_all(const struct campaign *c)
{
	bool good = true;
	int status;

	for (unsigned j = 0; j < c->nr_jobs; j++) {
		pid_t pid = fork();

		if (pid == 0) {
			work(c, j);
			_exit(0);
		}
		good &= pid > 0;
	}
	while (wait(&status) > 0)
		good &= status == 0;
	return good;
}

static uint64_t report(const struct campaign *c)
{
	struct tally sum = {0};
	uint64_t finds = 0;

	for (unsigned j = 0; j < c->nr_jobs; j++) {
		const struct tally *t = &c->jobs[j].tally;

		sum.done += t->done;
		sum.refused += t->refused;
		sum.damaged += t->damaged;
		sum.same += t->same;
		sum.sound += t->sound;
		sum.unjudged += t->unjudged;
		for (int f = 1; f < NR_FINDS; f++)
			sum.finds[f] += t->finds[f];
		sum.max_rss_kib =
		    t->max_rss_kib > sum.max_rss_kib ? t->max_rss_kib : sum.max_rss_kib;
		sum.max_cpu_us = t->max_cpu_us > sum.max_cpu_us ? t->max_cpu_us : sum.max_cpu_us;
	}
	(void)printf("%llu mutants of %zu traces: %llu refused, %llu read with words, %llu as "
		     "before, fewer events without a word: %llu sound, %llu not judged; at most "
		     "%llu MiB, %llu ms\n",
		     (unsigned long long)sum.done, c->nr_inputs, (unsigned long long)sum.refused,
		     (unsigned long long)sum.damaged, (unsigned long long)sum.same,
		     (unsigned long long)sum.sound, (unsigned long long)sum.unjudged,
		     (unsigned long long)sum.max_rss_kib / 1024,
		     (unsigned long long)sum.max_cpu_us / 1000);
	if (sum.unjudged > 1 + sum.done / UNJUDGED)
		sum.finds[FIND_SILENT] += sum.unjudged;
	(void)printf("finds:");
	for (int f = 1; f < NR_FINDS; f++) {
		(void)printf(" %llu %s%s", (unsigned long long)sum.finds[f], find_names[f],
			     f + 1 < NR_FINDS ? "," : "\n");
		finds += sum.finds[f];
	}
	return finds;
}

static void load_inputs(struct campaign *c, char **paths, size_t nr)
{
	c->inputs = calloc(nr, sizeof(*c->inputs));
	c->whole = calloc(nr, sizeof(*c->whole));
	c->weights = calloc(nr, sizeof(*c->weights));
	for (size_t i = 0; c->inputs && c->whole && c->weights && i < nr; i++) {
		struct fuzz_input *in = &c->inputs[c->nr_inputs];
		int err = fuzz_input_load(in, paths[i]);

		if (err) {
			(void)fprintf(stderr, "fuzz-mutants: '%s': %s\n", paths[i], strerror(-err));
			exit(2);
		}
		if (!in->nr_files || in->bytes > c->max_bytes) {
			fuzz_input_done(in);
			continue;
		}
		c->weights[c->nr_inputs] = (1u << 20) / (in->bytes / 16384 + 1) + 1;
		c->weight += c->weights[c->nr_inputs++];
	}
	if (!c->nr_inputs) {
		(void)fprintf(stderr, "fuzz-mutants: no trace to begin with\n");
		exit(2);
	}
}

static void usage(void)
{
	(void)fprintf(stderr, "usage: fuzz-mutants [-n MUTANTS] [-s SEED] [-j JOBS] [-k FOLDER] "
			      "[-m MAX_BYTES] [-r REFEREE] TRACE...\n");
	exit(2);
}

static void options(struct campaign *c, int argc, char **argv)
{
	int option;

	while ((option = getopt(argc, argv, "n:s:j:k:m:r:")) != -1) {
		switch (option) {
		case 'n':
			c->nr = strtoull(optarg, NULL, 10);
			break;
		case 's':
			c->seed = strtoull(optarg, NULL, 10);
			break;
		case 'j':
			c->nr_jobs = (unsigned)strtoul(optarg, NULL, 10);
			break;
		case 'k':
			c->keep = optarg;
			break;
		case 'm':
			c->max_bytes = strtoull(optarg, NULL, 10);
			break;
		case 'r':
			c->referee = optarg;
			break;
		default:
			usage();
		}
	}
	if (optind == argc || !c->nr_jobs || c->nr_jobs > JOBS_MAX)
		usage();
}

int main(int argc, char **argv)
{
	struct campaign c = {.nr = 2000, .seed = 1, .nr_jobs = 1, .max_bytes = UINT64_MAX};
	const char *tmp = getenv("TMPDIR");
	uint64_t finds;
	bool good;

	options(&c, argc, argv);
	load_inputs(&c, argv + optind, (size_t)(argc - optind));
	c.jobs = mmap(NULL, c.nr_jobs * sizeof(*c.jobs), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	(void)snprintf(c.scratch, sizeof(c.scratch), "%s/waymark-fuzz-XXXXXX", tmp ? tmp : "/tmp");
	if (c.jobs == MAP_FAILED || !mkdtemp(c.scratch)) {
		perror("fuzz-mutants");
		return 2;
	}
	(void)setvbuf(stdout, NULL, _IOLBF, 0);
	read_inputs(&c);
	good = work_all(&c);
	finds = report(&c);
	(void)rmdir(c.scratch);
	return !good ? 2 : finds ? 1 : 0;
}
