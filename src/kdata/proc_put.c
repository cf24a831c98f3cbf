/* SPDX-License-Identifier: MIT */
/*
 * proc_put.c - writes the values in a file's text as packed fields; see proc_text.h. It runs for
 * every reading, so it parses numbers in place and allocates nothing.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "event/class.h"
#include "kdata/proc_int.h"

#define WORD_MAX 64u /* names of devices and commands are shorter than this */

_Static_assert(WM_PROC_RECORD_BYTES_MAX >= 8 * WM_CLASS_FIELDS_MAX + 4 * (WORD_MAX + 1),
	       "as many fields as an event can have, and a few words");

struct put {
	const char *at, *end; /* current position in the line, and its end */
	unsigned char *to;
};

/* --- values --------------------------------------------------------------------------- */

static int get_number(struct put *p, uint64_t *ret)
{
	const char *start = p->at;
	uint64_t n = 0;

	for (; p->at < p->end; p->at++) {
		unsigned digit = (unsigned char)*p->at - (unsigned)'0';

		if (digit > 9)
			break;
		if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, digit, &n))
			return -EBADMSG;
	}
	*ret = n;
	return p->at > start ? 0 : -EBADMSG;
}

static void put_u64(struct put *p, uint64_t value)
{
	value = htole64(value);
	memcpy(p->to, &value, sizeof(value));
	p->to += sizeof(value);
}

/* Converts and stores a count; a result that exceeds 64 bits becomes UINT64_MAX. */
static int put_count(struct put *p, uint64_t scale)
{
	uint64_t n;
	int err = get_number(p, &n);

	if (!err)
		put_u64(p, __builtin_mul_overflow(n, scale, &n) ? UINT64_MAX : n);
	return err;
}

static int put_signed(struct put *p)
{
	bool minus = p->at < p->end && *p->at == '-';
	uint64_t n;
	int err;

	p->at += minus;
	err = get_number(p, &n);
	if (!err && n > (uint64_t)INT64_MAX)
		err = -EBADMSG;
	if (!err)
		put_u64(p, minus ? -n : n);
	return err;
}

/* Stores a decimal number such as "98.68"; the kernel writes two digits after the point. */
static int put_decimal(struct put *p)
{
	uint64_t whole, part = 0, bits;
	double value, unit = 1;
	int err = get_number(p, &whole);

	if (!err && p->at < p->end && *p->at == '.') {
		const char *start = ++p->at;

		err = get_number(p, &part);
		for (const char *c = start; c < p->at; c++)
			unit *= 10;
	}
	if (err)
		return err;
	value = (double)whole + (double)part / unit;
	memcpy(&bits, &value, sizeof(bits));
	put_u64(p, bits);
	return 0;
}

static int proc_put_text(struct put *p, const char *from, size_t bytes)
{
	if (!bytes || bytes > WORD_MAX || memchr(from, '\0', bytes))
		return -EBADMSG;
	memcpy(p->to, from, bytes);
	p->to[bytes] = '\0';
	p->to += bytes + 1;
	return 0;
}

/* Stores the command of "(cat) R 1", which extends to the last parenthesis of the line. */
static int proc_put_comm(struct put *p)
{
	const char *last = p->at < p->end ? memrchr(p->at, ')', (size_t)(p->end - p->at)) : NULL;
	const char *first = p->at + 1;

	if (!last || *p->at != '(')
		return -EBADMSG;
	p->at = last + 1;
	if (last == first) { /* a task's name may be empty */
		*p->to++ = '\0';
		return 0;
	}
	return proc_put_text(p, first, (size_t)(last - first));
}

static int proc_put_cpu(struct put *p)
{
	uint64_t n;
	uint32_t cpu;
	int err;

	if (p->end - p->at < 4)
		return -EBADMSG;
	p->at += 3;
	err = get_number(p, &n);
	if (err || n > INT32_MAX)
		return -EBADMSG;
	cpu = htole32((uint32_t)n);
	memcpy(p->to, &cpu, sizeof(cpu));
	p->to += sizeof(cpu);
	return 0;
}

/* Stores one value; p->at is its first character. */
static int proc_put_value(struct put *p, const struct wm_proc_step *s, const char *value_end)
{
	const char *from = p->at;

	switch (s->value) {
	case WM_PROC_COUNT:
		return put_count(p, s->scale);
	case WM_PROC_SIGNED:
		return put_signed(p);
	case WM_PROC_DECIMAL:
		return put_decimal(p);
	case WM_PROC_COMM:
		return proc_put_comm(p);
	case WM_PROC_CPU:
		return proc_put_cpu(p);
	default: /* SKIP, WORD */
		p->at = value_end;
		return s->value == WM_PROC_WORD ? proc_put_text(p, from, (size_t)(value_end - from))
						: 0;
	}
}

/* --- rows ----------------------------------------------------------------------------- */

static bool is_between(const char *between, char c)
{
	return c == between[0] || c == '\t' || (between[1] && c == between[1]);
}

static const char *column_end(const struct put *p, const char *between)
{
	const char *at = p->at;

	while (at < p->end && !is_between(between, *at))
		at++;
	return at;
}

static int proc_put_row(const struct wm_kproc_plan *plan, struct put *p)
{
	const char *between = plan->shape->between;
	int err = 0;

	for (size_t i = 0; !err && i < plan->nr_steps; i++) {
		const struct wm_proc_step *s = &plan->steps[i];

		while (p->at < p->end && is_between(between, *p->at))
			p->at++;
		if (p->at == p->end)
			return -EBADMSG;
		err = proc_put_value(p, s,
				     s->value == WM_PROC_SKIP || s->value == WM_PROC_WORD
					 ? column_end(p, between)
					 : NULL);
		if (!err && p->at < p->end && !is_between(between, *p->at))
			err = -EBADMSG;
	}
	return err;
}

static int64_t next_row(const struct wm_kproc_plan *plan, const char **at, const char *end,
			unsigned char *to)
{
	while (*at < end) {
		struct put p = {*at, wm_kproc_line_end(*at, end), to};
		const char *line = *at;
		int err;

		*at = p.end + (p.end < end);
		if (!wm_kproc_is_row(plan->shape, line, p.end))
			continue;
		err = proc_put_row(plan, &p);
		return err ? err : p.to - to;
	}
	return 0;
}

/* --- files that are a single record ------------------------------------------------------- */

/*
 * Stores the values of a line such as "avg10=0.42": they are identified by their position, and the
 * text up to '=' is skipped.
 */
static int proc_put_values(struct put *p, const struct wm_proc_step *steps, uint32_t nr)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < nr; i++) {
		const char *c;

		while (p->at < p->end && (wm_kproc_is_blank(*p->at) || *p->at == ':'))
			p->at++;
		for (c = p->at; c < p->end && !wm_kproc_is_blank(*c) && *c != '='; c++)
			;
		if (c < p->end && *c == '=')
			p->at = c + 1;
		err = proc_put_value(p, &steps[i], c);
		if (!err && p->at < p->end && !wm_kproc_is_blank(*p->at))
			err = -EBADMSG;
	}
	return err;
}

static bool proc_put_is_key(const struct wm_proc_key *k, const char *line, const char *end)
{
	return (size_t)(end - line) > k->bytes && !memcmp(line, k->key, k->bytes) &&
	       (wm_kproc_is_blank(line[k->bytes]) || line[k->bytes] == ':');
}

/* Stores zeros for missing lines, if the shape allows that. */
static int put_lack(const struct wm_kproc_plan *plan, struct put *p, const struct wm_proc_step *s,
		    uint32_t nr)
{
	if (!plan->shape->may_lack)
		return -EBADMSG;
	for (uint32_t i = 0; i < nr; i++)
		if (s[i].value != WM_PROC_SKIP)
			put_u64(p, 0);
	return 0;
}

/*
 * Returns the index, from k on, of the plan's key with which the line begins; nr_keys when there is
 * none.
 */
static size_t proc_put_find_key(const struct wm_kproc_plan *plan, size_t k, const struct put *p)
{
	while (k < plan->nr_keys && !proc_put_is_key(&plan->keys[k], p->at, p->end))
		k++;
	return k;
}

static int put_lines(const struct wm_kproc_plan *plan, const char *at, const char *end,
		     struct put *p)
{
	const struct wm_proc_step *s = plan->steps;
	size_t k = 0;
	int err = 0;

	for (; !err && k < plan->nr_keys && at < end; at = p->end + (p->end < end)) {
		size_t found;

		p->at = at;
		p->end = wm_kproc_line_end(at, end);
		found = proc_put_find_key(plan, k, p);
		if (found == plan->nr_keys)
			continue;
		for (; !err && k < found; s += plan->keys[k++].nr)
			err = put_lack(plan, p, s, plan->keys[k].nr);
		if (err)
			break;
		p->at += plan->keys[k].bytes;
		err = proc_put_values(p, s, plan->keys[k].nr);
		s += plan->keys[k++].nr;
	}
	for (; !err && k < plan->nr_keys; s += plan->keys[k++].nr)
		err = put_lack(plan, p, s, plan->keys[k].nr);
	return err;
}

int64_t wm_kproc_put(const struct wm_kproc_plan *plan, const char **at, const char *end,
		     unsigned char to[WM_PROC_RECORD_BYTES_MAX])
{
	struct put p = {.to = to};
	const char *text = *at;
	int err;

	if (plan->shape->rows)
		return next_row(plan, at, end, to);
	*at = end;
	if (text == end)
		return 0;
	err = put_lines(plan, text, end, &p);
	return err ? err : p.to - to;
}
