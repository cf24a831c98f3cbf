/* SPDX-License-Identifier: MIT */
/* chrome_samples.c - see chrome_samples.h. */
#include "export/timeline/chrome_samples.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "view/value_text.h"

#define FRAMES_MAX 1024u /* frames of one chain */

/*
 * A frame is identified by its caller, its function and its file: all addresses in a function are
 * one frame.
 */
struct wm_chrome_frame {
	uint32_t parent;       /* number of a frame; 0: none */
	uint32_t symbol, file; /* ids of names; the file's is 0 when unknown */
};

/* Adds a frame to the chain of the current sample; 0 or -ENOMEM. */
static int chrome_add_place(void *own, const struct wm_named_place *n)
{
	struct wm_chrome_samples *s = own;
	struct wm_chrome_frame *f = &s->chain[s->nr_chain];
	const char *symbol = n->symbol;
	char address[24];

	if (s->nr_chain == FRAMES_MAX)
		return 0;
	if (!symbol) {
		(void)snprintf(address, sizeof(address), "0x%llx", (unsigned long long)n->address);
		symbol = address;
	}
	f->symbol = wm_names_id(&s->names, symbol, strlen(symbol));
	f->file = n->file ? wm_names_id(&s->names, n->file, strlen(n->file)) : 0;
	if (f->symbol == WM_NAMES_NONE || f->file == WM_NAMES_NONE)
		return -ENOMEM;
	s->nr_chain++;
	return 0;
}

static void chrome_put_frame(struct wm_chrome_samples *s, uint32_t number,
			     const struct wm_chrome_frame *f)
{
	struct wm_text *t = &s->stack_frames;

	wm_text_f(t, "%s\n\"%u\":{\"name\":", t->bytes ? "," : "", number);
	wm_view_json_string(t, s->names.texts[f->symbol], s->names.bytes[f->symbol]);
	if (f->file) {
		wm_text_str(t, ",\"category\":");
		wm_view_json_string(t, s->names.texts[f->file], s->names.bytes[f->file]);
	}
	if (f->parent)
		wm_text_f(t, ",\"parent\":\"%u\"", f->parent);
	wm_text_char(t, '}');
}

/* Returns the number of a frame, which is written when first used in the file; 0: out of memory. */
static uint32_t frame_number(struct wm_chrome_samples *s, const struct wm_chrome_frame *f)
{
	uint64_t key = wm_mix((uint64_t)f->symbol << 32 | f->file, f->parent);
	uint64_t hash = wm_table_hash(&s->table, key);
	struct wm_table_walk w = wm_table_walk(hash);

	while (wm_table_next(&s->table, &w))
		if (!memcmp(&s->frames[w.index], f, sizeof(*f)))
			return w.index + 1;
	if (WM_ARRAY_GROW(s->frames, s->room_frames, (size_t)s->nr_frames + 1) ||
	    wm_table_add(&s->table, hash, s->nr_frames))
		return 0;
	s->frames[s->nr_frames++] = *f;
	chrome_put_frame(s, s->nr_frames, f);
	return s->nr_frames;
}

/* Sets *ret_leaf to the number of the chain's innermost frame; 0: the chain is empty. */
static int find_leaf(struct wm_chrome_samples *s, uint32_t *ret_leaf)
{
	uint32_t leaf = 0;

	for (uint32_t i = s->nr_chain; i--;) {
		s->chain[i].parent = leaf;
		leaf = frame_number(s, &s->chain[i]);
		if (!leaf)
			return -ENOMEM;
	}
	*ret_leaf = leaf;
	return 0;
}

int wm_chrome_samples_add(struct wm_chrome_samples *s, uint32_t trace, const struct wm_event *e,
			  const struct wm_chrome_sample *where)
{
	struct wm_text *t = &s->samples;
	uint32_t leaf = 0;
	int err;

	s->nr_chain = 0;
	err = wm_sampled_chain(&s->sampled, trace, e, chrome_add_place, s);
	if (!err)
		err = find_leaf(s, &leaf);
	if (err)
		return err;
	wm_text_f(t, "%s\n{\"pid\":%u,\"tid\":%u,\"ts\":%.*s", t->bytes ? "," : "", where->pid,
		  where->tid, (int)where->bytes, where->us);
	if (e->cpu >= 0)
		wm_text_f(t, ",\"cpu\":%d", e->cpu);
	wm_text_str(t, ",\"name\":");
	wm_view_json_string(t, e->type->name, strlen(e->type->name));
	if (leaf)
		wm_text_f(t, ",\"sf\":\"%u\"", leaf);
	wm_text_str(t, ",\"weight\":");
	wm_text_u64(t, wm_sampled_weight(wm_sampled_type(&s->sampled, trace, e->type), e));
	wm_text_char(t, '}');
	return t->failed || s->stack_frames.failed ? -ENOMEM : 0;
}

int wm_chrome_samples_end(struct wm_chrome_samples *s, struct wm_text *t)
{
	if (s->samples.bytes) {
		wm_text_str(t, ",\"stackFrames\":{");
		wm_text_add(t, s->stack_frames.data, s->stack_frames.bytes);
		wm_text_str(t, "\n},\"samples\":[");
		wm_text_add(t, s->samples.data, s->samples.bytes);
		wm_text_str(t, "\n]");
	}
	wm_text_cut(&s->samples, 0);
	wm_text_cut(&s->stack_frames, 0);
	wm_table_clear(&s->table);
	s->nr_frames = 0;
	return t->failed ? -ENOMEM : 0;
}

int wm_chrome_samples_init(struct wm_chrome_samples *s, const struct wm_export *x)
{
	int err;

	*s = (struct wm_chrome_samples){0};
	wm_table_init(&s->table);
	wm_text_init(&s->samples);
	wm_text_init(&s->stack_frames);
	s->chain = calloc(FRAMES_MAX + 1, sizeof(*s->chain));
	err = wm_names_init(&s->names);
	if (!err)
		err = wm_sampled_init(&s->sampled, x);
	return err || s->chain ? err : -ENOMEM;
}

void wm_chrome_samples_done(struct wm_chrome_samples *s)
{
	wm_sampled_done(&s->sampled);
	wm_names_done(&s->names);
	wm_table_done(&s->table);
	wm_text_done(&s->samples);
	wm_text_done(&s->stack_frames);
	free(s->frames);
	free(s->chain);
	*s = (struct wm_chrome_samples){0};
}
