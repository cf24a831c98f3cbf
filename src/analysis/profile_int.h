/* SPDX-License-Identifier: MIT */
/* profile_int.h - what the files of the profile share; see profile.h. */
#ifndef WM_ANALYSIS_PROFILE_INT_H
#define WM_ANALYSIS_PROFILE_INT_H

#include "analysis/profile.h"
#include "analysis/sample.h"

/* Combinations of words, each once, with what fell to it (profile_bucket.c). */
struct wm_buckets {
	uint32_t nr_words; /* of each */
	uint64_t *words;   /* nr_words of each, one after the other */
	uint64_t *weights, *counts;
	uint32_t nr, room;
	uint32_t *slots; /* index + 1; 0: empty */
	uint32_t nr_slots;
	uint64_t seed;
};

int wm_buckets_init(struct wm_buckets *b, uint32_t nr_words); /* 0 or -ENOMEM */
void wm_buckets_done(struct wm_buckets *b);

/* The bucket of these words, made when it is new. UINT32_MAX: no memory, or too many. */
uint32_t wm_buckets_get(struct wm_buckets *b, const uint64_t *words);

static inline const uint64_t *wm_buckets_words(const struct wm_buckets *b, uint32_t i)
{
	return b->words + (size_t)i * b->nr_words;
}

/* A place where an entry's words stand in a bucket's chain. */
struct wm_entry_ref {
	uint32_t bucket, depth; /* 0: the chain's end */
	uint32_t next;          /* of the same entry, + 1; 0: the last */
};

struct wm_entry {
	uint64_t self, children; /* weights */
	uint64_t self_count, count;
	uint32_t refs;        /* first of its refs, + 1; 0: none are kept */
	uint32_t last_bucket; /* + 1: where it was met last, so that recursion counts once */
};

struct wm_memo_entry {
	uint64_t hash; /* of what decides in which bucket an event falls; 0: free */
	uint32_t bucket;
	bool known; /* the bucket is; who finds it out sets it */
};

/* The buckets of what came lately (profile_memo.c). */
struct wm_memo {
	struct wm_memo_entry *entries; /* NULL: it does not fit the profile */
	bool by_cpu;
	uint64_t seed;
	/* Of the last event, all that decides but its address; and the hash of that. */
	const struct wm_event_type *type;
	const struct wm_task *task;
	uint64_t nr_told, who;
	uint32_t comm;
	int32_t pid, cpu;
};

#define WM_PROFILE_FINE 256u /* a live one counts in such parts, so that one event can decay */

struct wm_waits; /* threads that are off their processors (profile_wait.c) */

struct wm_profile {
	struct wm_pass *pass;
	enum wm_profile_mode mode;
	const struct wm_profile_values *v;
	struct wm_key keys[WM_KEYS_MAX];
	uint32_t nr_keys;
	bool of_frame; /* a key is of frames: entries are made of chains */
	bool chains;   /* whole chains are kept, not just their ends */
	bool children;
	bool per_event; /* a table for each event */
	bool any_chain; /* there was one */
	uint32_t unit; /* what one event counts for in buckets and entries; weights in proportion */
	struct wm_samples samples;
	struct wm_stacks *stacks;
	struct wm_waits *waits;    /* NULL: events count */
	struct wm_buckets buckets; /* words: event, keys of events, stack */
	struct wm_memo memo;
	struct wm_buckets hidden; /* words: event; of comms and pids that are not shown */
	uint64_t nr_unfit;        /* events without a field that a key asks for */

	/* Made at the end, from the buckets: */
	struct wm_buckets entry_words; /* words: event, keys in their order */
	struct wm_entry *entries;      /* beside them */
	struct wm_entry_ref *refs;
	uint32_t nr_refs, room_refs;
};

/* The words of an event's bucket but the stack. False: it lacks one. */
bool wm_profile_words(const struct wm_profile *p, const struct wm_sight *s, uint64_t *words);

bool wm_memo_fits(const struct wm_profile *p);
int wm_memo_init(struct wm_memo *m, bool by_cpu); /* 0 or -ENOMEM */
void wm_memo_done(struct wm_memo *m);
void wm_memo_forget(struct wm_memo *m); /* nothing is known any more */

/* The entry for events like that, until the next one is asked for; NULL: there is none for such. */
struct wm_memo_entry *wm_memo_find(struct wm_profile *p, const struct wm_sight *s);

/* The event's stack; UINT32_MAX: no memory. */
uint32_t wm_profile_stack(struct wm_profile *p, const struct wm_sight *s);

/* May it be found in parts of the time, and joined? (profile_join.c) */
bool wm_profile_divides(const struct wm_profile *p);
int wm_profile_join(struct wm_profile *p, const struct wm_profile *later, const struct wm_join *j);

int wm_waits_create(const struct wm_pass *pass,
		    struct wm_waits **ret); /* *ret is to be destroyed in any case */
void wm_waits_destroy(struct wm_waits *w, const struct wm_pass *pass); /* accepts NULL */
int wm_waits_feed(struct wm_profile *p, const struct wm_sight *s);
void wm_waits_note(const struct wm_profile *p, struct wm_result *r);

/* Is it in the list "a,b,c"? Of a NULL list everything is. */
bool wm_profile_listed(const char *list, const char *text);

/* From buckets to entries. 0 or -ENOMEM. */
int wm_profile_make_entries(struct wm_profile *p);

/* What shares are of: all that weighed in a table. */
struct wm_profile_total {
	uint64_t event; /* id of its name; 0: all */
	uint64_t weight, count;
};

/* The least weight that is not below so many percent of a total. */
uint64_t wm_profile_least(uint64_t total, double percent);

/* A row of a table that is an entry, or stands for several; `own` is the entry's. */
struct wm_result_row *wm_profile_row(struct wm_profile *p, const struct wm_entry *e,
				     const struct wm_profile_total *total, struct wm_result *r,
				     struct wm_result_table *t, struct wm_result_row *above,
				     union wm_cell **ret_keys);

/* Adds the entries list[0..nr) as rows below rows, a level for each key. 0 or -ENOMEM. */
int wm_profile_hierarchy(struct wm_profile *p, uint32_t *list, uint32_t nr,
			 const struct wm_profile_total *total, struct wm_result *r,
			 struct wm_result_table *t);

/* The calls of a row that is one entry: now, or `more` of them when they are asked for. */
int wm_profile_calls(struct wm_profile *p, uint32_t entry, struct wm_result *r,
		     struct wm_result_row *row);

/* Are there calls below that entry? */
bool wm_profile_has_calls(const struct wm_profile *p, uint32_t entry);

/* Adds the calls below a row. 0 or -ENOMEM. */
int wm_profile_graph(struct wm_profile *p, uint32_t entry, struct wm_result *r,
		     struct wm_result_row *row);

#endif
