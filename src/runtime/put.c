/* SPDX-License-Identifier: MIT */
/*
 * put.c - copies strings and bytes into the record in progress, for machines whose entry_*.S has no
 * such loops. Never writes beyond the chunk or reads beyond the string's NUL.
 */
typedef int wm_put_unit_not_empty;

#if !defined(__x86_64__)

#include "runtime/runtime_int.h"
#include "runtime/sys_int.h"

unsigned char *wm_put_string(unsigned char *to, const char *s, uint64_t after);
unsigned char *wm_put_bytes(unsigned char *to, const unsigned char *from, uint64_t bytes_after);
unsigned char *wm_put_chars(unsigned char *to, const char *s, uint64_t bytes);

/*
 * Returns the end of the memory that the record may use: the end of the scratch buffer if `to` is
 * in it, otherwise the end of the chunk.
 */
static uintptr_t put_limit(const unsigned char *to)
{
	const struct waymark_writer *w = wm_current - 1;
	uintptr_t scratch = (uintptr_t)w->scratch;

	if (scratch && (uintptr_t)to - scratch < WAYMARK_SCRATCH_BYTES)
		return scratch + WAYMARK_SCRATCH_BYTES - 16;
	return (uintptr_t)w->end;
}

unsigned char *wm_put_string(unsigned char *to, const char *s, uint64_t after)
{
	uintptr_t most = put_limit(to) - after; /* the last position where the NUL may be written */

	for (; (uintptr_t)to <= most; to++)
		if (!(*to = (unsigned char)*s++))
			return to + 1;
	return NULL;
}

unsigned char *wm_put_bytes(unsigned char *to, const unsigned char *from, uint64_t bytes_after)
{
	uint64_t bytes = bytes_after << 16 >> 16;
	uintptr_t end = put_limit(to) - (bytes_after >> 48);

	if (end < (uintptr_t)to || bytes > end - (uintptr_t)to)
		return NULL;
	wm_mem_copy(to, from, bytes);
	return to + bytes;
}

unsigned char *wm_put_chars(unsigned char *to, const char *s, uint64_t bytes)
{
	for (; bytes; bytes--) {
		*to++ = (unsigned char)*s;
		s += *s != 0;
	}
	return to;
}

#endif
