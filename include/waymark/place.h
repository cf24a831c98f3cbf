/* SPDX-License-Identifier: MIT */
/*
 * place.h - a place marked without a separate declaration: the mark itself defines its description,
 * its state and its site. mark.h and span.h are built on it; programs do not use it directly.
 *
 *   WAYMARK_PLACE_(id, binding, kind, level, flags, nr, text, values...)
 *                              declares description and state of place `id`
 *   WAYMARK_PLACE_EVENT_(id)   its state, an lvalue whose address is a link-time constant
 *   WAYMARK_PLACE_ON_(id)      the site: an expression, true when it is enabled
 *   WAYMARK_PLACE_LIST_(id)    an entry in the table without a site
 *
 * Implementations, with reasons:
 *   C, gcc        block-scope statics, asm goto in the block.
 *   C, clang      the asm goto is in a separate function that is always inlined: clang before 17
 *                 refuses several asm gotos in a function with cleanups. "i" operands from
 *                 parameters need the optimiser; at -O0 the site is a load and a test.
 *   C++           a local class names the place; a hidden class template holds its data (hidden
 *                 symbols bind locally, so that they can be "i" operands in inline functions and
 *                 templates, too), a function template its asm goto.
 */
#ifndef WAYMARK_PLACE_H
#define WAYMARK_PLACE_H

#pragma GCC system_header

#include <waymark/emit.h>
#include <waymark/foreach.h>

/*
 * The site and its entry in the table. Operands: description and state; label: the code to run when
 * enabled.
 */
#define WAYMARK_SITE_TEXT_ \
	WAYMARK_SITE_INSN \
	".pushsection waymark_sites,\"aR?\",@progbits\n" \
	"\t.balign 4\n" \
	"\t.long 771b - .\n" \
	"\t.long %l[on] - .\n" \
	"\t.long " WAYMARK_OPERAND(0) " - .\n" \
	"\t.long " WAYMARK_OPERAND(1) " - .\n" \
	"\t.popsection"
/* Only an entry: for the load+test variant, and for marks without a site of their own. */
#define WAYMARK_LISTED_TEXT_ \
	".pushsection waymark_sites,\"aR?\",@progbits\n" \
	"\t.balign 4\n" \
	"\t.long 0, 0\n" \
	"\t.long " WAYMARK_OPERAND(0) " - .\n" \
	"\t.long " WAYMARK_OPERAND(1) " - .\n" \
	"\t.popsection"
#define WAYMARK_FLAG_(event) \
	__builtin_expect(__atomic_load_n(&(event).enabled, __ATOMIC_RELAXED) != 0, 0)

#ifdef __cplusplus

template <int N> struct waymark_values {
	int64_t value[N];
};
/* A description with `Nr` values and `Bytes` bytes of text. */
template <int Nr, int Bytes> struct waymark_described {
	struct waymark_desc head;
	waymark_values<Nr> values;
	char text[Bytes];
};

template <class Place> struct WAYMARK_HIDDEN waymark_holder {
	static const decltype(Place::describe()) desc __attribute__((aligned(8)));
	static struct waymark_event_state event;
};
template <class Place>
const decltype(Place::describe()) waymark_holder<Place>::desc = Place::describe();
template <class Place>
struct waymark_event_state waymark_holder<Place>::event = {WAYMARK_WORD_COMPLEX, Place::binding(), 0, 0};

#define WAYMARK_PLACE_(id, binding_, kind_, level_, flags_, nr_, text_, ...) \
	struct waymark_place_##id { \
		__attribute__((unused)) typedef waymark_described<(nr_) + 1, sizeof(text_)> waymark_made; \
		static constexpr waymark_made describe() \
		{ \
			return waymark_made{{WAYMARK_DESC_MAGIC, sizeof(waymark_made), kind_, \
					     level_, (nr_) + 1, __LINE__, flags_, sizeof(text_), \
					     {0, 0}}, \
					    __VA_ARGS__, \
					    text_}; \
		} \
		static constexpr void *binding() \
		{ \
			return binding_; \
		} \
	}
#define WAYMARK_PLACE_VALUES_(nr_, ...) waymark_values<(nr_) + 1>{{__VA_ARGS__ 0}}
#define WAYMARK_PLACE_EVENT_(id) waymark_holder<waymark_place_##id>::event
#define WAYMARK_PLACE_ON_(id) __builtin_expect(waymark_place_on<waymark_place_##id>(), 0)
#define WAYMARK_PLACE_LIST_(id) waymark_place_list<waymark_place_##id>()

template <class Place> WAYMARK_INLINE void waymark_place_list()
{
	__asm__ volatile(WAYMARK_LISTED_TEXT_
			 :
			 : WAYMARK_SYMBOL(&waymark_holder<Place>::desc),
			   WAYMARK_SYMBOL(&waymark_holder<Place>::event));
}

template <class Place> WAYMARK_INLINE int waymark_place_on()
{
#ifdef WAYMARK_LOADTEST
	waymark_place_list<Place>();
	return WAYMARK_FLAG_(waymark_holder<Place>::event);
#else
	__asm__ goto(WAYMARK_SITE_TEXT_
		     :
		     : WAYMARK_SYMBOL(&waymark_holder<Place>::desc),
		       WAYMARK_SYMBOL(&waymark_holder<Place>::event)
		     :
		     : on);
	return 0;
on:
	WAYMARK_COLD_LABEL
	return 1;
#endif
}

#else /* C */

#define WAYMARK_PLACE_(id, binding_, kind_, level_, flags_, nr_, text_, ...) \
	static struct waymark_event_state waymark_event_##id = {WAYMARK_WORD_COMPLEX, binding_, 0, 0}; \
	static const struct { \
		struct waymark_desc head; \
		int64_t values[(nr_) + 1]; \
		char text[sizeof(text_)]; \
	} waymark_desc_##id __attribute__((aligned(8))) = { \
		{WAYMARK_DESC_MAGIC, sizeof(waymark_desc_##id), kind_, level_, (nr_) + 1, \
		 __LINE__, flags_, sizeof(text_), {0, 0}}, \
		__VA_ARGS__, \
		text_}
#define WAYMARK_PLACE_VALUES_(nr_, ...) {__VA_ARGS__ 0}
#define WAYMARK_PLACE_EVENT_(id) waymark_event_##id

#define WAYMARK_PLACE_LIST_(id) \
	__asm__ volatile(WAYMARK_LISTED_TEXT_ \
			 : \
			 : WAYMARK_SYMBOL(&waymark_desc_##id), \
			   WAYMARK_SYMBOL(&waymark_event_##id))

#if defined(WAYMARK_LOADTEST) || (defined(__clang__) && !defined(__OPTIMIZE__))
#define WAYMARK_PLACE_ON_(id) \
	__builtin_expect(__extension__({ \
				 WAYMARK_PLACE_LIST_(id); \
				 WAYMARK_FLAG_(waymark_event_##id); \
			 }), \
			 0)
#elif defined(__clang__)
WAYMARK_INLINE int waymark_place_on(const void *desc, struct waymark_event_state *event)
{
	__asm__ goto(WAYMARK_SITE_TEXT_
		     :
		     : WAYMARK_SYMBOL(desc), WAYMARK_SYMBOL(event)
		     :
		     : on);
	return 0;
on:
	return 1;
}
#define WAYMARK_PLACE_ON_(id) \
	__builtin_expect(waymark_place_on(&waymark_desc_##id, &waymark_event_##id), 0)
#else
#define WAYMARK_PLACE_ON_(id) \
	__extension__({ \
		__label__ on; \
		int waymark_is_on_ = 0; \
		__asm__ goto(WAYMARK_SITE_TEXT_ \
			     : \
			     : WAYMARK_SYMBOL(&waymark_desc_##id), \
			       WAYMARK_SYMBOL(&waymark_event_##id) \
			     : \
			     : on); \
		if (0) { \
		on: \
			WAYMARK_COLD_LABEL \
			waymark_is_on_ = 1; \
		} \
		__builtin_expect(waymark_is_on_, 0); \
	})
#endif

#endif /* C */

#endif
