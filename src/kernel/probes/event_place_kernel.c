/* SPDX-License-Identifier: MIT */
/*
 * event_place_kernel.c - places in the kernel: kprobes by function and offset, all kernel functions
 * that match a name, and memory breakpoints. See event_place.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "base/glob.h"
#include "base/number.h"
#include "kernel/probes/event_place.h"
#include "kernel/probes/probe_btf.h"

#define KALLSYMS     "/proc/kallsyms"
#define KALLSYMS_MAX (256u << 20)
#define NAME_BYTES   512u
#define MEM_FORM                                                                                   \
	"mem:ADDRESS[/BYTES][:r|w|rw|x][:u|k], ADDRESS such as 0x601040, BYTES 1, 2, 4 or 8"

int wm_event_place_offset(const char *text, size_t *ret_name_bytes, uint64_t *ret_offset)
{
	const char *plus = strrchr(text, '+');
	int64_t offset = 0;

	if (plus && (plus == text || wm_number_parse_integer(plus + 1, 0, INT64_MAX, &offset) < 0))
		return -EINVAL;
	*ret_name_bytes = plus ? (size_t)(plus - text) : strlen(text);
	*ret_offset = (uint64_t)offset;
	return 0;
}

/* ---- kprobes -------------------------------------------------------------------- */

/* A place to probe, and the kernel's type information if values are fetched. */
struct wanted {
	const struct wm_event_place *p;
	bool ret;
	struct wm_probe_btf btf;
};

/*
 * Reads the type information, if possible; without it, numbers and registers can still be fetched.
 */
static void open_wanted(struct wanted *w, const struct wm_event_place *p, bool ret)
{
	*w = (struct wanted){.p = p, .ret = ret};
	if (p->arguments)
		(void)wm_probe_btf_open(&w->btf, NULL);
}

/* Compiles the values to fetch at the place. */
static int place_kernel_fetch(const struct wanted *w, struct wm_event_def *def,
			      struct wm_probe_args *args)
{
	struct wm_probe_btf_site site = {.btf = w->btf.data ? &w->btf : NULL,
					 .function = def->symbol,
					 .entry = !def->offset,
					 .returns = w->ret};
	const struct wm_probe_scope scope = {.probe = def->name,
					     .in_kernel = true,
					     .returns = w->ret,
					     .named = wm_probe_btf_named,
					     .each = wm_probe_btf_each,
					     .data = &site};
	int err = 0;

	if (w->p->arguments)
		err = wm_probe_args_compile(w->p->arguments, &scope, args, w->p->diag);
	def->arguments = args->kernel.data;
	def->recast = args->recast.data;
	def->left_out = args->left_out.data;
	return err;
}

static int add_kprobe(const struct wanted *w, const char *symbol, uint64_t offset)
{
	const struct wm_event_place *p = w->p;
	bool ret = w->ret;
	const struct wm_pmu *pmu = wm_pmu_named(&p->space->pmus, "kprobe");
	struct wm_event_def def = {.family = ret ? WM_FAMILY_KRETPROBE : WM_FAMILY_KPROBE,
				   .symbol = symbol,
				   .offset = offset};
	char name[NAME_BYTES], label[NAME_BYTES];
	struct wm_probe_args args;
	int err;

	if (!pmu)
		return wm_diag_set(
		    p->diag, -EOPNOTSUPP, NULL, -1,
		    "'%s:%.60s' cannot be probed: this kernel was built without kprobes "
		    "(CONFIG_KPROBE_EVENTS)",
		    p->family, p->text);
	err = wm_pmu_terms(&p->space->pmus, pmu, ret ? "retprobe=1" : "retprobe=0", &def, p->diag);
	if (err < 0)
		return err;
	if (offset)
		(void)snprintf(label, sizeof(label), "%.300s+%llu", symbol,
			       (unsigned long long)offset);
	else
		(void)snprintf(label, sizeof(label), "%.300s", symbol);
	(void)snprintf(name, sizeof(name), "%s:%.400s", ret ? "kretprobe" : "kprobe", label);
	def.name = name;
	def.label = label;
	wm_probe_args_init(&args);
	err = place_kernel_fetch(w, &def, &args);
	if (!err)
		err = wm_event_defs_add(p->defs, &def);
	wm_probe_args_done(&args);
	return err;
}

/*
 * Returns the name in a line such as "ffffffff81000000 T start_kernel [module]" if it is a
 * function, else NULL.
 */
static char *place_kernel_function_of(char *line)
{
	char *save = NULL, *type, *name;

	(void)strtok_r(line, " \t", &save);
	type = strtok_r(NULL, " \t", &save);
	name = type ? strtok_r(NULL, " \t", &save) : NULL;
	return name && strchr("tTwW", *type) ? name : NULL;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Adds each listed function that matches, once per name. */
static int place_kernel_add_functions(const struct wanted *w, const char *glob, char *text)
{
	char *save = NULL, **names = NULL, *last = NULL;
	size_t nr = 0, room = 0;
	int err = 0, added = 0;

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *name = place_kernel_function_of(line);

		if (!name || !wm_glob_match(glob, strlen(glob), name, strlen(name)))
			continue;
		err = WM_ARRAY_GROW(names, room, nr + 1);
		if (err)
			break;
		names[nr++] = name;
	}
	if (nr)
		qsort(names, nr, sizeof(*names), by_text);
	for (size_t i = 0; i < nr && !err; last = names[i++]) {
		if (last && !strcmp(last, names[i]))
			continue;
		err = add_kprobe(w, names[i], 0);
		added += err == 0;
	}
	free(names);
	return err < 0 ? err : added;
}

static int match_functions(const struct wanted *w, const char *glob)
{
	const struct wm_event_place *p = w->p;
	size_t bytes;
	char *text;
	int err;

	if (!wm_pmu_named(&p->space->pmus, "kprobe"))
		return add_kprobe(w, glob, 0); /* called to set the error message */
	err = wm_file_read(AT_FDCWD, KALLSYMS, KALLSYMS_MAX, &text, &bytes);
	if (err < 0)
		return wm_diag_set(p->diag, err, NULL, -1, "cannot read " KALLSYMS ": %s",
				   strerror(-err));
	err = place_kernel_add_functions(w, glob, text);
	free(text);
	if (!err)
		return wm_diag_set(
		    p->diag, -ENOENT, NULL, -1,
		    "no kernel function matches '%.80s'; " KALLSYMS " lists all names", glob);
	return err;
}

int wm_event_place_kernel_functions(const struct wm_event_place *p, const char *glob)
{
	static const char back[] = ":return";
	size_t n = strlen(glob);
	bool returns = n > strlen(back) && !strcmp(glob + n - strlen(back), back);
	char *name = strndup(glob, returns ? n - strlen(back) : n);
	struct wanted w;
	int nr, more = 0;

	if (!name)
		return -ENOMEM;
	open_wanted(&w, p, false);
	nr = match_functions(&w, name);
	w.ret = true;
	if (nr > 0 && returns)
		more = match_functions(&w, name);
	wm_probe_btf_close(&w.btf);
	free(name);
	return nr < 0 || more >= 0 ? nr + more : more;
}

int wm_event_place_kprobe(const struct wm_event_place *p)
{
	bool ret = !strcmp(p->family, "kretprobe");
	struct wanted w;
	size_t bytes;
	uint64_t offset;
	char *symbol;
	int nr;

	if (!*p->text || wm_event_place_offset(p->text, &bytes, &offset) < 0 || (ret && offset))
		return wm_diag_set(p->diag, -EINVAL, NULL, -1, "'%s:%.80s' is not of the form %s",
				   p->family, p->text,
				   ret ? "kretprobe:FUNCTION" : "kprobe:FUNCTION[+OFFSET]");
	open_wanted(&w, p, ret);
	symbol = strndup(p->text, bytes);
	if (!symbol)
		nr = -ENOMEM;
	else if (wm_glob_is_pattern(p->text, bytes))
		nr = match_functions(&w, p->text);
	else
		nr = add_kprobe(&w, symbol, offset);
	free(symbol);
	wm_probe_btf_close(&w.btf);
	return nr ? nr : 1;
}

/* ---- breakpoints ---------------------------------------------------------------------- */

static bool parse_access(const char *text, uint32_t *ret)
{
	static const struct {
		char letter;
		uint32_t bit;
	} letters[] = {{'r', HW_BREAKPOINT_R}, {'w', HW_BREAKPOINT_W}, {'x', HW_BREAKPOINT_X}};
	uint32_t bits = 0;

	for (; *text; text++) {
		uint32_t bit = 0;

		for (size_t i = 0; i < 3; i++)
			bit |= letters[i].letter == *text ? letters[i].bit : 0;
		if (!bit || bits & bit)
			return false;
		bits |= bit;
	}
	*ret = bits;
	return bits && !(bits & HW_BREAKPOINT_X && bits & HW_BREAKPOINT_RW);
}

int wm_event_place_memory(const struct wm_event_place *p)
{
	char copy[128], name[160], *access, *length, *last;
	struct wm_event_def def = {.family = WM_FAMILY_BREAKPOINT, .type = PERF_TYPE_BREAKPOINT};
	int64_t address = 0, bytes = sizeof(long);
	int err;

	(void)snprintf(copy, sizeof(copy), "%s", p->text);
	last = strrchr(copy, ':');
	if (last && wm_event_def_modify(&def, last + 1))
		*last = '\0';
	access = strchr(copy, ':');
	if (access)
		*access++ = '\0';
	length = strchr(copy, '/');
	if (length)
		*length++ = '\0';
	if (strlen(p->text) >= sizeof(copy) || !parse_access(access ? access : "rw", &def.access) ||
	    wm_number_parse_integer(copy, INT64_MIN, INT64_MAX, &address) < 0 ||
	    (length && wm_number_parse_integer(length, 1, 8, &bytes) < 0) || (bytes & (bytes - 1)))
		return wm_diag_set(p->diag, -EINVAL, NULL, -1,
				   "'mem:%.60s' is not of the form " MEM_FORM, p->text);
	(void)snprintf(name, sizeof(name), "mem:%s", p->text);
	def.name = name;
	def.address = (uint64_t)address;
	def.bytes = (uint32_t)bytes;
	err = wm_event_defs_add(p->defs, &def);
	return err < 0 ? err : 1;
}
