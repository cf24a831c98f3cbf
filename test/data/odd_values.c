/* SPDX-License-Identifier: MIT */
/* odd_values.c - emits events with values that other formats cannot represent. */
#include <math.h>
#include <stdint.h>

#include <waymark/tracepoint.h>

WAYMARK_EVENT(odd, numbers,
	      WAYMARK_ARGS(uint64_t, u, int64_t, i, double, d, float, f, const void *, p),
	      WAYMARK_FIELDS((u64, u, u), (i64, i, i), (f64, d, d), (f32, f, f), (ptr, p, p)));
WAYMARK_EVENT(odd, text, WAYMARK_ARGS(const char *, s), WAYMARK_FIELDS((str, s, s)));

int main(void)
{
	static const char *const texts[] = {
	    "",
	    "plain",
	    "\"quoted\\\" \t\n\r\b\f\x01\x1b[31m\x7f",
	    "\xff\xfe\xc3\x28\xed\xa0\x80\xf4\x90\x80\x80",
	    "gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80 \xe2\x80\xa8\xe2\x80\xae",
	    "</script>",
	};

	trace_event(odd, numbers, UINT64_MAX, INT64_MIN, NAN, INFINITY, (void *)-1l);
	trace_event(odd, numbers, (1ull << 53) + 1, -(1ll << 53) - 1, -INFINITY, 0.1f, NULL);
	trace_event(odd, numbers, 1ull << 53, -(1ll << 53), 1e308, 1e-40f, (void *)16);
	trace_event(odd, numbers, 0, -1, -0.0, 16777217.f, (void *)0x7fffffffffff);
	for (unsigned i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		trace_event(odd, text, texts[i]);
	return 0;
}
