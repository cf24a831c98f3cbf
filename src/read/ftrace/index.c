/* SPDX-License-Identifier: MIT */
/*
 * index.c - one walk over all lines: the start and end of packets, event types
 * and their fields, losses.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/plural.h"
#include "base/search.h"
#include "base/table.h"
#include "read/ftrace/ftrace_int.h"

#define BUFFER_BYTES ((size_t)1 << 20)

/* A field of an event type. It is a number if all lines so far had a number, otherwise text. */
struct field {
	struct wm_ft_text name;
	bool is_text, is_hex;
};

struct kind {
	const char *name; /* NULL: a free slot */
	uint32_t nr_fields;
	struct field fields[WM_FT_FIELDS_MAX];
};

struct indexing {
	struct wm_ft *ft;
	struct wm_stream *stream;
	struct wm_packet packet; /* packet being filled; without events: none */
	struct kind **kinds;     /* WM_FT_TYPES_MAX of them */
	struct wm_table by_kind; /* index of `kinds` by name */
	uint32_t nr_kinds, nr_faults;
	uint64_t nr_events, told, written; /* told, written: the counts in the header */
	bool has_counts, goes_on;          /* the previous event may have more lines */
	bool has_columns;                  /* a header that names columns also has counts */
	int64_t last_ns;
	uint64_t lost; /* added before the next event */
	bool any_lost;
	struct wm_ft_comm *comms;
	uint32_t nr_comms, room_comms;
	struct wm_table by_task; /* index of `comms` by tid */
};

/* --- kinds of events -------------------------------------------------------------------- */

static int make_fields(struct indexing *x, struct kind *k, const struct wm_ft_text *text)
{
	struct wm_ft_text key, value;
	uint32_t at = 0;

	while (k->nr_fields < WM_FT_FIELDS_MAX && wm_ft_pair(text, &at, &key, &value)) {
		key.at = wm_arena_copy(&x->ft->trace->arena, key.at, key.bytes);
		if (!key.at)
			return -ENOMEM;
		k->fields[k->nr_fields++] = (struct field){.name = key};
	}
	return 0;
}

/* Turns a field into a string if its value in this line is not a number. */
static void judge_fields(struct kind *k, const struct wm_ft_text *text)
{
	struct wm_ft_text key, value;
	uint32_t at = 0, i = 0;
	int64_t number;
	bool hex;

	while (i < k->nr_fields && wm_ft_pair(text, &at, &key, &value)) {
		struct field *f = &k->fields[i];

		if (key.bytes != f->name.bytes || memcmp(key.at, f->name.at, key.bytes) != 0)
			continue;
		if (!wm_ft_number(&value, &hex, &number))
			f->is_text = true;
		f->is_hex |= hex;
		i++;
	}
}

static struct kind *find_kind(const struct indexing *x, const struct wm_ft_text *name,
			      uint64_t hash)
{
	struct wm_table_walk w = wm_table_walk(hash);

	while (wm_table_next(&x->by_kind, &w)) {
		struct kind *k = x->kinds[w.index];

		if (strlen(k->name) == name->bytes && !memcmp(k->name, name->at, name->bytes))
			return k;
	}
	return NULL;
}

static int ftrace_index_add_kind(struct indexing *x, const struct wm_ft_line *l, uint64_t hash,
				 struct kind **ret)
{
	struct wm_arena *a = &x->ft->trace->arena;
	struct kind *k = wm_arena_get(a, sizeof(*k));
	int err;

	if (!k)
		return -ENOMEM;
	k->name = wm_arena_copy(a, l->name.at, l->name.bytes);
	err = k->name ? make_fields(x, k, &l->text) : -ENOMEM;
	if (!err)
		err = wm_table_add(&x->by_kind, hash, x->nr_kinds);
	if (err)
		return err;
	*ret = x->kinds[x->nr_kinds++] = k;
	return 0;
}

static int note_kind(struct indexing *x, const struct wm_ft_line *l, uint64_t offset)
{
	uint64_t hash = wm_table_hash_bytes(&x->by_kind, l->name.at, l->name.bytes);
	struct kind *k = find_kind(x, &l->name, hash);
	int err = 0;

	if (!k && x->nr_kinds == WM_FT_TYPES_MAX) {
		wm_trace_fault(x->ft->trace, "", offset,
			       "more than %u event types: the others are left out",
			       WM_FT_TYPES_MAX);
		return 1;
	}
	if (!k)
		err = ftrace_index_add_kind(x, l, hash, &k);
	if (!err)
		judge_fields(k, &l->text);
	return err;
}

static const struct wm_type string = {.kind = WM_TYPE_STRING};
static const struct wm_type number = {.kind = WM_TYPE_SIGNED, .bits = 64};
static const struct wm_type hex_number = {
    .kind = WM_TYPE_UNSIGNED, .bits = 64, .look = WM_LOOK_HEX};

static int ftrace_index_make_type(struct wm_trace *t, const struct kind *k,
				  const struct wm_type *context)
{
	uint32_t nr = k->nr_fields ? k->nr_fields : 1;
	struct wm_event_type *type = wm_arena_get(&t->arena, sizeof(*type));
	struct wm_type *fields = wm_arena_get(&t->arena, sizeof(*fields));
	struct wm_member *members = wm_arena_array(&t->arena, nr, sizeof(*members));

	if (!type || !fields || !members)
		return -ENOMEM;
	members[0] = (struct wm_member){.name = "text", .type = &string};
	for (uint32_t i = 0; i < k->nr_fields; i++)
		members[i] = (struct wm_member){.name = k->fields[i].name.at,
						.type = k->fields[i].is_text  ? &string
							: k->fields[i].is_hex ? &hex_number
									      : &number};
	*fields = (struct wm_type){.kind = WM_TYPE_STRUCT, .nr_members = nr, .members = members};
	*type = (struct wm_event_type){
	    .name = k->name, .level = -1, .provider = "", .print = "", .prints = true, .own = k};
	type->parts[WM_PART_STREAM_CONTEXT] = context;
	type->parts[WM_PART_FIELDS] = fields;
	return wm_trace_add_type(t, type);
}

static int ftrace_index_by_name(const void *a, const void *b)
{
	const struct kind *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

/* Sorts types by name, for wm_ft_type(). */
static int make_types(struct indexing *x)
{
	int err = 0;

	qsort(x->kinds, x->nr_kinds, sizeof(struct kind *), ftrace_index_by_name);
	for (uint32_t i = 0; !err && i < x->nr_kinds; i++)
		err = ftrace_index_make_type(x->ft->trace, x->kinds[i], x->ft->context);
	return err;
}

static int ftrace_index_compare(const char *have, const struct wm_ft_text *name)
{
	int order = strncmp(have, name->at, name->bytes);
	size_t bytes = strlen(have);

	return order ? order : (bytes > name->bytes) - (bytes < name->bytes);
}

const struct wm_event_type *wm_ft_type(const struct wm_trace *t, const struct wm_ft_text *name)
{
	uint32_t at =
	    WM_SEARCH(0, t->nr_types, i, ftrace_index_compare(t->types[i]->name, name) < 0);

	return at < t->nr_types && !ftrace_index_compare(t->types[at]->name, name) ? t->types[at]
										   : NULL;
}

/* --- names of tasks ------------------------------------------------------------------------ */

/* Stores the name of a task the first time that the task appears. */
static int note_comm(struct indexing *x, const struct wm_ft_line *l)
{
	uint64_t hash = wm_table_hash(&x->by_task, (uint32_t)l->tid);
	struct wm_table_walk w = wm_table_walk(hash);
	const char *name;

	while (wm_table_next(&x->by_task, &w))
		if (x->comms[w.index].tid == l->tid)
			return 0;
	if (WM_ARRAY_GROW(x->comms, x->room_comms, (size_t)x->nr_comms + 1))
		return -ENOMEM;
	name = wm_arena_copy(&x->ft->trace->arena, l->comm.at, l->comm.bytes);
	if (!name || wm_table_add(&x->by_task, hash, x->nr_comms))
		return -ENOMEM;
	x->comms[x->nr_comms++] = (struct wm_ft_comm){.tid = l->tid, .name = name};
	return 0;
}

static int ftrace_index_by_tid(const void *a, const void *b)
{
	const struct wm_ft_comm *x = a, *y = b;

	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static void keep_comms(struct indexing *x)
{
	if (x->nr_comms)
		qsort(x->comms, x->nr_comms, sizeof(*x->comms), ftrace_index_by_tid);
	x->ft->comms = x->comms;
	x->ft->nr_comms = x->nr_comms;
	x->comms = NULL;
}

/* --- lines ------------------------------------------------------------------------------------ */

static int ftrace_index_end_packet(struct indexing *x)
{
	int err = x->packet.nr_events ? wm_trace_add_packet(x->ft->trace, &x->packet) : 0;

	x->packet = (struct wm_packet){.stream = x->stream->index};
	return err;
}

static int ftrace_index_add_loss(struct indexing *x, uint64_t count, const char *cause,
				 int64_t begin, int64_t end)
{
	struct wm_trace_loss loss = {.stream = x->stream->index,
				     .count = count,
				     .begin_ns = begin,
				     .end_ns = end,
				     .cause = cause};

	return wm_trace_add_loss(x->ft->trace, &loss);
}

static int note_event(struct indexing *x, const struct wm_ft_line *l, uint64_t offset)
{
	struct wm_packet *p = &x->packet;
	int err = note_kind(x, l, offset);

	x->goes_on = !err && wm_ft_goes_on(l);
	if (err)
		return err < 0 ? err : 0;
	err = note_comm(x, l);
	if (!err && p->nr_events && (l->ns < x->last_ns || offset - p->offset > WM_FT_PACKET_BYTES))
		err = ftrace_index_end_packet(x);
	if (!err && x->any_lost)
		err = ftrace_index_add_loss(x, x->lost, "overrun",
					    x->nr_events ? x->last_ns : INT64_MIN, l->ns);
	x->any_lost = false;
	if (!p->nr_events++) {
		p->offset = offset;
		p->begin_ns = l->ns;
	}
	p->end_ns = x->last_ns = l->ns;
	x->nr_events++;
	return err;
}

/*
 * Parses "# entries-in-buffer/entries-written: 5/9   #P:2", or "# latency: 0
 * us, #5/9, CPU#0 | ..."; and "# tracer: nop".
 */
static int note_comment(struct indexing *x, const char *line, size_t bytes)
{
	static const char counts[] = "# entries-in-buffer/entries-written: ";
	static const char tracer[] = "# tracer: ";
	char text[80];

	bytes = bytes < sizeof(text) ? bytes : sizeof(text) - 1;
	memcpy(text, line, bytes);
	text[bytes] = 0;
	x->has_columns |= strstr(text, "TASK-PID") != NULL;
	x->has_counts |=
	    sscanf(text, "# latency: %*u us, #%20lu/%20lu", &x->told, &x->written) == 2;
	if (!strncmp(text, counts, sizeof(counts) - 1))
		x->has_counts =
		    sscanf(text + sizeof(counts) - 1, "%20lu/%20lu", &x->told, &x->written) == 2;
	if (!strncmp(text, tracer, sizeof(tracer) - 1) && !wm_trace_word(x->ft->trace, "tracer"))
		return wm_trace_add_word(x->ft->trace, "tracer", text + sizeof(tracer) - 1);
	return 0;
}

static int note_line(struct indexing *x, const char *line, size_t bytes, uint64_t offset)
{
	struct wm_ft_line l;
	int err = 0;

	wm_ft_line_parse(line, bytes, &l);
	if (l.kind == WM_FT_EVENT) {
		err = note_event(x, &l, offset);
	} else if (l.kind == WM_FT_COMMENT) {
		err = note_comment(x, line, bytes);
	} else if (l.kind == WM_FT_LOST) {
		x->lost = !x->any_lost ? l.lost : UINT64_MAX;
		x->any_lost = true;
	} else if (l.kind == WM_FT_NO_EVENT && !x->goes_on) {
		wm_trace_fault(x->ft->trace, "", offset, "a line that is not an event is left out");
	}
	offset += bytes + 1;
	x->packet.bytes = (offset < x->ft->bytes ? offset : x->ft->bytes) - x->packet.offset;
	return err;
}

int wm_ft_pread(int fd, void *to, size_t bytes, uint64_t offset, size_t *ret_got)
{
	size_t done = 0;

	while (done < bytes) {
		ssize_t got = pread(fd, (char *)to + done, bytes - done, (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			break;
		done += (size_t)got;
	}
	*ret_got = done;
	return 0;
}

/* Reads a line, unless it is too long. */
static int note_short_line(struct indexing *x, const char *line, size_t bytes, uint64_t offset)
{
	if (bytes <= WM_FT_LINE_MAX)
		return note_line(x, line, bytes, offset);
	wm_trace_fault(x->ft->trace, "", offset, "a line of %zu bytes is left out; the limit is %u",
		       bytes, WM_FT_LINE_MAX);
	return 0;
}

/*
 * Reads the last line of a file, which has no line ending. The kernel ends every line, so in a file
 * with the kernel's header this line was cut off.
 */
static int note_last_line(struct indexing *x, const char *line, size_t bytes, uint64_t offset)
{
	if (wm_trace_word(x->ft->trace, "tracer") || x->has_columns)
		wm_trace_fault(x->ft->trace, "", offset,
			       "the last line is incomplete: the file was truncated");
	return note_short_line(x, line, bytes, offset);
}

/* Reads the lines in the buffer; returns their size in *ret_used. */
static int note_lines(struct indexing *x, const char *data, size_t bytes, uint64_t offset,
		      size_t *ret_used)
{
	size_t used = 0;
	const char *end;
	int err = 0;

	while (!err && (end = memchr(data + used, '\n', bytes - used))) {
		size_t line = (size_t)(end - data) - used;

		err = note_short_line(x, data + used, line, offset + used);
		used += line + 1;
	}
	if (!err && used < bytes && offset + bytes == x->ft->bytes) {
		err = note_last_line(x, data + used, bytes - used, offset + used);
		used = bytes;
	}
	*ret_used = used;
	return err;
}

static int ftrace_index_walk(struct indexing *x, char *buffer)
{
	uint64_t at = x->ft->begin;
	int err = 0;

	while (!err && at < x->ft->bytes) {
		uint64_t left = x->ft->bytes - at;
		size_t got = 0, used = 0;

		err = wm_ft_pread(x->ft->fd, buffer,
				  left < BUFFER_BYTES ? (size_t)left : BUFFER_BYTES, at, &got);
		if (!err)
			err = note_lines(x, buffer, got, at, &used);
		if (err || used) {
			at += used;
			continue;
		}
		wm_trace_fault(x->ft->trace, "", at, "an unterminated line: %llu %s lost",
			       (unsigned long long)(x->ft->bytes - at),
			       wm_plural(x->ft->bytes - at, "byte is", "bytes are"));
		break;
	}
	return err ? err : ftrace_index_end_packet(x);
}

/*
 * Compares the number of events with the counts in the header: reports missing events as a fault,
 * and overwritten ones as a loss.
 */
static int ftrace_index_check_counts(struct indexing *x)
{
	struct wm_trace *t = x->ft->trace;

	if (x->any_lost && ftrace_index_add_loss(x, x->lost, "overrun", x->last_ns, INT64_MAX))
		return -ENOMEM;
	if (!x->has_counts && wm_trace_word(t, "tracer") && (x->has_columns || !x->nr_events))
		wm_trace_fault(t, "", 0, "its header does not have the number of events");
	if (!x->has_counts)
		return 0;
	if (x->nr_events < x->told)
		wm_trace_fault(t, "", x->ft->bytes, "its header counts %llu %s, the file has %llu",
			       (unsigned long long)x->told, wm_plural(x->told, "event", "events"),
			       (unsigned long long)x->nr_events);
	if (x->written > x->told)
		return ftrace_index_add_loss(x, x->written - x->told, "overwritten", INT64_MIN,
					     t->nr_packets ? t->packets[0].begin_ns : INT64_MAX);
	return 0;
}

int wm_ft_index(struct wm_ft *ft, struct wm_diag *diag)
{
	struct indexing x = {.ft = ft, .stream = ft->trace->streams[0], .last_ns = INT64_MIN};
	char *buffer = malloc(BUFFER_BYTES);
	int err;

	x.kinds = calloc(WM_FT_TYPES_MAX, sizeof(struct kind *));
	wm_table_init(&x.by_kind);
	wm_table_init(&x.by_task);
	x.packet.stream = x.stream->index;
	err = buffer && x.kinds ? ftrace_index_walk(&x, buffer) : -ENOMEM;
	if (!err)
		err = make_types(&x);
	if (!err)
		err = ftrace_index_check_counts(&x);
	if (!err && !x.nr_events && !x.has_counts && ft->trace->nr_faults)
		err = wm_diag_set(diag, -ENOTSUP, ft->trace->path,
				  (int64_t)ft->trace->faults[0].offset,
				  "ftrace text without events; waymark cannot read function_graph "
				  "output or the verbose latency format");
	if (!err)
		keep_comms(&x);
	free(x.comms);
	free(x.kinds);
	wm_table_done(&x.by_kind);
	wm_table_done(&x.by_task);
	free(buffer);
	return err;
}
