/* SPDX-License-Identifier: MIT */
/*
 * tell.c - sends this process's messages to its recorders: collects them and sends them one by one,
 * or many in a file. agent.h defines the protocol. All functions need the runtime's lock. They wait
 * only for room in the socket, and only for a limited time.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/memfd.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "base/atomic.h"
#include "runtime/patch_int.h"
#include "runtime/runtime_int.h"
#include "runtime/sys_int.h"
#include "runtime/tell_int.h"

#define OUT_BYTES WM_BATCH_MAX_BYTES

/*
 * Whether the descriptor is still the runtime's socket. The program may have closed it and reused
 * its number. If so, the session is deaf: the pool is mapped at both ends, so events already
 * announced are still recorded, but no new ones.
 */
static bool socket_is_ours(const struct wm_guest_session *s)
{
	struct stat st;
	return s->socket >= 0 && !wm_sys_failed(WM_SYS_2(SYS_fstat, s->socket, &st)) &&
	       st.st_ino == s->socket_inode && (st.st_mode & S_IFMT) == S_IFSOCK;
}

bool wm_guest_session_is_deaf(struct wm_guest_session *s)
{
	if (s->socket >= 0 && !socket_is_ours(s))
		s->socket = -1;
	return s->socket < 0;
}

int wm_guest_session_send(struct wm_guest_session *s, const void *bytes, size_t n, int fd)
{
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = {{0}};
	struct iovec iov = {(void *)(uintptr_t)bytes, n};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};

	if (wm_guest_session_is_deaf(s))
		return -EBADF;
	if (fd >= 0) {
		struct cmsghdr *c = &control.align;
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		*(int *)(void *)CMSG_DATA(c) = fd;
		m.msg_control = &control;
		m.msg_controllen = sizeof(control.room);
	}
	for (int waited = 0;; waited += 10) {
		struct pollfd p = {s->socket, POLLOUT, 0};
		struct timespec ms10 = {0, 10 * 1000 * 1000};
		long got = WM_SYS_3(SYS_sendmsg, s->socket, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (got != -EAGAIN && got != -EINTR)
			return got < 0 ? (int)got : 0;
		if (waited >= WM_SEND_WAIT_MS)
			return -ETIMEDOUT; /* the recorder is not reading */
		(void)WM_SYS_6(SYS_ppoll, &p, 1, &ms10, 0, 0, 0);
	}
}

long wm_guest_session_memfd(const char *name)
{
	long fd = WM_SYS_2(SYS_memfd_create, name, MFD_CLOEXEC | MFD_ALLOW_SEALING), high;
	if (wm_sys_failed(fd))
		return fd;
	high = WM_SYS_3(SYS_fcntl, fd, F_DUPFD_CLOEXEC, WM_FD_MOVED_ABOVE);
	if (wm_sys_failed(high))
		return fd; /* keeps the low number, because the descriptor limit is small */
	(void)WM_SYS_1(SYS_close, fd);
	return high;
}

/* A write beyond RLIMIT_FSIZE would raise a signal in the program. */
static bool may_write(size_t bytes)
{
	struct rlimit limit = {0, 0};

	(void)WM_SYS_2(SYS_getrlimit, RLIMIT_FSIZE, &limit);
	return bytes <= limit.rlim_cur;
}

/* Sends many messages at once, in a file. */
static int send_batch(struct wm_guest_session *s)
{
	struct wm_msg_batch b = {{WM_MSG_BATCH, sizeof(b)}, s->out_bytes};
	long fd = wm_guest_session_memfd("waymark-batch"), got = 0;
	size_t n = 0;
	int err;

	if (wm_sys_failed(fd))
		return (int)fd;
	while (n < s->out_bytes && got >= 0) {
		got = WM_SYS_3(SYS_write, fd, s->out + n, s->out_bytes - n);
		if (got > 0)
			n += (size_t)got;
	}
	err = got < 0 ? (int)got : wm_guest_session_send(s, &b, sizeof(b), (int)fd);
	(void)WM_SYS_1(SYS_close, fd);
	return err;
}

/* Sends the messages one by one, because the recorder expects one message per packet. */
static int send_each(struct wm_guest_session *s)
{
	size_t at = 0;
	while (at < s->out_bytes) {
		const struct wm_msg *m = (const void *)(s->out + at);
		int err = wm_guest_session_send(s, m, m->bytes, -1);
		if (err < 0)
			return err;
		at += (m->bytes + 7u) & ~7u;
	}
	return 0;
}

int wm_guest_session_flush(struct wm_guest_session *s)
{
	int err;

	if (!s->out_bytes)
		return 0;
	err = s->out_bytes > 16384 && may_write(s->out_bytes) ? send_batch(s) : send_each(s);
	s->out_bytes = 0;
	return err;
}

/*
 * Returns room, zeroed, for a message of n bytes in the outgoing buffer; NULL if there is not
 * enough.
 */
static void *out_message(struct wm_guest_session *s, uint32_t type, size_t n)
{
	size_t padded = (n + 7) & ~(size_t)7;
	struct wm_msg *m;

	if (!s->out) {
		s->out = wm_sys_map(OUT_BYTES);
		s->out_room = OUT_BYTES;
	}
	if (!s->out || n > WM_MSG_MAX)
		return NULL;
	if (padded > s->out_room - s->out_bytes && wm_guest_session_flush(s) < 0)
		return NULL;
	m = (void *)(s->out + s->out_bytes);
	wm_mem_zero(m, padded);
	m->type = type;
	m->bytes = (uint32_t)n;
	s->out_bytes += padded;
	return m;
}

bool wm_guest_session_announce(struct wm_guest_session *s, const struct wm_event_entry *e,
			       uint32_t id, uint32_t contexts)
{
	size_t n = sizeof(struct wm_msg_event) + e->desc->size + e->provider_bytes;
	struct wm_msg_event *m = s->socket < 0 ? NULL : out_message(s, WM_MSG_EVENT, n);

	if (!m)
		return false;
	m->id = id;
	m->contexts = contexts;
	m->desc_bytes = e->desc->size;
	m->provider_bytes = e->provider_bytes;
	wm_mem_copy(m + 1, e->desc, e->desc->size);
	wm_mem_copy((char *)(m + 1) + e->desc->size, e->provider, e->provider_bytes);
	return true;
}

void wm_guest_session_say_module(struct wm_guest_session *s, const struct wm_guest_module *m,
				 bool unload)
{
	size_t path = wm_str_len(m->path);
	struct wm_msg_module *msg =
	    out_message(s, WM_MSG_MODULE, sizeof(*msg) + m->build_id_bytes + path);
	char *p;

	if (!msg)
		return;
	msg->clock = wm_guest_clock_now(s->clock_kind);
	msg->base = m->bias;
	msg->start = m->start;
	msg->bytes = m->end - m->start;
	msg->unload = unload;
	msg->build_id_bytes = m->build_id_bytes;
	msg->path_bytes = (uint32_t)path;
	p = (char *)(msg + 1);
	wm_mem_copy(p, m->build_id, m->build_id_bytes);
	wm_mem_copy(p + m->build_id_bytes, m->path, path);
}

void wm_guest_session_module(const struct wm_guest_module *m, bool unload)
{
	for (unsigned k = 0; k < WM_SLOTS; k++)
		if (wm_rt.session[k].active)
			wm_guest_session_say_module(&wm_rt.session[k], m, unload);
}

void wm_guest_session_synced(struct wm_guest_session *s)
{
	struct wm_msg_synced *m = out_message(s, WM_MSG_SYNCED, sizeof(*m));
	unsigned k = (unsigned)(s - wm_rt.session);
	bool stuck = wm_patch_init(false) == WM_PATCH_NONE;

	if (!m)
		return;
	m->generation = s->rules_generation;
	m->nr_refused = wm_rt.refused;
	wm_mem_copy(m->matched, s->matched, sizeof(m->matched));
	wm_mem_copy(m->unfit, s->unfit, sizeof(m->unfit));
	for (struct wm_event_entry *e = wm_rt.events; e; e = e->next) {
		bool on = e->enabled && e->slot[k].on;
		m->nr_events += on;
		for (struct wm_site_ref *r = on ? e->refs : NULL; r; r = r->next) {
			m->nr_sites++;
			m->nr_unpatched += stuck && r->site->insn;
		}
	}
	(void)wm_guest_session_flush(s);
}

void wm_guest_session_counts(void)
{
	for (unsigned k = 0; k < WM_SLOTS; k++) {
		struct wm_guest_session *s = &wm_rt.session[k];
		struct wm_msg_counts m = {{WM_MSG_COUNTS, sizeof(m)}, s->missing_field};
		if (s->active && s->missing_told != s->missing_field &&
		    wm_guest_session_send(s, &m, sizeof(m), -1) == 0)
			s->missing_told = s->missing_field;
	}
}

void wm_guest_session_all_synced(void)
{
	for (unsigned k = 0; k < WM_SLOTS; k++)
		if (wm_rt.session[k].active)
			wm_guest_session_synced(&wm_rt.session[k]);
}
