/* SPDX-License-Identifier: MIT */
/*
 * sites.c - see sites.h. The total size of the descriptions read is limited to the length of the
 * file: in a valid file, they do not overlap.
 */
#include "elf/sites.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <waymark/abi.h>

#include "base/array.h"

static_assert(sizeof(struct waymark_site) == 16, "four 32-bit words");
static_assert(sizeof(struct waymark_desc) == 32, "the fixed part of a description");

struct reader {
	const struct wm_elf *elf;
	const struct wm_elf_section *section;
	struct waymark_site *table;
	struct wm_elf_sites out;
	struct wm_elf_event *seen;    /* one per entry of the table; later sorted and merged */
	size_t desc_bytes, desc_room; /* used and allocated bytes of out.descs */
	struct wm_diag *diag;
};

/* The address that a word of entry i points to; 0 when the word is zero. */
static uint64_t sites_follow(const struct reader *r, uint32_t i, size_t member, int32_t word)
{
	if (!word)
		return 0;
	return r->section->address + (uint64_t)i * sizeof(struct waymark_site) + member +
	       (uint64_t)(int64_t)word;
}

static void bad_entry(struct reader *r, uint32_t i, const char *what)
{
	if (!r->out.nr_bad++)
		(void)wm_diag_set(r->diag, -EBADMSG, r->elf->name,
				  (int64_t)(r->section->offset + (uint64_t)i * sizeof(*r->table)),
				  "site %" PRIu32 ": %s", i, what);
}

static bool take_entry(struct reader *r, uint32_t i)
{
	const struct waymark_site *w = &r->table[i];
	struct wm_elf_site *site = &r->out.sites[r->out.nr_sites];
	struct wm_elf_event *event = &r->seen[r->out.nr_sites];

	*site = (struct wm_elf_site){
	    .insn = sites_follow(r, i, offsetof(struct waymark_site, insn), w->insn),
	    .target = sites_follow(r, i, offsetof(struct waymark_site, target), w->target),
	};
	*event = (struct wm_elf_event){
	    .desc_address = sites_follow(r, i, offsetof(struct waymark_site, desc), w->desc),
	    .state_address = sites_follow(r, i, offsetof(struct waymark_site, event), w->event),
	};
	if (!event->desc_address || !event->state_address)
		bad_entry(r, i, "its description or its state is not in the file");
	else if (!site->insn != !site->target)
		bad_entry(r, i, "it has only one of instruction and target");
	else if (site->insn && wm_elf_offset(r->elf, site->insn, 4, &site->insn_offset) < 0)
		bad_entry(r, i, "its instruction is not in the file");
	else
		return true;
	return false;
}

static int by_description(const void *a, const void *b)
{
	const struct wm_elf_event *x = a, *y = b;

	if (x->desc_address != y->desc_address)
		return x->desc_address < y->desc_address ? -1 : 1;
	if (x->state_address != y->state_address)
		return x->state_address < y->state_address ? -1 : 1;
	return 0;
}

/* Returns space after the descriptions read so far, or NULL when out of memory. */
static unsigned char *desc_room(struct reader *r, size_t bytes)
{
	if (WM_ARRAY_GROW(r->out.descs, r->desc_room, r->desc_bytes + bytes))
		return NULL;
	return r->out.descs + r->desc_bytes;
}

/*
 * Reads a description and appends it; desc_bytes stays 0 when it cannot be
 * read. Returns 0 or -ENOMEM.
 */
static int take_description(struct reader *r, struct wm_elf_event *event)
{
	struct waymark_desc head;
	unsigned char *room;
	uint64_t offset;

	if (wm_elf_offset(r->elf, event->desc_address, sizeof(head), &offset) < 0 ||
	    wm_elf_read(r->elf, offset, &head, sizeof(head), NULL) < 0)
		return 0;
	if (head.magic != WAYMARK_DESC_MAGIC || head.size < sizeof(head) ||
	    head.size > WM_SITES_DESC_MAX || head.size > r->elf->bytes - r->desc_bytes ||
	    wm_elf_offset(r->elf, event->desc_address, head.size, &offset) < 0)
		return 0;
	room = desc_room(r, head.size);
	if (!room)
		return -ENOMEM;
	if (wm_elf_read(r->elf, offset, room, head.size, NULL) < 0)
		return 0;
	event->desc_bytes = head.size;
	r->desc_bytes += head.size;
	return 0;
}

/* Builds the distinct events of seen[], with their descriptions; bad ones keep desc NULL. */
static int unite_events(struct reader *r)
{
	struct wm_elf_event *to = r->out.events;
	size_t at = 0;

	memcpy(to, r->seen, r->out.nr_sites * sizeof(*to));
	qsort(to, r->out.nr_sites, sizeof(*to), by_description);
	for (uint32_t i = 0; i < r->out.nr_sites; i++) {
		if (r->out.nr_events && !by_description(&to[i], &to[r->out.nr_events - 1]))
			continue;
		to[r->out.nr_events] = to[i];
		if (take_description(r, &to[r->out.nr_events++]) < 0)
			return -ENOMEM;
	}
	/* From here on, the buffer does not move. */
	for (uint32_t i = 0; i < r->out.nr_events; i++) {
		to[i].desc = to[i].desc_bytes ? r->out.descs + at : NULL;
		at += to[i].desc_bytes;
	}
	return 0;
}

static uint32_t sites_find_event(const struct reader *r, const struct wm_elf_event *wanted)
{
	const struct wm_elf_event *found =
	    bsearch(wanted, r->out.events, r->out.nr_events, sizeof(*found), by_description);

	/* Always found, because unite_events() added it. */
	return (uint32_t)(found - r->out.events);
}

/* Counts the sites of each event and drops those without a description. */
static void count_sites(struct reader *r)
{
	uint32_t kept = 0, nr_events = 0, *renumbered;

	for (uint32_t i = 0; i < r->out.nr_sites; i++) {
		uint32_t at = sites_find_event(r, &r->seen[i]);

		if (!r->out.events[at].desc) {
			bad_entry(r, i, "the description is damaged or not in the file");
			continue;
		}
		r->out.events[at].nr_sites++;
		r->out.sites[kept] = r->out.sites[i];
		r->out.sites[kept++].event = at;
	}
	r->out.nr_sites = kept;
	renumbered = (uint32_t *)r->seen; /* reuses memory that is no longer needed and is larger */
	for (uint32_t i = 0; i < r->out.nr_events; i++) {
		renumbered[i] = nr_events;
		if (r->out.events[i].desc)
			r->out.events[nr_events++] = r->out.events[i];
	}
	r->out.nr_events = nr_events;
	for (uint32_t i = 0; i < kept; i++)
		r->out.sites[i].event = renumbered[r->out.sites[i].event];
}

static int sites_read_table(struct reader *r)
{
	uint32_t nr = (uint32_t)(r->section->bytes / sizeof(*r->table));
	int err = wm_elf_read_new(r->elf, r->section->offset, r->section->bytes, SIZE_MAX,
				  (void **)&r->table, r->diag);

	if (err < 0)
		return err;
	r->out.sites = calloc(nr, sizeof(*r->out.sites));
	r->out.events = calloc(nr, sizeof(*r->out.events));
	r->seen = calloc(nr, sizeof(*r->seen));
	if (!r->out.sites || !r->out.events || !r->seen)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++)
		r->out.nr_sites += take_entry(r, i);
	err = unite_events(r);
	if (!err)
		count_sites(r);
	return err;
}

/* Whether a table should be read: returns 1, 0 or a negative errno. */
static int check_table(const struct wm_elf *e, const struct wm_elf_section *s, struct wm_diag *diag)
{
	if (e->type == ET_REL)
		return wm_diag_set(diag, -ENOEXEC, e->name, -1,
				   "an object file: its events are known once it is linked");
	if (e->narrow)
		return s ? wm_diag_set(
			       diag, -ENOEXEC, e->name, -1,
			       "a 32-bit program with tracepoints: events can be recorded from "
			       "64-bit programs only")
			 : 0;
	if (!e->nr_sections)
		return wm_diag_set(diag, -ENODATA, e->name, -1,
				   "its section headers were stripped: list a running process "
				   "of this program with -p");
	if (!s || !s->bytes)
		return 0;
	if (s->type == SHT_NOBITS)
		return wm_diag_set(diag, -ENODATA, e->name, -1,
				   "it has only debug information: name the program itself");
	if (s->bytes % sizeof(struct waymark_site) ||
	    s->bytes / sizeof(struct waymark_site) > WM_SITES_MAX)
		return wm_diag_set(diag, -EBADMSG, e->name, (int64_t)s->offset,
				   "section " WM_SITES_SECTION " has an invalid size: %" PRIu64,
				   s->bytes);
	return 1;
}

int wm_elf_sites_read(const struct wm_elf *e, struct wm_elf_sites *ret_sites, struct wm_diag *diag)
{
	struct reader r = {.elf = e, .section = wm_elf_section(e, WM_SITES_SECTION), .diag = diag};
	int err = check_table(e, r.section, diag);

	if (err > 0) {
		err = sites_read_table(&r);
		free(r.table);
		free(r.seen);
	}
	if (err < 0) {
		wm_elf_sites_done(&r.out);
		return err;
	}
	*ret_sites = r.out;
	return 0;
}

void wm_elf_sites_done(struct wm_elf_sites *s)
{
	free(s->sites);
	free(s->events);
	free(s->descs);
	*s = (struct wm_elf_sites){0};
}
