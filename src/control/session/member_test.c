/* SPDX-License-Identifier: MIT */
/*
 * member_test.c - tests hostile processes: every kind of malformed message, floods and surplus
 * descriptors. Each time the offender is quarantined, and another process that emits before and
 * after it loses nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sys/resource.h>

#include "control/control_test_kit.h"
#include "control/session/member.h"

/* Sends a structure as a message, after filling in its type and length. */
#define SEND(f, member, ...)                                                                       \
	do {                                                                                       \
		member m_ = __VA_ARGS__;                                                           \
		(void)fake_send_fds(f, &m_, sizeof(m_), -1, 0);                                    \
	} while (0)

#define HEADER(t, b)                                                                               \
	{                                                                                          \
		.type = (t), .bytes = (uint32_t)(b)                                                \
	}

/* --- before HELLO ---------------------------------------------------------- */

static void empty_header(struct fake *f)
{
	uint32_t half = WM_MSG_HELLO;

	(void)fake_send_fds(f, &half, sizeof(half), -1, 0);
}

static void wrong_length(struct fake *f)
{
	SEND(f, struct wm_msg, HEADER(WM_MSG_BYE, 4711));
}

static void unknown_type(struct fake *f)
{
	SEND(f, struct wm_msg, HEADER(33, sizeof(struct wm_msg)));
}

static void bye_first(struct fake *f)
{
	SEND(f, struct wm_msg, HEADER(WM_MSG_BYE, sizeof(struct wm_msg)));
}

static void event_first(struct fake *f)
{
	fake_event(f, 1, "tick");
}

static void tool_with_unknown_wish(struct fake *f)
{
	SEND(f, struct wm_msg, HEADER(4000, sizeof(struct wm_msg)));
}

static void send_hello(struct fake *f, const struct wm_msg_hello *h, unsigned nr_fds, int fd)
{
	(void)fake_send_fds(f, h, sizeof(*h), fd, nr_fds);
}

static void hello_without_pool(struct fake *f)
{
	struct wm_msg_hello h = fake_hello_message(0);

	send_hello(f, &h, 0, -1);
}

static void hello_with_two_pools(struct fake *f)
{
	struct wm_msg_hello h = fake_hello_message(0);

	send_hello(f, &h, 2, f->pool_fd);
}

static void hello_with_many_pools(struct fake *f)
{
	struct wm_msg_hello h = fake_hello_message(0);

	send_hello(f, &h, 16, f->pool_fd);
}

static void hello_of_the_future(struct fake *f)
{
	struct wm_msg_hello h = fake_hello_message(0);

	h.protocol++;
	send_hello(f, &h, 1, f->pool_fd);
}

static void hello_with_long_path(struct fake *f)
{
	struct wm_msg_hello h = fake_hello_message(0);

	h.path_bytes = 0xffffffff;
	send_hello(f, &h, 1, f->pool_fd);
}

static void hello_with_a_pipe(struct fake *f)
{
	struct wm_msg_hello h = fake_hello_message(0);
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	send_hello(f, &h, 1, ends[0]);
	close(ends[0]);
	close(ends[1]);
}

static void hello_with_unsealed_pool(struct fake *f)
{
	struct wm_msg_hello h = fake_hello_message(0);
	int fd = memfd_create("unsealed", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_int_equal(ftruncate(fd, 1 << 20), 0);
	send_hello(f, &h, 1, fd);
	close(fd);
}

static void hello_with_nonsense_pool(struct fake *f)
{
	struct wm_msg_hello h = fake_hello_message(0);

	wm_pool_header(&f->pool)->nr_big = 0xfffffff0;
	send_hello(f, &h, 1, f->pool_fd);
}

static void hello_with_huge_pool(struct fake *f)
{
	struct wm_msg_hello h = fake_hello_message(0);
	struct fake huge;

	fake_pool(&huge, WM_POOL_DISCARD, 64u << 20);
	send_hello(f, &h, 1, huge.pool_fd);
	close(huge.pool_fd);
	munmap(huge.pool.map, huge.pool.bytes);
}

static void a_long_message(struct fake *f)
{
	static unsigned char bytes[WM_MSG_MAX + 1];

	((struct wm_msg *)bytes)->type = WM_MSG_HELLO;
	((struct wm_msg *)bytes)->bytes = sizeof(bytes);
	(void)fake_send_fds(f, bytes, sizeof(bytes), -1, 0);
}

/* --- after a valid HELLO ----------------------------------------------------- */

static void second_hello(struct fake *f)
{
	struct wm_msg_hello h = fake_hello_message(0);

	send_hello(f, &h, 1, f->pool_fd);
}

/* Sends an EVENT whose header was damaged by `change`. */
static void spoiled_event(struct fake *f,
			  void (*change)(struct wm_msg_event *e, unsigned char *rest))
{
	size_t bytes;
	unsigned char *m = fake_event_message(1, "spoiled", &bytes);
	struct wm_msg_event e;

	memcpy(&e, m, sizeof(e));
	change(&e, m + sizeof(e));
	memcpy(m, &e, sizeof(e));
	(void)fake_send_fds(f, m, bytes, -1, 0);
	free(m);
}

static void set_id(struct wm_msg_event *e, unsigned char *rest)
{
	e->id = 65536;
}
static void set_contexts(struct wm_msg_event *e, unsigned char *rest)
{
	e->contexts = 0x80;
}
static void set_desc_bytes(struct wm_msg_event *e, unsigned char *rest)
{
	e->desc_bytes = 0xfffffff8;
}
static void set_provider_bytes(struct wm_msg_event *e, unsigned char *rest)
{
	e->provider_bytes = 1;
}
static void set_magic(struct wm_msg_event *e, unsigned char *rest)
{
	rest[0] ^= 0xff;
}
static void set_text(struct wm_msg_event *e, unsigned char *rest)
{
	memset(rest + sizeof(struct waymark_desc), 'x',
	       e->desc_bytes - sizeof(struct waymark_desc));
}

static void event_id(struct fake *f)
{
	spoiled_event(f, set_id);
}
static void event_contexts(struct fake *f)
{
	spoiled_event(f, set_contexts);
}
static void event_desc_bytes(struct fake *f)
{
	spoiled_event(f, set_desc_bytes);
}
static void event_provider_bytes(struct fake *f)
{
	spoiled_event(f, set_provider_bytes);
}
static void event_magic(struct fake *f)
{
	spoiled_event(f, set_magic);
}
static void event_text(struct fake *f)
{
	spoiled_event(f, set_text);
}

static void event_means_two_things(struct fake *f)
{
	fake_event(f, 1, "one");
	fake_event(f, 1, "two");
}

static void event_with_descriptor(struct fake *f)
{
	size_t bytes;
	unsigned char *m = fake_event_message(1, "tick", &bytes);

	(void)fake_send_fds(f, m, bytes, f->pool_fd, 1);
	free(m);
}

static void short_event(struct fake *f)
{
	SEND(f, struct wm_msg, HEADER(WM_MSG_EVENT, sizeof(struct wm_msg)));
}

static void module_build_id(struct fake *f)
{
	SEND(f, struct wm_msg_module,
	     {.h = HEADER(WM_MSG_MODULE, sizeof(m_)), .build_id_bytes = 0xffffffff});
}

static void module_path(struct fake *f)
{
	SEND(f, struct wm_msg_module, {.h = HEADER(WM_MSG_MODULE, sizeof(m_)), .path_bytes = 100});
}

static void short_synced(struct fake *f)
{
	SEND(f, struct wm_msg, HEADER(WM_MSG_SYNCED, sizeof(struct wm_msg)));
}

static void long_bye(struct fake *f)
{
	SEND(f, struct wm_msg_counts, {.h = HEADER(WM_MSG_BYE, sizeof(m_))});
}

static void snapshot_by_a_process(struct fake *f)
{
	SEND(f, struct wm_msg, HEADER(64, sizeof(struct wm_msg)));
}

/* --- batches ----------------------------------------------------------------- */

static void send_batch(struct fake *f, const void *data, size_t bytes, uint64_t said)
{
	const struct wm_msg_batch b = {.h = HEADER(WM_MSG_BATCH, sizeof(b)), .bytes = said};
	int fd = memfd_create("batch", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_int_equal(write(fd, data, bytes), bytes);
	(void)fake_send_fds(f, &b, sizeof(b), fd, 1);
	close(fd);
}

static void batch_without_file(struct fake *f)
{
	SEND(f, struct wm_msg_batch, {.h = HEADER(WM_MSG_BATCH, sizeof(m_)), .bytes = 8});
}

static void batch_that_is_shorter(struct fake *f)
{
	send_batch(f, "", 1, 4096);
}

static void batch_too_large(struct fake *f)
{
	send_batch(f, "", 1, WM_BATCH_MAX_BYTES + 1);
}

static void batch_with_a_pipe(struct fake *f)
{
	const struct wm_msg_batch b = {.h = HEADER(WM_MSG_BATCH, sizeof(b)), .bytes = 8};
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	(void)fake_send_fds(f, &b, sizeof(b), ends[0], 1);
	close(ends[0]);
	close(ends[1]);
}

static void batch_with_bye(struct fake *f)
{
	const struct wm_msg m = HEADER(WM_MSG_BYE, sizeof(m));

	send_batch(f, &m, sizeof(m), sizeof(m));
}

static void batch_with_endless_message(struct fake *f)
{
	const struct wm_msg m = HEADER(WM_MSG_EVENT, 0xffffffff);

	send_batch(f, &m, sizeof(m), sizeof(m));
}

static void batch_with_empty_message(struct fake *f)
{
	const struct wm_msg m = HEADER(WM_MSG_EVENT, 0);

	send_batch(f, &m, sizeof(m), sizeof(m));
}

static void batch_with_rest(struct fake *f)
{
	send_batch(f, "\1\2\3", 3, 3);
}

/*
 * More messages than a process may send at once. In a batch, because a busy machine may send them
 * one by one more slowly than the allowance grows.
 */
static void flood(struct fake *f)
{
	const struct wm_msg_module m = {.h = HEADER(WM_MSG_MODULE, sizeof(m))};
	const size_t bytes = (WM_APP_MESSAGES_MAX + 1) * sizeof(m);
	unsigned char *all = malloc(bytes);

	assert_non_null(all);
	for (size_t at = 0; at < bytes; at += sizeof(m))
		memcpy(all + at, &m, sizeof(m));
	send_batch(f, all, bytes, bytes);
	free(all);
}

/* Truncates its pool, as far as the seals allow, and overwrites it with garbage. */
static void scribbled_pool(struct fake *f)
{
	fake_emit(f, 1000);
	for (size_t i = 0; i < f->pool.bytes / 8; i += 61)
		((uint64_t *)f->pool.map)[i] = 0x5a5a5a5a5a5a5a5aull * i;
	assert_int_equal(ftruncate(f->pool_fd, 0), -1);
	/* May fail, because the pump may already have closed the socket. */
	SEND(f, struct wm_msg, HEADER(WM_MSG_BYE, sizeof(struct wm_msg)));
}

struct offence {
	const char *name;
	bool after_hello;
	void (*commit)(struct fake *f);
};

#define FIRST(f)                                                                                   \
	{                                                                                          \
#f, false, f                                                                       \
	}
#define LATER(f)                                                                                   \
	{                                                                                          \
#f, true, f                                                                        \
	}

static const struct offence offences[] = {
    FIRST(empty_header),
    FIRST(wrong_length),
    FIRST(unknown_type),
    FIRST(bye_first),
    FIRST(event_first),
    FIRST(tool_with_unknown_wish),
    FIRST(hello_without_pool),
    FIRST(hello_with_two_pools),
    FIRST(hello_with_many_pools),
    FIRST(hello_of_the_future),
    FIRST(hello_with_long_path),
    FIRST(hello_with_a_pipe),
    FIRST(hello_with_unsealed_pool),
    FIRST(hello_with_nonsense_pool),
    FIRST(hello_with_huge_pool),
    FIRST(a_long_message),
    LATER(second_hello),
    LATER(event_id),
    LATER(event_contexts),
    LATER(event_desc_bytes),
    LATER(event_provider_bytes),
    LATER(event_magic),
    LATER(event_text),
    LATER(event_means_two_things),
    LATER(event_with_descriptor),
    LATER(short_event),
    LATER(module_build_id),
    LATER(module_path),
    LATER(short_synced),
    LATER(long_bye),
    LATER(snapshot_by_a_process),
    LATER(batch_without_file),
    LATER(batch_that_is_shorter),
    LATER(batch_too_large),
    LATER(batch_with_a_pipe),
    LATER(batch_with_bye),
    LATER(batch_with_endless_message),
    LATER(batch_with_empty_message),
    LATER(batch_with_rest),
    LATER(flood),
    LATER(scribbled_pool),
};

static unsigned open_files_of(pid_t pid)
{
	char path[64];
	unsigned nr = 0;
	DIR *dir;

	(void)snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	assert_non_null(dir);
	while (readdir(dir))
		nr++;
	closedir(dir);
	return nr;
}

static unsigned settled_files(pid_t pid, unsigned wanted)
{
	unsigned nr = 0;

	for (int i = 0; i < KIT_SECONDS * 100; i++) {
		nr = open_files_of(pid);
		if (nr <= wanted)
			break;
		usleep(10000);
	}
	return nr;
}

static void every_offence(void **state)
{
	const struct wm_recording_totals *t;
	struct fake neighbour;
	uint64_t emitted = 0;
	struct wm_report report;
	unsigned files;

	kit_start(WM_POOL_DISCARD);
	fake_join(&neighbour, WM_POOL_DISCARD);
	kit_await(WM_REPORT_JOINED, &report);
	emitted += fake_emit(&neighbour, 100);
	while (!kit_stream_bytes())
		usleep(10000); /* the program's lane is open from now on */
	files = open_files_of(kit.channel.pid);
	for (size_t i = 0; i < NR(offences); i++) {
		struct fake f;

		emitted += fake_emit(&neighbour, 100);
		fake_connect(&f, WM_POOL_DISCARD);
		if (offences[i].after_hello)
			fake_hello(&f);
		offences[i].commit(&f);
		fake_await_close(&f);
		fake_close(&f);
		if (!fake_is_connected(&neighbour))
			fail_msg("%s: the neighbour was quarantined, too", offences[i].name);
		if (offences[i].commit != scribbled_pool && /* its lanes stay open */
		    settled_files(kit.channel.pid, files) > files)
			fail_msg("%s: the pump kept a descriptor", offences[i].name);
		emitted += fake_emit(&neighbour, 100);
	}
	fake_bye(&neighbour);
	t = kit_stop();
	fake_close(&neighbour);
	/* scribbled_pool committed some valid events before it wrote garbage. */
	assert_in_range(t->events, emitted, emitted + 1000);
	assert_int_equal(emitted, 100 + 200 * NR(offences));
	assert_in_range(t->nr_quarantined, NR(offences) - 3, NR(offences));
	assert_true(kit.nr_trouble > 0);
}

static void counts_too_many_losses(struct fake *f)
{
	wm_pool_header(&f->pool)->lost[WM_LOST_FULL] = UINT64_MAX;
	fake_emit(f, 10);
}

/* The process ends before the pump looks at its memory again. */
static void counts_too_many_losses_and_ends(struct fake *f)
{
	wm_pool_header(&f->pool)->lost[WM_LOST_FULL] = UINT64_MAX;
	fake_bye(f);
}

/* The reason that the user sees distinguishes the protocol, shared memory, and old runtimes. */
static void reasons(void **state)
{
	static const struct {
		struct offence offence;
		const char *reason;
	} cases[] = {
	    {LATER(second_hello), "recorded: it broke the protocol: a second HELLO"},
	    {LATER(counts_too_many_losses), "recorded: its shared memory is corrupt: "},
	    {LATER(counts_too_many_losses_and_ends), "recorded: its shared memory is corrupt: "},
	    {FIRST(hello_of_the_future), "recorded: its runtime uses a different version"},
	};

	(void)state;
	kit_start(WM_POOL_DISCARD);
	for (size_t i = 0; i < NR(cases); i++) {
		struct wm_report report;
		struct fake f;

		fake_connect(&f, WM_POOL_DISCARD);
		if (cases[i].offence.after_hello)
			fake_hello(&f);
		cases[i].offence.commit(&f);
		kit_await(WM_REPORT_TROUBLE, &report);
		if (!strstr(report.sentence, cases[i].reason))
			fail_msg("%s: %s", cases[i].offence.name, report.sentence);
		fake_close(&f);
	}
	assert_int_equal(kit_stop()->nr_quarantined, NR(cases));
}

/* A batch has the same effect as its messages sent one by one. */
static void batch(void **state)
{
	struct fake f;
	unsigned char all[65536];
	size_t at = 0;

	kit_start(WM_POOL_DISCARD);
	fake_connect(&f, WM_POOL_DISCARD);
	fake_hello(&f);
	for (uint32_t id = 0; id < 100; id++) {
		char name[16];
		size_t bytes;
		unsigned char *m;

		(void)snprintf(name, sizeof(name), "event%u", id);
		m = fake_event_message(id, name, &bytes);
		memcpy(all + at, m, bytes);
		at += (bytes + 7) & ~(size_t)7;
		free(m);
	}
	send_batch(&f, all, at, at);
	fake_synced(&f);
	fake_emit(&f, 50);
	fake_bye(&f);
	assert_int_equal(kit_stop()->events, 50);
	assert_int_equal(kit.last.totals.nr_quarantined, 0);
	fake_close(&f);
}

/* Many connections that send nothing do not prevent an honest process from joining. */
static void silent_crowd(void **state)
{
	enum { CROWD = 900 };
	struct wm_report report;
	struct fake f;
	int socks[CROWD];

	kit_start(WM_POOL_DISCARD);
	for (int i = 0; i < CROWD; i++) {
		socks[i] = wm_session_connect(kit.session.path);
		assert_true(socks[i] >= 0);
	}
	fake_join(&f, WM_POOL_DISCARD);
	kit_await(WM_REPORT_JOINED, &report);
	fake_emit(&f, 10);
	fake_bye(&f);
	assert_int_equal(kit_stop()->events, 10);
	assert_true(kit.last.totals.nr_refused[WM_REFUSED_SILENT] > 0);
	assert_int_equal(kit.last.totals.nr_refused[WM_REFUSED_FULL], 0);
	assert_int_equal(kit.last.totals.nr_refused[WM_REFUSED_ERROR], 0);
	for (int i = 0; i < CROWD; i++)
		close(socks[i]);
	fake_close(&f);
}

static void set_file_limit(rlim_t limit)
{
	struct rlimit l;

	assert_int_equal(prlimit(kit.channel.pid, RLIMIT_NOFILE, NULL, &l), 0);
	l.rlim_cur = limit < l.rlim_max ? limit : l.rlim_max;
	assert_int_equal(prlimit(kit.channel.pid, RLIMIT_NOFILE, &l, NULL), 0);
}

/* The error is reported at once and in the totals, separately from the pump process's limits. */
static void no_descriptors(void **state)
{
	enum { CROWD = 20 };
	struct wm_report report;
	int socks[CROWD];

	(void)state;
	kit_start(WM_POOL_DISCARD);
	set_file_limit(open_files_of(kit.channel.pid) + 8);
	for (int i = 0; i < CROWD; i++) {
		socks[i] = wm_session_connect(kit.session.path);
		assert_true(socks[i] >= 0);
	}
	kit_await(WM_REPORT_TROUBLE, &report);
	assert_non_null(strstr(report.sentence, "raise the limit of open files"));
	set_file_limit(1024);
	kit_stop();
	assert_true(kit.last.totals.nr_refused[WM_REFUSED_ERROR] > 0);
	assert_int_equal(kit.last.totals.refused_err, -EMFILE);
	assert_int_equal(kit.last.totals.nr_refused[WM_REFUSED_SILENT], 0);
	for (int i = 0; i < CROWD; i++)
		close(socks[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(every_offence, kit_setup, kit_teardown),
	    cmocka_unit_test_setup_teardown(reasons, kit_setup, kit_teardown),
	    cmocka_unit_test_setup_teardown(batch, kit_setup, kit_teardown),
	    cmocka_unit_test_setup_teardown(silent_crowd, kit_setup, kit_teardown),
	    cmocka_unit_test_setup_teardown(no_descriptors, kit_setup, kit_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
