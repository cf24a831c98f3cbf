/* SPDX-License-Identifier: MIT */
/*
 * producer_names.c - records the names of a process's threads that are not the process's own name.
 * A name is recorded when it changes; most processes name no thread and cost one comparison a
 * packet.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "write/writer_int.h"

/* Thread ids come from the process and may be invented. */
#define NAMED_MAX 65536u

struct wm_named_thread {
	uint32_t tid;
	char comm[WM_COMM_BYTES]; /* the last name recorded */
};

static struct wm_named_thread *producer_names_find(struct wm_producer *p, uint32_t tid)
{
	struct wm_table_walk w = wm_table_walk(wm_table_hash(&p->by_tid, tid));

	while (wm_table_next(&p->by_tid, &w))
		if (p->named[w.index].tid == tid)
			return &p->named[w.index];
	return NULL;
}

/* Adds a thread that has the process's name. Returns NULL at the limit or when out of memory. */
static struct wm_named_thread *producer_names_add(struct wm_producer *p, uint32_t tid)
{
	struct wm_named_thread *one;

	if (p->nr_named >= NAMED_MAX || WM_ARRAY_GROW(p->named, p->room_named, p->nr_named + 1u) ||
	    wm_table_add(&p->by_tid, wm_table_hash(&p->by_tid, tid), p->nr_named))
		return NULL;
	one = &p->named[p->nr_named++];
	one->tid = tid;
	memcpy(one->comm, p->comm, sizeof(one->comm));
	return one;
}

void wm_producer_name_thread(struct wm_producer *p, const struct wm_raw_packet *packet)
{
	char comm[WM_COMM_BYTES + 1] = "";
	bool plain = !strncmp(packet->comm, p->comm, WM_COMM_BYTES);
	struct wm_named_thread *one;

	if (!packet->comm[0] || (plain && !p->nr_named))
		return;
	one = producer_names_find(p, packet->tid);
	if (!one && !plain)
		one = producer_names_add(p, packet->tid);
	if (!one || !strncmp(packet->comm, one->comm, WM_COMM_BYTES))
		return;
	memcpy(one->comm, packet->comm, WM_COMM_BYTES);
	memcpy(comm, packet->comm, WM_COMM_BYTES);
	wm_stream_recorder_thread(p->writer, p->pid, packet->tid, packet->begin, comm);
}

void wm_producer_names_done(struct wm_producer *p)
{
	wm_table_done(&p->by_tid);
	free(p->named);
}
