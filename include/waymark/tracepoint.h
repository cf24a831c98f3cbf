/* SPDX-License-Identifier: MIT */
/*
 * tracepoint.h - marking a program. The only header that a traced program includes.
 *
 * Declare an event once, at file scope or in a header, then mark places:
 *
 *   WAYMARK_EVENT(shop, order,
 *           WAYMARK_ARGS(const struct order *, o, int, priority),
 *           WAYMARK_FIELDS((u32, id, o->id), (str, customer, o->customer),
 *                          (i32, priority, priority)));
 *
 *   trace_event(shop, order, o, 3);
 *
 * A dormant mark is one instruction; arguments are evaluated only when it is enabled. Link
 * libwaymark-rt (pkg-config waymark-rt), or link no library and preload it. See
 * waymark-tracepoint(3) and doc/format/.
 *
 * Field kinds (kind, name, expression...):
 *   i8 i16 i32 i64  u8 u16 u32 u64      integers
 *   x8 x16 x32 x64                      unsigned, printed in hexadecimal
 *   boolean  f32  f64  ptr
 *   str                                 C string; NULL is recorded as (null)
 *   chars, name, expr, N                fixed char array
 *   array, name, KIND, expr, N          N elements of a scalar kind
 *   seq, name, KIND, pointer, count     sequence; NULL has length 0
 *   blob, name, pointer, bytes
 *   enumeration, name, KIND, expr, ("label", VALUE)...
 *
 * After the fields, options: WAYMARK_LEVEL(DEBUG), WAYMARK_PRINT("form", one conversion per field;
 * checked by the compiler), WAYMARK_NOCLOCK (carries the time of the thread's preceding event; for
 * the hottest loops).
 *
 * Markers described by a printf format, spans and trace_printf need no declaration: see mark.h,
 * span.h, printf.h.
 *
 * WAYMARK_DISABLE removes every mark at compile time but still checks its types. WAYMARK_LOADTEST
 * uses a load and a test instead of patched code. WAYMARK_SDT makes events and markers visible to
 * perf and bpftrace, too: sdt.h. WAYMARK_NO_SHORT_NAMES omits the trace_... names; each also exists
 * as waymark_....
 *
 * All of this may be called from any thread, from signal handlers, before main and after exit. No
 * call fails, blocks, or changes errno.
 */
#ifndef WAYMARK_TRACEPOINT_H
#define WAYMARK_TRACEPOINT_H

#pragma GCC system_header

#include <waymark/field.h>
#include <waymark/foreach.h>
#ifdef WAYMARK_DISABLE
#include <waymark/disable.h>
#else
#include <waymark/place.h>
#ifdef WAYMARK_SDT
#include <waymark/sdt.h>
#endif
#endif

#define WAYMARK_ARGS(...) (__VA_ARGS__)
#define WAYMARK_FIELDS(...) (__VA_ARGS__)
#define WAYMARK_LEVEL(which) (level, WAYMARK_##which)
#define WAYMARK_PRINT(...) (print, __VA_ARGS__)
#define WAYMARK_NOCLOCK (noclock, 0)

/* The contribution of an option to the level, the flags and the print format. */
#define WAYMARK_LEVEL_OF_(option) WAYMARK_LEVEL_OF__ option
#define WAYMARK_LEVEL_OF__(name, ...) WAYMARK_LEVEL_OF_##name(__VA_ARGS__)
#define WAYMARK_LEVEL_OF_level(l) +(l) - WAYMARK_INFO
#define WAYMARK_LEVEL_OF_print(...)
#define WAYMARK_LEVEL_OF_noclock(x)
#define WAYMARK_FLAGS_OF_(option) WAYMARK_FLAGS_OF__ option
#define WAYMARK_FLAGS_OF__(name, ...) WAYMARK_FLAGS_OF_##name(__VA_ARGS__)
#define WAYMARK_FLAGS_OF_level(l)
#define WAYMARK_FLAGS_OF_print(...)
#define WAYMARK_FLAGS_OF_noclock(x) | WAYMARK_DESC_NOCLOCK
#define WAYMARK_PRINT_OF_(option) WAYMARK_PRINT_OF__ option
#define WAYMARK_PRINT_OF__(name, ...) WAYMARK_PRINT_OF_##name(__VA_ARGS__)
#define WAYMARK_PRINT_OF_level(l)
#define WAYMARK_PRINT_OF_print(form) form
#define WAYMARK_PRINT_OF_noclock(x)
#define WAYMARK_OPTIONS_(visit, ...) WAYMARK_EACH(visit, WAYMARK_SEP_NONE, __VA_ARGS__)

/* Names generated for an event. */
#define WAYMARK_ID(what, provider, name) waymark_##what##__##provider##__##name

/* For an event's arguments: the prototype, the struct of slots, forwarding. */
#define WAYMARK_PARAM_(i, type, name) type name __attribute__((unused))
#define WAYMARK_LEADING_PARAM_(i, type, name) , type name __attribute__((unused))
#define WAYMARK_LEADING_TYPE_(i, type, name) , type
#define WAYMARK_SLOT_STORE_(i, type, name) \
	waymark_put64(waymark_slots_ + 8 * i, WAYMARK_SLOT(type, name)); \
	if (WAYMARK_IS_POINTER(name)) \
		waymark_show(WAYMARK_SLOT(type, name));
#define WAYMARK_SLOT_PASS_(i, type, name) , WAYMARK_UNSLOT(type, slots_, i)
#define WAYMARK_PROTO_(args) WAYMARK_PROTO__ args
#define WAYMARK_PROTO__(...) \
	(WAYMARK_OR_VOID_(WAYMARK_COUNT(__VA_ARGS__)) \
		 WAYMARK_PAIRS(WAYMARK_PARAM_, WAYMARK_SEP_COMMA, __VA_ARGS__))
#define WAYMARK_OR_VOID_(n) WAYMARK_CAT(WAYMARK_OR_VOID_, n)
#define WAYMARK_OR_VOID_0 void
#define WAYMARK_OR_VOID_2
#define WAYMARK_OR_VOID_4
#define WAYMARK_OR_VOID_6
#define WAYMARK_OR_VOID_8
#define WAYMARK_OR_VOID_10
#define WAYMARK_OR_VOID_12
#define WAYMARK_OR_VOID_14
#define WAYMARK_OR_VOID_16
#define WAYMARK_OR_VOID_18
#define WAYMARK_OR_VOID_20
#define WAYMARK_OR_VOID_22
#define WAYMARK_OR_VOID_24
#define WAYMARK_OR_VOID_26
#define WAYMARK_OR_VOID_28
#define WAYMARK_OR_VOID_30
#define WAYMARK_OR_VOID_32
#define WAYMARK_TYPES_(args) WAYMARK_TYPES__ args
#define WAYMARK_TYPES__(...) WAYMARK_PAIRS(WAYMARK_LEADING_TYPE_, WAYMARK_SEP_NONE, __VA_ARGS__)
#define WAYMARK_STORES_(args) WAYMARK_STORES__ args
#define WAYMARK_STORES__(...) \
	WAYMARK_PAIRS(WAYMARK_SLOT_STORE_, WAYMARK_SEP_NONE, __VA_ARGS__)
#define WAYMARK_PASSES_(args) WAYMARK_PASSES__ args
#define WAYMARK_PASSES__(...) WAYMARK_PAIRS(WAYMARK_SLOT_PASS_, WAYMARK_SEP_NONE, __VA_ARGS__)

/* Checks the print format against the fields: the compiler checks a call that is never executed. */
#define WAYMARK_HAS_PRINT_(option) WAYMARK_HAS_PRINT__ option
#define WAYMARK_HAS_PRINT__(name, ...) WAYMARK_HAS_PRINT_##name
#define WAYMARK_HAS_PRINT_level
#define WAYMARK_HAS_PRINT_noclock
#define WAYMARK_HAS_PRINT_print 1
#define WAYMARK_CHECK_FORM_(provider, name, args, fields, form)
#define WAYMARK_CHECK_FORM_1(provider, name, args, fields, form) \
	__attribute__((unused, no_instrument_function)) static inline void WAYMARK_ID( \
		check, provider, name) WAYMARK_PROTO_(args) \
	{ \
		waymark_check_format(form WAYMARK_CHECKS(fields)); \
	}

#ifndef WAYMARK_DISABLE

/*
 * The description and the state of an event. Unused ones are removed; the runtime merges those of
 * several units that have the same name.
 */
#define WAYMARK_DEFINE_DESC_(kind_, provider, name, fields, level_, flags_, print_) \
	static struct waymark_event_state WAYMARK_ID(event, provider, name) __attribute__((unused)) = { \
		WAYMARK_WORD_COMPLEX, 0, 0, 0}; \
	__extension__ static const struct { \
		struct waymark_desc head; \
		int64_t values[WAYMARK_NR_VALUES(fields) + 1]; \
		char text[sizeof(#provider "\0" #name "\0" WAYMARK_SCHEMA(fields) "\0" print_ \
					   "\0" __FILE__)]; \
	} WAYMARK_ID(desc, provider, name) __attribute__((unused, aligned(8))) = { \
		{WAYMARK_DESC_MAGIC, sizeof(WAYMARK_ID(desc, provider, name)), kind_, \
		 level_, WAYMARK_NR_VALUES(fields) + 1, __LINE__, flags_, \
		 sizeof(WAYMARK_ID(desc, provider, name).text), {0, 0}}, \
		{WAYMARK_VALUES(fields) 0}, \
		#provider "\0" #name "\0" WAYMARK_SCHEMA(fields) "\0" print_ "\0" __FILE__};

/* The site: true when it is enabled. This is all that runs while it is dormant. */
#ifdef WAYMARK_LOADTEST
#define WAYMARK_DEFINE_SITE_(provider, name) \
	WAYMARK_INLINE int WAYMARK_ID(on, provider, name)(void) \
	{ \
		__asm__ volatile(WAYMARK_LISTED_TEXT_ \
				 : \
				 : WAYMARK_SYMBOL(&WAYMARK_ID(desc, provider, name)), \
				   WAYMARK_SYMBOL(&WAYMARK_ID(event, provider, name))); \
		return WAYMARK_FLAG_(WAYMARK_ID(event, provider, name)); \
	}
#else
#define WAYMARK_DEFINE_SITE_(provider, name) \
	WAYMARK_INLINE int WAYMARK_ID(on, provider, name)(void) \
	{ \
		__asm__ goto(WAYMARK_SITE_TEXT_ \
			     : \
			     : WAYMARK_SYMBOL(&WAYMARK_ID(desc, provider, name)), \
			       WAYMARK_SYMBOL(&WAYMARK_ID(event, provider, name)) \
			     : \
			     : on); \
		return 0; \
	on: \
		WAYMARK_COLD_LABEL \
		return 1; \
	}
#endif

#ifdef __cplusplus
extern "C" {
#endif
extern int waymark_probe_add(const char *provider, const char *name, const char *prototype,
			     void (*fn)(void), void *private_data) __attribute__((weak));
extern int waymark_probe_remove(const char *provider, const char *name, void (*fn)(void),
				void *private_data) __attribute__((weak));
extern void waymark_rt_synchronize(void) __attribute__((weak));
#ifdef __cplusplus
}
#endif

/*
 * In-process probes: the dispatcher converts slots to typed arguments. It is an ordinary function,
 * which the runtime calls with all registers saved.
 */
#define WAYMARK_DEFINE_PROBE_(provider, name, args) \
	typedef void (*WAYMARK_ID(probe, provider, name))(void *private_data WAYMARK_TYPES_(args)); \
	__attribute__((unused, no_instrument_function)) static void WAYMARK_ID( \
		dispatch, provider, name)(const unsigned char *slots_, void (*probe_)(void), \
					  void *private_) \
	{ \
		(void)slots_; \
		((WAYMARK_ID(probe, provider, name))probe_)(private_ WAYMARK_PASSES_(args)); \
	} \
	__attribute__((unused, no_instrument_function)) static inline int WAYMARK_ID( \
		probe_add, provider, name)(WAYMARK_ID(probe, provider, name) fn, void *data) \
	{ \
		return waymark_probe_add ? waymark_probe_add(#provider, #name, #args, \
							     (void (*)(void))fn, data) \
					 : -38; \
	} \
	__attribute__((unused, no_instrument_function)) static inline int WAYMARK_ID( \
		probe_remove, provider, name)(WAYMARK_ID(probe, provider, name) fn, void *data) \
	{ \
		return waymark_probe_remove ? waymark_probe_remove(#provider, #name, \
								   (void (*)(void))fn, data) \
					    : -38; \
	}

/* Emits a record: see WAYMARK_EMIT_BLOCK_ in emit.h. */
#define WAYMARK_DEFINE_EMIT_(provider, name, args, fields, flags_) \
	WAYMARK_INLINE void WAYMARK_ID(emit, provider, name) WAYMARK_PROTO_(args) \
	{ \
		WAYMARK_EMIT_BLOCK_(WAYMARK_ID(event, provider, name), \
				    WAYMARK_ID(dispatch, provider, name), flags_, \
				    WAYMARK_FIXED_BYTES(fields), WAYMARK_STORES_(args), \
				    WAYMARK_PACK(fields)); \
	}

#define WAYMARK_EVENT__(kind, provider, name, args, fields, ...) \
	WAYMARK_DEFINE_DESC_(kind, provider, name, fields, \
			     WAYMARK_INFO WAYMARK_OPTIONS_(WAYMARK_LEVEL_OF_, __VA_ARGS__), \
			     0 WAYMARK_OPTIONS_(WAYMARK_FLAGS_OF_, __VA_ARGS__), \
			     "" WAYMARK_OPTIONS_(WAYMARK_PRINT_OF_, __VA_ARGS__)) \
	WAYMARK_DEFINE_SITE_(provider, name) \
	WAYMARK_CAT(WAYMARK_CHECK_FORM_, WAYMARK_OPTIONS_(WAYMARK_HAS_PRINT_, __VA_ARGS__)) \
	(provider, name, args, fields, WAYMARK_OPTIONS_(WAYMARK_PRINT_OF_, __VA_ARGS__)) \
	WAYMARK_DEFINE_PROBE_(provider, name, args) \
	WAYMARK_DEFINE_EMIT_(provider, name, args, fields, \
			     0 WAYMARK_OPTIONS_(WAYMARK_FLAGS_OF_, __VA_ARGS__)) \
	WAYMARK_DEFINE_SDT_(provider, name, args) \
	struct waymark_end_of_event

#ifdef WAYMARK_SDT
#define WAYMARK_MARK_(provider, name, args) \
	((void)sizeof(WAYMARK_ID(probe, provider, name)), WAYMARK_ID(sdt, provider, name) args)
#else
#define WAYMARK_MARK_(provider, name, args) \
	do { \
		if (WAYMARK_ON_(provider, name)) \
			WAYMARK_ID(emit, provider, name) args; \
	} while (0)
#endif
#ifdef WAYMARK_SDT
/* The note's nop, then the site, in a function so that arguments are evaluated once. */
#define WAYMARK_PARAM_NAME_(i, type, name) name
#define WAYMARK_LEADING_NAME_(i, type, name) , name
#define WAYMARK_NAMES_(args) WAYMARK_NAMES__ args
#define WAYMARK_NAMES__(...) WAYMARK_PAIRS(WAYMARK_PARAM_NAME_, WAYMARK_SEP_COMMA, __VA_ARGS__)
#define WAYMARK_LEADING_NAMES_(args) WAYMARK_LEADING_NAMES__ args
#define WAYMARK_LEADING_NAMES__(...) \
	WAYMARK_PAIRS(WAYMARK_LEADING_NAME_, WAYMARK_SEP_NONE, __VA_ARGS__)
#define WAYMARK_DEFINE_SDT_(provider, name, args) \
	WAYMARK_INLINE void WAYMARK_ID(sdt, provider, name) WAYMARK_PROTO_(args) \
	{ \
		WAYMARK_SDT_PROBE_(#provider, #name WAYMARK_LEADING_NAMES_(args)); \
		if (WAYMARK_ON_(provider, name)) \
			WAYMARK_ID(emit, provider, name)(WAYMARK_NAMES_(args)); \
	}
#else
#define WAYMARK_DEFINE_SDT_(provider, name, args)
#endif

/* Without the sizeof, gcc would treat an undeclared event as a function. */
#define WAYMARK_ON_(provider, name) \
	((void)sizeof(WAYMARK_ID(probe, provider, name)), \
	 __builtin_expect(WAYMARK_ID(on, provider, name)(), 0))

/* Waits until every callback that was running or could have begun has returned. */
__attribute__((unused, no_instrument_function)) static inline void waymark_synchronize(void)
{
	if (waymark_rt_synchronize)
		waymark_rt_synchronize();
}

#endif /* WAYMARK_DISABLE */

/* Appends an option, so that the list of options is never empty. */
#define WAYMARK_EVENT(provider, name, args, ...) \
	WAYMARK_EVENT_(provider, name, args, __VA_ARGS__, (level, WAYMARK_INFO))
#define WAYMARK_EVENT_(provider, name, args, fields, ...) \
	WAYMARK_EVENT__(WAYMARK_KIND_EVENT, provider, name, args, fields, __VA_ARGS__)
/* Marks a place: trace_event(provider, name, arguments...). */
#define waymark_event(provider, ...) \
	WAYMARK_CAT(WAYMARK_MARK_, WAYMARK_HAS_COMMA(__VA_ARGS__))(provider, __VA_ARGS__)
#define WAYMARK_MARK_0(provider, name) WAYMARK_MARK_(provider, name, ())
#define WAYMARK_MARK_1(provider, name, ...) WAYMARK_MARK_(provider, name, (__VA_ARGS__))

/*
 * Whether the event is enabled, to guard work that is done only for the event. It has a site of its
 * own.
 */
#define waymark_event_enabled(provider, name) WAYMARK_ON_(provider, name)

/*
 * Connects fn(private_data, arguments...) to every site of the event, in this and in other modules,
 * already loaded or loaded later. Returns 0, -ENOMEM, -EPERM when the event has other arguments in
 * another module, or -ENOSYS without a runtime. Any thread may call it, but not from a probe or a
 * signal handler.
 */
#define waymark_probe_register(provider, name, fn, private_data) \
	WAYMARK_ID(probe_add, provider, name)(fn, private_data)
/*
 * Disconnects fn. Returns 0, -ENOENT when it was not connected with this private_data, -EINVAL, or
 * -ENOSYS without a runtime. Any thread may call it, but not from a probe or a signal handler.
 * After waymark_synchronize(), which waits until every callback that was running or could have
 * begun has returned, no thread runs it.
 */
#define waymark_probe_unregister(provider, name, fn, private_data) \
	WAYMARK_ID(probe_remove, provider, name)(fn, private_data)

#include <waymark/mark.h>
#include <waymark/printf.h>
#include <waymark/span.h>

#ifndef WAYMARK_NO_SHORT_NAMES
#define TRACE_EVENT WAYMARK_EVENT
#define trace_event waymark_event
#define trace_event_enabled waymark_event_enabled
#endif

#endif
