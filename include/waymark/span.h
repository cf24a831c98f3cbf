/* SPDX-License-Identifier: MIT */
/*
 * span.h - spans: operations with a start and an end.
 *
 * 1. A scope. From here to the end of the enclosing block, however it is left:
 *
 *        int query(const char *sql)
 *        {
 *                trace_span(query, (str, sql, sql));
 *                ...
 *                return rows;
 *        }
 *
 *    C uses the cleanup attribute, C++ an object. Scopes nest: a span's parent
 *    is the innermost scope of its thread when it begins.
 *
 * 2. Begin and end, in any function and thread, linked by a 64-bit id:
 *
 *        job->span = trace_span_begin(job, (u32, number, job->number));
 *        ...
 *        trace_span_end(job, job->span, (i32, status, error));
 *
 *    The parent is the innermost scope span of the thread that begins it, or the
 *    one given in trace_span_begin_child(name, parent_id, fields...): pass
 *    trace_span_current(), or the id of another begin. An id of 0 means "was
 *    off when it began"; then its end records nothing.
 *
 * 3. One record with start and duration, half the size of the other two, written when
 *    the span ends. It takes about as long as a begin and an end event (those are the
 *    fastest, a scope is the slowest). It is a typed event with its own
 *    declaration at file scope:
 *
 *        WAYMARK_SPAN(shop, checkout, WAYMARK_ARGS(int, items, const char *, who),
 *                     WAYMARK_FIELDS((i32, items, items), (str, who, who)))
 *        ...
 *        uint64_t start = trace_span_start(shop, checkout);
 *        ...
 *        trace_span_stop(shop, checkout, start, nr_items, name);
 *
 * Fields are those of WAYMARK_FIELDS: (kind, name, expression...). Expressions are not evaluated
 * while the span is off; when a buffer is full they may be evaluated twice, so they must have no
 * side effects. In 1 and 2, name and provider are as for a marker (mark.h). By convention, a field
 * `status` of the end event is the result: 0 for success, else an error number. doc/format/span.md
 * specifies the contents of a record.
 *
 * Dormant, a scope is two instructions, one at each end; the other forms are one instruction for
 * each mark, and an id or start of 0.
 *
 * trace_span must be a declaration in a block, at most one per line. A scope that is left by
 * longjmp has no end record, and may be mistaken for a parent for a while; a coroutine that changes
 * threads should use begin and end.
 *
 * Callbacks: waymark_span_register(name, callback, private_data), similar to
 * waymark_mark_register(), gets each begin and end of 1 and 2. WAYMARK_SPAN uses those of typed
 * events: waymark_probe_register(provider, name, fn, private_data) with fn(private_data, uint64_t
 * begin, arguments...).
 */
#ifndef WAYMARK_SPAN_H
#define WAYMARK_SPAN_H

#pragma GCC system_header

#include <waymark/field.h>
#ifdef WAYMARK_DISABLE
#include <waymark/disable.h>
#else
#include <waymark/place.h>
#endif

/* `kind` is WAYMARK_KIND_SPAN_BEGIN, or WAYMARK_KIND_SPAN_END with a parent_id of 0. */
typedef void (*waymark_span_callback)(void *private_data, int kind, const char *name,
				      uint64_t span_id, uint64_t parent_id);

/* Like waymark_mark_register(), without a format. Returns 0, -EINVAL, -ENOMEM or -ENOSYS. */
__attribute__((unused, no_instrument_function)) static inline int
waymark_span_register(const char *name, waymark_span_callback callback, void *private_data);
/* Like waymark_mark_unregister(). */
__attribute__((unused, no_instrument_function)) static inline int
waymark_span_unregister(const char *name, waymark_span_callback callback, void *private_data);

/* The fields that every span has, followed by those of the program. */
#define WAYMARK_SPAN_BEGIN_FIELDS_(id, parent, ...) \
	((u64, span_id, id), (u64, parent_id, parent), ##__VA_ARGS__)
#define WAYMARK_SPAN_END_FIELDS_(id, ...) ((u64, span_id, id), ##__VA_ARGS__)

#ifndef WAYMARK_DISABLE

#ifdef __cplusplus
extern "C" {
#endif
extern int waymark_span_add(struct waymark_module *module, const char *provider, const char *name,
			    waymark_span_callback callback, void *private_data)
	__attribute__((weak));
extern int waymark_span_remove(struct waymark_module *module, const char *provider,
			       const char *name, waymark_span_callback callback,
			       void *private_data) __attribute__((weak));
#ifdef __cplusplus
}
#endif

static inline int waymark_span_register(const char *name, waymark_span_callback callback,
					void *private_data)
{
	return waymark_span_add ? waymark_span_add(&waymark_module, WAYMARK_PROVIDER_TEXT, name,
						   callback, private_data)
				: -38;
}
static inline int waymark_span_unregister(const char *name, waymark_span_callback callback,
					  void *private_data)
{
	return waymark_span_remove ? waymark_span_remove(&waymark_module, WAYMARK_PROVIDER_TEXT,
							 name, callback, private_data)
				   : -38;
}

/* ------------------------------------------------------------------ *
 * Building blocks
 * ------------------------------------------------------------------ */

#define WAYMARK_SPAN_ASK_(ret, op, tag, begin) \
	WAYMARK_CALL_SYMBOLS(ret, span, (uint64_t)(op), &(tag), &(begin))

#define WAYMARK_SPAN_PLACE_(id, kind, name, fields) \
	WAYMARK_PLACE_(id, 0, kind, WAYMARK_INFO, 0, WAYMARK_NR_VALUES(fields), \
		       WAYMARK_PROVIDER_TEXT "\0" name "\0" WAYMARK_SCHEMA(fields) "\0" \
					     "\0" __FILE__, \
		       WAYMARK_PLACE_VALUES_(WAYMARK_NR_VALUES(fields), WAYMARK_VALUES(fields)))

#define WAYMARK_SPAN_EMIT_(event, id, parent, fields) \
	WAYMARK_EMIT_BLOCK_(event, event, 0, WAYMARK_FIXED_BYTES(fields), \
			    waymark_put64(waymark_slots_, id); \
			    waymark_put64(waymark_slots_ + 8, parent);, WAYMARK_PACK(fields))

/* Returns the runtime's answer to `op`; waymark_module.span must not be 0. */
WAYMARK_INLINE uint64_t waymark_span_ask(uint64_t op)
{
	uint64_t ret;
	WAYMARK_CALL_ALIKE(ret, span, op);
	return ret;
}

/*
 * The begin and the end of a scope. While the begin is packed, its ids are requested again rather
 * than kept in registers, because a leaf function has none to spare.
 */
#define WAYMARK_SPAN_TOP_ waymark_span_ask(WAYMARK_SPAN_CURRENT)
#define WAYMARK_SPAN_BELOW_ waymark_span_ask(WAYMARK_SPAN_PARENT)
#define WAYMARK_SPAN_ENTER_(tag, event, fields) \
	do { \
		uint64_t waymark_id_; \
		WAYMARK_SPAN_ASK_(waymark_id_, WAYMARK_SPAN_PUSH, tag, event); \
		if (waymark_id_) \
			WAYMARK_SPAN_EMIT_(event, WAYMARK_SPAN_TOP_, WAYMARK_SPAN_BELOW_, fields); \
	} while (0)
#define WAYMARK_SPAN_LEAVE_(tag, begin) \
	do { \
		uint64_t waymark_id_; \
		WAYMARK_SPAN_ASK_(waymark_id_, WAYMARK_SPAN_POP, tag, begin); \
		if (waymark_id_) \
			WAYMARK_SPAN_EMIT_(tag, waymark_id_, 0, \
					   WAYMARK_SPAN_END_FIELDS_(waymark_id_)); \
	} while (0)

/* ------------------------------------------------------------------ *
 * Scopes. The places of a scope's end and begin are named after the object: `u` and u_begin.
 * ------------------------------------------------------------------ */
#define WAYMARK_SPAN_SCOPE_(u, name, ...) \
	WAYMARK_SPAN_SCOPE__(u, WAYMARK_CAT(u, _begin), WAYMARK_CAT(u, _leave), name, \
			     WAYMARK_SPAN_BEGIN_FIELDS_(WAYMARK_SPAN_TOP_, WAYMARK_SPAN_BELOW_, \
							##__VA_ARGS__))
#define WAYMARK_SPAN_PLACES_(u, begin, name, fields) \
	WAYMARK_SPAN_PLACE_(u, WAYMARK_KIND_SPAN_END, name, WAYMARK_SPAN_END_FIELDS_(waymark_id_)); \
	WAYMARK_SPAN_PLACE_(begin, WAYMARK_KIND_SPAN_BEGIN, name, fields)
#define WAYMARK_SPAN_ENTER_SCOPE_(u, begin, fields) \
	if (WAYMARK_PLACE_ON_(begin)) \
	WAYMARK_SPAN_ENTER_(WAYMARK_PLACE_EVENT_(u), WAYMARK_PLACE_EVENT_(begin), fields)

#ifdef __cplusplus

template <class End, class Begin> struct waymark_span_object {
	waymark_span_object() = default;
	waymark_span_object(const waymark_span_object &) = delete;
	__attribute__((always_inline, no_instrument_function)) inline ~waymark_span_object()
	{
		if (__builtin_expect(waymark_place_on<End>(), 0))
			WAYMARK_SPAN_LEAVE_(waymark_holder<End>::event,
					    waymark_holder<Begin>::event);
	}
};
#define WAYMARK_SPAN_SCOPE__(u, begin, leave, name, fields) \
	WAYMARK_SPAN_PLACES_(u, begin, name, fields); \
	__attribute__((unused)) waymark_span_object<WAYMARK_CAT(waymark_place_, u), \
						    WAYMARK_CAT(waymark_place_, begin)> \
		u; \
	WAYMARK_SPAN_ENTER_SCOPE_(u, begin, fields)

#elif defined(__clang__)

/* All three members are constants, so the optimiser replaces the variable with them. */
struct waymark_span_scope {
	struct waymark_event_state *event, *begin;
	const void *desc;
};
WAYMARK_INLINE void waymark_span_leave(const struct waymark_span_scope *s)
{
#if defined(WAYMARK_LOADTEST) || !defined(__OPTIMIZE__)
	if (WAYMARK_FLAG_(*s->event))
#else
	if (__builtin_expect(waymark_place_on(s->desc, s->event), 0))
#endif
		WAYMARK_SPAN_LEAVE_(*s->event, *s->begin);
}
#if defined(WAYMARK_LOADTEST) || !defined(__OPTIMIZE__)
#define WAYMARK_SPAN_LIST_END_(u) WAYMARK_PLACE_LIST_(u)
#else
#define WAYMARK_SPAN_LIST_END_(u) (void)0
#endif
#define WAYMARK_SPAN_SCOPE__(u, begin, leave, name, fields) \
	WAYMARK_SPAN_PLACES_(u, begin, name, fields); \
	__attribute__((unused, cleanup(waymark_span_leave))) const struct waymark_span_scope u = \
		__extension__({ \
			WAYMARK_SPAN_LIST_END_(u); \
			WAYMARK_SPAN_ENTER_SCOPE_(u, begin, fields); \
			(struct waymark_span_scope){&WAYMARK_PLACE_EVENT_(u), \
						    &WAYMARK_PLACE_EVENT_(begin), \
						    &WAYMARK_CAT(waymark_desc_, u)}; \
		})

#else /* gcc: the end is a nested function, which is always inlined */

#define WAYMARK_SPAN_SCOPE__(u, begin, leave, name, fields) \
	WAYMARK_SPAN_PLACES_(u, begin, name, fields); \
	__extension__ __attribute__((always_inline, no_instrument_function)) inline void leave( \
		const char *waymark_scope_) \
	{ \
		(void)waymark_scope_; \
		if (WAYMARK_PLACE_ON_(u)) \
			WAYMARK_SPAN_LEAVE_(WAYMARK_PLACE_EVENT_(u), \
					    WAYMARK_PLACE_EVENT_(begin)); \
	} \
	__attribute__((unused, cleanup(leave))) const char u = __extension__({ \
		WAYMARK_SPAN_ENTER_SCOPE_(u, begin, fields); \
		0; \
	})

#endif

/*
 * Hides a value from the compiler until the site; otherwise it would test "on and not 0" at the
 * site.
 */
WAYMARK_INLINE uint64_t waymark_only_now(uint64_t v)
{
	__asm__ volatile("" : "+r"(v));
	return v;
}

/* ------------------------------------------------------------------ *
 * Begin and end
 * ------------------------------------------------------------------ */
#define WAYMARK_SPAN_BEGIN_(name, parent, fields) \
	__extension__({ \
		uint64_t waymark_id_ = 0; \
		WAYMARK_SPAN_PLACE_(here, WAYMARK_KIND_SPAN_BEGIN, name, fields); \
		if (WAYMARK_PLACE_ON_(here)) { \
			const uint64_t waymark_parent_ = waymark_only_now(parent); \
			WAYMARK_SPAN_ASK_(waymark_id_, WAYMARK_SPAN_NEW, \
					  WAYMARK_PLACE_EVENT_(here), \
					  WAYMARK_PLACE_EVENT_(here)); \
			if (waymark_id_) \
				WAYMARK_SPAN_EMIT_(WAYMARK_PLACE_EVENT_(here), waymark_id_, \
						   waymark_parent_, fields); \
		} \
		waymark_id_; \
	})
#define WAYMARK_SPAN_END_(name, id, fields) \
	do { \
		WAYMARK_SPAN_PLACE_(here, WAYMARK_KIND_SPAN_END, name, fields); \
		if (WAYMARK_PLACE_ON_(here)) { \
			uint64_t waymark_id_ = waymark_only_now(id); \
			if (waymark_id_) \
				WAYMARK_SPAN_EMIT_(WAYMARK_PLACE_EVENT_(here), waymark_id_, 0, \
						   fields); \
		} \
	} while (0)

/* Returns the id of the innermost open scope span of this thread; 0: none. It marks nothing. */
WAYMARK_INLINE uint64_t waymark_span_current(void)
{
	return waymark_module.span ? waymark_span_ask(WAYMARK_SPAN_CURRENT) : 0;
}

#else /* WAYMARK_DISABLE */
static inline int waymark_span_register(const char *name, waymark_span_callback callback,
					void *private_data)
{
	(void)name, (void)callback, (void)private_data;
	return -38;
}
static inline int waymark_span_unregister(const char *name, waymark_span_callback callback,
					  void *private_data)
{
	(void)name, (void)callback, (void)private_data;
	return -38;
}
#endif /* WAYMARK_DISABLE */

#define waymark_span(name, ...) \
	WAYMARK_SPAN_SCOPE_(WAYMARK_CAT(waymark_span_, __LINE__), #name, ##__VA_ARGS__)
#define waymark_span_begin(name, ...) \
	WAYMARK_SPAN_BEGIN_( \
		#name, waymark_span_ask(WAYMARK_SPAN_CURRENT), \
		WAYMARK_SPAN_BEGIN_FIELDS_(waymark_id_, waymark_parent_, ##__VA_ARGS__))
#define waymark_span_begin_child(name, parent_id, ...) \
	WAYMARK_SPAN_BEGIN_( \
		#name, parent_id, \
		WAYMARK_SPAN_BEGIN_FIELDS_(waymark_id_, waymark_parent_, ##__VA_ARGS__))
#define waymark_span_end(name, id, ...) \
	WAYMARK_SPAN_END_(#name, id, WAYMARK_SPAN_END_FIELDS_(waymark_id_, ##__VA_ARGS__))

/* ------------------------------------------------------------------ *
 * One record
 * ------------------------------------------------------------------ */
#define WAYMARK_LEAD_COMMA(...) \
	WAYMARK_CAT(WAYMARK_LEAD_COMMA_, WAYMARK_IS_EMPTY(__VA_ARGS__))
#define WAYMARK_LEAD_COMMA_0 ,
#define WAYMARK_LEAD_COMMA_1
#define WAYMARK_SPAN_ARGS_(begin, args) \
	(uint64_t, begin WAYMARK_LEAD_COMMA args WAYMARK_UNPACK args)
#define WAYMARK_SPAN_FIELDS_(start, fields) \
	((u64, begin, start), (u64, duration, waymark_span_ask(WAYMARK_SPAN_CLOCK) - start), \
	 (u64, parent_id, waymark_span_ask(WAYMARK_SPAN_CURRENT)) \
		 WAYMARK_LEAD_COMMA fields WAYMARK_UNPACK fields)

/*
 * Declares a span at file scope, with the options of WAYMARK_EVENT. A print format must begin
 * with conversions for begin, duration and parent_id ("%" PRIu64 each).
 */
#define WAYMARK_SPAN(provider, name, args, ...) \
	WAYMARK_SPAN_EVENT_(provider, name, args, __VA_ARGS__, (level, WAYMARK_INFO))
#define WAYMARK_SPAN_EVENT_(provider, name, args, fields, ...) \
	WAYMARK_EVENT__(WAYMARK_KIND_SPAN, provider, name, \
			WAYMARK_SPAN_ARGS_(waymark_begin_, args), \
			WAYMARK_SPAN_FIELDS_(waymark_begin_, fields), __VA_ARGS__)

/* Returns the start for trace_span_stop(), in ticks of the recorder's clock; 0: the span is off. */
#define waymark_span_start(provider, name) \
	(WAYMARK_ON_(provider, name) ? waymark_span_ask(WAYMARK_SPAN_CLOCK) : 0)
/* Records the span, unless it was off at its start: (provider, name, start, arguments...). */
#define waymark_span_stop(provider, name, start, ...) \
	do { \
		if (WAYMARK_ON_(provider, name)) { \
			const uint64_t waymark_start_ = waymark_only_now(start); \
			if (waymark_start_) \
				WAYMARK_ID(emit, provider, name)(waymark_start_, ##__VA_ARGS__); \
		} \
	} while (0)

#ifndef WAYMARK_NO_SHORT_NAMES
#define trace_span waymark_span
#define trace_span_begin waymark_span_begin
#define trace_span_begin_child waymark_span_begin_child
#define trace_span_end waymark_span_end
#define trace_span_current waymark_span_current
#define trace_span_start waymark_span_start
#define trace_span_stop waymark_span_stop
#endif

#endif
