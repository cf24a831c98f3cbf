/* SPDX-License-Identifier: MIT */
/*
 * transcode.c - see transcode.h. Each step of a plan converts bytes at an offset in the record to
 * the next bytes of the payload; copies of adjacent bytes are merged into one step.
 */
#include "kdata/transcode.h"

#include <errno.h>
#include <stdlib.h>

#include <waymark/abi.h>

#include "base/text.h"
#include "event/desc_build.h"

enum step_kind {
	STEP_COPY,   /* `bytes` unchanged */
	STEP_EXTEND, /* a number of `bytes` bytes whose `width` low bits are extended by their sign
		      */
	STEP_SWAP,   /* `bytes` bytes of elements of `width` bytes, each byte-swapped */
	STEP_WIDEN,  /* widens a 4-byte pointer to 8 */
	STEP_STRING, /* a dynamic array of char, or the text at the end of the record */
	/* A dynamic array of elements of `width` bytes, or the array at the end of the record. */
	STEP_LIST,
	STEP_BITS, /* converts a dynamic array of longs to 64-bit words */
};

struct step {
	uint8_t kind, width;
	uint32_t offset, bytes;
	const struct wm_kfield *field; /* for dynamic arrays, and arrays at the end of the record */
};

struct wm_kplan {
	struct wm_class *class;
	unsigned char *desc;
	size_t desc_bytes;
	struct wm_kmachine machine;
	uint32_t fixed_in;   /* minimum size of a record */
	uint32_t fixed_out;  /* total output of all steps of fixed size */
	uint32_t nr_dynamic; /* number of steps of variable size */
	uint32_t nr_steps;
	struct step steps[];
};

/* --- compiling ------------------------------------------------------------- */

struct builder {
	const struct wm_kmachine *machine;
	const struct wm_kprint *print;
	struct wm_kplan *plan;
	struct wm_text schema;
	int64_t values[WM_KFORMAT_FIELDS_MAX];
	uint16_t nr_values;
};

static char letter(const struct builder *b, const struct wm_kfield *f)
{
	if (f->flags & WM_KFIELD_BOOL && f->element_bytes == 1)
		return 'b';
	/* The kernel's own events have no floating-point fields, but probe arguments do. */
	if (f->element_bytes >= 4 && (!strcmp(f->type, "double") || !strcmp(f->type, "float")))
		return 'f';
	if (b->print && wm_kprint_shows_hex(b->print, f))
		return 'x';
	return f->flags & WM_KFIELD_SIGNED ? 'i' : 'u';
}

static void transcode_add_step(struct builder *b, struct step s)
{
	struct wm_kplan *p = b->plan;
	struct step *last = p->nr_steps ? &p->steps[p->nr_steps - 1] : NULL;

	if (s.kind <= STEP_WIDEN) {
		p->fixed_out += s.kind == STEP_WIDEN ? 8 : s.bytes;
		if (s.offset + s.bytes > p->fixed_in)
			p->fixed_in = s.offset + s.bytes;
	} else {
		p->nr_dynamic++;
	}
	if (last && s.kind == STEP_COPY && last->kind == STEP_COPY &&
	    last->offset + last->bytes == s.offset) {
		last->bytes += s.bytes;
		return;
	}
	p->steps[p->nr_steps++] = s;
}

/* Adds a fixed number of elements, which are copied or byte-swapped. */
static void add_fixed(struct builder *b, const struct wm_kfield *f, uint8_t width)
{
	transcode_add_step(
	    b, (struct step){.kind = b->machine->swap && width > 1 ? STEP_SWAP : STEP_COPY,
			     .width = width,
			     .offset = f->offset,
			     .bytes = f->bytes});
}

static void add_scalar(struct builder *b, const struct wm_kfield *f)
{
	if (f->flags & WM_KFIELD_POINTER && f->element_bytes >= 4) {
		wm_text_str(&b->schema, "p8");
		if (f->bytes == 4)
			transcode_add_step(b, (struct step){STEP_WIDEN, 4, f->offset, 4, NULL});
		else
			add_fixed(b, f, 8);
		return;
	}
	wm_text_f(&b->schema, "%c%u", letter(b, f), f->element_bytes);
	if (wm_kfield_sign_bits(f))
		transcode_add_step(b, (struct step){STEP_EXTEND, (uint8_t)wm_kfield_sign_bits(f),
						    f->offset, f->bytes, NULL});
	else
		add_fixed(b, f, f->element_bytes);
}

static void transcode_add_array(struct builder *b, const struct wm_kfield *f)
{
	uint8_t width = f->element_bytes ? f->element_bytes : 1;

	b->values[b->nr_values++] = f->bytes / width;
	if (f->flags & WM_KFIELD_CHARS)
		wm_text_str(&b->schema, "c#");
	else if (f->element_bytes)
		wm_text_f(&b->schema, "a#%c%u", letter(b, f), width);
	else
		wm_text_str(&b->schema, "a#x1");
	add_fixed(b, f, width);
}

static void transcode_add_dynamic(struct builder *b, const struct wm_kfield *f)
{
	struct step s = {.kind = STEP_LIST, .width = f->element_bytes, .field = f};

	if (f->flags & WM_KFIELD_DYNAMIC && f->offset + f->bytes > b->plan->fixed_in)
		b->plan->fixed_in = f->offset + f->bytes;
	if (f->flags & WM_KFIELD_BITMASK) {
		wm_text_str(&b->schema, "qx8");
		s.kind = STEP_BITS;
	} else if (f->flags & WM_KFIELD_CHARS) {
		wm_text_char(&b->schema, 's');
		s.kind = STEP_STRING;
	} else if (f->element_bytes) {
		wm_text_f(&b->schema, "q%c%u", letter(b, f), f->element_bytes);
	} else {
		wm_text_char(&b->schema, 'z');
		s.width = 1;
	}
	transcode_add_step(b, s);
}

static void transcode_add_field(struct builder *b, const struct wm_kfield *f)
{
	wm_text_f(&b->schema, "%s%s:", b->schema.bytes ? ";" : "", f->name);
	if (f->flags & (WM_KFIELD_DYNAMIC | WM_KFIELD_TAIL))
		transcode_add_dynamic(b, f);
	else if (f->element_bytes && !(f->flags & WM_KFIELD_ARRAY))
		add_scalar(b, f);
	else
		transcode_add_array(b, f);
}

static int build_class(struct builder *b, const struct wm_kformat *f, struct wm_diag *diag)
{
	struct wm_desc_spec spec = {
	    .provider = f->system,
	    .name = f->name,
	    .schema = b->schema.data,
	    .values = b->values,
	    .nr_values = b->nr_values,
	    .kind = WAYMARK_KIND_EVENT,
	    .level = WAYMARK_INFO,
	    .named = true,
	};
	struct wm_kplan *p = b->plan;
	int err;

	if (b->schema.failed)
		return -ENOMEM;
	err = wm_desc_build(&spec, &p->desc, &p->desc_bytes);
	if (err)
		return wm_diag_set(diag, err, NULL, -1, "event %s:%s is too large", f->system,
				   f->name);
	return wm_class_parse(p->desc, p->desc_bytes, NULL, &p->class, diag);
}

static int transcode_create(const char *before, bool common, const struct wm_kformat *f,
			    const struct wm_kmachine *m, const struct wm_kprint *print,
			    struct wm_kplan **ret, struct wm_diag *diag)
{
	struct builder b = {.machine = m, .print = print};
	int err;

	b.plan = calloc(1, sizeof(*b.plan) + f->nr_fields * sizeof(b.plan->steps[0]));
	if (!b.plan)
		return -ENOMEM;
	b.plan->machine = *m;
	wm_text_init(&b.schema);
	wm_text_str(&b.schema, before);
	for (unsigned i = common ? 1 : f->nr_common; i < f->nr_fields; i++) {
		if (f->fields[i].bytes || f->fields[i].flags & WM_KFIELD_TAIL)
			transcode_add_field(&b, &f->fields[i]);
	}
	err = build_class(&b, f, diag);
	wm_text_done(&b.schema);
	if (err) {
		wm_kplan_destroy(b.plan);
		return err;
	}
	*ret = b.plan;
	return 0;
}

int wm_kplan_create(const struct wm_kformat *f, const struct wm_kmachine *m,
		    const struct wm_kprint *print, bool common, struct wm_kplan **ret,
		    struct wm_diag *diag)
{
	return transcode_create("", common, f, m, print, ret, diag);
}

int wm_kplan_create_behind(const char *schema, const struct wm_kformat *f,
			   const struct wm_kmachine *m, const struct wm_kprint *print,
			   struct wm_kplan **ret, struct wm_diag *diag)
{
	return transcode_create(schema ? schema : "", false, f, m, print, ret, diag);
}

void wm_kplan_destroy(struct wm_kplan *p)
{
	if (!p)
		return;
	wm_class_destroy(p->class);
	free(p->desc);
	free(p);
}

const struct wm_class *wm_kplan_class(const struct wm_kplan *p)
{
	return p->class;
}

const unsigned char *wm_kplan_desc(const struct wm_kplan *p, size_t *ret_bytes)
{
	*ret_bytes = p->desc_bytes;
	return p->desc;
}

/* --- running --------------------------------------------------------------- */

#define COUNT_BYTES 4u /* size of the count that precedes the elements of a list */

/* Copies elements in this machine's byte order. */
static void copy_elements(unsigned char *out, const unsigned char *in, uint32_t bytes,
			  uint8_t width, bool swap)
{
	if (!swap || width < 2) {
		memcpy(out, in, bytes);
		return;
	}
	for (uint32_t i = 0; i + width <= bytes; i += width) {
		for (uint32_t j = 0; j < width; j++)
			out[i + j] = in[i + width - 1 - j];
	}
}

/* Extends the sign of the low bits of a number to all of it. */
static void transcode_extend(unsigned char *out, const unsigned char *in, const struct step *s,
			     bool swap)
{
	uint64_t value = wm_get_uint(in, s->bytes, swap);
	unsigned unused = 64 - s->width;

	value = (uint64_t)((int64_t)(value << unused) >> unused);
	memcpy(out, &value, s->bytes);
}

static size_t transcode_put_string(unsigned char *out, const unsigned char *in, uint32_t bytes)
{
	size_t n = strnlen((const char *)in, bytes);

	memcpy(out, in, n);
	out[n] = 0;
	return n + 1;
}

static size_t transcode_put_list(const struct wm_kplan *p, const struct step *s, unsigned char *out,
				 const unsigned char *in, uint32_t bytes)
{
	uint32_t nr = bytes / s->width;

	memcpy(out, &nr, COUNT_BYTES);
	copy_elements(out + COUNT_BYTES, in, nr * s->width, s->width, p->machine.swap);
	return COUNT_BYTES + (size_t)nr * s->width;
}

static size_t put_bits(const struct wm_kplan *p, unsigned char *out, const unsigned char *in,
		       uint32_t bytes)
{
	uint32_t width = p->machine.long_bytes, nr = (bytes + 7) / 8;

	memcpy(out, &nr, COUNT_BYTES);
	for (uint32_t i = 0; i < nr; i++) {
		uint64_t word = 0;

		for (uint32_t at = 8 * i; at < 8 * (i + 1) && at + width <= bytes; at += width)
			word |= wm_get_uint(in + at, width, p->machine.swap) << 8 * (at % 8);
		memcpy(out + COUNT_BYTES + 8 * i, &word, 8);
	}
	return COUNT_BYTES + 8 * (size_t)nr;
}

static size_t put_dynamic(const struct wm_kplan *p, const struct step *s, unsigned char *out,
			  const unsigned char *in, uint32_t bytes)
{
	if (s->kind == STEP_STRING)
		return transcode_put_string(out, in, bytes);
	if (s->kind == STEP_LIST)
		return transcode_put_list(p, s, out, in, bytes);
	return put_bits(p, out, in, bytes);
}

size_t wm_kplan_bound(const struct wm_kplan *p, uint32_t bytes)
{
	return p->fixed_out + (size_t)p->nr_dynamic * ((size_t)bytes + COUNT_BYTES + 8);
}

int64_t wm_kplan_run(const struct wm_kplan *p, const unsigned char *record, uint32_t bytes,
		     unsigned char *out, size_t room)
{
	unsigned char *at = out;

	if (bytes < p->fixed_in)
		return -EBADMSG;
	if (room < wm_kplan_bound(p, bytes))
		return -ENOSPC;
	for (const struct step *s = p->steps, *end = s + p->nr_steps; s < end; s++) {
		const unsigned char *in = record + s->offset;
		uint32_t n = s->bytes;

		switch (s->kind) {
		case STEP_COPY:
			memcpy(at, in, n);
			at += n;
			break;
		case STEP_EXTEND:
			transcode_extend(at, in, s, p->machine.swap);
			at += n;
			break;
		case STEP_SWAP:
			copy_elements(at, in, n, s->width, true);
			at += n;
			break;
		case STEP_WIDEN:
			memcpy(at, &(uint64_t){wm_get_u32(in, p->machine.swap)}, 8);
			at += 8;
			break;
		default:
			in = wm_kfield_bytes(s->field, p->machine.swap, record, bytes, &n);
			if (!in)
				return -EBADMSG;
			at += put_dynamic(p, s, at, in, n);
		}
	}
	return at - out;
}
