/* SPDX-License-Identifier: MIT */
/*
 * writer_test_kit.h - for tests of the trace writer: event classes from a schema, records, packets,
 * temporary folders, and babeltrace2 as referee. Included once per test program, after cmocka.h.
 */
#ifndef WM_WRITE_WRITER_TEST_KIT_H
#define WM_WRITE_WRITER_TEST_KIT_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/suite_test_kit.h"
#include "base/text.h"
#include "event/desc_build.h"
#include "write/trace_writer.h"

#define NR(a) (sizeof(a) / sizeof((a)[0]))

/* The wall clock at the start of kit traces is 1700000000 s; the clock is KIT_START then. */
#define KIT_START    1000u
#define KIT_REALTIME (1700000000ull * WM_NS_PER_SECOND + KIT_START)

static char kit_folder[64]; /* the test's own; DIR inside is the trace */
static char kit_dir[80];

static inline int kit_remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	return remove(path);
}

static inline int kit_setup(void **state)
{
	snprintf(kit_folder, sizeof(kit_folder), "%s/wm-writer-XXXXXX", kit_scratch_folder());
	if (!mkdtemp(kit_folder))
		return -1;
	snprintf(kit_dir, sizeof(kit_dir), "%s/trace", kit_folder);
	return 0;
}

static inline int kit_teardown(void **state)
{
	return nftw(kit_folder, kit_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static inline struct wm_trace_writer *kit_create(enum wm_trace_format format)
{
	struct wm_trace_options o = {.format = format,
				     .clock_kind = WM_CLOCK_MONOTONIC,
				     .clock_hz = WM_NS_PER_SECOND,
				     .clock_start = KIT_START,
				     .start_realtime_ns = KIT_REALTIME,
				     .clock_error_ns = 25,
				     .command = "./app \"x\""};
	struct wm_trace_writer *w = NULL;
	struct wm_diag diag = {0};

	if (wm_writer_create(kit_dir, &o, &w, &diag))
		fail_msg("%s", diag.sentence);
	return w;
}

static inline struct wm_producer *kit_producer(struct wm_trace_writer *w, uint32_t pid)
{
	struct wm_producer_info info = {.pid = pid,
					.ppid = 1,
					.vpid = pid,
					.uid = 1000,
					.clock = KIT_START,
					.comm = "app",
					.path = "/bin/app"};
	struct wm_producer *p = NULL;

	assert_int_equal(wm_producer_add(w, &info, &p), 0);
	return p;
}

static inline struct wm_class *kit_class(const char *name, const char *schema,
					 const int64_t *values, uint16_t nr_values)
{
	struct wm_class *c = NULL;
	struct wm_diag diag = {0};
	size_t bytes;
	unsigned char *desc = wm_desc_simple("app", name, schema, values, nr_values, &bytes);

	assert_non_null(desc);
	if (wm_class_parse(desc, bytes, NULL, &c, &diag))
		fail_msg("%s", diag.sentence);
	free(desc);
	return c;
}

static inline int kit_event(struct wm_producer *p, uint32_t id, uint32_t contexts, const char *name,
			    const char *schema)
{
	return wm_producer_event(p, id, contexts, kit_class(name, schema, NULL, 0));
}

/* --- records and packets ------------------------------------------------- */

struct kit_packet {
	struct wm_text payload;
	uint64_t begin, end, count;
	uint32_t last;
};

static inline void kit_put(struct kit_packet *k, uint64_t value, uint32_t bytes)
{
	wm_text_add(&k->payload, &value, bytes);
}

static inline void kit_string(struct kit_packet *k, const char *s)
{
	wm_text_add(&k->payload, s, strlen(s) + 1);
}

static inline void kit_pad(struct kit_packet *k)
{
	while (k->payload.bytes % 8)
		wm_text_char(&k->payload, '\0');
}

/* Begins a record: pads the previous one. */
static inline void kit_record(struct kit_packet *k, uint16_t id, uint64_t clock)
{
	kit_pad(k);
	if (!k->count++)
		k->begin = clock;
	k->end = clock;
	k->last = (uint32_t)k->payload.bytes;
	kit_put(k, clock << 16 | id, 8);
}

/* Sends the packet and empties it. */
static inline int kit_send(struct wm_producer *p, struct kit_packet *k, uint32_t tid, uint64_t lost)
{
	struct wm_raw_packet packet = {.tid = tid,
				       .begin = k->begin,
				       .end = k->end,
				       .count = k->count,
				       .lost = lost,
				       .last_offset = k->last};
	int err;

	kit_pad(k);
	packet.payload.iov_base = k->payload.data;
	packet.payload.iov_len = k->payload.bytes;
	err = wm_producer_packet(p, &packet);
	wm_text_done(&k->payload);
	*k = (struct kit_packet){0};
	return err;
}

/* Sends one packet of records without fields at these times. */
static inline int kit_send_plain(struct wm_producer *p, uint16_t id, uint32_t tid, uint64_t begin,
				 uint64_t end)
{
	struct kit_packet k = {0};

	kit_record(&k, id, begin);
	if (end != begin)
		kit_record(&k, id, end);
	return kit_send(p, &k, tid, 0);
}

/* --- results --------------------------------------------------------------- */

static inline char *kit_slurp(const char *folder, const char *name, size_t *ret_bytes)
{
	char path[256], *data = NULL;
	size_t bytes = 0;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	assert_int_equal(wm_file_read(AT_FDCWD, path, 64u << 20, &data, &bytes), 0);
	if (ret_bytes)
		*ret_bytes = bytes;
	return data;
}

static inline bool kit_exists(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", kit_dir, name);
	return access(path, F_OK) == 0;
}

static inline bool kit_has_babeltrace(void)
{
	bool found = system("command -v babeltrace2 >/dev/null 2>&1") == 0;

	if (!found)
		fprintf(stderr, "SKIPPED: babeltrace2 is not installed\n");
	return found;
}

/*
 * Runs babeltrace2 on the trace after the shell command `before`; returns its standard output,
 * which the caller frees. It must exit with 0. Its standard error goes to `errors`; when that is
 * NULL, it must not print any.
 */
static inline char *kit_babeltrace(const char *before, char **errors)
{
	char command[512], *out, *err;
	int status;

	snprintf(
	    command, sizeof(command),
	    "%s babeltrace2 --no-delta --clock-seconds --fields=trace:vpid %s >%s/out 2>%s/err",
	    before, kit_dir, kit_folder, kit_folder);
	status = system(command);
	out = kit_slurp(kit_folder, "out", NULL);
	err = kit_slurp(kit_folder, "err", NULL);
	if (status || (!errors && err[0]))
		fail_msg("babeltrace2: status %d, printed: %s", status, err);
	if (errors)
		*errors = err;
	else
		free(err);
	return out;
}

static inline uint32_t kit_lines(const char *s)
{
	uint32_t n = 0;

	for (; *s; s++)
		n += *s == '\n';
	return n;
}

#endif
