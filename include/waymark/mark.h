/* SPDX-License-Identifier: MIT */
/*
 * mark.h - markers: places marked in one line and described by a printf format.
 *
 *   trace_mark(query_done, "rows %d sql %s", rows, sql);
 *
 * The first argument is the marker's name, the second a string literal, the others its arguments,
 * at most 32. The compiler checks the format; no text is formatted while the program runs: raw
 * values are recorded, tools render them. A dormant marker is one instruction, and its arguments
 * are not evaluated; when it is enabled, they are evaluated once. It may be used wherever a
 * statement may: in inline functions, templates, lambdas, constructors.
 *
 * Recorded values. Each argument after the default promotions: integers, bool and enumerations as 4
 * or 8 bytes, float and double as double, `char *` and `const char *` as the string up to its NUL
 * (NULL is "(null)"), any other pointer as an address. So cast a `char *` to `void *` to record the
 * address; a string that does not end in NUL, as "%.*s" allows, needs a typed event with a blob.
 * "%m" records nothing.
 *
 * Names. A field's name is the word before its conversion ("rows %d": rows), else the spelling of
 * its argument; %x and %o make it hexadecimal.
 *
 * Provider. "provider:name" is the marker's full name. The provider is WAYMARK_PROVIDER, a bare
 * word defined before the first include (or by -DWAYMARK_PROVIDER=shop); without it, the name of
 * the program or library. Markers with the same name and format are one event, in all units and
 * modules.
 *
 * trace_mark_level(DEBUG, name, "format", ...) sets a level other than INFO.
 *
 * Callbacks are connected at run time, by name and format:
 *
 *   static void rows(void *data, const char *format, const struct waymark_mark_arg *arg,
 *                    unsigned nr_args)
 *   { total += arg[0].value.i; }
 *
 *   waymark_mark_register("query_done", "rows %d sql %s", rows, NULL);
 *   ...
 *   waymark_mark_unregister("query_done", "rows %d sql %s", rows, NULL);
 *   waymark_synchronize();        from here on no thread runs it
 *
 * The callback runs in the thread that passes the marker, at that point, including inside its
 * signal handlers. It receives the values themselves (strings are the program's own, not copies)
 * with their types, so it need not trust the format. It may itself contain marks.
 *
 * A marker may be attached to a typed event: see WAYMARK_MARK_ON_EVENT below.
 */
#ifndef WAYMARK_MARK_H
#define WAYMARK_MARK_H

#pragma GCC system_header

#include <waymark/field.h>
#ifdef WAYMARK_DISABLE
#include <waymark/disable.h>
#else
#include <waymark/place.h>
#ifdef WAYMARK_SDT
#include <waymark/sdt.h>
#endif
#endif

/* ------------------------------------------------------------------ *
 * Callbacks
 * ------------------------------------------------------------------ */

/* One argument of a marker, as passed to a callback. */
struct waymark_mark_arg {
	/* 'i': signed, 'u': unsigned, 'f': double, 's': string, 'p': other pointer. */
	char letter;
	uint8_t bytes; /* size of the argument in the program: 4 or 8 */
	uint8_t reserved[6];
	union {
		int64_t i;
		uint64_t u;
		double f;
		const char *s; /* may be NULL */
		const void *p;
	} value;
};

typedef void (*waymark_mark_callback)(void *private_data, const char *format,
				      const struct waymark_mark_arg *args, unsigned nr_args);

/*
 * Connects `callback` to every marker named `name` with the format `format`, in this and in other
 * modules, already loaded or loaded later.
 *
 * name      "provider:name", or only the name: then the provider is the one that trace_mark()
 *           uses in the registering unit
 * returns   0; -EPERM: markers of that name exist and none has this format, or another callback
 *           has been registered for that name with another format; -EINVAL; -ENOMEM, also when 32
 *           callbacks are already connected; -ENOSYS: no runtime
 *
 * Any thread may call it, but not from a callback or a signal handler. Several callbacks may be
 * connected to one marker.
 */
__attribute__((unused, no_instrument_function)) static inline int
waymark_mark_register(const char *name, const char *format, waymark_mark_callback callback,
		      void *private_data);
/*
 * Disconnects a callback that was registered with the same four arguments. Returns 0; -ENOENT when
 * it was not registered; -EINVAL; -ENOSYS: no runtime. Any thread may call it, but not from a
 * callback or a signal handler. After waymark_synchronize() no thread runs it.
 */
__attribute__((unused, no_instrument_function)) static inline int
waymark_mark_unregister(const char *name, const char *format, waymark_mark_callback callback,
			void *private_data);

#ifndef WAYMARK_DISABLE

#ifdef __cplusplus
extern "C" {
#endif
extern int waymark_mark_add(struct waymark_module *module, const char *provider, const char *name,
			    const char *format, waymark_mark_callback callback, void *private_data)
	__attribute__((weak));
extern int waymark_mark_remove(struct waymark_module *module, const char *provider,
			       const char *name, const char *format,
			       waymark_mark_callback callback, void *private_data)
	__attribute__((weak));
#ifdef __cplusplus
}
#endif

static inline int waymark_mark_register(const char *name, const char *format,
					waymark_mark_callback callback, void *private_data)
{
	return waymark_mark_add ? waymark_mark_add(&waymark_module, WAYMARK_PROVIDER_TEXT, name,
						   format, callback, private_data)
				: -38;
}
static inline int waymark_mark_unregister(const char *name, const char *format,
					  waymark_mark_callback callback, void *private_data)
{
	return waymark_mark_remove ? waymark_mark_remove(&waymark_module, WAYMARK_PROVIDER_TEXT,
							 name, format, callback, private_data)
				   : -38;
}

/* ------------------------------------------------------------------ *
 * Arguments: m(number of arguments left, argument) for each
 * ------------------------------------------------------------------ */
#define WAYMARK_NTH(m, ...) \
	WAYMARK_CAT(WAYMARK_NTH_, WAYMARK_COUNT(__VA_ARGS__))(m, ##__VA_ARGS__)
#define WAYMARK_NTH_0(...)
#define WAYMARK_NTH_1(m, x) m(1, x)
#define WAYMARK_NTH_2(m, x, ...) m(2, x) WAYMARK_NTH_1(m, __VA_ARGS__)
#define WAYMARK_NTH_3(m, x, ...) m(3, x) WAYMARK_NTH_2(m, __VA_ARGS__)
#define WAYMARK_NTH_4(m, x, ...) m(4, x) WAYMARK_NTH_3(m, __VA_ARGS__)
#define WAYMARK_NTH_5(m, x, ...) m(5, x) WAYMARK_NTH_4(m, __VA_ARGS__)
#define WAYMARK_NTH_6(m, x, ...) m(6, x) WAYMARK_NTH_5(m, __VA_ARGS__)
#define WAYMARK_NTH_7(m, x, ...) m(7, x) WAYMARK_NTH_6(m, __VA_ARGS__)
#define WAYMARK_NTH_8(m, x, ...) m(8, x) WAYMARK_NTH_7(m, __VA_ARGS__)
#define WAYMARK_NTH_9(m, x, ...) m(9, x) WAYMARK_NTH_8(m, __VA_ARGS__)
#define WAYMARK_NTH_10(m, x, ...) m(10, x) WAYMARK_NTH_9(m, __VA_ARGS__)
#define WAYMARK_NTH_11(m, x, ...) m(11, x) WAYMARK_NTH_10(m, __VA_ARGS__)
#define WAYMARK_NTH_12(m, x, ...) m(12, x) WAYMARK_NTH_11(m, __VA_ARGS__)
#define WAYMARK_NTH_13(m, x, ...) m(13, x) WAYMARK_NTH_12(m, __VA_ARGS__)
#define WAYMARK_NTH_14(m, x, ...) m(14, x) WAYMARK_NTH_13(m, __VA_ARGS__)
#define WAYMARK_NTH_15(m, x, ...) m(15, x) WAYMARK_NTH_14(m, __VA_ARGS__)
#define WAYMARK_NTH_16(m, x, ...) m(16, x) WAYMARK_NTH_15(m, __VA_ARGS__)
#define WAYMARK_NTH_17(m, x, ...) m(17, x) WAYMARK_NTH_16(m, __VA_ARGS__)
#define WAYMARK_NTH_18(m, x, ...) m(18, x) WAYMARK_NTH_17(m, __VA_ARGS__)
#define WAYMARK_NTH_19(m, x, ...) m(19, x) WAYMARK_NTH_18(m, __VA_ARGS__)
#define WAYMARK_NTH_20(m, x, ...) m(20, x) WAYMARK_NTH_19(m, __VA_ARGS__)
#define WAYMARK_NTH_21(m, x, ...) m(21, x) WAYMARK_NTH_20(m, __VA_ARGS__)
#define WAYMARK_NTH_22(m, x, ...) m(22, x) WAYMARK_NTH_21(m, __VA_ARGS__)
#define WAYMARK_NTH_23(m, x, ...) m(23, x) WAYMARK_NTH_22(m, __VA_ARGS__)
#define WAYMARK_NTH_24(m, x, ...) m(24, x) WAYMARK_NTH_23(m, __VA_ARGS__)
#define WAYMARK_NTH_25(m, x, ...) m(25, x) WAYMARK_NTH_24(m, __VA_ARGS__)
#define WAYMARK_NTH_26(m, x, ...) m(26, x) WAYMARK_NTH_25(m, __VA_ARGS__)
#define WAYMARK_NTH_27(m, x, ...) m(27, x) WAYMARK_NTH_26(m, __VA_ARGS__)
#define WAYMARK_NTH_28(m, x, ...) m(28, x) WAYMARK_NTH_27(m, __VA_ARGS__)
#define WAYMARK_NTH_29(m, x, ...) m(29, x) WAYMARK_NTH_28(m, __VA_ARGS__)
#define WAYMARK_NTH_30(m, x, ...) m(30, x) WAYMARK_NTH_29(m, __VA_ARGS__)
#define WAYMARK_NTH_31(m, x, ...) m(31, x) WAYMARK_NTH_30(m, __VA_ARGS__)
#define WAYMARK_NTH_32(m, x, ...) m(32, x) WAYMARK_NTH_31(m, __VA_ARGS__)

/*
 * The types that an argument may have after promotion, in one table: name, C type, letter, size in
 * the program, size in a record, the value v as the 64 bits that a callback receives, the statement
 * that stores v at q.
 */
#define WAYMARK_ARG_TYPES_(type) \
	type(int, int, 'i', 4, 4, (uint64_t)(int64_t)v, waymark_put32(q, (uint32_t)v); q += 4) \
	type(uint, unsigned, 'u', 4, 4, v, waymark_put32(q, v); q += 4) \
	type(long, long, 'i', 8, 8, (uint64_t)v, waymark_put64(q, (uint64_t)v); q += 8) \
	type(ulong, unsigned long, 'u', 8, 8, v, waymark_put64(q, v); q += 8) \
	type(llong, long long, 'i', 8, 8, (uint64_t)v, waymark_put64(q, (uint64_t)v); q += 8) \
	type(ullong, unsigned long long, 'u', 8, 8, v, waymark_put64(q, v); q += 8) \
	type(float, float, 'f', 8, 8, waymark_bits((double)v), \
	     waymark_putf64(q, (double)v); q += 8) \
	type(double, double, 'f', 8, 8, waymark_bits(v), waymark_putf64(q, v); q += 8) \
	type(ldouble, long double, 'f', 8, 8, waymark_bits((double)v), \
	     waymark_putf64(q, (double)v); q += 8) \
	type(string, const char *, 's', 1, 1, waymark_shown((uint64_t)(uintptr_t)v), \
	     q = waymark_put_string(q, v, fixed)) \
	type(pointer, const volatile void *, 'p', 8, 8, waymark_shown((uint64_t)(uintptr_t)v), \
	     waymark_put64(q, (uint64_t)(uintptr_t)v); q += 8)

WAYMARK_INLINE uint64_t waymark_shown(uint64_t pointer)
{
	waymark_show(pointer);
	return pointer;
}
WAYMARK_INLINE uint64_t waymark_bits(double v)
{
	uint64_t u;
	__builtin_memcpy(&u, &v, sizeof(u));
	return u;
}

#ifdef __cplusplus

template <char Letter, int Bytes, int Fixed> struct waymark_word_kind {
	static constexpr int64_t code = WAYMARK_ARG(Letter, Bytes);
	static constexpr int fixed = Fixed;
};
#define WAYMARK_ARG_TYPE_(name, type, letter, bytes, fixed_, slot, put) \
	waymark_word_kind<letter, bytes, fixed_> waymark_arg_kind(type); \
	WAYMARK_INLINE uint64_t waymark_arg_slot(type v) \
	{ \
		return slot; \
	} \
	WAYMARK_INLINE unsigned char *waymark_arg_put(unsigned char *q, type v, uint64_t fixed) \
	{ \
		(void)fixed; \
		put; \
		return q; \
	}
WAYMARK_ARG_TYPES_(WAYMARK_ARG_TYPE_)
waymark_word_kind<'p', 8, 8> waymark_arg_kind(decltype(nullptr));
WAYMARK_INLINE uint64_t waymark_arg_slot(decltype(nullptr))
{
	return 0;
}
WAYMARK_INLINE unsigned char *waymark_arg_put(unsigned char *q, decltype(nullptr), uint64_t)
{
	waymark_put64(q, 0);
	return q + 8;
}

constexpr int waymark_sum()
{
	return 0;
}
template <class... Rest> constexpr int waymark_sum(int first, Rest... rest)
{
	return first + waymark_sum(rest...);
}
/* The link-time constants of a marker's arguments. */
template <class... Kinds> struct waymark_kinds {
	static constexpr int nr = sizeof...(Kinds);
	static constexpr int fixed = waymark_sum(Kinds::fixed...);
	static constexpr waymark_values<nr + 1> values()
	{
		return waymark_values<nr + 1>{{Kinds::code..., 0}};
	}
};
template <class... Args>
waymark_kinds<decltype(waymark_arg_kind(Args()))...> waymark_kinds_of_values(Args...);

WAYMARK_INLINE unsigned char *waymark_args_put(unsigned char *q, uint64_t)
{
	return q;
}
template <class First, class... Rest>
WAYMARK_INLINE unsigned char *waymark_args_put(unsigned char *q, uint64_t fixed, First first,
					       Rest... rest)
{
	q = waymark_arg_put(q, first, fixed);
	return q ? waymark_args_put(q, fixed, rest...) : q;
}
WAYMARK_INLINE void waymark_args_slots(unsigned char *)
{
}
template <class First, class... Rest>
WAYMARK_INLINE void waymark_args_slots(unsigned char *q, First first, Rest... rest)
{
	waymark_put64(q, waymark_arg_slot(first));
	waymark_args_slots(q + 8, rest...);
}

template <class Place, class Kinds, class... Args> WAYMARK_INLINE void waymark_mark_emit(Args... args)
{
	WAYMARK_EMIT_BLOCK_(waymark_holder<Place>::event, waymark_holder<Place>::event, 0,
			    Kinds::fixed, waymark_args_slots(waymark_slots_, args...);
			    , waymark_q_ = waymark_args_put(waymark_q_, waymark_fixed_, args...););
}

/* With WAYMARK_SDT, the arguments are evaluated before the site. */
#ifdef WAYMARK_SDT
template <class Place, class Kinds, class... Args>
WAYMARK_INLINE void waymark_mark_emit_behind(int, Args... args)
{
	waymark_mark_emit<Place, Kinds>(args...);
}
#define WAYMARK_ARG_LOCAL_(n, x) auto waymark_a##n##_ = (x);
#define WAYMARK_ARG_NAME_(n, x) , waymark_a##n##_
#define WAYMARK_MARK_BEFORE_(name, ...) \
	WAYMARK_NTH(WAYMARK_ARG_LOCAL_, ##__VA_ARGS__) \
	WAYMARK_SDT_PROBE_(WAYMARK_SDT_PROVIDER_, name WAYMARK_NTH(WAYMARK_ARG_NAME_, ##__VA_ARGS__));
#define WAYMARK_MARK_CALL_ waymark_mark_emit_behind
#define WAYMARK_MARK_VALUES_(...) 0 WAYMARK_NTH(WAYMARK_ARG_NAME_, ##__VA_ARGS__)
#else
#define WAYMARK_MARK_BEFORE_(...)
#define WAYMARK_MARK_CALL_ waymark_mark_emit
#define WAYMARK_MARK_VALUES_(...) __VA_ARGS__
#endif

#define WAYMARK_MARK_AT_(level, name, spelled, format, ...) \
	do { \
		typedef decltype(waymark_kinds_of_values(__VA_ARGS__)) waymark_here_kinds_; \
		WAYMARK_PLACE_(here, 0, WAYMARK_KIND_MARKER, level, 0, waymark_here_kinds_::nr, \
			       WAYMARK_PROVIDER_TEXT "\0" name "\0" spelled "\0" format "\0" __FILE__, \
			       waymark_here_kinds_::values()); \
		if (0) \
			waymark_check_format(format, ##__VA_ARGS__); \
		WAYMARK_MARK_BEFORE_(name, ##__VA_ARGS__) \
		if (WAYMARK_PLACE_ON_(here)) \
			WAYMARK_MARK_CALL_<waymark_place_here, waymark_here_kinds_>( \
				WAYMARK_MARK_VALUES_(__VA_ARGS__)); \
	} while (0)

#else /* C */

#define WAYMARK_ARG_TYPE_(name, type, letter, bytes, fixed_, slot, put) \
	enum { waymark_code_##name = letter << 8 | bytes, waymark_bytes_##name = fixed_ }; \
	WAYMARK_INLINE uint64_t waymark_slot_##name(type v) \
	{ \
		return slot; \
	} \
	WAYMARK_INLINE unsigned char *waymark_put_arg_##name(unsigned char *q, type v, \
							     uint64_t fixed) \
	{ \
		(void)fixed; \
		put; \
		return q; \
	}
WAYMARK_ARG_TYPES_(WAYMARK_ARG_TYPE_)

/*
 * The type of x after promotion. The conditional operator promotes and decays x, even a bit-field;
 * x is not evaluated.
 */
#define WAYMARK_ARG_SELECT_(x, what) \
	__extension__ _Generic(1 ? (x) : (x), int: what##_int, unsigned: what##_uint, long: what##_long, \
		unsigned long: what##_ulong, long long: what##_llong, \
		unsigned long long: what##_ullong, float: what##_float, double: what##_double, \
		long double: what##_ldouble, char *: what##_string, \
		const char *: what##_string, default: what##_pointer)
#define WAYMARK_ARG_CODE_(n, x) WAYMARK_ARG_SELECT_(x, waymark_code),
#define WAYMARK_ARG_BYTES_(n, x) +WAYMARK_ARG_SELECT_(x, waymark_bytes)
#define WAYMARK_ARG_LOCAL_(n, x) __typeof__(1 ? (x) : (x)) waymark_a##n##_ = (x);
#define WAYMARK_ARG_SLOT_(n, x) \
	waymark_put64(waymark_slots_ + 8 * (waymark_nr_ - (n)), \
		      WAYMARK_ARG_SELECT_(waymark_a##n##_, waymark_slot)(waymark_a##n##_));
#define WAYMARK_ARG_PUT_(n, x) \
	waymark_q_ = WAYMARK_ARG_SELECT_(waymark_a##n##_, waymark_put_arg)( \
		waymark_q_, waymark_a##n##_, waymark_fixed_); \
	if (__builtin_expect(!waymark_q_, 0)) \
		break;

/*
 * Copies the arguments to locals, so that they are evaluated once, before the level becomes busy;
 * with WAYMARK_SDT, before the site.
 */
#ifdef WAYMARK_SDT
#define WAYMARK_ARG_NAME_(n, x) , waymark_a##n##_
#define WAYMARK_MARK_BEFORE_(name, ...) \
	WAYMARK_NTH(WAYMARK_ARG_LOCAL_, ##__VA_ARGS__) \
	WAYMARK_SDT_PROBE_(WAYMARK_SDT_PROVIDER_, name WAYMARK_NTH(WAYMARK_ARG_NAME_, ##__VA_ARGS__));
#define WAYMARK_MARK_EMIT_(event, ...) WAYMARK_MARK_EMIT_LOCALS_(event, ##__VA_ARGS__)
#else
#define WAYMARK_MARK_BEFORE_(...)
#define WAYMARK_MARK_EMIT_(event, ...) WAYMARK_MARK_EMIT_ARGS_(event, ##__VA_ARGS__)
#endif
#define WAYMARK_MARK_EMIT_ARGS_(event, ...) \
	do { \
		WAYMARK_NTH(WAYMARK_ARG_LOCAL_, ##__VA_ARGS__) \
		WAYMARK_MARK_EMIT_LOCALS_(event, ##__VA_ARGS__); \
	} while (0)
#define WAYMARK_MARK_EMIT_LOCALS_(event, ...) \
	do { \
		enum { waymark_nr_ = WAYMARK_COUNT(__VA_ARGS__) }; \
		WAYMARK_EMIT_BLOCK_(event, event, 0, \
				    0 WAYMARK_NTH(WAYMARK_ARG_BYTES_, ##__VA_ARGS__), \
				    WAYMARK_NTH(WAYMARK_ARG_SLOT_, ##__VA_ARGS__), \
				    WAYMARK_NTH(WAYMARK_ARG_PUT_, ##__VA_ARGS__)); \
	} while (0)

#define WAYMARK_MARK_AT_(level, name, spelled, format, ...) \
	do { \
		WAYMARK_PLACE_(here, 0, WAYMARK_KIND_MARKER, level, 0, WAYMARK_COUNT(__VA_ARGS__), \
			       WAYMARK_PROVIDER_TEXT "\0" name "\0" spelled "\0" format "\0" __FILE__, \
			       {WAYMARK_NTH(WAYMARK_ARG_CODE_, ##__VA_ARGS__) 0}); \
		if (0) \
			waymark_check_format(format, ##__VA_ARGS__); \
		WAYMARK_MARK_BEFORE_(name, ##__VA_ARGS__) \
		if (WAYMARK_PLACE_ON_(here)) \
			WAYMARK_MARK_EMIT_(waymark_event_here, ##__VA_ARGS__); \
	} while (0)

#endif /* C */
#else /* WAYMARK_DISABLE */
static inline int waymark_mark_register(const char *name, const char *format,
					waymark_mark_callback callback, void *private_data)
{
	(void)name, (void)format, (void)callback, (void)private_data;
	return -38;
}
static inline int waymark_mark_unregister(const char *name, const char *format,
					  waymark_mark_callback callback, void *private_data)
{
	(void)name, (void)format, (void)callback, (void)private_data;
	return -38;
}
#endif /* WAYMARK_DISABLE */

#define waymark_mark(name, format, ...) \
	WAYMARK_MARK_AT_(WAYMARK_INFO, #name, #__VA_ARGS__, format, ##__VA_ARGS__)
#define waymark_mark_level(level, name, format, ...) \
	WAYMARK_MARK_AT_(WAYMARK_##level, #name, #__VA_ARGS__, format, ##__VA_ARGS__)

/* ------------------------------------------------------------------ *
 * A marker attached to a typed event
 *
 *   WAYMARK_EVENT(shop, order, WAYMARK_ARGS(const struct order *, o, int, priority), ...);
 *   WAYMARK_MARK_ON_EVENT(shop, order, WAYMARK_ARGS(const struct order *, o, int, priority),
 *                         big_order, "id %u items %d", o->id, o->nr_items);
 *
 * At file scope, after the event's declaration, with the event's arguments
 * repeated: the compiler refuses different ones. The marker is listed, enabled
 * and recorded under its own name like any other, but it has no instruction
 * and no branch of its own: enabling it (by a recorder's rule or by
 * waymark_mark_register()) connects it to every site of the event; disabling
 * it disconnects it, and then the event is dormant again. Loading a module
 * with such a marker enables nothing.
 * ------------------------------------------------------------------ */
#define WAYMARK_LINK_ID_(what, provider, event, name) \
	waymark_##what##__##provider##__##event##__##name
#define WAYMARK_LINK_PROTO_(args) WAYMARK_LINK_PROTO__ args
#define WAYMARK_LINK_PROTO__(...) \
	(void *waymark_private_ WAYMARK_PAIRS(WAYMARK_LEADING_PARAM_, WAYMARK_SEP_NONE, __VA_ARGS__))

#ifdef __cplusplus
#define WAYMARK_LINK_CHECK_(provider, event, fn) \
	__attribute__((unused)) static const WAYMARK_ID(probe, provider, event) \
		WAYMARK_CAT(fn, __checked) = fn;
#else
#define WAYMARK_LINK_CHECK_(provider, event, fn) \
	__extension__ _Static_assert( \
		__builtin_types_compatible_p(__typeof__(&fn), WAYMARK_ID(probe, provider, event)), \
		"the marker's arguments are not those of the event it rides on");
#endif

#define WAYMARK_MARK_ON_EVENT(provider, event, args, name, format, ...) \
	WAYMARK_MARK_ON_EVENT_(provider, event, args, WAYMARK_LINK_ID_(ride, provider, event, name), \
			       WAYMARK_LINK_ID_(link, provider, event, name), #name, #__VA_ARGS__, \
			       format, ##__VA_ARGS__)

#ifndef WAYMARK_DISABLE
#define WAYMARK_LINK_HEAD_(provider, event, args, fn, link) \
	static void fn WAYMARK_LINK_PROTO_(args); \
	WAYMARK_LINK_CHECK_(provider, event, fn) \
	static struct waymark_link link = {#provider ":" #event, (void (*)(void))fn}; \
	__attribute__((used, cold, no_instrument_function)) static void fn WAYMARK_LINK_PROTO_(args)
#ifdef __cplusplus
#define WAYMARK_MARK_ON_EVENT_(provider, event, args, fn, link, name, spelled, format, ...) \
	WAYMARK_LINK_HEAD_(provider, event, args, fn, link) \
	{ \
		(void)waymark_private_; \
		if (0) \
			waymark_check_format(format, ##__VA_ARGS__); \
		typedef decltype(waymark_kinds_of_values(__VA_ARGS__)) waymark_here_kinds_; \
		WAYMARK_PLACE_(here, &link, WAYMARK_KIND_MARKER, WAYMARK_INFO, WAYMARK_DESC_LINKED, \
			       waymark_here_kinds_::nr, \
			       WAYMARK_PROVIDER_TEXT "\0" name "\0" spelled "\0" format "\0" __FILE__ \
			       "\0" #provider ":" #event, \
			       waymark_here_kinds_::values()); \
		WAYMARK_PLACE_LIST_(here); \
		waymark_mark_emit<waymark_place_here, waymark_here_kinds_>(__VA_ARGS__); \
	} \
	struct waymark_end_of_event
#else
#define WAYMARK_MARK_ON_EVENT_(provider, event, args, fn, link, name, spelled, format, ...) \
	WAYMARK_LINK_HEAD_(provider, event, args, fn, link) \
	{ \
		WAYMARK_PLACE_(here, &link, WAYMARK_KIND_MARKER, WAYMARK_INFO, WAYMARK_DESC_LINKED, \
			       WAYMARK_COUNT(__VA_ARGS__), \
			       WAYMARK_PROVIDER_TEXT "\0" name "\0" spelled "\0" format "\0" __FILE__ \
			       "\0" #provider ":" #event, \
			       {WAYMARK_NTH(WAYMARK_ARG_CODE_, ##__VA_ARGS__) 0}); \
		(void)waymark_private_; \
		if (0) \
			waymark_check_format(format, ##__VA_ARGS__); \
		WAYMARK_PLACE_LIST_(here); \
		WAYMARK_MARK_EMIT_ARGS_(waymark_event_here, ##__VA_ARGS__); \
	} \
	struct waymark_end_of_event
#endif
#endif

#ifndef WAYMARK_NO_SHORT_NAMES
#define trace_mark waymark_mark
#define trace_mark_level waymark_mark_level
#endif

#endif
