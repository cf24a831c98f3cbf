/* SPDX-License-Identifier: MIT */
/* plain.c - marks in plain functions. PLAIN_SITES in matrix.sh is their number of sites. */
#include "marks.h"

WAYMARK_EVENT(matrix, typed,
	      WAYMARK_ARGS(int, i, unsigned char, u, double, d, float, f, const char *, s, void *,
			   p),
	      WAYMARK_FIELDS((i8, a, i), (u64, b, u), (f64, d, d), (f32, f, f), (str, s, s),
			     (ptr, p, p), (chars, c, s, 5), (array, v, i32, &i, 1),
			     (seq, q, u8, s, 3), (blob, z, s, 2), (boolean, t, i),
			     (enumeration, e, i16, i, ("none", 0), ("one", 1))),
	      WAYMARK_LEVEL(DEBUG));
WAYMARK_EVENT(matrix, empty, WAYMARK_ARGS(), WAYMARK_FIELDS());
WAYMARK_EVENT(matrix, unclocked, WAYMARK_ARGS(long, n), WAYMARK_FIELDS((i64, n, n)),
	      WAYMARK_NOCLOCK);
WAYMARK_SPAN(matrix, once, WAYMARK_ARGS(int, i), WAYMARK_FIELDS((i32, i, i)));
WAYMARK_MARK_ON_EVENT(matrix, empty, WAYMARK_ARGS(), rider, "rides");
WAYMARK_MARK_ON_EVENT(matrix, typed,
		      WAYMARK_ARGS(int, i, unsigned char, u, double, d, float, f, const char *, s,
				   void *, p),
		      typed_rider, "i %d s %s", i, s);

int evaluated;
static uint64_t job;

static ALONE void typed(int i)
{
	trace_event(matrix, typed, evaluate(i), 200, i * 0.5, 1.25f, "typed", &job);
}

static ALONE void empty(void)
{
	trace_event(matrix, empty);
	trace_event(matrix, unclocked, 7L);
}

static ALONE void marks(int i)
{
	trace_mark(bare, "nothing");
	trace_mark(full, "c %c h %hd d %d u %u ld %ld lu %lu f %f g %g s %s p %p", 'x', (short)i,
		   evaluate(i), 3u, 4l, ~0ul, 1.5, 2.5f, "text", (void *)&job);
	trace_mark_level(DEBUG, quiet, "%d", i);
	trace_printf("hurry %d", i);
}

static ALONE int guarded(int i)
{
	if (trace_event_enabled(matrix, typed))
		return i;
	return 0;
}

static ALONE void scope(int i)
{
	trace_span(outer, (i32, i, i), (str, s, "outer"));
	{
		trace_span(inner);
		if (i == 2)
			return;
	}
}

static ALONE void begin(int i)
{
	job = trace_span_begin(job, (i32, i, evaluate(i)));
}

static ALONE void end(int i)
{
	trace_span_end(job, job, (i32, status, i));
}

static ALONE void once(int i)
{
	uint64_t start = trace_span_start(matrix, once);

	trace_span_stop(matrix, once, start, i);
}

/* Keeps sixteen sums in vector registers, if there are as many, across a mark. */
ALONE double floats(int n)
{
	double a[16] = {0}, sum = 0;

	for (int i = 0; i < n; i++) {
		trace_mark(among_floats, "i %d of %d", i, n);
		a[0] += i * 0.5, a[1] += i * 1.5, a[2] += i * 2.5, a[3] += i * 3.5;
		a[4] += i / 3.0, a[5] += i / 5.0, a[6] += i / 7.0, a[7] += i / 9.0;
		a[8] -= i * 0.25, a[9] -= i * 1.25, a[10] -= i * 2.25, a[11] -= i * 3.25;
		a[12] -= i / 11.0, a[13] -= i / 13.0, a[14] -= i / 17.0, a[15] -= i / 19.0;
	}
	for (int k = 0; k < 16; k++)
		sum = sum * 1.25 + a[k];
	return sum;
}

void plain_run(int i)
{
	struct thing t = {i, "plain"};

	typed(i);
	empty();
	marks(i);
	(void)guarded(i);
	scope(i);
	begin(i);
	end(0);
	once(i);
	mark_inline(i);
	trace_event(matrix, shared, &t, 0);
}
