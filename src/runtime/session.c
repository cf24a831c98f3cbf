/* SPDX-License-Identifier: MIT */
/*
 * session.c - joins and leaves recorders: their rules, the pool, the socket. tell.c writes the
 * messages. All functions need the runtime's lock.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>

#include "base/atomic.h"
#include "base/clock.h"
#include "runtime/patch_int.h"
#include "runtime/runtime_int.h"
#include "runtime/sys_int.h"
#include "runtime/tell_int.h"

#define F_LINUX_BASE 1024

static size_t guest_session_copy_text(char *to, size_t room, const char *from, size_t n)
{
	n = n < room ? n : room - 1;
	wm_mem_copy(to, from, n);
	to[n] = 0;
	return n;
}

/* Writes folder + "/" + leaf; returns false if it is too long. */
static bool path_in(char *to, size_t room, const char *folder, const char *leaf)
{
	size_t a = wm_str_len(folder), b = wm_str_len(leaf);
	if (a + b + 2 > room)
		return false;
	wm_mem_copy(to, folder, a);
	to[a] = '/';
	wm_mem_copy(to + a + 1, leaf, b + 1);
	return true;
}

/* ------------------------------------------------------------------ *
 * Rules
 * ------------------------------------------------------------------ */
static int parse_rules(struct wm_guest_session *s)
{
	const struct wm_rules_header *h = (const void *)s->rules;
	size_t at = sizeof(*h);

	if (s->rules_bytes < sizeof(*h) || h->magic != WM_RULES_MAGIC ||
	    h->version != WM_PROTOCOL || h->bytes > s->rules_bytes || h->nr_rules > WM_RULES_NR_MAX)
		return -EBADMSG;
	for (uint32_t i = 0; i < h->nr_rules; i++) {
		const struct wm_rule *r = (const void *)(s->rules + at);
		if (at + sizeof(*r) > h->bytes || r->bytes < sizeof(*r) || r->bytes % 8 ||
		    r->bytes > h->bytes - at ||
		    sizeof(*r) + r->glob_bytes + (uint64_t)r->filter_bytes > r->bytes ||
		    (i && r->change < s->rule[i - 1].change))
			return -EBADMSG;
		s->rule[i].glob = (const char *)(r + 1);
		s->rule[i].glob_bytes = r->glob_bytes;
		s->rule[i].filter = (const unsigned char *)(r + 1) + r->glob_bytes;
		s->rule[i].filter_bytes = r->filter_bytes;
		s->rule[i].contexts = r->contexts;
		s->rule[i].level_max = r->level_max;
		s->rule[i].change = r->change;
		s->rule[i].flags = r->flags;
		at += r->bytes;
	}
	s->nr_rules = h->nr_rules;
	s->rules_generation = h->generation;
	s->clock_kind = (uint32_t)h->clock_kind;
	s->mode = h->pool_mode;
	s->block_ms = h->block_ms;
	s->counts = h->flags & WM_RULES_COUNT;
	return 0;
}

int wm_guest_session_read_rules(struct wm_guest_session *s)
{
	char path[WM_FOLDER_MAX + 16];
	size_t n = 0;
	long fd, got = 1;

	if (!path_in(path, sizeof(path), s->folder, "rules"))
		return -ENAMETOOLONG;
	fd = WM_SYS_4(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	if (wm_sys_failed(fd))
		return (int)fd;
	if (!s->rules) {
		s->rules = wm_sys_map(WM_RULES_MAX_BYTES + WM_RULES_NR_MAX * sizeof(*s->rule));
		s->rule = (void *)(s->rules + WM_RULES_MAX_BYTES);
	}
	while (s->rules && n < WM_RULES_MAX_BYTES && got > 0) {
		got = WM_SYS_3(SYS_read, fd, s->rules + n, WM_RULES_MAX_BYTES - n);
		if (got > 0)
			n += (size_t)got;
	}
	(void)WM_SYS_1(SYS_close, fd);
	if (!s->rules)
		return -ENOMEM;
	s->rules_bytes = n;
	s->nr_rules = 0;
	wm_mem_zero(s->matched, sizeof(s->matched));
	wm_mem_zero(s->unfit, sizeof(s->unfit));
	return got < 0 ? (int)got : parse_rules(s);
}

/* ------------------------------------------------------------------ *
 * The socket
 * ------------------------------------------------------------------ */

static int connect_socket(struct wm_guest_session *s)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	struct timeval limit = {0, WM_SEND_WAIT_MS * 1000};
	struct stat st;
	long fd, high, err;
	socklen_t length = sizeof(a);
	int folder = -1;

	if (!path_in(a.sun_path, sizeof(a.sun_path), s->folder, "sock")) {
		/*
		 * The path is too long for a socket address, so a descriptor for the folder stands
		 * in for it.
		 */
		char *p = a.sun_path;
		folder = (int)WM_SYS_4(SYS_openat, AT_FDCWD, s->folder,
				       O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
		if (folder < 0)
			return folder;
		p += guest_session_copy_text(p, 32, "/proc/self/fd/", 14);
		if (folder >= 100)
			*p++ = (char)('0' + folder / 100 % 10);
		if (folder >= 10)
			*p++ = (char)('0' + folder / 10 % 10);
		*p++ = (char)('0' + folder % 10);
		guest_session_copy_text(p, 8, "/sock", 5);
	}
	fd = WM_SYS_3(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	/* A stopped recorder accepts no connections, and its queue may already be full. */
	if (!wm_sys_failed(fd))
		(void)WM_SYS_6(SYS_setsockopt, fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit),
			       0);
	err = wm_sys_failed(fd) ? fd : WM_SYS_3(SYS_connect, fd, &a, length);
	if (folder >= 0)
		(void)WM_SYS_1(SYS_close, folder);
	if (wm_sys_failed(fd))
		return (int)fd;
	if (!err) {
		high = WM_SYS_3(SYS_fcntl, fd, F_DUPFD_CLOEXEC, WM_FD_MOVED_ABOVE);
		if (!wm_sys_failed(high)) {
			(void)WM_SYS_1(SYS_close, fd);
			fd = high;
		}
		err = WM_SYS_2(SYS_fstat, fd, &st);
		s->socket_inode = st.st_ino;
	}
	if (err) {
		(void)WM_SYS_1(SYS_close, fd);
		return (int)err;
	}
	s->socket = (int)fd;
	return 0;
}

/* ------------------------------------------------------------------ *
 * The pool
 * ------------------------------------------------------------------ */

/*
 * Limits the size of the pool: growing a file beyond RLIMIT_FSIZE does not fail, but raises SIGXFSZ
 * in the program. The pool is made as large as that limit allows.
 */
static bool fit_file_limit(struct wm_pool_options *o)
{
	struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
	uint64_t bytes;

	(void)WM_SYS_2(SYS_getrlimit, RLIMIT_FSIZE, &limit);
	bytes = wm_pool_size(o);
	if (bytes <= limit.rlim_cur)
		return bytes != 0;
	for (o->nr_small = 4096; o->nr_small >= 16; o->nr_small /= 2) {
		while (o->buffer_bytes > limit.rlim_cur / 2)
			o->buffer_bytes /= 2;
		while (o->big_bytes > WM_POOL_SMALL_BYTES && o->big_bytes > o->buffer_bytes)
			o->big_bytes /= 2;
		bytes = wm_pool_size(o);
		if (bytes && bytes <= limit.rlim_cur)
			return true;
	}
	return false;
}

static long make_pool(struct wm_guest_session *s, struct wm_pool_options *o)
{
	const struct wm_rules_header *h = (const void *)s->rules;
	long fd, err;
	void *map;

	o->buffer_bytes = h->buffer_bytes;
	o->big_bytes = h->chunk_bytes;
	o->mode = h->pool_mode;
	o->clock_kind = s->clock_kind;
	o->pid = wm_sys_pid();
	o->start_clock = wm_guest_clock_now(s->clock_kind);
	if (!fit_file_limit(o))
		return -EFBIG;
	s->pool_bytes = wm_pool_size(o);
	fd = wm_guest_session_memfd("waymark-pool");
	if (wm_sys_failed(fd))
		return fd;
	err = WM_SYS_2(SYS_ftruncate, fd, s->pool_bytes);
	map = (void *)WM_SYS_6(SYS_mmap, 0, s->pool_bytes, PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_NORESERVE, fd, 0);
	if (!err && wm_sys_failed((long)map))
		err = (long)map;
	if (!err)
		err = wm_pool_init(s->pool, map, o);
	if (!err)
		err = WM_SYS_3(SYS_fcntl, fd, F_LINUX_BASE + 9 /* F_ADD_SEALS */,
			       0x1 | 0x2 | 0x4 /* F_SEAL_SEAL, _SHRINK and _GROW */);
	if (!err)
		return fd;
	(void)WM_SYS_1(SYS_close, fd);
	if (!wm_sys_failed((long)map))
		wm_sys_unmap(map, s->pool_bytes);
	return err;
}

/*
 * Reads the name of the process, that is, of its first thread; the caller may be another thread.
 */
static void read_comm(char comm[16])
{
	long fd = WM_SYS_4(SYS_openat, AT_FDCWD, "/proc/self/comm", O_RDONLY | O_CLOEXEC, 0);
	long n = wm_sys_failed(fd) ? 0 : WM_SYS_3(SYS_read, fd, comm, 15);

	if (!wm_sys_failed(fd))
		(void)WM_SYS_1(SYS_close, fd);
	if (n > 0)
		comm[comm[n - 1] == '\n' ? n - 1 : n] = 0;
	else
		(void)WM_SYS_2(SYS_prctl, PR_GET_NAME, comm);
}

static int say_hello(struct wm_guest_session *s, const struct wm_pool_options *o, int pool_fd,
		     uint32_t flags)
{
	struct {
		struct wm_msg_hello m;
		char path[512];
	} hello = {{{WM_MSG_HELLO, 0}, WM_PROTOCOL, WAYMARK_ABI, 0, 0, 0, 0, 0, 0, {0}}, {0}};
	long n =
	    WM_SYS_4(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", hello.path, sizeof(hello.path));

	hello.m.pid = wm_sys_pid();
	hello.m.ppid = (uint32_t)WM_SYS_0(SYS_getppid);
	hello.m.pool_bytes = s->pool_bytes;
	hello.m.start_clock = o->start_clock;
	hello.m.flags = flags | (s->counts ? WM_HELLO_COUNTS : 0) |
			(wm_patch_init(false) == WM_PATCH_NONE ? WM_HELLO_NOPATCH : 0) |
			(waymark_control.flags & WM_CONTROL_NOPATCH ? WM_HELLO_UNWANTED : 0);
	hello.m.path_bytes = n > 0 ? (uint32_t)n : 0;
	hello.m.h.bytes = (uint32_t)sizeof(hello.m) + hello.m.path_bytes;
	read_comm(hello.m.comm);
	return wm_guest_session_send(s, &hello, hello.m.h.bytes, pool_fd);
}

static struct wm_guest_session *free_slot(void)
{
	for (unsigned k = 0; k < WM_SLOTS; k++)
		if (!wm_rt.session[k].active)
			return &wm_rt.session[k];
	return NULL;
}

static bool joined_already(const char *folder, size_t bytes)
{
	for (unsigned k = 0; k < WM_SLOTS; k++) {
		const struct wm_guest_session *s = &wm_rt.session[k];
		if (s->active && wm_str_len(s->folder) == bytes &&
		    !wm_mem_differ(s->folder, folder, bytes))
			return true;
	}
	return false;
}

/* Unmaps the pool, or leaves it mapped forever when a thread may still use an address in it. */
static void drop_pool(struct wm_guest_session *s, bool unmap)
{
	void *map = s->pool ? s->pool->map : NULL;

	if (!map || !unmap)
		return;
	s->pool->map = NULL; /* cleared before the unmapping: see wm_guest_session_hide() */
	wm_fence_signal();
	wm_sys_unmap(map, s->pool_bytes);
}

static void settle_slot(struct wm_guest_session *s)
{
	if (s->pool && s->pool->map)
		drop_pool(s, wm_thread_quiesce(1000) && !wm_thread_is_haunted());
	s->generation++;
	s->pool = &s->pools[s->generation & 1];
	s->pool->map = NULL;
	wm_thread_kick();
}

/*
 * Joins a recorder up to the point where `active` is set: reads the rules and passes the pool to
 * it.
 */
static int open_session(struct wm_guest_session *s, uint32_t flags)
{
	struct wm_pool_options o = {0};
	long fd;
	int err;

	settle_slot(s);
	s->socket = -1;
	s->out_bytes = 0;
	s->missing_field = s->missing_told = 0;
	err = wm_guest_session_read_rules(s);
	if (err < 0)
		return err;
	err = connect_socket(s);
	if (err < 0)
		return err;
	fd = make_pool(s, &o);
	err = fd < 0 ? (int)fd : say_hello(s, &o, (int)fd, flags);
	if (fd >= 0)
		(void)WM_SYS_1(SYS_close, fd);
	if (err < 0) {
		(void)WM_SYS_1(SYS_close, s->socket);
		s->socket = -1;
	}
	return err;
}

static void activate(struct wm_guest_session *s)
{
	wm_store_release(&s->active, 1);
	wm_early(0);
	for (const struct wm_guest_module *m = wm_rt.modules; m; m = m->next)
		wm_guest_session_say_module(s, m, false);
}

int wm_guest_session_join(const char *folder, size_t bytes, uint32_t flags)
{
	struct wm_guest_session *s = free_slot();
	int err;

	if (!bytes || bytes >= WM_FOLDER_MAX)
		return -EINVAL;
	if (joined_already(folder, bytes))
		return -EEXIST;
	if (!s)
		return -EBUSY; /* all recorder slots are in use */
	s->next_id = 0;
	guest_session_copy_text(s->folder, sizeof(s->folder), folder, bytes);
	err = open_session(s, flags);
	if (err < 0)
		return err;
	activate(s);
	return 0;
}

void wm_guest_session_leave(unsigned slot, bool say_bye)
{
	struct wm_guest_session *s = &wm_rt.session[slot];

	if (!s->active)
		return;
	s->nr_rules = 0;
	/* Disables the session's events first, so that none is in progress afterwards. */
	wm_plan_update_all();
	wm_thread_quiesce(1000);
	wm_store_release(&s->active, 0);
	if (say_bye) {
		struct wm_msg bye = {WM_MSG_BYE, sizeof(bye)};
		(void)wm_guest_session_send(s, &bye, sizeof(bye), -1);
	}
	if (!wm_guest_session_is_deaf(s))
		(void)WM_SYS_1(SYS_close, s->socket);
	s->socket = -1;
}

/*
 * Maps private memory over the pools after a fork in a signal handler, because the child returns
 * into an emit that will still store there.
 */
void wm_guest_session_hide(void)
{
	for (unsigned k = 0; k < WM_SLOTS; k++) {
		struct wm_guest_session *s = &wm_rt.session[k];
		if (!s->pool || !s->pool->map)
			continue;
		(void)WM_SYS_6(SYS_mmap, s->pool->map, s->pool_bytes, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
		s->hidden = true;
	}
}

/*
 * Announces the same ids for the same events as the parent: the child has inherited the event
 * words, and its other threads may use them as soon as a pool exists.
 */
static int announce_again(struct wm_guest_session *s, unsigned k, uint32_t generation)
{
	for (struct wm_event_entry *e = wm_rt.events; e; e = e->next) {
		if (!e->slot[k].known || e->slot[k].generation != generation)
			continue;
		if (!wm_guest_session_announce(s, e, e->slot[k].id, e->slot[k].contexts))
			return -EPIPE;
		e->slot[k].generation = s->generation;
	}
	return wm_guest_session_flush(s);
}

/*
 * Rejoins the parent's recorders, because the child cannot use the parent's pools and sockets.
 */
void wm_guest_session_forked(void)
{
	bool was[WM_SLOTS];

	if (wm_thread_leave_behind()) /* a bare clone in a handler is treated like fork() */
		wm_guest_session_hide();
	for (unsigned k = 0; k < WM_SLOTS; k++) {
		was[k] = wm_rt.session[k].active;
		wm_store_release(&wm_rt.session[k].active, 0);
	}
	for (unsigned k = 0; k < WM_SLOTS; k++) {
		struct wm_guest_session *s = &wm_rt.session[k];
		uint32_t generation = s->generation;
		drop_pool(s, !s->hidden);
		s->hidden = false;
		s->pool = NULL;
		if (!was[k])
			continue;
		if (!wm_guest_session_is_deaf(s))
			(void)WM_SYS_1(SYS_close, s->socket);
		if (open_session(s, WM_HELLO_FORKED) == 0 && announce_again(s, k, generation) >= 0)
			activate(s);
	}
}
