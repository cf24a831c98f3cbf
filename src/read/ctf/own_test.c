/* SPDX-License-Identifier: MIT */
/* The tasks in one of waymark's traces, from the recorder's stream. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "read/open.h"
#include "trace/reader.h"

static const char metadata[] =
    "/* CTF 1.8 */ typealias integer { size = 8; } := u8; typealias integer { size = 32; } := u32;"
    "trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u8 stream_id; }; };"
    "env { tracer_name = \"waymark\"; }; clock { name = c; freq = 1000000000; };"
    "typealias integer { size = 32; map = clock.c.value; } := t32;"
    "stream { id = 0; event.header := struct { t32 timestamp; }; };"
    "stream { id = 1; event.header := struct { t32 timestamp; }; };"
    "event { name = \"waymark:process\"; stream_id = 0; fields := struct { u32 _pid; string _comm; "
    "}; }; event { name = \"app:e\"; stream_id = 1; fields := struct { u32 _pid; }; };";

static size_t process(unsigned char *at, uint32_t time, uint32_t pid, const char *comm)
{
	memcpy(at, &time, 4);
	memcpy(at + 4, &pid, 4);
	memcpy(at + 8, comm, strlen(comm) + 1);
	return 8 + strlen(comm) + 1;
}

static void put(const char *folder, const char *name, const void *data, size_t bytes)
{
	char path[128];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(wm_file_write(fd, data, bytes), 0);
	close(fd);
}

static void drop(const char *folder)
{
	static const char *const names[] = {"metadata", "recorder", "user"};
	char path[128];

	for (size_t i = 0; i < 3; i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		assert_int_equal(unlink(path), 0);
	}
	assert_int_equal(rmdir(folder), 0);
}

static void make(const char *folder)
{
	unsigned char data[256] = {0};
	size_t n = 1;

	n += process(data + n, 100, 5, "old");
	n += process(data + n, 150, 6, "six");
	n += process(data + n, 200, 5, "new");
	put(folder, "metadata", metadata, strlen(metadata));
	put(folder, "recorder", data, n - 3); /* truncated within the last process's name */
	data[0] = 1;
	put(folder, "user", data, 9);
}

/* Returns the name of the process that had the pid at that time. */
static const char *comm(const struct wm_trace *t, int32_t pid, int64_t ns)
{
	const struct wm_event e = {
	    .ns = ns, .pid = pid, .tid = pid, .stream = t->streams[1], .packet = &t->packets[1]};

	return t->ops->comm(t, &e);
}

static void test_names_by_time(void **state)
{
	char folder[] = "/tmp/waymark-ctf-XXXXXX";
	struct wm_trace *t;

	assert_non_null(mkdtemp(folder));
	make(folder);
	assert_int_equal(wm_read_open(folder, &t, NULL), 0);
	assert_int_equal(t->nr_faults, 0); /* the reader of the packet reports the damage */
	assert_string_equal(comm(t, 5, 100), "old");
	assert_string_equal(comm(t, 5, INT64_MAX), "old");
	assert_string_equal(comm(t, 6, 10), "six"); /* before the process joined */
	assert_string_equal(comm(t, 7, 150), "");
	wm_trace_close(t);
	drop(folder);
}

static void test_whose_event(void **state)
{
	char folder[] = "/tmp/waymark-ctf-XXXXXX";
	static const int32_t pids[] = {5, -1}; /* in another event, a field "pid" is only data */
	struct wm_packet_reader *r;
	struct wm_batch b = {0};
	struct wm_trace *t;

	assert_non_null(mkdtemp(folder));
	make(folder);
	assert_int_equal(wm_read_open(folder, &t, NULL), 0);
	r = t->ops->reader_create(t, NULL);
	assert_int_equal(t->nr_packets, 2);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(t->ops->reader_begin(r, &t->packets[i]), 0);
		assert_true(wm_batch_read(t, r, &b) > 0);
		assert_int_equal(b.events[0].pid, pids[i]);
		assert_int_equal(b.events[0].type->meta, i == 0);
	}
	assert_int_equal(t->nr_faults, 1);
	wm_batch_done(&b);
	t->ops->reader_destroy(r);
	wm_trace_close(t);
	drop(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_names_by_time),
	    cmocka_unit_test(test_whose_event),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
