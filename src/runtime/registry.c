/* SPDX-License-Identifier: MIT */
/*
 * registry.c - registers loaded modules and the events to which their sites belong. Sites with the
 * same name and description, in whatever units and modules, belong to one event. Descriptions are
 * copied, so they outlive dlclose.
 */
#include <errno.h>
#include <link.h>

#include "base/atomic.h"
#include "event/provider.h"
#include "runtime/mark_int.h"
#include "runtime/registry_int.h"
#include "runtime/runtime_int.h"
#include "runtime/sys_int.h"

/*
 * A separate table instead of base/table.h, which allocates and asks the kernel for a seed. The
 * keys are the program's own events, so nobody else can choose keys that collide.
 */
#define HASH_BUCKETS 4096u
#define DESC_MAX     (1u << 20)

/* The control page's module table; a NULL entry is free. */
static struct waymark_module *control_modules[WM_CONTROL_MODULES_MAX];

const void *wm_site_pointer(const int32_t *word)
{
	return *word ? (const void *)((intptr_t)word + *word) : NULL;
}

struct waymark_event_state *wm_site_event(const struct waymark_site *site)
{
	return (struct waymark_event_state *)(uintptr_t)wm_site_pointer(&site->event);
}

/* A module's mapping. Finding it calls the loader, so never do it under the runtime's lock. */
struct where {
	uintptr_t address;
	struct wm_guest_module *ret;
	bool found;
};

static void read_notes(struct wm_guest_module *m, const unsigned char *p, size_t bytes)
{
	while (bytes >= sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *n = (const void *)p;
		size_t name = (n->n_namesz + 3u) & ~3u, size = (n->n_descsz + 3u) & ~3u;
		if (sizeof(*n) + name + size > bytes)
			return;
		if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4 &&
		    n->n_descsz <= sizeof(m->build_id)) {
			wm_mem_copy(m->build_id, p + sizeof(*n) + name, n->n_descsz);
			m->build_id_bytes = n->n_descsz;
			return;
		}
		p += sizeof(*n) + name + size;
		bytes -= sizeof(*n) + name + size;
	}
}

static void registry_set_path(struct wm_guest_module *m, const char *path)
{
	size_t n = path ? wm_str_len(path) : 0;
	if (!n) { /* an empty name means the program itself */
		long got =
		    WM_SYS_4(SYS_readlinkat, -100, "/proc/self/exe", m->path, sizeof(m->path) - 1);
		n = got > 0 ? (size_t)got : 0;
	} else {
		n = n < sizeof(m->path) ? n : sizeof(m->path) - 1;
		wm_mem_copy(m->path, path, n);
	}
	m->path[n] = 0;
}

static void find_text(struct wm_guest_module *m, const struct dl_phdr_info *info)
{
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		if (ph->p_type != PT_LOAD ||
		    (ph->p_flags & (PF_R | PF_W | PF_X)) != (PF_R | PF_X) ||
		    ph->p_memsz <= m->text_end - m->text_start)
			continue;
		m->text_start = info->dlpi_addr + ph->p_vaddr;
		m->text_end = m->text_start + ph->p_memsz;
	}
}

static int visit(struct dl_phdr_info *info, size_t bytes, void *data)
{
	struct where *w = data;
	uintptr_t start = UINTPTR_MAX, end = 0;

	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		if (ph->p_type != PT_LOAD)
			continue;
		start =
		    info->dlpi_addr + ph->p_vaddr < start ? info->dlpi_addr + ph->p_vaddr : start;
		end = info->dlpi_addr + ph->p_vaddr + ph->p_memsz > end
			  ? info->dlpi_addr + ph->p_vaddr + ph->p_memsz
			  : end;
	}
	if (w->address < start || w->address >= end)
		return 0;
	w->ret->bias = info->dlpi_addr;
	w->ret->start = start & ~(uintptr_t)4095;
	w->ret->end = end;
	find_text(w->ret, info);
	registry_set_path(w->ret, info->dlpi_name);
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		if (ph->p_type == PT_NOTE && !w->ret->build_id_bytes)
			read_notes(w->ret, (const void *)(info->dlpi_addr + ph->p_vaddr),
				   ph->p_memsz);
	}
	w->found = true;
	return 1;
}

/* ------------------------------------------------------------------ *
 * Events
 * ------------------------------------------------------------------ */

/*
 * Finds the first four strings of the description; returns false when the description is invalid.
 */
static bool registry_split(const struct waymark_desc *d, const char *text[4], size_t length[4])
{
	const char *p, *end;

	if (d->magic != WAYMARK_DESC_MAGIC || d->size > DESC_MAX ||
	    d->size < sizeof(*d) + 8ull * d->nr_values + d->text_size)
		return false;
	p = (const char *)(d + 1) + 8 * d->nr_values;
	end = p + d->text_size;
	for (int i = 0; i < 4; i++) {
		text[i] = p;
		while (p < end && *p)
			p++;
		if (p == end)
			return false;
		length[i] = (size_t)(p++ - text[i]);
	}
	return true;
}

static uint64_t registry_mix(uint64_t h, const void *p, size_t n)
{
	const unsigned char *b = p;
	while (n--)
		h = (h ^ *b++) * 0x100000001b3ull;
	return h;
}

static bool registry_same(const struct wm_event_entry *e, const struct waymark_desc *d,
			  const char *const text[4], const size_t length[4], const char *provider)
{
	const char *t[4];
	size_t n[4];

	if (!registry_split(e->desc, t, n) || e->desc->kind != d->kind ||
	    e->desc->level != d->level || e->desc->flags != d->flags ||
	    e->desc->nr_values != d->nr_values ||
	    wm_mem_differ(e->desc + 1, d + 1, 8 * d->nr_values))
		return false;
	for (int i = 0; i < 4; i++)
		if (n[i] != length[i] || wm_mem_differ(t[i], text[i], n[i]))
			return false;
	if (!length[0]) {
		size_t k = wm_str_len(provider);
		return k == e->provider_bytes && !wm_mem_differ(provider, e->provider, k);
	}
	return true;
}

static struct wm_event_entry *entry_of(const struct waymark_desc *d, const char *provider)
{
	const char *text[4];
	size_t length[4], provider_bytes;
	struct wm_event_entry *e, **bucket;
	struct waymark_desc *copy;
	char *name;
	uint64_t h = 0xcbf29ce484222325ull;

	if (!registry_split(d, text, length))
		return NULL;
	for (int i = 0; i < 4; i++)
		h = registry_mix(h, text[i], length[i] + 1);
	bucket = &wm_rt.hash[h % HASH_BUCKETS];
	for (e = *bucket; e; e = e->next_hash)
		if (e->hash == h && registry_same(e, d, text, length, provider))
			return e;
	if (wm_rt.nr_events >= WM_EVENTS_MAX)
		return NULL;
	provider_bytes = length[0] ? length[0] : wm_str_len(provider);
	e = wm_keep(sizeof(*e));
	copy = wm_keep(d->size);
	name = wm_keep(provider_bytes + 1 + length[1] + 1);
	if (!e || !copy || !name)
		return NULL;
	wm_mem_copy(copy, d, d->size);
	wm_mem_copy(name, length[0] ? text[0] : provider, provider_bytes);
	name[provider_bytes] = ':';
	wm_mem_copy(name + provider_bytes + 1, text[1], length[1] + 1);
	e->hash = h;
	e->desc = copy;
	e->provider = name;
	e->provider_bytes = (uint32_t)provider_bytes;
	e->name_bytes = (uint32_t)(provider_bytes + 1 + length[1]);
	e->word = WAYMARK_WORD_COMPLEX;
	e->next_word = WAYMARK_WORD_COMPLEX;
	if (d->flags & WAYMARK_DESC_LINKED)
		wm_link_new(e);
	e->next_hash = *bucket;
	*bucket = e;
	e->next = wm_rt.events;
	wm_rt.events = e;
	wm_rt.nr_events++;
	return e;
}

/* Adds the module's sites to the lists of their events. */
static void registry_connect(struct wm_guest_module *m)
{
	for (uint32_t i = 0; i < m->nr_sites; i++) {
		const struct waymark_site *site = &m->abi->sites[i];
		struct wm_site_ref *r = &m->ref[i];
		const struct waymark_desc *d = wm_site_pointer(&site->desc);
		r->site = site;
		r->entry = d ? entry_of(d, m->provider) : NULL;
		if (!r->entry)
			continue;
		if (d->flags & WAYMARK_DESC_LINKED) {
			r->rides = wm_site_event(site)->binding;
			wm_site_event(site)->binding = NULL;
		}
		r->next = r->entry->refs;
		if (r->next)
			r->next->link = &r->next;
		r->link = &r->entry->refs;
		r->entry->refs = r;
	}
}

static void disconnect(struct wm_guest_module *m)
{
	for (uint32_t i = 0; i < m->nr_sites; i++) {
		struct wm_site_ref *r = &m->ref[i];
		if (!r->entry)
			continue;
		*r->link = r->next;
		if (r->next)
			r->next->link = r->link;
	}
}

static void control_add(struct waymark_module *abi, struct waymark_module *was)
{
	for (uint32_t i = 0; i < WM_CONTROL_MODULES_MAX; i++) {
		if (control_modules[i] != was)
			continue;
		control_modules[i] = abi;
		if (waymark_control.nr_modules <= i)
			waymark_control.nr_modules = i + 1;
		return;
	}
}

void wm_registry_init(void)
{
	wm_rt.hash = wm_keep(HASH_BUCKETS * sizeof(*wm_rt.hash));
	waymark_control.modules = (uintptr_t)control_modules;
}

/* Fills the function table through which the module's inline code calls the runtime. */
static void registry_fill(struct waymark_module *abi)
{
	extern void wm_entry_slow(void), wm_entry_enter(void), wm_entry_gate(void),
	    wm_entry_probe(void), wm_entry_leave(void), wm_entry_put_string(void),
	    wm_entry_put_bytes(void), wm_entry_put_chars(void), wm_entry_span(void);
	abi->writer_offset = wm_guest_writer_offset();
	abi->slow = wm_entry_slow;
	abi->enter = wm_entry_enter;
	abi->gate = wm_entry_gate;
	abi->probe = wm_entry_probe;
	abi->leave = wm_entry_leave;
	abi->put_string = wm_entry_put_string;
	abi->put_bytes = wm_entry_put_bytes;
	abi->put_chars = wm_entry_put_chars;
	abi->span = wm_entry_span;
}

WM_GUEST_API int waymark_module_register(struct waymark_module *abi);
WM_GUEST_API void waymark_module_unregister(struct waymark_module *abi);

int waymark_module_register(struct waymark_module *abi)
{
	uint32_t nr = (uint32_t)(abi->sites_end - abi->sites);
	size_t bytes = sizeof(struct wm_guest_module) + nr * sizeof(struct wm_site_ref);
	struct wm_guest_module *m;
	struct where w;

	if (abi->abi != WAYMARK_ABI || !wm_runtime_ready())
		return -EOPNOTSUPP; /* the module stays dormant */
	m = wm_sys_map(bytes);
	if (!m)
		return -ENOMEM;
	m->abi = abi;
	m->bytes = bytes;
	m->nr_sites = nr;
	w = (struct where){(uintptr_t)abi, m, false};
	(void)dl_iterate_phdr(visit, &w);
	wm_provider_of_path(m->path, m->provider, sizeof(m->provider));
	abi->provider = m->provider;
	registry_fill(abi);

	wm_lock();
	registry_connect(m);
	m->next = wm_rt.modules;
	wm_rt.modules = m;
	abi->runtime = m;
	wm_store_release(&abi->state, 1);
	control_add(abi, NULL);
	wm_guest_session_module(m, false);
	wm_plan_update_module(m);
	wm_guest_session_all_synced(); /* sends the recorder the new numbers of sites and events */
	wm_unlock();
	return 0;
}

void waymark_module_unregister(struct waymark_module *abi)
{
	struct wm_guest_module *m = abi->runtime, **link;

	if (!m)
		return;
	/*
	 * Called at exit or by dlclose, which cannot be told apart here. So sites and state words
	 * stay unchanged, and at exit, when the code stays mapped, later destructors still trace.
	 */
	wm_lock();
	for (link = &wm_rt.modules; *link && *link != m; link = &(*link)->next)
		;
	if (*link)
		*link = m->next;
	wm_plan_drop_module(m);
	disconnect(m);
	wm_plan_links_lost(m);
	control_add(NULL, abi);
	abi->state = 0;
	abi->runtime = NULL;
	abi->provider = NULL;
	wm_guest_session_module(m, true);
	wm_unlock();
	(void)wm_thread_quiesce(1000); /* no thread runs the module's cold code after this */
	wm_sys_unmap(m, m->bytes);
}
