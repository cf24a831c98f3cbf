/* SPDX-License-Identifier: MIT */
/*
 * disable.h - the expansion of tracepoint.h's macros with -DWAYMARK_DISABLE: no code, no data, no
 * section, no constructor, no reference to the runtime, and no machine requirements. The compiler
 * still checks names, types, formats and field expressions, so that code that builds without
 * tracing builds with it. Arguments are never evaluated.
 *
 * Functions that need the runtime return -ENOSYS, an id is 0, a guard is false. This file holds
 * only the inner half; the macros that a program uses are the same as with tracing.
 */
#ifndef WAYMARK_DISABLE_H
#define WAYMARK_DISABLE_H

#pragma GCC system_header

#ifdef WAYMARK_DISABLE

#include <waymark/abi.h>
#include <waymark/field.h>
#include <waymark/foreach.h>

#define WAYMARK_UNUSED_ __attribute__((unused, no_instrument_function)) static inline
#define WAYMARK_NEVER_(...) \
	do { \
		if (0) { \
			__VA_ARGS__; \
		} \
	} while (0)

/* Used by field.h to pack: the same conversions, without a destination. */
WAYMARK_UNUSED_ void waymark_put8(unsigned char *q, uint8_t v) { (void)q, (void)v; }
WAYMARK_UNUSED_ void waymark_put16(unsigned char *q, uint16_t v) { (void)q, (void)v; }
WAYMARK_UNUSED_ void waymark_put32(unsigned char *q, uint32_t v) { (void)q, (void)v; }
WAYMARK_UNUSED_ void waymark_put64(unsigned char *q, uint64_t v) { (void)q, (void)v; }
WAYMARK_UNUSED_ void waymark_putf32(unsigned char *q, float v) { (void)q, (void)v; }
WAYMARK_UNUSED_ void waymark_putf64(unsigned char *q, double v) { (void)q, (void)v; }
WAYMARK_UNUSED_ unsigned char *waymark_put_string(unsigned char *q, const char *s, uint64_t after)
{
	(void)s, (void)after;
	return q;
}
WAYMARK_UNUSED_ unsigned char *waymark_put_counted(unsigned char *q, const void *from,
						   uint64_t count, uint64_t element, uint64_t after)
{
	(void)from, (void)count, (void)element, (void)after;
	return q;
}
WAYMARK_UNUSED_ unsigned char *waymark_put_array(unsigned char *q, const void *from, uint64_t bytes)
{
	(void)from, (void)bytes;
	return q;
}
WAYMARK_UNUSED_ unsigned char *waymark_put_chars(unsigned char *q, const char *s, uint64_t n)
{
	(void)s, (void)n;
	return q;
}
#define WAYMARK_CHECK_FIELDS_(fields) \
	WAYMARK_NEVER_(unsigned char *waymark_q_ = 0; enum { waymark_fixed_ = 0 }; \
		       const int64_t waymark_v_[] = {WAYMARK_VALUES(fields) 0}; (void)waymark_v_; \
		       do { WAYMARK_PACK(fields) } while (0); (void)waymark_q_)

/* ------------------------------------------------------------------ *
 * Typed events
 * ------------------------------------------------------------------ */
#define WAYMARK_EVENT__(kind, provider, name, args, fields, ...) \
	typedef void (*WAYMARK_ID(probe, provider, name))(void *private_data WAYMARK_TYPES_(args)); \
	WAYMARK_UNUSED_ void WAYMARK_ID(emit, provider, name) WAYMARK_PROTO_(args) \
	{ \
		(void)(WAYMARK_INFO WAYMARK_OPTIONS_(WAYMARK_LEVEL_OF_, __VA_ARGS__)); \
		(void)(0 WAYMARK_OPTIONS_(WAYMARK_FLAGS_OF_, __VA_ARGS__)); \
		WAYMARK_CHECK_FIELDS_(fields); \
	} \
	WAYMARK_CAT(WAYMARK_CHECK_FORM_, WAYMARK_OPTIONS_(WAYMARK_HAS_PRINT_, __VA_ARGS__)) \
	(provider, name, args, fields, WAYMARK_OPTIONS_(WAYMARK_PRINT_OF_, __VA_ARGS__)) \
	WAYMARK_UNUSED_ int WAYMARK_ID(probe_add, provider, name)( \
		WAYMARK_ID(probe, provider, name) fn, void *data) \
	{ \
		(void)fn, (void)data; \
		return -38; \
	} \
	WAYMARK_UNUSED_ int WAYMARK_ID(probe_remove, provider, name)( \
		WAYMARK_ID(probe, provider, name) fn, void *data) \
	{ \
		(void)fn, (void)data; \
		return -38; \
	} \
	struct waymark_end_of_event

#define WAYMARK_ON_(provider, name) (sizeof(WAYMARK_ID(probe, provider, name)) == 0)
#define WAYMARK_MARK_(provider, name, args) \
	WAYMARK_NEVER_((void)WAYMARK_ON_(provider, name); \
		       WAYMARK_ID(emit, provider, name) args)
WAYMARK_UNUSED_ void waymark_synchronize(void) {}

/* ------------------------------------------------------------------ *
 * Markers
 * ------------------------------------------------------------------ */
#define WAYMARK_MARK_AT_(level, name, spelled, format, ...) \
	WAYMARK_NEVER_((void)(level); (void)sizeof(name spelled format); \
		       waymark_check_format(format, ##__VA_ARGS__))
#define WAYMARK_MARK_ON_EVENT_(provider, event, args, fn, link, name, spelled, format, ...) \
	__attribute__((unused)) static void fn WAYMARK_LINK_PROTO_(args); \
	WAYMARK_LINK_CHECK_(provider, event, fn) \
	static void fn WAYMARK_LINK_PROTO_(args) \
	{ \
		(void)waymark_private_; \
		WAYMARK_MARK_AT_(0, name, spelled, format, ##__VA_ARGS__); \
	} \
	struct waymark_end_of_event

/* ------------------------------------------------------------------ *
 * Spans
 * ------------------------------------------------------------------ */
WAYMARK_UNUSED_ uint64_t waymark_span_ask(uint64_t op)
{
	(void)op;
	return 0;
}
WAYMARK_UNUSED_ uint64_t waymark_only_now(uint64_t v)
{
	return v;
}
WAYMARK_UNUSED_ uint64_t waymark_span_current(void)
{
	return 0;
}
#define WAYMARK_SPAN_CHECK_(fields) \
	uint64_t waymark_id_ = 0, waymark_parent_ = 0; \
	(void)waymark_id_, (void)waymark_parent_; \
	WAYMARK_CHECK_FIELDS_(fields)
#define WAYMARK_SPAN_SCOPE_(u, name, ...) \
	__attribute__((unused)) const int u = __extension__({ \
		WAYMARK_NEVER_(WAYMARK_SPAN_CHECK_( \
			WAYMARK_SPAN_BEGIN_FIELDS_(waymark_id_, waymark_parent_, \
						   ##__VA_ARGS__))); \
		0; \
	})
#define WAYMARK_SPAN_BEGIN_(name, parent, fields) \
	__extension__({ \
		WAYMARK_NEVER_(const uint64_t waymark_under_ = (parent); (void)waymark_under_; \
			       WAYMARK_SPAN_CHECK_(fields)); \
		(uint64_t)0; \
	})
#define WAYMARK_SPAN_END_(name, id, fields) \
	WAYMARK_NEVER_(const uint64_t waymark_ended_ = (id); (void)waymark_ended_; \
		       WAYMARK_SPAN_CHECK_(fields))

#endif /* WAYMARK_DISABLE */

#endif
