/* SPDX-License-Identifier: MIT */
/*
 * formats.c - see formats.h. Events are in a table by id; symbols, strings and names are in sorted
 * arrays.
 */
#include "kdata/formats.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/hex.h"
#include "base/search.h"
#include "base/table.h"
#include "kdata/print.h"

#define NAMES_MAX (1u << 24) /* memory limit for a list, which is not in the arena */

struct named {
	uint64_t key;
	const char *text;
};

/* A list sorted by key once sealed. Among equal keys the last one added wins. */
struct names {
	struct named *at;
	size_t nr, room;
};

/*
 * The symbols are a large text, and few traces print an address. So a source is asked only when an
 * address is first looked up, by one of the threads that print.
 */
struct source {
	wm_kformats_symbols_fn *ask; /* NULL: there is none */
	void *data;
	char *text; /* owned */
	bool asked; /* a thread that sees it with acquire sees the symbols */
};

struct wm_kformats {
	struct wm_arena arena;
	struct wm_kmachine machine;
	struct wm_kform *events; /* table by id, of WM_KFORMATS_IDS entries */
	uint32_t nr_ids;
	struct names symbols, printk, comms;
	struct wm_table by_pid; /* indices into `comms`, as each event's name is looked up */
	struct source source;
	pthread_mutex_t lock; /* held while print forms are compiled and symbols are read */
};

struct wm_kformats *wm_kformats_create(const struct wm_kmachine *machine)
{
	struct wm_kformats *k = calloc(1, sizeof(*k));

	if (!k)
		return NULL;
	k->machine = *machine;
	wm_arena_init(&k->arena, WM_KFORMATS_BYTES_MAX);
	wm_table_init(&k->by_pid);
	pthread_mutex_init(&k->lock, NULL);
	k->events = calloc(WM_KFORMATS_IDS, sizeof(*k->events));
	if (k->events)
		return k;
	wm_kformats_destroy(k);
	return NULL;
}

void wm_kformats_destroy(struct wm_kformats *k)
{
	if (!k)
		return;
	free(k->events);
	free(k->symbols.at);
	free(k->printk.at);
	free(k->comms.at);
	free(k->source.text);
	pthread_mutex_destroy(&k->lock);
	wm_table_done(&k->by_pid);
	wm_arena_done(&k->arena);
	free(k);
}

static bool formats_is_same(const struct wm_kformat *a, const struct wm_kformat *b)
{
	return a && strcmp(a->system, b->system) == 0 && strcmp(a->name, b->name) == 0;
}

int wm_kformats_add(struct wm_kformats *k, const char *system, const char *text, size_t bytes,
		    const struct wm_kformat **ret, struct wm_diag *diag)
{
	const struct wm_kformat *f;
	int err = wm_kformat_parse(&k->arena, &k->machine, system, text, bytes, &f, diag);

	if (err)
		return err;
	if (f->id >= WM_KFORMATS_IDS)
		return wm_diag_set(diag, -EBADMSG, NULL, 0, "event %s:%s has the invalid ID %u",
				   system, f->name, f->id);
	if (formats_is_same(k->events[f->id].format, f)) { /* added twice */
		if (ret)
			*ret = k->events[f->id].format;
		return 0;
	}
	if (k->events[f->id].format)
		return wm_diag_set(diag, -EEXIST, NULL, 0,
				   "events %s:%s and %s:%s have the same ID %u",
				   k->events[f->id].format->system, k->events[f->id].format->name,
				   system, f->name, f->id);
	k->events[f->id].format = f;
	if (f->id >= k->nr_ids)
		k->nr_ids = f->id + 1;
	if (ret)
		*ret = f;
	return 0;
}

static int formats_add_name(struct names *n, uint64_t key, const char *text)
{
	if (n->nr >= NAMES_MAX || WM_ARRAY_GROW(n->at, n->room, n->nr + 1))
		return -ENOMEM;
	n->at[n->nr++] = (struct named){key, text};
	return 0;
}

/*
 * Parse a number at the start of a line. Return the position after it, or NULL when the line does
 * not begin with a number.
 */
static const char *leading_hex(const char *at, const char *end, uint64_t *ret)
{
	size_t digits;

	if (end - at > 2 && at[0] == '0' && at[1] == 'x')
		at += 2;
	digits = wm_hex_read(at, end, ret);
	return digits && digits <= 20 ? at + digits : NULL;
}

static const char *leading_decimal(const char *at, const char *end, uint64_t *ret)
{
	const char *begin = at;
	uint64_t value = 0;

	for (; at < end && *at >= '0' && *at <= '9'; at++)
		value = value * 10 + (uint64_t)(*at - '0');
	*ret = value;
	return at > begin && at - begin <= 20 ? at : NULL;
}

/*
 * Adds one line of the copied text to a list; may store a NUL at *end. Returns 1 when the line is
 * not in the list's format.
 */
typedef int take_fn(struct wm_kformats *k, char *at, char *end);

static int take_symbol(struct wm_kformats *k, char *at, char *end)
{
	uint64_t addr;
	const char *p = leading_hex(at, end, &addr);
	const char *name;

	if (!p || end - p < 4 || p[0] != ' ' || p[2] != ' ' || p[3] == '\t' || p[3] == ' ')
		return 1;
	name = p + 3;
	/*
	 * Skips absolute symbols, which are offsets into per-CPU data, and the marks ($) that ARM
	 * has for pieces of code. The name is ended when it is looked up, as few are.
	 */
	if (!addr || (p[1] | 32) == 'a' || *name == '$')
		return 0;
	*end = 0;
	return formats_add_name(&k->symbols, addr, name);
}

static int take_comm(struct wm_kformats *k, char *at, char *end)
{
	uint64_t pid;
	const char *p = leading_decimal(at, end, &pid);

	if (!p || p >= end || *p != ' ')
		return 1;
	*end = 0;
	return formats_add_name(&k->comms, pid, p + 1);
}

/* Replaces the escapes \n, \t, \", \\ in a quoted string in place; NUL-terminates it. */
static void unescape(char *text, size_t bytes)
{
	static const char from[] = "nt\"\\r", to[] = "\n\t\"\\\r";
	size_t out = 0;

	for (size_t i = 0; i < bytes; i++) {
		const char *at = NULL;

		if (text[i] == '\\' && i + 1 < bytes && text[i + 1])
			at = strchr(from, text[i + 1]);
		text[out++] = at ? to[at - from] : text[i];
		i += at != NULL;
	}
	text[out] = 0;
}

/* Parses a line such as 0xffffffff81a00000 : "text" */
static int take_printk(struct wm_kformats *k, char *at, char *end)
{
	uint64_t addr;
	const char *p = leading_hex(at, end, &addr);
	char *quote;

	if (!p)
		return 1;
	quote = memchr(p, '"', (size_t)(end - p));
	if (!quote || end - quote < 2 || end[-1] != '"')
		return 1;
	unescape(quote + 1, (size_t)(end - 1 - (quote + 1)));
	return formats_add_name(&k->printk, addr, quote + 1);
}

/* Takes the lines of a text, which the lists point into from now on, up to its first NUL. */
static int formats_take_lines(struct wm_kformats *k, char *at, size_t bytes, take_fn *take)
{
	char *end = at + bytes;
	int nr_bad = 0;

	while (at < end && *at) {
		char *nl = memchr(at, '\n', (size_t)(end - at)), *stop = nl ? nl : end;
		int got = stop > at ? take(k, at, stop) : 0;

		if (got < 0)
			return got;
		nr_bad += got;
		at = stop + 1;
	}
	return nr_bad;
}

static int formats_copy_lines(struct wm_kformats *k, const char *text, size_t bytes, take_fn *take)
{
	char *copy = wm_arena_copy(&k->arena, text, bytes);

	return copy ? formats_take_lines(k, copy, bytes, take) : -ENOMEM;
}

int wm_kformats_add_symbols(struct wm_kformats *k, const char *text, size_t bytes)
{
	return formats_copy_lines(k, text, bytes, take_symbol);
}

void wm_kformats_set_symbols(struct wm_kformats *k, wm_kformats_symbols_fn *ask, void *data)
{
	k->source.ask = ask;
	k->source.data = data;
}

int wm_kformats_add_printk(struct wm_kformats *k, const char *text, size_t bytes)
{
	return formats_copy_lines(k, text, bytes, take_printk);
}

int wm_kformats_add_comms(struct wm_kformats *k, const char *text, size_t bytes)
{
	return formats_copy_lines(k, text, bytes, take_comm);
}

static int by_key(const void *a, const void *b)
{
	const struct named *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return 0;
}

/* Most lists are already sorted. glibc's qsort() is stable if it can allocate memory. */
static void sort_names(struct names *n)
{
	for (size_t i = 1; i < n->nr; i++) {
		if (n->at[i - 1].key > n->at[i].key) {
			qsort(n->at, n->nr, sizeof(*n->at), by_key);
			return;
		}
	}
}

/* Among equal keys the last one counts. */
static int formats_hash_comms(struct wm_kformats *k)
{
	const struct names *n = &k->comms;
	int err = 0;

	wm_table_clear(&k->by_pid);
	for (size_t i = 0; i < n->nr && !err; i++)
		if (i + 1 == n->nr || n->at[i + 1].key != n->at[i].key)
			err = wm_table_add(&k->by_pid, wm_table_hash(&k->by_pid, n->at[i].key),
					   (uint32_t)i);
	return err;
}

int wm_kformats_seal(struct wm_kformats *k)
{
	sort_names(&k->symbols);
	sort_names(&k->printk);
	sort_names(&k->comms);
	return formats_hash_comms(k);
}

/* Finds the last entry whose key is <= `key`; NULL when all keys are greater. */
static const struct named *last_below(const struct names *n, uint64_t key)
{
	size_t low = WM_SEARCH(0, n->nr, i, n->at[i].key <= key);
	return low ? &n->at[low - 1] : NULL;
}

/* Without memory for the symbols, addresses print as numbers. */
static void formats_load_symbols(struct wm_kformats *k)
{
	size_t bytes;

	if (k->source.ask(k->source.data, &k->source.text, &bytes))
		return;
	if (formats_take_lines(k, k->source.text, bytes, take_symbol) < 0)
		k->symbols.nr = 0;
	sort_names(&k->symbols);
}

static void formats_ask_symbols(struct wm_kformats *k)
{
	if (!k->source.ask || __atomic_load_n(&k->source.asked, __ATOMIC_ACQUIRE))
		return;
	pthread_mutex_lock(&k->lock);
	if (!k->source.asked) {
		formats_load_symbols(k);
		/* Pairs with the load above: a thread that sees the flag sees the symbols. */
		__atomic_store_n(&k->source.asked, true, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&k->lock);
}

const char *wm_kformats_symbol(const struct wm_kformats *k, uint64_t addr, uint64_t *ret_start,
			       size_t *ret_bytes)
{
	const struct named *n;

	/* Not a change that a caller can see. */
	formats_ask_symbols((struct wm_kformats *)k);
	n = last_below(&k->symbols, addr);

	/* The size of the last symbol is not known. */
	if (!n || n == &k->symbols.at[k->symbols.nr - 1])
		return NULL;
	*ret_start = n->key;
	*ret_bytes = strcspn(n->text, "\t ");
	return n->text;
}

static const char *exactly(const struct names *names, uint64_t key)
{
	const struct named *n = last_below(names, key);

	return n && n->key == key ? n->text : NULL;
}

const char *wm_kformats_text(const struct wm_kformats *k, uint64_t addr)
{
	return exactly(&k->printk, addr);
}

const char *wm_kformats_comm(const struct wm_kformats *k, uint32_t pid)
{
	struct wm_table_walk w = wm_table_walk(wm_table_hash(&k->by_pid, pid));

	while (wm_table_next(&k->by_pid, &w))
		if (k->comms.at[w.index].key == pid)
			return k->comms.at[w.index].text;
	return NULL;
}

const struct wm_kmachine *wm_kformats_machine(const struct wm_kformats *k)
{
	return &k->machine;
}

const struct wm_kformat *wm_kformats_event(const struct wm_kformats *k, uint32_t id)
{
	return id < k->nr_ids ? k->events[id].format : NULL;
}

const struct wm_kform *wm_kformats_form(const struct wm_kformats *k, uint32_t id)
{
	return wm_kformats_event(k, id) ? &k->events[id] : NULL;
}

const struct wm_kprint *wm_kformats_compile(const struct wm_kformats *sealed,
					    const struct wm_kform *form)
{
	/* Not a change that a caller can see. */
	struct wm_kformats *k = (struct wm_kformats *)sealed;
	struct wm_kform *f = (struct wm_kform *)form;
	const struct wm_kprint *print;

	pthread_mutex_lock(&k->lock);
	if (!f->print && !wm_kprint_compile(&k->arena, &k->machine, f->format, &print, NULL))
		/*
		 * Pairs with the load in wm_kformats_print(): a thread that sees the pointer sees
		 * the program.
		 */
		__atomic_store_n(&f->print, print, __ATOMIC_RELEASE);
	print = f->print;
	pthread_mutex_unlock(&k->lock);
	return print;
}

uint32_t wm_kformats_nr_ids(const struct wm_kformats *k)
{
	return k->nr_ids;
}
