/* SPDX-License-Identifier: MIT */
/* profile_int.h - declarations shared by the files of the profile; see profile.h. */
#ifndef WM_ANALYSIS_PROFILE_INT_H
#define WM_ANALYSIS_PROFILE_INT_H

#include "analysis/profile.h"
#include "analysis/sample_int.h"
#include "base/table.h"

/* Distinct combinations of words, with their weights and counts (profile_bucket.c). */
struct wm_buckets {
	uint32_t nr_words; /* words per bucket */
	uint64_t *words;   /* nr_words words per bucket, consecutive */
	uint64_t *weights, *counts;
	uint32_t nr, room;
	struct wm_table table;
};

void wm_buckets_init(struct wm_buckets *b, uint32_t nr_words);
void wm_buckets_done(struct wm_buckets *b);

/*
 * Returns the bucket with these words, creating it if needed. UINT32_MAX: no memory, or too many.
 */
uint32_t wm_buckets_get(struct wm_buckets *b, const uint64_t *words);

static inline const uint64_t *wm_buckets_words(const struct wm_buckets *b, uint32_t i)
{
	return b->words + (size_t)i * b->nr_words;
}

/* A position in a bucket's chain at which an entry occurs. */
struct wm_entry_ref {
	uint32_t bucket, depth; /* 0: the chain's end */
	uint32_t next;          /* index + 1 of the entry's next ref; 0: last */
};

struct wm_entry {
	uint64_t self, children; /* weights; see profile.h */
	uint64_t self_count, count;
	uint32_t refs; /* index + 1 of its first wm_entry_ref; 0: none */
	/* index + 1 of the last bucket counted, so that recursion counts once */
	uint32_t last_bucket;
};

struct wm_memo_entry {
	uint64_t hash; /* hash of everything that determines an event's bucket; 0: free */
	uint32_t bucket;
	bool known; /* `bucket` is valid; set by the caller that determines it */
};

/* A cache of recently used buckets (profile_memo.c). */
struct wm_memo {
	struct wm_memo_entry *entries; /* NULL: the profile does not allow it */
	bool by_cpu;
	uint64_t seed;
	/*
	 * The values of the last event that determine its bucket, except the address; and their
	 * hash.
	 */
	const struct wm_event_type *type;
	const struct wm_task *task;
	uint64_t nr_told, who;
	uint32_t comm;
	int32_t pid, cpu;
};

/* weight of an event in a live profile, so that it can decay */
#define WM_PROFILE_FINE 256u

/* Where an event's branches are, with numbers + 1 of the members; 0: it lacks the member. */
struct wm_branch_fields {
	struct wm_field_ref list; /* `type` NULL: the event has no branches */
	uint32_t members[WM_BRANCH_NR_MEMBERS];
	uint32_t nr_items; /* of a branch */
};

struct wm_waits; /* threads that are off their CPUs (profile_wait.c) */

struct wm_profile {
	struct wm_pass *pass;
	enum wm_profile_mode mode;
	const struct wm_profile_values *v;
	struct wm_key keys[WM_KEYS_MAX];
	uint32_t nr_keys;
	bool of_frame; /* a key belongs to frames: entries come from chains */
	bool chains;   /* whole chains are stored, not only their ends */
	bool children;
	bool per_event; /* one table per event */
	bool any_chain; /* at least one event had a chain */
	uint32_t unit;  /* one event adds this to counts; weights are scaled by it */
	struct wm_samples samples;
	struct wm_stacks *stacks;
	struct wm_waits *waits;                  /* NULL: events are counted */
	struct wm_branch_fields **branch_fields; /* by trace and type; NULL: not of branches */
	struct wm_branch branch;                 /* the branch being counted */
	/* words: event, keys that belong to events, stack; of branches: see profile_branch.c */
	struct wm_buckets buckets;
	struct wm_memo memo;
	struct wm_buckets hidden; /* words: event; weights of the comms and pids left out */
	uint64_t nr_unfit;        /* events without a field that a key needs */

	/* Built at the end, from the buckets: */
	struct wm_buckets entry_words; /* words: event, keys in order */
	struct wm_entry *entries;      /* parallel to entry_words */
	struct wm_entry_ref *refs;
	uint32_t nr_refs, room_refs;
};

/*
 * Computes the words of an event's bucket, except the stack. Returns false when the event lacks a
 * key.
 */
bool wm_profile_words(const struct wm_profile *p, const struct wm_sight *s, uint64_t *words);

/* Returns 0, -ENOMEM, or -ENOENT with `diag` if no selected event has branches. */
int wm_branches_bind(struct wm_profile *p, struct wm_diag *diag);
void wm_branches_done(struct wm_profile *p);
int wm_branches_feed(struct wm_profile *p, const struct wm_sight *s); /* 0 or -ENOMEM */

/* Returns the frame of the branch's source for a bucket of branches. */
uint32_t wm_branch_from(const struct wm_profile *p, const uint64_t *bucket);

bool wm_memo_fits(const struct wm_profile *p);
int wm_memo_init(struct wm_memo *m, bool by_cpu); /* 0 or -ENOMEM */
void wm_memo_done(struct wm_memo *m);
void wm_memo_forget(struct wm_memo *m); /* empties the cache */

/*
 * Returns the cache entry for events like this one, valid until the next call; NULL: not cacheable.
 */
struct wm_memo_entry *wm_memo_find(struct wm_profile *p, const struct wm_sight *s);

/* Returns the event's stack; UINT32_MAX: out of memory. */
uint32_t wm_profile_stack(struct wm_profile *p, const struct wm_sight *s);

/* Returns whether the profile can be computed for parts of the time and joined (profile_join.c). */
bool wm_profile_divides(const struct wm_profile *p);
int wm_profile_join(struct wm_profile *p, const struct wm_profile *later, const struct wm_join *j);

int wm_waits_create(const struct wm_pass *pass,
		    struct wm_waits **ret); /* destroy *ret also after an error */
void wm_waits_destroy(struct wm_waits *w, const struct wm_pass *pass); /* accepts NULL */
int wm_waits_feed(struct wm_profile *p, const struct wm_sight *s);
/*
 * For events that are not selected: ends the waits of threads that run again. Returns 0 or -ENOMEM.
 */
int wm_waits_told(struct wm_profile *p, const struct wm_sight *s);
void wm_waits_note(const struct wm_profile *p, struct wm_result *r);

/* Returns whether the text is in the list "a,b,c". A NULL list contains everything. */
bool wm_profile_listed(const char *list, const char *text);

/* Turns buckets into entries. Returns 0 or -ENOMEM. */
int wm_profile_make_entries(struct wm_profile *p);

/* What the rates in a table of a live profile count (profile_rate.c). */
enum wm_rate {
	WM_RATE_EVENTS,   /* events: the sum of their periods, 1 for those that are not sampled */
	WM_RATE_SAMPLES,  /* samples, when their weights do not count events */
	WM_RATE_CPU_TIME, /* nanoseconds of a clock per nanosecond: 1 is one busy processor */
};

/* The total weight in a table, which is 100 %. */
struct wm_profile_total {
	uint64_t event; /* id of its name; 0: all events */
	uint64_t weight, count;
	enum wm_rate rate; /* of a live profile */
};

/* Chooses the rate of a table; `event` is the name of its event. */
enum wm_rate wm_rate_of(const struct wm_profile *p, const char *event);
struct wm_result_column wm_rate_column(enum wm_rate rate);

/* Returns the rate of a weight and a count, both scaled by p->unit. */
double wm_rate_value(const struct wm_profile *p, enum wm_rate rate, uint64_t weight,
		     uint64_t count);

/* Returns the total rate with its unit, for the table's title. */
const char *wm_rate_title(const struct wm_profile *p, enum wm_rate rate,
			  const struct wm_profile_total *t, struct wm_result *r);

/* Returns the smallest weight that is at least `percent` of a total. */
uint64_t wm_profile_least(uint64_t total, double percent);

/* Adds a row for one entry or the sum of several; `own` identifies the entry. */
struct wm_result_row *wm_profile_row(struct wm_profile *p, const struct wm_entry *e,
				     const struct wm_profile_total *total, struct wm_result *r,
				     struct wm_result_table *t, struct wm_result_row *above,
				     union wm_cell **ret_keys);

/* Adds the entries list[0..nr) as nested rows, one level per key. Returns 0 or -ENOMEM. */
int wm_profile_hierarchy(struct wm_profile *p, uint32_t *list, uint32_t nr,
			 const struct wm_profile_total *total, struct wm_result *r,
			 struct wm_result_table *t);

/*
 * Adds the calls below the row of one entry, or marks the row `more` if they are created on demand.
 */
int wm_profile_calls(struct wm_profile *p, uint32_t entry, struct wm_result *r,
		     struct wm_result_row *row);

/* Returns whether the entry has calls below it. */
bool wm_profile_has_calls(const struct wm_profile *p, uint32_t entry);

/* Adds the calls below a row. 0 or -ENOMEM. */
int wm_profile_graph(struct wm_profile *p, uint32_t entry, struct wm_result *r,
		     struct wm_result_row *row);

#endif
