/* SPDX-License-Identifier: MIT */
/*
 * list.c - finds and describes events, for <waymark/list.h>; list_field.c
 * describes their fields.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/list.h"
#include "base/number.h"
#include "control/kernel_events.h"
#include "control/rules.h"

#define ARENA_MAX ((size_t)1 << 28)

/* --- selection ---------------------------------------------------------------------------- */

static int add_file(struct waymark_list *l, const char *path, struct waymark_error *error)
{
	struct wm_diag diag = {.offset = -1};
	struct wm_inventory_file *file;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY),
	    err = fd < 0 ? -errno : 0;

	if (!err)
		err = wm_inventory_file_load(fd, path, l->programs.fields, &file, &diag);
	if (err)
		return wm_api_fail(error, err, "cannot read '%.200s': %s", path,
				   wm_words_of(err, &diag));
	wm_inventory_kernel_add_file(&l->kernel, path, l->glob);
	err = wm_inventory_add_file(&l->programs, file, path);
	return err ? wm_api_fail(error, -ENOMEM, "out of memory") : 0;
}

static int api_list_add_process(struct waymark_list *l, pid_t pid, struct waymark_error *error)
{
	int err = wm_inventory_add_process(&l->programs, pid, true);

	if (err == -ENOENT || err == -ESRCH)
		return wm_api_fail(error, -ESRCH, "there is no process %d", (int)pid);
	if (err == -EACCES || err == -EPERM)
		return wm_api_fail(error, err,
				   "not permitted to read process %d: it belongs to another user "
				   "or is protected; run as root",
				   (int)pid);
	if (err)
		return wm_api_fail(error, err, "cannot read process %d: %s", (int)pid,
				   strerror(-err));
	wm_inventory_kernel_add_process(&l->kernel, pid, l->glob);
	return 0;
}

static int api_list_add_programs(struct waymark_list *l, const struct waymark_list_options *o,
				 struct waymark_error *error)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < o->nr_files; i++)
		err = add_file(l, o->files[i], error);
	for (uint32_t i = 0; !err && i < o->nr_pids; i++)
		err = api_list_add_process(l, o->pids[i], error);
	if (err || !(o->flags & WAYMARK_LIST_PROCESSES))
		return err;
	err = wm_inventory_add_all_processes(&l->programs);
	return err ? wm_api_fail(error, err, "cannot read /proc: %s", strerror(-err)) : 0;
}

/* Returns how many kernel events match, or the error. */
static int api_list_find_kernel(struct waymark_list *l, const struct waymark_list_options *o,
				struct wm_diag *diag)
{
	if (o->nr_pids)
		l->kernel.space.root = wm_event_space_root(o->pids[0], l->root);
	return l->glob ? wm_inventory_kernel_find(&l->kernel, l->glob, diag)
		       : wm_inventory_kernel_find_all(&l->kernel, diag);
}

static int api_list_make_rules(struct waymark_list *l, struct waymark_error *error)
{
	const struct wm_rules_options none = {0};
	struct wm_diag diag = {.offset = -1};
	int err = wm_rules_create(&none, &l->rules);

	if (!err)
		err = wm_rules_add(l->rules, l->glob, NULL, 0, WM_RULES_ALL_LEVELS, &diag);
	return err < 0 ? wm_api_fail_said(error, err, &diag) : 0;
}

/* --- the list -------------------------------------------------------------------------------- */

static int add_entry(struct waymark_list *l, const struct wm_api_listed *entry)
{
	struct wm_api_listed *grown = wm_arena_grow(&l->arena, l->entries, l->nr, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	l->entries = grown;
	l->entries[l->nr++] = *entry;
	return 0;
}

static int enter_group(struct waymark_list *l, const struct wm_inventory_group *g)
{
	int err = 0;

	for (uint32_t m = 0; m < g->nr_members; m++)
		for (uint32_t i = 0; !err && i < g->members[m].file->nr_events; i++) {
			const struct wm_inventory_event *event = &g->members[m].file->events[i];
			const struct wm_api_listed entry = {
			    .group = g, .member = &g->members[m], .event = event, .index = i};

			if (wm_inventory_wants(l->rules, event->class))
				err = add_entry(l, &entry);
		}
	return err;
}

static int enter_all(struct waymark_list *l)
{
	const struct wm_event_defs *defs = &l->kernel.defs;
	int err = 0;

	for (uint32_t i = 0; !err && i < l->programs.nr_groups; i++)
		err = enter_group(l, &l->programs.groups[i]);
	for (size_t i = 0; !err && i < defs->nr; i += wm_recorder_kernel_places(defs, i)) {
		const struct wm_api_listed entry = {.def = &defs->defs[i]};

		if (!defs->defs[i].implied)
			err = add_entry(l, &entry);
	}
	return err;
}

/* No event matches: reports the kernel's error, or the most similar program events. */
static int fail_unmatched(const struct waymark_list *l, int kernel_err, const struct wm_diag *diag,
			  struct waymark_error *error)
{
	char near[WM_DIAG_SENTENCE];
	bool is_near = wm_inventory_near(&l->programs, l->glob, near, sizeof(near));

	if (kernel_err < 0 && (kernel_err != -ENOENT || !is_near))
		return wm_api_fail_said(error, kernel_err, diag);
	return wm_api_fail(error, -ENOENT, "no event matches '%.200s'%s%s", l->glob,
			   is_near ? "; " : "", is_near ? near : "");
}

static int api_list_fill(struct waymark_list *l, const struct waymark_list_options *o,
			 struct waymark_error *error)
{
	struct wm_diag diag = {.offset = -1};
	int err = l->glob ? api_list_make_rules(l, error) : 0, kernel_err = 0;

	if (!err)
		err = api_list_add_programs(l, o, error);
	if (err)
		return err;
	if (o->flags & WAYMARK_LIST_KERNEL)
		kernel_err = api_list_find_kernel(l, o, &diag);
	if (kernel_err == -ENOMEM || enter_all(l))
		return wm_api_fail(error, -ENOMEM, "out of memory");
	if (l->glob && !l->nr)
		return fail_unmatched(l, kernel_err, &diag, error);
	return 0;
}

static int api_list_check(const struct waymark_list_options *o, struct waymark_error *error)
{
	if (o->flags & ~(WAYMARK_LIST_KERNEL | WAYMARK_LIST_PROCESSES | WAYMARK_LIST_PLACES))
		return wm_api_fail(error, -EINVAL, "unknown flag");
	if ((o->nr_files && !o->files) || (o->nr_pids && !o->pids))
		return wm_api_fail(
		    error, -EINVAL,
		    "the list of files or processes is NULL, but its count is not 0");
	for (uint32_t i = 0; i < o->nr_files; i++)
		if (!o->files[i])
			return wm_api_fail(error, -EINVAL, "file %u is NULL", i);
	return 0;
}

WM_API int waymark_list(const struct waymark_list_options *options, struct waymark_list **ret,
			struct waymark_error *error)
{
	struct waymark_list_options o = WAYMARK_INIT(o);
	struct waymark_list *l;
	int err = wm_api_error_begin(error);

	if (!err && options)
		err = WM_API_COPY_IN(&o, options, flags, "options", error);
	if (!err)
		err = api_list_check(&o, error);
	if (err)
		return err;
	if (!o.nr_files && !o.nr_pids && !(o.flags & ~WAYMARK_LIST_PLACES))
		o.flags |= WAYMARK_LIST_KERNEL | WAYMARK_LIST_PROCESSES;
	l = calloc(1, sizeof(*l));
	if (!l)
		return wm_api_fail(error, -ENOMEM, "out of memory");
	wm_arena_init(&l->arena, ARENA_MAX);
	l->asked = WAYMARK_NO_NUMBER;
	l->programs.fields = o.flags & WAYMARK_LIST_PLACES;
	l->glob = o.events;
	if (wm_inventory_kernel_open(&l->kernel, true, getenv("PATH")) < 0)
		err = wm_api_fail(error, -ENOMEM, "out of memory");
	else
		err = api_list_fill(l, &o, error);
	l->glob = NULL; /* the glob belongs to the caller */
	if (err) {
		waymark_list_close(l);
		return err;
	}
	*ret = l;
	return 0;
}

WM_API void waymark_list_close(struct waymark_list *l)
{
	if (!l)
		return;
	wm_api_list_forget_fields(l);
	wm_inventory_kernel_close(&l->kernel);
	wm_inventory_done(&l->programs);
	wm_rules_destroy(l->rules);
	wm_arena_done(&l->arena);
	free(l);
}

/* --- description -------------------------------------------------------------------------- */

WM_API uint32_t waymark_list_count(const struct waymark_list *l)
{
	return l->nr;
}

static const char *or_null(const char *text)
{
	return text && *text ? text : NULL;
}

static void tell_kernel(const struct waymark_list *l, const struct wm_event_def *d,
			struct waymark_listed *ret)
{
	size_t at = (size_t)(d - l->kernel.defs.defs);
	double scale = 1;

	if (d->scale && wm_number_parse_float(d->scale, &scale) < 0)
		scale = 1;
	*ret = (struct waymark_listed){
	    .name = d->name,
	    .kind = wm_inventory_kernel_kind(d),
	    .help = or_null(wm_inventory_kernel_help(d)),
	    .unit = d->unit,
	    .scale = scale,
	    .file = d->path,
	    .nr_places = d->path ? (uint32_t)wm_recorder_kernel_places(&l->kernel.defs, at) : 0,
	};
}

/* Describes a program event, building its full name on demand. Returns 0 or -ENOMEM. */
static int tell_program(struct waymark_list *l, struct wm_api_listed *e, struct waymark_listed *ret)
{
	const struct wm_class *c = e->event->class;

	if (!e->name)
		e->name = wm_api_full_name(&l->arena, c->provider, c->name);
	if (!e->name)
		return -ENOMEM;
	*ret = (struct waymark_listed){
	    .name = e->name,
	    .kind = wm_inventory_kind(c),
	    .scale = 1,
	    .level = wm_inventory_level(c),
	    .file = e->member->file->path,
	    .source = or_null(c->file),
	    .line = c->line,
	    .command = e->group->nr_pids ? e->group->title : NULL,
	    .nr_places = e->event->nr_sites,
	    .nr_processes = e->group->nr_pids,
	    .nr_on = e->group->nr_pids ? e->member->on[e->index] : 0,
	};
	return 0;
}

WM_API int waymark_listed(struct waymark_list *l, uint32_t i, struct waymark_listed *ret)
{
	struct waymark_listed event;
	int err = 0;

	if (i >= l->nr)
		return -ERANGE;
	if (l->entries[i].event)
		err = tell_program(l, &l->entries[i], &event);
	else
		tell_kernel(l, l->entries[i].def, &event);
	return err ? err : WM_API_COPY_OUT(ret, &event, nr_on);
}

WM_API int waymark_family(struct waymark_list *l, uint32_t i, struct waymark_family *ret)
{
	struct wm_inventory_family all[WM_INVENTORY_FAMILIES];
	struct waymark_family family;

	if (i >= WM_INVENTORY_FAMILIES)
		return -ERANGE;
	wm_inventory_kernel_families(&l->kernel, all);
	family = (struct waymark_family){
	    .name = all[i].name,
	    .what = all[i].what,
	    .missing = all[i].missing,
	    .nr_events = all[i].is_counted ? all[i].nr_events : WAYMARK_NO_NUMBER,
	};
	return WM_API_COPY_OUT(ret, &family, reserved);
}
