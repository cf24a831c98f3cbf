/* SPDX-License-Identifier: MIT */
/*
 * trace_writer.h - writes a trace directory as packets arrive: CTF 1.8 or CTF 2, valid between any
 * two calls (ARCHITECTURE.md, decisions 5 and 8).
 *
 *   DIR/metadata          replaced as a whole (new file, rename) before the
 *                         packet that needs it
 *   DIR/user-C-L          lane L of stream class C: user events
 *   DIR/waymark-0         the recorder's own stream: processes, modules, losses
 *   DIR/index/NAME.idx    one entry per complete packet, written after it
 *
 * A producer is one process of one session with its own numbering of event ids. Producers whose
 * numberings agree share a stream class; a packet goes to any lane of its class whose last packet
 * ended before it begins.
 *
 * Not thread-safe: one writer, one thread (the pump). Errors are negative errno and leave the trace
 * valid: a short write is cut back at once. After a write fails with ENOSPC, EDQUOT, EIO or EFBIG,
 * later calls try again. The process should ignore SIGXFSZ; otherwise the kernel kills it instead
 * of returning EFBIG.
 */
#ifndef WM_WRITE_TRACE_WRITER_H
#define WM_WRITE_TRACE_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "base/clock.h"
#include "base/diag.h"
#include "event/class.h"

enum wm_trace_format { WM_TRACE_CTF1, WM_TRACE_CTF2 };

struct wm_trace_options {
	enum wm_trace_format format;
	enum wm_clock_kind clock_kind;
	uint64_t clock_hz;
	uint64_t clock_start;       /* a clock value ... */
	uint64_t start_realtime_ns; /* ... and the wall clock at the same time */
	uint64_t clock_error_ns;    /* error bound for that pair */
	const char *command;        /* recorded command, for the environment block; may be NULL */
};

struct wm_trace_writer;
struct wm_producer;

/* Creates DIR (mode 0700). DIR must not exist, or be empty. */
int wm_writer_create(const char *dir, const struct wm_trace_options *o,
		     struct wm_trace_writer **ret, struct wm_diag *diag);

/*
 * Flushes, and updates the clock's frequency. The trace is valid even if this is never called.
 * Accepts NULL.
 */
int wm_writer_close(struct wm_trace_writer *w);

/*
 * Writes the data waiting in memory: the recorder's events, records of mixed streams, losses not
 * yet reported. Afterwards the totals are exact. Without a flush, data waits until a packet arrives
 * that is a second of trace time later.
 */
int wm_writer_flush(struct wm_trace_writer *w);

/*
 * Sets a more exact frequency, measured while recording; it is written with the next change of the
 * metadata.
 */
void wm_writer_clock_hz(struct wm_trace_writer *w, uint64_t hz);

/*
 * Declares that the trace has samples: `regs` is the mask of the registers in their regs_user,
 * `error_ns` the upper bound known so far on the error of their times.
 */
void wm_writer_samples(struct wm_trace_writer *w, uint64_t regs, uint64_t error_ns);

struct wm_producer_info {
	uint32_t pid, ppid; /* ids in the recorder's pid namespace */
	uint32_t vpid;      /* pid in the process's pid namespace */
	uint32_t uid;
	uint64_t clock; /* when it joined */
	const char *comm, *path;
};
int wm_producer_add(struct wm_trace_writer *w, const struct wm_producer_info *info,
		    struct wm_producer **ret);
/*
 * Call this when the process has ended. Frees `p`; wm_writer_close() frees the remaining
 * producers.
 */
void wm_producer_remove(struct wm_producer *p, uint64_t clock);

/*
 * Declares event `id` of this producer: `contexts` (enum wm_context), followed by the fields of
 * `class`. The writer takes ownership of `class`, even on failure. -EEXIST when the id already has
 * another meaning.
 */
int wm_producer_event(struct wm_producer *p, uint32_t id, uint32_t contexts,
		      struct wm_class *class);

#define WM_COMM_BYTES 16u

struct wm_raw_packet {
	uint32_t tid;
	uint32_t level; /* signal-nesting level */
	/* full clock values: start of this part of the chunk, time of its last record */
	uint64_t begin, end;
	uint64_t count; /* records in it */
	/*
	 * records this producer lost since its previous packet; added to the lane's
	 * events_discarded
	 */
	uint64_t lost;
	struct iovec payload; /* complete records, headers included; a multiple of 8 bytes */
	/*
	 * offset of the last record in payload, from commit.last_bytes: CTF needs the record's end
	 * without padding. 0 with a count above 1: unknown, the writer steps over all records
	 */
	uint32_t last_offset;
	/* the thread's name from `begin` on, not NUL-terminated if it has 16 bytes; "": unknown */
	char comm[WM_COMM_BYTES];
};

/*
 * Writes the packet; reads only its first header and its last record. The caller must have checked
 * that no clock value is later than the present, because a value from the future would block lanes.
 * `begin` is replaced by the time of the first record.
 *
 * -EBADMSG: the payload does not end in a complete record of a known id; nothing was written or
 * counted, so the caller must account for it. Any other error: the records are counted in
 * totals.lost_disk, and reported to readers by a waymark:lost event and events_discarded as soon as
 * writing works again.
 */
int wm_producer_packet(struct wm_producer *p, const struct wm_raw_packet *packet);

/*
 * Returns the size of the record at `at`, padding included, for a caller that splits a packet;
 * -EBADMSG when it is not a complete record of a known id.
 */
int64_t wm_producer_record_bytes(const struct wm_producer *p, const void *at, size_t avail);

/*
 * The kernel's events: at most one stream class of each kind, with a lane for each ring of each
 * CPU. A record is
 *
 *   u64 clock << 16 | id | context | fields, packed | zeros to 8
 *
 * Records of the kernel's rings have the kernel's ids and a struct wm_kernel_context; samples have
 * a struct wm_sample_context; task events (mapped, forked, renamed) have no context. Counters from
 * /proc have no CPU (pass 0): the machine's have no context, a process's have a struct
 * wm_task_context.
 */
enum wm_kernel_stream_kind {
	WM_KERNEL_EVENTS,
	WM_KERNEL_SAMPLES,
	WM_KERNEL_TASKS,
	WM_KERNEL_COUNTERS,
	WM_KERNEL_TASK_COUNTERS,
	WM_NR_KERNEL_STREAMS,
};
struct wm_kernel_stream;
/* Returns -EEXIST when the trace already has a stream of this kind. */
int wm_stream_kernel_create(struct wm_trace_writer *w, enum wm_kernel_stream_kind kind,
			    struct wm_kernel_stream **ret);

/* Like wm_producer_event(); takes ownership of `class`. */
int wm_stream_kernel_event(struct wm_kernel_stream *k, uint32_t id, struct wm_class *class);

#define WM_KERNEL_RINGS 2u /* rings per CPU in a stream class; each has a lane */

struct wm_kernel_packet {
	uint32_t cpu, ring;
	uint64_t begin, end; /* full clock values, of the first and last record */
	uint64_t count;
	uint64_t lost;       /* events that this ring lost since its previous packet */
	const void *payload; /* complete records; a multiple of 8 bytes */
	size_t payload_bytes;
	uint32_t padding_bytes; /* padding of the last record */
};

/* Packets of a CPU's ring must arrive in time order. Returns errors like wm_producer_packet(). */
int wm_stream_kernel_packet(struct wm_kernel_stream *k, const struct wm_kernel_packet *p);

/* Records the name of a thread that occurs in the kernel's events. */
int wm_writer_thread(struct wm_trace_writer *w, uint32_t pid, uint32_t tid, uint64_t clock,
		     const char *comm);
/*
 * Records that the kernel lost events on a CPU (-1: on no particular CPU). Like wm_writer_lost(),
 * but without a process.
 */
int wm_writer_kernel_lost(struct wm_trace_writer *w, int32_t cpu, uint64_t from, uint64_t to,
			  const char *cause, uint64_t count);

/* Writes the text file "kernel/NAME" in the trace, replacing the old one as a whole. */
int wm_writer_kernel_file(struct wm_trace_writer *w, const char *name, const void *data,
			  size_t bytes);

/*
 * Stores the format file of one of the kernel's events; wm_writer_kernel_formats() writes all of
 * them to "kernel/formats", each after a line "# SYSTEM/NAME BYTES".
 */
int wm_writer_kernel_format(struct wm_trace_writer *w, const char *system, const char *name,
			    const char *text, size_t bytes);
int wm_writer_kernel_formats(struct wm_trace_writer *w);

/*
 * Writes the kernel's symbols, in the format of /proc/kallsyms, to "DIR/kernel/kallsyms.zst". Needs
 * no writer, so another process may call it; wm_writer_kernel_adopt() then adds the size of the
 * file to the writer's totals.
 */
int wm_writer_kernel_symbols(const char *dir, const char *text, size_t bytes);
void wm_writer_kernel_adopt(struct wm_trace_writer *w);

/* Events of the recorder's own stream. `lost` is indexed by enum wm_lost of ring/pool.h. */
struct wm_module_info {
	uint64_t clock, base, start, bytes;
	bool unload;
	const unsigned char *build_id;
	uint32_t build_id_bytes;
	const char *path;
};
int wm_writer_module(struct wm_producer *p, const struct wm_module_info *m);
int wm_writer_lost(struct wm_producer *p, uint64_t from, uint64_t to, const char *cause,
		   uint64_t count);

struct wm_trace_totals {
	uint64_t events, bytes, packets; /* user events; bytes of all files */
	uint64_t lost_disk;              /* records of packets whose write failed */
};
void wm_writer_totals(const struct wm_trace_writer *w, struct wm_trace_totals *ret);

#endif
