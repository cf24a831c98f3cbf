/* SPDX-License-Identifier: MIT */
/*
 * writer_int.h - declarations shared by the files of the trace writer:
 *
 *   trace_writer.c    public functions: creation, producers, packets, the end
 *   stream.c          stream classes: sharing, lanes, metadata
 *   record.c          lengths of a producer's records
 *   recorder.c        the recorder's own stream
 *   mixed.c           streams of many threads' records, when lanes run out
 *   kernel.c          the kernel's events
 *   describe*.c       the contents of the metadata; metadata*.c: its text
 *   producer_names.c  names of a producer's threads
 *   numbering.c       meaning of ids; lane.c: files
 */
#ifndef WM_WRITE_WRITER_INT_H
#define WM_WRITE_WRITER_INT_H

#include "base/table.h"
#include "base/text.h"
#include "write/describe_int.h"
#include "write/lane_int.h"
#include "write/numbering_int.h"
#include "write/trace_writer.h"

/*
 * Limits on the number of lanes, which tests set to small values. Readers open all files at once.
 * The few lanes of mixed streams are not counted.
 */
struct wm_writer_limits {
	uint32_t lanes_per_stream, lanes;
	size_t mixed_bytes; /* bytes of records held back for sorting */
};
#define WM_LANES_PER_STREAM_MAX 256u
#define WM_LANE_FILES_MAX       850u
#define WM_MIXED_BYTES_MAX      (4u << 20)

/* Maximum time span of a packet: a quarter of the range of a 48-bit clock. */
#define WM_PACKET_SPAN_MAX ((uint64_t)1 << 46)

struct wm_stream_class {
	uint32_t id;
	enum wm_stream_kind kind;
	struct wm_numbering ids;
	struct wm_lane_file **lanes;
	uint32_t nr_lanes, max_lanes;
};

struct wm_producer {
	struct wm_trace_writer *writer;
	struct wm_producer *next, **link; /* in writer->producers */
	struct wm_producer *next_unplaced;
	bool unplaced;      /* in writer->unplaced: has ids that its stream may lack */
	uint32_t nr_placed; /* number of its leading ids that its stream is known to have */
	uint32_t pid, vpid;
	struct wm_numbering ids;
	struct wm_stream_class *stream; /* NULL before the first packet */
	uint64_t carry;                 /* lost events that are not yet in any events_discarded */
	uint64_t disk_from, disk_to;    /* clock values: range of the records counted below */
	/* records whose write failed, not yet reported by a waymark:lost event */
	uint64_t disk_count;
	char comm[WM_COMM_BYTES];      /* the process's name */
	struct wm_named_thread *named; /* threads that had another name; see producer_names.c */
	uint32_t nr_named, room_named;
	struct wm_table by_tid; /* of `named` */
};

/* The recorder's own events that are waiting for a packet. */
struct wm_recorder_stream {
	struct wm_stream_class *stream;
	struct wm_text records;
	size_t last_padding;         /* padding of the last record */
	uint64_t count, first, last; /* first and last are clock values */
	uint64_t lost;               /* dropped because the queue was full */
	bool urgent;                 /* should be written before the next user packet */
};

struct wm_mixed;

/*
 * A stream class of the kernel's events. Each ring of a CPU has a lane, which is created with its
 * first packet.
 */
struct wm_kernel_stream {
	struct wm_trace_writer *writer;
	struct wm_stream_class *stream;
	/* the lanes, indexed by CPU * WM_KERNEL_RINGS + ring; NULL: no packet yet */
	struct wm_lane_file **rings;
	uint32_t nr_rings;
	uint64_t carry;              /* lost events that are not yet in any events_discarded */
	uint64_t disk_from, disk_to; /* clock values: range of the records counted below */
	uint64_t disk_count;         /* records whose write failed, not yet reported */
};

struct wm_trace_writer {
	int dirfd, index_dirfd;
	struct wm_described_trace meta;
	enum wm_meta_language language;
	struct wm_text declared; /* all stream and event declarations so far */
	/* the file has an older frequency, to be corrected at the next write */
	bool clock_refined;
	bool metadata_old;       /* the file lacks some declarations */
	uint64_t metadata_bytes; /* size of the metadata file */
	uint64_t kernel_bytes;   /* size of the files in kernel/ */
	struct wm_event_store events;
	struct wm_stream_class **streams; /* indexed by id */
	uint32_t nr_streams;
	uint32_t nr_lanes; /* lanes of user streams */
	struct wm_lane_folder folder;
	struct wm_producer *producers, *unplaced;
	struct wm_recorder_stream recorder;
	struct wm_mixed *mixed; /* NULL until lanes run out */
	/* format files of the kernel's events */
	struct wm_text formats;
	struct wm_kernel_stream *kernel[WM_NR_KERNEL_STREAMS]; /* NULL: no stream of that kind */
	struct wm_trace_totals totals;
	struct wm_writer_limits limits;
};

/* --- stream.c ---------------------------------------------------- */

/* Creates and declares a stream class. It belongs to the writer. */
int wm_stream_class_create(struct wm_trace_writer *w, enum wm_stream_kind kind,
			   struct wm_stream_class **ret);
void wm_stream_class_destroy(struct wm_stream_class *s);

/* Assigns the unused `id` to an event in this stream, and declares the event. */
int wm_stream_class_event(struct wm_trace_writer *w, struct wm_stream_class *s, uint32_t id,
			  struct wm_interned_event *event);

/*
 * Finds or creates a stream class that agrees with the producer's ids, and does the same for all
 * other producers waiting for one.
 */
int wm_stream_class_place(struct wm_producer *p);
void wm_stream_class_unplace(struct wm_producer *p); /* the producer has a new id */
void wm_stream_class_forget(struct wm_producer *p);  /* the producer is being removed */

/*
 * Finds or creates a lane for a packet that begins at `begin`; -EMLINK when the lane limit is
 * reached.
 */
int wm_stream_class_lane(struct wm_trace_writer *w, struct wm_stream_class *s, uint64_t begin,
			 struct wm_lane_file **ret);

/* Creates one more lane of this stream. */
int wm_stream_class_new_lane(struct wm_trace_writer *w, struct wm_stream_class *s,
			     struct wm_lane_file **ret);

/* Writes the metadata when the file is incomplete or out of date. */
int wm_stream_class_metadata(struct wm_trace_writer *w);

/* --- record.c ------------------------------------------------------ */

/*
 * Returns the size of the record at `at`, without padding; -EBADMSG when it is not a record of `p`.
 */
int64_t wm_writer_record_size(const struct wm_producer *p, const void *at, size_t avail);

/* --- recorder.c -------------------------------------------------- */

int wm_stream_recorder_init(struct wm_trace_writer *w);
void wm_stream_recorder_done(struct wm_recorder_stream *r);
void wm_stream_recorder_process(struct wm_trace_writer *w, const struct wm_producer_info *info);
void wm_stream_recorder_process_end(struct wm_trace_writer *w, uint32_t pid, uint64_t clock);
/* Records the name of the packet's thread if it is not the one that the trace has. */
void wm_producer_name_thread(struct wm_producer *p, const struct wm_raw_packet *packet);
void wm_producer_names_done(struct wm_producer *p);

void wm_stream_recorder_thread(struct wm_trace_writer *w, uint32_t pid, uint32_t tid,
			       uint64_t clock, const char *comm);
void wm_stream_recorder_module(struct wm_trace_writer *w, uint32_t pid,
			       const struct wm_module_info *m);
/* `cpu` is -1 when the loss was not in a CPU's ring, but in a process's memory or on the disk. */
struct wm_recorder_loss {
	uint32_t pid;
	int32_t cpu;
	uint64_t from, to, count;
	const char *cause;
};
void wm_stream_recorder_lost(struct wm_trace_writer *w, const struct wm_recorder_loss *l);

/* Writes the waiting events. On failure they remain queued. */
int wm_stream_recorder_flush(struct wm_trace_writer *w);

/* Returns whether the waiting events should be written before a packet that ends at that time. */
bool wm_stream_recorder_due(const struct wm_trace_writer *w, uint64_t clock);

/* --- kernel.c ---------------------------------------------------- */

void wm_stream_kernel_flush(struct wm_kernel_stream *k); /* reports its losses */
void wm_stream_kernel_destroy(struct wm_kernel_stream *k);

/* --- mixed.c ----------------------------------------------------- */

/* Takes over the packet's records; they are written about a second of trace time later. */
int wm_mixed_add(struct wm_producer *p, const struct wm_raw_packet *packet, uint64_t begin,
		 uint64_t lost);

/*
 * Reports that trace time has reached `clock`, and writes the records that have waited long enough.
 */
int wm_mixed_tick(struct wm_trace_writer *w, uint64_t clock);
int wm_mixed_flush(struct wm_trace_writer *w);
void wm_mixed_destroy(struct wm_mixed *m);

#endif
