/* SPDX-License-Identifier: MIT */
/*
 * emit.h - the hot path: the code compiled into a program that is executed when a site is enabled.
 * abi.h defines the layout it writes; the proof that a reader never sees half a record is in
 * doc/design/ring.md.
 *
 *   w = waymark_busy()            from here on the next level is current: a signal
 *                                 handler that traces writes there
 *   p = pos, if there is room     the slow path makes room, or counts a loss
 *   header: clock and id          read after pos, so times do not decrease in a chunk
 *   the fields
 *   pos, tally                    private
 *   committed                     release: the record exists
 *   current = w                   not busy any more
 *
 * A siglongjmp out of a handler may abandon this at any instruction; the runtime takes the level
 * back later and derives the state from pos and committed (wm_thread_take_back()).
 */
#ifndef WAYMARK_EMIT_H
#define WAYMARK_EMIT_H

#pragma GCC system_header

#include <waymark/arch.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WAYMARK_HIDDEN __attribute__((visibility("hidden")))

/*
 * Functions for fields of variable size. `after` is the number of bytes that later fixed fields
 * need; a field fits only if they do, too. Each function returns the new position, or 0, in which
 * case the record is retried in a new chunk.
 */

/* Packs a string with its NUL; NULL is recorded as "(null)". */
WAYMARK_INLINE unsigned char *waymark_put_string(unsigned char *q, const char *s, uint64_t after)
{
	WAYMARK_CALL_STRING(q, put_string, q, s, after, "(null)");
	return q;
}

/* Packs a u4 count, then `count` elements; NULL is recorded with count 0. */
WAYMARK_INLINE unsigned char *waymark_put_counted(unsigned char *q, const void *from,
						  uint64_t count, uint64_t element, uint64_t after)
{
	const uint64_t most = 0xffffffffull; /* larger than any chunk, so it is refused below */
	if (!from)
		count = 0; /* set to 0, so that no byte is read */
	if (count > most)
		count = most;
	waymark_put32(q, (uint32_t)count);
	WAYMARK_CALL_READS(q, put_bytes, q + 4, from, count * element | after << 48);
	return q;
}

/* Packs the bytes of a fixed array; there is room for it. */
WAYMARK_INLINE unsigned char *waymark_put_array(unsigned char *q, const void *from, uint64_t bytes)
{
	WAYMARK_CALL_READS(q, put_bytes, q, from, bytes);
	return q;
}

/*
 * Packs a fixed char array: at most n bytes of a string, padded with NULs. NULL is recorded as
 * NULs.
 */
WAYMARK_INLINE unsigned char *waymark_put_chars(unsigned char *q, const char *s, uint64_t n)
{
	WAYMARK_CALL_STRING(q, put_chars, q, s, n, "");
	return q;
}

WAYMARK_INLINE unsigned char *waymark_round_up(unsigned char *q)
{
	return (unsigned char *)(((uintptr_t)q + 7) & ~(uintptr_t)7);
}

/*
 * Forces the compiler to store the data that a pointer refers to: it cannot see that callbacks read
 * it.
 */
WAYMARK_INLINE void waymark_show(uint64_t pointer)
{
	__asm__ volatile("" : : "m"(WAYMARK_BYTES((const char *)(uintptr_t)pointer)));
}
#define WAYMARK_IS_POINTER(x) (__builtin_classify_type(x) == 5)

/*
 * Emits one record: the direct case and, out of line, the complex case.
 *
 *   event       the event's state, an lvalue
 *   dispatcher  receives the slots from the runtime when callbacks are connected
 *   flags       WAYMARK_DESC_...
 *   fixed       size of all fixed fields; a variable field reserves a little more
 *               than the fields after it need, never less
 *   slots       statements that store the arguments at waymark_slots_
 *   ...         statements that pack the fields at waymark_q_; if a field does not fit, they
 *               leave it 0 and break
 *
 * The names inside are long because callers' expressions are expanded among them.
 */
#define WAYMARK_EMIT_BLOCK_(event, dispatcher, flags, fixed, slots, ...) \
	do { \
		enum { waymark_fixed_ = (fixed) }; \
		struct waymark_writer *waymark_w_ = waymark_busy(); \
		unsigned char *waymark_q_; \
		uint64_t waymark_ignored_; \
		uint32_t waymark_bits_; \
		(void)sizeof(char[(int)waymark_fixed_ < 60000 ? 1 : -1]); \
		for (;;) { \
			WAYMARK_LOAD_STATIC(waymark_q_, (event).word); \
			if (__builtin_expect((intptr_t)waymark_q_ < 0, 0)) \
				break; \
			if (__builtin_expect(waymark_open_record(waymark_q_, waymark_w_, waymark_fixed_, \
							  !((flags) & WAYMARK_DESC_NOCLOCK)), \
					     1)) { \
				waymark_q_ += 8; \
				do { \
					__VA_ARGS__ \
				} while (0); \
				if (__builtin_expect(waymark_q_ != 0, 1)) { \
					waymark_commit(waymark_w_, waymark_round_up(waymark_q_)); \
					waymark_w_ = 0; \
					break; \
				} \
			} \
			WAYMARK_CALL1(waymark_w_, slow, waymark_w_); \
			if (!waymark_w_) \
				break; \
		} \
		if (!waymark_w_) \
			break; \
		WAYMARK_CALL1(waymark_q_, enter, waymark_w_); \
		if (!waymark_q_) \
			break; \
		WAYMARK_LOAD_BITS(waymark_bits_, (event).word); \
		if (waymark_bits_ & WAYMARK_BITS_PROBES) { \
			unsigned char *waymark_slots_ = waymark_q_; \
			slots \
			WAYMARK_CALL_SYMBOLS(waymark_ignored_, probe, waymark_slots_, &(event), \
					     &(dispatcher)); \
			WAYMARK_LOAD_BITS(waymark_bits_, (event).word); \
		} \
		/* also correct if the event has switched to the direct case by now */ \
		if ((waymark_bits_ & (WAYMARK_BITS_RECORD | WAYMARK_BITS_COMPLEX)) != \
		    WAYMARK_BITS_COMPLEX) { \
			do { \
				__VA_ARGS__ \
			} while (0); \
			WAYMARK_CALL_SYMBOL(waymark_ignored_, gate, waymark_q_, &(event)); \
		} else { \
			WAYMARK_CALL1(waymark_ignored_, leave, 0); \
		} \
		(void)waymark_ignored_; \
	} while (0)

/* ------------------------------------------------------------------ *
 * Registration of the module with the runtime, if there is one.
 * ------------------------------------------------------------------ */
extern int waymark_module_register(struct waymark_module *m) __attribute__((weak));
extern void waymark_module_unregister(struct waymark_module *m) __attribute__((weak));

extern const struct waymark_site __start_waymark_sites[] __attribute__((weak)) WAYMARK_HIDDEN;
extern const struct waymark_site __stop_waymark_sites[] __attribute__((weak)) WAYMARK_HIDDEN;

#ifdef WAYMARK_PROVIDER
#define WAYMARK_PROVIDER_TEXT WAYMARK_STR(WAYMARK_PROVIDER)
#else
#define WAYMARK_PROVIDER_TEXT ""
#endif

__attribute__((weak)) WAYMARK_HIDDEN struct waymark_module waymark_module = {
	WAYMARK_ABI, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, {0},
};

/* Each unit has this constructor; the first one that runs registers the whole module. */
__attribute__((constructor(101), unused, no_instrument_function)) static void
waymark_module_constructor(void)
{
	if (waymark_module.state || !waymark_module_register)
		return;
	waymark_module.sites = __start_waymark_sites;
	waymark_module.sites_end = __stop_waymark_sites;
	(void)waymark_module_register(&waymark_module); /* on failure, the module stays dormant */
}

__attribute__((destructor(101), unused, no_instrument_function)) static void
waymark_module_destructor(void)
{
	if (waymark_module.state && waymark_module_unregister)
		waymark_module_unregister(&waymark_module);
}

#ifdef __cplusplus
}
#endif

#endif
