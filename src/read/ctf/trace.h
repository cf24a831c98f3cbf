/* SPDX-License-Identifier: MIT */
/*
 * trace.h - an opened CTF trace: its folders, files and packets. Shared by open.c (folders,
 * metadata), index.c (packets of a file), stream_order.c (packets of a stream: duplicates, losses)
 * and reader.c (events).
 *
 * A path may contain one CTF trace, or a tree of them as LTTng writes it (chunks, users, processes,
 * the kernel). They are opened as one wm_trace with all streams.
 */
#ifndef WM_READ_CTF_TRACE_H
#define WM_READ_CTF_TRACE_H

#include "read/ctf.h"
#include "read/ctf/decode.h"
#include "read/ctf/own.h"

#define WM_CTF_FOLDERS_MAX 65536u      /* maximum number of CTF traces below a path */
#define WM_CTF_TREE_DEPTH  8u          /* maximum depth of nested folders */
#define WM_CTF_NAMES_MAX   1048576u    /* maximum number of files and folders below a path */
#define WM_CTF_HEAD_FIRST  4096u       /* bytes of a packet first read to decode its frame */
#define WM_CTF_HEAD_MAX    (1u << 20)  /* maximum bytes read for that */
#define WM_CTF_HOLES_MAX   1024u       /* maximum number of damaged ranges between packets */
#define WM_CTF_EVENT_MAX   (16u << 20) /* maximum size of an event */

/* Known bugs in the packets of some tracers. */
#define WM_CTF_QUIRK_NO_END       1u /* lttng-crash: an end of 0 means unknown */
#define WM_CTF_QUIRK_LATE_EVENTS  2u /* events after the packet's end */
#define WM_CTF_QUIRK_EARLY_EVENTS 4u /* events before the packet's start */

/* A folder with a `metadata` file: one CTF trace. */
struct wm_ctf_folder {
	struct wm_trace_origin origin; /* origin.name is "" for the path itself */
	struct wm_ctf_plan *plan;      /* NULL: the metadata is unreadable */
	/* the plan belongs to another folder, a chunk of the same recording */
	bool shares_plan;
	uint32_t quirks;
	const char *metadata_name; /* relative to the trace's path */
	char *text;                /* text of the metadata; NULL after opening */
	size_t text_bytes;
};

/* A stream file. t->streams points to the member `stream` of these. */
struct wm_ctf_file {
	struct wm_stream stream; /* first member: pointers in t->streams are cast to this struct */
	const struct wm_ctf_folder *folder;
	const struct wm_ctf_stream_plan *plan;
	const char *path; /* path to open */
	uint64_t bytes;   /* size of the file when it was indexed */
	bool has_instance;
};

struct wm_ctf_ticks {
	uint64_t begin, end;
};

struct wm_ctf_trace {
	struct wm_ctf_folder *folders;
	uint32_t nr_folders;
	struct wm_ctf_thread *threads; /* in waymark's traces: sorted by tid, then by time */
	uint32_t nr_threads;
	struct wm_ctf_kernel *kernel; /* NULL: not one of waymark's traces */
	/*
	 * The packets' times in ticks, for clocks whose ticks are not nanoseconds: wm_packet.part
	 * is the index + 1.
	 */
	struct wm_ctf_ticks *ticks;
	uint32_t nr_ticks;
};

/* A packet while the trace is opened. */
struct wm_ctf_found {
	struct wm_packet packet;
	struct wm_ctf_file *file;
	/* counters from the frame; undefined when the stream class has no such field */
	uint64_t sequence, discarded;
};

struct wm_ctf_founds {
	struct wm_ctf_found *at;
	uint64_t count, room;
};

/* The numbers in a packet's header and context. Sizes are in bits; UINT64_MAX: absent. */
struct wm_ctf_frame {
	const struct wm_ctf_stream_plan *plan;
	uint64_t bits; /* size of the frame itself */
	uint64_t packet_bits, content_bits;
	uint64_t stream_id, instance, sequence, discarded;
	uint64_t begin, end; /* ticks */
};

/*
 * Decodes the header and the context of a packet that starts at d->data. d->slots must have room
 * for the slots of `plan`. Adds items to `b` unless it is NULL; *ret_header is set to the number of
 * items that belong to the header.
 */
enum wm_ctf_status wm_ctf_frame_decode(struct wm_ctf_decoder *d,
				       const struct wm_ctf_stream_plan *plan, struct wm_batch *b,
				       uint32_t *ret_header, struct wm_ctf_frame *ret);

/*
 * Finds the folders and compiles plans from their metadata; reads no streams. 0 or -errno with
 * `diag`.
 */
int wm_ctf_open_plans(struct wm_trace *t, struct wm_diag *diag);

/*
 * Adds the packets of a file. 0 or -errno; damage is reported as a fault. `name` is relative to the
 * trace's path.
 */
int wm_ctf_index_file(struct wm_trace *t, const struct wm_ctf_folder *folder, const char *name,
		      struct wm_ctf_founds *found);

/* A part of a growing file. */
struct wm_ctf_part {
	const char *name; /* relative to the trace's path */
	/* NULL until its first packet is found; its stream is not yet added to the trace */
	struct wm_ctf_file *file;
	uint64_t at, end; /* offsets: range of the packets to index */
};

/* Like wm_ctf_index_file() for a part of a file; sets `at` to the offset reached. */
int wm_ctf_index_part(struct wm_trace *t, const struct wm_ctf_folder *folder,
		      struct wm_ctf_part *part, struct wm_ctf_founds *found);

/*
 * Returns the number of packets listed by index/NAME.idx next to the file; 0 when the index is
 * missing or not usable.
 */
uint64_t wm_ctf_indexed(const char *path);

/* Orders streams and packets, drops duplicates, computes losses; adds everything to the trace. */
int wm_ctf_order(struct wm_trace *t, struct wm_ctf_founds *found);

/*
 * Reads the kernel's symbols from the file that waymark writes next to the streams (own_symbols.c).
 */
int wm_ctf_own_kallsyms(struct wm_trace *t, char **ret_text, size_t *ret_bytes);

#define WM_CTF_NS_MAX (INT64_MAX - 1) /* also used for all later times */

/*
 * Reads up to `bytes` at `offset` of an open file. Returns the count, 0 at the end of the file, or
 * -errno.
 */
int64_t wm_ctf_pread(int fd, void *data, uint64_t bytes, uint64_t offset);

/* --- for the table of functions ---------------------------------------------- */
struct wm_packet_reader *wm_ctf_reader_create(struct wm_trace *t, const struct wm_want *want);
int wm_ctf_reader_begin(struct wm_packet_reader *r, const struct wm_packet *p);
int wm_ctf_reader_read(struct wm_packet_reader *r, struct wm_batch *b);
void wm_ctf_reader_destroy(struct wm_packet_reader *r);

/* Returns the reader's position: the offset in the packet, and the number of events up to there. */
uint64_t wm_ctf_reader_at(const struct wm_packet_reader *r, uint64_t *ret_events);

#endif
