/* SPDX-License-Identifier: MIT */
/*
 * probe.c - in-process callbacks on events, by name: registered before or
 * after the module with the event is loaded, several per event, wait-free for
 * the threads that trace. The prototype's text is compared, so that modules
 * that disagree about an event's arguments are refused, not crashed.
 */
#include "base/atomic.h"
#include "runtime/runtime.h"
#include "runtime/sys.h"

struct wm_registration {
	struct wm_registration *next;
	uint64_t prototype; /* hash of its text */
	void (*fn)(void);
	void *data;
	uint32_t bytes;
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

/* "provider:name" into to[256]; its length, or 0 when it is too long. */
static uint32_t join_name(char *to, const char *provider, const char *name)
{
	size_t a = wm_str_len(provider), b = wm_str_len(name);
	if (a + b + 2 > 256)
		return 0;
	wm_mem_copy(to, provider, a);
	to[a] = ':';
	wm_mem_copy(to + a + 1, name, b + 1);
	return (uint32_t)(a + 1 + b);
}

uint32_t wm_probe_fill(const struct wm_event_entry *e, struct wm_probe *ret, uint32_t most)
{
	uint32_t n = 0;
	for (const struct wm_registration *r = wm_rt.probes; r && n < most; r = r->next) {
		if (!r->live || r->bytes != e->name_bytes ||
		    wm_mem_differ(r->name, e->provider, r->bytes))
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

WM_API int waymark_probe_add(const char *provider, const char *name, const char *prototype,
			     void (*fn)(void), void *private_data);
WM_API int waymark_probe_remove(const char *provider, const char *name, void (*fn)(void),
				void *private_data);
WM_API void waymark_rt_synchronize(void);

int waymark_probe_add(const char *provider, const char *name, const char *prototype,
		      void (*fn)(void), void *private_data)
{
	struct wm_registration *r, *reuse = NULL, wanted = {0};
	uint32_t same = 0;

	wanted.bytes = join_name(wanted.name, provider, name);
	wanted.prototype = hash_text(prototype);
	wanted.fn = fn;
	wanted.data = private_data;
	wanted.live = true;
	if (!wanted.bytes || !fn || !wm_runtime_ready())
		return -22; /* EINVAL */
	wm_lock();
	for (r = wm_rt.probes; r; r = r->next) {
		if (!r->live) {
			reuse = r;
		} else if (r->bytes == wanted.bytes &&
			   !wm_mem_differ(r->name, wanted.name, r->bytes)) {
			if (r->prototype != wanted.prototype) {
				wm_unlock();
				return -1; /* EPERM: another module declares it otherwise */
			}
			same++;
		}
	}
	r = reuse ? reuse : wm_keep(sizeof(*r));
	if (!r || same >= WM_PROBES_MAX) {
		wm_unlock();
		return -12;
	}
	wanted.next = reuse ? r->next : wm_rt.probes;
	*r = wanted;
	if (!reuse)
		wm_rt.probes = r;
	update(r->name, r->bytes);
	wm_unlock();
	return 0;
}

int waymark_probe_remove(const char *provider, const char *name, void (*fn)(void),
			 void *private_data)
{
	char full[256];
	uint32_t bytes = join_name(full, provider, name);
	int ret = -2; /* ENOENT */

	wm_lock();
	for (struct wm_registration *r = wm_rt.probes; r && bytes; r = r->next) {
		if (!r->live || r->fn != fn || r->data != private_data || r->bytes != bytes ||
		    wm_mem_differ(r->name, full, bytes))
			continue;
		r->live = false;
		update(full, bytes);
		ret = 0;
		break;
	}
	wm_unlock();
	return ret;
}

void waymark_rt_synchronize(void)
{
	while (!wm_thread_quiesce(1000))
		;
}
