/* SPDX-License-Identifier: MIT */
/*
 * app.c - see app.h. Messages are read into one shared buffer, checked there
 * against the table below and copied out; who the process is comes from the
 * socket's credentials, never from what it says.
 */
#include "control/app.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/file.h"
#include "base/maps.h"
#include "control/tool.h"
#include "event/class.h"
#include "ring/pool.h"
#include "runtime/agent.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

#define MESSAGES_PER_CALL 256 /* then the other descriptors get their turn */
#define FDS_MAX           4   /* room for descriptors in a message; the kernel closes more */
#define BUILD_ID_MAX      64u
#define PATH_BYTES_MAX    4096u

struct wm_app {
	const struct wm_app_host *host;
	int sock, pidfd; /* -1: closed or none */
	struct wm_watch *sock_watch, *pid_watch;
	enum wm_app_state state;
	uint32_t pid, uid, vpid;
	bool joined; /* a good HELLO came */
	bool dead;
	bool pool_waits; /* open, and the pump does not have it yet */
	struct wm_pool pool;
	dev_t pool_dev;
	ino_t pool_ino;
	struct wm_producer *producer;
	struct wm_pump_source *source;
	uint32_t messages; /* since the last settle */
	uint64_t generation, filtered_missing;
	uint32_t sites_refused;
	char violation[128]; /* "": none */
};

/* One received message: bytes are checked to be h.bytes, at least the type's structure. */
struct message {
	const unsigned char *data;
	size_t bytes;
	int fd; /* the one descriptor it carried, or -1; taken over by setting -1 */
};

static_assert(sizeof(struct wm_msg_hello) == 64, "messages have no holes");
static_assert(sizeof(struct wm_msg_event) == 24, "messages have no holes");
static_assert(sizeof(struct wm_msg_module) == 56, "messages have no holes");
static_assert(sizeof(struct wm_msg_synced) == 32, "messages have no holes");

static void close_socket(struct wm_app *a)
{
	wm_watch_remove(a->sock_watch);
	a->sock_watch = NULL;
	if (a->sock >= 0)
		close(a->sock);
	a->sock = -1;
}

static int violate(struct wm_app *a, const char *what)
{
	if (!a->violation[0])
		(void)snprintf(a->violation, sizeof(a->violation), "%s", what);
	close_socket(a);
	a->state = WM_APP_ENDED;
	return -EBADMSG;
}

/* ------------------------------------------------------------------ *
 * HELLO
 * ------------------------------------------------------------------ */

/* The parent as we see it, from /proc; 0 when that cannot be read. */
static uint32_t parent_of(uint32_t pid)
{
	char name[64], *text = NULL;
	const char *p;
	size_t bytes;
	unsigned ppid = 0;

	(void)snprintf(name, sizeof(name), "/proc/%u/stat", pid);
	if (wm_file_read(AT_FDCWD, name, 4096, &text, &bytes) < 0)
		return 0;
	p = strrchr(text, ')'); /* comm may hold anything, also ')' */
	if (!p || sscanf(p + 1, " %*c %u", &ppid) != 1)
		ppid = 0;
	free(text);
	return ppid;
}

static int open_pool(struct wm_app *a, int fd)
{
	const struct wm_rules_options *o = wm_rules_options(a->host->rules);
	const struct wm_pool_options expected = {
	    .buffer_bytes = o->buffer_bytes,
	    .big_bytes = o->chunk_bytes,
	    .mode = o->pool_mode,
	};
	struct stat st;

	if (fstat(fd, &st) < 0 || st.st_size <= 0)
		return -EBADMSG;
	if ((uint64_t)st.st_size > wm_pool_size(&expected))
		return -EFBIG;
	a->pool_dev = st.st_dev;
	a->pool_ino = st.st_ino;
	return wm_pool_open(&a->pool, fd);
}

static int join(struct wm_app *a, const struct wm_msg_hello *hello, const char *path)
{
	uint32_t ppid = a->pid ? parent_of(a->pid) : 0;
	char comm[sizeof(hello->comm) + 1] = "";
	const struct wm_producer_info info = {
	    .pid = a->pid ? a->pid : hello->pid,
	    .ppid = ppid ? ppid : hello->ppid,
	    .vpid = hello->pid,
	    .uid = a->uid,
	    .clock = hello->start_clock,
	    .comm = comm,
	    .path = path,
	};

	memcpy(comm, hello->comm, sizeof(hello->comm));
	a->vpid = hello->pid;
	return wm_producer_add(a->host->writer, &info, &a->producer);
}

static int on_hello(struct wm_app *a, struct message *m)
{
	struct wm_msg_hello hello;
	char path[PATH_BYTES_MAX + 1];
	int err;

	memcpy(&hello, m->data, sizeof(hello));
	if (a->state != WM_APP_NEW)
		return violate(a, "it said HELLO twice");
	if (hello.protocol != WM_PROTOCOL)
		return violate(a, "its runtime speaks another version of the protocol");
	if (hello.path_bytes > PATH_BYTES_MAX || hello.path_bytes != m->bytes - sizeof(hello))
		return violate(a, "HELLO: the length of its path is wrong");
	if (m->fd < 0)
		return violate(a, "HELLO without the pool's descriptor");
	memcpy(path, m->data + sizeof(hello), hello.path_bytes);
	path[hello.path_bytes] = '\0';
	err = open_pool(a, m->fd);
	if (err < 0)
		return violate(a, err == -EFBIG   ? "HELLO: a pool larger than the session's"
				  : err == -EPERM ? "HELLO: the pool is not sealed"
						  : "HELLO: the pool makes no sense");
	err = join(a, &hello, path);
	if (err < 0) {
		wm_pool_close(&a->pool);
		return violate(a, "HELLO: no memory for one more process");
	}
	a->pool_waits = a->joined = true;
	a->state = WM_APP_JOINED;
	return 0;
}

/* ------------------------------------------------------------------ *
 * The other messages
 * ------------------------------------------------------------------ */

static int on_event(struct wm_app *a, struct message *m)
{
	struct wm_msg_event e;
	struct wm_class *class;
	char provider[WM_CLASS_NAME_MAX + 1];
	const unsigned char *desc = m->data + sizeof(e);
	size_t rest = m->bytes - sizeof(e);
	int err;

	memcpy(&e, m->data, sizeof(e));
	if (e.id > 0xffff || (e.contexts & ~WM_CONTEXT_ALL))
		return violate(a, "EVENT: an id or context that does not exist");
	if (e.desc_bytes > rest || e.provider_bytes != rest - e.desc_bytes ||
	    e.provider_bytes > WM_CLASS_NAME_MAX)
		return violate(a, "EVENT: its lengths are wrong");
	memcpy(provider, desc + e.desc_bytes, e.provider_bytes);
	provider[e.provider_bytes] = '\0';
	err = wm_class_parse(desc, e.desc_bytes, provider[0] ? provider : NULL, &class, NULL);
	if (err == -ENOMEM)
		return violate(a, "EVENT: no memory for its description");
	if (err < 0)
		return violate(a, "EVENT: a description that makes no sense");
	a->host->on_event(class, a->host->data);
	err = wm_producer_event(a->producer, e.id, e.contexts, class);
	if (err == -EEXIST)
		return violate(a, "EVENT: an id that means something else already");
	if (err == -EINVAL || err == -EBADMSG)
		return violate(a, "EVENT: a description the trace cannot hold");
	return 0; /* a full disk is the writer's trouble: it tries again, and counts */
}

static int on_module(struct wm_app *a, struct message *m)
{
	struct wm_msg_module in;
	char path[PATH_BYTES_MAX + 1];
	size_t rest = m->bytes - sizeof(in);
	struct wm_module_info info;

	memcpy(&in, m->data, sizeof(in));
	if (in.build_id_bytes > BUILD_ID_MAX || in.build_id_bytes > rest ||
	    in.path_bytes != rest - in.build_id_bytes || in.path_bytes > PATH_BYTES_MAX)
		return violate(a, "MODULE: its lengths are wrong");
	memcpy(path, m->data + sizeof(in) + in.build_id_bytes, in.path_bytes);
	path[in.path_bytes] = '\0';
	info = (struct wm_module_info){
	    .clock = in.clock,
	    .base = in.base,
	    .start = in.start,
	    .bytes = in.bytes,
	    .unload = in.unload != 0,
	    .build_id = m->data + sizeof(in),
	    .build_id_bytes = in.build_id_bytes,
	    .path = path,
	};
	(void)wm_trace_module(a->producer, &info); /* as for a full disk above */
	return 0;
}

static int on_synced(struct wm_app *a, struct message *m)
{
	struct wm_msg_synced s;

	memcpy(&s, m->data, sizeof(s));
	a->generation = s.generation;
	a->sites_refused = s.nr_refused;
	return 0;
}

static int on_counts(struct wm_app *a, struct message *m)
{
	struct wm_msg_counts c;

	memcpy(&c, m->data, sizeof(c));
	a->filtered_missing = c.filtered_missing;
	return 0;
}

static int on_bye(struct wm_app *a, struct message *m)
{
	(void)m;
	a->state = WM_APP_ENDED;
	return 0;
}

static const struct {
	uint32_t type;
	bool before_hello, exact, takes_fd;
	size_t bytes; /* at least; exactly when `exact` */
	int (*fn)(struct wm_app *a, struct message *m);
} message_table[] = {
    {WM_MSG_HELLO, true, false, true, sizeof(struct wm_msg_hello), on_hello},
    {WM_MSG_EVENT, false, false, false, sizeof(struct wm_msg_event), on_event},
    {WM_MSG_MODULE, false, false, false, sizeof(struct wm_msg_module), on_module},
    {WM_MSG_SYNCED, false, true, false, sizeof(struct wm_msg_synced), on_synced},
    {WM_MSG_BYE, false, true, false, sizeof(struct wm_msg), on_bye},
    {WM_MSG_COUNTS, false, true, false, sizeof(struct wm_msg_counts), on_counts},
};

static int dispatch(struct wm_app *a, struct message *m)
{
	struct wm_msg h;

	if (m->bytes < sizeof(h))
		return violate(a, "a message shorter than its header");
	memcpy(&h, m->data, sizeof(h));
	if (h.bytes != m->bytes)
		return violate(a, "a message whose length is not what it says");
	if (h.type >= WM_MSG_TOOL && a->state == WM_APP_NEW && m->fd < 0) {
		a->host->on_tool(a, h.type, a->host->data);
		return 0;
	}
	for (size_t i = 0; i < sizeof(message_table) / sizeof(message_table[0]); i++) {
		if (message_table[i].type != h.type)
			continue;
		if (a->state == WM_APP_NEW && !message_table[i].before_hello)
			return violate(a, "a message before HELLO");
		if (m->bytes < message_table[i].bytes ||
		    (message_table[i].exact && m->bytes != message_table[i].bytes))
			return violate(a, "a message of a wrong length");
		if (m->fd >= 0 && !message_table[i].takes_fd)
			return violate(a, "a descriptor where none belongs");
		return message_table[i].fn(a, m);
	}
	return violate(a, "a message of an unknown type");
}

/* ------------------------------------------------------------------ *
 * The socket
 * ------------------------------------------------------------------ */

/* Takes the descriptors out of a message: the first is kept, the others are closed. */
static int collect_fds(struct msghdr *h, int *ret_fd)
{
	int nr = 0;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(h); c; c = CMSG_NXTHDR(h, c)) {
		size_t count;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < count; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + i * sizeof(fd), sizeof(fd));
			if (nr++ == 0)
				*ret_fd = fd;
			else
				close(fd);
		}
	}
	return nr;
}

/* 1: a message was handled; 0: the other end is closed; -EAGAIN: none there; or -errno. */
static int receive_one(struct wm_app *a)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(FDS_MAX * sizeof(int))];
	} control;
	struct iovec iov = {.iov_base = a->host->buffer, .iov_len = WM_MSG_MAX};
	struct msghdr h = {
	    .msg_iov = &iov,
	    .msg_iovlen = 1,
	    .msg_control = control.bytes,
	    .msg_controllen = sizeof(control.bytes),
	};
	struct message m = {.data = a->host->buffer, .fd = -1};
	ssize_t n = recvmsg(a->sock, &h, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	int nr_fds, err;

	if (n < 0)
		return errno == EINTR ? -EAGAIN : -errno;
	nr_fds = collect_fds(&h, &m.fd);
	m.bytes = (size_t)n;
	if (n == 0 && nr_fds == 0)
		return 0;
	if (h.msg_flags & MSG_TRUNC)
		err = violate(a, "a message longer than 64 KiB");
	else if (nr_fds > 1 || (h.msg_flags & MSG_CTRUNC))
		err = violate(a, "more than one descriptor in a message");
	else if (++a->messages > WM_APP_MESSAGES_MAX)
		err = violate(a, "a flood of messages");
	else
		err = dispatch(a, &m);
	if (m.fd >= 0)
		close(m.fd); /* the mapping is enough */
	return err < 0 ? err : 1;
}

/* Whether the process still has its pool mapped: it closed our socket, but did not exec. */
static bool still_maps_pool(const struct wm_app *a)
{
	struct wm_maps maps;
	bool found = false;

	if (a->state != WM_APP_JOINED || !a->pid || wm_maps_read((pid_t)a->pid, &maps) < 0)
		return false;
	for (size_t i = 0; !found && i < maps.nr; i++)
		found = maps.maps[i].inode == a->pool_ino &&
			makedev(maps.maps[i].dev_major, maps.maps[i].dev_minor) == a->pool_dev;
	wm_maps_done(&maps);
	return found;
}

static void socket_closed(struct wm_app *a)
{
	close_socket(a);
	if (!a->dead && a->pidfd >= 0 && still_maps_pool(a))
		return; /* its death will be told by the pidfd */
	a->state = WM_APP_ENDED;
}

/* Reads at most `max` messages. False when there may be more. */
static bool receive(struct wm_app *a, unsigned max)
{
	for (unsigned i = 0; i < max; i++) {
		int n;

		if (a->sock < 0 || a->state == WM_APP_ENDED)
			return true;
		n = receive_one(a);
		if (n == -EAGAIN)
			return true;
		if (n == 0 || (n < 0 && n != -EBADMSG)) {
			socket_closed(a);
			return true;
		}
	}
	return false;
}

static void on_readable(int fd, uint32_t events, void *data)
{
	struct wm_app *a = data;

	(void)fd;
	(void)events;
	(void)receive(a, MESSAGES_PER_CALL);
	if (a->state == WM_APP_ENDED)
		close_socket(a);
}

/* What it had sent before it died is still in the socket. */
static void on_death(int fd, uint32_t events, void *data)
{
	struct wm_app *a = data;

	(void)fd;
	(void)events;
	a->dead = true;
	wm_watch_remove(a->pid_watch);
	a->pid_watch = NULL;
	while (!receive(a, MESSAGES_PER_CALL))
		;
	close_socket(a);
	a->state = WM_APP_ENDED;
}

/* ------------------------------------------------------------------ *
 * Life
 * ------------------------------------------------------------------ */

static int peer_pidfd(int sock, uint32_t pid)
{
	int fd = -1;
	socklen_t bytes = sizeof(fd);

	/* Names the very process that connected, even when its pid is used anew. */
	if (getsockopt(sock, SOL_SOCKET, SO_PEERPIDFD, &fd, &bytes) == 0)
		return fd;
	return pid ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
}

int wm_app_create(const struct wm_app_host *host, int sock, struct wm_app **ret)
{
	struct wm_app *a = calloc(1, sizeof(*a));
	struct ucred peer = {0};
	socklen_t bytes = sizeof(peer);
	int err;

	if (!a) {
		close(sock);
		return -ENOMEM;
	}
	*a = (struct wm_app){.host = host, .sock = sock, .pidfd = -1};
	if (getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) < 0) {
		err = -errno;
		goto fail;
	}
	a->pid = (uint32_t)peer.pid;
	a->uid = peer.uid;
	a->pidfd = peer_pidfd(sock, a->pid);
	err = wm_loop_fd(host->loop, sock, EPOLLIN, on_readable, a, &a->sock_watch);
	if (err < 0)
		goto fail;
	/* Without a pidfd the closed connection is the only word of its end. */
	if (a->pidfd >= 0)
		err = wm_loop_fd(host->loop, a->pidfd, EPOLLIN, on_death, a, &a->pid_watch);
	if (err < 0)
		goto fail;
	*ret = a;
	return 0;
fail:
	wm_app_destroy(a);
	return err;
}

void wm_app_destroy(struct wm_app *a)
{
	if (!a)
		return;
	close_socket(a);
	wm_watch_remove(a->pid_watch);
	if (a->pidfd >= 0)
		close(a->pidfd);
	if (a->pool_waits)
		wm_pool_close(&a->pool);
	free(a);
}

static int hand_over(struct wm_app *a, struct wm_pump *pump)
{
	int err;

	a->pool_waits = false;
	err = wm_pump_add(pump, &a->pool, a->producer, a->pid, &a->source);
	if (err < 0) {
		wm_pool_close(&a->pool);
		(void)violate(a, "no memory for one more process");
	}
	return err;
}

int wm_app_settle(struct wm_app *a, struct wm_pump *pump)
{
	int err = 0, finish_err = 0;

	a->messages = 0;
	if (a->pool_waits)
		err = hand_over(a, pump);
	if (a->state != WM_APP_ENDED)
		return err;
	close_socket(a);
	if (a->source)
		finish_err = wm_pump_finish(pump, a->source);
	a->source = NULL;
	if (a->producer)
		wm_producer_remove(a->producer,
				   wm_clock_read(wm_rules_options(a->host->rules)->clock_kind));
	a->producer = NULL;
	if (err == 0)
		err = finish_err;
	return err < 0 ? err : 1;
}

int wm_app_reply(struct wm_app *a, const void *message, size_t bytes)
{
	if (a->sock < 0)
		return -ENOTCONN;
	return send(a->sock, message, bytes, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int wm_app_send(struct wm_app *a, uint32_t type)
{
	const struct wm_msg m = {.type = type, .bytes = sizeof(m)};

	return wm_app_reply(a, &m, sizeof(m));
}

void wm_app_end(struct wm_app *a)
{
	a->state = WM_APP_ENDED;
}

enum wm_app_state wm_app_state(const struct wm_app *a)
{
	return a->state;
}

uint32_t wm_app_pid(const struct wm_app *a)
{
	return a->pid;
}

uint32_t wm_app_uid(const struct wm_app *a)
{
	return a->uid;
}

bool wm_app_has_joined(const struct wm_app *a)
{
	return a->joined;
}

bool wm_app_is_dead(const struct wm_app *a)
{
	return a->dead;
}

uint64_t wm_app_generation(const struct wm_app *a)
{
	return a->generation;
}

uint32_t wm_app_sites_refused(const struct wm_app *a)
{
	return a->sites_refused;
}

uint64_t wm_app_filtered_missing(const struct wm_app *a)
{
	return a->filtered_missing;
}

const char *wm_app_violation(const struct wm_app *a)
{
	return a->violation[0] ? a->violation : NULL;
}
