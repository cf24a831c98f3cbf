/* SPDX-License-Identifier: MIT */
/*
 * open.c - opens a CTF trace: finds the folders with metadata, parses it, compiles plans, and lists
 * the packets of all stream files. See trace.h.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "read/ctf/trace.h"

/* --- names in folders -------------------------------------------------------------------- */

struct names {
	char **at;
	uint32_t count, room;
};

static int ctf_open_by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void names_done(struct names *n)
{
	while (n->count)
		free(n->at[--n->count]);
	free(n->at);
}

static bool names_add(struct names *n, const char *name)
{
	if (WM_ARRAY_GROW(n->at, n->room, (size_t)n->count + 1))
		return false;
	n->at[n->count] = strdup(name);
	return n->at[n->count] && ++n->count;
}

/* Lists the names in the folder `path`, sorted, omitting hidden ones. */
static int ctf_open_list(const char *path, struct names *ret)
{
	DIR *dir = opendir(path);
	struct dirent *e;
	int err = 0;

	*ret = (struct names){0};
	if (!dir)
		return -errno;
	while (!err && (e = readdir(dir))) {
		if (e->d_name[0] != '.' && !names_add(ret, e->d_name))
			err = -ENOMEM;
		if (ret->count > WM_CTF_NAMES_MAX)
			err = -E2BIG;
	}
	closedir(dir);
	if (ret->count)
		qsort(ret->at, ret->count, sizeof(*ret->at), ctf_open_by_name);
	return err;
}

static bool is_kind(const char *path, mode_t kind)
{
	struct stat st;

	return !lstat(path, &st) && (st.st_mode & S_IFMT) == kind;
}

/* Returns "a/b", or "b" when a is "", malloc'ed. */
static char *ctf_open_join(const char *a, const char *b)
{
	char *path;

	return asprintf(&path, "%s%s%s", a, a[0] && b[0] ? "/" : "", b) < 0 ? NULL : path;
}

/* --- folders ---------------------------------------------------------------------------------- */

struct tree {
	struct names folders; /* folders that have a `metadata` file, relative to the path */
	uint32_t nr_names;
	bool first_only;
	bool has_parts; /* the path has several parts, which may overlap */
};

/* Adds a folder, unless it was found before: a part of a recording may contain another. */
static int tree_add(struct tree *t, const char *below)
{
	for (uint32_t i = 0; t->has_parts && i < t->folders.count; i++)
		if (!strcmp(t->folders.at[i], below))
			return 0;
	return names_add(&t->folders, below) ? 0 : -ENOMEM;
}

static bool has_metadata(const char *path)
{
	char *name = ctf_open_join(path, "metadata");
	struct stat st;
	bool has = name && !stat(name, &st) && S_ISREG(st.st_mode);

	free(name);
	return has;
}

static int ctf_open_walk(struct tree *t, const char *path, const char *below, uint32_t depth)
{
	struct names n;
	int err;

	if (has_metadata(path))
		return tree_add(t, below);
	if (depth == WM_CTF_TREE_DEPTH)
		return 0;
	err = ctf_open_list(path, &n);
	t->nr_names += n.count;
	if (!err && (t->nr_names > WM_CTF_NAMES_MAX || t->folders.count > WM_CTF_FOLDERS_MAX))
		err = -E2BIG;
	for (uint32_t i = 0; i < n.count && !err && !(t->first_only && t->folders.count); i++) {
		char *sub = ctf_open_join(path, n.at[i]), *name = ctf_open_join(below, n.at[i]);

		if (!sub || !name)
			err = -ENOMEM;
		else if (is_kind(sub, S_IFDIR))
			err = ctf_open_walk(t, sub, name, depth + 1);
		free(sub);
		free(name);
	}
	names_done(&n);
	/* An unreadable folder is treated as empty. */
	return err == -ENOMEM || err == -E2BIG ? err : 0;
}

int wm_ctf_each_metadata(const char *path,
			 int (*each)(void *data, const char *name, uint32_t nr, const char *text,
				     size_t bytes),
			 void *data, struct wm_diag *diag)
{
	struct tree t = {0};
	int err = ctf_open_walk(&t, path, "", 0);

	for (uint32_t i = 0; !err && i < t.folders.count; i++) {
		char *name = ctf_open_join(t.folders.at[i], "metadata");
		char *file = name ? ctf_open_join(path, name) : NULL, *raw = NULL, *text = NULL;
		size_t bytes = 0;

		err = file ? wm_file_read(AT_FDCWD, file, WM_CTF_METADATA_MAX, &raw, &bytes)
			   : -ENOMEM;
		if (!err)
			err = wm_ctf_metadata_text(name, raw, bytes, &text, &bytes, diag);
		if (!err)
			err = each(data, name, t.folders.count, text, bytes);
		free(name);
		free(file);
		free(raw);
		free(text);
	}
	if (!err && !t.folders.count)
		err = -ENOENT;
	names_done(&t.folders);
	return err;
}

static bool ctf_open_probe(const char *path, bool is_folder, const unsigned char *head,
			   size_t bytes)
{
	struct tree t = {.first_only = true};
	bool found;

	found = is_folder && !ctf_open_walk(&t, path, "", 0) && t.folders.count;
	names_done(&t.folders);
	return found;
}

/* --- metadata of a folder ------------------------------------------------------------------- */

/*
 * Returns whether two folders are chunks of one recording, that is, whether the metadata of one is
 * a prefix of the other's.
 */
static bool is_chunk(const struct wm_ctf_folder *a, const struct wm_ctf_folder *b)
{
	size_t bytes = a->text_bytes < b->text_bytes ? a->text_bytes : b->text_bytes;

	return a->plan && a->plan->metadata->has_uuid && bytes && a->text_bytes >= b->text_bytes &&
	       !memcmp(a->text, b->text, bytes);
}

static int version_of(const struct wm_ctf_metadata *m, const char *key)
{
	const struct wm_ctf_pair *pair = wm_ctf_env(m, key);

	return pair && !pair->text && pair->number >= 0 && pair->number < 1000 ? (int)pair->number
									       : 0;
}

static uint32_t quirks_of(const struct wm_ctf_metadata *m)
{
	const struct wm_ctf_pair *pair = wm_ctf_env(m, "tracer_name");
	const char *tracer = pair && pair->text ? pair->text : "";
	int major = version_of(m, "tracer_major"), minor = version_of(m, "tracer_minor");
	int patch = version_of(m, "tracer_patchlevel") + version_of(m, "tracer_patch");
	int version = major * 1000000 + minor * 1000 + patch;
	bool late = false;

	if (!strcmp(tracer, "barectf"))
		return version < 2003001 ? WM_CTF_QUIRK_EARLY_EVENTS : 0;
	if (!strcmp(tracer, "lttng-ust"))
		late = version < 2011000;
	else if (!strcmp(tracer, "lttng-modules"))
		late = version < 2009013 || (version >= 2010000 && version < 2010010);
	else
		return 0;
	return WM_CTF_QUIRK_NO_END | (late ? WM_CTF_QUIRK_LATE_EVENTS : 0);
}

static const char *uuid_text(struct wm_trace *t, const struct wm_ctf_metadata *m)
{
	char text[40];
	size_t n = 0;

	if (!m->has_uuid)
		return NULL;
	for (int i = 0; i < 16; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%02x",
				      i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", m->uuid[i]);
	return wm_arena_copy(&t->arena, text, n);
}

/* Copies the environment of a folder. The first folder's is also the trace's environment. */
static int ctf_open_words(struct wm_trace *t, struct wm_ctf_folder *f)
{
	const struct wm_ctf_metadata *m = f->plan->metadata;
	struct wm_trace_word *list = wm_arena_array(&t->arena, m->nr_env + 1u, sizeof(*list));
	int err = list ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < m->nr_env && !err; i++) {
		char number[24];
		const char *text = m->env[i].text;

		if (!text)
			(void)snprintf(number, sizeof(number), "%lld", (long long)m->env[i].number);
		list[i].key = m->env[i].key;
		list[i].text = text ? text : wm_arena_copy(&t->arena, number, strlen(number));
		if (!list[i].text)
			err = -ENOMEM;
		else if (!wm_trace_word(t, list[i].key))
			err = wm_trace_add_word(t, list[i].key, list[i].text);
	}
	f->origin.words = list;
	f->origin.nr_words = err ? 0 : m->nr_env;
	f->origin.uuid = uuid_text(t, m);
	/* In CTF 2 `uuid` is the metadata's UUID. */
	f->origin.shown_uuid = m->major == 2 ? m->trace_uid : f->origin.uuid;
	return err;
}

/*
 * Parses f->text and compiles its plan, or shares the plan of another chunk of the recording. Also
 * returns 0 when the metadata is damaged and a fault was reported.
 */
static int plan_folder(struct wm_trace *t, struct wm_ctf_trace *c, struct wm_ctf_folder *f,
		       struct wm_diag *diag)
{
	struct wm_ctf_metadata *m = NULL;
	struct wm_diag damage;
	int err;

	for (uint32_t i = 0; i < c->nr_folders; i++) {
		if (&c->folders[i] != f && is_chunk(&c->folders[i], f)) {
			f->plan = c->folders[i].plan;
			f->shares_plan = true;
			return 0;
		}
	}
	err = wm_ctf_metadata_parse(f->metadata_name, f->text, f->text_bytes, &m, &damage, diag);
	if (!err && damage.sentence[0])
		wm_trace_fault(t, f->metadata_name, damage.offset < 0 ? 0 : (uint64_t)damage.offset,
			       "line %u: %s", damage.line, damage.sentence);
	for (uint32_t i = 0; !err && i < m->nr_warnings; i++) {
		const struct wm_ctf_warning *w = &m->warnings[i];

		wm_trace_warn(t, f->metadata_name, w->offset < 0 ? 0 : (uint64_t)w->offset,
			      "line %u: %s", w->line, w->sentence);
	}
	return err ? err : wm_ctf_plan_create(t, m, &f->plan, diag);
}

static int ctf_open_read_text(const struct wm_trace *t, struct wm_ctf_folder *f,
			      struct wm_diag *diag)
{
	char *path = ctf_open_join(t->path, f->metadata_name);
	int err = path ? wm_file_read(AT_FDCWD, path, WM_CTF_METADATA_MAX, &f->text, &f->text_bytes)
		       : -ENOMEM;

	free(path);
	if (err)
		return wm_diag_set(diag, err, f->metadata_name, -1, "cannot be read: %s",
				   strerror(-err));
	return 0;
}

/* --- all of it -------------------------------------------------------------------------- */

static int make_folders(struct wm_trace *t, struct wm_ctf_trace *c, const struct tree *tree)
{
	c->folders = wm_arena_array(&t->arena, tree->folders.count + 1u, sizeof(*c->folders));
	if (!c->folders)
		return -ENOMEM;
	for (uint32_t i = 0; i < tree->folders.count; i++) {
		const char *below = tree->folders.at[i];
		char *name = ctf_open_join(below, "metadata");

		if (!name)
			return -ENOMEM;
		c->folders[i].metadata_name = wm_arena_copy(&t->arena, name, strlen(name));
		c->folders[i].origin.name = wm_arena_copy(&t->arena, below, strlen(below));
		free(name);
		if (!c->folders[i].origin.name || !c->folders[i].metadata_name)
			return -ENOMEM;
		c->nr_folders++;
	}
	return 0;
}

/*
 * Sorts the longest metadata first, so that earlier chunks, whose metadata is shorter, share the
 * plan of the last one.
 */
static int by_bytes(const void *a, const void *b)
{
	const struct wm_ctf_folder *const *x = a, *const *y = b;

	if ((*x)->text_bytes != (*y)->text_bytes)
		return (*x)->text_bytes > (*y)->text_bytes ? -1 : 1;
	return *x < *y ? -1 : *x > *y;
}

/* Damaged metadata is a fault when there are other metadata files, else an error. */
static int plan_all(struct wm_trace *t, struct wm_ctf_trace *c, struct wm_diag *diag)
{
	struct wm_ctf_folder **order = calloc(c->nr_folders + 1u, sizeof(struct wm_ctf_folder *));
	struct wm_diag own = {.offset = -1};
	int err = order ? 0 : -ENOMEM;

	diag = diag ? diag : &own;
	for (uint32_t i = 0; i < c->nr_folders && !err; i++) {
		order[i] = &c->folders[i];
		err = ctf_open_read_text(t, order[i], diag);
	}
	if (!err)
		qsort(order, c->nr_folders, sizeof(struct wm_ctf_folder *), by_bytes);
	for (uint32_t i = 0; i < c->nr_folders && !err; i++) {
		err = plan_folder(t, c, order[i], diag);
		if (err && err != -ENOMEM && c->nr_folders > 1) {
			wm_trace_fault(t, order[i]->metadata_name,
				       diag->offset < 0 ? 0 : (uint64_t)diag->offset, "%s",
				       diag->sentence);
			err = 0;
		}
	}
	free(order);
	for (uint32_t i = 0; i < c->nr_folders; i++) {
		free(c->folders[i].text);
		c->folders[i].text = NULL;
	}
	return err;
}

static int index_folder(struct wm_trace *t, struct wm_ctf_folder *f, struct wm_ctf_founds *found)
{
	char *path = ctf_open_join(t->path, f->origin.name);
	struct names n = {0};
	int err = path ? ctf_open_list(path, &n) : -ENOMEM;

	for (uint32_t i = 0; i < n.count && !err; i++) {
		char *name = ctf_open_join(f->origin.name, n.at[i]),
		     *full = ctf_open_join(path, n.at[i]);
		struct stat st;

		if (!name || !full)
			err = -ENOMEM;
		else if (strcmp(n.at[i], "metadata") != 0 && !stat(full, &st) &&
			 S_ISREG(st.st_mode)) {
			const char *kept = wm_arena_copy(&t->arena, name, strlen(name));

			err = kept ? wm_ctf_index_file(t, f, kept, found) : -ENOMEM;
		}
		free(name);
		free(full);
	}
	names_done(&n);
	if (!err && wm_ctf_has_own_packets(f->plan->metadata))
		wm_ctf_own_gone(t, path, f->origin.name);
	free(path);
	return err;
}

static int index_all(struct wm_trace *t, struct wm_ctf_trace *c)
{
	struct wm_ctf_founds found = {0};
	int err = 0;

	for (uint32_t i = 0; i < c->nr_folders && !err; i++) {
		struct wm_ctf_folder *f = &c->folders[i];

		if (f->plan)
			err = index_folder(t, f, &found);
	}
	if (!err)
		err = wm_ctf_order(t, &found);
	free(found.at);
	return err;
}

/* Copies the environment of each folder, and of the trace. */
static int ctf_open_describe(struct wm_trace *t, struct wm_ctf_trace *c)
{
	int err = 0;

	for (uint32_t i = 0; i < c->nr_folders && !err; i++) {
		struct wm_ctf_folder *f = &c->folders[i];

		if (!f->plan)
			continue;
		if (!t->version[0])
			(void)snprintf(t->version, sizeof(t->version), "%s",
				       f->plan->metadata->major == 2 ? "2" : "1.8");
		f->quirks = quirks_of(f->plan->metadata);
		err = ctf_open_words(t, f);
	}
	return err;
}

static bool is_own(const struct wm_ctf_trace *c)
{
	for (uint32_t i = 0; i < c->nr_folders; i++)
		if (c->folders[i].plan)
			return wm_ctf_is_own(c->folders[i].plan->metadata);
	return false;
}

/* Finds the folders with metadata in parts of a path; "" is the path itself. */
static int walk_parts(struct tree *tree, const char *path, const char *const *parts, uint32_t nr)
{
	int err = 0;

	for (uint32_t i = 0; i < nr && !err; i++) {
		char *part = ctf_open_join(path, parts[i]);

		err = part ? ctf_open_walk(tree, part, parts[i], 0) : -ENOMEM;
		free(part);
	}
	return err;
}

static int ctf_open_plans(struct wm_trace *t, const char *const *parts, uint32_t nr,
			  struct wm_diag *diag)
{
	struct wm_ctf_trace *c = calloc(1, sizeof(*c));
	struct tree tree = {.has_parts = nr > 1};
	int err = c ? walk_parts(&tree, t->path, parts, nr) : -ENOMEM;

	t->own = c;
	if (err == -E2BIG)
		(void)wm_diag_set(diag, err, t->path, -1,
				  "the folder has more than %u files and folders below it",
				  WM_CTF_NAMES_MAX);
	if (!err)
		err = make_folders(t, c, &tree);
	names_done(&tree.folders);
	if (!err)
		err = plan_all(t, c, diag);
	return err ? err : ctf_open_describe(t, c);
}

static const char *const whole[] = {""};

int wm_ctf_open_plans(struct wm_trace *t, struct wm_diag *diag)
{
	return ctf_open_plans(t, whole, 1, diag);
}

static int ctf_open_parts(struct wm_trace *t, const char *const *parts, uint32_t nr,
			  struct wm_diag *diag)
{
	int err = ctf_open_plans(t, parts, nr, diag);

	if (!err)
		err = index_all(t, t->own);
	if (!err && is_own(t->own))
		err = wm_ctf_own_read(t);
	if (!err && is_own(t->own))
		err = wm_ctf_kernel_read(t);
	if (err == -ENOMEM)
		(void)wm_diag_set(diag, err, t->path, -1, "out of memory");
	return err;
}

static int ctf_open_trace(struct wm_trace *t, const char *path, struct wm_diag *diag)
{
	return ctf_open_parts(t, whole, 1, diag);
}

static void ctf_open_close_trace(struct wm_trace *t)
{
	struct wm_ctf_trace *c = t->own;

	for (uint32_t i = 0; c && i < c->nr_folders; i++) {
		if (!c->folders[i].shares_plan)
			wm_ctf_plan_destroy(c->folders[i].plan);
		free(c->folders[i].text);
	}
	if (c) {
		wm_ctf_kernel_done(c->kernel);
		free(c->ticks);
	}
	free(c);
}

const struct wm_reader_ops wm_ctf_ops = {
    .name = "ctf",
    .probe = ctf_open_probe,
    .open = ctf_open_trace,
    .open_parts = ctf_open_parts,
    .close = ctf_open_close_trace,
    .reader_create = wm_ctf_reader_create,
    .reader_begin = wm_ctf_reader_begin,
    .reader_read = wm_ctf_reader_read,
    .reader_destroy = wm_ctf_reader_destroy,
    .comm = wm_ctf_own_comm,
    .print = wm_ctf_kernel_print,
    .kallsyms = wm_ctf_own_kallsyms,
};
