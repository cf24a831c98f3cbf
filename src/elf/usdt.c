/* SPDX-License-Identifier: MIT */
/*
 * usdt.c - see usdt.h. The strings of all notes are copied into one block. They are referred to by
 * offset until all notes have been read, because the block moves as it grows.
 */
#include "elf/usdt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"

#define NOTE_TYPE 3u

/* A note whose strings are still offsets. */
struct raw {
	size_t provider, name, operands; /* offsets in the text block */
	uint64_t address, base, semaphore;
};

struct reading {
	struct raw *raws;
	size_t nr, room;
	uint32_t nr_bad;
	uint32_t address_bytes; /* size of an address in this ELF class */
	struct wm_text text;
};

static struct raw *new_raw(struct reading *r)
{
	return WM_ARRAY_GROW(r->raws, r->room, r->nr + 1) ? NULL : &r->raws[r->nr];
}

/* Copies a string that must end before `end`; returns false when it does not. */
static bool take_string(struct reading *r, const unsigned char **at, const unsigned char *end,
			size_t *ret_offset)
{
	const unsigned char *nul = memchr(*at, 0, (size_t)(end - *at));

	if (!nul)
		return false;
	*ret_offset = r->text.bytes;
	wm_text_add(&r->text, *at, (size_t)(nul - *at) + 1);
	*at = nul + 1;
	return true;
}

static int on_note(const struct wm_elf_note *note, void *data)
{
	struct reading *r = data;
	const unsigned char *at = note->desc + 3 * (size_t)r->address_bytes;
	const unsigned char *end = note->desc + note->desc_bytes;
	struct raw *raw;
	uint64_t words[3] = {0};

	if (note->type != NOTE_TYPE || strcmp(note->owner, "stapsdt"))
		return 0;
	if (r->nr >= WM_ELF_USDT_MAX)
		return -EFBIG;
	raw = new_raw(r);
	if (!raw)
		return -ENOMEM;
	if (note->desc_bytes < 3 * r->address_bytes) {
		r->nr_bad++;
		return 0;
	}
	for (unsigned i = 0; i < 3; i++)
		memcpy(&words[i], note->desc + i * r->address_bytes, r->address_bytes);
	raw->address = words[0];
	raw->base = words[1];
	raw->semaphore = words[2];
	if (take_string(r, &at, end, &raw->provider) && take_string(r, &at, end, &raw->name) &&
	    take_string(r, &at, end, &raw->operands))
		r->nr++;
	else
		r->nr_bad++;
	return r->text.failed ? -ENOMEM : 0;
}

static int usdt_by_name(const void *a, const void *b)
{
	const struct wm_elf_usdt *x = a, *y = b;
	int order = strcmp(x->provider, y->provider);

	if (!order)
		order = strcmp(x->name, y->name);
	return order ? order : (x->address > y->address) - (x->address < y->address);
}

/* The value to add to the notes' addresses, which prelink(8) does not update. */
static uint64_t usdt_moved(const struct wm_elf *e, const struct raw *raw)
{
	const struct wm_elf_section *base = wm_elf_section(e, ".stapsdt.base");

	return base && raw->base ? base->address - raw->base : 0;
}

static int usdt_finish(const struct wm_elf *e, struct reading *r, struct wm_elf_usdts *ret)
{
	ret->probes = calloc(r->nr + 1, sizeof(*ret->probes));
	if (!ret->probes)
		return -ENOMEM;
	for (size_t i = 0; i < r->nr; i++) {
		const struct raw *raw = &r->raws[i];
		struct wm_elf_usdt *p = &ret->probes[ret->nr];

		p->provider = r->text.data + raw->provider;
		p->name = r->text.data + raw->name;
		p->operands = r->text.data + raw->operands;
		p->address = raw->address + usdt_moved(e, raw);
		p->semaphore = raw->semaphore ? raw->semaphore + usdt_moved(e, raw) : 0;
		if (wm_elf_offset(e, p->address, 1, &p->offset) < 0 || !*p->name) {
			ret->nr_bad++;
			continue;
		}
		if (p->semaphore &&
		    wm_elf_offset(e, p->semaphore, sizeof(uint16_t), &p->semaphore_offset) < 0)
			p->semaphore_offset = 0;
		ret->nr++;
	}
	ret->nr_bad += r->nr_bad;
	ret->text = r->text.data;
	qsort(ret->probes, ret->nr, sizeof(*ret->probes), usdt_by_name);
	return 0;
}

int wm_elf_usdts_read(const struct wm_elf *e, struct wm_elf_usdts *ret, struct wm_diag *diag)
{
	const struct wm_elf_section *section = wm_elf_section(e, ".note.stapsdt");
	struct wm_elf_usdts usdts = {0};
	struct reading r = {.address_bytes = e->narrow ? 4 : 8};
	int err = 0;

	wm_text_init(&r.text);
	if (section && section->type != SHT_NOBITS)
		err = wm_elf_notes(e, section->offset, section->bytes, 4, on_note, &r);
	if (err == 0)
		err = usdt_finish(e, &r, &usdts);
	free(r.raws);
	if (err < 0) {
		wm_text_done(&r.text);
		if (err == -ENOMEM)
			return err;
		return wm_diag_set(diag, err, e->name, section ? (int64_t)section->offset : -1,
				   "the section .note.stapsdt is %s",
				   err == -EFBIG ? "too big" : "damaged");
	}
	*ret = usdts;
	return 0;
}

void wm_elf_usdts_done(struct wm_elf_usdts *u)
{
	free(u->probes);
	free(u->text);
	*u = (struct wm_elf_usdts){0};
}

unsigned wm_elf_usdt_nr_operands(const struct wm_elf_usdt *u)
{
	unsigned nr = 0;

	for (const char *p = u->operands; *p;) {
		p += strspn(p, " ");
		nr += *p != '\0';
		p += strcspn(p, " ");
	}
	return nr;
}
