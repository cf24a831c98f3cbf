/* SPDX-License-Identifier: MIT */
/*
 * attach.c - see attach.h. Walks the modules that the runtime registered, their site tables and
 * descriptions, all in the other process's memory. Invalid data is skipped: at worst, one of that
 * process's events is not enabled.
 */
#include "control/attach.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/process.h"
#include "control/session/session.h"
#include "control/target/remote_runtime.h"
#include "event/class.h"
#include "event/provider.h"
#include <waymark/abi.h>

#define SITES_MAX      (1u << 20) /* per module */
#define DESC_BYTES_MAX (1u << 20)
#define NAP_NS         5000000
#define NAPS           60   /* longer in total than an agent's polling interval, 100 ms */
#define LOCK_NAPS      400  /* two seconds */
#define WAITING_MAX    32   /* most recorders that may wait for one process */
#define ASKED_MAX      256u /* processes waited for together: each needs a descriptor */

struct walk {
	struct wm_target *t;
	struct wm_diag *diag; /* filled when the walk fails; may be NULL */
	/* called for each site whose description is valid */
	void (*site)(struct walk *w, uint64_t address, const struct waymark_site *s,
		     const struct wm_class *class);
	void *data;
	/* The last description parsed, kept because sites of one event are adjacent. */
	uint64_t desc_address;
	void *desc;
	size_t desc_bytes;
	struct wm_class *class;
};

/* The provider that the module registered, or the runtime's default for it. */
static void provider_of(const struct wm_target *t, const struct waymark_module *m, char *buf,
			size_t size)
{
	const struct wm_map *map = wm_maps_find(&t->maps, (uint64_t)(uintptr_t)m->sites);

	wm_target_string(t, (uint64_t)(uintptr_t)m->provider, buf, size);
	if (!buf[0] && map)
		wm_provider_of_path(map->path, buf, size);
}

static void forget_class(struct walk *w)
{
	wm_class_destroy(w->class);
	free(w->desc);
	w->class = NULL;
	w->desc = NULL;
	w->desc_address = 0;
}

static void load_class(struct walk *w, uint64_t address, const char *provider)
{
	struct waymark_desc head;

	if (address == w->desc_address)
		return;
	forget_class(w);
	w->desc_address = address;
	if (wm_target_read(w->t, address, &head, sizeof(head)) < 0 ||
	    head.magic != WAYMARK_DESC_MAGIC || head.size < sizeof(head) ||
	    head.size > DESC_BYTES_MAX)
		return;
	w->desc = malloc(head.size);
	w->desc_bytes = head.size;
	if (w->desc && wm_target_read(w->t, address, w->desc, head.size) == 0)
		(void)wm_class_parse(w->desc, head.size, provider, &w->class, NULL);
}

static int walk_module(struct walk *w, const struct waymark_module *m)
{
	uint64_t begin = (uint64_t)(uintptr_t)m->sites, end = (uint64_t)(uintptr_t)m->sites_end;
	uint64_t nr = end > begin ? (end - begin) / sizeof(struct waymark_site) : 0;
	char provider[WM_PROVIDER_MAX];
	struct waymark_site *sites;

	if (nr == 0 || nr > SITES_MAX)
		return 0;
	sites = malloc(nr * sizeof(*sites));
	if (!sites)
		return wm_diag_set(w->diag, -ENOMEM, NULL, -1,
				   "out of memory for the tracepoints of process %d",
				   (int)w->t->pid);
	if (wm_target_read(w->t, begin, sites, nr * sizeof(*sites)) < 0)
		nr = 0;
	provider_of(w->t, m, provider, sizeof(provider));
	for (uint64_t i = 0; i < nr; i++) {
		uint64_t at = begin + i * sizeof(*sites);

		load_class(w, at + offsetof(struct waymark_site, desc) + (int64_t)sites[i].desc,
			   provider);
		if (w->class)
			w->site(w, at, &sites[i], w->class);
	}
	free(sites);
	return 0;
}

static int walk_modules(struct walk *w)
{
	uint32_t nr = w->t->control.nr_modules;
	int err = 0;

	if (nr > WM_CONTROL_MODULES_MAX)
		return wm_diag_set(
		    w->diag, -EBADMSG, NULL, -1,
		    "the runtime's memory in process %d is corrupt: it counts %u modules, "
		    "the limit is %u",
		    (int)w->t->pid, nr, WM_CONTROL_MODULES_MAX);
	for (uint32_t i = 0; err == 0 && i < nr; i++) {
		struct waymark_module module;
		uint64_t address = 0;

		if (wm_target_read(w->t, w->t->control.modules + i * sizeof(address), &address,
				   sizeof(address)) < 0 ||
		    !address || wm_target_read(w->t, address, &module, sizeof(module)) < 0)
			continue;
		err = walk_module(w, &module);
	}
	forget_class(w);
	return err;
}

/* ------------------------------------------------------------------ *
 * Switching on
 * ------------------------------------------------------------------ */

struct switching {
	const struct wm_rules *rules;
	struct wm_attach_result result;
	uint64_t marked; /* the event whose word was last written */
	bool flip;       /* the second pass: all words are written, so flip the sites */
};

/*
 * Writes the enabled form of an instruction. Returns 0, -EBUSY if the site has other bytes, or the
 * error from reading or writing it.
 */
static int attach_flip(const struct wm_target *t, uint64_t insn, uint64_t target)
{
#if defined(__x86_64__)
	const unsigned char off = 0xa9, on = 0xe9; /* test $imm32,%eax becomes jmp rel32 */
	unsigned char now;

	(void)target; /* the displacement is already there, as the immediate operand */
#else
	const uint32_t off = 0xd503201f; /* nop becomes b target */
	const uint32_t on = 0x14000000u | ((uint32_t)((int64_t)(target - insn) >> 2) & 0x3ffffff);
	uint32_t now;
#endif
	int err = wm_target_read(t, insn, &now, sizeof(now));

	if (err < 0)
		return err;
	if (now == on)
		return 0;
	return now == off ? wm_target_write(t, insn, &on, sizeof(on)) : -EBUSY;
}

/*
 * Sets RECORD in the event's word, unless the event is on for another recorder: the process then
 * has an agent, which takes the request. The runtime may store the word meanwhile; a thread that
 * then finds RECORD without a recorder corrects the word (wm_runtime_words_check()).
 */
static void mark_event(struct walk *w, uint64_t event)
{
	const uint64_t at = event + offsetof(struct waymark_event_state, word);
	struct switching *s = w->data;
	uint64_t word;
	int err;

	if (event == s->marked)
		return;
	s->marked = event;
	err = wm_target_read(w->t, at, &word, sizeof(word));
	if (err == 0 && word & WAYMARK_WORD_COMPLEX && !(word & WAYMARK_WORD_RECORD)) {
		word |= WAYMARK_WORD_RECORD;
		err = wm_target_write(w->t, at, &word, sizeof(word));
	}
	if (err == 0)
		s->result.nr_events++;
}

static void count_switched(struct wm_attach_result *r, int err)
{
	if (err == 0)
		r->nr_sites++;
	else if (err == -EBUSY)
		r->nr_refused++;
	else if (r->nr_failed++ == 0)
		r->failed_err = err;
}

static void switch_site(struct walk *w, uint64_t at, const struct waymark_site *site,
			const struct wm_class *class)
{
	struct switching *s = w->data;
	uint64_t event = at + offsetof(struct waymark_site, event) + (int64_t)site->event;
	uint64_t insn = at + offsetof(struct waymark_site, insn) + (int64_t)site->insn;
	uint64_t target = at + offsetof(struct waymark_site, target) + (int64_t)site->target;
	const uint32_t yes = 1;
	int err;

	if (!s->flip)
		s->result.nr_known++;
	if (!wm_rules_enable(s->rules, class->provider, class->name, class->level))
		return;
	if (!s->flip) {
		mark_event(w, event);
		return;
	}
	if (site->insn && w->t->control.flags & WM_CONTROL_NOPATCH) {
		s->result.nr_unpatched++;
		return;
	}
	if (site->insn)
		err = attach_flip(w->t, insn, target);
	else
		err = wm_target_write(w->t, event + offsetof(struct waymark_event_state, enabled),
				      &yes, sizeof(yes));
	count_switched(&s->result, err);
}

static void attach_read_folders(const struct wm_target *t, char *buf, size_t size)
{
	wm_target_string(t, t->page + offsetof(struct wm_control, folders), buf, size);
}

static bool request_is_pending(const struct wm_target *t)
{
	return t->control.attach_request != t->control.attach_done;
}

/* Whether the recorder with this session folder is still running. */
static bool recorder_lives(const char *folder)
{
	int fd = wm_session_connect(folder);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/*
 * Whether an agent is running. A forked child that has not joined has its parent's flag, but no
 * agent.
 */
static bool has_agent(const struct wm_target *t)
{
	return t->control.flags & WM_CONTROL_AGENT &&
	       wm_process_has_thread((uint32_t)t->pid, WM_AGENT_NAME);
}

static void nap(void)
{
	nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
}

/*
 * Serializes recorders: without the lock, two recorders that see no pending request would overwrite
 * each other's request. It is a file lock on the process's memory, released when its holder dies. A
 * stopped holder is waited for only for a limited time.
 */
static void lock_requests(const struct wm_target *t)
{
	for (int i = 0; i < LOCK_NAPS && flock(t->mem, LOCK_EX | LOCK_NB) < 0; i++)
		nap();
}

static void unlock_requests(const struct wm_target *t)
{
	(void)flock(t->mem, LOCK_UN);
}

/*
 * Whether no request is pending: the process handles it soon if one of its threads passes a site or
 * its agent polls. Returns 1 if it is handled, 0 if not yet, -EAGAIN if the agent that would handle
 * it has ended, or an error from reading the process.
 */
static int look_taken(struct wm_target *t, bool by_agent, struct wm_diag *diag)
{
	int err = wm_target_refresh(t);

	if (err < 0)
		return wm_diag_set(diag, err, NULL, -1, "cannot read process %d: %s", (int)t->pid,
				   strerror(-err));
	if (!request_is_pending(t))
		return 1;
	/* The agent thread ends with its last recorder. */
	return by_agent && !(t->control.flags & WM_CONTROL_AGENT) ? -EAGAIN : 0;
}

/* Appends to a ':'-separated list. Returns false if it does not fit. */
static bool list_append(char *list, size_t size, const char *folder)
{
	size_t n = strlen(list), more = strlen(folder) + (n != 0);

	if (n + more >= size)
		return false;
	(void)snprintf(list + n, size - n, "%s%s", n ? ":" : "", folder);
	return true;
}

/*
 * Builds the list for a new request: the pending request's recorders that are still running, then
 * ours. Returns 0; -EEXIST if the pending request has ours; -E2BIG if too many recorders are
 * waiting.
 */
static int list_folders(const struct wm_target *t, const char *ours, char *list, size_t size)
{
	char before[sizeof(t->control.folders)] = "", *rest = before, *folder;
	uint32_t nr = 0;

	list[0] = '\0';
	if (request_is_pending(t))
		attach_read_folders(t, before, sizeof(before));
	while ((folder = strsep(&rest, ":"))) {
		if (!strcmp(folder, ours))
			return -EEXIST;
		if (!*folder || nr++ >= WAITING_MAX || !recorder_lives(folder))
			continue;
		if (!list_append(list, size, folder))
			return -E2BIG;
	}
	return list_append(list, size, ours) ? 0 : -E2BIG;
}

/*
 * Waits until a runtime that takes one folder at a time has taken the pending request. Returns 0
 * even if the request's recorder has ended.
 */
static int await_turn(struct wm_target *t, struct wm_diag *diag)
{
	char folder[sizeof(t->control.folders)];
	int taken = 0;

	for (int i = 0; i < NAPS && !taken; i++) {
		taken = look_taken(t, false, diag);
		if (!taken)
			nap();
	}
	if (taken)
		return taken < 0 ? taken : 0;
	attach_read_folders(t, folder, sizeof(folder));
	return recorder_lives(folder) ? -EAGAIN : 0;
}

/* Writes the folders, then the request, so that a reader of the request sees the complete list. */
static int request_write(const struct wm_target *t, const char *list, struct wm_diag *diag)
{
	const uint32_t number = t->control.attach_request + 1;
	int err = wm_target_write(t, t->page + offsetof(struct wm_control, folders), list,
				  strlen(list) + 1);

	if (err == 0)
		err = wm_target_write(t, t->page + offsetof(struct wm_control, attach_request),
				      &number, sizeof(number));
	return err ? wm_diag_set(diag, err, NULL, -1, "cannot write to process %d: %s", (int)t->pid,
				 strerror(-err))
		   : 0;
}

static int request(struct wm_target *t, const char *folder, struct wm_diag *diag)
{
	char list[sizeof(t->control.folders)];
	bool takes_list = t->control.flags & WM_CONTROL_LIST;
	int err = wm_target_refresh(t);

	if (err < 0)
		return wm_diag_set(diag, err, NULL, -1, "cannot read process %d: %s", (int)t->pid,
				   strerror(-err));
	err = list_folders(t, folder, list, sizeof(list));
	if (err == -EEXIST)
		return 0;
	if (!err && !takes_list && request_is_pending(t)) {
		err = await_turn(t, diag);
		(void)snprintf(list, sizeof(list), "%s", folder);
	}
	if (err == -EAGAIN)
		return wm_diag_set(diag, err, NULL, -1,
				   "process %d has not yet handled an earlier request to attach: "
				   "none of its threads has reached a tracepoint",
				   (int)t->pid);
	if (err == -E2BIG)
		return wm_diag_set(diag, err, NULL, -1,
				   "too many recorders wait for process %d: end one of them",
				   (int)t->pid);
	return err ? err : request_write(t, list, diag);
}

static int attach_switch_on(struct wm_target *t, struct switching *s, struct wm_diag *diag)
{
	struct walk w = {.t = t, .diag = diag, .site = switch_site, .data = s};
	int err = walk_modules(&w);

	s->flip = true;
	return err < 0 ? err : walk_modules(&w);
}

/* ------------------------------------------------------------------ *
 * Attaching to many processes
 * ------------------------------------------------------------------ */

/* A process whose agent has been asked. */
struct asked {
	struct wm_target target;
	bool settled; /* `done` was called */
};

struct attaching {
	const char *folder;
	const struct wm_rules *rules;
	bool quick;
	wm_attach_done *done;
	void *data;
	struct asked *asked;
	size_t nr_asked, room;
};

static void attach_settle(const struct attaching *a, struct wm_target *t, int err,
			  const struct wm_attach_result *result, const struct wm_diag *diag)
{
	const pid_t pid = t->pid;

	wm_target_close(t);
	a->done(pid, err, result, diag, a->data);
}

/* Switches the events on from outside, because no agent handles the request. */
static void attach_from_outside(const struct attaching *a, struct wm_target *t)
{
	struct switching s = {.rules = a->rules};
	struct wm_diag diag = {.offset = -1};

	attach_settle(a, t, attach_switch_on(t, &s, &diag), &s.result, &diag);
}

/* Returns whether the process's request is settled. */
static bool attach_look(const struct attaching *a, struct wm_target *t)
{
	const struct wm_attach_result result = {.agent = true};
	struct wm_diag diag = {.offset = -1};
	int taken = look_taken(t, true, &diag);

	if (taken == -EAGAIN)
		attach_from_outside(a, t);
	else if (taken)
		attach_settle(a, t, taken < 0 ? taken : 0, &result, &diag);
	return taken != 0;
}

/* Waits for all agents that were asked; those that are silent for too long are not needed. */
static void await_asked(struct attaching *a)
{
	size_t left = a->nr_asked;

	for (int n = 0; n < NAPS && left; n++) {
		for (size_t i = 0; i < a->nr_asked; i++) {
			struct asked *asked = &a->asked[i];

			if (asked->settled)
				continue;
			asked->settled = attach_look(a, &asked->target);
			left -= asked->settled;
		}
		if (left)
			nap();
	}
	for (size_t i = 0; i < a->nr_asked; i++)
		if (!a->asked[i].settled)
			attach_from_outside(a, &a->asked[i].target);
	a->nr_asked = 0;
}

static void attach_ask(struct attaching *a, pid_t pid)
{
	struct wm_diag diag = {.offset = -1};
	struct wm_target t = {.pid = pid, .mem = -1};
	int err = wm_target_open(pid, a->quick, &t, &diag);

	if (!err) {
		lock_requests(&t);
		err = request(&t, a->folder, &diag);
		unlock_requests(&t);
	}
	if (err) {
		attach_settle(a, &t, err, NULL, &diag);
		return;
	}
	if (a->nr_asked == ASKED_MAX)
		await_asked(a);
	if (!has_agent(&t))
		attach_from_outside(a, &t);
	else if (WM_ARRAY_GROW(a->asked, a->room, a->nr_asked + 1))
		attach_settle(a, &t, -ENOMEM, NULL, &diag);
	else
		a->asked[a->nr_asked++] = (struct asked){.target = t};
}

void wm_attach_many(const pid_t *pids, size_t nr, const char *folder, const struct wm_rules *rules,
		    bool quick, wm_attach_done *done, void *data)
{
	struct attaching a = {
	    .folder = folder, .rules = rules, .quick = quick, .done = done, .data = data};

	for (size_t i = 0; i < nr; i++)
		attach_ask(&a, pids[i]);
	await_asked(&a);
	free(a.asked);
}

struct single {
	int err;
	struct wm_attach_result *result;
	struct wm_diag *diag;
};

static void keep_single(pid_t pid, int err, const struct wm_attach_result *result,
			const struct wm_diag *diag, void *data)
{
	struct single *s = data;

	(void)pid;
	s->err = err;
	if (!err)
		*s->result = *result;
	else if (s->diag)
		*s->diag = *diag;
}

int wm_attach(pid_t pid, const char *folder, const struct wm_rules *rules, bool quick,
	      struct wm_attach_result *ret, struct wm_diag *diag)
{
	struct single s = {.result = ret, .diag = diag};

	wm_attach_many(&pid, 1, folder, rules, quick, keep_single, &s);
	return s.err;
}

int wm_attach_outcome(pid_t pid)
{
	struct wm_target t;
	int err = wm_target_open(pid, true, &t, NULL);

	if (err < 0)
		return -ESRCH;
	if (t.control.attach_request != t.control.attach_done)
		err = 1;
	else if (t.control.attach_error < 0)
		err = t.control.attach_error;
	wm_target_close(&t);
	return err;
}

/* ------------------------------------------------------------------ *
 * Listing
 * ------------------------------------------------------------------ */

struct listing {
	void (*fn)(const struct wm_attach_site *s, void *data);
	void *data;
};

static void list_site(struct walk *w, uint64_t at, const struct waymark_site *site,
		      const struct wm_class *class)
{
	const struct wm_attach_site s = {
	    .class = class,
	    .desc = w->desc,
	    .desc_bytes = w->desc_bytes,
	    .entry = at,
	    .event = at + offsetof(struct waymark_site, event) + (int64_t)site->event,
	};
	struct listing *l = w->data;

	l->fn(&s, l->data);
}

int wm_attach_list(pid_t pid, void (*fn)(const struct wm_attach_site *s, void *data), void *data,
		   struct wm_diag *diag)
{
	struct wm_target t;
	struct listing l = {.fn = fn, .data = data};
	struct walk w = {.t = &t, .diag = diag, .site = list_site, .data = &l};
	int err = wm_target_open(pid, false, &t, diag);

	if (err < 0)
		return err;
	err = walk_modules(&w);
	wm_target_close(&t);
	return err;
}
