/* SPDX-License-Identifier: MIT */
/*
 * hot.c - functions that are compiled twice, with -DMARKED and without, and
 * compared by compare.py. Names end in how many sites they have. C and C++.
 */
#define WAYMARK_PROVIDER dormant
#include <waymark/tracepoint.h>

#ifdef MARKED
#define M(...) __VA_ARGS__
#else
#define M(...)
#endif
#ifdef __clang__
#define PLAIN_LOOP _Pragma("clang loop unroll(disable) vectorize(disable)")
#else
#define PLAIN_LOOP _Pragma("GCC unroll 1")
#endif

#ifdef __cplusplus
extern "C" {
#endif

int g(int i);
struct thing {
	int number;
};

WAYMARK_EVENT(dormant, a0, WAYMARK_ARGS(), WAYMARK_FIELDS());
WAYMARK_EVENT(dormant, a1, WAYMARK_ARGS(int, a), WAYMARK_FIELDS((i32, a, a)));
WAYMARK_EVENT(dormant, a2, WAYMARK_ARGS(int, a, long, b), WAYMARK_FIELDS((i32, a, a), (i64, b, b)));
WAYMARK_EVENT(dormant, a3, WAYMARK_ARGS(int, a, long, b, const char *, s),
	      WAYMARK_FIELDS((i32, a, a), (i64, b, b), (str, s, s)));
WAYMARK_EVENT(dormant, a4, WAYMARK_ARGS(int, a, long, b, const char *, s, double, d),
	      WAYMARK_FIELDS((i32, a, a), (i64, b, b), (str, s, s), (f64, d, d)));
WAYMARK_EVENT(dormant, i2, WAYMARK_ARGS(int, a, int, b), WAYMARK_FIELDS((i32, a, a), (i32, b, b)));
WAYMARK_EVENT(dormant, i4, WAYMARK_ARGS(int, a, long, b, int, c, long, d),
	      WAYMARK_FIELDS((i32, a, a), (i64, b, b), (i32, c, c), (i64, d, d)));
WAYMARK_EVENT(dormant, thing, WAYMARK_ARGS(const struct thing *, t),
	      WAYMARK_FIELDS((i32, number, t->number)));
WAYMARK_EVENT(dormant, quick, WAYMARK_ARGS(int, a), WAYMARK_FIELDS((i32, a, a)), WAYMARK_NOCLOCK);
WAYMARK_SPAN(dormant, once, WAYMARK_ARGS(int, a), WAYMARK_FIELDS((i32, a, a)));

/* Leaf functions: no frame, no saved register, and it must stay so. */
#define LEAF(name, ...)                                                                            \
	int leaf_##name(int a, long b, const char *s, double d)                                    \
	{                                                                                          \
		M(__VA_ARGS__;)                                                                    \
		return (int)(a * b + *s + (long)d);                                                \
	}
LEAF(event_0_1, trace_event(dormant, a0))
LEAF(event_1_1, trace_event(dormant, a1, a))
LEAF(event_2_1, trace_event(dormant, a2, a, b))
LEAF(event_3_1, trace_event(dormant, a3, a, b, s))
LEAF(event_4_1, trace_event(dormant, a4, a, b, s, d))
LEAF(quick_1, trace_event(dormant, quick, a))
LEAF(mark_0_1, trace_mark(m0, "nothing"))
LEAF(mark_1_1, trace_mark(m1, "a %d", a))
LEAF(mark_2_1, trace_mark(m2, "a %d b %ld", a, b))
LEAF(mark_3_1, trace_mark(m3, "a %d b %ld s %s", a, b, s))
LEAF(mark_4_1, trace_mark(m4, "a %d b %ld s %s d %f", a, b, s, d))
LEAF(printf_1, trace_printf("a %d", a))
LEAF(guard_1, if (trace_event_enabled(dormant, a1)) b = a)
LEAF(end_1, trace_span_end(job, (uint64_t)b, (i32, a, a)))
LEAF(scope_2, trace_span(scope, (i32, a, a)))
LEAF(stop_1, trace_span_stop(dormant, once, (uint64_t)b, a))

/* Calls around the mark: the same registers saved. */
#define AROUND(name, ...)                                                                          \
	int around_##name(int a, long b, const char *s, long d)                                    \
	{                                                                                          \
		a = g(a);                                                                          \
		M(__VA_ARGS__;)                                                                    \
		return (int)(g(a) * b + *s + d);                                                   \
	}
AROUND(event_0_1, trace_event(dormant, a0))
AROUND(event_1_1, trace_event(dormant, a1, a))
AROUND(event_2_1, trace_event(dormant, a2, a, b))
AROUND(event_3_1, trace_event(dormant, a3, a, b, s))
AROUND(event_4_1, trace_event(dormant, i4, a, b, *s, d))
AROUND(mark_2_1, trace_mark(m2, "a %d b %ld", a, b))
AROUND(mark_4_1, trace_mark(m4, "a %d b %ld s %s d %ld", a, b, s, d))
AROUND(scope_2, trace_span(scope, (i32, a, a)))

/* In a loop whose state is all in registers. */
#define LOOP(name, ...)                                                                            \
	int loop_##name(const int *v, int n)                                                       \
	{                                                                                          \
		int s = 0, i;                                                                      \
		PLAIN_LOOP                                                                         \
		for (i = 0; i < n; i++) {                                                          \
			M(__VA_ARGS__;)                                                            \
			s = (s ^ v[i]) * 31;                                                       \
		}                                                                                  \
		return s;                                                                          \
	}
LOOP(event_0_1, trace_event(dormant, a0))
LOOP(event_1_1, trace_event(dormant, a1, i))
LOOP(event_2_1, trace_event(dormant, i2, i, s))
LOOP(mark_2_1, trace_mark(m2, "a %d b %d", i, s))

/* Memory of others: nothing is loaded again after the mark. */
int memory_1(struct thing *t, int a)
{
	int before = t->number;
	M(trace_event(dormant, a1, a);)
	return before + t->number + a;
}
int pointer_1(const struct thing *t, int a)
{
	M(trace_event(dormant, thing, t);)
	return t->number + a;
}

#ifdef __cplusplus
}
#endif
