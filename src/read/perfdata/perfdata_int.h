/* SPDX-License-Identifier: MIT */
/*
 * perfdata_int.h - private to the perf.data reader: shared by its files.
 *
 *   perfdata.c      entry points: open, close, the table of operations
 *   header.c        file form: attrs, sections, features, folders
 *   pipe.c          pipe form, and the perf tool's records (64 and up)
 *   feature.c       contents of the feature sections
 *   layout.c        their lengths, computed from their contents
 *   tracing.c       formats of the kernel's events
 *   walk.c          iterates over the records of one file
 *   own.c           checks the perf tool's own records
 *   attr.c          attrs: their names, ids and event types
 *   index.c         one walk over all records: packets, comms, losses; a file's only walk
 *   counters.c      counters that are read with samples
 *   comm.c          names of threads over time
 *   unpack.c        decompresses records to a temporary file
 *   items.c         samples to items
 *   fixed_sample.h  most samples to events, by a plan
 *   meta.c          other records to items
 *   event.c         one record to an event
 *   stat.c          counts from perf stat
 *   read.c          the packet reader
 *
 * perf writes one buffer after another: within a buffer, records are in time order, but time
 * decreases from one buffer to the next. A packet is a sequence of whole records of about
 * WM_PD_PACKET_BYTES; if the index found its records out of order, they are sorted when the packet
 * is read. Packets may overlap in time, which merge.h allows.
 */
#ifndef WM_READ_PERFDATA_PERFDATA_INT_H
#define WM_READ_PERFDATA_PERFDATA_INT_H

#include "base/order.h"
#include "read/perfdata.h"

#define WM_PD_ATTRS_MAX    65536u
#define WM_PD_IDS_MAX      (1u << 22)
#define WM_PD_COMMS_MAX    (1u << 22)
#define WM_PD_ROUNDS_MAX   (1u << 22)
#define WM_PD_FEATURE_MAX  (64u << 20) /* maximum size of a feature section */
#define WM_PD_KEPT_MAX     (16u << 20)
#define WM_PD_STRING_MAX   65536u
#define WM_PD_PACKET_BYTES (256u << 10)
#define WM_PD_SOURCES_MAX  4096u
#define WM_PD_NAME_BYTES   64u /* size of a name in the table of event types */

/* Reads exactly that many bytes; -ENODATA if the file ends too early. */
int wm_pd_pread(const struct wm_pd_source *s, void *buffer, size_t bytes, uint64_t offset);

/* --- walk.c -------------------------------------------------------- */

/* Iterates over the records of a source, through a buffer. */
struct wm_pd_walk {
	const struct wm_pd *pd;
	const struct wm_pd_source *source;
	uint64_t offset;             /* file offset of `record` */
	const unsigned char *record; /* the complete record */
	struct wm_perf_header header;
	uint64_t tail; /* bytes after the record that belong to it */
	bool quiet;    /* another walk reports damage */
	unsigned char *buffer;
	uint64_t at, buffered_at; /* offsets of the next record and of the buffer */
	size_t buffered;
};
int wm_pd_walk_begin(struct wm_pd_walk *w, const struct wm_pd *pd, const struct wm_pd_source *s);
/* Returns 1 and a record; 0 at the end, or at damage, which it reports as a fault; or -errno. */
int wm_pd_walk_next(struct wm_pd_walk *w);
void wm_pd_walk_done(struct wm_pd_walk *w);

/* Returns whether such a header can begin a record. */
static inline bool wm_pd_sane(const struct wm_perf_header *h)
{
	return h->size >= WM_PERF_HEADER_BYTES && h->type != 0;
}

/* --- header.c ------------------------------------------------------ */

/* Reads the attrs and features of a file in file form, and sets where its records are located. */
int wm_pd_header_read(struct wm_pd *pd, struct wm_pd_source *s, struct wm_diag *diag);

/* --- pipe.c -------------------------------------------------------- */

/* From all sources, reads the records that describe other records. */
int wm_pd_pipe_read(struct wm_pd *pd, struct wm_diag *diag);

/* Reads one of the perf tool's records that describe others. 0 or -errno. */
int wm_pd_describe(struct wm_pd *pd, const struct wm_pd_walk *w, struct wm_diag *diag);

/* --- own.c --------------------------------------------------------- */

/* Reports a fault for a perf tool record that no perf can have written. */
void wm_pd_own_check(const struct wm_pd_walk *w);

/* --- feature.c ----------------------------------------------------- */

/* Reads a feature. Returns 0, 1 when its data ends inside a value, or -errno. */
int wm_pd_feature(struct wm_pd *pd, uint32_t feature, const unsigned char *data, size_t bytes);
/*
 * Stores a feature's bytes, up to WM_PD_KEPT_MAX in total. Features with the same number are stored
 * in order.
 */
int wm_pd_keep(struct wm_pd *pd, uint32_t feature, const void *data, size_t bytes);

#define WM_PD_MISC_BUILD_ID_SIZE (1u << 15)
#define WM_PD_BUILD_ID_BYTES     20u
#define WM_PD_BUILD_ID_NAME      36u /* offset of its path in the record */

/* Reads a whole BUILD_ID record; ignores one that is too short. 0 or -ENOMEM. */
int wm_pd_build_id(struct wm_pd *pd, const unsigned char *record, const struct wm_perf_header *h);

/* --- layout.c ------------------------------------------------------ */

/*
 * Checks a feature's length. False: its layout is unknown. `ret_flaw`, if set, is a static string.
 */
bool wm_pd_layout_check(const struct wm_pd *pd, uint32_t feature, struct wm_pd_bytes body,
			const char **ret_flaw);

/* --- tracing.c ----------------------------------------------------- */

/* Reads the formats of the kernel's events; later calls are ignored. 0 or -ENOMEM. */
int wm_pd_tracing(struct wm_pd *pd, struct wm_pd_bytes *b);

/* --- attr.c -------------------------------------------------------- */

/* Adds an attr; its ids are added separately. Returns the index, or -errno with `diag`. */
int wm_pd_attr_add(struct wm_pd *pd, const void *data, size_t bytes, struct wm_diag *diag);
int wm_pd_id_add(struct wm_pd *pd, uint64_t id, uint32_t attr);
void wm_pd_attr_name(struct wm_pd *pd, uint32_t attr, const char *name); /* copies the name */

/* Names the attrs with that config that have no name yet; `name` has WM_PD_NAME_BYTES. */
void wm_pd_config_name(struct wm_pd *pd, uint64_t config, const char *name);

/* Called when all attrs have been added: creates missing names, and event types. */
int wm_pd_attrs_finish(struct wm_pd *pd);

/* Returns the attr with that id, or NULL. */
const struct wm_pd_attr *wm_pd_attr_find(const struct wm_pd *pd, uint64_t id);

/*
 * Finds the attr of a record when there are several: by the record's id, or the first attr if the
 * record has no id.
 */
const struct wm_pd_attr *wm_pd_attr_by_id(const struct wm_pd *pd, const unsigned char *record);

/* Returns the attr of a kernel record; NULL: there are no attrs. */
static inline const struct wm_pd_attr *wm_pd_attr_of(const struct wm_pd *pd,
						     const unsigned char *record)
{
	return pd->nr_attrs < 2 ? pd->attrs : wm_pd_attr_by_id(pd, record);
}

/* --- items.c ------------------------------------------------------- */

/* Creates the structure type for that attr's samples, and the list of their parts. */
const struct wm_type *wm_pd_sample_type(struct wm_trace *t, struct wm_pd_attr *a);
/*
 * Adds the items of one sample, which was parsed according to `shape`. Returns false when out of
 * memory.
 */
bool wm_pd_sample_items(const struct wm_pd_attr *a, const struct wm_perf_shape *shape,
			const struct wm_perf_sample *s, struct wm_batch *b);
void wm_pd_flat_make(struct wm_pd_attr *a);

/* --- meta.c -------------------------------------------------------- */

int wm_pd_meta_types(struct wm_pd *pd);
bool wm_pd_meta_items(const struct wm_event_type *type, const struct wm_perf_record *r,
		      struct wm_batch *b); /* false: no memory */

/* --- counters.c ---------------------------------------------------- */

/* Returns whether counters are read with the attr's samples, along with their ids. */
static inline bool wm_pd_reads(const struct wm_pd_attr *a)
{
	return a->shape.sample_type & WM_PERF_SAMPLE_READ &&
	       a->shape.read_format & WM_PERF_FORMAT_ID;
}

/*
 * Called by the index for each sample of packet `p`. Returns the number of events that the record
 * yields, or -ENOMEM.
 */
int wm_pd_counters_note(struct wm_pd *pd, const unsigned char *record,
			const struct wm_perf_header *h, struct wm_packet *p);

/*
 * Called before the samples of a packet are read: sets *values, which the caller keeps and frees,
 * to the counters' values before the packet. 0 or -ENOMEM.
 */
int wm_pd_counters_begin(const struct wm_pd *pd, const struct wm_packet *p, uint64_t **values);

struct wm_pd_delta {
	const struct wm_pd_attr *attr; /* the member's */
	uint64_t period;               /* what it counted since its last value; 0: no event */
};

/*
 * Returns the event of counter `i` in a sample with the attr `a`, and updates the counter's value;
 * call it for all counters of all samples, in order. False: no event has the counter's id.
 */
bool wm_pd_counter_next(const struct wm_pd *pd, const struct wm_pd_attr *a,
			const struct wm_perf_sample *s, uint64_t i, uint64_t *values,
			struct wm_pd_delta *ret);

/* --- index.c ------------------------------------------------------- */

/* Properties of a packet, found by the index and stored in wm_packet.own for the reader. */
#define WM_PD_RUNS_BACK  1u /* records of the packet are not in time order */
#define WM_PD_HAS_META   2u /* has records other than samples */
#define WM_PD_HAS_COUNTS 4u /* has counts from perf stat, and nothing else */
/* From this bit on: the packet's number of pd->starts; wm_packet.part is the first of them. */
#define WM_PD_STARTS_SHIFT 32

/*
 * Finds packets, thread names and losses in one walk over the records; in file form also calls
 * wm_pd_describe() for records that describe others.
 */
int wm_pd_index(struct wm_pd *pd, struct wm_diag *diag);

/*
 * Converts the time in a record. 0 and all ones, which perf writes in records about the state
 * before the recording, mean no time.
 */
static inline int64_t wm_pd_time_word(uint64_t time)
{
	return !time || time > INT64_MAX ? WM_TIME_NONE : (int64_t)time;
}

/* Returns the time of a record; its offset depends on the attr. */
int64_t wm_pd_time_any(const struct wm_pd *pd, const unsigned char *record,
		       const struct wm_perf_header *h);

/* Returns when a kernel record was written, in perf's nanoseconds; or WM_TIME_NONE. */
static inline int64_t wm_pd_time(const struct wm_pd *pd, const unsigned char *record,
				 const struct wm_perf_header *h)
{
	if (h->type != WM_PERF_SAMPLE || !pd->time_at || pd->time_at + 8 > h->size)
		return wm_pd_time_any(pd, record, h);
	return wm_pd_time_word(wm_get_u64(record + pd->time_at, pd->swap));
}

/* Converts to nanoseconds since the clock's origin. */
static inline int64_t wm_pd_ns(const struct wm_pd *pd, int64_t time)
{
	int64_t ns;

	if (time == WM_TIME_NONE || __builtin_add_overflow(time, pd->clock->offset_ns, &ns))
		return WM_TIME_NONE;
	return ns;
}

/* --- event.c ------------------------------------------------------- */

/*
 * Records are padded to multiples of eight bytes. If this many bytes or more follow the last field,
 * they are not padding: the record's size is wrong.
 */
#define WM_PD_REST_MIN 8u

static inline int32_t wm_pd_known(bool present, uint32_t id)
{
	return present && id <= INT32_MAX ? (int32_t)id : -1;
}

/*
 * Assigns the members one by one, because gcc clears a structure of this size with an instruction
 * that takes 30 ns.
 */
static inline void wm_pd_event_begin(const struct wm_pd *pd, struct wm_event *e,
				     const struct wm_packet *p, const unsigned char *record,
				     uint16_t misc, int64_t time)
{
	e->ns = wm_pd_ns(pd, time);
	e->clock = time == WM_TIME_NONE ? 0 : (uint64_t)time;
	e->type = NULL;
	e->stream = pd->trace->streams[p->stream];
	e->packet = p;
	e->cpu = e->pid = e->tid = -1;
	e->mode = misc & WM_PERF_MISC_MODE_MASK;
	e->raw = NULL;
	e->raw_bytes = 0;
	e->record = record;
	e->items = NULL;
	memset(e->parts, 0, sizeof(e->parts));
}

/* Adds items of a tracepoint's own fields, from the event's raw bytes; false: no memory. */
bool wm_pd_fields(const struct wm_pd *pd, const struct wm_pd_attr *a, struct wm_event *e,
		  const struct wm_want *want, struct wm_batch *b);

/*
 * Adds a kernel record as an event, or as one event for each counter read with it. Returns 1; 0
 * when not added, because it is not wanted or is damaged; or -ENOMEM. Damage is reported as a fault
 * at `offset`. `values` are those from wm_pd_counters_begin().
 */
int wm_pd_event(struct wm_pd *pd, const struct wm_packet *p, const unsigned char *record,
		uint64_t offset, int64_t time, uint64_t *values, const struct wm_want *want,
		struct wm_batch *b);

/* --- stat.c -------------------------------------------------------- */

#define WM_PD_STAT_BYTES  48u
#define WM_PD_ROUND_BYTES 24u

static inline bool wm_pd_is_count(const struct wm_perf_header *h)
{
	return h->type == WM_PD_STAT && h->size == WM_PD_STAT_BYTES;
}

/* Called at the first count: from then on, times are perf stat's. */
int wm_pd_stat_seen(struct wm_pd *pd);
int wm_pd_stat_threads(struct wm_pd *pd, struct wm_pd_bytes *b); /* body of a THREAD_MAP */
/* the record must have the right size */
int wm_pd_stat_round(struct wm_pd *pd, const struct wm_pd_walk *w);

/*
 * Returns when the count at that offset was read, or WM_TIME_NONE. Call it only once all rounds are
 * known.
 */
int64_t wm_pd_stat_time(const struct wm_pd *pd, uint64_t offset);
void wm_pd_stat_packets(struct wm_pd *pd); /* sets the times of packets that hold counts */

/*
 * Creates the type of an attr's counts, which is the attr's only type if the file has no samples.
 * The attr must already have its name.
 */
int wm_pd_stat_type(struct wm_pd *pd, uint32_t attr);

/* Adds a count as an event, like wm_pd_event(). */
int wm_pd_stat_event(struct wm_pd *pd, const struct wm_packet *p, const unsigned char *record,
		     uint64_t offset, int64_t time, const struct wm_want *want, struct wm_batch *b);

/* --- comm.c -------------------------------------------------------- */

int wm_pd_comm_note(struct wm_pd *pd, const unsigned char *record, const struct wm_perf_header *h,
		    int64_t ns);
int wm_pd_comm_sort(struct wm_pd *pd); /* 0 or -ENOMEM */
const char *wm_pd_comm(const struct wm_trace *t, const struct wm_event *e);

/* --- unpack.c ------------------------------------------------------ */

/* Replaces a source that has compressed records with an uncompressed copy. 0 or -errno. */
int wm_pd_unpack(struct wm_pd *pd, struct wm_pd_source *s, struct wm_diag *diag);

/* --- read.c -------------------------------------------------------- */

struct wm_packet_reader *wm_pd_reader_create(struct wm_trace *t, const struct wm_want *want);
int wm_pd_reader_begin(struct wm_packet_reader *r, const struct wm_packet *p);
int wm_pd_reader_read(struct wm_packet_reader *r, struct wm_batch *b);
void wm_pd_reader_destroy(struct wm_packet_reader *r);

#endif
