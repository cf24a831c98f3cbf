/* SPDX-License-Identifier: MIT */
/* printed_packets.h - the set of packets of growing traces that have already been printed. */
#ifndef WM_CMD_PRINT_PRINTED_PACKETS_H
#define WM_CMD_PRINT_PRINTED_PACKETS_H

#include "trace/reader.h"

struct wm_print_seen;

struct wm_print_seen *wm_print_seen_create(void); /* NULL: out of memory */
void wm_print_seen_destroy(struct wm_print_seen *s);

/*
 * Removes from a reopened trace the packets that are in the set, and adds the others to the set.
 * Returns 0 or -ENOMEM.
 */
int wm_print_seen_skip(struct wm_print_seen *s, struct wm_trace *t);

#endif
