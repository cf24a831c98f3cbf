/* SPDX-License-Identifier: MIT */
/*
 * count_by.c - see count_by.h. The program, for a key with several parts:
 *
 *   is the thread counted?               (count_by_tasks.c has the map)
 *   key = 0; each part stored at its offset, text truncated and padded with 0
 *   map[key]++, inserted when missing; map full: left_over++
 *   return 1                             (0 would hide the event from perf)
 */
#include "kernel/count_by.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "kdata/event_format.h"
#include "kernel/counting/bpf.h"
#include "kernel/counting/count_by_tasks.h"
#include "kernel/event_fields.h"
#include "kernel/perf_event.h"

#define ARENA_BYTES (4u << 20)
#define NAME_BYTES  64u

/* Offsets of variables on the program's stack, relative to its top. */
#define AT_VALUE -8
#define AT_INDEX -16
#define AT_KEY   -512 /* first byte of the key */
#define KEY_MAX  448u

enum part_kind {
	PART_NUMBER,
	PART_CHARS,    /* char x[16] */
	PART_DATA_LOC, /* text after the fixed part of the record */
	PART_REL_LOC,
	PART_USER, /* a pointer to text in the program's memory, a system call's argument */
	PART_PID,
	PART_TID,
	PART_CPU,
	PART_COMM,
};

struct part {
	enum part_kind kind;
	char name[NAME_BYTES];
	uint32_t field, field_bytes; /* offset and size in the record */
	bool is_signed;
	uint32_t at, bytes; /* offset and size in the key */
};

struct wm_count_by {
	struct part parts[WM_BY_PARTS_MAX];
	unsigned nr_parts;
	uint32_t key_bytes;
	uint64_t event_id;
	char name[128];
	int keys, left_over, program; /* descriptors */
	int event;                    /* negative while not counting */
};

/* ---- fields -> parts ---------------------------------------------------------------------- */

static bool count_by_is_text(const struct part *p)
{
	return p->kind != PART_NUMBER && p->kind != PART_PID && p->kind != PART_TID &&
	       p->kind != PART_CPU;
}

static const char *const context_names[] = {"pid", "tid", "cpu", "comm", NULL};

static bool context_part(const char *name, struct part *p)
{
	static const enum part_kind kinds[] = {PART_PID, PART_TID, PART_CPU, PART_COMM};

	for (size_t i = 0; context_names[i]; i++) {
		if (!strcmp(context_names[i], name)) {
			p->kind = kinds[i];
			return true;
		}
	}
	return false;
}

static int count_by_no_field(const struct wm_count_by *c, const struct wm_kformat *format,
			     const char *name, struct wm_diag *diag)
{
	char hint[WM_DIAG_SENTENCE / 2];

	return wm_diag_set(diag, -ENOENT, NULL, -1, "%s has no field '%.60s'; %s", c->name, name,
			   wm_event_fields_hint(format, context_names, name, hint, sizeof(hint)));
}

/*
 * The format declares a system call's arguments as whole unsigned registers, whatever their type.
 * Signed types must print as such (-100), and the upper half of an int's register is undefined.
 */
static void use_type(const struct wm_kfield *f, struct part *p)
{
	static const struct {
		const char *type;
		uint32_t bytes;
	} types[] = {{"int", 4}, {"pid_t", 4}, {"long", 8}, {"ssize_t", 8}, {"off_t", 8}};

	for (size_t i = 0; f->bytes == 8 && i < sizeof(types) / sizeof(types[0]); i++) {
		if (strcmp(types[i].type, f->type))
			continue;
		p->field_bytes = types[i].bytes;
		p->field += __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 8 - types[i].bytes : 0;
		p->is_signed = true;
	}
}

/*
 * Chooses how a field becomes part of the key. Returns false if its value cannot be part of a key.
 */
static bool field_part(const struct wm_kfield *f, struct part *p)
{
	bool chars = f->flags & WM_KFIELD_CHARS;

	p->field = f->offset;
	p->field_bytes = f->bytes;
	p->is_signed = f->flags & WM_KFIELD_SIGNED;
	if (f->flags & WM_KFIELD_DYNAMIC) {
		p->kind = f->flags & WM_KFIELD_DATA_LOC ? PART_DATA_LOC : PART_REL_LOC;
		return chars;
	}
	if (f->flags & WM_KFIELD_ARRAY) {
		p->kind = PART_CHARS;
		return chars && !(f->flags & WM_KFIELD_TAIL);
	}
	/* A system call's string argument is a pointer into the program's memory. */
	p->kind = f->flags & WM_KFIELD_POINTER && strstr(f->type, "char") ? PART_USER : PART_NUMBER;
	use_type(f, p);
	return f->bytes == 1 || f->bytes == 2 || f->bytes == 4 || f->bytes == 8;
}

static int count_by_add_part(struct wm_count_by *c, const struct wm_kformat *format,
			     const char *name, struct wm_diag *diag)
{
	struct part *p = &c->parts[c->nr_parts];
	const struct wm_kfield *field = *name == '$' ? NULL : wm_kformat_field(format, name);

	if (c->nr_parts == WM_BY_PARTS_MAX || strlen(name) >= NAME_BYTES)
		return wm_diag_set(diag, -EINVAL, NULL, -1, "cannot count by more than %u fields",
				   WM_BY_PARTS_MAX);
	*p = (struct part){.at = c->key_bytes, .bytes = 8};
	(void)snprintf(p->name, sizeof(p->name), "%s", name);
	if (!field && !context_part(name + (*name == '$'), p))
		return count_by_no_field(c, format, name, diag);
	if (field && !field_part(field, p))
		return wm_diag_set(
		    diag, -EINVAL, NULL, -1,
		    "%s cannot be counted by '%.60s': it is neither a number nor text", c->name,
		    name);
	if (count_by_is_text(p))
		p->bytes = p->kind == PART_COMM ? 16 : WM_BY_TEXT_BYTES;
	c->key_bytes += p->bytes;
	c->nr_parts++;
	return c->key_bytes <= KEY_MAX
		   ? 0
		   : wm_diag_set(diag, -EINVAL, NULL, -1, "too many text fields to count by");
}

static int parse_fields(struct wm_count_by *c, const struct wm_tracefs *t,
			const struct wm_event_def *def, const char *fields, struct wm_diag *diag)
{
	const struct wm_kformat *format;
	struct wm_kmachine machine;
	struct wm_arena arena;
	char *text, *copy, *save = NULL;
	size_t bytes;
	int err = wm_tracefs_event_format(t, def->system, def->event, &text, &bytes, diag);

	if (err < 0)
		return err;
	wm_arena_init(&arena, ARENA_BYTES);
	wm_kmachine_init(&machine, sizeof(long), __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	err = wm_kformat_parse(&arena, &machine, def->system, text, bytes, &format, diag);
	copy = strdup(fields);
	for (char *name = copy ? strtok_r(copy, ",", &save) : NULL; name && !err;
	     name = strtok_r(NULL, ",", &save))
		err = count_by_add_part(c, format, name, diag);
	if (!err && !c->nr_parts)
		err = wm_diag_set(diag, -EINVAL, NULL, -1, "no field to count by is given");
	free(copy);
	free(text);
	wm_arena_done(&arena);
	return err;
}

/* ---- the program ----------------------------------------------------------------------------- */

/* Emits code that copies the text at the address in r3 to its place in the key. */
static void emit_text(struct wm_bpf_code *b, const struct part *p, uint32_t bytes, int32_t helper)
{
	wm_bpf_move(b, BPF_REG_1, BPF_REG_10);
	wm_bpf_add(b, BPF_REG_1, AT_KEY + (int32_t)p->at);
	wm_bpf_set(b, BPF_REG_2, (int32_t)(bytes < p->bytes ? bytes : p->bytes));
	wm_bpf_call(b, helper);
}

/* Emits code that stores r0 at its place in the key. */
static void emit_result(struct wm_bpf_code *b, const struct part *p)
{
	wm_bpf_store(b, 8, BPF_REG_10, (int16_t)(AT_KEY + (int)p->at), BPF_REG_0);
}

static void emit_number(struct wm_bpf_code *b, const struct part *p)
{
	int32_t above = 64 - 8 * (int32_t)p->field_bytes;

	wm_bpf_load(b, p->field_bytes, BPF_REG_0, BPF_REG_6, (int16_t)p->field);
	if (p->is_signed && above) {
		wm_bpf_emit(b, BPF_ALU64 | BPF_LSH | BPF_K, BPF_REG_0, 0, 0, above);
		wm_bpf_emit(b, BPF_ALU64 | BPF_ARSH | BPF_K, BPF_REG_0, 0, 0, above);
	}
	emit_result(b, p);
}

/* Emits code that sets r3 to the record's address plus the offset in the field's location word. */
static void emit_dynamic(struct wm_bpf_code *b, const struct part *p)
{
	wm_bpf_load(b, 4, BPF_REG_3, BPF_REG_6, (int16_t)p->field);
	wm_bpf_emit(b, BPF_ALU64 | BPF_AND | BPF_K, BPF_REG_3, 0, 0, 0xffff);
	wm_bpf_emit(b, BPF_ALU64 | BPF_ADD | BPF_X, BPF_REG_3, BPF_REG_6, 0, 0);
	if (p->kind == PART_REL_LOC)
		wm_bpf_add(b, BPF_REG_3, (int32_t)(p->field + p->field_bytes));
	emit_text(b, p, p->bytes, BPF_FUNC_probe_read_kernel_str);
}

static void emit_part(struct wm_bpf_code *b, const struct part *p)
{
	switch (p->kind) {
	case PART_NUMBER:
		emit_number(b, p);
		break;
	case PART_CHARS:
		wm_bpf_move(b, BPF_REG_3, BPF_REG_6);
		wm_bpf_add(b, BPF_REG_3, (int32_t)p->field);
		emit_text(b, p, p->field_bytes, BPF_FUNC_probe_read_kernel_str);
		break;
	case PART_DATA_LOC:
	case PART_REL_LOC:
		emit_dynamic(b, p);
		break;
	case PART_USER:
		wm_bpf_load(b, 8, BPF_REG_3, BPF_REG_6, (int16_t)p->field);
		emit_text(b, p, p->bytes, BPF_FUNC_probe_read_user_str);
		break;
	case PART_PID:
	case PART_TID:
		wm_bpf_call(b, BPF_FUNC_get_current_pid_tgid);
		if (p->kind == PART_TID)
			wm_bpf_emit(b, BPF_ALU64 | BPF_LSH | BPF_K, BPF_REG_0, 0, 0, 32);
		wm_bpf_emit(b, BPF_ALU64 | BPF_RSH | BPF_K, BPF_REG_0, 0, 0, 32);
		emit_result(b, p);
		break;
	case PART_CPU:
		wm_bpf_call(b, BPF_FUNC_get_smp_processor_id);
		emit_result(b, p);
		break;
	case PART_COMM:
		wm_bpf_move(b, BPF_REG_1, BPF_REG_10);
		wm_bpf_add(b, BPF_REG_1, AT_KEY + (int32_t)p->at);
		wm_bpf_set(b, BPF_REG_2, (int32_t)p->bytes);
		wm_bpf_call(b, BPF_FUNC_get_current_comm);
		break;
	}
}

/* Emits code that sets r1 to the map and r2 to stack + at. */
static void emit_map_and_key(struct wm_bpf_code *b, int map, int32_t at)
{
	wm_bpf_load_map(b, BPF_REG_1, map);
	wm_bpf_move(b, BPF_REG_2, BPF_REG_10);
	wm_bpf_add(b, BPF_REG_2, at);
}

/* Emits (*(u64 *)r0)++, then a return. */
static void emit_count(struct wm_bpf_code *b)
{
	wm_bpf_set(b, BPF_REG_1, 1);
	wm_bpf_emit(b, BPF_STX | BPF_DW | BPF_ATOMIC, BPF_REG_0, BPF_REG_1, 0, BPF_ADD);
	wm_bpf_return(b, 1);
}

/*
 * Emits map[key]++. If another CPU inserts the key between lookup and insertion, the program
 * repeats the lookup.
 */
static void emit_counting(struct wm_bpf_code *b, const struct wm_count_by *c)
{
	uint32_t missing, made, still_missing, none;

	emit_map_and_key(b, c->keys, AT_KEY);
	wm_bpf_call(b, BPF_FUNC_map_lookup_elem);
	missing = wm_bpf_jump_if(b, BPF_JEQ, BPF_REG_0, 0);
	emit_count(b);
	wm_bpf_land(b, missing);
	wm_bpf_store_value(b, 8, BPF_REG_10, AT_VALUE, 1);
	emit_map_and_key(b, c->keys, AT_KEY);
	wm_bpf_move(b, BPF_REG_3, BPF_REG_10);
	wm_bpf_add(b, BPF_REG_3, AT_VALUE);
	wm_bpf_set(b, BPF_REG_4, BPF_NOEXIST);
	wm_bpf_call(b, BPF_FUNC_map_update_elem);
	made = wm_bpf_jump_if(b, BPF_JEQ, BPF_REG_0, 0);
	emit_map_and_key(b, c->keys, AT_KEY);
	wm_bpf_call(b, BPF_FUNC_map_lookup_elem);
	still_missing = wm_bpf_jump_if(b, BPF_JEQ, BPF_REG_0, 0);
	emit_count(b);
	wm_bpf_land(b, still_missing);
	wm_bpf_store_value(b, 4, BPF_REG_10, AT_INDEX, 0);
	emit_map_and_key(b, c->left_over, AT_INDEX);
	wm_bpf_call(b, BPF_FUNC_map_lookup_elem);
	none = wm_bpf_jump_if(b, BPF_JEQ, BPF_REG_0, 0);
	emit_count(b);
	wm_bpf_land(b, none);
	wm_bpf_land(b, made);
	wm_bpf_return(b, 1);
}

static int count_by_load(struct wm_count_by *c, const struct wm_by_threads *threads,
			 struct wm_diag *diag)
{
	struct wm_bpf_code *b = calloc(1, sizeof(*b));
	int err;

	if (!b)
		return -ENOMEM;
	wm_bpf_move(b, BPF_REG_6, BPF_REG_1);
	if (threads)
		wm_by_threads_emit_check(threads, b, AT_INDEX);
	for (uint32_t at = 0; at < c->key_bytes; at += 8)
		wm_bpf_store_value(b, 8, BPF_REG_10, (int16_t)(AT_KEY + (int)at), 0);
	for (unsigned i = 0; i < c->nr_parts; i++)
		emit_part(b, &c->parts[i]);
	emit_counting(b, c);
	err = wm_bpf_load_program(b, diag);
	free(b);
	if (err >= 0)
		c->program = err;
	return err < 0 ? err : 0;
}

int wm_count_by_create(const struct wm_tracefs *t, const struct wm_event_def *def,
		       const char *fields, const struct wm_by_threads *threads,
		       struct wm_count_by **ret, struct wm_diag *diag)
{
	struct wm_count_by *c;
	int err;

	if (!def->system || !t)
		return wm_diag_set(diag, -EINVAL, NULL, -1,
				   "'%.100s' cannot be counted by fields: it has no fields",
				   def->name);
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->keys = c->left_over = c->program = c->event = -1;
	c->event_id = def->config;
	(void)snprintf(c->name, sizeof(c->name), "%s", def->name);
	err = parse_fields(c, t, def, fields, diag);
	if (!err)
		err = c->keys =
		    wm_bpf_map(BPF_MAP_TYPE_HASH, c->key_bytes, 8, WM_BY_KEYS_MAX, diag);
	if (err >= 0)
		err = c->left_over = wm_bpf_map(BPF_MAP_TYPE_ARRAY, 4, 8, 1, diag);
	if (err >= 0)
		err = count_by_load(c, threads, diag);
	if (err < 0) {
		wm_count_by_destroy(c);
		return err;
	}
	*ret = c;
	return 0;
}

static void close_fd(int fd)
{
	if (fd >= 0)
		(void)close(fd);
}

void wm_count_by_destroy(struct wm_count_by *c)
{
	if (!c)
		return;
	close_fd(c->event);
	close_fd(c->program);
	close_fd(c->keys);
	close_fd(c->left_over);
	free(c);
}

int wm_bpf_attach(uint64_t event_id, int program, const char *name, struct wm_diag *diag)
{
	struct perf_event_attr attr;
	int fd, err;

	wm_perf_attr_init(&attr, PERF_TYPE_TRACEPOINT, event_id);
	attr.disabled = 1; /* the kernel runs the program even while the event is disabled */
	fd = wm_perf_open(&attr, (struct wm_perf_where){-1, 0}, -1, name, diag);
	if (fd < 0 && diag)
		diag->where = WM_BPF_REFUSED;
	if (fd < 0)
		return fd;
	if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, program) < 0) {
		err = -errno;
		(void)close(fd);
		return wm_diag_set(diag, err, WM_BPF_REFUSED, -1,
				   "the kernel cannot attach a BPF program to '%.80s': %s", name,
				   strerror(-err));
	}
	return fd;
}

int wm_count_by_start(struct wm_count_by *c, struct wm_diag *diag)
{
	int fd = wm_bpf_attach(c->event_id, c->program, c->name, diag);

	if (fd < 0)
		return fd;
	c->event = fd;
	return 0;
}

bool wm_count_by_works(const struct wm_tracefs *t, const struct wm_event_defs *defs,
		       const char *fields, struct wm_diag *diag)
{
	struct wm_by_threads *threads = NULL;
	int err = wm_by_threads_create(t, NULL, 0, true, true, &threads, diag);

	for (size_t i = 0; i < defs->nr && !err; i++) {
		struct wm_count_by *by = NULL;

		if (defs->defs[i].implied)
			continue;
		err = wm_count_by_create(t, &defs->defs[i], fields, threads, &by, diag);
		wm_count_by_destroy(by);
	}
	wm_by_threads_destroy(threads);
	return !err || !diag->where || strcmp(diag->where, WM_BPF_REFUSED) != 0;
}

void wm_count_by_stop(struct wm_count_by *c)
{
	close_fd(c->event);
	c->event = -1;
}

/* ---- results ----------------------------------------------------------------------------- */

unsigned wm_count_by_parts(const struct wm_count_by *c)
{
	return c->nr_parts;
}

uint64_t wm_count_by_left_over(const struct wm_count_by *c)
{
	const uint32_t index = 0;
	uint64_t count = 0;

	(void)wm_bpf_map_get(c->left_over, &index, &count);
	return count + wm_bpf_missed(c->program);
}

static void count_by_decode(const struct wm_count_by *c, const unsigned char *key,
			    struct wm_by_row *row)
{
	for (unsigned i = 0; i < c->nr_parts; i++) {
		const struct part *p = &c->parts[i];
		struct wm_by_value *v = &row->values[i];

		v->name = p->name;
		v->is_text = count_by_is_text(p);
		v->is_signed = p->is_signed;
		if (v->is_text)
			memcpy(v->text, key + p->at, p->bytes);
		else
			memcpy(&v->number, key + p->at, sizeof(v->number));
	}
}

static int count_by_largest(const void *a, const void *b)
{
	const struct wm_by_row *x = a, *y = b;

	return (x->count < y->count) - (x->count > y->count);
}

int wm_count_by_read(const struct wm_count_by *c, struct wm_by_row **ret_rows, size_t *ret_nr)
{
	struct wm_by_row *rows = calloc(WM_BY_KEYS_MAX, sizeof(*rows));
	unsigned char key[KEY_MAX], *last = NULL;
	size_t nr = 0;
	int err = rows ? 0 : -ENOMEM;

	while (!err && nr < WM_BY_KEYS_MAX && (err = wm_bpf_map_next(c->keys, last, key)) == 0) {
		last = key;
		err = wm_bpf_map_get(c->keys, key, &rows[nr].count);
		if (err == 0)
			count_by_decode(c, key, &rows[nr++]);
	}
	if (err && err != -ENOENT) {
		free(rows);
		return err;
	}
	qsort(rows, nr, sizeof(*rows), count_by_largest);
	*ret_rows = rows;
	*ret_nr = nr;
	return 0;
}
