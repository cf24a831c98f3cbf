/* SPDX-License-Identifier: MIT */
/*
 * probe.c - in-process callbacks for events, by name. They may be registered before or after the
 * module with the event is loaded; an event may have several. Tracing threads run them without
 * waiting. Prototypes are compared as text, so that a module that disagrees about an event's
 * arguments is refused instead of crashing.
 */
#include <errno.h>

#include "base/atomic.h"
#include "runtime/mark_int.h"
#include "runtime/runtime_int.h"
#include "runtime/sys_int.h"

struct wm_registration {
	struct wm_registration *next;
	uint64_t prototype; /* hash of the prototype's text, or of a marker's format */
	void (*fn)(void);
	void *data;
	uint32_t bytes;
	enum wm_probe_kind kind;
	bool live;
	char name[256]; /* provider:name */
};

static uint64_t hash_text(const char *s)
{
	uint64_t h = 0xcbf29ce484222325ull;
	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 0x100000001b3ull;
	return h;
}

/* Writes "provider:name" to to[256]; returns its length, or 0 if it is too long. */
static uint32_t probe_join_name(char *to, const char *provider, const char *name)
{
	size_t a = wm_str_len(provider), b = wm_str_len(name);
	if (a + b + 2 > 256)
		return 0;
	wm_mem_copy(to, provider, a);
	to[a] = ':';
	wm_mem_copy(to + a + 1, name, b + 1);
	return (uint32_t)(a + 1 + b);
}

uint32_t wm_guest_probe_fill(const struct wm_event_entry *e, struct wm_probe *ret, uint32_t most)
{
	enum wm_probe_kind kind = wm_guest_probe_kind_of(e->desc->kind);
	uint64_t format = kind == WM_PROBE_MARK ? hash_text(wm_mark_desc_format(e->desc)) : 0;
	uint32_t n = 0;

	for (const struct wm_registration *r = wm_rt.probes; r && n < most; r = r->next) {
		if (!r->live || r->kind != kind || r->bytes != e->name_bytes ||
		    wm_mem_differ(r->name, e->provider, r->bytes))
			continue;
		if (kind == WM_PROBE_MARK && r->prototype != format)
			continue;
		ret[n].fn = r->fn;
		ret[n].data = r->data;
		n++;
	}
	return n;
}

static void update(const char *name, uint32_t bytes)
{
	for (struct wm_event_entry *e = wm_rt.events; e; e = e->next)
		if (e->name_bytes == bytes && !wm_mem_differ(e->provider, name, bytes))
			wm_plan_update_event(e);
}

WM_GUEST_API int waymark_probe_add(const char *provider, const char *name, const char *prototype,
				   void (*fn)(void), void *private_data);
WM_GUEST_API int waymark_probe_remove(const char *provider, const char *name, void (*fn)(void),
				      void *private_data);
WM_GUEST_API void waymark_rt_synchronize(void);

/* Whether markers with this name exist but none has this format. */
static bool other_format(const struct wm_registration *wanted)
{
	bool other = false;

	for (const struct wm_event_entry *e = wm_rt.events; e; e = e->next) {
		if (e->name_bytes != wanted->bytes || e->desc->kind != WAYMARK_KIND_MARKER ||
		    !e->refs || wm_mem_differ(e->provider, wanted->name, wanted->bytes))
			continue;
		if (hash_text(wm_mark_desc_format(e->desc)) == wanted->prototype)
			return false;
		other = true;
	}
	return other;
}

/*
 * Finds a free registration to reuse, or NULL; counts those with the same name; returns -EPERM when
 * one has a different prototype.
 */
static int look_around(const struct wm_registration *wanted, struct wm_registration **ret_free,
		       uint32_t *ret_same)
{
	*ret_free = NULL;
	*ret_same = 0;
	for (struct wm_registration *r = wm_rt.probes; r; r = r->next) {
		if (!r->live) {
			*ret_free = r;
		} else if (r->kind == wanted->kind && r->bytes == wanted->bytes &&
			   !wm_mem_differ(r->name, wanted->name, r->bytes)) {
			if (r->prototype != wanted->prototype)
				return -1; /* EPERM: another module declares it differently */
			++*ret_same;
		}
	}
	return wanted->kind == WM_PROBE_MARK && other_format(wanted) ? -1 : 0;
}

static int probe_connect(struct wm_registration *wanted)
{
	struct wm_registration *r;
	uint32_t same;
	int err = look_around(wanted, &r, &same);

	if (err)
		return err;
	if (same >= WM_PROBES_MAX)
		return -ENOMEM;
	if (r) {
		wanted->next = r->next;
		*r = *wanted;
	} else {
		r = wm_keep(sizeof(*r));
		if (!r)
			return -ENOMEM;
		wanted->next = wm_rt.probes;
		*r = *wanted;
		wm_rt.probes = r;
	}
	update(r->name, r->bytes);
	return 0;
}

static bool probe_fill(struct wm_registration *r, enum wm_probe_kind kind, const char *provider,
		       const char *name, const char *prototype, void (*fn)(void), void *data)
{
	r->bytes = probe_join_name(r->name, provider, name);
	r->prototype = hash_text(prototype);
	r->kind = kind;
	r->fn = fn;
	r->data = data;
	r->live = true;
	return r->bytes && fn && wm_runtime_ready();
}

int wm_guest_probe_connect(enum wm_probe_kind kind, const char *provider, const char *name,
			   const char *prototype, void (*fn)(void), void *data)
{
	struct wm_registration wanted;
	int err;

	if (!probe_fill(&wanted, kind, provider, name, prototype, fn, data))
		return -EINVAL;
	wm_lock();
	err = probe_connect(&wanted);
	wm_unlock();
	return err;
}

int wm_guest_probe_disconnect(enum wm_probe_kind kind, const char *provider, const char *name,
			      const char *prototype, void (*fn)(void), void *data)
{
	struct wm_registration gone, *r;
	int ret = -ENOENT;

	if (!probe_fill(&gone, kind, provider, name, prototype, fn, data))
		return -EINVAL;
	wm_lock();
	for (r = wm_rt.probes; r; r = r->next)
		if (r->live && r->kind == kind && r->fn == fn && r->data == data &&
		    r->bytes == gone.bytes && !wm_mem_differ(r->name, gone.name, gone.bytes) &&
		    (kind != WM_PROBE_MARK || r->prototype == gone.prototype))
			break;
	if (r) {
		r->live = false;
		update(gone.name, gone.bytes);
		ret = 0;
	}
	wm_unlock();
	return ret;
}

int waymark_probe_add(const char *provider, const char *name, const char *prototype,
		      void (*fn)(void), void *private_data)
{
	return wm_guest_probe_connect(WM_PROBE_TYPED, provider, name, prototype, fn, private_data);
}

int waymark_probe_remove(const char *provider, const char *name, void (*fn)(void),
			 void *private_data)
{
	return wm_guest_probe_disconnect(WM_PROBE_TYPED, provider, name, "", fn, private_data);
}

void waymark_rt_synchronize(void)
{
	while (!wm_thread_quiesce(1000))
		;
}
