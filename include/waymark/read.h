/* SPDX-License-Identifier: MIT */
/*
 * read.h - reads traces from any tracer: CTF 1.8 and 2 (LTTng, waymark, barectf...), perf.data,
 * trace.dat; one or several, merged by timestamp. Link libwaymark:
 * cc prog.c $(pkg-config --cflags --libs waymark)
 *
 *   struct waymark_error error = WAYMARK_INIT(error);
 *   struct waymark_trace *trace;
 *   struct waymark_reader *reader;
 *   const struct waymark_event *event;
 *
 *   if (waymark_open("path", &trace, &error) || waymark_read(trace, NULL, &reader, &error))
 *           errx(1, "%s", error.text);
 *   while (waymark_next(reader, &event) == 1)
 *           puts(waymark_type_name(event->type));
 *   waymark_reader_close(reader);
 *   waymark_close(trace);
 *
 * Errors. Functions that return int or int64_t return a negative errno number when they fail; a
 * struct waymark_error, if passed, receives a message: what failed, why, and where in which file.
 * Damage in a trace is not an error: everything readable is read, and waymark_fault() lists the
 * rest.
 *
 * Ownership. The caller closes what open and read return: readers and columns before their trace.
 * Every other pointer belongs to the object it was obtained from and is valid as long as that
 * object, except that an event is valid only until the next call with its reader.
 *
 * Threads. A trace may be used by any number of threads at a time. A reader and the objects made
 * from it belong to one thread at a time; different readers are independent. No function here
 * prints, exits, or changes signals.
 *
 * Memory. Reading an event allocates nothing; the memory of a reader does not grow with the trace.
 *
 * Times are nanoseconds since 1970, UTC, or since the clock's own origin (waymark_info.is_epoch).
 * Everything read from a file is checked; text in an event is unchanged from the traced program and
 * may contain any bytes.
 */
#ifndef WAYMARK_READ_H
#define WAYMARK_READ_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WAYMARK_NO_TIME   INT64_MIN  /* time of an event without a clock */
#define WAYMARK_UNKNOWN   UINT64_MAX /* an unknown count */
#define WAYMARK_NO_NUMBER UINT32_MAX /* no stream, or no type */

struct waymark_trace;   /* one trace or several, opened as one */
struct waymark_reader;  /* a position in a trace */
struct waymark_type;    /* an event type: a name and fields */
struct waymark_field;   /* a field: a name and a kind */
struct waymark_columns; /* the fields of many events, as arrays */

/*
 * Sizes. Structures that a caller fills, and those that the library fills for a caller, can grow at
 * their end in later versions. Their first member is `size`, which the caller sets to the
 * structure's sizeof before any call:
 *
 *   struct waymark_info info = WAYMARK_INIT(info);
 *   struct waymark_options options = {.size = sizeof(options), .filter = "prev_prio < 100"};
 *
 * A program may be older than the library: members that it does not have are treated as 0 in
 * options, and are not written in results. It may be newer: members that the library does not have
 * become 0 in results; in options they must be 0, the default of every new member. Otherwise the
 * call fails with -E2BIG. A size of 0, or one smaller than the first version's, fails with -EINVAL;
 * so does a wrong size in struct waymark_error itself, which then holds no message.
 */
#ifdef __cplusplus
extern "C++" {
template <class T> inline T waymark_sized_()
{
	T sized = T();
	sized.size = sizeof(T);
	return sized;
}
}
#define WAYMARK_INIT(variable) waymark_sized_<decltype(variable)>()
#else
/* clang-format off */
#define WAYMARK_INIT(variable) { .size = sizeof(variable) }
/* clang-format on */
#endif

struct waymark_error {
	size_t size;
	int code;        /* positive errno; 0: no error */
	/* 1-based column in a string that the caller passed (a filter, a name); 0: none. */
	uint32_t column;
	char text[512];  /* a message without a newline */
};

/* --- values ----------------------------------------------------------------------------- */

enum waymark_kind {
	WAYMARK_UNSIGNED, /* value.u */
	WAYMARK_SIGNED,   /* value.s */
	WAYMARK_BOOL,     /* value.u is 0 or 1 */
	WAYMARK_FLOAT,    /* value.f */
	WAYMARK_TEXT,     /* value.text has value.count bytes, without a NUL */
	WAYMARK_BYTES,    /* value.bytes has value.count bytes */
	WAYMARK_STRUCT,   /* value.count members follow */
	WAYMARK_LIST,     /* value.count elements follow */
	WAYMARK_CHOICE,   /* one value follows: that of member value.u */
	WAYMARK_OPTIONAL  /* value.count (0 or 1) values follow */
};

/*
 * The values of an event are one flat array, outermost first: the contents of a structure or list
 * follow it, and `next` is the index of the first value after it and everything inside it.
 */
struct waymark_value {
	const struct waymark_field *field;
	__extension__ union {
		uint64_t u;
		int64_t s;
		double f;
		const char *text;
		const unsigned char *bytes;
	};
	uint32_t count;
	uint32_t next;
};

/* Parts of an event, in the order of their values. */
enum waymark_part {
	WAYMARK_PACKET_HEADER,
	WAYMARK_PACKET_CONTEXT,
	WAYMARK_HEADER,
	WAYMARK_STREAM_CONTEXT, /* context of all events of the stream */
	WAYMARK_CONTEXT,        /* context of this event type */
	WAYMARK_FIELDS,         /* fields of the event itself */
	WAYMARK_NR_PARTS
};

struct waymark_event {
	int64_t time_ns; /* or WAYMARK_NO_TIME */
	uint64_t clock;  /* recorded time in ticks */
	const struct waymark_type *type;
	const struct waymark_value *values; /* values of all parts */
	struct {
		uint32_t begin, end; /* range of each part's indices in `values` */
	} parts[WAYMARK_NR_PARTS];
	int32_t cpu, pid, tid; /* -1 when not known */
	uint32_t stream;       /* number of the stream, for waymark_stream() */
	const void *own;       /* private to the library */
};

/* The field's name; NULL for fields without one, such as elements of lists. */
const char *waymark_field_name(const struct waymark_field *field);
enum waymark_kind waymark_field_kind(const struct waymark_field *field);
uint32_t waymark_field_bits(const struct waymark_field *field); /* width of a number, 1 to 64 */
uint32_t waymark_field_base(const struct waymark_field *field); /* preferred base: 2, 8, 10 or 16 */

/*
 * The members of a structure, or the options of a choice; for a list or an optional, its element,
 * as number 0. Other kinds contain nothing. NULL: there is no number i.
 */
uint32_t waymark_field_nr_inside(const struct waymark_field *field);
const struct waymark_field *waymark_field_inside(const struct waymark_field *field, uint32_t i);

/*
 * The label of an enumeration value; NULL when it has none or the field is not an enumeration.
 */
const char *waymark_value_label(const struct waymark_value *value);

/* Whether the field is an enumeration, even if some of its values have no name. */
int waymark_field_is_enum(const struct waymark_field *field);

/* --- opening ----------------------------------------------------------------------------- */

/* Opens one file or folder. Returns 0 or -errno; the caller closes *ret. */
int waymark_open(const char *path, struct waymark_trace **ret, struct waymark_error *error);

/*
 * Opens several traces, at least one, merged by their clocks. Parts of one recording, such as
 * snapshots or copies, become one trace, in which packets that several parts have are read once.
 * Returns the same as waymark_open().
 */
int waymark_open_all(const char *const *paths, uint32_t nr_paths, struct waymark_trace **ret,
		     struct waymark_error *error);

/* Accepts NULL. */
void waymark_close(struct waymark_trace *trace);

/* --- contents ---------------------------------------------------------------------------- */

struct waymark_info {
	size_t size;
	const char *path;
	const char *format;       /* "ctf", "perf.data" or "trace.dat" */
	const char *version;      /* version of the format */
	/* If begin > end, the times are known only after all events have been read. */
	int64_t begin_ns, end_ns;
	uint64_t nr_packets;
	int is_epoch;      /* whether times count from 1970 */
	int is_incomplete; /* whether the tracer is still writing, or was killed */
};

struct waymark_stream {
	size_t size;
	const char *file; /* path relative to the trace; "" when the trace is a single file */
	uint64_t class_id, instance;
	uint32_t trace; /* number of the trace, for waymark_info() */
	int32_t cpu;    /* the CPU of all its events; -1: none, or several */
};

/* Events that the tracer reported as lost. */
struct waymark_loss {
	size_t size;
	uint64_t count;           /* WAYMARK_UNKNOWN: at least one */
	int64_t begin_ns, end_ns; /* INT64_MIN and INT64_MAX when not known */
	const char *cause;        /* "" when it is not known */
	uint32_t stream;          /* number of the stream; WAYMARK_NO_NUMBER: the whole trace */
	int is_packets;           /* whether `count` is a number of packets, not of events */
};

/* A part of the trace that cannot be read, or that violates the format. */
struct waymark_fault {
	size_t size;
	const char *file;
	const char *reason;
	uint64_t offset; /* bytes */
};

uint32_t waymark_nr_traces(const struct waymark_trace *trace);
uint32_t waymark_nr_streams(const struct waymark_trace *trace);
uint32_t waymark_nr_types(const struct waymark_trace *trace);
uint32_t waymark_nr_losses(const struct waymark_trace *trace);
/* Numbers found so far. A warning is a format violation that loses no data. */
uint32_t waymark_nr_faults(const struct waymark_trace *trace);
uint32_t waymark_nr_warnings(const struct waymark_trace *trace);

/*
 * Get item number i, counted from 0. Return 0, -ERANGE past the last item, or -EINVAL or -E2BIG for
 * a wrong size.
 */
int waymark_info(const struct waymark_trace *trace, uint32_t i, struct waymark_info *ret);
int waymark_stream(const struct waymark_trace *trace, uint32_t i, struct waymark_stream *ret);
int waymark_loss(const struct waymark_trace *trace, uint32_t i, struct waymark_loss *ret);
int waymark_fault(const struct waymark_trace *trace, uint32_t i, struct waymark_fault *ret);
int waymark_warning(const struct waymark_trace *trace, uint32_t i, struct waymark_fault *ret);

/*
 * A property of the tracer or the machine, such as "hostname" or "tracer_name"; NULL: the trace
 * does not have it.
 */
const char *waymark_word(const struct waymark_trace *trace, uint32_t i, const char *key);

/*
 * The event types. A name may occur more than once, with different fields. NULL: there is no such
 * type.
 */
const struct waymark_type *waymark_type(const struct waymark_trace *trace, uint32_t i);
/* The type's number, as passed to waymark_type(). */
uint32_t waymark_type_number(const struct waymark_type *type);
const char *waymark_type_name(const struct waymark_type *type); /* "provider:name" */
/* Level as the tracer defines it; -1: none. */
int waymark_type_level(const struct waymark_type *type);
/* Whether events of this type are about the recording itself. */
int waymark_type_is_meta(const struct waymark_type *type);
/* The fields of one part of the type's events, counted from 0. NULL: the part has fewer fields. */
uint32_t waymark_type_nr_fields(const struct waymark_type *type, enum waymark_part part);
const struct waymark_field *waymark_type_field(const struct waymark_type *type,
					       enum waymark_part part, uint32_t i);

enum waymark_role {
	WAYMARK_IS_DATA,
	WAYMARK_IS_LENGTH, /* length of the next field, which is a list */
	/* Stored among the fields, but actually a context: waymark's user stacks. */
	WAYMARK_IS_CONTEXT
};
/* The role of field i of a part; WAYMARK_IS_DATA also when there is no such field. */
enum waymark_role waymark_type_role(const struct waymark_type *type, enum waymark_part part,
				    uint32_t i);

/* --- reading -------------------------------------------------------------------------------- */

#define WAYMARK_READ_META      1u /* also read events about the recording */
/* Read packet by packet: faster, for callers that do not need time order. */
#define WAYMARK_READ_UNORDERED 2u
/* Merge clocks that count from unrelated origins, as if these were the same. */
#define WAYMARK_READ_CORRELATE 4u

/* If all members except the size are 0: all events, in time order. */
struct waymark_options {
	size_t size;
	/* Globs for event names, as for `waymark print -e`; none: all events. */
	const char *const *events;
	uint32_t nr_events;
	const char *filter;        /* filter as for `waymark print --filter`; NULL: none */
	const char *const *fields; /* the fields that are needed; others may be missing */
	uint32_t nr_fields;
	int64_t begin_ns; /* with has_begin: only events at this time or later */
	int64_t end_ns;   /* with has_end: only events before this time */
	int has_begin, has_end;
	uint32_t stream_plus_1; /* number + 1 of the only stream to read; 0: all streams */
	/*
	 * For unordered readers in several threads: which of `nr_shares` equal shares of the
	 * packets to read; nr_shares 0: all packets.
	 */
	uint32_t share;
	uint32_t nr_shares;
	uint32_t flags;     /* WAYMARK_READ_... */
};

/*
 * Creates a reader. `options` may be NULL, and is not needed after this call. Returns 0 or -errno;
 * -EDOM when clocks count from unrelated origins: then only readers of one stream, unordered ones,
 * and those with WAYMARK_READ_CORRELATE can be created.
 */
int waymark_read(struct waymark_trace *trace, const struct waymark_options *options,
		 struct waymark_reader **ret, struct waymark_error *error);

/* Accepts NULL. */
void waymark_reader_close(struct waymark_reader *reader);

/*
 * Returns 1 and the next event, 0 at the end, or -errno, which is then returned by every call until
 * waymark_seek(). The event is valid until the next call with this reader.
 */
int waymark_next(struct waymark_reader *reader, const struct waymark_event **ret);

/*
 * For unordered readers: gets all events of part of a packet at once. Returns their number, 0 at
 * the end, or -errno; -EINVAL for an ordered reader.
 */
int64_t waymark_next_batch(struct waymark_reader *reader, const struct waymark_event **ret);

/*
 * Continues with the first event at or after this time in nanoseconds, in either direction. Returns
 * 0 or -errno.
 */
int waymark_seek(struct waymark_reader *reader, int64_t time_ns);

/*
 * Returns a value by name: one of the event's fields, else of its contexts; NULL:
 * no value has this name.
 */
const struct waymark_value *waymark_get(const struct waymark_event *event, const char *field);

/*
 * The name of the event's thread or process at that time, as raw bytes; "": unknown. Valid until
 * the next call.
 */
const char *waymark_comm(struct waymark_reader *reader, const struct waymark_event *event,
			 uint32_t *ret_bytes);

/* --- columns ---------------------------------------------------------------------------------- */

enum waymark_column_kind {
	WAYMARK_COLUMN_AUTO,   /* the field's kind in the types that have it */
	WAYMARK_COLUMN_INT64,  /* int64_t; floats are truncated, and larger numbers are not valid */
	WAYMARK_COLUMN_UINT64, /* uint64_t; negative numbers are not valid */
	WAYMARK_COLUMN_DOUBLE, /* double */
	WAYMARK_COLUMN_TEXT    /* bytes; for enumerations, the name of the label */
};

/*
 * Creates one column for each name: a field, or "$time" (ns), "$cpu", "$pid", "$tid", "$type" and
 * "$stream" (numbers), "$comm". Memory for `nr_rows` rows is allocated here, once; that of strings
 * grows with them. The names are not needed after this call. `kinds` may be NULL: AUTO for all.
 * Returns 0 or -errno; -ENOENT when no selected event type has the field; -EINVAL for no
 * column or row, or more than 4096 columns or 2^26 rows.
 */
int waymark_columns(struct waymark_reader *reader, const char *const *names,
		    const enum waymark_column_kind *kinds, uint32_t nr_columns, uint64_t nr_rows,
		    struct waymark_columns **ret, struct waymark_error *error);

/* Accepts NULL. */
void waymark_columns_close(struct waymark_columns *columns);

/*
 * Fills the rows with the next events of the reader, as waymark_next() returns them. Returns the
 * number of rows, 0 at the end, or -errno.
 */
int64_t waymark_columns_fill(struct waymark_columns *columns);

/* The kind of column i, counted from 0; AUTO: there is no such column. */
enum waymark_column_kind waymark_column_kind(const struct waymark_columns *columns, uint32_t i);

/*
 * The values of a column, one for each row, in the type of its kind. A TEXT column has nr_rows + 1
 * offsets (uint64_t) into waymark_column_text() instead: row i is the bytes from offset i up to
 * offset i + 1. The values change with each fill. NULL, here and below: there is no such column.
 */
const void *waymark_column_data(const struct waymark_columns *columns, uint32_t i);
/* One byte per row: 1, or 0 when the row has no value: a number is then 0, a string empty. */
const unsigned char *waymark_column_valid(const struct waymark_columns *columns, uint32_t i);

/* For TEXT: the bytes of all rows, one after the other. The pointer may change with each fill. */
const char *waymark_column_text(const struct waymark_columns *columns, uint32_t i);

/* The version of the library, such as "0.1.0"; a constant. */
const char *waymark_version(void);

#ifdef __cplusplus
}
#endif

#endif
