/* SPDX-License-Identifier: MIT */
/*
 * channel.c - sends orders and reads reports; see channel.h. The pair is SOCK_SEQPACKET, so a
 * report arrives whole or not at all.
 */
#include "control/pump/channel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/receive.h"
#include "control/pump/pumproc_int.h"

int wm_channel_order(struct wm_channel *c, enum wm_order order)
{
	uint32_t word = order;

	if (c->fd < 0)
		return -EPIPE;
	return send(c->fd, &word, sizeof(word), MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

int wm_channel_look(struct wm_channel *c, uint64_t freed)
{
	const struct wm_order_look o = {.order = WM_ORDER_LOOK, .freed = freed};

	if (c->fd < 0)
		return -EPIPE;
	return send(c->fd, &o, sizeof(o), MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

int wm_channel_sample(struct wm_channel *c, const struct wm_sampling_whom *whom)
{
	size_t bytes = sizeof(struct wm_order_sample) + whom->nr_tids * sizeof(pid_t);
	struct wm_order_sample *o;
	int err = 0;

	if (whom->nr_tids > WM_SAMPLING_TIDS_MAX)
		return -E2BIG;
	o = calloc(1, bytes);
	if (!o)
		return -ENOMEM;
	o->order = WM_ORDER_SAMPLE;
	o->on_exec = whom->on_exec;
	o->alone = whom->alone;
	o->nr_tids = (uint32_t)whom->nr_tids;
	if (whom->nr_tids)
		memcpy(o->tids, whom->tids, whom->nr_tids * sizeof(pid_t));
	if (send(c->fd, o, bytes, MSG_NOSIGNAL) < 0)
		err = -errno;
	free(o);
	return err;
}

int wm_channel_follow(struct wm_channel *c, pid_t pid)
{
	const struct wm_order_follow o = {.order = WM_ORDER_FOLLOW, .pid = pid};

	return send(c->fd, &o, sizeof(o), MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int wm_channel_read(struct wm_channel *c, bool wait, struct wm_report *ret)
{
	struct wm_report report;
	ssize_t n;

	if (c->fd < 0)
		return wait ? 0 : -EPIPE;
	n = wm_receive(c->fd, &report, sizeof(report), wait ? 0 : MSG_DONTWAIT);
	if (n == -EAGAIN && !wait)
		return 0;
	if (n != (ssize_t)sizeof(report))
		return wait ? 0 : -EPIPE;
	report.sentence[sizeof(report.sentence) - 1] = '\0';
	*ret = report;
	return 1;
}

void wm_channel_done(struct wm_channel *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
}
