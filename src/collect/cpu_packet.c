/* SPDX-License-Identifier: MIT */
/* cpu_packet.c - see cpu_packet_int.h. */
#include "collect/cpu_packet_int.h"

#include <errno.h>
#include <stdlib.h>

int wm_cpu_packet_init(struct wm_cpu_packet *p, struct wm_kernel_stream *stream,
		       size_t record_bytes)
{
	*p = (struct wm_cpu_packet){.stream = stream,
				    .room = WM_CPU_PACKET_BYTES + record_bytes + WM_RECORD_ALIGN};
	p->buffer = malloc(p->room);
	return p->buffer ? 0 : -ENOMEM;
}

void wm_cpu_packet_done(struct wm_cpu_packet *p)
{
	free(p->buffer);
	p->buffer = NULL;
}

int wm_cpu_packet_flush(struct wm_cpu_packet *p)
{
	const struct wm_kernel_packet out = {
	    .cpu = p->cpu,
	    .ring = p->ring,
	    .begin = p->begin,
	    .end = p->end,
	    .count = p->count,
	    .lost = p->lost,
	    .payload = p->buffer,
	    .payload_bytes = p->bytes,
	    .padding_bytes = p->padding,
	};
	int err;

	if (!p->count)
		return 0;
	err = wm_stream_kernel_packet(p->stream, &out);
	if (err) {
		p->error = err;
		p->lost_disk += p->count;
	} else {
		p->packets++;
		p->written += p->bytes;
		p->events += p->count;
	}
	p->begin = p->end = p->count = p->lost = 0;
	p->bytes = p->padding = 0;
	return err;
}

void wm_cpu_packet_account(const struct wm_cpu_packet *p, struct wm_source_totals *t)
{
	t->events += p->events;
	t->packets += p->packets;
	t->bytes += p->written;
	t->lost[WM_LOST_DISK] += p->lost_disk;
	if (!t->error)
		t->error = p->error;
}
