/* SPDX-License-Identifier: MIT */
/*
 * trace_writer_disk_test.c - a full disk, a file that may not grow: the trace stays valid at every
 * step, every record is either in it or counted, and writing continues when there is room again. A
 * killed writer leaves at most one partial tail and one missing index entry.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "write/writer_int.h"
#include "write/writer_test_kit.h"

#define STRING_BYTES 3000

struct counts {
	uint64_t written, refused;
};

/* Sends one packet of 8 records of 3 kB. */
static int send_big(struct wm_producer *p, uint64_t *clock, struct counts *c)
{
	static char big[STRING_BYTES];
	struct kit_packet k = {0};
	uint32_t i;
	int err;

	memset(big, 'x', sizeof(big) - 1);
	for (i = 0; i < 8; i++) {
		kit_record(&k, 1, *clock += 10);
		kit_string(&k, big);
	}
	err = kit_send(p, &k, 1, 0);
	*(err ? &c->refused : &c->written) += 8;
	return err;
}

/*
 * Returns the number of user events that babeltrace2 now reads from the trace; UINT64_MAX when it
 * is not installed.
 */
static uint64_t events_now(char **ret_errors)
{
	char *out, *at;
	uint64_t n = 0;

	if (!kit_has_babeltrace())
		return UINT64_MAX;
	out = kit_babeltrace("", ret_errors);
	for (at = out; (at = strstr(at, "app:big")); at++)
		n++;
	free(out);
	return n;
}

/* Writes until the disk is full, while it is full, and after make_room() has freed space. */
static void full_and_free(struct wm_trace_writer *w, struct wm_producer *p, int want_error,
			  void (*make_room)(void))
{
	struct wm_trace_totals totals;
	struct counts c = {0};
	uint64_t clock = 2000, seen;
	char *errors = NULL, *out, want[128];
	uint32_t i;

	while (!send_big(p, &clock, &c))
		assert_true(c.written < 100000);
	assert_true(c.written > 0);
	for (i = 0; i < 3; i++)
		assert_int_equal(send_big(p, &clock, &c), want_error);
	wm_writer_totals(w, &totals);
	assert_int_equal(totals.events, c.written);
	assert_int_equal(totals.lost_disk, c.refused);
	seen = events_now(&errors);
	if (seen != UINT64_MAX) {
		assert_int_equal(seen, c.written);
		assert_string_equal(errors, "");
		free(errors);
	}

	make_room();
	assert_int_equal(send_big(p, &clock, &c), 0);
	assert_int_equal(send_big(p, &clock, &c), 0);
	wm_producer_remove(p, clock + 10);
	assert_int_equal(wm_writer_close(w), 0);
	seen = events_now(&errors);
	if (seen == UINT64_MAX)
		return;
	assert_int_equal(seen, c.written);
	/* The reader's loss count equals the test's. */
	snprintf(want, sizeof(want), "WARNING: Tracer discarded %llu events between ",
		 (unsigned long long)c.refused);
	assert_memory_equal(errors, want, strlen(want));
	assert_int_equal(kit_lines(errors), 1);
	free(errors);
	out = kit_babeltrace("", &errors);
	snprintf(want, sizeof(want),
		 "cause = ( \"disk\" : container = 6 ), count = %llu, cpu = -1 }",
		 (unsigned long long)c.refused);
	assert_non_null(strstr(out, want));
	free(out);
	free(errors);
}

static void no_limit(void)
{
	struct rlimit l = {RLIM_INFINITY, RLIM_INFINITY};

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &l), 0);
	l.rlim_cur = l.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &l), 0);
}

static void test_file_limit(void **state)
{
	struct wm_trace_writer *w = kit_create(WM_TRACE_CTF1);
	struct wm_producer *p = kit_producer(w, 9);
	struct rlimit l;

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(kit_event(p, 1, 0, "big", "s:s"), 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &l), 0);
	l.rlim_cur = 200000; /* in the middle of a packet */
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &l), 0);
	full_and_free(w, p, -EFBIG, no_limit);
}

static char ballast[128];

static void drop_ballast(void)
{
	assert_int_equal(unlink(ballast), 0);
}

/* Runs in its own namespace, so that the mount cannot outlive the test. */
static void full_tmpfs(uint32_t *ret_skipped)
{
	struct wm_trace_writer *w;
	struct wm_producer *p;
	char zeros[4096] = {0};
	int fd, i;

	*ret_skipped = 1;
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return;
	assert_int_equal(mkdir(kit_dir, 0700), 0);
	if (mount("none", kit_dir, "tmpfs", 0, "size=600k"))
		return;
	*ret_skipped = 0;
	/* The file that fills the disk is next to the trace's folder. */
	snprintf(ballast, sizeof(ballast), "%s/ballast", kit_dir);
	fd = open(ballast, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	for (i = 0; i < 50; i++)
		assert_int_equal(write(fd, zeros, sizeof(zeros)), sizeof(zeros));
	close(fd);
	strcat(kit_dir, "/t");
	w = kit_create(WM_TRACE_CTF1);
	p = kit_producer(w, 9);
	assert_int_equal(kit_event(p, 1, 0, "big", "s:s"), 0);
	full_and_free(w, p, -ENOSPC, drop_ballast);
}

/* In a child process: a failed assertion becomes its exit status. */
static void test_full_disk(void **state)
{
	uint32_t skipped;
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		full_tmpfs(&skipped);
		_exit(skipped ? 77 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
		fprintf(stderr, "SKIPPED: no permission to mount a small tmpfs\n");
		skip();
	}
	assert_int_equal(status, 0);
}

/* When the disk has no room for the metadata, packets that need it are refused. */
static void test_no_room_for_metadata(void **state)
{
	struct wm_trace_writer *w = kit_create(WM_TRACE_CTF1);
	struct wm_producer *p = kit_producer(w, 9);
	struct wm_trace_totals totals;
	char *out, *errors, *before, *after;
	struct rlimit l;

	signal(SIGXFSZ, SIG_IGN);
	before = kit_slurp(kit_dir, "metadata", NULL);
	assert_int_equal(kit_event(p, 1, 0, "small", ""), 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &l), 0);
	l.rlim_cur = strlen(before) + 10;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &l), 0);
	assert_int_equal(kit_send_plain(p, 1, 1, 2000, 2001), -EFBIG);
	assert_false(kit_exists("user-1-0"));
	after = kit_slurp(kit_dir, "metadata", NULL);
	assert_string_equal(before, after);
	free(before);
	free(after);
	no_limit();
	assert_int_equal(kit_send_plain(p, 1, 1, 2002, 2002), 0);
	wm_writer_totals(w, &totals);
	assert_int_equal(totals.lost_disk, 2);
	assert_int_equal(totals.events, 1);
	assert_int_equal(wm_writer_close(w), 0);
	if (!kit_has_babeltrace())
		skip();
	out = kit_babeltrace("", &errors);
	assert_non_null(strstr(out, "app:small"));
	assert_memory_equal(errors, "WARNING: Tracer discarded 2 events", 34);
	free(out);
	free(errors);
}

/* The very first packet of a lane fails: the empty files are harmless. */
static void test_first_packet(void **state)
{
	struct wm_trace_writer *w = kit_create(WM_TRACE_CTF1);
	struct wm_producer *p = kit_producer(w, 9);
	struct counts c = {0};
	uint64_t clock = 2000;
	struct rlimit l;
	char *data;
	size_t bytes;

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(kit_event(p, 1, 0, "big", "s:s"), 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &l), 0);
	l.rlim_cur = 15000;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &l), 0);
	assert_int_equal(send_big(p, &clock, &c), -EFBIG);
	no_limit();
	data = kit_slurp(kit_dir, "user-1-0", &bytes);
	free(data);
	assert_int_equal(bytes, 0);
	assert_int_equal(wm_writer_close(w), 0);
	if (!kit_has_babeltrace())
		skip();
	data = kit_babeltrace("", NULL);
	assert_non_null(
	    strstr(data, "cause = ( \"disk\" : container = 6 ), count = 8, cpu = -1 }"));
	free(data);
}

/* Mixed records that could not be written are counted for several processes. */
static void test_mixed_on_a_full_disk(void **state)
{
	struct wm_trace_writer *w = kit_create(WM_TRACE_CTF1);
	struct wm_producer *p = kit_producer(w, 9);
	struct wm_trace_totals totals;
	struct counts c = {0};
	uint64_t clock = 2000;
	struct rlimit l;
	char *out, *errors;

	signal(SIGXFSZ, SIG_IGN);
	w->limits.lanes = 0;
	w->limits.mixed_bytes = 1;
	assert_int_equal(kit_event(p, 1, 0, "big", "s:s"), 0);
	assert_int_equal(send_big(p, &clock, &c), 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &l), 0);
	l.rlim_cur = 20000;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &l), 0);
	assert_int_equal(send_big(p, &clock, &c), 0);
	assert_int_equal(send_big(p, &clock, &c), 0);
	no_limit();
	assert_int_equal(send_big(p, &clock, &c), 0);
	assert_int_equal(wm_mixed_flush(w), 0);
	wm_writer_totals(w, &totals);
	assert_true(totals.lost_disk > 0);
	assert_int_equal(totals.events + totals.lost_disk, c.written);
	wm_producer_remove(p, clock);
	assert_int_equal(wm_writer_close(w), 0);
	if (!kit_has_babeltrace())
		skip();
	assert_int_equal(events_now(&errors), totals.events);
	free(errors);
	out = kit_babeltrace("", &errors);
	assert_non_null(strstr(out, "waymark:lost: { event_count = "));
	assert_non_null(strstr(out, "{ pid = 0, begin = "));
	free(out);
	free(errors);
}

/* --- killed ----------------------------------------------------------------- */

/* Writes to several lanes of several classes, without a pause, until the process is killed. */
static void write_forever(int ready)
{
	struct wm_trace_writer *w = kit_create(WM_TRACE_CTF1);
	struct wm_producer *p[3];
	uint64_t clock = 2000;
	struct kit_packet k = {0};
	uint32_t i, turn;
	char name[16];

	w->folder.max_open = 2;
	for (i = 0; i < 3; i++)
		p[i] = kit_producer(w, i + 1);
	for (turn = 0;; turn++) {
		i = turn % 3;
		snprintf(name, sizeof(name), "e%u_%u", i, turn / 3 % 64);
		if (turn < 3 * 64) /* the metadata changes, too */
			(void)kit_event(p[i], turn / 3, 0, name, "a:s");
		kit_record(&k, 0, clock += 10);
		kit_string(&k, "0123456789012345678901234567890123456789" + turn % 40);
		k.end += turn % 7 * 20; /* overlaps the next ones */
		if (kit_send(p[i], &k, 1, 0) || (turn == 1 && write(ready, "r", 1) != 1))
			_exit(1);
	}
}

struct leftover {
	uint32_t tails, missing_entries, packets;
};

static void check_killed_lane(const char *name, struct leftover *l)
{
	const struct wm_packet_frame *f;
	size_t bytes, index_bytes = 0, at = 0;
	char *data = kit_slurp(kit_dir, name, &bytes), index[64], *entries;
	uint64_t end = 0, n = 0;

	while (bytes - at >= WM_FRAME_BYTES_PLAIN) {
		f = (const void *)(data + at);
		assert_int_equal(f->magic, WM_PACKET_MAGIC);
		assert_int_equal(f->packet_seq_num, n);
		if (f->packet_size / 8 > bytes - at)
			break;
		assert_true(f->timestamp_begin >= end);
		end = f->timestamp_end;
		at += f->packet_size / 8;
		n++;
	}
	l->tails += at != bytes;
	l->packets += (uint32_t)n;
	snprintf(index, sizeof(index), "index/%s.idx", name);
	if (kit_exists(index)) {
		entries = kit_slurp(kit_dir, index, &index_bytes);
		free(entries);
	}
	index_bytes = index_bytes < 16 ? 0 : (index_bytes - 16) / 72;
	assert_true(index_bytes == n || index_bytes + 1 == n);
	l->missing_entries += index_bytes != n;
	free(data);
}

static void test_killed(void **state)
{
	uint32_t round, packets = 0;

	for (round = 0; round < 25; round++) {
		struct leftover l = {0};
		const struct dirent *e;
		char *metadata, byte;
		int ready[2];
		pid_t pid;
		DIR *d;

		assert_int_equal(pipe(ready), 0);
		pid = fork();
		assert_true(pid >= 0);
		if (!pid)
			write_forever(ready[1]);
		assert_int_equal(read(ready[0], &byte, 1), 1);
		usleep(round * 397 % 5000);
		assert_int_equal(kill(pid, SIGKILL), 0);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
		close(ready[0]);
		close(ready[1]);

		metadata = kit_slurp(kit_dir, "metadata", NULL);
		assert_string_equal(metadata + strlen(metadata) - 4, "};\n\n");
		free(metadata);
		d = opendir(kit_dir);
		assert_non_null(d);
		while ((e = readdir(d)))
			if (!strncmp(e->d_name, "user-", 5) || !strncmp(e->d_name, "waym", 4))
				check_killed_lane(e->d_name, &l);
		closedir(d);
		assert_true(l.packets >= 2 && l.tails <= 1 && l.missing_entries <= 1);
		assert_true(l.tails + l.missing_entries <= 1);
		packets += l.packets;
		assert_int_equal(nftw(kit_dir, kit_remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
	}
	assert_true(packets > 25 * 2);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, kit_setup, kit_teardown)
	const struct CMUnitTest tests[] = {
	    TEST(test_file_limit),           TEST(test_full_disk),
	    TEST(test_no_room_for_metadata), TEST(test_first_packet),
	    TEST(test_mixed_on_a_full_disk), TEST(test_killed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
