/* SPDX-License-Identifier: MIT */
/*
 * rules.c - see rules.h. Every rule is kept in the file's encoding; matching (for "no event
 * matches") uses the same bytes that the processes receive.
 */
#include "control/session/rules_int.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/glob.h"
#include "event/filter.h"
#include "ring/pool.h"

#define CHUNKS_MIN 64u /* chunks per buffer, unless they would be smaller than a page */

static_assert(sizeof(struct wm_rules_header) == 72, "layout of DIR/rules");
static_assert(sizeof(struct wm_rule) == 24, "layout of DIR/rules");

bool wm_rules_has_pool(uint64_t buffer_bytes, uint32_t pool_mode)
{
	const struct wm_pool_options pool = {.buffer_bytes = buffer_bytes, .mode = pool_mode};

	return buffer_bytes >= WM_RULES_BUFFER_MIN && wm_pool_size(&pool) != 0;
}

uint32_t wm_rules_chunk_bytes(uint64_t buffer_bytes)
{
	uint32_t bytes = WM_POOL_BIG_BYTES_DEFAULT;

	while (bytes > WM_POOL_PAGE && buffer_bytes / bytes < CHUNKS_MIN)
		bytes /= 2;
	return bytes;
}

int wm_rules_create(const struct wm_rules_options *o, struct wm_rules **ret)
{
	struct wm_rules *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->options = *o;
	r->bytes = sizeof(struct wm_rules_header);
	*ret = r;
	return 0;
}

void wm_rules_destroy(struct wm_rules *r)
{
	if (!r)
		return;
	for (uint32_t i = 0; i < r->nr_rules; i++) {
		free(r->rules[i].given);
		free(r->rules[i].record);
	}
	free(r->rules);
	free(r);
}

/* Normalises a glob: "name" -> "*:name", "user:p:n" -> "p:n". Returns the length or -EINVAL. */
static int normalise(const char *glob, char *out, size_t size, struct wm_diag *diag)
{
	int n;

	if (!strncmp(glob, "kernel:", 7))
		return wm_diag_set(diag, -EINVAL, NULL, -1,
				   "'%.100s' names kernel events, but only program events can be "
				   "selected here",
				   glob);
	if (!strncmp(glob, "user:", 5))
		glob += 5;
	if (!*glob)
		return wm_diag_set(diag, -EINVAL, NULL, -1, "empty event name");
	n = snprintf(out, size, "%s%s", strchr(glob, ':') ? "" : "*:", glob);
	if (n < 0 || (size_t)n >= size)
		return wm_diag_set(diag, -EINVAL, NULL, -1,
				   "event name longer than %zu bytes: '%.40s...'", size - 3, glob);
	return n;
}

/* Encodes a rule as in the file. */
static int rules_encode(const char *glob, size_t glob_bytes, const unsigned char *code,
			size_t code_bytes, uint32_t contexts, uint32_t level_max,
			struct wm_rule **ret)
{
	size_t bytes = (sizeof(struct wm_rule) + glob_bytes + code_bytes + 7) & ~(size_t)7;
	struct wm_rule *record = calloc(1, bytes);

	if (!record)
		return -ENOMEM;
	*record = (struct wm_rule){
	    .bytes = (uint32_t)bytes,
	    .contexts = contexts,
	    .glob_bytes = (uint16_t)glob_bytes,
	    .level_max = (uint16_t)level_max,
	    .filter_bytes = (uint32_t)code_bytes,
	};
	memcpy(record + 1, glob, glob_bytes);
	if (code_bytes)
		memcpy((char *)(record + 1) + glob_bytes, code, code_bytes);
	*ret = record;
	return 0;
}

int wm_rules_append(struct wm_rules *r, const char *given, struct wm_rule *record,
		    struct wm_diag *diag)
{
	struct wm_rules_one *grown;
	char *copy;

	if (r->nr_rules >= WM_RULES_NR_MAX || r->bytes + record->bytes > WM_RULES_MAX_BYTES)
		return wm_diag_set(
		    diag, -E2BIG, NULL, -1,
		    "too many event rules: at most %u, %u KiB including their filters",
		    WM_RULES_NR_MAX, WM_RULES_MAX_BYTES / 1024);
	grown = realloc(r->rules, (r->nr_rules + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	r->rules = grown;
	copy = strdup(given);
	if (!copy)
		return -ENOMEM;
	r->rules[r->nr_rules] = (struct wm_rules_one){.given = copy, .record = record};
	r->bytes += record->bytes;
	return (int)r->nr_rules++;
}

int wm_rules_add(struct wm_rules *r, const char *glob, const char *filter, uint32_t contexts,
		 uint32_t level_max, struct wm_diag *diag)
{
	char text[WM_RULES_GLOB_MAX];
	unsigned char *code = NULL;
	struct wm_rule *record = NULL;
	size_t code_bytes = 0;
	int n, err;

	n = normalise(glob, text, sizeof(text), diag);
	if (n < 0)
		return n;
	if (filter) {
		err = wm_filter_parse(filter, &code, &code_bytes, diag);
		if (err < 0)
			return err;
	}
	err = rules_encode(text, (size_t)n, code, code_bytes, contexts, level_max, &record);
	free(code);
	if (err < 0)
		return err;
	err = wm_rules_append(r, glob, record, diag);
	if (err < 0)
		free(record);
	return err;
}

int wm_rules_exclude(struct wm_rules *r, const char *glob, struct wm_diag *diag)
{
	int i = wm_rules_add(r, glob, NULL, 0, WM_RULES_ALL_LEVELS, diag);

	if (i >= 0)
		r->rules[i].record->flags |= WM_RULE_OFF;
	return i;
}

uint32_t wm_rules_count(const struct wm_rules *r)
{
	return r->nr_rules;
}

uint64_t wm_rules_generation(const struct wm_rules *r)
{
	return r->generation;
}

const char *wm_rules_glob(const struct wm_rules *r, uint32_t i)
{
	return r->rules[i].given;
}

void wm_rules_set_clock(struct wm_rules *r, enum wm_clock_kind kind)
{
	r->options.clock_kind = kind;
}

const struct wm_rules_options *wm_rules_options(const struct wm_rules *r)
{
	return &r->options;
}

bool wm_rules_wants(const struct wm_rules *r, uint32_t i, const char *provider, const char *name,
		    uint32_t level)
{
	const struct wm_rule *rule = r->rules[i].record;
	char full[WM_RULES_GLOB_MAX + 1];
	int n = snprintf(full, sizeof(full), "%s:%s", provider, name);

	if (n < 0 || (size_t)n >= sizeof(full))
		return false;
	if (rule->level_max != WM_RULES_ALL_LEVELS && level > rule->level_max)
		return false;
	return wm_glob_match((const char *)(rule + 1), rule->glob_bytes, full, (size_t)n);
}

bool wm_rules_enable(const struct wm_rules *r, const char *provider, const char *name,
		     uint32_t level)
{
	const struct wm_rule *last = NULL;
	bool off = false;

	for (uint32_t i = r->nr_rules; i-- > 0;) {
		const struct wm_rule *rule = r->rules[i].record;

		if (last && rule->change != last->change)
			break;
		if (!wm_rules_wants(r, i, provider, name, level))
			continue;
		last = rule;
		off = off || rule->flags & WM_RULE_OFF;
	}
	return last && !off;
}

static int check_one(const struct wm_rule *rule, const struct wm_class *c, const void *desc,
		     size_t bytes, struct wm_diag *diag)
{
	const unsigned char *code = (const unsigned char *)(rule + 1) + rule->glob_bytes;
	struct wm_diag why = {.offset = -1};
	int err = wm_filter_check(code, rule->filter_bytes, desc, bytes, &why);

	if (err == -ENOENT) /* the sentence names the event */
		return wm_diag_set(diag, -EINVAL, NULL, -1, "%s", why.sentence);
	if (err == -EINVAL)
		return wm_diag_set(diag, -EINVAL, NULL, -1, "the filter does not fit %s:%s: %s",
				   c->provider, c->name, why.sentence);
	/* A damaged filter or description is the program's to refuse. */
	return err == -ENOMEM ? err : 0;
}

int wm_rules_check(const struct wm_rules *r, const struct wm_class *c, const void *desc,
		   size_t bytes, struct wm_diag *diag)
{
	int err = 0;

	for (uint32_t i = 0; err == 0 && i < r->nr_rules; i++) {
		const struct wm_rule *rule = r->rules[i].record;
		const char *given = r->rules[i].given;

		/* A glob "name" became "*:name", but still names one event exactly. */
		if (rule->filter_bytes && !wm_glob_is_pattern(given, strlen(given)) &&
		    wm_rules_wants(r, i, c->provider, c->name, c->level))
			err = check_one(rule, c, desc, bytes, diag);
	}
	return err;
}

int wm_rules_write(struct wm_rules *r, int dirfd, uint32_t file_mode)
{
	struct wm_rules_header header = {
	    .magic = WM_RULES_MAGIC,
	    .version = WM_PROTOCOL,
	    .bytes = (uint32_t)r->bytes,
	    .generation = r->generation + 1,
	    .nr_rules = r->nr_rules,
	    .pool_mode = r->options.pool_mode,
	    .buffer_bytes = r->options.buffer_bytes,
	    .chunk_bytes = r->options.chunk_bytes,
	    .block_ms = r->options.block_ms,
	    .clock_kind = r->options.clock_kind,
	    .flags = r->options.counts ? WM_RULES_COUNT : 0,
	};
	char *file = malloc(r->bytes);
	size_t at = sizeof(header);
	int err;

	if (!file)
		return -ENOMEM;
	memcpy(file, &header, sizeof(header));
	for (uint32_t i = 0; i < r->nr_rules; i++) {
		memcpy(file + at, r->rules[i].record, r->rules[i].record->bytes);
		at += r->rules[i].record->bytes;
	}
	err = wm_file_replace(dirfd, "rules", (mode_t)file_mode, file, r->bytes);
	free(file);
	if (err == 0)
		r->generation++;
	return err;
}
