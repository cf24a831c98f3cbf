/* SPDX-License-Identifier: MIT */
/*
 * tracedat_int.h - what the files of the trace.dat reader share.
 *
 *   tracedat.c          opens: the first bytes, then
 *   v6.c       one sequence of parts, or
 *   v7.c       sections found through options; both read by
 *   meta.c     the parts both have: formats, symbols, names
 *   option.c   the options both have: clocks, machine, buffers
 *   sync.c     a guest's time by its host's
 *   input.c    bytes from the file, or unpacked
 *   index.c    pages of the ring, as packets
 *   read.c     a packet's records as events
 *   items.c    the types of its events
 *
 * A packet is some pages in a row of one CPU of one buffer, or one compressed
 * chunk of them; nothing is lost inside a packet, only before it.
 */
#ifndef WM_READ_TRACEDAT_TRACEDAT_INT_H
#define WM_READ_TRACEDAT_TRACEDAT_INT_H

#include "read/tracedat.h"

#define WM_TD_SECTION_MAX  (256u << 20) /* of metadata, unpacked */
#define WM_TD_SECTION_HEAD 16u
#define WM_TD_CHUNK_MAX    (64u << 20) /* of pages, unpacked */
#define WM_TD_BUFFERS_MAX  1024u
#define WM_TD_CPUS_MAX     65536u /* of all buffers */
#define WM_TD_STRING_MAX   4096u
#define WM_TD_PACKET_PAGES 16u
#define WM_TD_KEPT_MAX     (1u << 20) /* bytes of an option that is kept */

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
 * Bytes to be read in order: of the file, or of a section that was unpacked.
 * Running out is sticky.
 */
struct wm_td_in {
	const struct wm_td *td;
	const unsigned char *mem; /* NULL: of the file */
	uint64_t at, end;         /* in the file, or in `mem` */
	uint64_t origin;          /* where in the file `mem` was */
	unsigned char *buffer;    /* owned: what was read last, or what `mem` is */
	size_t room;
	bool failed; /* there were less bytes than wanted */
	int err;     /* the system's */
};

void wm_td_in_file(struct wm_td_in *in, const struct wm_td *td, uint64_t offset);
/* Over what was unpacked, or is read later, of [offset, offset + bytes) of the file. */
int wm_td_in_unpack(struct wm_td_in *in, const struct wm_td *td, uint64_t offset,
		    struct wm_diag *diag);
void wm_td_in_memory(struct wm_td_in *in, const struct wm_td *td, const void *data, size_t bytes,
		     uint64_t origin);
void wm_td_in_done(struct wm_td_in *in);
/* The next bytes, valid until the next take; NULL when they are not there. */
const unsigned char *wm_td_take(struct wm_td_in *in, uint64_t bytes);
uint16_t wm_td_u16(struct wm_td_in *in);
uint32_t wm_td_u32(struct wm_td_in *in);
uint64_t wm_td_u64(struct wm_td_in *in);
/* A text with its NUL; "" when there is none of at most WM_TD_STRING_MAX bytes. */
const char *wm_td_text(struct wm_td_in *in, char *room);
/* Where we stand, in the file. */
uint64_t wm_td_offset(const struct wm_td_in *in);
/* 0, or what ended `in` as an error of the file. */
int wm_td_verdict(const struct wm_td_in *in, const char *what, struct wm_diag *diag);

/* All of `bytes` at `offset`: 0, -ENODATA when the file ends before, -errno. */
int wm_td_pread(const struct wm_td *td, void *to, uint64_t bytes, uint64_t offset);
/* One compressed piece; false: damaged. */
bool wm_td_unpack(enum wm_td_codec codec, void *to, size_t to_bytes, const void *from,
		  size_t from_bytes);

/* meta.c; each reads one part. 0 or -errno with `diag`. */
int wm_td_read_header_info(struct wm_td *td, struct wm_td_in *in, struct wm_diag *diag);
int wm_td_read_ftrace(struct wm_td *td, struct wm_td_in *in, struct wm_diag *diag);
int wm_td_read_formats(struct wm_td *td, struct wm_td_in *in, struct wm_diag *diag);
int wm_td_read_kallsyms(struct wm_td *td, struct wm_td_in *in, struct wm_diag *diag);
int wm_td_read_printk(struct wm_td *td, struct wm_td_in *in, struct wm_diag *diag);
int wm_td_read_comms(struct wm_td *td, struct wm_td_in *in, struct wm_diag *diag);
/* For the table of functions. */
int wm_td_kallsyms(struct wm_trace *t, char **ret_text, size_t *ret_bytes);

/* option.c: one option of `bytes`. */
int wm_td_read_option(struct wm_td *td, uint16_t id, struct wm_td_in *in, struct wm_diag *diag);
int wm_td_add_buffer(struct wm_td *td, const char *name, uint64_t offset);
int wm_td_add_cpu(struct wm_td *td, const struct wm_td_cpu *cpu);

/* sync.c: the option that has corrections of time. */
int wm_td_read_sync(struct wm_td *td, struct wm_td_in *in, struct wm_diag *diag);

/* From the version's first own byte on. 0 or -errno with `diag`. */
int wm_td_read_v6(struct wm_td *td, struct wm_td_in *in, struct wm_diag *diag);
int wm_td_read_v7(struct wm_td *td, struct wm_td_in *in, struct wm_diag *diag);
/* Bytes of a section at `offset` that only names others; 0: there is none in `left` bytes. */
uint64_t wm_td_v7_strings(const void *td, uint64_t offset, uint64_t left);
/* The header of the section at `offset`, and how long the section says that it is. */
int wm_td_section_head(const struct wm_td *td, uint64_t offset, uint16_t *ret_id,
		       uint64_t *ret_bytes);

/* items.c */
int wm_td_make_types(struct wm_td *td);

/* index.c */
int wm_td_index(struct wm_td *td);
/* wm_page_next() where time does not run back; *last_ns is that of the record. */
int wm_td_page_next(const struct wm_td *td, const struct wm_td_cpu *cpu, struct wm_page_cursor *c,
		    int64_t *last_ns);

/* read.c */
struct wm_packet_reader *wm_td_reader_create(struct wm_trace *t, const struct wm_want *want);
int wm_td_reader_begin(struct wm_packet_reader *r, const struct wm_packet *p);
int wm_td_reader_read(struct wm_packet_reader *r, struct wm_batch *b);
void wm_td_reader_destroy(struct wm_packet_reader *r);

#endif
