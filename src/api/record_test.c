/* SPDX-License-Identifier: MIT */
/*
 * record_test.c - <waymark/record.h> through its public interface: linked with
 * libwaymark.so, in a program with many threads and its own signal handlers;
 * commands run without the runtime, which cannot be loaded into them in a
 * sanitized build. test/record_api.bats compares the recorded events with those
 * of `waymark record`.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <waymark/waymark.h>

#define NR(array) (sizeof(array) / sizeof((array)[0]))

static char folder[64];
static const char *const nothing[] = {"true", NULL};
static const char *const sleeping[] = {"sleep", "60", NULL};

static int set_up(void **state)
{
	(void)snprintf(folder, sizeof(folder), "/tmp/record_test-XXXXXX");
	return mkdtemp(folder) && rmdir(folder) == 0 ? 0 : -1;
}

static int tear_down(void **state)
{
	char command[96];

	(void)snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	return system(command);
}

static struct waymark_recording *make(const struct waymark_record_options *o)
{
	struct waymark_recording *r = NULL;
	struct waymark_error error = WAYMARK_INIT(error);

	if (waymark_record(o, &r, &error))
		fail_msg("%s", error.text);
	return r;
}

static void start(struct waymark_recording *r)
{
	struct waymark_error error = WAYMARK_INIT(error);

	if (waymark_record_start(r, &error))
		fail_msg("%s", error.text);
}

/* --- refusals ------------------------------------------------------------------------------ */

static void refused(const struct waymark_record_options *o, int code)
{
	struct waymark_recording *r = NULL;
	struct waymark_error error = WAYMARK_INIT(error);

	assert_int_equal(waymark_record(o, &r, &error), -code);
	assert_null(r);
	assert_int_equal(error.code, code);
	assert_true(strlen(error.text) > 10);
}

static void test_options_that_cannot_be(void **state)
{
	static const char *const empty[] = {NULL};
	const int32_t self = getpid();
	struct waymark_record_options o = {.size = sizeof(o), .folder = folder};

	refused(&o, EINVAL); /* there is no target */
	o = (struct waymark_record_options){.size = sizeof(o), .command = empty};
	refused(&o, EINVAL);
	o = (struct waymark_record_options){.size = sizeof(o), .nr_pids = 1};
	refused(&o, EINVAL);
	o = (struct waymark_record_options){
	    .size = sizeof(o), .pids = &self, .nr_pids = 1, .everything = 1};
	refused(&o, EINVAL);
	o = (struct waymark_record_options){
	    .size = sizeof(o), .command = nothing, .buffer_bytes = 1};
	refused(&o, EINVAL);
	o = (struct waymark_record_options){.size = sizeof(o), .command = nothing, .ctf = 3};
	refused(&o, EINVAL);
	o = (struct waymark_record_options){
	    .size = sizeof(o), .everything = 1, .preload = "malloc"};
	refused(&o, EINVAL);
	waymark_record_close(NULL);
}

static void test_names_that_are_wrong(void **state)
{
	const struct waymark_record_options o = {
	    .size = sizeof(o), .folder = folder, .command = nothing};
	const struct waymark_record_how filter = {.size = sizeof(filter), .filter = "n > > 3"};
	const struct waymark_record_how both = {.size = sizeof(both), .frequency = 1, .period = 1};
	struct waymark_recording *r = make(&o);
	struct waymark_error error = WAYMARK_INIT(error);

	assert_int_equal(waymark_record_event(r, "syscall:opnat", NULL, &error), -ENOENT);
	assert_non_null(strstr(error.text, "did you mean"));
	assert_int_equal(waymark_record_event(r, "app:*", &filter, &error), -EINVAL);
	assert_int_equal(error.column, 5);
	assert_int_equal(waymark_record_event(r, "app:*", &both, &error), -EINVAL);
	assert_int_equal(waymark_record_exclude(r, "", &error), -EINVAL);
	assert_int_equal(waymark_record_wait(r, 0, &error), -EINVAL);
	assert_int_equal(waymark_record_stop(r, &error), -EINVAL);
	assert_int_equal(waymark_record_snapshot(r, NULL), -EINVAL);
	waymark_record_close(r);
	assert_int_equal(access(folder, F_OK), -1); /* no folder was created */
}

static void test_a_command_that_is_not_there(void **state)
{
	static const char *const command[] = {"/nowhere/at/all", NULL};
	const struct waymark_record_options o = {
	    .size = sizeof(o), .folder = folder, .command = command};
	struct waymark_recording *r = make(&o);
	struct waymark_error error = WAYMARK_INIT(error);

	assert_int_equal(waymark_record_start(r, &error), -ENOENT);
	assert_non_null(strstr(error.text, "/nowhere/at/all"));
	assert_int_equal(waymark_record_start(r, &error), -EBUSY);
	waymark_record_close(r);
	assert_int_equal(access(folder, F_OK), -1);
}

/* --- recordings ------------------------------------------------------------------------------ */

static void test_status_of_the_command(void **state)
{
	static const char *const three[] = {"sh", "-c", "exit 3", NULL};
	const struct waymark_record_options o = {
	    .size = sizeof(o), .folder = folder, .command = three, .preload = "none"};
	struct waymark_recording *r = make(&o);
	struct waymark_totals totals = WAYMARK_INIT(totals);
	struct waymark_error error = WAYMARK_INIT(error);
	struct waymark_trace *t;

	start(r);
	assert_int_equal(waymark_record_event(r, "any:*", NULL, &error) == 0 || error.code == ESRCH,
			 1);
	assert_int_equal(waymark_record_trigger(r, "a:b:c", &error), -EBUSY);
	assert_int_equal(waymark_record_wait(r, -1, &error), 1);
	waymark_record_totals(r, &totals);
	assert_true(WIFEXITED(totals.status) && WEXITSTATUS(totals.status) == 3);
	assert_true(totals.is_over);
	assert_int_equal(totals.lost, 0);
	assert_int_equal(waymark_record_stop(r, &error), 0);
	waymark_record_close(r);
	assert_int_equal(waymark_open(folder, &t, &error), 0);
	waymark_close(t);
}

static void test_waiting_and_stopping(void **state)
{
	const struct waymark_record_options o = {
	    .size = sizeof(o), .folder = folder, .command = sleeping, .preload = "none"};
	struct waymark_recording *r = make(&o);
	struct waymark_totals totals = WAYMARK_INIT(totals);
	struct waymark_error error = WAYMARK_INIT(error);
	int status;

	start(r);
	assert_int_equal(waymark_record_wait(r, 20, &error), 0);
	waymark_record_totals(r, &totals);
	assert_false(totals.is_over);
	assert_int_equal(waymark_record_stop(r, &error), 0);
	waymark_record_totals(r, &totals);
	assert_true(totals.is_over);
	assert_int_equal(totals.status, -1); /* the command is still running */
	waymark_record_close(r);
	assert_int_equal(kill(totals.command, SIGTERM), 0);
	assert_int_equal(waitpid(totals.command, &status, 0), totals.command);
}

static void test_live_of_nothing(void **state)
{
	const struct waymark_record_options o = {
	    .size = sizeof(o), .command = sleeping, .preload = "none"};
	const struct waymark_event *event;
	struct waymark_recording *r = make(&o);
	struct waymark_totals totals = WAYMARK_INIT(totals);
	struct waymark_error error = WAYMARK_INIT(error);

	assert_int_equal(waymark_record_next(r, 0, &event, &error), -EINVAL);
	start(r);
	assert_int_equal(waymark_record_next(r, 0, &event, &error), -EAGAIN);
	assert_int_equal(waymark_record_next(r, 120, &event, &error), -EAGAIN);
	waymark_record_totals(r, &totals);
	assert_int_equal(kill(totals.command, SIGTERM), 0);
	assert_int_equal(waymark_record_next(r, -1, &event, &error), 0);
	assert_int_equal(waymark_record_next(r, -1, &event, &error), 0);
	waymark_record_close(r);
}

/* --- the kernel's tracing ----------------------------------------------------------------------
 */

/* Adds ftrace:print; where this kernel or user cannot record it, prints why and returns false. */
static int has_marks(struct waymark_recording *r)
{
	struct waymark_error error = WAYMARK_INIT(error);

	if (waymark_record_event(r, "ftrace:print", NULL, &error) == 0)
		return 1;
	print_message("no marks here: %s\n", error.text);
	waymark_record_close(r);
	return 0;
}

/* Returns the number of texts "mark N" in the trace, which are in order, with ascending times. */
static int marks_in(const char *path)
{
	struct waymark_error error = WAYMARK_INIT(error);
	struct waymark_options o = WAYMARK_INIT(o);
	const struct waymark_event *event;
	struct waymark_reader *reader;
	struct waymark_trace *t;
	int64_t last_ns = INT64_MIN;
	char text[32];
	int nr = 0;

	assert_int_equal(waymark_open(path, &t, &error), 0);
	assert_int_equal(waymark_read(t, &o, &reader, &error), 0);
	while (waymark_next(reader, &event) == 1) {
		const struct waymark_value *buf = waymark_get(event, "buf");

		(void)snprintf(text, sizeof(text), "mark %d", nr);
		if (!buf || strncmp(buf->text, text, strlen(text)) != 0)
			continue; /* another program's */
		assert_true(event->time_ns >= last_ns);
		last_ns = event->time_ns;
		nr++;
	}
	waymark_reader_close(reader);
	waymark_close(t);
	return nr;
}

static void test_marks_of_the_caller(void **state)
{
	const struct waymark_record_options o = {
	    .size = sizeof(o), .folder = folder, .command = sleeping, .preload = "none"};
	struct waymark_recording *r = make(&o);
	struct waymark_totals totals = WAYMARK_INIT(totals);
	struct waymark_error error = WAYMARK_INIT(error);
	char text[32], *much;

	assert_int_equal(waymark_record_mark(r, "early", &error), -EINVAL);
	if (!has_marks(r))
		skip();
	assert_int_equal(waymark_record_clock(r, (enum waymark_clock)7, &error), -EINVAL);
	assert_int_equal(waymark_record_clock(r, WAYMARK_CLOCK_MONOTONIC, &error), 0);
	start(r);
	assert_int_equal(waymark_record_clock(r, WAYMARK_CLOCK_USUAL, &error), -EBUSY);
	assert_int_equal(waymark_record_mark(r, "", &error), -EINVAL);
	for (int i = 0; i < 100; i++) {
		(void)snprintf(text, sizeof(text), "mark %d", i);
		if (waymark_record_mark(r, text, &error))
			fail_msg("%s", error.text);
	}
	much = malloc(1 << 16);
	assert_non_null(much);
	memset(much, 'x', 1 << 16);
	much[(1 << 16) - 1] = '\0';
	assert_int_equal(waymark_record_mark(r, much, &error), -E2BIG);
	free(much);
	waymark_record_totals(r, &totals);
	assert_int_equal(kill(totals.command, SIGTERM), 0);
	assert_int_equal(waymark_record_stop(r, &error), 0);
	assert_int_equal(waymark_record_mark(r, "late", &error), -ESRCH);
	waymark_record_close(r);
	assert_int_equal(marks_in(folder), 100);
}

/* Without the event ftrace:print, marks would be lost: they are refused. */
static void test_marks_that_are_not_recorded(void **state)
{
	const struct waymark_record_options o = {
	    .size = sizeof(o), .command = sleeping, .preload = "none"};
	struct waymark_recording *r = make(&o);
	struct waymark_totals totals = WAYMARK_INIT(totals);
	struct waymark_error error = WAYMARK_INIT(error);

	start(r);
	assert_int_equal(waymark_record_mark(r, "nowhere", &error), -EINVAL);
	assert_non_null(strstr(error.text, "ftrace:print"));
	waymark_record_totals(r, &totals);
	assert_int_equal(kill(totals.command, SIGTERM), 0);
	waymark_record_close(r);
}

/* --- effects on the host program ---------------------------------------------------------- */

static volatile int stop, pipes;

static void on_pipe(int signo)
{
	(void)signo;
	pipes++;
}

/*
 * Allocates and frees memory in a loop, so that fork() often happens while the allocator's lock is
 * held.
 */
static void *allocate(void *data)
{
	while (!stop) {
		free(malloc(100));
		free(malloc(200000));
	}
	return data;
}

/*
 * Uses the C library's clock and streams in a loop, so that fork() often happens while their locks
 * are held.
 */
static void *tell_the_time(void *data)
{
	time_t now = time(NULL);
	struct tm tm;

	while (!stop)
		if (!localtime_r(&now, &tm))
			return data;
	return NULL;
}

static void *use_streams(void *data)
{
	while (!stop) {
		FILE *f = fopen("/dev/null", "w");

		if (!f || fprintf(f, "%d\n", stop) < 0 || fclose(f))
			return data;
	}
	return NULL;
}

static int same_mask(const sigset_t *a, const sigset_t *b)
{
	for (int signo = 1; signo < SIGRTMAX; signo++)
		if (sigismember(a, signo) != sigismember(b, signo))
			return 0;
	return 1;
}

static void *record_some(void *data)
{
	sigset_t before, after;

	(void)pthread_sigmask(SIG_SETMASK, NULL, &before);
	for (int i = 0; i < 3; i++) {
		const struct waymark_record_options o = {
		    .size = sizeof(o), .command = nothing, .preload = "none"};
		const struct waymark_event *event;
		struct waymark_recording *r = NULL;
		struct waymark_error error = WAYMARK_INIT(error);

		if (waymark_record(&o, &r, &error) || waymark_record_start(r, &error) ||
		    waymark_record_next(r, -1, &event, &error) != 0)
			return data;
		waymark_record_close(r);
	}
	(void)pthread_sigmask(SIG_SETMASK, NULL, &after);
	return same_mask(&before, &after) ? NULL : data;
}

static void test_a_host_of_many_threads(void **state)
{
	struct sigaction action = {.sa_handler = on_pipe}, now;
	static void *(*const others[])(void *) = {allocate, allocate, tell_the_time, use_streams};
	pthread_t busy[NR(others)], recorders[3];
	static char bad;
	void *failed;

#ifdef __SANITIZE_ADDRESS__
	/* the sanitizer's allocator does not work after fork(2) in programs with many threads */
	skip();
#endif
	assert_int_equal(sigaction(SIGPIPE, &action, NULL), 0);
	for (size_t i = 0; i < NR(others); i++)
		assert_int_equal(pthread_create(&busy[i], NULL, others[i], NULL), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&recorders[i], NULL, record_some, &bad), 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(pthread_join(recorders[i], &failed), 0);
		assert_null(failed);
	}
	stop = 1;
	for (size_t i = 0; i < NR(others); i++)
		assert_int_equal(pthread_join(busy[i], NULL), 0);
	assert_int_equal(sigaction(SIGPIPE, NULL, &now), 0);
	assert_true(now.sa_handler == on_pipe);
	assert_int_equal(sigaction(SIGCHLD, NULL, &now), 0);
	assert_true(now.sa_handler == SIG_DFL);
	assert_int_equal(pipes, 0);
	assert_null(getenv("WAYMARK_SESSION"));
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
}

/* --- counting ----------------------------------------------------------------------------- */

static void test_counting_ourselves(void **state)
{
	static const char *const names[] = {"sw:task-clock", "sw:page-faults"};
	const struct waymark_count_options o = {.size = sizeof(o), .events = names, .nr_events = 2};
	struct waymark_counters *c = NULL;
	struct waymark_counter first = WAYMARK_INIT(first), later = first;
	struct waymark_error error = WAYMARK_INIT(error);
	volatile char *memory;
	int status;

	if (waymark_count(&o, &c, &error))
		fail_msg("%s", error.text);
	assert_int_equal(waymark_count_read(c), 0);
	assert_int_equal(waymark_counter(c, 1, &first), 0);
	assert_string_equal(first.name, "sw:page-faults");
	if (first.err)
		skip(); /* counting is not permitted here */
	memory = calloc(1, 4 << 20);
	for (int i = 0; memory && i < 4 << 20; i += 4096)
		memory[i] = 1;
	assert_int_equal(waymark_count_read(c), 0);
	assert_int_equal(waymark_counter(c, 1, &later), 0);
	assert_true(later.value >= first.value + 1024);
	assert_int_equal(later.value, later.counted);
	assert_int_equal(waymark_counter(c, 2, &later), -ERANGE);
	assert_int_equal(waymark_count_wait(c, 0, &status), -ECHILD);
	free((void *)memory);
	waymark_count_close(c);
}

static void *idle(void *data)
{
	(void)pthread_barrier_wait(data);
	(void)pthread_barrier_wait(data);
	return NULL;
}

/* Each thread's activity is counted in its own counter only. */
static void test_counting_threads(void **state)
{
	static const char *const names[] = {"sw:page-faults"};
	const struct waymark_count_options o = {
	    .size = sizeof(o), .events = names, .nr_events = 1, .alone = 1};
	struct waymark_counters *c = NULL;
	struct waymark_counter here = WAYMARK_INIT(here), there = here, one = here, all = here;
	struct waymark_error error = WAYMARK_INIT(error);
	pthread_barrier_t barrier;
	pthread_t thread;
	volatile char *memory;
	uint32_t nr = 0;
	int32_t tid;

	assert_int_equal(pthread_barrier_init(&barrier, NULL, 2), 0);
	assert_int_equal(pthread_create(&thread, NULL, idle, &barrier), 0);
	(void)pthread_barrier_wait(&barrier);
	if (waymark_count(&o, &c, &error))
		fail_msg("%s", error.text);
	memory = mmap(NULL, 4 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(memory != MAP_FAILED);
	(void)madvise((void *)memory, 4 << 20, MADV_NOHUGEPAGE);
	for (int i = 0; i < 4 << 20; i += 4096)
		memory[i] = 1;
	assert_int_equal(waymark_count_read(c), 0);
	for (; waymark_counter_thread(c, 0, nr, &tid, &one) == 0; nr++) {
		if (tid == getpid())
			here = one;
		else
			there = one;
	}
	assert_int_equal(waymark_counter(c, 0, &all), 0);
	(void)pthread_barrier_wait(&barrier);
	(void)pthread_join(thread, NULL);
	(void)munmap((void *)memory, 4 << 20);
	assert_int_equal(nr, 2);
	assert_int_equal(waymark_counter_thread(c, 1, 0, &tid, &one), -ERANGE);
	if (!all.err) {
		assert_true(here.value >= 1024);
		assert_true(there.value < 100);
		assert_int_equal(all.value, here.value + there.value);
	}
	waymark_count_close(c);
}

static void test_counts_that_cannot_be(void **state)
{
	static const char *const unknown[] = {"sw:nothing"}, *const names[] = {"sw:page-faults"};
	static const char *const filters[] = {"a == 1"};
	const int32_t nobody = INT32_MAX;
	struct waymark_count_options o = {.size = sizeof(o), .events = unknown, .nr_events = 1};
	struct waymark_counters *c = NULL;
	struct waymark_error error = WAYMARK_INIT(error);

	assert_int_equal(waymark_count(&o, &c, &error), -ENOENT);
	o = (struct waymark_count_options)WAYMARK_INIT(o);
	assert_int_equal(waymark_count(&o, &c, &error), -EINVAL);
	o = (struct waymark_count_options){.size = sizeof(o),
					   .events = names,
					   .nr_events = 1,
					   .pids = &nobody,
					   .nr_pids = 1,
					   .tids = &nobody,
					   .nr_tids = 1};
	assert_int_equal(waymark_count(&o, &c, &error), -EINVAL);
	assert_string_equal(error.text, "processes, threads and 'everything' cannot be combined");
	o = (struct waymark_count_options){
	    .size = sizeof(o), .events = names, .nr_events = 1, .filters = filters};
	assert_int_equal(waymark_count(&o, &c, &error), -ENOENT);
	assert_non_null(strstr(error.text, "cannot be filtered"));
	o = (struct waymark_count_options){
	    .size = sizeof(o), .events = names, .nr_events = 1, .pids = &nobody, .nr_pids = 1};
	assert_int_equal(waymark_count(&o, &c, &error), -ESRCH);
	assert_null(c);
	waymark_count_close(NULL);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
	    TEST(test_options_that_cannot_be),
	    TEST(test_names_that_are_wrong),
	    TEST(test_a_command_that_is_not_there),
	    TEST(test_status_of_the_command),
	    TEST(test_waiting_and_stopping),
	    TEST(test_live_of_nothing),
	    TEST(test_marks_of_the_caller),
	    TEST(test_marks_that_are_not_recorded),
	    TEST(test_a_host_of_many_threads),
	    TEST(test_counting_ourselves),
	    TEST(test_counting_threads),
	    TEST(test_counts_that_cannot_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
