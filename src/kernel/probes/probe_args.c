/* SPDX-License-Identifier: MIT */
/* probe_args.c - see probe_args.h. */
#include "kernel/probes/probe_args.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define NAME_MAX_BYTES 32u /* the kernel's limit for an argument's name */

struct slice {
	const char *at, *end;
};

struct compiler {
	const char *text;
	const struct wm_probe_scope *scope;
	struct wm_probe_args *out;
	struct wm_diag *diag;
	unsigned nr;
};

static int args_refuse(const struct compiler *c, const char *at, int err, const char *what)
{
	wm_diag_set(c->diag, err, NULL, -1, "'%.80s': %s", c->scope->probe, what);
	if (c->diag)
		c->diag->column = (uint32_t)(at - c->text) + 1;
	return err;
}

static struct slice args_trim(struct slice s)
{
	while (s.at < s.end && isspace((unsigned char)*s.at))
		s.at++;
	while (s.at < s.end && isspace((unsigned char)s.end[-1]))
		s.end--;
	return s;
}

static bool args_is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Whether this is a valid C name. */
static bool args_is_name(struct slice s)
{
	if (s.at == s.end || isdigit((unsigned char)*s.at))
		return false;
	for (; s.at < s.end; s.at++)
		if (!args_is_word(*s.at))
			return false;
	return true;
}

/*
 * Finds the first (or last) `wanted` that is not inside brackets or quotes; NULL if there is none.
 * An unmatched closing bracket ends the search.
 */
static const char *args_find(struct slice s, char wanted, bool last)
{
	const char *found = NULL;
	bool quoted = false;
	int depth = 0;

	for (const char *p = s.at; p < s.end; p++) {
		quoted ^= *p == '"';
		if (quoted)
			continue;
		depth += (*p == '(' || *p == '[') - (*p == ')' || *p == ']');
		if (depth < 0)
			break;
		if (depth || *p != wanted)
			continue;
		found = p;
		if (!last)
			break;
	}
	return found;
}

static int args_copy(const struct compiler *c, struct slice s, char *to, size_t bytes)
{
	size_t n = (size_t)(s.end - s.at);

	if (n >= bytes)
		return args_refuse(c, s.at, -EINVAL, "this is too long to fetch");
	memcpy(to, s.at, n);
	to[n] = '\0';
	return 0;
}

/* ---- values ---------------------------------------------------------------------------- */

/*
 * Copies text in the kernel's own syntax. Registers may have their assembler names: "%rdi" becomes
 * "%di".
 */
static int own_words(const struct compiler *c, struct slice s, struct wm_probe_value *ret)
{
	size_t n = 0;

	while (s.at < s.end) {
		const char *name = s.at + 1, *end = name;
		unsigned bytes, shift;
		char one[2] = {*s.at, 0};
		const char *put = one;

		if (isspace((unsigned char)*s.at))
			return args_refuse(c, s.at, -EINVAL, "an argument must not contain blanks");
		if (*s.at == '%') {
			while (end < s.end && args_is_word(*end))
				end++;
			if (!wm_probe_register(name, (size_t)(end - name), &put, &bytes, &shift) ||
			    shift)
				return args_refuse(
				    c, s.at, -EINVAL,
				    "the kernel cannot read a register of this name");
		}
		n += (size_t)snprintf(ret->fetch + n, sizeof(ret->fetch) - n, "%s%s",
				      *s.at == '%' ? "%" : "", put);
		if (n >= sizeof(ret->fetch))
			return args_refuse(c, s.at, -EINVAL, "this is too long to fetch");
		s.at = *s.at == '%' ? end : s.at + 1;
	}
	return 0;
}

/* The number, from 0, of an argument named like "arg3"; -1 for other names. */
static int argument_number(const char *name)
{
	if (strncmp(name, "arg", 3) || name[3] < '1' || name[3] > '9' ||
	    (name[4] && (!isdigit((unsigned char)name[4]) || name[5])))
		return -1;
	return name[4] ? 10 * (name[3] - '0') + name[4] - '0' - 1 : name[3] - '1';
}

/*
 * Fetches a word from an i386 program's stack; the kernel's own $stackN counts words of the
 * kernel's width. On entry to a function, word 0 is the return address.
 */
static int stack_word(unsigned nr, struct wm_probe_value *ret)
{
	(void)snprintf(ret->fetch, sizeof(ret->fetch), "+%u(%%sp)", 4 * nr);
	(void)snprintf(ret->type, sizeof(ret->type), "u32");
	ret->points = true; /* needed if the type is a string */
	return 0;
}

static int convention(const struct compiler *c, const char *at, unsigned nr,
		      struct wm_probe_value *ret)
{
	const char *name = wm_probe_argument_register(nr);

	if (c->scope->inlined)
		return args_refuse(
		    c, at, -EOPNOTSUPP,
		    "an inlined copy of a function gets no arguments: name its "
		    "parameters, or probe func:PROGRAM:FUNCTION, which has no copies");
	if (c->scope->narrow && !c->scope->returns)
		return stack_word(nr + 1, ret);
	if (c->scope->returns)
		return args_refuse(
		    c, at, -EINVAL,
		    "arguments are available only at a function's entry; use uprobe or kprobe");
	(void)snprintf(ret->type, sizeof(ret->type), "u64");
	if (c->scope->in_kernel)
		(void)snprintf(ret->fetch, sizeof(ret->fetch), "$arg%u", nr + 1);
	else if (name)
		(void)snprintf(ret->fetch, sizeof(ret->fetch), "%%%s", name);
	else
		return args_refuse(
		    c, at, -EINVAL,
		    "the calling convention does not pass this argument in a register; "
		    "give its place on the stack, +8(%sp) for the first one there");
	return 0;
}

static int dollar(const struct compiler *c, struct slice s, struct wm_probe_value *ret)
{
	char name[32], more;
	unsigned word;
	int err = args_copy(c, s, name, sizeof(name)), nr;

	if (err)
		return err;
	nr = argument_number(name + 1);
	if (nr >= 0)
		return convention(c, s.at, (unsigned)nr, ret);
	if (c->scope->narrow && sscanf(name, "$stack%3u%c", &word, &more) == 1)
		return stack_word(word, ret);
	if (!strcmp(name, "$retval") && !c->scope->returns)
		return args_refuse(c, s.at, -EINVAL,
				   "the return value is available only at a function's return; use "
				   "uretprobe or kretprobe");
	if (c->scope->named) {
		err = c->scope->named(c->scope->data, name, ret, c->diag);
		if (err && err != -ENOENT)
			return err;
	}
	return args_copy(c, s, ret->fetch, sizeof(ret->fetch));
}

static int args_by_name(const struct compiler *c, struct slice s, struct wm_probe_value *ret)
{
	char name[256], sentence[400];
	int err = args_copy(c, s, name, sizeof(name)), nr;

	if (err)
		return err;
	err = c->scope->named ? c->scope->named(c->scope->data, name, ret, c->diag) : -ENOENT;
	nr = argument_number(name);
	if (err == -ENOENT && nr >= 0)
		return convention(c, s.at, (unsigned)nr, ret);
	if (err == -ENOENT && !(c->diag && c->diag->sentence[0])) {
		(void)snprintf(sentence, sizeof(sentence),
			       "'%.60s' is unknown at this place; without debug information give "
			       "an argument number (arg1) or a register (%%di)",
			       name);
		return args_refuse(c, s.at, err, sentence);
	}
	if (err && c->diag)
		c->diag->column = (uint32_t)(s.at - c->text) + 1;
	return err;
}

/* ---- one element of the list ------------------------------------------------------------- */

static int args_value_of(const struct compiler *c, struct slice s, struct wm_probe_value *ret);

/*
 * The memory at an offset from an address, "+8(VALUE)"; the value may be any that this file knows,
 * such as arg3. Returns false when the text has not this form.
 */
static bool is_memory(struct slice s, struct slice *ret_inner)
{
	const char *open = memchr(s.at, '(', (size_t)(s.end - s.at));

	if ((*s.at != '+' && *s.at != '-') || !open || s.end[-1] != ')')
		return false;
	*ret_inner = args_trim((struct slice){open + 1, s.end - 1});
	return ret_inner->at < ret_inner->end;
}

static int args_memory(const struct compiler *c, struct slice s, struct slice inner,
		       struct wm_probe_value *ret)
{
	struct wm_probe_value address = {.points = false};
	int err = args_value_of(c, inner, &address), n;

	if (err)
		return err;
	if (address.type[0] == 'b' || !strncmp(address.type, "sb", 2) || address.is_text)
		return args_refuse(c, inner.at, -EINVAL, "this is not an address");
	n = snprintf(ret->fetch, sizeof(ret->fetch), "%.*s%s)", (int)(strchr(s.at, '(') + 1 - s.at),
		     s.at, address.fetch);
	return n < (int)sizeof(ret->fetch)
		   ? 0
		   : args_refuse(c, s.at, -EINVAL, "this is too long to fetch");
}

static int args_value_of(const struct compiler *c, struct slice s, struct wm_probe_value *ret)
{
	struct slice inner;

	if (is_memory(s, &inner))
		return args_memory(c, s, inner, ret);
	if (*s.at == '$')
		return dollar(c, s, ret);
	if (strchr("%@+-\\", *s.at))
		return own_words(c, s, ret);
	return args_by_name(c, s, ret);
}

/* Determines an argument's name: "x" in "x=%di", or one derived from the value. */
static int args_name_of(const struct compiler *c, struct slice *s, char *ret, size_t bytes)
{
	const char *equals = args_find(*s, '=', false);
	struct slice name = args_trim((struct slice){s->at, equals ? equals : s->at});

	if (equals && !args_is_name(name))
		return args_refuse(c, s->at, -EINVAL, "a name consists of letters, digits and _");
	if (equals) {
		*s = args_trim((struct slice){equals + 1, s->end});
		return args_copy(c, name, ret, bytes);
	}
	name = *s;
	name.at += *name.at == '$' || *name.at == '%';
	for (name.end = name.at; name.end < s->end && args_is_word(*name.end); name.end++)
		;
	/* "list->head.size" is named "size" */
	for (const char *p = name.end; p < s->end && !strchr(":(+", *p); p++)
		if (args_is_word(*p))
			name = (struct slice){args_is_word(p[-1]) ? name.at : p, p + 1};
	if (args_is_name(name))
		return args_copy(c, name, ret, bytes);
	(void)snprintf(ret, bytes, "arg%u", c->nr);
	return 0;
}

/* Whether an argument of that name is in the list already. */
static bool args_is_taken(const struct compiler *c, const char *name)
{
	const char *list = c->out->kernel.bytes ? c->out->kernel.data : "";
	size_t n = strlen(name);

	for (const char *at = list; at; at = strchr(at, ' ')) {
		at += *at == ' ';
		if (!strncmp(at, name, n) && at[n] == '=')
			return true;
	}
	return false;
}

/* Turns "r->next->name" into "r_next_name"; returns false when that is too long for a name. */
static bool args_whole_name(struct slice s, char *ret, size_t bytes)
{
	size_t n = 0;

	for (; s.at < s.end && n + 1 < bytes; s.at++) {
		if (args_is_word(*s.at))
			ret[n++] = *s.at;
		else if (n && ret[n - 1] != '_')
			ret[n++] = '_';
	}
	while (n && ret[n - 1] == '_')
		n--;
	ret[n] = '\0';
	return s.at == s.end && n && !isdigit((unsigned char)*ret);
}

/*
 * Gives an argument without a name of its own another than earlier ones have: its whole path, or
 * its number after the name.
 */
static void args_distinguish(const struct compiler *c, struct slice value, char *name, size_t bytes)
{
	char whole[NAME_MAX_BYTES];

	if (!args_is_taken(c, name))
		return;
	if (args_whole_name(value, whole, sizeof(whole)) && !args_is_taken(c, whole)) {
		(void)snprintf(name, bytes, "%s", whole);
		return;
	}
	(void)snprintf(whole, sizeof(whole), "%.24s_%u", name, c->nr);
	(void)snprintf(name, bytes, "%s", whole);
}

static void args_type_of(struct slice *s, char *ret, size_t bytes)
{
	const char *colon = args_find(*s, ':', true);

	*ret = '\0';
	if (!colon || (size_t)(s->end - colon) > bytes)
		return;
	memcpy(ret, colon + 1, (size_t)(s->end - colon - 1));
	ret[s->end - colon - 1] = '\0';
	s->end = colon;
}

/*
 * Whether the text is a number: a string at a constant address does not need "+0(...)" around it,
 * one at an address in a register does.
 */
static bool args_is_number(const char *fetch)
{
	return *fetch == '%' || *fetch == '$';
}

/* Whether the value is a pointer to the wanted text rather than the text itself. */
static bool args_follows(const struct wm_probe_value *v, const char *type)
{
	return strstr(type, "string") && !v->is_text && (v->points || args_is_number(v->fetch)) &&
	       strcmp(v->fetch, "$comm");
}

/*
 * Whether the value is a pointer in an i386 program's memory: the kernel reads such pointers as 8
 * bytes.
 */
static bool is_out_of_reach(const struct compiler *c, const struct wm_probe_value *v)
{
	unsigned reads = args_follows(v, v->type) + (strchr(v->fetch, '@') != NULL);

	for (const char *p = v->fetch; *p; p++)
		reads += *p == '(';
	return c->scope->narrow && reads > 1;
}

static const char out_of_reach[] =
    "it is reached through a 32-bit pointer in memory, and the kernel "
    "follows only 64-bit ones; it can follow a register: +0(%eax)";

/* Whether the value is an untyped number in i386 code; "$comm" and "\"text\"" are not numbers. */
static bool is_narrow_number(const struct compiler *c, const struct wm_probe_value *v)
{
	return c->scope->narrow && !*v->type && strcasecmp(v->fetch, "$comm") &&
	       strncmp(v->fetch, "\\\"", 2);
}

void wm_probe_args_init(struct wm_probe_args *a)
{
	wm_text_init(&a->kernel);
	wm_text_init(&a->recast);
	wm_text_init(&a->left_out);
}

void wm_probe_args_done(struct wm_probe_args *a)
{
	wm_text_done(&a->kernel);
	wm_text_done(&a->recast);
	wm_text_done(&a->left_out);
}

#define RECAST_BYTES 8u

/*
 * Writes the type that the kernel fetches in place of one that it lacks, and what follows the name
 * in wm_probe_args.recast. Returns false if the kernel has the type itself.
 */
static bool args_recast(const char *type, char *to, size_t bytes, char how[RECAST_BYTES])
{
	static const char *const floats[][2] = {{"float", "u32"}, {"double", "u64"}};

	how[0] = '\0';

	for (size_t i = 0; i < 2; i++) {
		size_t n = strlen(floats[i][0]);

		if (strncmp(type, floats[i][0], n) || (type[n] && type[n] != '['))
			continue;
		(void)snprintf(to, bytes, "%s%s", floats[i][1], type + n);
		return true;
	}
	if (strncmp(type, "sb", 2)) {
		(void)snprintf(to, bytes, "%s", type);
		return false;
	}
	(void)snprintf(to, bytes, "%s", type + 1);
	(void)snprintf(how, RECAST_BYTES, ":%.*s", (int)strcspn(type + 2, "@"), type + 2);
	return true;
}

void wm_probe_args_add(struct wm_probe_args *out, const char *name,
		       const struct wm_probe_value *value)
{
	char type[sizeof(value->type)], how[RECAST_BYTES];
	bool recast = args_recast(value->type, type, sizeof(type), how);
	bool inner = args_follows(value, type);

	wm_text_f(&out->kernel, "%s%s=%s%s%s%s%s", out->kernel.bytes ? " " : "", name,
		  inner ? "+0(" : "", value->fetch, inner ? ")" : "", *type ? ":" : "", type);
	if (recast)
		wm_text_f(&out->recast, "%s%s%s", out->recast.bytes ? " " : "", name, how);
}

/* Adds one argument of "*". */
static int args_on_each(const char *name, void *data)
{
	struct compiler *c = data;
	struct wm_diag diag = {.offset = -1};
	struct wm_probe_value value = {.points = false};
	struct slice s = {name, name + strlen(name)};
	int err;

	if (c->nr >= WM_PROBE_ARGS_MAX || s.end - s.at >= NAME_MAX_BYTES || !args_is_name(s))
		return 0;
	err = c->scope->named(c->scope->data, name, &value, &diag);
	if (err == -ENOMEM)
		return err;
	if (!err && is_out_of_reach(c, &value))
		err = wm_diag_set(&diag, -EOPNOTSUPP, NULL, -1, "'%.80s': %s", name, out_of_reach);
	c->nr += !err;
	if (!err)
		wm_probe_args_add(c->out, name, &value);
	else
		wm_text_f(&c->out->left_out, "%s%s", c->out->left_out.bytes ? "; " : "",
			  diag.sentence);
	return 0;
}

static int compile_all(struct compiler *c, const char *at)
{
	int err = c->scope->each ? c->scope->each(c->scope->data, args_on_each, c) : -ENOENT;

	if (err == -ENOENT)
		return args_refuse(c, at, err,
				   "its parameters are unknown: it has no debug information");
	return err;
}

static int compile_one(struct compiler *c, struct slice s)
{
	struct wm_probe_value value = {.points = false};
	char name[NAME_MAX_BYTES], type[sizeof(value.type)];
	bool is_named;
	int err;

	s = args_trim(s);
	if (s.at == s.end)
		return args_refuse(c, s.at, -EINVAL, "an argument is missing here");
	if (*s.at == '*' && s.at + 1 == s.end)
		return compile_all(c, s.at);
	if (++c->nr > WM_PROBE_ARGS_MAX)
		return args_refuse(c, s.at, -EINVAL, "more arguments than the kernel can fetch");
	args_type_of(&s, type, sizeof(type));
	is_named = args_find(s, '=', false) != NULL;
	err = args_name_of(c, &s, name, sizeof(name));
	if (!err && !is_named)
		args_distinguish(c, s, name, sizeof(name));
	if (!err && s.at == s.end)
		return args_refuse(c, s.at, -EINVAL, "the value to fetch is missing here");
	if (!err)
		err = args_value_of(c, s, &value);
	if (err)
		return err;
	if (*type && *type != 'b' && (*value.type == 'b' || !strncmp(value.type, "sb", 2)))
		return args_refuse(c, s.at, -EINVAL,
				   "the type of a bit field cannot be changed: omit it");
	if (*type)
		memcpy(value.type, type, sizeof(type));
	if (is_narrow_number(c, &value))
		memcpy(value.type, "u32", sizeof("u32"));
	if (is_out_of_reach(c, &value))
		return args_refuse(c, s.at, -EOPNOTSUPP, out_of_reach);
	wm_probe_args_add(c->out, name, &value);
	return c->out->kernel.failed || c->out->recast.failed ? -ENOMEM : 0;
}

int wm_probe_args_compile(const char *text, const struct wm_probe_scope *scope,
			  struct wm_probe_args *out, struct wm_diag *diag)
{
	struct compiler c = {.text = text, .scope = scope, .out = out, .diag = diag};
	struct slice rest = {text, text + strlen(text)};

	for (;;) {
		const char *comma = args_find(rest, ',', false);
		int err = compile_one(&c, (struct slice){rest.at, comma ? comma : rest.end});

		if (err || !comma)
			return err;
		rest.at = comma + 1;
	}
}
