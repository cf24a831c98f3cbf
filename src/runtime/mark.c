/* SPDX-License-Identifier: MIT */
/*
 * mark.c - markers and spans: callbacks by name and format, whose arguments are decoded according
 * to the description, and markers that are linked to typed events. probe.c has the part common to
 * all callbacks; span.c has the span ids.
 */
#include <errno.h>
#include <waymark/mark.h>
#include <waymark/span.h>

#include "base/atomic.h"
#include "runtime/mark_int.h"
#include "runtime/runtime_int.h"
#include "runtime/sys_int.h"

#define ARGS_MAX 32u

static struct wm_event_entry *linked; /* newest first */

enum wm_probe_kind wm_guest_probe_kind_of(uint8_t desc_kind)
{
	switch (desc_kind) {
	case WAYMARK_KIND_MARKER:
		return WM_PROBE_MARK;
	case WAYMARK_KIND_SPAN_BEGIN:
	case WAYMARK_KIND_SPAN_END:
		return WM_PROBE_SPAN;
	default:
		return WM_PROBE_TYPED;
	}
}

bool wm_mark_callbacks(const struct waymark_desc *d)
{
	return wm_guest_probe_kind_of(d->kind) != WM_PROBE_TYPED;
}

static const char *mark_text(const struct waymark_desc *d, int i)
{
	const char *p = (const char *)(d + 1) + 8 * d->nr_values;

	while (i-- > 0)
		p += wm_str_len(p) + 1;
	return p;
}

static const char *mark_desc_name(const struct waymark_desc *d)
{
	return mark_text(d, 1);
}

const char *wm_mark_desc_format(const struct waymark_desc *d)
{
	return mark_text(d, 3);
}

/* ------------------------------------------------------------------ *
 * Callbacks
 * ------------------------------------------------------------------ */

static unsigned mark_decode(const struct waymark_desc *d, const unsigned char *slots,
			    struct waymark_mark_arg *ret)
{
	const int64_t *type = (const int64_t *)(const void *)(d + 1);
	unsigned n;

	for (n = 0; n < d->nr_values && n < ARGS_MAX && type[n]; n++) {
		ret[n] = (struct waymark_mark_arg){.letter = (char)(type[n] >> 8),
						   .bytes = (uint8_t)type[n]};
		if (ret[n].letter == 's')
			ret[n].bytes = sizeof(char *);
		wm_mem_copy(&ret[n].value, slots + 8 * n, 8);
	}
	return n;
}

/* A span's slots are its id and its parent's id. */
static void run_span(const struct wm_plan *plan, const unsigned char *slots)
{
	const char *name = mark_desc_name(plan->mark);
	uint64_t id[2];

	wm_mem_copy(id, slots, sizeof(id));
	for (uint32_t i = 0; i < plan->nr_probes; i++)
		((waymark_span_callback)plan->probe[i].fn)(plan->probe[i].data, plan->mark->kind,
							   name, id[0], id[1]);
}

static void run_mark(const struct wm_plan *plan, const unsigned char *slots)
{
	const char *format = wm_mark_desc_format(plan->mark);
	struct waymark_mark_arg args[ARGS_MAX];
	unsigned nr = mark_decode(plan->mark, slots, args);

	for (uint32_t i = 0; i < plan->nr_probes; i++)
		((waymark_mark_callback)plan->probe[i].fn)(plan->probe[i].data, format, args, nr);
}

void wm_mark_run(const struct wm_plan *plan, const unsigned char *slots)
{
	if (wm_guest_probe_kind_of(plan->mark->kind) == WM_PROBE_SPAN)
		run_span(plan, slots);
	else
		run_mark(plan, slots);
}

bool wm_mark_name(const struct waymark_module *module, const char *provider, const char **name,
		  char own[WM_PROVIDER_MAX], const char **ret_provider)
{
	size_t n = 0;

	while ((*name)[n] && (*name)[n] != ':')
		n++;
	if ((*name)[n]) {
		if (n >= WM_PROVIDER_MAX)
			return false;
		wm_mem_copy(own, *name, n);
		own[n] = 0;
		*ret_provider = own;
		*name += n + 1;
		return true;
	}
	if (!*provider) {
		const struct wm_guest_module *m = module ? module->runtime : NULL;
		if (!m)
			return false;
		provider = m->provider;
	}
	*ret_provider = provider;
	return true;
}

WM_GUEST_API int waymark_mark_add(struct waymark_module *module, const char *provider,
				  const char *name, const char *format,
				  waymark_mark_callback callback, void *private_data);
WM_GUEST_API int waymark_mark_remove(struct waymark_module *module, const char *provider,
				     const char *name, const char *format,
				     waymark_mark_callback callback, void *private_data);

int waymark_mark_add(struct waymark_module *module, const char *provider, const char *name,
		     const char *format, waymark_mark_callback callback, void *private_data)
{
	char own[WM_PROVIDER_MAX];

	if (!name || !format || !wm_mark_name(module, provider, &name, own, &provider))
		return -EINVAL;
	return wm_guest_probe_connect(WM_PROBE_MARK, provider, name, format,
				      (void (*)(void))callback, private_data);
}

int waymark_mark_remove(struct waymark_module *module, const char *provider, const char *name,
			const char *format, waymark_mark_callback callback, void *private_data)
{
	char own[WM_PROVIDER_MAX];

	if (!name || !format || !wm_mark_name(module, provider, &name, own, &provider))
		return -EINVAL;
	return wm_guest_probe_disconnect(WM_PROBE_MARK, provider, name, format,
					 (void (*)(void))callback, private_data);
}

/* ------------------------------------------------------------------ *
 * Linked markers
 * ------------------------------------------------------------------ */

void wm_link_new(struct wm_event_entry *e)
{
	e->next_linked = linked;
	linked = e;
}

struct wm_event_entry *wm_link_first(void)
{
	return linked;
}

/*
 * Returns the link from the first loaded table entry that has one; NULL when all modules with one
 * are unloaded.
 */
static const struct waymark_link *link_of(const struct wm_event_entry *e)
{
	for (const struct wm_site_ref *r = e->refs; r; r = r->next)
		if (r->rides)
			return r->rides;
	return NULL;
}

static bool carries(const struct wm_event_entry *e, const struct waymark_link *link)
{
	return !wm_mark_callbacks(e->desc) && wm_str_len(link->carrier) == e->name_bytes &&
	       !wm_mem_differ(link->carrier, e->provider, e->name_bytes);
}

/*
 * Whether linked marker l is linked to typed event e. Once its last module is unloaded, l has no
 * link to compare with; then every typed event counts as linked.
 */
bool wm_link_rides(const struct wm_event_entry *l, const struct wm_event_entry *carrier)
{
	const struct waymark_link *link = link_of(l);

	if (!link)
		return carrier->plan && carrier->plan->nr_probes && !carrier->plan->mark;
	return carries(carrier, link);
}

uint32_t wm_link_fill(const struct wm_event_entry *carrier, struct wm_probe *ret, uint32_t most)
{
	uint32_t n = 0;

	for (const struct wm_event_entry *l = linked; l && n < most; l = l->next_linked) {
		const struct waymark_link *link = link_of(l);
		if (!link || l->next_word == WAYMARK_WORD_COMPLEX || !carries(carrier, link))
			continue;
		ret[n].fn = link->probe;
		ret[n].data = NULL;
		n++;
	}
	return n;
}
