/* SPDX-License-Identifier: MIT */
/*
 * member.c - see member.h. Messages are received into one shared buffer and passed to
 * member_message.c. The process's identity comes from the socket's credentials, never from its
 * messages.
 */
#include "control/session/member_int.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/maps.h"
#include "base/process.h"
#include "base/receive.h"
#include "runtime/agent.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

#define MESSAGES_PER_CALL 64   /* after this many messages, the loop serves other descriptors */
#define MESSAGES_HELD     1024 /* more messages than a socket can hold */
#define FDS_MAX           4    /* descriptors accepted per message; the kernel closes any others */

static void close_socket(struct wm_app *a)
{
	wm_watch_remove(a->sock_watch);
	a->sock_watch = NULL;
	if (a->sock >= 0)
		close(a->sock);
	a->sock = -1;
}

static int quarantine(struct wm_app *a, const char *cause, const char *what)
{
	if (!a->violation[0])
		(void)snprintf(a->violation, sizeof(a->violation), "%s%s", cause, what);
	close_socket(a);
	a->state = WM_APP_ENDED;
	return -EBADMSG;
}

int wm_app_violate(struct wm_app *a, const char *what)
{
	return quarantine(a, "it broke the protocol: ", what);
}

int wm_app_refuse(struct wm_app *a, const char *why)
{
	return quarantine(a, "", why);
}

/* ------------------------------------------------------------------ *
 * The socket
 * ------------------------------------------------------------------ */

/* Takes the descriptors out of a message: keeps the first one and closes the others. */
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

/*
 * Receives a message. Returns 1 if it was handled, 0 if the peer closed, -EAGAIN if no message is
 * waiting, or -errno.
 */
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
	struct wm_app_message m = {.data = a->host->buffer, .fd = -1};
	ssize_t n = wm_receive_message(a->sock, &h, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	int nr_fds, err;

	if (n < 0)
		return (int)n;
	nr_fds = collect_fds(&h, &m.fd);
	m.bytes = (size_t)n;
	if (n == 0 && nr_fds == 0)
		return 0;
	if (h.msg_flags & MSG_TRUNC)
		err = wm_app_violate(a, "a message longer than 64 KiB");
	else if (nr_fds == 0 && (h.msg_flags & MSG_CTRUNC))
		err = wm_app_refuse(
		    a, "waymark has no free file descriptor for its memory; raise the limit "
		       "of open files with 'ulimit -n'");
	else if (nr_fds > 1 || (h.msg_flags & MSG_CTRUNC))
		err = wm_app_violate(a, "a message with more than one descriptor");
	else if (a->allowance-- == 0)
		err = wm_app_violate(a, "too many messages per second");
	else
		err = wm_app_dispatch(a, &m);
	if (m.fd >= 0)
		close(m.fd); /* the descriptor is not needed, because the pool is mapped */
	return err < 0 ? err : 1;
}

/* Whether the process still maps its pool. If so, it has closed the socket but not called exec. */
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
		return; /* its pidfd will report when it dies */
	a->state = WM_APP_ENDED;
}

/* Reads at most `max` messages. Returns false when more may be waiting. */
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

static void member_on_readable(int fd, uint32_t events, void *data)
{
	struct wm_app *a = data;

	(void)fd;
	(void)events;
	(void)receive(a, MESSAGES_PER_CALL);
	if (a->state == WM_APP_ENDED)
		close_socket(a);
}

void wm_app_catch_up(struct wm_app *a)
{
	if (a->host->writer && (!a->source || !wm_pump_source_has_parts(a->source)))
		return;
	(void)receive(a, MESSAGES_HELD);
	if (a->state == WM_APP_ENDED)
		close_socket(a);
}

/* The process died. Messages that it sent before that are still in the socket. */
static void on_death(int fd, uint32_t events, void *data)
{
	struct wm_app *a = data;

	(void)fd;
	(void)events;
	a->dead = true;
	wm_watch_remove(a->pid_watch);
	a->pid_watch = NULL;
	/* limited, because another process may hold the socket and keep sending. */
	(void)receive(a, MESSAGES_HELD);
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

	/* This pidfd refers to the process that connected, even if its pid was reused. */
	if (getsockopt(sock, SOL_SOCKET, SO_PEERPIDFD, &fd, &bytes) == 0)
		return fd;
	return pid ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
}

int wm_app_create(const struct wm_app_host *host, int sock, void *owner, struct wm_app **ret)
{
	struct wm_app *a = calloc(1, sizeof(*a));
	struct ucred peer = {0};
	socklen_t bytes = sizeof(peer);
	int err;

	if (!a) {
		close(sock);
		return -ENOMEM;
	}
	*a = (struct wm_app){.host = host,
			     .owner = owner,
			     .sock = sock,
			     .pidfd = -1,
			     .allowance = WM_APP_MESSAGES_MAX,
			     .allowance_ns = wm_clock_monotonic_ns()};
	if (getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) < 0) {
		err = -errno;
		goto fail;
	}
	a->pid = (uint32_t)peer.pid;
	a->uid = peer.uid;
	a->pidfd = peer_pidfd(sock, a->pid);
	err = wm_loop_fd(host->loop, sock, EPOLLIN, member_on_readable, a, &a->sock_watch);
	if (err < 0)
		goto fail;
	/* Without a pidfd, only the closed connection shows that the process has ended. */
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
		(void)wm_app_refuse(a, err == -ENOMEM ? "out of memory for another process"
						      : wm_diag_errno(err));
	}
	return err;
}

static void raise_allowance(struct wm_app *a)
{
	const uint64_t one_ns = WM_NS_PER_SECOND / WM_APP_MESSAGES_PER_SECOND;
	uint64_t now = wm_clock_monotonic_ns(), more = (now - a->allowance_ns) / one_ns;

	a->allowance_ns += more * one_ns;
	a->allowance += more;
	if (a->allowance > WM_APP_MESSAGES_MAX)
		a->allowance = WM_APP_MESSAGES_MAX;
}

/* Quarantines the process if the pump found, and counted, a fault in its memory. */
static void take_pump_fault(struct wm_app *a, const char *fault)
{
	if (!fault || a->pump_fault)
		return;
	a->pump_fault = true;
	(void)quarantine(a, "its shared memory is corrupt: ", fault);
}

int wm_app_settle(struct wm_app *a, struct wm_pump *pump)
{
	const char *fault = NULL;
	int err = 0, finish_err = 0;

	raise_allowance(a);
	if (a->pool_waits && pump)
		err = hand_over(a, pump);
	if (a->source)
		take_pump_fault(a, wm_pump_source_fault(a->source));
	if (a->state != WM_APP_ENDED)
		return err;
	close_socket(a);
	if (a->source)
		finish_err = wm_pump_finish(pump, a->source, &fault);
	take_pump_fault(a, fault);
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

void wm_app_release(struct wm_app *a)
{
	struct wm_msg_last m = {.h = {.type = WM_MSG_LAST, .bytes = sizeof(m)}};
	int status = 0;

	if (a->state != WM_APP_JOINED || !a->pid || wm_process_left_threads(a->pid, &status) != 1)
		return;
	m.status = (uint32_t)(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
	(void)wm_app_reply(a, &m, sizeof(m));
}

void wm_app_end(struct wm_app *a)
{
	a->state = WM_APP_ENDED;
}

void *wm_app_owner(const struct wm_app *a)
{
	return a->owner;
}

struct wm_pool *wm_app_pool(struct wm_app *a)
{
	return a->pool_waits ? &a->pool : NULL;
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

uint32_t wm_app_flags(const struct wm_app *a)
{
	return a->flags;
}

bool wm_app_hears(const struct wm_app *a)
{
	return a->sock >= 0;
}

const struct wm_msg_synced *wm_app_synced(const struct wm_app *a)
{
	return &a->synced;
}

uint64_t wm_app_filtered_missing(const struct wm_app *a)
{
	return a->filtered_missing;
}

const char *wm_app_violation(const struct wm_app *a)
{
	return a->violation[0] ? a->violation : NULL;
}

bool wm_app_pump_fault(const struct wm_app *a)
{
	return a->pump_fault;
}
