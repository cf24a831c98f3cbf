/* SPDX-License-Identifier: MIT */
/*
 * read.h - reading the traces of any tracer, for programs of your own: CTF 1.8
 * and 2 (LTTng, waymark, barectf...), perf.data, trace.dat; one or several,
 * merged by time. Link libwaymark: cc prog.c $(pkg-config --cflags --libs waymark)
 *
 *   struct waymark_error error;
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
 * Errors. Functions that return int or int64_t give a negative errno number when
 * they fail; where there is a struct waymark_error, it gets a sentence: what,
 * why, and where in which file. Damage in a trace is not an error: all that
 * can be read is read, and waymark_fault() lists what cannot.
 *
 * Ownership. What open and read give is the caller's, to be closed: readers and
 * columns before their trace. All else belongs to what it was asked from, and
 * lives as long, but for events: they live until the next call with their reader.
 *
 * Threads. A trace may be used by any number of threads at a time. A reader and
 * what was made for it belong to one thread at a time; different ones have
 * nothing in common. Nothing here prints, exits, or changes signals.
 *
 * Memory. Reading an event allocates nothing; what a reader takes does not grow
 * with the trace.
 *
 * Times are nanoseconds since 1970, UTC, or since what else the clock counts from
 * (waymark_info.is_epoch). Everything read from a file is checked; text of events
 * is as the traced program wrote it, and may be any bytes.
 */
#ifndef WAYMARK_READ_H
#define WAYMARK_READ_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WAYMARK_NO_TIME   INT64_MIN  /* of an event without a clock */
#define WAYMARK_UNKNOWN   UINT64_MAX /* a count nobody knows */
#define WAYMARK_NO_NUMBER UINT32_MAX /* no stream, no type */

struct waymark_trace;   /* one trace or several, opened as one */
struct waymark_reader;  /* a place in it */
struct waymark_type;    /* of events: a name and fields */
struct waymark_field;   /* a name and a kind */
struct waymark_columns; /* fields of many events, as arrays */

struct waymark_error {
	int code;        /* errno, above 0; 0: none */
	char text[512];  /* a sentence, without a line end */
	uint32_t column; /* from 1, in what was typed (a filter, a name); 0: none */
};

/* --- what values are ------------------------------------------------------------------- */

enum waymark_kind {
	WAYMARK_UNSIGNED, /* value.u */
	WAYMARK_SIGNED,   /* value.s */
	WAYMARK_BOOL,     /* value.u: 0 or 1 */
	WAYMARK_FLOAT,    /* value.f */
	WAYMARK_TEXT,     /* value.text, value.count bytes; no NUL behind them */
	WAYMARK_BYTES,    /* value.bytes, value.count bytes */
	WAYMARK_STRUCT,   /* value.count members follow */
	WAYMARK_LIST,     /* value.count elements follow */
	WAYMARK_CHOICE,   /* one value follows: of member value.u */
	WAYMARK_OPTIONAL  /* value.count values follow: 0 or 1 */
};

/*
 * Values of an event are one flat array, outermost first: what a structure or
 * list holds follows it, and `next` is the index of the first value behind it
 * and all inside.
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
	WAYMARK_STREAM_CONTEXT, /* what each event of the stream carries */
	WAYMARK_CONTEXT,        /* what this type carries besides */
	WAYMARK_FIELDS,         /* what was marked */
	WAYMARK_NR_PARTS
};

struct waymark_event {
	int64_t time_ns; /* or WAYMARK_NO_TIME */
	uint64_t clock;  /* ticks, as recorded */
	const struct waymark_type *type;
	const struct waymark_value *values; /* of all parts */
	struct {
		uint32_t begin, end; /* indices of values */
	} parts[WAYMARK_NR_PARTS];
	int32_t cpu, pid, tid; /* -1: not known */
	uint32_t stream;       /* number, for waymark_stream() */
	const void *own;       /* the library's */
};

/* Its name; NULL: it has none, as elements of lists. */
const char *waymark_field_name(const struct waymark_field *field);
enum waymark_kind waymark_field_kind(const struct waymark_field *field);
uint32_t waymark_field_bits(const struct waymark_field *field); /* of a number: 1 to 64 */
uint32_t waymark_field_base(const struct waymark_field *field); /* to show it in: 2, 8, 10, 16 */

/* Members of a structure, options of a choice; of a list or optional one: its element. */
uint32_t waymark_field_nr_inside(const struct waymark_field *field);
const struct waymark_field *waymark_field_inside(const struct waymark_field *field, uint32_t i);

/* The name of an enumeration's value; NULL: it has none, or is no enumeration. */
const char *waymark_value_label(const struct waymark_value *value);

/* Is the field an enumeration, even when a value of it has no name? */
int waymark_field_is_enum(const struct waymark_field *field);

/* --- opening ----------------------------------------------------------------------------- */

/* One file or folder. 0 or -errno. */
int waymark_open(const char *path, struct waymark_trace **ret, struct waymark_error *error);

/* Several, merged on their clocks. At least one. */
int waymark_open_all(const char *const *paths, uint32_t nr_paths, struct waymark_trace **ret,
		     struct waymark_error *error);

/* NULL is allowed. */
void waymark_close(struct waymark_trace *trace);

/* --- what is in it ------------------------------------------------------------------------ */

struct waymark_info {
	const char *path;
	const char *format;       /* "ctf", "perf.data", "trace.dat" */
	const char *version;      /* of the format */
	int64_t begin_ns, end_ns; /* begin > end: nobody knows without reading */
	uint64_t nr_packets;
	int is_epoch;      /* times count from 1970 */
	int is_incomplete; /* the tracer is still writing, or was killed */
};

struct waymark_stream {
	const char *file; /* below the trace's path; "" when that is a file itself */
	uint64_t class_id, instance;
	uint32_t trace; /* number, for waymark_info() */
	int32_t cpu;    /* the only one of its events; -1: none or several */
};

/* What the tracer says it lost. */
struct waymark_loss {
	uint64_t count;           /* or WAYMARK_UNKNOWN: some */
	int64_t begin_ns, end_ns; /* INT64_MIN, INT64_MAX: not known */
	const char *cause;        /* "" when nobody knows */
	uint32_t stream;          /* number; WAYMARK_NO_NUMBER: of the whole trace */
	int is_packets;           /* counts packets, not events */
};

/* Something that cannot be read. */
struct waymark_fault {
	const char *file;
	const char *reason;
	uint64_t offset; /* bytes */
};

uint32_t waymark_nr_traces(const struct waymark_trace *trace);
uint32_t waymark_nr_streams(const struct waymark_trace *trace);
uint32_t waymark_nr_types(const struct waymark_trace *trace);
uint32_t waymark_nr_losses(const struct waymark_trace *trace);
uint32_t waymark_nr_faults(const struct waymark_trace *trace); /* so far: reading finds more */

/* Of that number, from 0. 0, or -ERANGE when there is none. */
int waymark_info(const struct waymark_trace *trace, uint32_t i, struct waymark_info *ret);
int waymark_stream(const struct waymark_trace *trace, uint32_t i, struct waymark_stream *ret);
int waymark_loss(const struct waymark_trace *trace, uint32_t i, struct waymark_loss *ret);
int waymark_fault(const struct waymark_trace *trace, uint32_t i, struct waymark_fault *ret);

/* What the tracer wrote about itself and the machine: "hostname", "tracer_name"... NULL: nothing.
 */
const char *waymark_word(const struct waymark_trace *trace, uint32_t i, const char *key);

/* Types of events. The same name may be there more than once, with other fields. NULL: no such. */
const struct waymark_type *waymark_type(const struct waymark_trace *trace, uint32_t i);
uint32_t waymark_type_number(const struct waymark_type *type);
const char *waymark_type_name(const struct waymark_type *type); /* "provider:name" */
int waymark_type_level(const struct waymark_type *type);        /* as the tracer counts; -1: none */
int waymark_type_is_meta(const struct waymark_type *type);      /* about the recording itself */
uint32_t waymark_type_nr_fields(const struct waymark_type *type, enum waymark_part part);
const struct waymark_field *waymark_type_field(const struct waymark_type *type,
					       enum waymark_part part, uint32_t i);

enum waymark_role {
	WAYMARK_IS_DATA,
	WAYMARK_IS_LENGTH, /* of the list behind it */
	WAYMARK_IS_CONTEXT /* it stands among the fields, and is none: waymark's user stacks */
};
enum waymark_role waymark_type_role(const struct waymark_type *type, enum waymark_part part,
				    uint32_t i);

/* --- reading -------------------------------------------------------------------------------- */

#define WAYMARK_READ_META      1u /* also events about the recording */
#define WAYMARK_READ_UNORDERED 2u /* packet by packet; faster, for who needs no order */

/* All 0 is: everything, in order of time. Begin with = {0} or WAYMARK_OPTIONS_INIT. */
struct waymark_options {
	uint32_t flags;
	const char *const *events; /* globs of names, as of `waymark print -e`; of none: all */
	uint32_t nr_events;
	const char *filter;        /* as of `waymark print --filter`; NULL: none */
	const char *const *fields; /* only these are looked at; others may be left out */
	uint32_t nr_fields;
	int64_t begin_ns; /* from then on, with has_begin; */
	int64_t end_ns;   /* up to, and without, with has_end */
	int has_begin, has_end;
	uint32_t stream_plus_1; /* only that stream: its number + 1; 0: all */
	uint32_t share;     /* unordered: this one of `nr_shares` equal shares of the packets, */
	uint32_t nr_shares; /* for a reader in each of several threads; 0: all */
};

#ifdef __cplusplus
#define WAYMARK_OPTIONS_INIT                                                                       \
	{                                                                                          \
	}
#else
#define WAYMARK_OPTIONS_INIT                                                                       \
	{                                                                                          \
		0                                                                                  \
	}
#endif

/* `options` may be NULL, and are not needed any more once this returns. 0 or -errno. */
int waymark_read(struct waymark_trace *trace, const struct waymark_options *options,
		 struct waymark_reader **ret, struct waymark_error *error);

/* NULL is allowed. */
void waymark_reader_close(struct waymark_reader *reader);

/* 1 and the next event, 0 at the end, -errno. The event lives until the next call. */
int waymark_next(struct waymark_reader *reader, const struct waymark_event **ret);

/*
 * Unordered readers: all events of a piece of one packet at once. Their count, 0
 * at the end, -errno; -EINVAL of an ordered reader.
 */
int64_t waymark_next_batch(struct waymark_reader *reader, const struct waymark_event **ret);

/* Goes on with the first event at that time or later, in either direction. 0 or -errno. */
int waymark_seek(struct waymark_reader *reader, int64_t time_ns);

/* A value of the event's, its fields first, then its contexts; NULL: there is none of that name. */
const struct waymark_value *waymark_get(const struct waymark_event *event, const char *field);

/* The name of the thread or process then: bytes, "" when nobody knows. Until the next call. */
const char *waymark_comm(struct waymark_reader *reader, const struct waymark_event *event,
			 uint32_t *ret_bytes);

/* --- columns ---------------------------------------------------------------------------------- */

enum waymark_column_kind {
	WAYMARK_COLUMN_AUTO,   /* what the field is in the types that have it */
	WAYMARK_COLUMN_INT64,  /* int64_t; floats are cut, larger numbers are not valid */
	WAYMARK_COLUMN_UINT64, /* uint64_t; negative ones are not valid */
	WAYMARK_COLUMN_DOUBLE, /* double */
	WAYMARK_COLUMN_TEXT    /* bytes; also of enumerations, by their names */
};

/*
 * A column for each name: a field, or "$time" (ns), "$cpu", "$pid", "$tid",
 * "$type" and "$stream" (numbers), "$comm". Room for `nr_rows` rows is made here,
 * once. `kinds` may be NULL. 0, or -errno: -ENOENT when no wanted type has a field.
 */
int waymark_columns(struct waymark_reader *reader, const char *const *names,
		    const enum waymark_column_kind *kinds, uint32_t nr_columns, uint64_t nr_rows,
		    struct waymark_columns **ret, struct waymark_error *error);

/* NULL is allowed. */
void waymark_columns_close(struct waymark_columns *columns);

/* Fills the rows anew from the reader. Their count, 0 at the end, -errno. */
int64_t waymark_columns_fill(struct waymark_columns *columns);

enum waymark_column_kind waymark_column_kind(const struct waymark_columns *columns, uint32_t i);

/* Arrays of nr_rows of what the kind says, of TEXT nr_rows + 1 offsets (uint64_t) into the text. */
const void *waymark_column_data(const struct waymark_columns *columns, uint32_t i);
const unsigned char *waymark_column_valid(const struct waymark_columns *columns, uint32_t i);

/* Of TEXT: the bytes of all rows, one after the other. They may move with each fill. */
const char *waymark_column_text(const struct waymark_columns *columns, uint32_t i);

/* "0.1.0" */
const char *waymark_version(void);

#ifdef __cplusplus
}
#endif

#endif
