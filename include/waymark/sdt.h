/* SPDX-License-Identifier: MIT */
/*
 * sdt.h - with -DWAYMARK_SDT every typed event and marker is also a static probe for perf,
 * bpftrace, SystemTap and gdb: a separate one-byte nop before the site, described by a note
 * (section .note.stapsdt, owner "stapsdt", type 3), so that both kinds of tools can trace the same
 * place at once.
 *
 *   readelf -n app                              lists them
 *   perf buildid-cache --add app && perf list sdt
 *   bpftrace -e 'usdt:./app:shop:order { printf("%d\n", arg1); }'
 *
 * Off by default: the values that a note describes must exist, so the arguments of a mark are
 * evaluated whether it is on or off (once), and kept in registers or memory at the nop. Strings and
 * structs are passed as pointers, floating point as its bits; at most the first 12 arguments are
 * described. A marker in a unit without WAYMARK_PROVIDER has the provider "waymark". Scope and span
 * marks have no note, and neither have linked markers: their events have one.
 *
 * The note: {4-byte name size, descriptor size, type 3} "stapsdt\0", then
 *   8-byte address of the nop, address of _.stapsdt.base (to compute how far prelink
 *   moved the program), address of a semaphore (0: none),
 *   provider\0 name\0 arguments\0
 * each argument "N@operand": N bytes, negative when signed, and the operand in the assembler's
 * syntax.
 */
#ifndef WAYMARK_SDT_H
#define WAYMARK_SDT_H

#pragma GCC system_header

#include <waymark/emit.h>
#include <waymark/foreach.h>

#define WAYMARK_SDT_TEXT_(provider, name, args) \
	"990:\tnop\n" \
	".pushsection .note.stapsdt,\"?\",\"note\"\n" \
	"\t.balign 4\n" \
	"\t.4byte 992f-991f, 994f-993f, 3\n" \
	"991:\t.asciz \"stapsdt\"\n" \
	"992:\t.balign 4\n" \
	"993:\t.8byte 990b\n" \
	"\t.8byte _.stapsdt.base\n" \
	"\t.8byte 0\n" \
	"\t.asciz \"" provider "\"\n" \
	"\t.asciz \"" name "\"\n" \
	"\t.ascii \"" args "\"\n" \
	"\t.byte 0\n" \
	"994:\t.balign 4\n" \
	".popsection\n" \
	".ifndef _.stapsdt.base\n" \
	".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n" \
	"\t.weak _.stapsdt.base\n" \
	"\t.hidden _.stapsdt.base\n" \
	"_.stapsdt.base:\t.space 1\n" \
	"\t.size _.stapsdt.base,1\n" \
	".popsection\n" \
	".endif\n"

/* gcc chooses operands well, but clang prefers memory, which costs a store. */
#ifdef __clang__
#define WAYMARK_SDT_OPERAND_ "nr"
#else
#define WAYMARK_SDT_OPERAND_ "nor"
#endif

/* -1 for a signed type, because %n prints the negated size. */
#ifdef __cplusplus
template <class T> struct waymark_sdt_sign {
	static constexpr int value = -1;
};
#define WAYMARK_SDT_SIGNED_(type) \
	template <> struct waymark_sdt_sign<type> { \
		static constexpr int value = (type)-1 < (type)0 ? 1 : -1; \
	};
WAYMARK_SDT_SIGNED_(char)
WAYMARK_SDT_SIGNED_(signed char)
WAYMARK_SDT_SIGNED_(short)
WAYMARK_SDT_SIGNED_(int)
WAYMARK_SDT_SIGNED_(long)
WAYMARK_SDT_SIGNED_(long long)
template <class T> waymark_sdt_sign<T> waymark_sdt_sign_of(T);
#define WAYMARK_SDT_SIZE_(x) \
	(decltype(waymark_sdt_sign_of(x))::value * (int)sizeof(waymark_sdt_value(x)))
WAYMARK_INLINE uint64_t waymark_sdt_value(double v)
{
	uint64_t u;
	__builtin_memcpy(&u, &v, sizeof(u));
	return u;
}
WAYMARK_INLINE uint32_t waymark_sdt_value(float v)
{
	uint32_t u;
	__builtin_memcpy(&u, &v, sizeof(u));
	return u;
}
WAYMARK_INLINE uint64_t waymark_sdt_value(long double v)
{
	return waymark_sdt_value((double)v);
}
template <class T> WAYMARK_INLINE T waymark_sdt_value(T v)
{
	return v;
}
#define WAYMARK_SDT_VALUE_(x) waymark_sdt_value(x)
#else
#define WAYMARK_SDT_SIZE_(x) \
	(__extension__ _Generic((x), char: (char)-1 < 0, signed char: 1, short: 1, int: 1, \
				long: 1, long long: 1, default: 0) \
		 ? (int)sizeof(WAYMARK_SDT_VALUE_(x)) \
		 : -(int)sizeof(WAYMARK_SDT_VALUE_(x)))
WAYMARK_INLINE uint64_t waymark_sdt_double(double v)
{
	uint64_t u;
	__builtin_memcpy(&u, &v, sizeof(u));
	return u;
}
WAYMARK_INLINE uint32_t waymark_sdt_float(float v)
{
	uint32_t u;
	__builtin_memcpy(&u, &v, sizeof(u));
	return u;
}
#define WAYMARK_SDT_IS_(x, type) __builtin_types_compatible_p(__typeof__(x), type)
#define WAYMARK_SDT_AS_(x, type) __extension__ _Generic((x), type: (x), default: 0)
#define WAYMARK_SDT_VALUE_(x) \
	__builtin_choose_expr( \
		WAYMARK_SDT_IS_(x, double), waymark_sdt_double(WAYMARK_SDT_AS_(x, double)), \
		__builtin_choose_expr( \
			WAYMARK_SDT_IS_(x, float), waymark_sdt_float(WAYMARK_SDT_AS_(x, float)), \
			__builtin_choose_expr( \
				WAYMARK_SDT_IS_(x, long double), \
				waymark_sdt_double((double)WAYMARK_SDT_AS_(x, long double)), x)))
#endif

/*
 * The asm names of a probe's arguments, and the operands, for the first twelve arguments. They are
 * counted from 1, after a dummy, because the list may be empty.
 */
#define WAYMARK_SDT_IN_(i, x) \
	[s##i] "n"(WAYMARK_SDT_SIZE_(x)), [a##i] WAYMARK_SDT_OPERAND_(WAYMARK_SDT_VALUE_(x))
#define WAYMARK_SDT_ARGS_1 ""
#define WAYMARK_SDT_ARGS_2 "%n[s1]@%[a1]"
#define WAYMARK_SDT_ARGS_3 WAYMARK_SDT_ARGS_2 " %n[s2]@%[a2]"
#define WAYMARK_SDT_ARGS_4 WAYMARK_SDT_ARGS_3 " %n[s3]@%[a3]"
#define WAYMARK_SDT_ARGS_5 WAYMARK_SDT_ARGS_4 " %n[s4]@%[a4]"
#define WAYMARK_SDT_ARGS_6 WAYMARK_SDT_ARGS_5 " %n[s5]@%[a5]"
#define WAYMARK_SDT_ARGS_7 WAYMARK_SDT_ARGS_6 " %n[s6]@%[a6]"
#define WAYMARK_SDT_ARGS_8 WAYMARK_SDT_ARGS_7 " %n[s7]@%[a7]"
#define WAYMARK_SDT_ARGS_9 WAYMARK_SDT_ARGS_8 " %n[s8]@%[a8]"
#define WAYMARK_SDT_ARGS_10 WAYMARK_SDT_ARGS_9 " %n[s9]@%[a9]"
#define WAYMARK_SDT_ARGS_11 WAYMARK_SDT_ARGS_10 " %n[s10]@%[a10]"
#define WAYMARK_SDT_ARGS_12 WAYMARK_SDT_ARGS_11 " %n[s11]@%[a11]"
#define WAYMARK_SDT_ARGS_13 WAYMARK_SDT_ARGS_12 " %n[s12]@%[a12]"
#define WAYMARK_SDT_ARGS_14 WAYMARK_SDT_ARGS_13
#define WAYMARK_SDT_ARGS_15 WAYMARK_SDT_ARGS_13
#define WAYMARK_SDT_ARGS_16 WAYMARK_SDT_ARGS_13
#define WAYMARK_SDT_ARGS_17 WAYMARK_SDT_ARGS_13
#define WAYMARK_SDT_ARGS_18 WAYMARK_SDT_ARGS_13
#define WAYMARK_SDT_ARGS_19 WAYMARK_SDT_ARGS_13
#define WAYMARK_SDT_ARGS_20 WAYMARK_SDT_ARGS_13
#define WAYMARK_SDT_ARGS_21 WAYMARK_SDT_ARGS_13
#define WAYMARK_SDT_ARGS_22 WAYMARK_SDT_ARGS_13
#define WAYMARK_SDT_ARGS_23 WAYMARK_SDT_ARGS_13
#define WAYMARK_SDT_ARGS_24 WAYMARK_SDT_ARGS_13
#define WAYMARK_SDT_ARGS_25 WAYMARK_SDT_ARGS_13
#define WAYMARK_SDT_ARGS_26 WAYMARK_SDT_ARGS_13
#define WAYMARK_SDT_ARGS_27 WAYMARK_SDT_ARGS_13
#define WAYMARK_SDT_ARGS_28 WAYMARK_SDT_ARGS_13
#define WAYMARK_SDT_ARGS_29 WAYMARK_SDT_ARGS_13
#define WAYMARK_SDT_ARGS_30 WAYMARK_SDT_ARGS_13
#define WAYMARK_SDT_ARGS_31 WAYMARK_SDT_ARGS_13
#define WAYMARK_SDT_ARGS_32 WAYMARK_SDT_ARGS_13
#define WAYMARK_SDT_ARGS_33 WAYMARK_SDT_ARGS_13
#define WAYMARK_SDT_IN_1(z)
#define WAYMARK_SDT_IN_2(z, a) WAYMARK_SDT_IN_(1, a)
#define WAYMARK_SDT_IN_3(z, a, b) WAYMARK_SDT_IN_2(z, a), WAYMARK_SDT_IN_(2, b)
#define WAYMARK_SDT_IN_4(z, a, b, c) WAYMARK_SDT_IN_3(z, a, b), WAYMARK_SDT_IN_(3, c)
#define WAYMARK_SDT_IN_5(z, a, b, c, d) WAYMARK_SDT_IN_4(z, a, b, c), WAYMARK_SDT_IN_(4, d)
#define WAYMARK_SDT_IN_6(z, a, b, c, d, e) WAYMARK_SDT_IN_5(z, a, b, c, d), WAYMARK_SDT_IN_(5, e)
#define WAYMARK_SDT_IN_7(z, a, b, c, d, e, f) WAYMARK_SDT_IN_6(z, a, b, c, d, e), WAYMARK_SDT_IN_(6, f)
#define WAYMARK_SDT_IN_8(z, a, b, c, d, e, f, g) WAYMARK_SDT_IN_7(z, a, b, c, d, e, f), WAYMARK_SDT_IN_(7, g)
#define WAYMARK_SDT_IN_9(z, a, b, c, d, e, f, g, h) WAYMARK_SDT_IN_8(z, a, b, c, d, e, f, g), WAYMARK_SDT_IN_(8, h)
#define WAYMARK_SDT_IN_10(z, a, b, c, d, e, f, g, h, i) WAYMARK_SDT_IN_9(z, a, b, c, d, e, f, g, h), WAYMARK_SDT_IN_(9, i)
#define WAYMARK_SDT_IN_11(z, a, b, c, d, e, f, g, h, i, j) WAYMARK_SDT_IN_10(z, a, b, c, d, e, f, g, h, i), WAYMARK_SDT_IN_(10, j)
#define WAYMARK_SDT_IN_12(z, a, b, c, d, e, f, g, h, i, j, k) WAYMARK_SDT_IN_11(z, a, b, c, d, e, f, g, h, i, j), WAYMARK_SDT_IN_(11, k)
#define WAYMARK_SDT_IN_13(z, a, b, c, d, e, f, g, h, i, j, k, l) WAYMARK_SDT_IN_12(z, a, b, c, d, e, f, g, h, i, j, k), WAYMARK_SDT_IN_(12, l)
#define WAYMARK_SDT_IN_14(z, a, b, c, d, e, f, g, h, i, j, k, l, ...) WAYMARK_SDT_IN_13(z, a, b, c, d, e, f, g, h, i, j, k, l)
#define WAYMARK_SDT_IN_15(z, a, b, c, d, e, f, g, h, i, j, k, l, ...) WAYMARK_SDT_IN_13(z, a, b, c, d, e, f, g, h, i, j, k, l)
#define WAYMARK_SDT_IN_16(z, a, b, c, d, e, f, g, h, i, j, k, l, ...) WAYMARK_SDT_IN_13(z, a, b, c, d, e, f, g, h, i, j, k, l)
#define WAYMARK_SDT_IN_17(z, a, b, c, d, e, f, g, h, i, j, k, l, ...) WAYMARK_SDT_IN_13(z, a, b, c, d, e, f, g, h, i, j, k, l)
#define WAYMARK_SDT_IN_18(z, a, b, c, d, e, f, g, h, i, j, k, l, ...) WAYMARK_SDT_IN_13(z, a, b, c, d, e, f, g, h, i, j, k, l)
#define WAYMARK_SDT_IN_19(z, a, b, c, d, e, f, g, h, i, j, k, l, ...) WAYMARK_SDT_IN_13(z, a, b, c, d, e, f, g, h, i, j, k, l)
#define WAYMARK_SDT_IN_20(z, a, b, c, d, e, f, g, h, i, j, k, l, ...) WAYMARK_SDT_IN_13(z, a, b, c, d, e, f, g, h, i, j, k, l)
#define WAYMARK_SDT_IN_21(z, a, b, c, d, e, f, g, h, i, j, k, l, ...) WAYMARK_SDT_IN_13(z, a, b, c, d, e, f, g, h, i, j, k, l)
#define WAYMARK_SDT_IN_22(z, a, b, c, d, e, f, g, h, i, j, k, l, ...) WAYMARK_SDT_IN_13(z, a, b, c, d, e, f, g, h, i, j, k, l)
#define WAYMARK_SDT_IN_23(z, a, b, c, d, e, f, g, h, i, j, k, l, ...) WAYMARK_SDT_IN_13(z, a, b, c, d, e, f, g, h, i, j, k, l)
#define WAYMARK_SDT_IN_24(z, a, b, c, d, e, f, g, h, i, j, k, l, ...) WAYMARK_SDT_IN_13(z, a, b, c, d, e, f, g, h, i, j, k, l)
#define WAYMARK_SDT_IN_25(z, a, b, c, d, e, f, g, h, i, j, k, l, ...) WAYMARK_SDT_IN_13(z, a, b, c, d, e, f, g, h, i, j, k, l)
#define WAYMARK_SDT_IN_26(z, a, b, c, d, e, f, g, h, i, j, k, l, ...) WAYMARK_SDT_IN_13(z, a, b, c, d, e, f, g, h, i, j, k, l)
#define WAYMARK_SDT_IN_27(z, a, b, c, d, e, f, g, h, i, j, k, l, ...) WAYMARK_SDT_IN_13(z, a, b, c, d, e, f, g, h, i, j, k, l)
#define WAYMARK_SDT_IN_28(z, a, b, c, d, e, f, g, h, i, j, k, l, ...) WAYMARK_SDT_IN_13(z, a, b, c, d, e, f, g, h, i, j, k, l)
#define WAYMARK_SDT_IN_29(z, a, b, c, d, e, f, g, h, i, j, k, l, ...) WAYMARK_SDT_IN_13(z, a, b, c, d, e, f, g, h, i, j, k, l)
#define WAYMARK_SDT_IN_30(z, a, b, c, d, e, f, g, h, i, j, k, l, ...) WAYMARK_SDT_IN_13(z, a, b, c, d, e, f, g, h, i, j, k, l)
#define WAYMARK_SDT_IN_31(z, a, b, c, d, e, f, g, h, i, j, k, l, ...) WAYMARK_SDT_IN_13(z, a, b, c, d, e, f, g, h, i, j, k, l)
#define WAYMARK_SDT_IN_32(z, a, b, c, d, e, f, g, h, i, j, k, l, ...) WAYMARK_SDT_IN_13(z, a, b, c, d, e, f, g, h, i, j, k, l)
#define WAYMARK_SDT_IN_33(z, a, b, c, d, e, f, g, h, i, j, k, l, ...) WAYMARK_SDT_IN_13(z, a, b, c, d, e, f, g, h, i, j, k, l)

/* The nop and its note. Provider and name are string literals. */
#define WAYMARK_SDT_PROBE_(...) WAYMARK_SDT_PROBE__(__VA_ARGS__)
#define WAYMARK_SDT_PROBE__(provider, name, ...) \
	__asm__ volatile(WAYMARK_SDT_TEXT_(provider, name, \
					   WAYMARK_CAT(WAYMARK_SDT_ARGS_, \
						       WAYMARK_COUNT(0, ##__VA_ARGS__))) \
			 : \
			 : WAYMARK_CAT(WAYMARK_SDT_IN_, WAYMARK_COUNT(0, ##__VA_ARGS__))( \
				 0, ##__VA_ARGS__))

#ifdef WAYMARK_PROVIDER
#define WAYMARK_SDT_PROVIDER_ WAYMARK_PROVIDER_TEXT
#else
#define WAYMARK_SDT_PROVIDER_ "waymark"
#endif

#endif
