/* SPDX-License-Identifier: MIT */
/*
 * member_message.c - checks a traced process's messages and passes them on. Every length is
 * compared with the message's size before it is used, and everything kept is copied. A protocol
 * violation ends in wm_app_violate().
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/process.h"
#include "control/session/member_int.h"
#include "control/tool.h"
#include "event/class.h"
#include "runtime/agent.h"

#define BUILD_ID_MAX   64u
#define PATH_BYTES_MAX 4096u

static_assert(sizeof(struct wm_msg_hello) == 64, "no padding in messages");
static_assert(sizeof(struct wm_msg_event) == 24, "no padding in messages");
static_assert(sizeof(struct wm_msg_module) == 56, "no padding in messages");
static_assert(sizeof(struct wm_msg_synced) == 32 + 2 * WM_RULES_NR_MAX / 8,
	      "no padding in messages");
static_assert(sizeof(struct wm_msg_batch) == 16, "no padding in messages");

/* ------------------------------------------------------------------ *
 * HELLO
 * ------------------------------------------------------------------ */

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

/* Limits a clock value to now, because a value in the future would delay whole streams. */
static uint64_t not_future(const struct wm_app *a, uint64_t clock)
{
	uint64_t now = wm_clock_read(wm_rules_options(a->host->rules)->clock_kind);

	return clock < now ? clock : now;
}

static int add_producer(struct wm_app *a, const struct wm_msg_hello *hello, const char *path)
{
	uint32_t ppid = a->pid ? wm_process_parent(a->pid) : 0;
	char comm[sizeof(hello->comm) + 1] = "";
	const struct wm_producer_info info = {
	    .pid = a->pid ? a->pid : hello->pid,
	    .ppid = ppid ? ppid : hello->ppid,
	    .vpid = hello->pid,
	    .uid = a->uid,
	    .clock = not_future(a, hello->start_clock),
	    .comm = comm,
	    .path = path,
	};

	memcpy(comm, hello->comm, sizeof(hello->comm));
	return wm_producer_add(a->host->writer, &info, &a->producer);
}

/*
 * Checks that the runtime counts. Without WM_HELLO_COUNTS it is an older one, which would record.
 */
static int member_message_check_counts(struct wm_app *a, const struct wm_msg_hello *hello)
{
	bool counts = hello->flags & WM_HELLO_COUNTS;

	if (counts == wm_rules_options(a->host->rules)->counts)
		return 0;
	return counts ? wm_app_violate(a, "HELLO announces counts, but this session records events")
		      : wm_app_refuse(a, "its runtime is too old to count, it can only record; "
					 "rebuild the program, or use 'waymark record'");
}

static int on_hello(struct wm_app *a, struct wm_app_message *m)
{
	struct wm_msg_hello hello;
	char path[PATH_BYTES_MAX + 1];
	int err;

	memcpy(&hello, m->data, sizeof(hello));
	if (a->state != WM_APP_NEW)
		return wm_app_violate(a, "a second HELLO");
	if (hello.protocol != WM_PROTOCOL)
		return wm_app_refuse(
		    a, "its runtime uses a different version of the protocol; run it with the "
		       "runtime of this waymark");
	if (member_message_check_counts(a, &hello) < 0)
		return -EBADMSG;
	if (hello.path_bytes > PATH_BYTES_MAX || hello.path_bytes != m->bytes - sizeof(hello))
		return wm_app_violate(a, "HELLO: wrong length of the path");
	if (m->fd < 0)
		return wm_app_violate(a, "HELLO without the pool's descriptor");
	memcpy(path, m->data + sizeof(hello), hello.path_bytes);
	path[hello.path_bytes] = '\0';
	err = open_pool(a, m->fd);
	if (err < 0)
		return err == -ENOMEM
			   ? wm_app_refuse(a, "out of memory to map its shared memory; raise the "
					      "limit with 'ulimit -v'")
			   : wm_app_violate(
				 a, err == -EFBIG
					? "HELLO: its pool is larger than the session allows"
				    : err == -EPERM ? "HELLO: its pool is not sealed"
						    : "HELLO: its pool is invalid");
	a->vpid = hello.pid;
	a->flags = hello.flags;
	err = a->host->writer ? add_producer(a, &hello, path) : 0;
	if (err < 0) {
		wm_pool_close(&a->pool);
		return wm_app_refuse(a, "out of memory for another process");
	}
	a->pool_waits = a->joined = true;
	a->state = WM_APP_JOINED;
	return 0;
}

/* ------------------------------------------------------------------ *
 * The other messages
 * ------------------------------------------------------------------ */

static int on_event(struct wm_app *a, struct wm_app_message *m)
{
	struct wm_msg_event e;
	struct wm_class *class;
	char provider[WM_CLASS_NAME_MAX + 1];
	const unsigned char *desc = m->data + sizeof(e);
	size_t rest = m->bytes - sizeof(e);
	int err;

	memcpy(&e, m->data, sizeof(e));
	if (e.id > 0xffff || (e.contexts & ~WM_CONTEXT_ALL))
		return wm_app_violate(a, "EVENT: invalid id or context");
	if (e.desc_bytes > rest || e.provider_bytes != rest - e.desc_bytes ||
	    e.provider_bytes > WM_CLASS_NAME_MAX)
		return wm_app_violate(a, "EVENT: wrong lengths");
	memcpy(provider, desc + e.desc_bytes, e.provider_bytes);
	provider[e.provider_bytes] = '\0';
	err = wm_class_parse(desc, e.desc_bytes, provider[0] ? provider : NULL, &class, NULL);
	if (err == -ENOMEM)
		return wm_app_refuse(a, "out of memory for the description of an event");
	if (err < 0)
		return wm_app_violate(a, "EVENT: invalid description");
	a->host->on_event(a, e.id, class, a->host->data);
	if (!a->producer) {
		wm_class_destroy(class);
		return 0;
	}
	err = wm_producer_event(a->producer, e.id, e.contexts, class);
	if (err == -EEXIST)
		return wm_app_violate(a, "EVENT: the id already belongs to another event");
	if (err == -EINVAL || err == -EBADMSG)
		return wm_app_violate(a, "EVENT: its description does not fit the trace format");
	return 0; /* if the disk is full, the writer retries later and counts the loss */
}

static int on_module(struct wm_app *a, struct wm_app_message *m)
{
	struct wm_msg_module in;
	char path[PATH_BYTES_MAX + 1];
	size_t rest = m->bytes - sizeof(in);
	struct wm_module_info info;

	if (!a->producer)
		return 0; /* counts contain no addresses */
	memcpy(&in, m->data, sizeof(in));
	if (in.build_id_bytes > BUILD_ID_MAX || in.build_id_bytes > rest ||
	    in.path_bytes != rest - in.build_id_bytes || in.path_bytes > PATH_BYTES_MAX)
		return wm_app_violate(a, "MODULE: wrong lengths");
	memcpy(path, m->data + sizeof(in) + in.build_id_bytes, in.path_bytes);
	path[in.path_bytes] = '\0';
	info = (struct wm_module_info){
	    .clock = not_future(a, in.clock),
	    .base = in.base,
	    .start = in.start,
	    .bytes = in.bytes,
	    .unload = in.unload != 0,
	    .build_id = m->data + sizeof(in),
	    .build_id_bytes = in.build_id_bytes,
	    .path = path,
	};
	(void)wm_writer_module(a->producer, &info); /* if the disk is full: as above */
	return 0;
}

static int on_synced(struct wm_app *a, struct wm_app_message *m)
{
	memcpy(&a->synced, m->data, sizeof(a->synced));
	return 0;
}

static int on_counts(struct wm_app *a, struct wm_app_message *m)
{
	struct wm_msg_counts c;

	memcpy(&c, m->data, sizeof(c));
	a->filtered_missing = c.filtered_missing;
	return 0;
}

static int on_bye(struct wm_app *a, struct wm_app_message *m)
{
	(void)m;
	a->state = WM_APP_ENDED;
	return 0;
}

/* Copies the file's contents, so that later changes by the process have no effect. */
static int copy_batch(int fd, uint64_t bytes, unsigned char **ret)
{
	unsigned char *copy;
	size_t done = 0;

	/*
	 * Accepts only sealable (shared) memory, because reading another kind of file could block
	 * forever.
	 */
	if (bytes > WM_BATCH_MAX_BYTES || fcntl(fd, F_GET_SEALS) < 0)
		return -EBADMSG;
	copy = malloc(bytes ? bytes : 1);
	if (!copy)
		return -ENOMEM;
	while (done < bytes) {
		ssize_t n = pread(fd, copy + done, bytes - done, (off_t)done);

		if (n <= 0 && !(n < 0 && errno == EINTR)) {
			free(copy);
			return -EBADMSG;
		}
		done += n > 0 ? (size_t)n : 0;
	}
	*ret = copy;
	return 0;
}

static int member_message_take_batch(struct wm_app *a, const unsigned char *data, size_t bytes)
{
	size_t at = 0;

	while (at < bytes) {
		struct wm_app_message m = {.data = data + at, .fd = -1};
		struct wm_msg h;
		int err;

		if (bytes - at < sizeof(h))
			return wm_app_violate(a, "BATCH: ends inside a message");
		memcpy(&h, data + at, sizeof(h));
		m.bytes = h.bytes;
		if (h.type != WM_MSG_EVENT && h.type != WM_MSG_MODULE)
			return wm_app_violate(a,
					      "BATCH: a message of a type not allowed in a batch");
		if (h.bytes < sizeof(h) || h.bytes > bytes - at || h.bytes > WM_MSG_MAX)
			return wm_app_violate(a, "BATCH: a message of wrong length");
		if (a->allowance-- == 0)
			return wm_app_violate(a, "too many messages per second");
		err = wm_app_dispatch(a, &m);
		if (err < 0)
			return err;
		at += ((size_t)h.bytes + 7) & ~(size_t)7;
	}
	return 0;
}

static int on_batch(struct wm_app *a, struct wm_app_message *m)
{
	struct wm_msg_batch b;
	unsigned char *copy;
	int err;

	memcpy(&b, m->data, sizeof(b));
	if (m->fd < 0)
		return wm_app_violate(a, "BATCH without a descriptor");
	err = copy_batch(m->fd, b.bytes, &copy);
	if (err < 0)
		return err == -ENOMEM ? wm_app_refuse(a, "out of memory for its messages")
				      : wm_app_violate(a, "BATCH: its file is invalid");
	err = member_message_take_batch(a, copy, b.bytes);
	free(copy);
	return err;
}

static const struct {
	uint32_t type;
	bool before_hello, exact, takes_fd;
	size_t bytes; /* minimum size, or the exact size if `exact` */
	int (*fn)(struct wm_app *a, struct wm_app_message *m);
} message_table[] = {
    {WM_MSG_HELLO, true, false, true, sizeof(struct wm_msg_hello), on_hello},
    {WM_MSG_EVENT, false, false, false, sizeof(struct wm_msg_event), on_event},
    {WM_MSG_MODULE, false, false, false, sizeof(struct wm_msg_module), on_module},
    {WM_MSG_SYNCED, false, true, false, sizeof(struct wm_msg_synced), on_synced},
    {WM_MSG_BYE, false, true, false, sizeof(struct wm_msg), on_bye},
    {WM_MSG_BATCH, false, true, true, sizeof(struct wm_msg_batch), on_batch},
    {WM_MSG_COUNTS, false, true, false, sizeof(struct wm_msg_counts), on_counts},
};

int wm_app_dispatch(struct wm_app *a, struct wm_app_message *m)
{
	struct wm_msg h;

	if (m->bytes < sizeof(h))
		return wm_app_violate(a, "a message shorter than its header");
	memcpy(&h, m->data, sizeof(h));
	if (h.bytes != m->bytes)
		return wm_app_violate(a, "a message whose header gives a different length");
	if (h.type >= WM_MSG_TOOL && a->state == WM_APP_NEW && m->fd < 0) {
		a->host->on_tool(a, m->data, m->bytes, a->host->data);
		return 0;
	}
	for (size_t i = 0; i < sizeof(message_table) / sizeof(message_table[0]); i++) {
		if (message_table[i].type != h.type)
			continue;
		if (a->state == WM_APP_NEW && !message_table[i].before_hello)
			return wm_app_violate(a, "a message before HELLO");
		if (m->bytes < message_table[i].bytes ||
		    (message_table[i].exact && m->bytes != message_table[i].bytes))
			return wm_app_violate(a, "a message of wrong length");
		if (m->fd >= 0 && !message_table[i].takes_fd)
			return wm_app_violate(a, "an unexpected descriptor");
		return message_table[i].fn(a, m);
	}
	return wm_app_violate(a, "a message of an unknown type");
}
