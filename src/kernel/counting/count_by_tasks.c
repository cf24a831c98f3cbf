/* SPDX-License-Identifier: MIT */
/*
 * count_by_tasks.c - a map of thread ids, maintained by programs at four tracepoints:
 *
 *   fork    the child of a counted thread is counted; any other child is removed
 *           from the map, in case it reuses the id of a thread that has ended
 *   rename  execve(2) renames the thread at the point where perf's counters
 *           begin: a thread that waits for its execve(2) is counted from here on
 *   exec    a thread other than its process's first takes over the first one's id
 *   exit    a thread is removed from the map, about where perf's counters end
 */
#include "kernel/counting/count_by_tasks.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "kdata/event_format.h"
#include "kernel/perf_event.h"

#define ARENA_BYTES (1u << 20)
#define AT_PARENT   -4
#define AT_CHILD    -8
#define AT_STATE    -12
#define NR_WATCHES  4

/* A thread's state, stored in the map under its id. */
enum state {
	STATE_WAITS, /* the thread waits for its execve(2) */
	STATE_COUNTED,
};

struct wm_by_threads {
	int map;
	int programs[NR_WATCHES], events[NR_WATCHES]; /* indexed like `watches`; -1: not used */
};

/*
 * Emits code that looks up the key at offset `stack` in the thread map. If it is not there, the BPF
 * program returns; otherwise r0 points to the state.
 */
static void emit_lookup(const struct wm_by_threads *t, struct wm_bpf_code *b, int stack)
{
	uint32_t found;

	wm_bpf_load_map(b, BPF_REG_1, t->map);
	wm_bpf_move(b, BPF_REG_2, BPF_REG_10);
	wm_bpf_add(b, BPF_REG_2, stack);
	wm_bpf_call(b, BPF_FUNC_map_lookup_elem);
	found = wm_bpf_jump_if(b, BPF_JNE, BPF_REG_0, 0);
	wm_bpf_return(b, 1);
	wm_bpf_land(b, found);
}

void wm_by_threads_emit_check(const struct wm_by_threads *t, struct wm_bpf_code *b, int stack)
{
	uint32_t counted;

	wm_bpf_call(b, BPF_FUNC_get_current_pid_tgid);
	wm_bpf_store(b, 4, BPF_REG_10, (int16_t)stack, BPF_REG_0);
	emit_lookup(t, b, stack);
	wm_bpf_load(b, 4, BPF_REG_1, BPF_REG_0, 0);
	counted = wm_bpf_jump_if(b, BPF_JEQ, BPF_REG_1, STATE_COUNTED);
	wm_bpf_return(b, 1);
	wm_bpf_land(b, counted);
}

/*
 * Finds the offset of a tracepoint's field; returns -ENOENT with an error message if there is none.
 */
static int offset_of(const struct wm_tracefs *t, const char *event, const char *field,
		     uint32_t *ret, struct wm_diag *diag)
{
	const struct wm_kformat *format;
	const struct wm_kfield *f = NULL;
	struct wm_kmachine machine;
	struct wm_arena arena;
	size_t bytes;
	char *text;
	int err = wm_tracefs_event_format(t, "sched", event, &text, &bytes, diag);

	if (err < 0)
		return err;
	wm_arena_init(&arena, ARENA_BYTES);
	wm_kmachine_init(&machine, sizeof(long), __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	err = wm_kformat_parse(&arena, &machine, "sched", text, bytes, &format, diag);
	if (!err)
		f = wm_kformat_field(format, field);
	if (f && f->bytes == 4)
		*ret = f->offset;
	else if (!err)
		err =
		    wm_diag_set(diag, -ENOENT, NULL, -1,
				"cannot follow threads: sched:%s has no field '%s'", event, field);
	free(text);
	wm_arena_done(&arena);
	return err;
}

/* Emits a call to an update or delete helper for the child, whose id and state are on the stack. */
static void emit_call_with_child(const struct wm_by_threads *t, struct wm_bpf_code *b,
				 int32_t helper)
{
	wm_bpf_load_map(b, BPF_REG_1, t->map);
	wm_bpf_move(b, BPF_REG_2, BPF_REG_10);
	wm_bpf_add(b, BPF_REG_2, AT_CHILD);
	wm_bpf_move(b, BPF_REG_3, BPF_REG_10);
	wm_bpf_add(b, BPF_REG_3, AT_STATE);
	wm_bpf_set(b, BPF_REG_4, BPF_ANY);
	wm_bpf_call(b, helper);
	wm_bpf_return(b, 1);
}

static int write_fork(const struct wm_by_threads *threads, const struct wm_tracefs *t,
		      struct wm_bpf_code *b, struct wm_diag *diag)
{
	uint32_t parent, child, ours;
	int err = offset_of(t, "sched_process_fork", "parent_pid", &parent, diag);

	if (!err)
		err = offset_of(t, "sched_process_fork", "child_pid", &child, diag);
	if (err < 0)
		return err;
	wm_bpf_load(b, 4, BPF_REG_2, BPF_REG_1, (int16_t)parent);
	wm_bpf_store(b, 4, BPF_REG_10, AT_PARENT, BPF_REG_2);
	wm_bpf_load(b, 4, BPF_REG_2, BPF_REG_1, (int16_t)child);
	wm_bpf_store(b, 4, BPF_REG_10, AT_CHILD, BPF_REG_2);
	wm_bpf_store_value(b, 4, BPF_REG_10, AT_STATE, STATE_COUNTED);
	wm_bpf_load_map(b, BPF_REG_1, threads->map);
	wm_bpf_move(b, BPF_REG_2, BPF_REG_10);
	wm_bpf_add(b, BPF_REG_2, AT_PARENT);
	wm_bpf_call(b, BPF_FUNC_map_lookup_elem);
	ours = wm_bpf_jump_if(b, BPF_JNE, BPF_REG_0, 0);
	emit_call_with_child(threads, b, BPF_FUNC_map_delete_elem);
	wm_bpf_land(b, ours);
	emit_call_with_child(threads, b, BPF_FUNC_map_update_elem);
	return 0;
}

static int write_rename(const struct wm_by_threads *threads, const struct wm_tracefs *t,
			struct wm_bpf_code *b, struct wm_diag *diag)
{
	(void)t;
	(void)diag;
	wm_bpf_call(b, BPF_FUNC_get_current_pid_tgid);
	wm_bpf_store(b, 4, BPF_REG_10, AT_PARENT, BPF_REG_0);
	emit_lookup(threads, b, AT_PARENT);
	wm_bpf_store_value(b, 4, BPF_REG_0, 0, STATE_COUNTED);
	wm_bpf_return(b, 1);
	return 0;
}

static int write_exec(const struct wm_by_threads *threads, const struct wm_tracefs *t,
		      struct wm_bpf_code *b, struct wm_diag *diag)
{
	uint32_t old, now;
	int err = offset_of(t, "sched_process_exec", "old_pid", &old, diag);

	if (!err)
		err = offset_of(t, "sched_process_exec", "pid", &now, diag);
	if (err < 0)
		return err;
	wm_bpf_load(b, 4, BPF_REG_2, BPF_REG_1, (int16_t)old);
	wm_bpf_store(b, 4, BPF_REG_10, AT_PARENT, BPF_REG_2);
	wm_bpf_load(b, 4, BPF_REG_2, BPF_REG_1, (int16_t)now);
	wm_bpf_store(b, 4, BPF_REG_10, AT_CHILD, BPF_REG_2);
	wm_bpf_store_value(b, 4, BPF_REG_10, AT_STATE, STATE_COUNTED);
	emit_lookup(threads, b, AT_PARENT);
	emit_call_with_child(threads, b, BPF_FUNC_map_update_elem);
	return 0;
}

static int write_exit(const struct wm_by_threads *threads, const struct wm_tracefs *t,
		      struct wm_bpf_code *b, struct wm_diag *diag)
{
	(void)t;
	(void)diag;
	wm_bpf_call(b, BPF_FUNC_get_current_pid_tgid);
	wm_bpf_store(b, 4, BPF_REG_10, AT_CHILD, BPF_REG_0);
	emit_call_with_child(threads, b, BPF_FUNC_map_delete_elem);
	return 0;
}

static const struct watch {
	const char *system, *event;
	int (*write)(const struct wm_by_threads *threads, const struct wm_tracefs *t,
		     struct wm_bpf_code *b, struct wm_diag *diag);
	bool of_children, of_exec; /* only needed with `inherit`; only needed with `on_exec` */
	bool last;                 /* must be attached after the programs that count */
} watches[NR_WATCHES] = {
    {.system = "sched", .event = "sched_process_fork", .write = write_fork, .of_children = true},
    {.system = "task", .event = "task_rename", .write = write_rename, .of_exec = true},
    {.system = "sched", .event = "sched_process_exec", .write = write_exec},
    {.system = "sched", .event = "sched_process_exit", .write = write_exit, .last = true},
};

static int by_tasks_attach(struct wm_by_threads *threads, const struct wm_tracefs *t, int i,
			   struct wm_diag *diag)
{
	uint64_t id;
	int err = wm_tracefs_event_id(t, watches[i].system, watches[i].event, &id, diag);

	if (!err)
		err = threads->events[i] =
		    wm_bpf_attach(id, threads->programs[i], watches[i].event, diag);
	return err < 0 ? err : 0;
}

static int by_tasks_watch(struct wm_by_threads *threads, const struct wm_tracefs *t, int i,
			  struct wm_diag *diag)
{
	struct wm_bpf_code *b = calloc(1, sizeof(*b));
	int err = b ? watches[i].write(threads, t, b, diag) : -ENOMEM;

	if (!err)
		err = threads->programs[i] = wm_bpf_load_program(b, diag);
	if (err >= 0 && !watches[i].last)
		err = by_tasks_attach(threads, t, i, diag);
	free(b);
	return err < 0 ? err : 0;
}

int wm_by_threads_begin(struct wm_by_threads *threads, const struct wm_tracefs *t,
			struct wm_diag *diag)
{
	int err = 0;

	for (int i = 0; i < NR_WATCHES && !err; i++) {
		if (!watches[i].last)
			continue;
		if (threads->events[i] >= 0) /* attaches it again, so that it becomes the last */
			(void)close(threads->events[i]);
		threads->events[i] = -1;
		err = by_tasks_attach(threads, t, i, diag);
	}
	return err;
}

int wm_by_threads_create(const struct wm_tracefs *t, const pid_t *tids, size_t nr, bool on_exec,
			 bool inherit, struct wm_by_threads **ret, struct wm_diag *diag)
{
	struct wm_by_threads *threads = calloc(1, sizeof(*threads));
	const uint32_t state = on_exec ? STATE_WAITS : STATE_COUNTED;
	int err;

	if (!threads)
		return -ENOMEM;
	for (int i = 0; i < NR_WATCHES; i++)
		threads->programs[i] = threads->events[i] = -1;
	err = threads->map =
	    wm_bpf_map(BPF_MAP_TYPE_HASH, sizeof(uint32_t), sizeof(state), WM_BY_THREADS_MAX, diag);
	for (size_t i = 0; i < nr && err >= 0; i++)
		err = wm_bpf_map_set(threads->map, &tids[i], &state, BPF_ANY);
	for (int i = 0; i < NR_WATCHES && err >= 0; i++) {
		if ((inherit || !watches[i].of_children) && (on_exec || !watches[i].of_exec))
			err = by_tasks_watch(threads, t, i, diag);
	}
	if (err < 0) {
		wm_by_threads_destroy(threads);
		return err;
	}
	*ret = threads;
	return 0;
}

void wm_by_threads_destroy(struct wm_by_threads *t)
{
	if (!t)
		return;
	for (int i = 0; i < NR_WATCHES; i++) {
		if (t->events[i] >= 0)
			(void)close(t->events[i]);
		if (t->programs[i] >= 0)
			(void)close(t->programs[i]);
	}
	if (t->map >= 0)
		(void)close(t->map);
	free(t);
}
