/* SPDX-License-Identifier: MIT */
/*
 * address_spaces_feed.c - updates address spaces from events, which a table lists by name. Memory
 * has the names that the kernel gives it. Code in anonymous memory may be described in
 * /tmp/perf-PID.map, so its module is named after that file, as in perf.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "symbol/address_spaces_int.h"

/*
 * Bits of `misc`. In perf:comm: the thread called exec. In perf:fork: perf synthesized the event,
 * and the child does not have the parent's mappings.
 */
#define MISC_EXEC       0x2000u
#define MISC_MMAP_DATA  0x2000u /* in perf:mmap */
#define MISC_MODE_MASK  7u
#define PROT_EXECUTE    4u
#define KSYMBOL_REMOVED 1u

/* ---- fields ------------------------------------------------------------------ */

static const struct wm_item *spaces_feed_field(const struct wm_event *e, const char *name)
{
	const struct wm_part_range *r = &e->parts[WM_PART_FIELDS];

	for (uint32_t i = r->at; i < r->end; i = e->items[i].next)
		if (e->items[i].member->name && !strcmp(e->items[i].member->name, name))
			return &e->items[i];
	return NULL;
}

static uint64_t spaces_feed_number(const struct wm_event *e, const char *name)
{
	const struct wm_item *i = spaces_feed_field(e, name);

	return i && i->member->type->kind <= WM_TYPE_BOOL ? i->u : 0;
}

static int32_t spaces_feed_pid_of(const struct wm_event *e, const char *name)
{
	return (int32_t)spaces_feed_number(e, name);
}

/* Returns a string field's text; "" if the field is missing. */
static void spaces_feed_text(const struct wm_event *e, const char *name, const char **ret,
			     size_t *ret_bytes)
{
	const struct wm_item *i = spaces_feed_field(e, name);
	bool is = i && i->member->type->kind == WM_TYPE_STRING && i->text;

	*ret = is ? i->text : "";
	*ret_bytes = is ? strnlen(i->text, i->count) : 0;
}

/* Reads a byte field, or a list of bytes as LTTng writes it; returns the number of bytes. */
static size_t spaces_feed_bytes(const struct wm_event *e, const char *name,
				unsigned char to[WM_MODULE_BUILD_BYTES])
{
	const struct wm_item *i = spaces_feed_field(e, name);
	size_t n = 0;

	if (!i)
		return 0;
	if (i->member->type->kind == WM_TYPE_BYTES && i->bytes) {
		n = i->count < WM_MODULE_BUILD_BYTES ? i->count : WM_MODULE_BUILD_BYTES;
		memcpy(to, i->bytes, n);
	} else if (i->member->type->kind == WM_TYPE_LIST) {
		for (uint32_t k = 1; k <= i->count && n < WM_MODULE_BUILD_BYTES; k++)
			to[n++] = (unsigned char)i[k].u;
	}
	return n;
}

static uint64_t spaces_feed_end_of(uint64_t start, uint64_t length)
{
	uint64_t end;

	return __builtin_add_overflow(start, length, &end) ? UINT64_MAX : end;
}

/* Ignores errors other than -ENOMEM: refused mappings are counted. */
static int only_memory(int err)
{
	return err == -ENOMEM ? err : 0;
}

static bool spaces_feed_begins(const char *s, size_t n, const char *with)
{
	return n >= strlen(with) && !memcmp(s, with, strlen(with));
}

static bool spaces_feed_is_name(const char *s, size_t n, const char *name)
{
	return n == strlen(name) && !memcmp(s, name, n);
}

/* ---- perf ---------------------------------------------------------------------- */

static bool is_kernel_name(const char *s, size_t n)
{
	return spaces_feed_begins(s, n, "[kernel.kallsyms]") ||
	       spaces_feed_begins(s, n, "[kernel.vmlinux]");
}

/* Adds the mapping of the kernel's text, a kernel module, or anything else in the kernel. */
static int map_kernel(struct wm_spaces *s, const struct wm_event *e, uint64_t start, uint64_t end,
		      const char *name, size_t n)
{
	struct wm_module_key k = {.path = name, .path_bytes = n, .pid = -1};
	struct wm_mapping m = {.start = start, .end = end};

	k.kind = WM_MODULE_KMODULE;
	if (is_kernel_name(name, n)) {
		k.kind = WM_MODULE_KERNEL;
		k.path_bytes = (size_t)((const char *)memchr(name, ']', n) + 1 - name);
	} else if (spaces_feed_begins(name, n, "[guest.kernel")) {
		k.kind = WM_MODULE_GUEST;
	}
	if (k.kind == WM_MODULE_KERNEL && !start && start == end)
		m.end = UINT64_MAX; /* the recorder was not allowed to see the addresses */
	m.module = wm_modules_get(wm_spaces_modules(s), &k);
	if (!m.module)
		return -ENOMEM;
	if (k.kind == WM_MODULE_KERNEL && n > k.path_bytes && !m.module->kernel->address &&
	    n - k.path_bytes < sizeof(m.module->kernel->name)) {
		memcpy(m.module->kernel->name, name + k.path_bytes, n - k.path_bytes);
		m.module->kernel->address = spaces_feed_number(e, "pgoff");
	}
	return only_memory(wm_spaces_map(s, -1, &m));
}

/* Returns the kind of a vdso: below 4 GiB it belongs to a 32-bit program. */
static enum wm_module_kind vdso_at(uint64_t start)
{
	return start <= UINT32_MAX ? WM_MODULE_VDSO32 : WM_MODULE_VDSO;
}

static enum wm_module_kind spaces_feed_kind_of(const char *name, size_t n, uint64_t start,
					       bool is_code)
{
	bool is_anon = spaces_feed_is_name(name, n, "//anon") ||
		       spaces_feed_begins(name, n, "/dev/zero") ||
		       spaces_feed_begins(name, n, "/anon_hugepage");

	if (spaces_feed_is_name(name, n, "[vdso]"))
		return vdso_at(start);
	if (is_anon || spaces_feed_begins(name, n, "[stack") ||
	    spaces_feed_begins(name, n, "/SYSV") || spaces_feed_is_name(name, n, "[heap]"))
		return is_code ? WM_MODULE_JIT : WM_MODULE_MEMORY;
	return name[0] == '[' || !n ? WM_MODULE_MEMORY : WM_MODULE_FILE;
}

static int map_user(struct wm_spaces *s, const struct wm_event *e, int32_t pid, bool is_code,
		    struct wm_mapping *m)
{
	unsigned char id[WM_MODULE_BUILD_BYTES];
	struct wm_module_key k = {.pid = pid, .build_id = id};
	char jit[32];

	spaces_feed_text(e, "filename", &k.path, &k.path_bytes);
	k.build_id_bytes = spaces_feed_bytes(e, "build_id", id);
	k.kind = spaces_feed_kind_of(k.path, k.path_bytes, m->start, is_code);
	if (k.kind == WM_MODULE_JIT) {
		k.path_bytes = (size_t)snprintf(jit, sizeof(jit), "/tmp/perf-%d.map", pid);
		k.path = jit;
	}
	/* Addresses in memory without a file are not converted. */
	m->is_offset =
	    k.kind == WM_MODULE_FILE || k.kind == WM_MODULE_VDSO || k.kind == WM_MODULE_VDSO32;
	m->base = m->is_offset ? m->start - spaces_feed_number(e, "pgoff") : 0;
	m->module = wm_modules_get(wm_spaces_modules(s), &k);
	if (!m->module || wm_spaces_map(s, pid, m) == -ENOMEM)
		return -ENOMEM;
	wm_spaces_watch(s, pid);
	return 0;
}

/*
 * Returns the mode of a mapping event. waymark's traces lack the record's header with the mode;
 * there, pid -1 is the kernel.
 */
static unsigned spaces_feed_mode_of(const struct wm_event *e)
{
	if (spaces_feed_field(e, "misc"))
		return (unsigned)spaces_feed_number(e, "misc") & MISC_MODE_MASK;
	return spaces_feed_pid_of(e, "pid") == -1 ? WM_MODE_KERNEL : WM_MODE_USER;
}

static int learn_perf_mmap(struct wm_spaces *s, const struct wm_event *e)
{
	unsigned mode = spaces_feed_mode_of(e);
	uint64_t start = spaces_feed_number(e, "addr");
	struct wm_mapping m = {.start = start,
			       .end = spaces_feed_end_of(start, spaces_feed_number(e, "len"))};
	bool is_code = spaces_feed_field(e, "prot")
			   ? spaces_feed_number(e, "prot") & PROT_EXECUTE
			   : !(spaces_feed_number(e, "misc") & MISC_MMAP_DATA);
	const char *name;
	size_t n;

	if (mode == WM_MODE_GUEST_KERNEL || mode == WM_MODE_GUEST_USER)
		return 0;
	spaces_feed_text(e, "filename", &name, &n);
	if (mode == WM_MODE_KERNEL)
		return map_kernel(s, e, m.start, m.end, name, n);
	return map_user(s, e, spaces_feed_pid_of(e, "pid"), is_code, &m);
}

static int learn_perf_comm(struct wm_spaces *s, const struct wm_event *e)
{
	if (spaces_feed_number(e, "misc") & MISC_EXEC)
		wm_spaces_exec(s, spaces_feed_pid_of(e, "pid"));
	return 0;
}

static int learn_perf_fork(struct wm_spaces *s, const struct wm_event *e)
{
	if (spaces_feed_number(e, "misc") & MISC_EXEC)
		return 0;
	return wm_spaces_fork(s, spaces_feed_pid_of(e, "ppid"), spaces_feed_pid_of(e, "pid"));
}

/*
 * Ends the process when its main thread exits, which rarely happens before the others exit; the
 * exit of another thread does not end it.
 */
static int learn_perf_exit(struct wm_spaces *s, const struct wm_event *e)
{
	if (spaces_feed_pid_of(e, "pid") == spaces_feed_pid_of(e, "tid"))
		wm_spaces_exit(s, spaces_feed_pid_of(e, "pid"));
	return 0;
}

static int learn_perf_ksymbol(struct wm_spaces *s, const struct wm_event *e)
{
	uint64_t start = spaces_feed_number(e, "addr");
	struct wm_mapping m = {.start = start,
			       .end = spaces_feed_end_of(start, spaces_feed_number(e, "len"))};
	struct wm_module_key k = {.kind = WM_MODULE_CODE, .pid = -1};

	if (spaces_feed_number(e, "flags") & KSYMBOL_REMOVED) {
		wm_spaces_unmap(s, -1, m.start, m.end);
		return 0;
	}
	spaces_feed_text(e, "name", &k.path, &k.path_bytes);
	m.base = start;
	m.module = wm_modules_get(wm_spaces_modules(s), &k);
	return m.module ? only_memory(wm_spaces_map(s, -1, &m)) : -ENOMEM;
}

/* ---- waymark --------------------------------------------------------------------- */

/*
 * Updates a process that joined the recording. Events about its modules follow; until then, a
 * forked child has its parent's mappings.
 */
static int learn_own_process(struct wm_spaces *s, const struct wm_event *e)
{
	int32_t pid = spaces_feed_pid_of(e, "pid");

	if (wm_spaces_is_watched(s, pid))
		return 0;
	wm_spaces_exec(s, pid);
	return wm_spaces_fork(s, spaces_feed_pid_of(e, "ppid"), pid);
}

static int learn_own_end(struct wm_spaces *s, const struct wm_event *e)
{
	wm_spaces_exit(s, spaces_feed_pid_of(e, "pid"));
	return 0;
}

static int map_image(struct wm_spaces *s, const struct wm_event *e, int32_t pid,
		     struct wm_mapping *m)
{
	unsigned char id[WM_MODULE_BUILD_BYTES];
	struct wm_module_key k = {.pid = pid, .build_id = id};

	spaces_feed_text(e, "path", &k.path, &k.path_bytes);
	k.build_id_bytes = spaces_feed_bytes(e, "build_id", id);
	k.kind = spaces_feed_is_name(k.path, k.path_bytes, "[vdso]") ||
			 spaces_feed_begins(k.path, k.path_bytes, "linux-vdso")
		     ? vdso_at(m->start)
		     : WM_MODULE_FILE;
	m->module = wm_modules_get(wm_spaces_modules(s), &k);
	return m->module ? only_memory(wm_spaces_map(s, pid, m)) : -ENOMEM;
}

static int learn_own_module(struct wm_spaces *s, const struct wm_event *e)
{
	uint64_t start = spaces_feed_number(e, "start");
	struct wm_mapping m = {.start = start,
			       .end = spaces_feed_end_of(start, spaces_feed_number(e, "bytes")),
			       .base = spaces_feed_number(e, "base")};

	if (spaces_feed_number(e, "unload")) {
		wm_spaces_unmap(s, spaces_feed_pid_of(e, "pid"), m.start, m.end);
		return 0;
	}
	return map_image(s, e, spaces_feed_pid_of(e, "pid"), &m);
}

/* ---- LTTng ---------------------------------------------------------------------- */

static int learn_lttng_load(struct wm_spaces *s, const struct wm_event *e)
{
	const struct wm_item *is_pic = spaces_feed_field(e, "is_pic");
	uint64_t start = spaces_feed_number(e, "baddr");
	struct wm_mapping m = {.start = start,
			       .end = spaces_feed_end_of(start, spaces_feed_number(e, "memsz"))};

	m.base = !is_pic || is_pic->u ? start : 0;
	return map_image(s, e, e->pid, &m);
}

static int learn_lttng_unload(struct wm_spaces *s, const struct wm_event *e)
{
	const struct wm_mapping *m = wm_spaces_mapping(s, e->pid, spaces_feed_number(e, "baddr"));

	if (m)
		wm_spaces_unmap(s, e->pid, m->start, m->end);
	return 0;
}

/* Sets the build-id of the library in the previous event. */
static int learn_lttng_build_id(struct wm_spaces *s, const struct wm_event *e)
{
	const struct wm_mapping *have =
	    wm_spaces_mapping(s, e->pid, spaces_feed_number(e, "baddr"));
	unsigned char id[WM_MODULE_BUILD_BYTES];
	struct wm_module_key k = {.build_id = id,
				  .build_id_bytes = spaces_feed_bytes(e, "build_id", id)};
	struct wm_mapping m;

	if (!have || !k.build_id_bytes || e->pid < 0)
		return 0;
	m = *have;
	k.kind = m.module->kind;
	k.path = m.module->path;
	k.path_bytes = strlen(k.path);
	k.pid = m.module->pid;
	m.module = wm_modules_get(wm_spaces_modules(s), &k);
	return m.module ? only_memory(wm_spaces_map(s, e->pid, &m)) : -ENOMEM;
}

/* ---- the table -------------------------------------------------------------------- */

static const struct {
	const char *name;
	int (*learn)(struct wm_spaces *s, const struct wm_event *e);
} learners[] = {
    {"perf:mmap", learn_perf_mmap},
    {"perf:mmap2", learn_perf_mmap},
    {"perf:comm", learn_perf_comm},
    {"perf:fork", learn_perf_fork},
    {"perf:exit", learn_perf_exit},
    {"perf:ksymbol", learn_perf_ksymbol},
    {"waymark:process", learn_own_process},
    {"waymark:process_end", learn_own_end},
    {"waymark:module", learn_own_module},
    {"lttng_ust_statedump:bin_info", learn_lttng_load},
    {"lttng_ust_statedump:build_id", learn_lttng_build_id},
    {"lttng_ust_lib:load", learn_lttng_load},
    {"lttng_ust_lib:build_id", learn_lttng_build_id},
    {"lttng_ust_lib:unload", learn_lttng_unload},
};
#define NR_LEARNERS (sizeof(learners) / sizeof(learners[0]))

static int (*find_learner(const struct wm_event_type *t))(struct wm_spaces *,
							  const struct wm_event *)
{
	for (size_t i = 0; i < NR_LEARNERS; i++)
		if (!strcmp(learners[i].name, t->name))
			return learners[i].learn;
	return NULL;
}

bool wm_spaces_wants(const struct wm_event_type *type)
{
	return find_learner(type) != NULL;
}

int wm_spaces_feed(struct wm_spaces *s, const struct wm_event *e)
{
	struct wm_spaces_kind *kind = wm_spaces_kinds(s);

	kind += (uintptr_t)e->type / sizeof(*e->type) % WM_SPACES_KINDS;
	if (kind->type != e->type || kind->name != e->type->name) {
		kind->type = e->type;
		kind->name = e->type->name;
		kind->learn = find_learner(e->type);
	}
	return kind->learn ? kind->learn(s, e) : 0;
}
