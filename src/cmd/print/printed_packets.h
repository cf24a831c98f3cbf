/* SPDX-License-Identifier: MIT */
/* printed_packets.h - which packets of growing traces were printed already. */
#ifndef WM_CMD_PRINT_PRINTED_PACKETS_H
#define WM_CMD_PRINT_PRINTED_PACKETS_H

#include "trace/reader.h"

struct wm_print_seen;

struct wm_print_seen *wm_print_seen_create(void); /* NULL: no memory */
void wm_print_seen_destroy(struct wm_print_seen *s);

/*
 * Takes the packets that were there the last time out of a trace that was
 * opened again, and remembers the others. `index`: which of the traces. 0 or
 * -ENOMEM.
 */
int wm_print_seen_skip(struct wm_print_seen *s, struct wm_trace *t, uint32_t index);

#endif
