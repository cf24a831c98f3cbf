/* SPDX-License-Identifier: MIT */
/*
 * own_kernel.c - prints kernel events in waymark's own traces in the kernel's form, using the
 * format files in the trace (DIR/kernel/formats). Separates the fields of a sample from those of
 * the event. See own.h. The files may be forged.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "kdata/formats.h"
#include "kdata/print.h"
#include "kdata/rebuild.h"
#include "read/ctf/own.h"
#include "read/ctf/trace.h"

#define FORMATS_MAX ((size_t)256 << 20)

/* How events of a type are printed. When print is NULL, the generic code prints their fields. */
struct kernel_type {
	const struct wm_kformat *format;
	const struct wm_kprint *print;
};

struct wm_ctf_kernel {
	struct wm_kmachine machine;
	struct kernel_type *types; /* indexed by type */
	uint32_t nr_types;
	pthread_mutex_t lock;
	/* symbols, read on demand; NULL: not read yet, or the trace has none */
	struct wm_kformats *known;
	/* reading the symbols was attempted; stored with release after `known` */
	bool asked;
};

/* --- types ------------------------------------------------------------------------------ */

static bool own_kernel_is_length(const struct wm_member *m, uint32_t i, uint32_t nr)
{
	const char *name = m[i].name;
	size_t n;

	if (i + 1 >= nr || name[0] != '_')
		return false;
	n = strlen(m[i + 1].name);
	return !strncmp(name + 1, m[i + 1].name, n) && !strcmp(name + 1 + n, "_length");
}

/* Counts the members from `from` on, excluding those that hold the length of the next one. */
static uint32_t count_from(const struct wm_type *fields, uint32_t from)
{
	uint32_t n = 0;

	for (uint32_t i = from; i < fields->nr_members; i++)
		n += !own_kernel_is_length(fields->members, i, fields->nr_members);
	return n;
}

static bool own_kernel_has_member(const struct wm_type *t, const char *name)
{
	for (uint32_t i = 0; t && i < t->nr_members; i++)
		if (!strcmp(t->members[i].name, name))
			return true;
	return false;
}

/*
 * Marks the sample's fields as contexts: those before a tracepoint's own fields, and all fields of
 * other events.
 */
static void find_contexts(struct wm_event_type *type, const struct wm_kformat *format)
{
	const struct wm_type *context = type->parts[WM_PART_STREAM_CONTEXT];
	const struct wm_type *fields = type->parts[WM_PART_FIELDS];
	uint32_t nr_own = format ? wm_rebuild_nr_fields(format) : 0, at = 0;

	if (!fields || !own_kernel_has_member(context, "ip") ||
	    !own_kernel_has_member(context, "period"))
		return;
	while (at < fields->nr_members && count_from(fields, at) > nr_own)
		at += own_kernel_is_length(fields->members, at, fields->nr_members) ? 2 : 1;
	type->nr_contexts = at;
}

static bool own_kernel_is_named(const struct wm_event_type *type, const char *system,
				const char *name)
{
	size_t n = strlen(system);

	return !strncmp(type->name, system, n) && type->name[n] == ':' &&
	       !strcmp(type->name + n + 1, name);
}

/*
 * Returns whether the kernel's print form is used. A probe's form has less information than its
 * fields, and a stack's form has many lines, so their fields are printed instead.
 */
static bool own_kernel_is_worth(const struct wm_kformat *f)
{
	return f->print[0] && !wm_kformat_field(f, "__probe_ip") &&
	       !wm_kformat_field(f, "__probe_func") && !strstr(f->print, "\\n\\t");
}

/* Adds the format of one event. When it cannot be parsed, the event's fields are printed. */
static int own_kernel_add_format(struct wm_trace *t, struct wm_ctf_kernel *k, const char *system,
				 const char *name, const char *text, size_t bytes)
{
	const struct wm_kformat *format = NULL;
	const struct wm_kprint *print = NULL;
	int err = 0;

	for (uint32_t i = 0; i < k->nr_types && !err; i++) {
		if (t->types[i]->meta || !own_kernel_is_named(t->types[i], system, name))
			continue;
		if (!format)
			err = wm_kformat_parse(&t->arena, &k->machine, system, text, bytes, &format,
					       NULL);
		if (!err && !print)
			err = wm_kprint_compile(&t->arena, &k->machine, format, &print, NULL);
		if (err)
			break;
		k->types[i] =
		    (struct kernel_type){format, own_kernel_is_worth(format) ? print : NULL};
		if (!k->types[i].print)
			continue;
		t->types[i]->print = format->print;
		t->types[i]->prints = true;
		t->types[i]->print_parts = 1u << WM_PART_FIELDS | 1u << WM_PART_STREAM_CONTEXT;
	}
	return err == -ENOMEM ? err : 0;
}

/* Parses kernel/formats: headers "# SYSTEM/NAME BYTES\n", each followed by that number of bytes. */
static int own_kernel_add_formats(struct wm_trace *t, struct wm_ctf_kernel *k, const char *file,
				  const char *text, size_t bytes)
{
	const char *at = text, *end = text + bytes;
	int err = 0;

	while (at < end && !err) {
		char system[128], name[128];
		unsigned long long n;
		const char *line = memchr(at, '\n', (size_t)(end - at));

		if (!line || sscanf(at, "# %127[^/ \n]/%127[^ \n] %llu", system, name, &n) != 3 ||
		    n > (size_t)(end - line - 1)) {
			wm_trace_fault(t, file, (uint64_t)(at - text),
				       "no line '# SYSTEM/NAME BYTES' followed by that many bytes");
			break;
		}
		err = own_kernel_add_format(t, k, system, name, line + 1, (size_t)n);
		at = line + 1 + n;
	}
	return err;
}

static int own_kernel_read_folder(struct wm_trace *t, struct wm_ctf_kernel *k,
				  const struct wm_ctf_folder *f)
{
	char *path = NULL, *text = NULL;
	size_t bytes;
	int err;

	if (asprintf(&path, "%s/%s/kernel/formats", t->path, f->origin.name) < 0)
		return -ENOMEM;
	err = wm_file_read(AT_FDCWD, path, FORMATS_MAX, &text, &bytes);
	if (!err)
		err = own_kernel_add_formats(t, k, "kernel/formats", text, bytes);
	free(text);
	free(path);
	return err == -ENOMEM ? err : 0; /* without the file the fields are printed */
}

int wm_ctf_kernel_read(struct wm_trace *t)
{
	struct wm_ctf_trace *c = t->own;
	struct wm_ctf_kernel *k = wm_arena_get(&t->arena, sizeof(*k));
	int err = 0;

	if (!k)
		return -ENOMEM;
	k->types = wm_arena_array(&t->arena, t->nr_types + 1u, sizeof(*k->types));
	if (!k->types)
		return -ENOMEM;
	k->nr_types = t->nr_types;
	wm_rebuild_machine(&k->machine);
	pthread_mutex_init(&k->lock, NULL);
	c->kernel = k;
	for (uint32_t i = 0; i < c->nr_folders && !err; i++)
		if (c->folders[i].plan && wm_ctf_is_own(c->folders[i].plan->metadata))
			err = own_kernel_read_folder(t, k, &c->folders[i]);
	for (uint32_t i = 0; i < t->nr_types; i++)
		find_contexts(t->types[i], k->types[i].format);
	return err;
}

void wm_ctf_kernel_done(struct wm_ctf_kernel *k)
{
	if (!k)
		return;
	wm_kformats_destroy(k->known);
	pthread_mutex_destroy(&k->lock);
}

/* --- printing ---------------------------------------------------------------------------- */

/* Reads the symbols when a print form first needs one, because they are large. */
static struct wm_kformats *read_symbols(struct wm_trace *t, const struct wm_kmachine *machine)
{
	struct wm_kformats *known;
	const char *text;
	size_t bytes;

	if (wm_trace_kallsyms(t, &text, &bytes))
		return NULL;
	known = wm_kformats_create(machine);
	if (known && (wm_kformats_add_symbols(known, text, bytes) < 0 || wm_kformats_seal(known))) {
		wm_kformats_destroy(known);
		known = NULL;
	}
	return known;
}

static const struct wm_kformats *symbols_of(const struct wm_trace *t, struct wm_ctf_kernel *k)
{
	if (__atomic_load_n(&k->asked, __ATOMIC_ACQUIRE))
		return k->known;
	pthread_mutex_lock(&k->lock);
	if (!k->asked) {
		k->known = read_symbols((struct wm_trace *)t, &k->machine);
		/* Pairs with the load above: a thread that sees the flag sees the symbols. */
		__atomic_store_n(&k->asked, true, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&k->lock);
	return k->known;
}

static bool shows_addresses(const struct wm_kformat *f)
{
	return strstr(f->print, "%p") != NULL;
}

static uint64_t own_kernel_context(const struct wm_event *e, const char *name)
{
	const struct wm_part_range *part = &e->parts[WM_PART_STREAM_CONTEXT];

	for (uint32_t i = part->at; i < part->end; i = e->items[i].next)
		if (e->items[i].member->name && !strcmp(e->items[i].member->name, name))
			return e->items[i].u;
	return 0;
}

bool wm_ctf_kernel_print(const struct wm_trace *t, const struct wm_event *e,
			 const struct wm_kernel_names *names, struct wm_text *out)
{
	struct wm_ctf_kernel *k = ((const struct wm_ctf_trace *)t->own)->kernel;
	unsigned char record[WM_REBUILD_BYTES_MAX];
	const struct kernel_type *type;
	struct wm_rebuild_common common;
	uint32_t at = e->parts[WM_PART_FIELDS].at;
	size_t start = out->bytes, end;
	int64_t n;

	if (!k || e->type->index >= k->nr_types || !k->types[e->type->index].print)
		return false;
	type = &k->types[e->type->index];
	common =
	    (struct wm_rebuild_common){(uint32_t)e->tid, (uint8_t)own_kernel_context(e, "flags"),
				       (uint8_t)own_kernel_context(e, "preempt_count")};
	for (uint32_t i = 0; i < e->type->nr_contexts && at < e->parts[WM_PART_FIELDS].end; i++)
		at = e->items[at].next;
	n = wm_rebuild_record(type->format, e->items, at, e->parts[WM_PART_FIELDS].end, &common,
			      record);
	if (n < 0)
		return false;
	wm_kprint_run_named(type->print, shows_addresses(type->format) ? symbols_of(t, k) : NULL,
			    names, record, (uint32_t)n, out);
	for (end = out->bytes; end > start && out->data[end - 1] == '\n';)
		end--;
	if (end < out->bytes && !out->failed)
		wm_text_cut(out, end);
	return true;
}
