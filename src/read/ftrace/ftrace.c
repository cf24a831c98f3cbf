/* SPDX-License-Identifier: MIT */
/* ftrace.c - entry points of the ftrace text reader, and its packet reader. */
#include "read/ftrace/ftrace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "read/ftrace/ftrace_int.h"

struct wm_packet_reader {
	struct wm_ft *ft;
	struct wm_want want;
	const struct wm_packet *packet;
	char *data;
	size_t room, bytes, at;
	uint64_t nr_read;
};

/* --- opening ------------------------------------------------------------------------------ */

/* Accepts ftrace's header, text that begins with events, or a page that may contain it. */
static bool ftrace_probe(const char *path, bool is_folder, const unsigned char *head, size_t bytes)
{
	static const char tracer[] = "# tracer: ";
	const char *at = (const char *)head, *end = at + bytes, *next;
	struct wm_ft_line l;

	if (is_folder)
		return false;
	if (bytes > sizeof(tracer) && !memcmp(head, tracer, sizeof(tracer) - 1))
		return true;
	if (wm_ft_html_is(head, bytes))
		return true;
	for (; at < end; at = next + 1) {
		next = memchr(at, '\n', (size_t)(end - at));
		next = next ? next : end;
		wm_ft_line_parse(at, (size_t)(next - at), &l);
		if (l.kind != WM_FT_COMMENT && l.kind != WM_FT_LOST)
			return l.kind == WM_FT_EVENT;
	}
	return false;
}

static const struct wm_type string = {.kind = WM_TYPE_STRING};
static const struct wm_member context_members[] = {
    {.name = "comm", .type = &string},
    {.name = "flags", .type = &string},
};
static const struct wm_type context = {
    .kind = WM_TYPE_STRUCT, .nr_members = 2, .members = context_members};

static int ftrace_make_stream(struct wm_trace *t)
{
	struct wm_trace_clock *clock = wm_arena_get(&t->arena, sizeof(*clock));
	struct wm_stream *s = wm_arena_get(&t->arena, sizeof(*s));
	int err;

	if (!clock || !s)
		return -ENOMEM;
	*clock = (struct wm_trace_clock){
	    .name = "ftrace", .hz = WM_NS_PER_SECOND, .error_ns = UINT64_MAX};
	*s = (struct wm_stream){.file = "", .cpu = -1, .clock = clock};
	err = wm_trace_add_clock(t, clock);
	return err ? err : wm_trace_add_stream(t, s);
}

static int open_ftrace(struct wm_trace *t, const char *path, struct wm_diag *diag)
{
	struct wm_ft *ft = wm_arena_get(&t->arena, sizeof(*ft));
	unsigned char head[32];
	struct stat st;
	size_t got = 0;
	int err;

	if (!ft)
		return -ENOMEM;
	t->own = ft;
	*ft = (struct wm_ft){.trace = t, .context = &context};
	ft->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (ft->fd < 0 || fstat(ft->fd, &st))
		return wm_diag_set(diag, -errno, path, 0, "cannot be opened: %s", strerror(errno));
	ft->bytes = st.st_size > 0 ? (uint64_t)st.st_size : 0;
	memcpy(t->version, "text", sizeof("text"));
	err = wm_ft_pread(ft->fd, head, sizeof(head), 0, &got);
	if (!err && wm_ft_html_is(head, got))
		err = wm_ft_html_find(ft, diag);
	if (!err)
		err = ftrace_make_stream(t);
	return err ? err : wm_ft_index(ft, diag);
}

static void close_ftrace(struct wm_trace *t)
{
	struct wm_ft *ft = t->own;

	if (!ft)
		return;
	if (ft->fd >= 0)
		close(ft->fd);
	free(ft->comms);
}

/* --- reading -------------------------------------------------------------------------------- */

static struct wm_packet_reader *reader_create(struct wm_trace *t, const struct wm_want *want)
{
	struct wm_packet_reader *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->ft = t->own;
	if (want)
		r->want = *want;
	return r;
}

static void reader_destroy(struct wm_packet_reader *r)
{
	if (!r)
		return;
	free(r->data);
	free(r);
}

static int reader_begin(struct wm_packet_reader *r, const struct wm_packet *p)
{
	int err;

	if (p->bytes > r->room) {
		free(r->data);
		r->data = malloc(p->bytes);
		r->room = r->data ? p->bytes : 0;
	}
	if (!r->data)
		return -ENOMEM;
	r->packet = p;
	r->at = r->nr_read = 0;
	r->bytes = 0;
	err = wm_ft_pread(r->ft->fd, r->data, p->bytes, p->offset, &r->bytes);
	if (!err && r->bytes < p->bytes)
		wm_trace_fault(r->ft->trace, "", p->offset + r->bytes,
			       "the file became shorter while it was read");
	return err;
}

/* Takes the line at r->at, without its line ending; false: no more. */
static bool ftrace_take_line(struct wm_packet_reader *r, struct wm_ft_text *ret)
{
	const char *at = r->data + r->at, *end;

	if (r->at >= r->bytes)
		return false;
	end = memchr(at, '\n', r->bytes - r->at);
	end = end ? end : r->data + r->bytes; /* the end of the file */
	*ret = (struct wm_ft_text){at, (uint32_t)(end - at)};
	r->at += ret->bytes + 1u;
	return true;
}

/* Takes the next event with all lines of its text. */
static bool take_event(struct wm_packet_reader *r, struct wm_ft_line *l)
{
	struct wm_ft_text line;
	struct wm_ft_line next;

	do {
		if (!ftrace_take_line(r, &line))
			return false;
		if (line.bytes <= WM_FT_LINE_MAX)
			wm_ft_line_parse(line.at, line.bytes, l);
	} while (line.bytes > WM_FT_LINE_MAX || l->kind != WM_FT_EVENT);
	for (size_t back = r->at; ftrace_take_line(r, &line); back = r->at) {
		bool more = false;

		if (line.bytes <= WM_FT_LINE_MAX) {
			wm_ft_line_parse(line.at, line.bytes, &next);
			more = next.kind == WM_FT_MORE ||
			       (next.kind == WM_FT_NO_EVENT && wm_ft_goes_on(l));
		}
		if (!more || (size_t)(line.at + line.bytes - l->text.at) > WM_FT_LINE_MAX) {
			r->at = back;
			break;
		}
		l->text.bytes = (uint32_t)(line.at + line.bytes - l->text.at);
	}
	return true;
}

static void ftrace_put_text(struct wm_batch *b, const struct wm_member *m,
			    const struct wm_ft_text *text)
{
	const char *nul = text->bytes ? memchr(text->at, 0, text->bytes) : NULL;
	struct wm_item *i = wm_batch_item(b, m);

	i->text = text->at;
	i->count = nul ? (uint32_t)(nul - text->at) : text->bytes;
}

/*
 * Adds a field's item; its value is "" or 0 if the line lacks the field, or has its fields in
 * another order.
 */
static void ftrace_put_field(struct wm_batch *b, const struct wm_member *m,
			     const struct wm_ft_text *text, uint32_t *at)
{
	size_t bytes = strlen(m->name);
	struct wm_ft_text key, value = {text->at, 0};
	bool found = false, hex;
	int64_t number = 0;

	for (uint32_t next = *at; !found && wm_ft_pair(text, &next, &key, &value);) {
		found = key.bytes == bytes && !memcmp(key.at, m->name, bytes);
		*at = found ? next : *at;
	}
	if (!found)
		value = (struct wm_ft_text){text->at, 0};
	if (m->type->kind == WM_TYPE_STRING) {
		ftrace_put_text(b, m, &value);
		return;
	}
	(void)wm_ft_number(&value, &hex, &number);
	wm_batch_item(b, m)->s = found ? number : 0;
}

static bool has_fields(const struct wm_type *fields)
{
	return fields->nr_members > 1 || strcmp(fields->members[0].name, "text") != 0;
}

static int ftrace_add_event(struct wm_packet_reader *r, struct wm_batch *b,
			    const struct wm_ft_line *l)
{
	const struct wm_event_type *type = wm_ft_type(r->ft->trace, &l->name);
	const struct wm_type *fields = type ? type->parts[WM_PART_FIELDS] : NULL;
	struct wm_event *e;
	uint32_t at;

	if (!type || (r->want.types && !r->want.types[type->index]))
		return 0;
	if (!wm_batch_room(b, 2 + fields->nr_members))
		return -ENOMEM;
	e = &b->events[b->nr_events++];
	*e = (struct wm_event){.ns = l->ns,
			       .clock = (uint64_t)l->ns,
			       .type = type,
			       .stream = r->ft->trace->streams[0],
			       .packet = r->packet,
			       .cpu = l->cpu,
			       .pid = l->pid,
			       .tid = l->tid,
			       .raw = (const unsigned char *)l->text.at,
			       .raw_bytes = l->text.bytes};
	at = b->nr_items;
	if (!(r->want.no_parts & 1u << WM_PART_STREAM_CONTEXT)) {
		ftrace_put_text(b, &context_members[0], &l->comm);
		ftrace_put_text(b, &context_members[1], &l->flags);
	}
	e->parts[WM_PART_STREAM_CONTEXT] = (struct wm_part_range){at, b->nr_items};
	at = b->nr_items;
	if (r->want.no_parts & 1u << WM_PART_FIELDS)
		return 0;
	if (!has_fields(fields))
		ftrace_put_text(b, &fields->members[0], &l->text);
	else
		for (uint32_t i = 0, place = 0; i < fields->nr_members; i++)
			ftrace_put_field(b, &fields->members[i], &l->text, &place);
	e->parts[WM_PART_FIELDS] = (struct wm_part_range){at, b->nr_items};
	return 0;
}

static int reader_read(struct wm_packet_reader *r, struct wm_batch *b)
{
	struct wm_ft_line l;
	int err = 0;

	while (!err && b->nr_events < wm_want_events(&r->want) && take_event(r, &l))
		err = ftrace_add_event(r, b, &l);
	return err ? err : (int)b->nr_events;
}

static int ftrace_by_tid(const void *key, const void *element)
{
	int32_t tid = *(const int32_t *)key, other = ((const struct wm_ft_comm *)element)->tid;

	return tid < other ? -1 : tid > other;
}

static const char *ftrace_comm(const struct wm_trace *t, const struct wm_event *e)
{
	const struct wm_ft *ft = t->own;
	const struct wm_ft_comm *found =
	    ft->nr_comms ? bsearch(&e->tid, ft->comms, ft->nr_comms, sizeof(*found), ftrace_by_tid)
			 : NULL;

	return found ? found->name : "";
}

static bool ftrace_print(const struct wm_trace *t, const struct wm_event *e,
			 const struct wm_kernel_names *names, struct wm_text *out)
{
	if (!e->raw)
		return false;
	wm_text_add(out, e->raw, e->raw_bytes);
	return true;
}

const struct wm_reader_ops wm_ftrace_ops = {
    .name = "ftrace",
    .probe = ftrace_probe,
    .open = open_ftrace,
    .close = close_ftrace,
    .reader_create = reader_create,
    .reader_begin = reader_begin,
    .reader_read = reader_read,
    .reader_destroy = reader_destroy,
    .comm = ftrace_comm,
    .print = ftrace_print,
};
