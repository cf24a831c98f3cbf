/* SPDX-License-Identifier: MIT */
/*
 * record_size_int.h - the length of a record, from its class. The writer needs it for the last
 * record of a packet and for every record of a mixed stream. The bytes may be in memory that
 * another process is changing: each byte is read once, and nothing beyond `avail` is read.
 */
#ifndef WM_WRITE_RECORD_SIZE_INT_H
#define WM_WRITE_RECORD_SIZE_INT_H

#include <stddef.h>
#include <stdint.h>

#include "event/class.h"

/*
 * Returns the bytes of the record at `record` (8-byte header, contexts, fields), without its
 * padding; -EBADMSG when `avail` bytes end inside it.
 */
int64_t wm_packed_size(const struct wm_class *class, uint32_t contexts, const unsigned char *record,
		       size_t avail);

#endif
