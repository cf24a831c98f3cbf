/* SPDX-License-Identifier: MIT */
/*
 * tsdl_parse.c - parses the blocks of CTF 1.8 metadata: trace, env, clock, stream, event, callsite.
 * Types are parsed by tsdl_type.c. A block is added to the tree once its closing brace has been
 * read, so that a damaged block leaves the others complete.
 */
#include "read/ctf/meta/tsdl_parse.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "read/ctf/meta/tsdl_int.h"

/* --- tokens --------------------------------------------------------------------- */

void wm_tsdl_advance(struct tsdl *p)
{
	wm_tsdl_next(&p->lexer, &p->token);
}

bool wm_tsdl_accept(struct tsdl *p, int kind)
{
	if (p->token.kind != kind || p->lexer.err)
		return false;
	wm_tsdl_advance(p);
	return true;
}

bool wm_tsdl_expect(struct tsdl *p, int kind, const char *what)
{
	char buf[WM_TSDL_SHOW];

	if (!wm_tsdl_accept(p, kind))
		(void)wm_tsdl_error(p, "expected %s, not %s", what, wm_tsdl_show(&p->token, buf));
	return !p->lexer.err;
}

void *wm_tsdl_memory(struct tsdl *p, void *piece)
{
	if (!piece)
		(void)wm_tsdl_fail(&p->lexer, &p->token, -ENOMEM,
				   "out of memory for metadata "
				   "of this size");
	return piece;
}

/* --- values ---------------------------------------------------------------------- */

static bool is_path_part(const struct wm_tsdl_token *t)
{
	return t->kind == WM_TSDL_NAME || t->kind > WM_TSDL_KEYWORD;
}

#define PATH_MAX_NAMES 64u

bool wm_tsdl_path(struct tsdl *p, struct wm_ctf_ref *ret_ref, const char **ret_text)
{
	const char *names[PATH_MAX_NAMES];
	struct wm_ctf_ref ref = {.line = p->token.line, .column = p->token.column};
	size_t bytes = 0, at = 0;
	char *text;
	void *kept;

	ref.offset = p->token.offset;
	do {
		if (ref.nr_names == PATH_MAX_NAMES) {
			(void)wm_tsdl_error(p, "a path of more than %u names", PATH_MAX_NAMES);
			return false;
		}
		if (!is_path_part(&p->token)) {
			(void)wm_tsdl_expect(p, WM_TSDL_NAME, "a name");
			return false;
		}
		names[ref.nr_names++] = p->token.text;
		bytes += strlen(p->token.text) + 1;
		wm_tsdl_advance(p);
	} while (wm_tsdl_accept(p, '.') || wm_tsdl_accept(p, WM_TSDL_ARROW));

	text = wm_tsdl_memory(p, wm_arena_get(&p->m->arena, bytes));
	kept = wm_tsdl_memory(p, wm_arena_copy(&p->m->arena, names, ref.nr_names * sizeof(*names)));
	if (!text || !kept || p->lexer.err)
		return false;
	for (uint32_t i = 0; i < ref.nr_names; i++) {
		size_t n = strlen(names[i]);

		memcpy(text + at, names[i], n);
		text[at + n] = i + 1 < ref.nr_names ? '.' : 0;
		at += n + 1;
	}
	ref.names = kept;
	ref.scope = WM_CTF_RELATIVE;
	if (ret_ref)
		*ret_ref = ref;
	if (ret_text)
		*ret_text = text;
	return true;
}

bool wm_tsdl_number(struct tsdl *p, const char *what, bool *ret_negative, uint64_t *ret)
{
	uint32_t nr_open = 0;
	bool negative = false, signs = true;
	uint64_t number;

	while (signs) {
		if (wm_tsdl_accept(p, '-'))
			negative = !negative;
		else if (wm_tsdl_accept(p, '('))
			nr_open++;
		else
			signs = wm_tsdl_accept(p, '+');
	}
	number = p->token.number;
	if (!wm_tsdl_expect(p, WM_TSDL_NUMBER, what))
		return false;
	for (; nr_open; nr_open--)
		if (!wm_tsdl_expect(p, ')', "')'"))
			return false;
	*ret_negative = negative;
	*ret = number;
	return true;
}

bool wm_tsdl_value(struct tsdl *p, struct wm_tsdl_value *ret)
{
	*ret = (struct wm_tsdl_value){.at = p->token, .kind = TSDL_NUMBER};
	if (p->token.kind == WM_TSDL_STRING) {
		ret->kind = TSDL_TEXT;
		ret->text = p->token.text;
		wm_tsdl_advance(p);
	} else if (is_path_part(&p->token)) {
		ret->kind = TSDL_WORD;
		return wm_tsdl_path(p, NULL, &ret->text);
	} else {
		return wm_tsdl_number(p, "a value", &ret->negative, &ret->number);
	}
	return !p->lexer.err;
}

static bool bad_value(struct tsdl *p, const struct wm_tsdl_value *v, const char *what,
		      const char *wanted)
{
	(void)wm_tsdl_fail(&p->lexer, &v->at, -EBADMSG, "%.60s is not %s", what, wanted);
	return false;
}

bool wm_tsdl_unsigned(struct tsdl *p, const struct wm_tsdl_value *v, const char *what, uint64_t max,
		      uint64_t *ret)
{
	char wanted[40];

	if (v->kind != TSDL_NUMBER || (v->negative && v->number))
		return bad_value(p, v, what, "a number >= 0");
	if (v->number > max) {
		(void)snprintf(wanted, sizeof(wanted), "at most %llu", (unsigned long long)max);
		return bad_value(p, v, what, wanted);
	}
	*ret = v->number;
	return true;
}

static bool tsdl_signed(struct tsdl *p, const struct wm_tsdl_value *v, const char *what,
			int64_t *ret)
{
	if (v->kind != TSDL_NUMBER || v->number > (uint64_t)INT64_MAX + v->negative)
		return bad_value(p, v, what, "a 64-bit number");
	*ret = (int64_t)(v->negative ? 0 - v->number : v->number);
	return true;
}

static bool tsdl_text(struct tsdl *p, const struct wm_tsdl_value *v, const char *what,
		      const char **ret)
{
	if (v->kind == TSDL_NUMBER)
		return bad_value(p, v, what, "a string");
	*ret = v->text;
	return true;
}

bool wm_tsdl_bool(struct tsdl *p, const struct wm_tsdl_value *v, const char *what, bool *ret)
{
	static const char *const words[2][2] = {{"false", "FALSE"}, {"true", "TRUE"}};

	if (v->kind == TSDL_NUMBER && !v->negative && v->number <= 1) {
		*ret = v->number;
		return true;
	}
	for (int i = 0; v->kind != TSDL_NUMBER && i < 2; i++) {
		if (!strcmp(v->text, words[i][0]) || !strcmp(v->text, words[i][1])) {
			*ret = i;
			return true;
		}
	}
	return bad_value(p, v, what, "true or false");
}

bool wm_tsdl_order(struct tsdl *p, const struct wm_tsdl_value *v, uint8_t *ret)
{
	static const struct {
		const char *word;
		enum wm_ctf_order order;
	} orders[] = {{"le", WM_CTF_LITTLE},
		      {"be", WM_CTF_BIG},
		      {"network", WM_CTF_BIG},
		      {"native", WM_CTF_NATIVE}};

	for (size_t i = 0; v->kind == TSDL_WORD && i < sizeof(orders) / sizeof(*orders); i++) {
		if (!strcmp(v->text, orders[i].word)) {
			*ret = (uint8_t)orders[i].order;
			return true;
		}
	}
	return bad_value(p, v, "byte_order", "one of le, be, network, native");
}

/* --- blocks: "name = value;", "name := type;", declarations ------------------------ */

struct block {
	const char *name;
	/* Attributes and types that the block can have, each followed by a space; NULL: any. */
	const char *known;
	/* Handles an attribute. Returns true for unknown names, which are allowed. */
	bool (*value)(struct tsdl *p, const char *name, const struct wm_tsdl_value *v, void *data);
	/*
	 * Returns where to store the type with that name, or NULL for an unknown name. The pointer
	 * is NULL when the block has no types.
	 */
	struct wm_ctf_type **(*type)(const char *name, void *data);
};

static void block_type(struct tsdl *p, const struct block *b, const char *name, void *data)
{
	struct wm_ctf_type **slot = b->type ? b->type(name, data) : NULL, *t, *unknown = NULL;

	if (!slot)
		slot = &unknown; /* allowed, and ignored */
	if (*slot) {
		(void)wm_tsdl_error(p, "'%.60s' is given twice", name);
		return;
	}
	t = wm_tsdl_type(p);
	if (t && t->kind != WM_CTF_STRUCT)
		(void)wm_tsdl_error(p, "'%.60s' is not a structure", name);
	*slot = t;
}

/* Parses the left side of an attribute: a name, which may be quoted. */
static bool left_side(struct tsdl *p, const char **ret)
{
	*ret = p->token.text;
	return wm_tsdl_accept(p, WM_TSDL_STRING) || wm_tsdl_path(p, NULL, ret);
}

/* The names in a block, to detect duplicates. */
struct block_names {
	uint32_t nr;
	const char *at[64]; /* any more are not checked */
};

static bool block_knows(const char *known, const char *name)
{
	size_t n = strlen(name);

	for (; *known; known += strcspn(known, " ") + 1)
		if (!strncmp(known, name, n) && known[n] == ' ')
			return true;
	return false;
}

static void block_check_name(struct tsdl *p, const struct block *b, struct block_names *names,
			     const char *name)
{
	for (uint32_t i = 0; i < names->nr; i++)
		if (!strcmp(names->at[i], name))
			wm_ctf_warn(p->m, p->token.offset, p->token.line,
				    "'%.60s' is given twice in a block '%s'", name, b->name);
	if (names->nr < sizeof(names->at) / sizeof(names->at[0]))
		names->at[names->nr++] = name;
	if (b->known && !block_knows(b->known, name))
		wm_ctf_warn(p->m, p->token.offset, p->token.line,
			    "unknown attribute '%.60s' of a block '%s'", name, b->name);
}

/* Parses a block whose keyword has been read already. Returns false after an error. */
static bool tsdl_parse_block(struct tsdl *p, const struct block *b, void *data)
{
	struct block_names names = {.nr = 0};

	if (!wm_tsdl_expect(p, '{', "'{'"))
		return false;
	wm_tsdl_scope_open(p);
	while (p->token.kind != '}' && !p->lexer.err) {
		struct wm_tsdl_value v;
		const char *name;

		if (wm_tsdl_is_declaration(p)) {
			wm_tsdl_declaration(p);
			continue;
		}
		if (!left_side(p, &name))
			break;
		block_check_name(p, b, &names, name);
		if (wm_tsdl_accept(p, WM_TSDL_ASSIGN))
			block_type(p, b, name, data);
		else if (wm_tsdl_expect(p, '=', "'=' or ':='") && wm_tsdl_value(p, &v) &&
			 !b->value(p, name, &v, data))
			break;
		(void)wm_tsdl_expect(p, ';', "';'");
	}
	wm_tsdl_scope_close(p);
	return wm_tsdl_expect(p, '}', "'}'") && wm_tsdl_expect(p, ';', "';'");
}

/* Appends `item` to an array of the metadata. */
static void tsdl_parse_append(struct tsdl *p, void **array, uint32_t *count, const void *item,
			      size_t bytes)
{
	void *larger = wm_tsdl_memory(p, wm_arena_grow(&p->m->arena, *array, *count, bytes));

	if (!larger)
		return;
	*array = larger;
	memcpy((char *)larger + *count * bytes, item, bytes);
	++*count;
}

#define APPEND(p, array, count, item)                                                              \
	do {                                                                                       \
		void *array_ = (array);                                                            \
		tsdl_parse_append((p), &array_, &(count), (item), sizeof(*(item)));                \
		(array) = array_;                                                                  \
	} while (0)

static int tsdl_parse_hex(char c)
{
	const char *digits = "0123456789abcdefABCDEF", *at = c ? strchr(digits, c) : NULL;
	int i = at ? (int)(at - digits) : -1;

	return i > 15 ? i - 6 : i;
}

static bool tsdl_parse_set_uuid(struct tsdl *p, const struct wm_tsdl_value *v)
{
	const char *s = v->kind == TSDL_TEXT ? v->text : "";

	for (int i = 0; i < 16; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10) {
			if (*s != '-')
				return bad_value(p, v, "uuid", "a UUID");
			s++;
		}
		if (tsdl_parse_hex(s[0]) < 0 || tsdl_parse_hex(s[1]) < 0)
			return bad_value(p, v, "uuid", "a UUID");
		p->m->uuid[i] = (unsigned char)(tsdl_parse_hex(s[0]) << 4 | tsdl_parse_hex(s[1]));
		s += 2;
	}
	if (*s)
		return bad_value(p, v, "uuid", "a UUID");
	p->m->has_uuid = true;
	return true;
}

static bool trace_value(struct tsdl *p, const char *name, const struct wm_tsdl_value *v, void *data)
{
	uint64_t n = 0;
	bool ok = true;

	if (!strcmp(name, "major") || !strcmp(name, "minor")) {
		ok = wm_tsdl_unsigned(p, v, name, 255, &n);
		*(name[1] == 'a' ? &p->m->major : &p->m->minor) = (uint32_t)n;
	} else if (!strcmp(name, "uuid")) {
		ok = tsdl_parse_set_uuid(p, v);
	} else if (!strcmp(name, "byte_order")) {
		ok = wm_tsdl_order(p, v, &p->m->order);
		if (ok && p->m->order == WM_CTF_NATIVE)
			return bad_value(p, v, "the trace's byte_order", "le or be");
	}
	return ok;
}

static struct wm_ctf_type **trace_type(const char *name, void *data)
{
	struct wm_ctf_metadata *m = data;

	return strcmp(name, "packet.header") ? NULL : &m->packet_header;
}

static void trace_block(struct tsdl *p)
{
	static const struct block b = {"trace", "major minor uuid byte_order packet.header ",
				       trace_value, trace_type};

	if (p->has_trace)
		(void)wm_tsdl_error(p, "a second trace block");
	p->has_trace = true;
	if (tsdl_parse_block(p, &b, p->m) && p->m->major && (p->m->major != 1 || p->m->minor != 8))
		(void)wm_tsdl_error(p, "CTF %u.%u; only 1.8 is supported", p->m->major,
				    p->m->minor);
}

/*
 * Sets the value of an environment entry: a string or a number. A number too large for int64_t is
 * stored as a string.
 */
static bool set_pair(struct tsdl *p, const char *name, const struct wm_tsdl_value *v,
		     struct wm_ctf_pair *ret)
{
	char digits[24];

	*ret = (struct wm_ctf_pair){.key = name, .text = v->kind == TSDL_NUMBER ? NULL : v->text};
	if (ret->text)
		return true;
	if (v->negative || v->number <= INT64_MAX)
		return tsdl_signed(p, v, name, &ret->number);
	(void)snprintf(digits, sizeof(digits), "%llu", (unsigned long long)v->number);
	ret->text = wm_tsdl_memory(p, wm_arena_copy(&p->m->arena, digits, strlen(digits)));
	return ret->text != NULL;
}

static bool env_value(struct tsdl *p, const char *name, const struct wm_tsdl_value *v, void *data)
{
	struct wm_ctf_pair pair;

	if (!set_pair(p, name, v, &pair))
		return false;
	/* The last definition of a key wins. */
	for (uint32_t i = 0; i < p->m->nr_env; i++) {
		if (!strcmp(p->m->env[i].key, name)) {
			p->m->env[i] = pair;
			return true;
		}
	}
	if (p->m->nr_env == WM_CTF_ENV_MAX) {
		(void)wm_tsdl_error(p, "more than %u entries in env", WM_CTF_ENV_MAX);
		return false;
	}
	APPEND(p, p->m->env, p->m->nr_env, &pair);
	return true;
}

static void env_block(struct tsdl *p)
{
	static const struct block b = {"env", NULL, env_value, NULL};

	(void)tsdl_parse_block(p, &b, NULL);
}

static bool clock_value(struct tsdl *p, const char *name, const struct wm_tsdl_value *v, void *data)
{
	struct wm_ctf_clock *c = data;
	bool ok = true;

	if (!strcmp(name, "name"))
		ok = tsdl_text(p, v, name, &c->name);
	else if (!strcmp(name, "uuid"))
		ok = tsdl_text(p, v, name, &c->identity.uid);
	else if (!strcmp(name, "description"))
		ok = tsdl_text(p, v, name, &c->description);
	else if (!strcmp(name, "freq"))
		ok = wm_tsdl_unsigned(p, v, name, UINT64_MAX, &c->hz) &&
		     (c->hz || bad_value(p, v, name, "greater than 0"));
	else if (!strcmp(name, "precision"))
		ok = wm_tsdl_unsigned(p, v, name, UINT64_MAX, &c->precision);
	else if (!strcmp(name, "offset_s"))
		ok = tsdl_signed(p, v, name, &c->offset_seconds);
	else if (!strcmp(name, "offset"))
		ok = tsdl_signed(p, v, name, &c->offset_cycles);
	else if (!strcmp(name, "absolute"))
		ok = wm_tsdl_bool(p, v, name, &c->absolute);
	return ok;
}

static void tsdl_parse_clock_block(struct tsdl *p)
{
	static const struct block b = {
	    "clock", "name uuid description freq precision offset_s offset absolute ", clock_value,
	    NULL};
	struct wm_ctf_clock c = {.hz = WM_NS_PER_SECOND};

	if (!tsdl_parse_block(p, &b, &c))
		return;
	if (!c.name) {
		(void)wm_tsdl_error(p, "a clock without a name");
		return;
	}
	c.id = c.name;
	for (uint32_t i = 0; i < p->m->nr_clocks; i++)
		if (!strcmp(c.id, p->m->clocks[i].id))
			return; /* the first definition wins, as in babeltrace2 */
	if (p->m->nr_clocks == WM_CTF_CLOCKS_MAX) {
		(void)wm_tsdl_error(p, "more than %u clocks", WM_CTF_CLOCKS_MAX);
		return;
	}
	APPEND(p, p->m->clocks, p->m->nr_clocks, &c);
}

static bool stream_value(struct tsdl *p, const char *name, const struct wm_tsdl_value *v,
			 void *data)
{
	struct wm_ctf_stream *s = data;

	return strcmp(name, "id") != 0 || wm_tsdl_unsigned(p, v, name, UINT64_MAX, &s->id);
}

static struct wm_ctf_type **stream_type(const char *name, void *data)
{
	struct wm_ctf_stream *s = data;

	if (!strcmp(name, "packet.context"))
		return &s->packet_context;
	if (!strcmp(name, "event.header"))
		return &s->event_header;
	return strcmp(name, "event.context") ? NULL : &s->event_context;
}

static void stream_block(struct tsdl *p)
{
	static const struct block b = {"stream", "id packet.context event.header event.context ",
				       stream_value, stream_type};
	struct wm_ctf_stream s = {0};

	if (tsdl_parse_block(p, &b, &s))
		APPEND(p, p->m->streams, p->m->nr_streams, &s);
}

static bool event_pair(struct tsdl *p, struct wm_ctf_event *e, const char *name,
		       const struct wm_tsdl_value *v)
{
	struct wm_ctf_pair pair;

	if (!set_pair(p, name, v, &pair))
		return false;
	APPEND(p, e->pairs, e->nr_pairs, &pair);
	return true;
}

static bool event_value(struct tsdl *p, const char *name, const struct wm_tsdl_value *v, void *data)
{
	struct wm_ctf_event *e = data;

	if (!strcmp(name, "name"))
		return tsdl_text(p, v, name, &e->name);
	if (!strcmp(name, "id"))
		return wm_tsdl_unsigned(p, v, name, UINT64_MAX, &e->id);
	if (!strcmp(name, "stream_id"))
		return e->has_stream = wm_tsdl_unsigned(p, v, name, UINT64_MAX, &e->stream_id);
	if (!strcmp(name, "loglevel") && v->kind == TSDL_NUMBER)
		return tsdl_signed(p, v, name, &e->level);
	return event_pair(p, e, name, v);
}

static struct wm_ctf_type **tsdl_parse_event_type(const char *name, void *data)
{
	struct wm_ctf_event *e = data;

	if (!strcmp(name, "fields"))
		return &e->fields;
	return strcmp(name, "context") ? NULL : &e->context;
}

static void event_block(struct tsdl *p)
{
	static const struct block b = {"event", NULL, event_value, tsdl_parse_event_type};
	struct wm_ctf_event e = {.level = -1, .line = p->token.line};

	/*
	 * The lookahead token is '{', so the lexer has not yet read the comments inside the block.
	 */
	p->lexer.note = NULL;
	if (!tsdl_parse_block(p, &b, &e))
		return;
	e.note = p->lexer.note;
	APPEND(p, p->m->events, p->m->nr_events, &e);
}

static bool any_value(struct tsdl *p, const char *name, const struct wm_tsdl_value *v, void *data)
{
	return true;
}

static void callsite_block(struct tsdl *p)
{
	static const struct block b = {"callsite", NULL, any_value, NULL};

	(void)tsdl_parse_block(p, &b, NULL);
}

/* --- the whole ------------------------------------------------------------------------ */

static void top(struct tsdl *p)
{
	static const struct {
		int keyword;
		void (*parse)(struct tsdl *p);
	} blocks[] = {
	    {WM_TSDL_TRACE, trace_block},
	    {WM_TSDL_ENV, env_block},
	    {WM_TSDL_CLOCK, tsdl_parse_clock_block},
	    {WM_TSDL_STREAM, stream_block},
	    {WM_TSDL_EVENT, event_block},
	    {WM_TSDL_CALLSITE, callsite_block},
	};
	char buf[WM_TSDL_SHOW];

	for (size_t i = 0; i < sizeof(blocks) / sizeof(*blocks); i++) {
		if (p->token.kind == blocks[i].keyword) {
			wm_tsdl_advance(p);
			blocks[i].parse(p);
			return;
		}
	}
	if (wm_tsdl_is_declaration(p))
		wm_tsdl_declaration(p);
	else if (!wm_tsdl_accept(p, ';'))
		(void)wm_tsdl_error(p, "expected a block, not %s", wm_tsdl_show(&p->token, buf));
}

int wm_tsdl_parse(struct wm_ctf_metadata *m, const char *where, const char *text, size_t bytes,
		  int64_t base, struct wm_diag *diag)
{
	struct tsdl *p = calloc(1, sizeof(*p));
	int err;

	if (!p)
		return -ENOMEM;
	p->m = m;
	wm_table_init(&p->name_table);
	p->lexer = (struct wm_tsdl_lexer){.text = text,
					  .bytes = bytes,
					  .line = 1,
					  .column = 1,
					  .base = base,
					  .arena = &m->arena,
					  .where = where,
					  .diag = diag};
	wm_tsdl_advance(p);
	while (p->token.kind != WM_TSDL_END && !p->lexer.err)
		top(p);
	err = p->lexer.err;
	wm_table_done(&p->name_table);
	free(p->names);
	free(p);
	return err;
}
