/* SPDX-License-Identifier: MIT */
/*
 * main.c - runs every mark dormant, with callbacks, and dormant again, and reports marks that were
 * not hit exactly as often as expected. Valid C and C++.
 *
 *   -DCPLUSPLUS: classes.cc is linked   -DSTATIC: no module   -DMODULE="path"
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef STATIC
#include <dlfcn.h>
#endif

#include "marks.h"

WAYMARK_EVENT(matrix, empty, WAYMARK_ARGS(), WAYMARK_FIELDS());
WAYMARK_EVENT(matrix, in_module, WAYMARK_ARGS(int, i), WAYMARK_FIELDS((i32, i, i)));
WAYMARK_SPAN(matrix, once, WAYMARK_ARGS(int, i), WAYMARK_FIELDS((i32, i, i)));
/* A marker attached to an event of a module that is loaded later. */
WAYMARK_MARK_ON_EVENT(matrix, in_module, WAYMARK_ARGS(int, i), main_rider, "i is %d", i);

#define ROUNDS 3

#ifdef STATIC
#define WHERE_HITS (3 * ROUNDS)
#define WHERE_SUM  (3 * ROUNDS)
#else /* the module adds its own events, each twice */
#define WHERE_HITS (5 * ROUNDS)
#define WHERE_SUM  (9 * ROUNDS)
#endif

/* A note for other tools needs the arguments of events and markers, even while they are dormant. */
#ifdef WAYMARK_SDT
#define DORMANT_EVALUATIONS (2 * ROUNDS)
#define ON_EVALUATIONS      (2 * ROUNDS)
#else
#define DORMANT_EVALUATIONS 0
#define ON_EVALUATIONS      ROUNDS
#endif

struct count {
	const char *name, *format; /* `format` is NULL for a span */
	int expected;              /* number of hits in ROUNDS rounds */
	int hits;
};

static struct count counts[] = {
    {"bare", "nothing", 2 * ROUNDS, 0},
    {"full", "c %c h %hd d %d u %u ld %ld lu %lu f %f g %g s %s p %p", ROUNDS, 0},
    {"quiet", "%d", ROUNDS, 0},
    {"matrix:printf", "hurry %d", ROUNDS, 0},
    {"rider", "rides", ROUNDS, 0},
    {"outer", NULL, 2 * ROUNDS, 0},
    {"inner", NULL, 2 * ROUNDS, 0},
    {"job", NULL, 2 * ROUNDS, 0},
    {"same_line", "%d", 2 * ROUNDS, 0},
    {"in_library", "i %d", ROUNDS, 0},
    {"library", NULL, 2 * ROUNDS, 0},
    {"in_inline", "number %d of %s", 4 * ROUNDS, 0},
#ifndef STATIC
    /* Loaded twice. */
    {"module_comes", "hello", 2, 0},
    {"module_goes", "good bye", 2, 0},
    {"in_module_mark", "i %d", 2 * ROUNDS, 0},
    {"module_rider", "i %d", 2 * ROUNDS, 0},
#endif
#ifdef CPLUSPLUS
    {"in_template", "size %zu v %d", 3 * ROUNDS, 0},
    {"template_span", NULL, 6 * ROUNDS, 0},
    {"in_constructor", "number %d flag %d", ROUNDS, 0},
    {"in_destructor", "number %d", ROUNDS, 0},
    {"in_member", "s %s e %d b %d f %f null %p", ROUNDS, 0},
    {"derived", NULL, 2 * ROUNDS, 0},
    {"in_lambda", "i %d k %d", ROUNDS, 0},
    {"lambda_span", NULL, 2 * ROUNDS, 0},
    {"cleanup_1", "i %d", ROUNDS, 0},
    {"cleanup_2", "i %d", ROUNDS, 0},
    {"cleanup_3", "i %d count %d", ROUNDS - 1, 0},
#endif
};
#define NR_COUNTS (sizeof(counts) / sizeof(counts[0]))

static int shared_hits, shared_sum, once_hits, module_hits, early_hits, late_hits, failures;

static void fail(const char *what, const char *name, long got, long wanted)
{
	printf("%s '%s': %ld, not %ld\n", what, name, got, wanted);
	failures++;
}

static void on_mark(void *data, const char *format, const struct waymark_mark_arg *args,
		    unsigned nr_args)
{
	struct count *c = (struct count *)data;

	c->hits++;
	if (strcmp(format, c->format) != 0)
		fail("another format", format, 0, 0);
	if (strcmp(c->name, "full") != 0)
		return;
	if (nr_args != 10 || args[0].value.i != 'x' || args[1].letter != 'i' ||
	    args[2].value.i != args[1].value.i || args[3].value.u != 3 || args[4].bytes != 8 ||
	    args[5].value.u != ~0ul || args[6].value.f != 1.5 || args[7].value.f != 2.5 ||
	    strcmp(args[8].value.s, "text") != 0 || args[9].letter != 'p')
		fail("wrong arguments of", c->name, nr_args, 10);
}

/* Clobbers the registers that an ordinary function may clobber. */
static void on_floats(void *data, const char *format, const struct waymark_mark_arg *args,
		      unsigned nr_args)
{
	volatile double x[16];
	char text[200];

	for (int k = 0; k < 16; k++)
		x[k] = (double)args[0].value.i * k + nr_args;
	memset(text, (int)x[3], sizeof(text));
	snprintf(text, sizeof(text), "%f %s", x[7] * x[8], format);
	*(int *)data += text[0] != 0;
}

static void around_floats(void)
{
	double dormant = floats(100), on;
	int hits = 0;

	if (waymark_mark_register("among_floats", "i %d of %d", on_floats, &hits) != 0)
		fail("register", "among_floats", 0, 0);
	on = floats(100);
	if (memcmp(&dormant, &on, sizeof(on)) != 0)
		fail("another sum with", "among_floats", (long)on, (long)dormant);
	if (hits != 100)
		fail("hits of", "among_floats", hits, 100);
	(void)waymark_mark_unregister("among_floats", "i %d of %d", on_floats, &hits);
}

static uint64_t open_span[32];
static int nr_open;

static void on_span(void *data, int kind, const char *name, uint64_t id, uint64_t parent)
{
	struct count *c = (struct count *)data;

	c->hits++;
	if (strcmp(name, c->name) != 0)
		fail("another span", name, 0, 0);
	if (!id ||
	    (kind == WAYMARK_KIND_SPAN_BEGIN && parent != (nr_open ? open_span[nr_open - 1] : 0)))
		fail("wrong ids of span", name, (long)parent, nr_open);
	if (strcmp(name, "job") == 0)
		return; /* not a scope */
	if (kind == WAYMARK_KIND_SPAN_BEGIN)
		open_span[nr_open++] = id;
	else if (!nr_open || open_span[--nr_open] != id)
		fail("ends out of order: span", name, 0, 0);
}

static void on_shared(void *data, const struct thing *t, int where)
{
	(void)data;
	shared_hits++;
	shared_sum += where;
	if (!t->name[0])
		fail("no name", "shared", 0, 0);
}

static void on_once(void *data, uint64_t begin, int i)
{
	(void)data;
	if (!begin || !i)
		fail("wrong begin of", "once", 0, i);
	once_hits++;
}

static void on_module(void *data, int i)
{
	(void)data;
	module_hits += i > 0;
}

static void on_early(void *data, const char *format, const struct waymark_mark_arg *args,
		     unsigned nr_args)
{
	(void)format;
	++*(int *)data;
	if (nr_args != 1 || args[0].value.i != 42)
		fail("wrong argument", "early or late", 0, 42);
}

/* Runs before main, after the module's own constructor. */
static ALONE void early(int i)
{
	trace_mark(early, "i %d", i);
}

static __attribute__((constructor(102))) void before_main(void)
{
	early(42);
	if (waymark_mark_register("early", "i %d", on_early, &early_hits) != 0)
		fail("register failed", "early", 0, 0);
	early(42);
}

/* Runs after main, in an exit handler and then in a destructor. */
static ALONE void late(int i)
{
	trace_mark(late, "i %d", i);
}

static void at_exit(void)
{
	late(42);
}

static __attribute__((destructor)) void after_exit(void)
{
	late(42);
	if (late_hits != 2)
		fail("hits after exit of", "late", late_hits, 2);
	if (failures) {
		fflush(stdout);
		_exit(1);
	}
}

static void expect_error(const char *what, int got, int wanted)
{
	if (got != wanted)
		fail("wrong answer to", what, got, wanted);
}

/* Tests which registrations are refused, and which callbacks can be unregistered. */
static void refusals(void)
{
	static int data;

	expect_error("another format than the site's",
		     waymark_mark_register("full", "another %d", on_mark, &data), -1);
	expect_error("a format, before any site",
		     waymark_mark_register("elsewhere:later", "x %d", on_mark, &data), 0);
	expect_error("another format than the one before",
		     waymark_mark_register("elsewhere:later", "y %d", on_mark, &data), -1);
	expect_error("the same again",
		     waymark_mark_register("elsewhere:later", "x %d", on_mark, counts), 0);
	expect_error("other data",
		     waymark_mark_unregister("elsewhere:later", "x %d", on_mark, &failures), -2);
	expect_error("what is there",
		     waymark_mark_unregister("elsewhere:later", "x %d", on_mark, &data), 0);
	expect_error("what is gone",
		     waymark_mark_unregister("elsewhere:later", "x %d", on_mark, &data), -2);
	expect_error("the other",
		     waymark_mark_unregister("elsewhere:later", "x %d", on_mark, counts), 0);
	expect_error("a name that is free again",
		     waymark_mark_register("elsewhere:later", "y %d", on_mark, &data), 0);
	expect_error("no format", waymark_mark_register("full", NULL, on_mark, &data), -22);
	expect_error("a span nobody registered", waymark_span_unregister("outer", on_span, &data),
		     -2);
}

static void connect(int on)
{
	for (size_t i = 0; i < NR_COUNTS; i++) {
		struct count *c = &counts[i];
		int err;
		if (c->format)
			err = on ? waymark_mark_register(c->name, c->format, on_mark, c)
				 : waymark_mark_unregister(c->name, c->format, on_mark, c);
		else
			err = on ? waymark_span_register(c->name, on_span, c)
				 : waymark_span_unregister(c->name, on_span, c);
		if (err)
			fail(on ? "register" : "unregister", c->name, err, 0);
	}
	if (on ? waymark_probe_register(matrix, shared, on_shared, NULL) ||
		     waymark_probe_register(matrix, once, on_once, NULL) ||
		     waymark_probe_register(matrix, in_module, on_module, NULL)
	       : waymark_probe_unregister(matrix, shared, on_shared, NULL) ||
		     waymark_probe_unregister(matrix, once, on_once, NULL) ||
		     waymark_probe_unregister(matrix, in_module, on_module, NULL))
		fail("probes", "typed", 0, 0);
	waymark_synchronize();
}

static void run(int i)
{
	plain_run(i);
	second_run(i);
	library_run(i);
#ifdef CPLUSPLUS
	classes_run(i);
#endif
}

#ifndef STATIC
static void with_module(void)
{
	void *module = dlopen(MODULE, RTLD_NOW);
	module_run_fn module_run;

	if (!module) {
		fail(dlerror(), MODULE, 0, 0);
		return;
	}
	*(void **)&module_run = dlsym(module, "module_run");
	for (int i = 1; i <= ROUNDS; i++)
		module_run(i);
	if (dlclose(module) != 0)
		fail("dlclose", MODULE, 1, 0);
}
#else
static void with_module(void)
{
}
#endif

static void expect(const char *when, int times)
{
	for (size_t i = 0; i < NR_COUNTS; i++)
		if (counts[i].hits != times * counts[i].expected)
			fail(when, counts[i].name, counts[i].hits, times * counts[i].expected);
	if (shared_hits != times * WHERE_HITS || shared_sum != times * WHERE_SUM)
		fail(when, "shared", shared_hits, times * WHERE_HITS);
	if (once_hits != times * ROUNDS)
		fail(when, "once", once_hits, times * ROUNDS);
#ifndef STATIC
	if (module_hits != times * 2 * ROUNDS)
		fail(when, "in_module", module_hits, times * 2 * ROUNDS);
#endif
}

int main(void)
{
	if (early_hits != 1)
		fail("hits before main of", "early", early_hits, 1);
	for (int i = 1; i <= ROUNDS; i++)
		run(i);
	with_module();
	expect("dormant, hits of", 0);
	if (evaluated != DORMANT_EVALUATIONS)
		fail("dormant, evaluations of", "arguments", evaluated, DORMANT_EVALUATIONS);

	refusals();
	connect(1);
	for (int i = 1; i <= ROUNDS; i++)
		run(i);
	with_module();
	with_module();
	expect("on, hits of", 1);
	if (evaluated != DORMANT_EVALUATIONS + ON_EVALUATIONS)
		fail("on, evaluations of", "arguments", evaluated,
		     DORMANT_EVALUATIONS + ON_EVALUATIONS);

	around_floats();
	connect(0);
	for (int i = 1; i <= ROUNDS; i++)
		run(i);
	with_module();
	expect("off again, hits of", 1);
	if (evaluated != 2 * DORMANT_EVALUATIONS + ON_EVALUATIONS)
		fail("off again, evaluations of", "arguments", evaluated,
		     2 * DORMANT_EVALUATIONS + ON_EVALUATIONS);
	if (atexit(at_exit) != 0 ||
	    waymark_mark_register("late", "i %d", on_early, &late_hits) != 0)
		fail("register failed", "late", 0, 0);
	if (!failures)
		printf("ok\n");
	return 0;
}
