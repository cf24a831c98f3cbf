/* SPDX-License-Identifier: MIT */
/* trace.c - opens traces for <waymark/read.h>, and describes them. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "base/words.h"
#include "read/open.h"

#define ARENA_MAX ((size_t)1 << 30)

/* --- errors ---------------------------------------------------------------------------------- */

int wm_api_fail(struct waymark_error *error, int err, const char *fmt, ...)
{
	va_list args;

	if (!error)
		return err;
	error->code = -err;
	error->column = 0;
	va_start(args, fmt);
	(void)vsnprintf(error->text, sizeof(error->text), fmt, args);
	va_end(args);
	return err;
}

int wm_api_fail_said(struct waymark_error *error, int err, const struct wm_diag *diag)
{
	(void)wm_api_fail(error, err, "%s", wm_words_of(err, diag));
	if (error)
		error->column = diag->column;
	return err;
}

static int api_fail_diag(struct waymark_error *error, int err, const char *path,
			 const struct wm_diag *diag)
{
	char where[64] = "";

	if (!diag->sentence[0])
		return wm_api_fail(error, err, "cannot read the trace '%.200s': %s", path,
				   strerror(-err));
	if (diag->line)
		(void)snprintf(where, sizeof(where), "line %u: ", diag->line);
	else if (diag->offset >= 0)
		(void)snprintf(where, sizeof(where), "at offset %lld: ", (long long)diag->offset);
	return wm_api_fail(error, err, "cannot read the trace '%.200s': %s%s", path, where,
			   diag->sentence);
}

/* --- opening ---------------------------------------------------------------------------------- */

const char *wm_api_full_name(struct wm_arena *arena, const char *provider, const char *name)
{
	size_t bytes = strlen(provider) + strlen(name) + 2;
	char *full;

	if (!*provider || strchr(name, ':'))
		return name;
	full = wm_arena_get(arena, bytes);
	if (full)
		(void)snprintf(full, bytes, "%s:%s", provider, name);
	return full;
}

/* Numbers the types and streams of all traces. */
static int api_trace_number(struct waymark_trace *t)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->nr_traces; i++) {
		t->first_type[i] = t->nr_types;
		t->first_stream[i] = t->nr_streams;
		t->nr_types += t->traces[i]->nr_types;
		t->nr_streams += t->traces[i]->nr_streams;
	}
	t->types = wm_arena_array(&t->arena, t->nr_types + (size_t)1, sizeof(*t->types));
	for (uint32_t i = 0; t->types && i < t->nr_traces; i++)
		for (uint32_t k = 0; k < t->traces[i]->nr_types; k++, n++) {
			const struct wm_event_type *type = t->traces[i]->types[k];

			t->types[n] = (struct waymark_type){
			    .type = type,
			    .name = wm_api_full_name(&t->arena, type->provider, type->name),
			    .number = n,
			    .trace = i};
			if (!t->types[n].name)
				return -ENOMEM;
			wm_comm_bind(type, &t->types[n].comm);
		}
	return t->types ? 0 : -ENOMEM;
}

/* Joins the parts of one recording. */
static int api_join(struct waymark_trace *t, const char *path, struct waymark_error *error)
{
	struct wm_diag diag = {.offset = -1};
	int err = wm_read_join(t->traces, &t->nr_traces, &diag);

	return err ? api_fail_diag(error, err, path, &diag) : 0;
}

static int open_each(struct waymark_trace *t, const char *const *paths, uint32_t nr_paths,
		     struct waymark_error *error)
{
	for (uint32_t i = 0; i < nr_paths; i++) {
		struct wm_diag diag = {.offset = -1};
		int err = paths[i] ? wm_read_open(paths[i], &t->traces[i], &diag) : -EINVAL;

		if (err)
			return api_fail_diag(error, err, paths[i] ? paths[i] : "", &diag);
		t->nr_traces++;
	}
	return nr_paths > 1 ? api_join(t, paths[0], error) : 0;
}

static struct waymark_trace *api_trace_create(uint32_t nr_paths)
{
	struct waymark_trace *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	wm_arena_init(&t->arena, ARENA_MAX);
	t->traces = calloc(nr_paths, sizeof(struct wm_trace *));
	t->first_type = calloc(nr_paths, sizeof(*t->first_type));
	t->first_stream = calloc(nr_paths, sizeof(*t->first_stream));
	if (t->traces && t->first_type && t->first_stream)
		return t;
	waymark_close(t);
	return NULL;
}

struct waymark_trace *wm_api_trace_of(struct wm_trace *one)
{
	struct waymark_trace *t = api_trace_create(1);

	if (!t)
		return NULL;
	t->is_borrowed = true;
	t->traces[t->nr_traces++] = one;
	if (api_trace_number(t) == 0)
		return t;
	waymark_close(t);
	return NULL;
}

WM_API int waymark_open_all(const char *const *paths, uint32_t nr_paths, struct waymark_trace **ret,
			    struct waymark_error *error)
{
	struct waymark_trace *t;
	int err = wm_api_error_begin(error);

	if (err)
		return err;
	if (!paths || !nr_paths)
		return wm_api_fail(error, -EINVAL, "there is no path: give at least one trace");
	if (nr_paths > WM_TIMELINE_TRACES_MAX)
		return wm_api_fail(error, -EINVAL, "%u traces; at most %u can be opened together",
				   nr_paths, WM_TIMELINE_TRACES_MAX);
	t = api_trace_create(nr_paths);
	if (!t)
		return wm_api_fail(error, -ENOMEM, "out of memory");
	err = open_each(t, paths, nr_paths, error);
	if (!err) {
		err = api_trace_number(t);
		if (!err)
			err = wm_timeline_create(t->traces, t->nr_traces, &t->timeline);
		if (err)
			(void)wm_api_fail(error, err, "cannot open the traces: %s", strerror(-err));
	}
	if (err) {
		waymark_close(t);
		return err;
	}
	*ret = t;
	return 0;
}

WM_API int waymark_open(const char *path, struct waymark_trace **ret, struct waymark_error *error)
{
	return waymark_open_all(&path, 1, ret, error);
}

WM_API void waymark_close(struct waymark_trace *t)
{
	if (!t)
		return;
	wm_timeline_destroy(t->timeline);
	for (uint32_t i = 0; i < t->nr_traces && !t->is_borrowed; i++)
		wm_trace_close(t->traces[i]);
	free(t->traces);
	free(t->first_type);
	free(t->first_stream);
	wm_arena_done(&t->arena);
	free(t);
}

WM_API const char *waymark_version(void)
{
	return WM_VERSION;
}

/* --- description -------------------------------------------------------------------------- */

WM_API uint32_t waymark_nr_traces(const struct waymark_trace *t)
{
	return t->nr_traces;
}

WM_API uint32_t waymark_nr_streams(const struct waymark_trace *t)
{
	return t->nr_streams;
}

WM_API uint32_t waymark_nr_types(const struct waymark_trace *t)
{
	return t->nr_types;
}

WM_API const struct waymark_type *waymark_type(const struct waymark_trace *t, uint32_t i)
{
	return i < t->nr_types ? &t->types[i] : NULL;
}

WM_API int waymark_info(const struct waymark_trace *t, uint32_t i, struct waymark_info *ret)
{
	const struct wm_trace *one;
	struct waymark_info info;

	if (i >= t->nr_traces)
		return -ERANGE;
	one = t->traces[i];
	info = (struct waymark_info){
	    .path = one->path,
	    .format = one->ops->name,
	    .version = one->version,
	    .begin_ns = one->begin_ns,
	    .end_ns = one->end_ns,
	    .nr_packets = one->nr_packets,
	    .is_epoch = one->nr_clocks && one->clocks[0]->is_epoch,
	    .is_incomplete = one->incomplete,
	};
	return WM_API_COPY_OUT(ret, &info, is_incomplete);
}

/*
 * Finds the trace that contains entry *i of the list over all traces; *i becomes its index there.
 */
static uint32_t owner(const struct waymark_trace *t, const uint32_t *first, uint32_t *i)
{
	uint32_t trace = t->nr_traces - 1;

	while (trace && first[trace] > *i)
		trace--;
	*i -= first[trace];
	return trace;
}

WM_API int waymark_stream(const struct waymark_trace *t, uint32_t i, struct waymark_stream *ret)
{
	struct waymark_stream stream;
	const struct wm_stream *s;
	uint32_t trace;

	if (i >= t->nr_streams)
		return -ERANGE;
	trace = owner(t, t->first_stream, &i);
	s = t->traces[trace]->streams[i];
	stream = (struct waymark_stream){.file = s->file,
					 .class_id = s->class_id,
					 .instance = s->instance,
					 .trace = trace,
					 .cpu = s->cpu};
	return WM_API_COPY_OUT(ret, &stream, cpu);
}

WM_API uint32_t waymark_nr_losses(const struct waymark_trace *t)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->nr_traces; i++)
		n += t->traces[i]->nr_losses;
	return n;
}

WM_API int waymark_loss(const struct waymark_trace *t, uint32_t i, struct waymark_loss *ret)
{
	const struct wm_trace_loss *l;
	struct waymark_loss loss;
	uint32_t trace = 0;

	while (trace < t->nr_traces && i >= t->traces[trace]->nr_losses)
		i -= t->traces[trace++]->nr_losses;
	if (trace == t->nr_traces)
		return -ERANGE;
	l = &t->traces[trace]->losses[i];
	loss = (struct waymark_loss){
	    .count = l->count,
	    .begin_ns = l->begin_ns,
	    .end_ns = l->end_ns,
	    .cause = l->cause ? l->cause : "",
	    .stream =
		l->stream == UINT32_MAX ? WAYMARK_NO_NUMBER : t->first_stream[trace] + l->stream,
	    .is_packets = l->packets,
	};
	return WM_API_COPY_OUT(ret, &loss, is_packets);
}

/* The lists of faults and warnings; reading adds to both. */
static uint32_t nr_in_list(const struct wm_trace *t, bool warnings)
{
	return warnings ? t->nr_warnings : t->nr_faults;
}

/*
 * Returns the number of entries in all traces' lists. Other threads may be adding to them; existing
 * entries do not move.
 */
static uint32_t count_listed(const struct waymark_trace *t, bool warnings)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->nr_traces; i++) {
		pthread_mutex_lock(&t->traces[i]->fault_lock);
		n += nr_in_list(t->traces[i], warnings);
		pthread_mutex_unlock(&t->traces[i]->fault_lock);
	}
	return n;
}

static int give_listed(const struct waymark_trace *t, bool warnings, uint32_t i,
		       struct waymark_fault *ret)
{
	struct waymark_fault fault = {0};

	for (uint32_t k = 0; k < t->nr_traces; k++) {
		struct wm_trace *one = t->traces[k];
		bool found;

		pthread_mutex_lock(&one->fault_lock);
		found = i < nr_in_list(one, warnings);
		if (found) {
			const struct wm_fault *f = (warnings ? one->warnings : one->faults) + i;

			fault = (struct waymark_fault){
			    .file = f->file, .reason = f->reason, .offset = f->offset};
		} else {
			i -= nr_in_list(one, warnings);
		}
		pthread_mutex_unlock(&one->fault_lock);
		if (found)
			return WM_API_COPY_OUT(ret, &fault, offset);
	}
	return -ERANGE;
}

WM_API uint32_t waymark_nr_faults(const struct waymark_trace *t)
{
	return count_listed(t, false);
}

WM_API int waymark_fault(const struct waymark_trace *t, uint32_t i, struct waymark_fault *ret)
{
	return give_listed(t, false, i, ret);
}

WM_API uint32_t waymark_nr_warnings(const struct waymark_trace *t)
{
	return count_listed(t, true);
}

WM_API int waymark_warning(const struct waymark_trace *t, uint32_t i, struct waymark_fault *ret)
{
	return give_listed(t, true, i, ret);
}

WM_API const char *waymark_word(const struct waymark_trace *t, uint32_t i, const char *key)
{
	return i < t->nr_traces ? wm_trace_word(t->traces[i], key) : NULL;
}
