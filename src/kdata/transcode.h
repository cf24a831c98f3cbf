/* SPDX-License-Identifier: MIT */
/*
 * transcode.h - converts kernel records to payloads of waymark's event classes (src/event/class.h).
 * A plan is compiled once from the event's format and then run for each record. Fields that are
 * adjacent in record and payload are copied at once.
 *
 *   in the format                      in the class
 *   integer, enum, long, bool          i, u, b of that width; x where the print form shows hex
 *   sbitsN (event_format.h)            i of that width, the sign of N bits extended
 *   pointer                            p8
 *   char x[16]                         c16
 *   char dynamic, char x[] at the end  s
 *   T x[4]                             a4T
 *   T dynamic, T x[] at the end        qT
 *   cpumask, bitmask                   qx8: words of 64 bits, lowest first
 *   of another size or unknown type    bytes: aNx1, dynamic z
 *
 * Integers in the payload have this machine's byte order, whichever machine recorded. A plan is
 * immutable; any number of threads may run it.
 */
#ifndef WM_KDATA_TRANSCODE_H
#define WM_KDATA_TRANSCODE_H

#include "event/class.h"
#include "kdata/event_format.h"
#include "kdata/print.h"

struct wm_kplan;

/*
 * Compiles a plan. With `common`, the class also has the fields common to all events, except
 * common_type. `print` (optional) determines which numbers are shown in hexadecimal. Returns 0;
 * -E2BIG or -EBADMSG, with `diag` (optional), when the event is too large for a class; or -ENOMEM.
 */
int wm_kplan_create(const struct wm_kformat *f, const struct wm_kmachine *m,
		    const struct wm_kprint *print, bool common, struct wm_kplan **ret,
		    struct wm_diag *diag);
/*
 * Like wm_kplan_create(), but the class begins with the fields of a schema (<waymark/abi.h>;
 * without '#'), which the caller writes itself. NULL: no such fields.
 */
int wm_kplan_create_behind(const char *schema, const struct wm_kformat *f,
			   const struct wm_kmachine *m, const struct wm_kprint *print,
			   struct wm_kplan **ret, struct wm_diag *diag);
void wm_kplan_destroy(struct wm_kplan *p);

/* Returns the event class, owned by the plan. Its provider is the event's system. */
const struct wm_class *wm_kplan_class(const struct wm_kplan *p);
/* Returns the class as a description (<waymark/abi.h>), for callers that pass it on. */
const unsigned char *wm_kplan_desc(const struct wm_kplan *p, size_t *ret_bytes);

/* Returns the size of the largest possible payload for a record of `bytes` bytes. */
size_t wm_kplan_bound(const struct wm_kplan *p, uint32_t bytes);

/*
 * Writes the payload of a record. Returns its size; -ENOSPC when `room` is below the bound;
 * -EBADMSG when the record is too short for its fields or an array lies outside it.
 */
int64_t wm_kplan_run(const struct wm_kplan *p, const unsigned char *record, uint32_t bytes,
		     unsigned char *out, size_t room);

#endif
