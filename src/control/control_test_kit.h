/* SPDX-License-Identifier: MIT */
/*
 * control_test_kit.h - for tests of this room: a session in a temporary folder, a pump process that
 * serves it, and a fake traced process that speaks the protocol of runtime/agent.h over the socket
 * and emits through a pool in a sealed memfd, as the runtime does. Include it once per test
 * program, after cmocka.h.
 */
#ifndef WM_CONTROL_CONTROL_TEST_KIT_H
#define WM_CONTROL_CONTROL_TEST_KIT_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "control/live.h"
#include "control/pump/pumproc.h"
#include "control/rules.h"
#include "control/session/session.h"
#include "event/desc_build.h"
#include "ring/pool.h"
#include "runtime/agent.h"
#include <waymark/abi.h>

#define NR(a)        (sizeof(a) / sizeof((a)[0]))
#define KIT_BUFFER   (1u << 20)
#define KIT_SECONDS  300 /* limit for every wait */
#define KIT_RECORD   16u
#define KIT_EVENT_ID 7u

struct kit {
	char folder[64];
	char dir[80]; /* the trace */
	struct wm_session session;
	struct wm_rules *rules;
	struct wm_channel channel;
	struct wm_live *live;           /* owned by the test; NULL: the trace is in kit.dir */
	struct wm_report last;          /* DONE */
	char trouble[WM_DIAG_SENTENCE]; /* the last trouble that the pump process reported */
	unsigned nr_trouble;
};

static struct kit kit;

static inline int kit_remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	return remove(path);
}

static inline int kit_setup(void **state)
{
	kit = (struct kit){.session = {.dirfd = -1, .listen_fd = -1, .lock_fd = -1},
			   .channel = {.fd = -1}};
	strcpy(kit.folder, "/tmp/wm-control-XXXXXX");
	if (!mkdtemp(kit.folder))
		return -1;
	(void)snprintf(kit.dir, sizeof(kit.dir), "%s/trace", kit.folder);
	return 0;
}

static inline int kit_teardown(void **state)
{
	if (kit.channel.pid > 0) {
		wm_channel_done(&kit.channel);
		(void)waitpid(kit.channel.pid, NULL, 0);
	}
	wm_session_remove(&kit.session);
	wm_session_done(&kit.session);
	wm_rules_destroy(kit.rules);
	return nftw(kit.folder, kit_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static inline int kit_try_start(uint32_t mode, struct wm_diag *diag)
{
	const struct wm_rules_options o = {
	    .pool_mode = mode, .buffer_bytes = KIT_BUFFER, .clock_kind = wm_clock_best()};
	struct wm_recording_options r = {
	    .session = &kit.session, .dir = kit.dir, .command = "./fake"};

	assert_int_equal(wm_rules_create(&o, &kit.rules), 0);
	assert_int_equal(wm_rules_add(kit.rules, "fake:*", NULL, 0, WM_RULES_ALL_LEVELS, NULL), 0);
	assert_int_equal(wm_rules_add(kit.rules, "other", NULL, 0, WM_RULES_ALL_LEVELS, NULL), 1);
	assert_int_equal(wm_session_create(NULL, kit.folder, &kit.session, diag), 0);
	assert_int_equal(wm_rules_write(kit.rules, kit.session.dirfd, kit.session.file_mode), 0);
	r.rules = kit.rules;
	if (kit.live)
		wm_live_options(kit.live, &r);
	return wm_pumproc_start(&r, &kit.channel, diag);
}

static inline void kit_start(uint32_t mode)
{
	struct wm_diag diag = {.offset = -1};

	if (kit_try_start(mode, &diag) < 0)
		fail_msg("%s", diag.sentence);
}

/* Waits for a report of that kind; stores any troubles reported before it. */
static inline void kit_await(uint32_t kind, struct wm_report *ret)
{
	struct pollfd p = {.fd = kit.channel.fd, .events = POLLIN};
	struct wm_report report;

	for (;;) {
		if (poll(&p, 1, KIT_SECONDS * 1000) != 1)
			fail_msg("no report %u within %d seconds", kind, KIT_SECONDS);
		if (wm_channel_read(&kit.channel, true, &report) != 1)
			fail_msg("the pump process ended before report %u", kind);
		if (report.kind == WM_REPORT_TROUBLE) {
			kit.nr_trouble++;
			strcpy(kit.trouble, report.sentence);
		}
		if (report.kind == kind)
			break;
	}
	*ret = report;
}

static inline const struct wm_recording_totals *kit_stop(void)
{
	assert_int_equal(wm_channel_order(&kit.channel, WM_ORDER_STOP), 0);
	kit_await(WM_REPORT_DONE, &kit.last);
	assert_int_equal(kit.last.err, 0);
	return &kit.last.totals;
}

/* Total size of all lanes that hold program events. */
static inline uint64_t kit_stream_bytes(void)
{
	DIR *dir = opendir(kit.dir);
	struct dirent *entry;
	uint64_t bytes = 0;
	struct stat st;

	while (dir && (entry = readdir(dir)))
		if (!strncmp(entry->d_name, "user-", 5) &&
		    fstatat(dirfd(dir), entry->d_name, &st, 0) == 0)
			bytes += (uint64_t)st.st_size;
	if (dir)
		closedir(dir);
	return bytes;
}

/* --- a fake process ------------------------------------------------------- */

struct fake {
	int sock, pool_fd;
	struct wm_pool pool;
	int64_t chunk; /* chunk in use; -1: none */
	uint32_t used; /* bytes used in the chunk */
	uint64_t count;
};

static inline void fake_pool(struct fake *f, uint32_t mode, uint64_t buffer_bytes)
{
	const struct wm_pool_options o = {.buffer_bytes = buffer_bytes,
					  .mode = mode,
					  .clock_kind = wm_clock_best(),
					  .pid = (uint32_t)getpid(),
					  .start_clock = wm_clock_read(wm_clock_best())};
	uint64_t bytes = wm_pool_size(&o);
	void *map;

	f->pool_fd = memfd_create("fake", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	assert_true(f->pool_fd >= 0);
	assert_int_equal(ftruncate(f->pool_fd, (off_t)bytes), 0);
	assert_int_equal(fcntl(f->pool_fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL),
			 0);
	map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, f->pool_fd, 0);
	assert_true(map != MAP_FAILED);
	assert_int_equal(wm_pool_init(&f->pool, map, &o), 0);
	f->chunk = -1;
}

static inline void fake_connect(struct fake *f, uint32_t mode)
{
	*f = (struct fake){.pool_fd = -1};
	f->sock = wm_session_connect(kit.session.path);
	assert_true(f->sock >= 0);
	fake_pool(f, mode, KIT_BUFFER);
}

/* Sends bytes with `nr` copies of a descriptor; returns the result of sendmsg(). */
static inline ssize_t fake_send_fds(struct fake *f, const void *data, size_t bytes, int fd,
				    unsigned nr)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(16 * sizeof(int))];
	} control = {0};
	struct iovec iov = {.iov_base = (void *)data, .iov_len = bytes};
	struct msghdr h = {.msg_iov = &iov, .msg_iovlen = 1};
	int fds[16];

	if (nr) {
		h.msg_control = control.bytes;
		h.msg_controllen = CMSG_SPACE(nr * sizeof(int));
		CMSG_FIRSTHDR(&h)->cmsg_level = SOL_SOCKET;
		CMSG_FIRSTHDR(&h)->cmsg_type = SCM_RIGHTS;
		CMSG_FIRSTHDR(&h)->cmsg_len = CMSG_LEN(nr * sizeof(int));
		for (unsigned i = 0; i < nr; i++)
			fds[i] = fd;
		memcpy(CMSG_DATA(CMSG_FIRSTHDR(&h)), fds, nr * sizeof(int));
	}
	return sendmsg(f->sock, &h, MSG_NOSIGNAL);
}

static inline void fake_send(struct fake *f, const void *data, size_t bytes)
{
	assert_int_equal(fake_send_fds(f, data, bytes, -1, 0), bytes);
}

static inline struct wm_msg_hello fake_hello_message(uint32_t path_bytes)
{
	return (struct wm_msg_hello){
	    .h = {.type = WM_MSG_HELLO,
		  .bytes = (uint32_t)sizeof(struct wm_msg_hello) + path_bytes},
	    .protocol = WM_PROTOCOL,
	    .abi = WAYMARK_ABI,
	    .pid = (uint32_t)getpid(),
	    .ppid = (uint32_t)getppid(),
	    .start_clock = wm_clock_read(wm_clock_best()),
	    .path_bytes = path_bytes,
	    .comm = "fake",
	};
}

static inline void fake_hello(struct fake *f)
{
	struct {
		struct wm_msg_hello h;
		char path[8];
	} m = {.h = fake_hello_message(5), .path = "/fake"};
	size_t bytes = sizeof(m.h) + 5;

	assert_int_equal(fake_send_fds(f, &m, bytes, f->pool_fd, 1), bytes);
}

/* Creates an EVENT message in malloc'ed memory, for an event with one field "value:u8". */
static inline unsigned char *fake_event_message(uint32_t id, const char *name, size_t *ret_bytes)
{
	size_t desc_bytes;
	unsigned char *desc = wm_desc_simple("fake", name, "value:u8", NULL, 0, &desc_bytes);
	struct wm_msg_event e = {
	    .h = {.type = WM_MSG_EVENT, .bytes = (uint32_t)(sizeof(e) + desc_bytes)},
	    .id = id,
	    .desc_bytes = (uint32_t)desc_bytes,
	};
	unsigned char *m = malloc(sizeof(e) + desc_bytes);

	assert_non_null(desc);
	assert_non_null(m);
	memcpy(m, &e, sizeof(e));
	memcpy(m + sizeof(e), desc, desc_bytes);
	free(desc);
	*ret_bytes = sizeof(e) + desc_bytes;
	return m;
}

static inline void fake_event(struct fake *f, uint32_t id, const char *name)
{
	size_t bytes;
	unsigned char *m = fake_event_message(id, name, &bytes);

	fake_send(f, m, bytes);
	free(m);
}

static inline void fake_synced(struct fake *f)
{
	const struct wm_msg_synced s = {
	    .h = {.type = WM_MSG_SYNCED, .bytes = sizeof(s)}, .generation = 1, .nr_events = 1};

	fake_send(f, &s, sizeof(s));
}

static inline void fake_join(struct fake *f, uint32_t mode)
{
	fake_connect(f, mode);
	fake_hello(f);
	fake_event(f, KIT_EVENT_ID, "tick");
	fake_synced(f);
}

static inline void fake_seal(struct fake *f)
{
	if (f->chunk >= 0)
		wm_pool_seal(&f->pool, (uint32_t)f->chunk);
	f->chunk = -1;
}

/* Emits as the inline code does, in big chunks. Returns the number of events that were not lost. */
static inline uint64_t fake_emit(struct fake *f, uint64_t nr)
{
	enum wm_clock_kind kind = wm_clock_best();
	uint64_t kept = 0;

	for (uint64_t i = 0; i < nr; i++) {
		uint64_t record[2], last = f->used;
		struct wm_chunk *chunk;

		if (f->chunk >= 0 && f->used + KIT_RECORD > f->pool.big_bytes)
			fake_seal(f);
		if (f->chunk < 0) {
			f->chunk = wm_pool_take(&f->pool, false, (uint32_t)gettid(), 0,
						wm_clock_read(kind));
			f->used = WM_CHUNK_HEADER_BYTES;
			f->count = 0;
			last = f->used;
		}
		if (f->chunk < 0) {
			wm_pool_lost(&f->pool, WM_LOST_FULL, 1);
			continue;
		}
		chunk = wm_pool_chunk(&f->pool, (uint32_t)f->chunk);
		record[0] = wm_clock_read(kind) << 16 | KIT_EVENT_ID;
		record[1] = i;
		memcpy((unsigned char *)chunk + f->used, record, sizeof(record));
		f->used += KIT_RECORD;
		f->count++;
		__atomic_store_n(&chunk->committed,
				 f->count << WAYMARK_COMMIT_COUNT_SHIFT |
				     (last / 8) << WAYMARK_COMMIT_END_BITS | f->used / 8,
				 __ATOMIC_RELEASE);
		kept++;
	}
	return kept;
}

static inline void fake_bye(struct fake *f)
{
	const struct wm_msg m = {.type = WM_MSG_BYE, .bytes = sizeof(m)};

	fake_send(f, &m, sizeof(m));
}

static inline void fake_close(struct fake *f)
{
	if (f->sock >= 0)
		close(f->sock);
	f->sock = -1;
	if (f->pool_fd >= 0) {
		close(f->pool_fd);
		munmap(f->pool.map, f->pool.bytes);
	}
	f->pool_fd = -1;
}

/* Waits until the recorder has closed the connection. */
static inline void fake_await_close(struct fake *f)
{
	struct pollfd p = {.fd = f->sock, .events = POLLIN};
	char byte;

	if (poll(&p, 1, KIT_SECONDS * 1000) != 1)
		fail_msg("the connection was not closed");
	assert_true(recv(f->sock, &byte, 1, 0) <= 0);
}

static inline bool fake_is_connected(const struct fake *f)
{
	struct pollfd p = {.fd = f->sock, .events = POLLIN};

	return poll(&p, 1, 0) == 0;
}

/* Waits for a message without a body. */
static inline void fake_await_message(struct fake *f, uint32_t type)
{
	struct pollfd p = {.fd = f->sock, .events = POLLIN};
	struct wm_msg m;

	assert_int_equal(poll(&p, 1, KIT_SECONDS * 1000), 1);
	assert_int_equal(recv(f->sock, &m, sizeof(m), 0), sizeof(m));
	assert_int_equal(m.type, type);
}

#endif
