/* SPDX-License-Identifier: MIT */
/*
 * provider.h - the benchmark's events as LTTng-UST declarations: the same names and fields as
 * bench/emit_ours.c. LTTng's macros include it many times.
 */
/* clang-format off */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "lttng/provider.h"

#if !defined(BENCH_LTTNG_PROVIDER_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define BENCH_LTTNG_PROVIDER_H

#include <lttng/tracepoint.h>

#include "emit.h"

LTTNG_UST_TRACEPOINT_EVENT_CLASS(bench, two,
	LTTNG_UST_TP_ARGS(int, a, int, b),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(int, a, a)
		lttng_ust_field_integer(int, b, b)))

#ifndef BENCH_TWO
#define BENCH_TWO(event) \
	LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(bench, two, bench, event, \
		LTTNG_UST_TP_ARGS(int, a, int, b))
#define BENCH_MANY(n) BENCH_TWO(on_m##n)
#endif

BENCH_TWO(on_2int)
BENCH_TWO(filtered)
BENCH_TWO(off_2int)
EMIT_64(BENCH_MANY)

LTTNG_UST_TRACEPOINT_EVENT(bench, on_4mixed,
	LTTNG_UST_TP_ARGS(int, a, long, b, const char *, s, double, d),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(int, a, a)
		lttng_ust_field_integer(long, b, b)
		lttng_ust_field_string(s, s)
		lttng_ust_field_float(double, d, d)))

#endif

#include <lttng/tracepoint-event.h>
