/* SPDX-License-Identifier: MIT */
/*
 * hot.c - functions that are compiled twice, with -DMARKED and without, and compared by compare.py.
 * The name of each function ends in its number of sites. Valid C and C++.
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

/* Leaf functions: they have no frame and save no registers, and must not do so with a mark. */
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

/* Functions with calls around the mark: they must save the same registers. */
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

/* Functions with a loop whose state is all in registers. */
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

/* Data behind pointers: nothing may be loaded again after the mark. */
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

/*
 * Leaf functions with one to six values that are used after the mark: as many as there are argument
 * registers, and the mark needs none of them. (With six, the end of a span, which has a value of
 * its own, and clang's scope need one register too many.)
 */
#define P1 long a
#define P2 P1, long b
#define P3 P2, long c
#define P4 P3, long d
#define P5 P4, long e
#define P6 P5, long f
#define E1 a
#define E2 (E1) * 3 + b
#define E3 (E2) * 3 + c
#define E4 (E3) * 3 + d
#define E5 (E4) * 3 + e
#define E6 (E5) * 3 + f
#define LIVE(nr, name, ...)                                                                        \
	long leaf_live##nr##_##name(P##nr)                                                         \
	{                                                                                          \
		M(__VA_ARGS__;)                                                                    \
		return E##nr;                                                                      \
	}
#define LIVE_1_TO_5(name, ...)                                                                     \
	LIVE(1, name, __VA_ARGS__)                                                                 \
	LIVE(2, name, __VA_ARGS__)                                                                 \
	LIVE(3, name, __VA_ARGS__)                                                                 \
	LIVE(4, name, __VA_ARGS__)                                                                 \
	LIVE(5, name, __VA_ARGS__)
#define LIVE_1_TO_6(name, ...) LIVE_1_TO_5(name, __VA_ARGS__) LIVE(6, name, __VA_ARGS__)
LIVE_1_TO_6(event_0_1, trace_event(dormant, a0))
LIVE_1_TO_6(event_1_1, trace_event(dormant, a1, (int)a))
LIVE_1_TO_6(quick_1, trace_event(dormant, quick, (int)a))
LIVE_1_TO_6(string_1, trace_event(dormant, a3, (int)a, a, (const char *)a))
LIVE_1_TO_6(mark_1, trace_mark(live, "a %ld", a))
LIVE_1_TO_6(printf_1, trace_printf("a %ld", a))
LIVE_1_TO_5(scope_2, trace_span(scope, (i64, a, a)))
LIVE_1_TO_5(stop_1, trace_span_stop(dormant, once, (uint64_t)a, (int)a))
LIVE(6, all_1, trace_mark(all, "%ld %ld %ld %ld %ld %ld", a, b, c, d, e, f))
LIVE(6, strings_1, trace_mark(strings, "%s %ld %s", (const char *)a, b, (const char *)c))
LIVE(6, four_1, trace_event(dormant, i4, (int)a, b, (int)c, d))

/* The same in loops, whose state is v, n, s and `nr` more values. */
#define IN_LOOP(nr, parameters, mix, name, ...)                                                    \
	long loop_live##nr##_##name(const long *v, long n parameters)                              \
	{                                                                                          \
		long s = 0;                                                                        \
		PLAIN_LOOP                                                                         \
		for (; n; n--) {                                                                   \
			M(__VA_ARGS__;)                                                            \
			s = (s ^ v[n]) * 31;                                                       \
			mix                                                                        \
		}                                                                                  \
		return s;                                                                          \
	}
#define AND , /* a comma in a macro argument */
#define IN_LOOPS(name, ...)                                                                        \
	IN_LOOP(3, , , name, __VA_ARGS__)                                                          \
	IN_LOOP(4, AND long a, s += a;, name, __VA_ARGS__)                                         \
	IN_LOOP(5, AND long a AND long b, s += a; a ^= b;, name, __VA_ARGS__)                      \
	IN_LOOP(6, AND long a AND long b AND long c, s += a; a ^= b; b += c;, name, __VA_ARGS__)
IN_LOOPS(event_0_1, trace_event(dormant, a0))
IN_LOOPS(event_2_1, trace_event(dormant, a2, (int)n, s))
IN_LOOPS(mark_2_1, trace_mark(m2, "a %ld b %ld", s, n))
IN_LOOPS(string_1, trace_event(dormant, a3, (int)n, s, (const char *)v))

/* Structures by value, in registers and by reference; floating point in all its registers. */
struct pair {
	long x, y;
};
long leaf_pairs_1(struct pair p, struct pair q)
{
	M(trace_event(dormant, i4, (int)p.x, p.y, (int)q.x, q.y);)
	return p.x * p.y + q.x * q.y;
}
long leaf_pair_pointer_1(struct pair p, const struct pair *q, struct pair r)
{
	M(trace_event(dormant, a2, (int)p.x, p.y);)
	return p.x * p.y + q->x * r.y;
}
double leaf_doubles_1(double a, double b, double c, double d, double e, double f, double h, float k)
{
	M(trace_mark(doubles, "%f %f", a, (double)k);)
	return ((((((a * b + c) * d) + e) * f) + h) * (double)k);
}
double leaf_mixed_1(int a, long b, double x, double y)
{
	M(trace_event(dormant, a4, a, b, "constant", x);)
	return x * y + (double)(a * b);
}

#ifdef __cplusplus
}
#endif
