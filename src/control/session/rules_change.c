/* SPDX-License-Identifier: MIT */
/*
 * rules_change.c - decodes rules read from DIR/rules or sent by another command, and adds them as a
 * change. Rules that a change makes ineffective are dropped, so that switching the same events on
 * and off for a year does not fill the file.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/glob.h"
#include "control/session/rules_int.h"
#include "event/context.h"

/*
 * Copies the record at `at`, of which `bytes` bytes are available. Returns 0, -EBADMSG or -ENOMEM.
 */
static int take_record(const unsigned char *at, size_t bytes, struct wm_rule **ret)
{
	struct wm_rule r;

	if (bytes < sizeof(r))
		return -EBADMSG;
	memcpy(&r, at, sizeof(r));
	if (r.bytes < sizeof(r) || r.bytes > bytes || r.bytes % 8 || r.glob_bytes == 0 ||
	    r.glob_bytes >= WM_RULES_GLOB_MAX || (r.contexts & ~WM_CONTEXT_ALL) ||
	    (r.flags & ~WM_RULE_OFF) ||
	    (uint64_t)r.glob_bytes + r.filter_bytes > r.bytes - sizeof(r) ||
	    memchr(at + sizeof(r), '\0', r.glob_bytes))
		return -EBADMSG;
	*ret = malloc(r.bytes);
	if (!*ret)
		return -ENOMEM;
	memcpy(*ret, at, r.bytes);
	return 0;
}

/*
 * Appends `nr` records that fill exactly `bytes` bytes. If `change` is NULL, the records keep their
 * own change numbers.
 */
static int append_records(struct wm_rules *r, const unsigned char *at, size_t bytes, uint32_t nr,
			  const uint32_t *change, struct wm_diag *diag)
{
	char glob[WM_RULES_GLOB_MAX];

	for (uint32_t i = 0; i < nr; i++) {
		struct wm_rule *record;
		int err = take_record(at, bytes, &record);

		if (err < 0)
			return err;
		if (change)
			record->change = *change;
		at += record->bytes;
		bytes -= record->bytes;
		memcpy(glob, wm_rule_glob(record), record->glob_bytes);
		glob[record->glob_bytes] = '\0';
		err = wm_rules_append(r, glob, record, diag);
		if (err < 0) {
			free(record);
			return err;
		}
	}
	return bytes ? -EBADMSG : 0;
}

/* Whether `young` matches every event that `old` matches. May return false for complex globs. */
static bool covers(const struct wm_rule *young, const struct wm_rule *old)
{
	const char *a = wm_rule_glob(young), *b = wm_rule_glob(old);

	if (young->level_max != WM_RULES_ALL_LEVELS)
		return false;
	if (young->glob_bytes == old->glob_bytes && !memcmp(a, b, young->glob_bytes))
		return true;
	if (young->glob_bytes == 3 && !memcmp(a, "*:*", 3))
		return true;
	return !wm_glob_is_pattern(b, old->glob_bytes) &&
	       wm_glob_match(a, young->glob_bytes, b, old->glob_bytes);
}

static bool is_covered(const struct wm_rules *r, uint32_t first_young, const struct wm_rule *old)
{
	for (uint32_t i = first_young; i < r->nr_rules; i++)
		if (covers(r->rules[i].record, old))
			return true;
	return false;
}

static void rules_change_drop(struct wm_rules *r, uint32_t i)
{
	r->bytes -= r->rules[i].record->bytes;
	free(r->rules[i].given);
	free(r->rules[i].record);
	memmove(&r->rules[i], &r->rules[i + 1], (--r->nr_rules - i) * sizeof(r->rules[0]));
}

/*
 * Drops old rules that have no effect: those covered by newer ones, and "off" rules without an
 * older "on" rule.
 */
static void rules_change_compact(struct wm_rules *r, uint32_t nr_young)
{
	uint32_t first_on = 0;

	for (uint32_t i = r->nr_rules - nr_young; i-- > 0;)
		if (is_covered(r, r->nr_rules - nr_young, r->rules[i].record))
			rules_change_drop(r, i);
	while (first_on < r->nr_rules && r->rules[first_on].record->flags & WM_RULE_OFF)
		first_on++;
	while (r->nr_rules > nr_young && r->rules[0].record->flags & WM_RULE_OFF &&
	       (first_on == r->nr_rules ||
		r->rules[0].record->change < r->rules[first_on].record->change)) {
		rules_change_drop(r, 0);
		first_on--;
	}
}

static struct wm_rules *rules_change_copy(const struct wm_rules *r)
{
	struct wm_rules *c;

	if (wm_rules_create(&r->options, &c) < 0)
		return NULL;
	c->generation = r->generation;
	for (uint32_t i = 0; i < r->nr_rules; i++) {
		struct wm_rule *record = malloc(r->rules[i].record->bytes);

		if (record)
			memcpy(record, r->rules[i].record, r->rules[i].record->bytes);
		if (!record || wm_rules_append(c, r->rules[i].given, record, NULL) < 0) {
			free(record);
			wm_rules_destroy(c);
			return NULL;
		}
	}
	return c;
}

int wm_rules_change(struct wm_rules **r, const void *records, size_t bytes, uint32_t nr,
		    struct wm_diag *diag)
{
	struct wm_rules *c = rules_change_copy(*r);
	uint32_t change =
	    c && c->nr_rules ? c->rules[c->nr_rules - 1].record->change + 1 : (uint32_t)1;
	int err = c ? append_records(c, records, bytes, nr, &change, diag) : -ENOMEM;

	if (err < 0) {
		wm_rules_destroy(c);
		return err;
	}
	rules_change_compact(c, nr);
	wm_rules_destroy(*r);
	*r = c;
	return 0;
}

size_t wm_rules_encode(const struct wm_rules *r, void *buf, size_t size)
{
	size_t n = 0;

	for (uint32_t i = 0; i < r->nr_rules; i++) {
		const struct wm_rule *record = r->rules[i].record;

		if (record->bytes <= size && n <= size - record->bytes)
			memcpy((char *)buf + n, record, record->bytes);
		n += record->bytes;
	}
	return n;
}

static int parse_file(const unsigned char *file, size_t bytes, struct wm_rules **ret)
{
	struct wm_rules_header h;
	struct wm_rules_options o;
	int err;

	if (bytes < sizeof(h))
		return -EBADMSG;
	memcpy(&h, file, sizeof(h));
	if (h.magic != WM_RULES_MAGIC || h.version != WM_PROTOCOL || h.bytes != bytes ||
	    h.nr_rules > WM_RULES_NR_MAX)
		return -EBADMSG;
	o = (struct wm_rules_options){
	    .pool_mode = h.pool_mode,
	    .buffer_bytes = h.buffer_bytes,
	    .chunk_bytes = h.chunk_bytes,
	    .block_ms = h.block_ms,
	    .clock_kind = (enum wm_clock_kind)h.clock_kind,
	};
	err = wm_rules_create(&o, ret);
	if (err < 0)
		return err;
	(*ret)->generation = h.generation;
	return append_records(*ret, file + sizeof(h), bytes - sizeof(h), h.nr_rules, NULL, NULL);
}

int wm_rules_load(int dirfd, struct wm_rules **ret)
{
	struct wm_rules *r = NULL;
	char *file = NULL;
	size_t bytes;
	int err = wm_file_read(dirfd, "rules", WM_RULES_MAX_BYTES, &file, &bytes);

	if (err < 0)
		return err;
	err = parse_file((const unsigned char *)file, bytes, &r);
	free(file);
	if (err < 0) {
		wm_rules_destroy(r);
		return err;
	}
	*ret = r;
	return 0;
}
