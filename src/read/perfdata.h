/* SPDX-License-Identifier: MIT */
/*
 * perfdata.h - reads the output of `perf record`: file form, pipe form and folders, compressed or
 * not, from any kernel and in any byte order.
 *
 * Samples are events with the names that perf gives them; their parts are items of
 * WM_PART_STREAM_CONTEXT (ip, pid, tid, callchain...). The kernel's other records are events
 * "perf:mmap2", "perf:comm" etc., marked meta. Counts from `perf stat record` are events named
 * after the event counted.
 */
#ifndef WM_READ_PERFDATA_H
#define WM_READ_PERFDATA_H

#include "base/table.h"
#include "kdata/formats.h"
#include "kdata/perf_record.h"
#include "kdata/perf_sample.h"
#include "kdata/print.h"
#include "trace/reader.h"

extern const struct wm_reader_ops wm_perfdata_ops;

/*
 * --- for exporters: what an open perf.data file holds besides its events ------
 *
 * A trace whose ops are wm_perfdata_ops has a struct wm_pd as its `own`. It
 * belongs to the reader and lives as long as the trace; exporters only read it.
 */

/* Records of the perf tool itself. */
enum wm_pd_user {
	WM_PD_ATTR = 64,
	WM_PD_EVENT_TYPE = 65,
	WM_PD_TRACING_DATA = 66,
	WM_PD_BUILD_ID = 67,
	WM_PD_FINISHED_ROUND = 68,
	WM_PD_ID_INDEX = 69,
	WM_PD_AUXTRACE_INFO = 70,
	WM_PD_AUXTRACE = 71,
	WM_PD_AUXTRACE_ERROR = 72,
	WM_PD_THREAD_MAP = 73,
	WM_PD_CPU_MAP = 74,
	WM_PD_STAT_CONFIG = 75,
	WM_PD_STAT = 76,
	WM_PD_STAT_ROUND = 77,
	WM_PD_EVENT_UPDATE = 78,
	WM_PD_TIME_CONV = 79,
	WM_PD_FEATURE = 80,
	WM_PD_COMPRESSED = 81,
	WM_PD_FINISHED_INIT = 82,
	WM_PD_COMPRESSED2 = 83,
	WM_PD_BPF_METADATA = 84,
};

/* Bits in the header, and the numbers of FEATURE records. */
enum wm_pd_feature {
	WM_PD_HAS_TRACING_DATA = 1,
	WM_PD_HAS_BUILD_ID = 2,
	WM_PD_HAS_HOSTNAME = 3,
	WM_PD_HAS_OSRELEASE = 4,
	WM_PD_HAS_VERSION = 5,
	WM_PD_HAS_ARCH = 6,
	WM_PD_HAS_NRCPUS = 7,
	WM_PD_HAS_CPUDESC = 8,
	WM_PD_HAS_CPUID = 9,
	WM_PD_HAS_TOTAL_MEM = 10,
	WM_PD_HAS_CMDLINE = 11,
	WM_PD_HAS_EVENT_DESC = 12,
	WM_PD_HAS_CPU_TOPOLOGY = 13,
	WM_PD_HAS_NUMA_TOPOLOGY = 14,
	WM_PD_HAS_BRANCH_STACK = 15,
	WM_PD_HAS_PMU_MAPPINGS = 16,
	WM_PD_HAS_GROUP_DESC = 17,
	WM_PD_HAS_AUXTRACE = 18,
	WM_PD_HAS_STAT = 19,
	WM_PD_HAS_CACHE = 20,
	WM_PD_HAS_SAMPLE_TIME = 21,
	WM_PD_HAS_MEM_TOPOLOGY = 22,
	WM_PD_HAS_CLOCKID = 23,
	WM_PD_HAS_DIR_FORMAT = 24,
	WM_PD_HAS_BPF_PROG_INFO = 25,
	WM_PD_HAS_BPF_BTF = 26,
	WM_PD_HAS_COMPRESSED = 27,
	WM_PD_HAS_CPU_PMU_CAPS = 28,
	WM_PD_HAS_CLOCK_DATA = 29,
	WM_PD_HAS_HYBRID_TOPOLOGY = 30,
	WM_PD_HAS_PMU_CAPS = 31,
	WM_PD_NR_FEATURES = 256
};

/*
 * The plan for samples whose parts are words at constant offsets, optionally followed by raw data
 * (fixed_sample.h). `bytes` is 0 when the attr's samples do not have this form. Offsets are from
 * the record's start; 0: none.
 */
struct wm_pd_flat {
	uint16_t bytes; /* minimum size of a record */
	uint16_t tid_at, cpu_at, raw_at;
	uint32_t nr_items;
	struct wm_pd_flat_item {
		/* the item without its value; `next` is relative to the first item */
		struct wm_item item;
		uint16_t at;
		uint8_t width; /* 8 or 4 bytes; 5 means 4 bytes, signed */
	} items[8];
};

#define WM_PD_PARTS_MAX  24u
#define WM_PD_DIRECT_IDS 4096u

/* A recorded event type. */
struct wm_pd_attr {
	struct wm_perf_attr attr;
	/* the attr as in the file: `attr.size` bytes, or 64 when that is 0 */
	const unsigned char *bytes;
	struct wm_perf_shape shape;
	const char *name; /* perf's name for it; NULL: not in the file */
	struct wm_event_type *type;
	struct wm_event_type *counts;    /* type of its counts; NULL: the file has none */
	const char *unit;                /* unit of the counts; NULL: not in the file */
	double scale;                    /* scale of the counts; 0: not in the file */
	const struct wm_kformat *format; /* format of a tracepoint; NULL: unknown */
	const struct wm_kform *form;
	struct wm_pd_flat flat;
	/* The parts of a sample that become items, as indices into the table in items.c. */
	uint8_t nr_parts, parts[WM_PD_PARTS_MAX];
};

/* The id of an event in the file, and its attr. Id 0 means none and is never stored. */
struct wm_pd_id {
	uint64_t id;
	uint32_t attr;
};

/* A counter that is read along with samples. */
struct wm_pd_counter {
	uint64_t id;
	uint32_t tid, attr; /* `tid` is 0 unless it counts per thread */
	/* For the index: its last value, and the number of the last packet in which it occurs. */
	uint64_t value, packet;
};

/* The value of a counter before a packet. */
struct wm_pd_start {
	uint32_t counter;
	uint64_t value;
};

/* A file with records. */
struct wm_pd_source {
	int fd;
	const char *file;    /* "": the trace's path itself */
	uint64_t begin, end; /* offsets of the records */
	struct wm_stream *stream;
};

struct wm_pd_comm {
	int64_t time;   /* time from which the name is valid; INT64_MIN: from the beginning */
	uint32_t order; /* order of the record in the file */
	int32_t pid, tid;
	int32_t parent;   /* the parent thread, for a fork */
	const char *name; /* NULL: a fork whose name is not set yet */
};

/*
 * A time at which counts were read. It applies to the counts between the previous round's record
 * and this one.
 */
struct wm_pd_round {
	uint64_t offset; /* offset of the round's record */
	int64_t time;    /* since perf stat began; never decreases */
	bool final;
};

/*
 * Bytes of a section or record body, read with bounds checks; reading past the end sets `failed`.
 */
struct wm_pd_bytes {
	const unsigned char *at, *end;
	bool swap, failed;
};

/* A feature's bytes from the file, for exporters that write them again. */
struct wm_pd_kept {
	uint32_t feature, bytes;
	const unsigned char *data;
};

struct wm_pd {
	struct wm_trace *trace;
	bool swap, big_endian, is_pipe;
	/*
	 * offset of the time, if the same in samples of all attrs; 0: it differs, or samples have
	 * none
	 */
	uint16_t time_at;
	uint32_t nr_attrs, room_ids;
	struct wm_pd_attr *attrs;
	struct wm_pd_id *ids; /* malloc'ed; found through id_table */
	struct wm_table id_table;
	/* the id last added of those with these low bits: nearly all records are found here */
	struct wm_pd_id direct_ids[WM_PD_DIRECT_IDS];
	uint32_t room_counters;
	struct wm_pd_counter *counters; /* malloc'ed; found through counter_table */
	struct wm_table counter_table;
	uint32_t nr_starts, room_starts;
	struct wm_pd_start *starts; /* malloc'ed; by packet */
	uint32_t nr_sources;
	struct wm_pd_source *sources;
	struct wm_trace_clock *clock;
	struct wm_kmachine machine;
	struct wm_kformats *formats; /* NULL: not in the file */
	uint32_t nr_kept;
	struct wm_pd_kept *kept;
	struct wm_pd_bytes tracing; /* section of the formats, for exporters; in the arena */
	uint32_t nr_comms, room_comms;
	struct wm_pd_comm *comms;   /* malloc'ed; sorted by tid and time after indexing */
	struct wm_table last_comms; /* the last of each tid */
	const struct wm_event_type *meta[WM_PERF_KIND_NR];
	uint32_t nr_rounds, room_rounds;
	struct wm_pd_round *rounds; /* malloc'ed; rounds of the first source, by offset */
	uint32_t nr_threads;
	/*
	 * thread ids, indexed by the counts' thread number; -1: all threads. NULL: not in the file
	 */
	int32_t *threads;
	bool has_build_ids; /* MMAP2 records may have build-ids */
	bool has_counts;    /* written by perf stat */
	bool has_samples;
	bool packed;        /* has compressed records */
	bool untimed;       /* records without a time follow records with a time */
	uint64_t nr_own;    /* records of the perf tool, which are not events */
	uint64_t aux_bytes; /* data of a processor's tracer, and perf's number of its kind */
	uint32_t aux_kind;
	uint64_t nr_lost; /* lost events that the kernel reported in the stream */
	/* lost samples that perf reported at the end; most are also in nr_lost */
	uint64_t nr_lost_samples;
	uint32_t nr_cpus; /* processors of the machine; 0: unknown */
};

uint32_t wm_pd_u32(struct wm_pd_bytes *b);
uint64_t wm_pd_u64(struct wm_pd_bytes *b);
const unsigned char *wm_pd_take(struct wm_pd_bytes *b, uint64_t bytes);

/* Finds the type and config of an event by the kernel's name for it ("cycles", "sw:cpu-clock"). */
bool wm_pd_named(const char *name, uint32_t *ret_type, uint64_t *ret_config);

#endif
