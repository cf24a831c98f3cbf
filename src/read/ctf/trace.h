/* SPDX-License-Identifier: MIT */
/*
 * trace.h - an opened CTF trace: its folders, files and packets. What
 * open.c (folders, metadata), index.c (packets of a file), stream_order.c
 * (packets of a stream: doubles, losses) and reader.c (events) share.
 *
 * A path may hold one CTF trace or a tree of them, as LTTng writes it: chunks,
 * users, processes, the kernel. All become one wm_trace with all streams.
 */
#ifndef WM_READ_CTF_TRACE_H
#define WM_READ_CTF_TRACE_H

#include "read/ctf/decode.h"
#include "read/ctf/own.h"

#define WM_CTF_FOLDERS_MAX 65536u      /* CTF traces below a path */
#define WM_CTF_TREE_DEPTH  8u          /* folders inside folders */
#define WM_CTF_NAMES_MAX   1048576u    /* files and folders below a path */
#define WM_CTF_HEAD_FIRST  4096u       /* bytes of a packet that its frame is looked for in, */
#define WM_CTF_HEAD_MAX    (1u << 20)  /* and those at most */
#define WM_CTF_HOLES_MAX   1024u       /* bad places between packets of a file */
#define WM_CTF_EVENT_MAX   (16u << 20) /* bytes of one event */

extern const struct wm_reader_ops wm_ctf_ops;

/* What some tracers got wrong about packets. */
#define WM_CTF_QUIRK_NO_END       1u /* lttng-crash: an end of 0 is none */
#define WM_CTF_QUIRK_LATE_EVENTS  2u /* events after the packet's end */
#define WM_CTF_QUIRK_EARLY_EVENTS 4u /* events before the packet's begin */

/* One CTF trace: a folder with a file `metadata`. */
struct wm_ctf_folder {
	struct wm_trace_origin origin; /* name: "" for the path itself */
	struct wm_ctf_plan *plan;      /* NULL: its metadata could not be read */
	bool shares_plan;              /* with a folder before it: a chunk of the same recording */
	uint32_t quirks;
	const char *metadata_name; /* below the trace's path */
	char *text;                /* of the metadata; NULL after opening */
	size_t text_bytes;
};

/* A stream file. t->streams holds their `stream`s. */
struct wm_ctf_file {
	struct wm_stream stream; /* first: found from t->streams */
	const struct wm_ctf_folder *folder;
	const struct wm_ctf_stream_plan *plan;
	const char *path; /* to open it */
	uint64_t bytes;   /* when it was indexed */
	bool has_instance;
};

struct wm_ctf_trace {
	struct wm_ctf_folder *folders;
	uint32_t nr_folders;
	struct wm_ctf_thread *threads; /* of our own traces: by tid, then by time */
	uint32_t nr_threads;
	struct wm_ctf_kernel *kernel; /* NULL: not of ours */
};

/* A packet while the trace is opened. */
struct wm_ctf_found {
	struct wm_packet packet;
	struct wm_ctf_file *file;
	uint64_t sequence, discarded; /* as written; meaningless where the class has none */
};

struct wm_ctf_founds {
	struct wm_ctf_found *at;
	uint64_t count, room;
};

/* The numbers before a packet's events. Sizes in bits; UINT64_MAX: not said. */
struct wm_ctf_frame {
	const struct wm_ctf_stream_plan *plan;
	uint64_t bits; /* of the frame itself */
	uint64_t packet_bits, content_bits;
	uint64_t stream_id, instance, sequence, discarded;
	uint64_t begin, end; /* ticks */
};

/*
 * Decodes packet header and context at the begin of d->data, whose slots have
 * room for those of `plan`. With items when `b` is not NULL; *ret_header gets
 * how many of them are the header's.
 */
enum wm_ctf_status wm_ctf_frame_decode(struct wm_ctf_decoder *d,
				       const struct wm_ctf_stream_plan *plan, struct wm_batch *b,
				       uint32_t *ret_header, struct wm_ctf_frame *ret);

/* Finds the folders and plans them by their metadata; looks at no stream. 0 or -errno with `diag`.
 */
int wm_ctf_open_plans(struct wm_trace *t, const char *path, struct wm_diag *diag);

/* Adds the packets of a file. 0 or -errno; damage is a fault. `name` is below the trace's path. */
int wm_ctf_index_file(struct wm_trace *t, const struct wm_ctf_folder *folder, const char *name,
		      struct wm_ctf_founds *found);

/* A part of a file that grows. */
struct wm_ctf_part {
	const char *name; /* below the trace's path */
	struct wm_ctf_file
	    *file;        /* NULL before its first packet; then set. Its stream is no one's yet */
	uint64_t at, end; /* whole packets begin and end there */
};

/* The same for a part; `at` is then where it got to. */
int wm_ctf_index_part(struct wm_trace *t, const struct wm_ctf_folder *folder,
		      struct wm_ctf_part *part, struct wm_ctf_founds *found);

/* How many packets index/NAME.idx beside the file lists; 0: no index, or none to be believed. */
uint64_t wm_ctf_indexed(const char *path);

/* Orders streams and packets, drops doubles, tells losses; gives all to the trace. */
int wm_ctf_order(struct wm_trace *t, struct wm_ctf_founds *found);

/* Formats of the kernel's events, each behind "# SYSTEM/NAME BYTES". -ENOENT: none came with it. */
int wm_ctf_own_formats(struct wm_trace *t, char **ret_text, size_t *ret_bytes);

/* The kernel's symbols, which waymark keeps beside the streams (own_symbols.c). */
int wm_ctf_own_kallsyms(struct wm_trace *t, char **ret_text, size_t *ret_bytes);

#define WM_CTF_NS_MAX (INT64_MAX - 1) /* and all that is later */

/* Ticks of the clock as ns since its origin: tick 0's time plus theirs, each rounded down. */
int64_t wm_ctf_ns(const struct wm_trace_clock *c, uint64_t ticks);

/* Reads up to `bytes` at `offset` of an opened file. Count, 0 at its end, or -errno. */
int64_t wm_ctf_pread(int fd, void *data, uint64_t bytes, uint64_t offset);

/* --- for the table of functions ---------------------------------------------- */
struct wm_packet_reader *wm_ctf_reader_create(struct wm_trace *t, const struct wm_want *want);
int wm_ctf_reader_begin(struct wm_packet_reader *r, const struct wm_packet *p);
int wm_ctf_reader_read(struct wm_packet_reader *r, struct wm_batch *b);
void wm_ctf_reader_destroy(struct wm_packet_reader *r);

/* How far a packet was read: bytes behind its begin, and how many events they are. */
uint64_t wm_ctf_reader_at(const struct wm_packet_reader *r, uint64_t *ret_events);

#endif
