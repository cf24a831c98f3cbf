/* SPDX-License-Identifier: MIT */
/*
 * abi.h - the binary contract between code compiled into a traced program (sites, packing, commit)
 * and the runtime that serves it.
 *
 * A program built today must run under a future runtime and vice versa, so every structure here is
 * versioned by WAYMARK_ABI, sized explicitly and checked by static assertions in
 * src/runtime/abi_check.c. No definition here may be changed in place: new fields go at the end,
 * and new bits are taken from the reserved ones.
 *
 * The comment of each structure names its writers and readers. No libc, no atomics beyond the
 * compiler's, valid GNU C99 and C++11.
 */
#ifndef WAYMARK_ABI_H
#define WAYMARK_ABI_H

#include <stddef.h>
#include <stdint.h>

#define WAYMARK_ABI 1

/* ------------------------------------------------------------------ *
 * Description of an event: pointer-free, so that a tool can read it
 * from the ELF file, a core dump, or from another process's memory.
 *
 *   struct waymark_desc | int64_t values[nr_values] | text[text_size]
 *
 * text is five NUL-terminated strings, in this order:
 *   provider  name  schema  print  file
 * and for WAYMARK_DESC_LINKED a sixth: "provider:name" of the carrier event.
 *
 * An empty provider means "the name of the program or library". An empty
 * print means "none". The schema is a list of fields separated by ';', each
 * "name:type":
 *
 *   i1 i2 i4 i8   signed integer of that many bytes, decimal
 *   u1 u2 u4 u8   unsigned, decimal
 *   x1 x2 x4 x8   unsigned, hexadecimal
 *   b1            bool
 *   f4 f8         IEEE float, double
 *   p8            pointer, hexadecimal
 *   s             string, NUL-terminated, any length
 *   c#            char array of exactly '#' bytes, NUL padded
 *   a#T           array of '#' elements of the scalar type T
 *   qT            sequence: u4 element count, then the elements
 *   z             blob: u4 byte count, then the bytes
 *   eT{L#,L#}     enumeration over the integer type T; label L has value '#'
 *
 * A MARKER is described by its format instead: print is the format, schema is
 * the argument list as spelled in the source, and values[] has one entry per
 * argument, WAYMARK_ARG(letter, bytes), letter one of i u b f p s as above.
 * A field's name is the word before its conversion, else the argument's
 * spelling; %x and %o make an integer hexadecimal.
 *
 * Each '#' takes the next entry of values[], left to right. Fields are packed
 * in this order without padding; a record (header and payload) is padded to a
 * multiple of 8 bytes.
 * ------------------------------------------------------------------ */
#define WAYMARK_ARG(letter, bytes) ((int64_t)(letter) << 8 | (int64_t)(bytes))

#define WAYMARK_DESC_MAGIC 0x31444d57u /* "WMD1" */

enum waymark_desc_kind {
	WAYMARK_KIND_EVENT = 0,	 /* typed event */
	WAYMARK_KIND_MARKER = 1, /* printf-like; `print` is its format */
	/*
	 * Text that was formatted elsewhere: one string field "msg". trace_printf() is a marker
	 * named "printf"
	 */
	WAYMARK_KIND_PRINTF = 2,
	WAYMARK_KIND_SPAN_BEGIN = 3,
	WAYMARK_KIND_SPAN_END = 4,
	WAYMARK_KIND_SPAN = 5, /* one record with begin time and duration */
};

/* Log levels in syslog's order: a smaller number is more severe. */
enum waymark_level {
	WAYMARK_EMERG = 0,
	WAYMARK_ALERT = 1,
	WAYMARK_CRIT = 2,
	WAYMARK_ERR = 3,
	WAYMARK_WARNING = 4,
	WAYMARK_NOTICE = 5,
	WAYMARK_INFO = 6,
	WAYMARK_DEBUG = 7,
};

#define WAYMARK_DESC_NOCLOCK 1u /* its records carry the time of the preceding event */
#define WAYMARK_DESC_LINKED 2u	/* a marker attached to a typed event; it has no site of its own */

struct waymark_desc {
	uint32_t magic;
	uint32_t size; /* size of the whole description in bytes */
	uint8_t kind;  /* enum waymark_desc_kind */
	uint8_t level; /* enum waymark_level */
	uint16_t nr_values;
	uint32_t line;
	uint32_t flags;
	uint32_t text_size;
	uint32_t reserved[2];
};

/* ------------------------------------------------------------------ *
 * One marked place. Section "waymark_sites": four 32-bit words, each
 * relative to its own address, so the table needs no relocation.
 * Written by the assembler, read by the runtime and by tools.
 * ------------------------------------------------------------------ */
struct waymark_site {
	int32_t insn;	/* the patched instruction; 0: a load+test site */
	int32_t target; /* where the instruction jumps when enabled; 0: a load+test site */
	int32_t desc;	/* struct waymark_desc */
	int32_t event;	/* struct waymark_event_state */
};

/* ------------------------------------------------------------------ *
 * Run-time state of an event, one per description, in the module's .data.
 * Written by the runtime only; read by emitting threads.
 *
 * word: bits 0-15   event id in the direct recorder's stream
 *       bits 16-59  zero while DIRECT events are emitted (the header is
 *                   clock << 16 | word)
 *       bit 60      PROBES: in-process callbacks are connected
 *       bit 61      RECORD: a recorder requested it through the gate
 *       bit 63      COMPLEX: not the direct case; bits 60-61 apply
 *
 * A dormant event has COMPLEX alone: a thread that is past the site when the
 * event is disabled does nothing.
 * ------------------------------------------------------------------ */
#define WAYMARK_WORD_COMPLEX (1ull << 63)
#define WAYMARK_WORD_RECORD (1ull << 61)
#define WAYMARK_WORD_PROBES (1ull << 60)

struct waymark_event_state {
	uint64_t word;
	/*
	 * Written by the runtime: filters, contexts, recorders, probes. Initially 0, or the struct
	 * waymark_link of a linked marker.
	 */
	void *binding;
	uint32_t enabled; /* flag of the load+test variant */
	/*
	 * Number of times the event was disabled; used to detect spans that began before it was
	 * last disabled.
	 */
	uint32_t epoch;
};

/* Operations of waymark_module.span. */
enum waymark_span_op {
	/* (op, tag, begin) -> id of a new scope, which becomes the innermost one; or 0. */
	WAYMARK_SPAN_PUSH = 1,
	WAYMARK_SPAN_POP = 2,	  /* (op, tag, begin) -> id of the ending scope; 0: not recorded */
	WAYMARK_SPAN_NEW = 3,	  /* (op) -> a new id without a scope, or 0 */
	WAYMARK_SPAN_CURRENT = 4, /* (op) -> id of the thread's innermost scope, or 0 */
	WAYMARK_SPAN_CLOCK = 5,	  /* (op) -> full value of the recorders' clock */
	WAYMARK_SPAN_PARENT = 6,  /* (op) -> id of the scope that encloses the innermost, or 0 */
};

/*
 * A marker attached to a tracepoint (WAYMARK_DESC_LINKED): its table entry has no instruction;
 * while the marker is on, the runtime connects `probe` to the carrier like an in-process callback,
 * and the probe emits the marker's record.
 */
struct waymark_link {
	const char *carrier;   /* "provider:name" */
	void (*probe)(void);   /* called with (private_data, the carrier's arguments...) */
};

/* ------------------------------------------------------------------ *
 * The writer of one thread at one signal-nesting level: 64 bytes, one cache
 * line, in private memory that any kind of fork wipes (MADV_WIPEONFORK), so a
 * child finds pos == end == 0 and takes the slow path.
 *
 * Written by the owning thread. The agent may store 0 to `end` to send the
 * owner through the slow path once.
 * ------------------------------------------------------------------ */
struct waymark_writer {
	unsigned char *pos;	      /* position of the next record */
	unsigned char *end;	      /* end of the chunk; pos == end == 0: no chunk */
	unsigned char *base;	      /* the chunk's header, see chunk.committed */
	/*
	 * 64: the next level's writer follows this one and is current while this one is busy; 0:
	 * this is the last level.
	 */
	intptr_t step;
	uintptr_t sp;		      /* stack pointer of the emit in progress */
	/* Number of committed records << 40 | end / 8: the commit word without the start. */
	uint64_t tally;
	unsigned char *scratch;	      /* written by the runtime: complex events are packed here */
	uint64_t last;		      /* clock value of the last record, << 16 */
};

#define WAYMARK_SCRATCH_BYTES 65536u

/*
 * The first 8 bytes of a chunk header. One word, stored with release semantics once the record is
 * complete; all records below `end` are complete. Offsets are from the chunk's base, in units of 8
 * bytes.
 *
 *   bits 0-19 end | bits 20-39 start of the last record | bits 40-63 count
 */
#define WAYMARK_COMMIT_END_BITS 20
#define WAYMARK_COMMIT_COUNT_SHIFT 40
#define WAYMARK_COMMIT_COUNT_ONE (1ull << WAYMARK_COMMIT_COUNT_SHIFT)

/* ------------------------------------------------------------------ *
 * One per executable or library, hidden and weak, so that all its units share
 * it. The module's constructor passes the structure to the runtime, if it is
 * present, and the runtime fills in the second half.
 *
 * The entries, except `put_...`, are called rarely. A call preserves every
 * register except the result (x86-64: rax, which is also the first argument,
 * then rdx, rcx; the caller steps over the red zone. aarch64: x0, arguments in
 * x0, x1, x2; the caller saves x16, x17 and x30), so the compiler sees no call
 * and dormant code needs no prologue.
 * ------------------------------------------------------------------ */
struct waymark_module {
	uint32_t abi;
	uint32_t state; /* written by the runtime; 0: new, 1: registered */
	const struct waymark_site *sites, *sites_end;
	const char *provider; /* written by the runtime; the provider of events that name none */
	void *runtime;	      /* runtime's */

	intptr_t writer_offset; /* offset of the current-writer pointer from the thread pointer */
	/*
	 * (writer) -> the writer to retry with, busy; or 0: the event was counted as lost, not
	 * busy.
	 */
	void (*slow)(void);
	/* (writer) -> where to pack the fields of a complex event, busy; or 0. */
	void (*enter)(void);
	/*
	 * (end of the fields or 0: too big, event, 0): applies filter, contexts, recorders; not
	 * busy afterwards.
	 */
	void (*gate)(void);
	/* (argument slots, event, dispatcher): calls callbacks; all registers are saved. */
	void (*probe)(void);
	void (*leave)(void); /* (): ends a complex event without a recorder; not busy afterwards */
	void (*put_string)(void); /* (to, from, bytes needed after) -> end, or 0: does not fit */
	void (*put_bytes)(void);  /* (to, from, bytes | needed after << 48) -> end, or 0 */
	void (*put_chars)(void);  /* (to, string, bytes) -> end; pads with NUL */
	/* (enum waymark_span_op, tag: the end event, the begin event) */
	void (*span)(void);
	void (*spare[1])(void);
};

#endif
