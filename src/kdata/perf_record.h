/* SPDX-License-Identifier: MIT */
/*
 * perf_record.h - parses one record of the kernel's perf interface (types 1 to 22) as stored in a
 * ring buffer or in perf.data: its name, its fields, its sample_id. Samples (type 9) have their own
 * header, perf_sample.h; the perf tool's records (64 and up) are left to the readers of its files.
 *
 *   header { u32 type; u16 misc; u16 size; } body ... sample_id
 *
 * The size includes the header. When attr.sample_id_all is set, every record except samples ends
 * with the sample_id. A record's id, found without parsing (wm_kperf_record_id()), identifies its
 * attr: either all attrs in a file have the id in the same place, or there is only one attr.
 *
 * All results point into the record's bytes: nothing is copied or allocated. All functions are pure
 * and thread-safe.
 */
#ifndef WM_KDATA_PERF_RECORD_H
#define WM_KDATA_PERF_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/order.h"
#include "kdata/perf_attr_int.h"

enum wm_perf_kind {
	WM_PERF_MMAP = 1,
	WM_PERF_LOST = 2,
	WM_PERF_COMM = 3,
	WM_PERF_EXIT = 4,
	WM_PERF_THROTTLE = 5,
	WM_PERF_UNTHROTTLE = 6,
	WM_PERF_FORK = 7,
	WM_PERF_READ = 8,
	WM_PERF_SAMPLE = 9,
	WM_PERF_MMAP2 = 10,
	WM_PERF_AUX = 11,
	WM_PERF_ITRACE_START = 12,
	WM_PERF_LOST_SAMPLES = 13,
	WM_PERF_SWITCH = 14,
	WM_PERF_SWITCH_CPU_WIDE = 15,
	WM_PERF_NAMESPACES = 16,
	WM_PERF_KSYMBOL = 17,
	WM_PERF_BPF_EVENT = 18,
	WM_PERF_CGROUP = 19,
	WM_PERF_TEXT_POKE = 20,
	WM_PERF_AUX_OUTPUT_HW_ID = 21,
	WM_PERF_CALLCHAIN_DEFERRED = 22,
	WM_PERF_KIND_NR,
	WM_PERF_KIND_USER = 64, /* the perf tool's own types begin here */
};

/* header.misc: the mode of the CPU, and flags whose meaning depends on the kind of record. */
#define WM_PERF_MISC_MODE_MASK    7u
#define WM_PERF_MISC_KERNEL       1u
#define WM_PERF_MISC_USER         2u
#define WM_PERF_MISC_HYPERVISOR   3u
#define WM_PERF_MISC_GUEST_KERNEL 4u
#define WM_PERF_MISC_GUEST_USER   5u
#define WM_PERF_MISC_MMAP_DATA    (1u << 13) /* MMAP, MMAP2 */
#define WM_PERF_MISC_COMM_EXEC    (1u << 13) /* COMM */
#define WM_PERF_MISC_SWITCH_OUT   (1u << 13) /* SWITCH, SWITCH_CPU_WIDE */
#define WM_PERF_MISC_EXACT_IP     (1u << 14) /* SAMPLE */
/* The LOST_SAMPLES record counts filtered samples, not lost ones. */
#define WM_PERF_MISC_LOST_SAMPLES_BPF (1u << 15)
#define WM_PERF_MISC_SWITCH_PREEMPT   (1u << 14) /* SWITCH, SWITCH_CPU_WIDE */
#define WM_PERF_MISC_MMAP_BUILD_ID    (1u << 14) /* MMAP2 */

#define WM_PERF_HEADER_BYTES 8u

struct wm_perf_header {
	uint32_t type;
	uint16_t misc;
	uint16_t size; /* size of the record, including this header */
};

/*
 * Reads the 8 bytes at `p`. The caller checks that the size is possible (>= 8, within the buffer).
 */
static inline struct wm_perf_header wm_kperf_header_get(const void *p, bool swap)
{
	const unsigned char *b = p;

	return (struct wm_perf_header){wm_get_u32(b, swap), wm_get_u16(b + 4, swap),
				       wm_get_u16(b + 6, swap)};
}

/*
 * Returns the name of a type, such as "SAMPLE" or "MMAP2"; NULL for a type that no known kernel
 * writes.
 */
const char *wm_kperf_kind_name(uint32_t type);

/*
 * The layout of the records of one attr. Compiled once per attr, then read by
 * every parse; may be copied and shared between threads.
 */
struct wm_perf_shape {
	uint64_t sample_type;        /* WM_PERF_SAMPLE_* from perf_sample.h */
	uint64_t read_format;        /* WM_PERF_FORMAT_* */
	uint64_t branch_sample_type; /* WM_PERF_BRANCH_* */
	uint64_t regs_user, regs_intr;
	uint16_t trailer_bytes; /* size of the sample_id; 0: records have none */
	int16_t id_in_sample;   /* offset of the id from the start of a sample; -1: it has none */
	/* Offset of the id from the end of any other record; -1: it has none. */
	int16_t id_from_end;
	int16_t time_in_sample, time_from_end; /* offsets of the time, likewise */
	uint8_t nr_regs_user, nr_regs_intr;
	bool swap, big_endian;
	/*
	 * MMAP2 may have build-ids; if false, a record that claims one usually has a device
	 * instead.
	 */
	bool has_build_ids;
};

/*
 * Computes the layout. `big_endian` is the byte order of the recording machine. Never fails: fields
 * of unknown sample_type bits end up in wm_perf_sample.rest.
 */
void wm_kperf_shape_init(struct wm_perf_shape *s, const struct wm_perf_attr *attr, bool big_endian);

/* Finds the attr's id in a whole record (`size` as in its header). -ENOENT: the record has none. */
int wm_kperf_record_id(const struct wm_perf_shape *s, const void *record, uint64_t *ret_id);

/*
 * Finds the time of a record, according to perf's clock. -ENOENT: it has none. FORK and EXIT
 * contain the time twice.
 */
int wm_kperf_record_time(const struct wm_perf_shape *s, const void *record, uint64_t *ret_time);

/* The sample_id: process, time, CPU. Only the members in `present` (WM_PERF_SAMPLE_*) are set. */
struct wm_perf_sample_id {
	uint64_t present;
	uint32_t pid, tid, cpu;
	uint64_t time, id, stream_id;
};

/* Text inside a record: ends at its NUL or, in a damaged record, at the end of the body. */
struct wm_perf_text {
	const char *data; /* may lack a terminating NUL */
	uint32_t bytes;
};

struct wm_perf_bytes {
	const unsigned char *data;
	uint64_t bytes;
};

/* Words of 8 bytes in the file's byte order, at any alignment; read them with wm_kperf_word(). */
struct wm_perf_words {
	const unsigned char *data;
	uint64_t nr;
};

static inline uint64_t wm_kperf_word(const struct wm_perf_words *w, uint64_t i, bool swap)
{
	return wm_get_u64(w->data + 8 * i, swap);
}

/* One counter of a READ record or of the READ part of a sample. */
struct wm_perf_counter {
	uint64_t value, id, lost; /* `id` and `lost` are 0 when not in the read_format */
};

struct wm_perf_read {
	uint64_t time_enabled, time_running; /* nanoseconds; 0 when not in the read_format */
	/* Number of counters; 1 without WM_PERF_FORMAT_GROUP. */
	uint64_t nr;
	struct wm_perf_counter first;
	/* The counters of a group, for wm_kperf_read_counter(), else NULL. */
	const unsigned char *counters;
};

/* Returns counter `i`, which must be below nr. */
struct wm_perf_counter wm_kperf_read_counter(const struct wm_perf_shape *s,
					     const struct wm_perf_read *r, uint64_t i);

struct wm_perf_mmap { /* MMAP, MMAP2 */
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	uint32_t prot, flags; /* MMAP2 */
	uint32_t major, minor;
	uint64_t inode, inode_generation;
	/*
	 * NULL when absent; in that case major ... inode_generation are set, whatever the header
	 * says.
	 */
	const unsigned char *build_id;
	uint8_t build_id_bytes; /* <= 20 */
	struct wm_perf_text filename;
};

struct wm_perf_task { /* FORK, EXIT */
	uint32_t pid, ppid, tid, ptid;
	uint64_t time;
};

struct wm_perf_comm {
	uint32_t pid, tid;
	struct wm_perf_text comm;
};

struct wm_perf_lost { /* LOST. In LOST_SAMPLES the id is in the sample_id instead */
	uint64_t id, lost;
};

struct wm_perf_throttle { /* THROTTLE, UNTHROTTLE */
	uint64_t time, id, stream_id;
};

struct wm_perf_read_record {
	uint32_t pid, tid;
	struct wm_perf_read read;
};

struct wm_perf_aux {
	uint64_t offset, size;
	uint64_t flags; /* 1 truncated, 2 overwrite, 4 partial, 8 collision, 0xff00 PMU's format */
};

struct wm_perf_thread { /* ITRACE_START; in SWITCH_CPU_WIDE, the next or previous thread */
	uint32_t pid, tid;
};

struct wm_perf_namespaces {
	uint32_t pid, tid;
	struct wm_perf_words dev_inode; /* pairs: nr / 2 namespaces */
};

struct wm_perf_ksymbol {
	uint64_t addr;
	uint32_t len;
	uint16_t type, flags; /* type 1: BPF, 2: out of line; flags 1: unregistered */
	struct wm_perf_text name;
};

struct wm_perf_bpf_event {
	uint16_t type, flags; /* type 1: load, 2: unload */
	uint32_t id;
	const unsigned char *tag; /* 8 bytes */
};

struct wm_perf_cgroup {
	uint64_t id;
	struct wm_perf_text path;
};

struct wm_perf_text_poke {
	uint64_t addr;
	struct wm_perf_bytes old_text, new_text;
};

struct wm_perf_callchain_deferred {
	/* Equals the cookie after WM_PERF_CONTEXT_USER_DEFERRED in earlier samples. */
	uint64_t cookie;
	struct wm_perf_words callchain;
};

struct wm_perf_record {
	struct wm_perf_header header;
	struct wm_perf_sample_id id;
	/* Everything between header and sample_id, even in records of unknown type. */
	struct wm_perf_bytes body;
	/* The rest of the body, after the members of the record's type. */
	struct wm_perf_bytes rest;
	/* Selected by header.type; not used for SWITCH and unknown types. */
	union {
		struct wm_perf_mmap mmap;
		struct wm_perf_task task;
		struct wm_perf_comm comm;
		struct wm_perf_lost lost;
		struct wm_perf_throttle throttle;
		struct wm_perf_read_record read;
		struct wm_perf_aux aux;
		struct wm_perf_thread thread;
		struct wm_perf_namespaces namespaces;
		struct wm_perf_ksymbol ksymbol;
		struct wm_perf_bpf_event bpf;
		struct wm_perf_cgroup cgroup;
		struct wm_perf_text_poke text_poke;
		struct wm_perf_callchain_deferred deferred;
		uint64_t hw_id; /* AUX_OUTPUT_HW_ID */
	};
};

/*
 * Parses a record that is not a sample, of which `avail` bytes are available. Returns 1 when it was
 * parsed; 0 when its type is unknown, in which case only `body` and `id` are set; -EBADMSG when it
 * ends inside a field or its size is impossible; -EINVAL for samples and the perf tool's types.
 * `diag` (optional) names the field; its offset is relative to the start of the record.
 */
int wm_kperf_record_parse(const struct wm_perf_shape *s, const void *record, size_t avail,
			  struct wm_perf_record *ret, struct wm_diag *diag);

#endif
