/* SPDX-License-Identifier: MIT */
/*
 * tracedat_int.h - shared by the files of the trace.dat reader.
 *
 *   tracedat.c  opens a file and reads its head, then calls
 *   v6.c        for a sequence of parts, or
 *   v7.c        for sections found through options; both use
 *   meta.c      the parts of both versions: formats, symbols, names
 *   option.c    the options of both versions: clocks, machine, buffers
 *   sync.c      converts a guest's time to its host's
 *   input.c     bytes of the file, decompressed if needed
 *   index.c     pages of the ring, as packets
 *   read.c      a packet's records as events
 *   items.c     the types of its events
 *
 * A packet is a sequence of pages of one CPU in one buffer, or one compressed
 * chunk of them. A packet ends before pages that follow a loss.
 */
#ifndef WM_READ_TRACEDAT_TRACEDAT_INT_H
#define WM_READ_TRACEDAT_TRACEDAT_INT_H

#include "read/tracedat.h"

#define WM_TD_SECTION_MAX  (256u << 20) /* maximum size of metadata, decompressed */
#define WM_TD_SECTION_HEAD 16u
#define WM_TD_CHUNK_MAX    (64u << 20) /* maximum size of a chunk of pages, decompressed */
#define WM_TD_BUFFERS_MAX  1024u
#define WM_TD_CPUS_MAX     65536u /* maximum number of CPUs of all buffers together */
#define WM_TD_STRING_MAX   4096u
#define WM_TD_PACKET_PAGES 16u
#define WM_TD_KEPT_MAX     (1u << 20) /* maximum size of a stored option */

uint64_t wm_td_sync_apply(const struct wm_td_sync *s, uint64_t ticks);

static inline int64_t wm_td_ns(const struct wm_td *td, const struct wm_td_cpu *cpu, uint64_t ticks)
{
	uint64_t ns;

	if (__builtin_expect(cpu->sync != NULL, 0))
		ticks = wm_td_sync_apply(cpu->sync, ticks);
	ns = ticks;
	if (td->mult)
		ns = (uint64_t)((unsigned __int128)ticks * td->mult >> td->shift);
	return (int64_t)(ns + (uint64_t)td->offset_ns);
}

/*
 * A range of bytes in the file, or in a decompressed section, that is read in sequence. Reading
 * past the end sets `failed`.
 */
struct wm_td_in {
	const struct wm_td *td;
	const unsigned char *mem; /* NULL: reads from the file */
	uint64_t at, end;         /* offsets in the file, or in `mem` */
	uint64_t origin;          /* file offset that `mem` was read from */
	unsigned char *buffer;    /* owned: bytes of the file, or the memory of `mem` */
	size_t room;
	uint64_t buffer_at, buffer_bytes; /* the part of the file in `buffer` */
	bool failed;                      /* fewer bytes were left than requested */
	int err;                          /* errno of a failed system call */
};

void wm_td_in_file(struct wm_td_in *in, const struct wm_td *td, uint64_t offset);
/* Opens the section at this offset, decompressed if needed. */
int wm_td_in_unpack(struct wm_td_in *in, const struct wm_td *td, uint64_t offset,
		    struct wm_diag *diag);
void wm_td_in_memory(struct wm_td_in *in, const struct wm_td *td, const void *data, size_t bytes,
		     uint64_t origin);
void wm_td_in_done(struct wm_td_in *in);
/* Takes the next bytes, valid until the next take; NULL if fewer are left. */
const unsigned char *wm_td_take(struct wm_td_in *in, uint64_t bytes);
/* Takes a copy of the next bytes with a NUL, to be freed; NULL if fewer are left. */
char *wm_td_copy(struct wm_td_in *in, uint64_t bytes);
void wm_td_skip(struct wm_td_in *in, uint64_t bytes);
uint16_t wm_td_u16(struct wm_td_in *in);
uint32_t wm_td_u32(struct wm_td_in *in);
uint64_t wm_td_u64(struct wm_td_in *in);
/* Takes a string with its NUL; "" if it has none within WM_TD_STRING_MAX bytes. */
const char *wm_td_text(struct wm_td_in *in, char *room);
/* Returns the current offset in the file. */
uint64_t wm_td_offset(const struct wm_td_in *in);
/* Returns 0, or reports the failure of `in` as an error of the file. */
int wm_td_verdict(const struct wm_td_in *in, const char *what, struct wm_diag *diag);

/* Reads `bytes` at `offset`. Returns 0, -ENODATA if the file ends too early, or -errno. */
int wm_td_pread(const struct wm_td *td, void *to, uint64_t bytes, uint64_t offset);
/* Decompresses one piece; false: damaged. */
bool wm_td_unpack(enum wm_td_codec codec, void *to, size_t to_bytes, const void *from,
		  size_t from_bytes);

/* meta.c: each reads one part. 0 or -errno with `diag`. */
int wm_td_read_header_info(struct wm_td *td, struct wm_td_in *in, struct wm_diag *diag);
int wm_td_read_ftrace(struct wm_td *td, struct wm_td_in *in, struct wm_diag *diag);
int wm_td_read_formats(struct wm_td *td, struct wm_td_in *in, struct wm_diag *diag);
int wm_td_read_kallsyms(struct wm_td *td, struct wm_td_in *in, struct wm_diag *diag);
int wm_td_read_printk(struct wm_td *td, struct wm_td_in *in, struct wm_diag *diag);
int wm_td_read_comms(struct wm_td *td, struct wm_td_in *in, struct wm_diag *diag);
/* Functions for the table of operations. */
int wm_td_kallsyms(struct wm_trace *t, char **ret_text, size_t *ret_bytes);

/* option.c: reads one option, which is all of `in`. */
int wm_td_read_option(struct wm_td *td, uint16_t id, struct wm_td_in *in, struct wm_diag *diag);
int wm_td_add_buffer(struct wm_td *td, const char *name, uint64_t offset);
int wm_td_add_cpu(struct wm_td *td, const struct wm_td_cpu *cpu);

/* sync.c: reads the option that holds time corrections. */
int wm_td_read_sync(struct wm_td *td, struct wm_td_in *in, struct wm_diag *diag);

/* Read the file, starting after the common head. 0 or -errno with `diag`. */
int wm_td_read_v6(struct wm_td *td, struct wm_td_in *in, struct wm_diag *diag);
int wm_td_read_v7(struct wm_td *td, struct wm_td_in *in, struct wm_diag *diag);
/*
 * Returns the size of the strings section at `offset`; 0: there is no such section within `left`
 * bytes.
 */
uint64_t wm_td_v7_strings(const void *td, uint64_t offset, uint64_t left);
/* Reads the header of the section at `offset`: id, and size including the header. */
int wm_td_section_head(const struct wm_td *td, uint64_t offset, uint16_t *ret_id,
		       uint64_t *ret_bytes);

/* items.c */
int wm_td_make_types(struct wm_td *td);

/* index.c */
int wm_td_index(struct wm_td *td);
/* Like wm_page_next(), but fails if time decreases; *last_ns is set to the record's time. */
int wm_td_page_next(const struct wm_td *td, const struct wm_td_cpu *cpu, struct wm_page_cursor *c,
		    int64_t *last_ns);

/* read.c */
struct wm_packet_reader *wm_td_reader_create(struct wm_trace *t, const struct wm_want *want);
int wm_td_reader_begin(struct wm_packet_reader *r, const struct wm_packet *p);
int wm_td_reader_read(struct wm_packet_reader *r, struct wm_batch *b);
void wm_td_reader_destroy(struct wm_packet_reader *r);

#endif
