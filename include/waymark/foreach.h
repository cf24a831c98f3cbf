/* SPDX-License-Identifier: MIT */
/*
 * foreach.h - lists in the preprocessor: WAYMARK_EACH(macro, separator, items)
 * applies `macro` to each item, with `separator()` between them; lists are
 * parenthesised, may be empty, and hold at most 32 items. WAYMARK_EACH2 is the
 * same for a list inside a list; WAYMARK_PAIRS takes two items at a time.
 */
#ifndef WAYMARK_FOREACH_H
#define WAYMARK_FOREACH_H

#pragma GCC system_header

#define WAYMARK_CAT_(a, b) a##b
#define WAYMARK_CAT(a, b) WAYMARK_CAT_(a, b)
#define WAYMARK_STR_(...) #__VA_ARGS__
#define WAYMARK_STR(...) WAYMARK_STR_(__VA_ARGS__)
#define WAYMARK_UNPACK(...) __VA_ARGS__
#define WAYMARK_SEP_NONE()
#define WAYMARK_SEP_COMMA() ,
#define WAYMARK_SEP_SEMICOLON() ";"

/* Expands to its 65th argument. */
#define WAYMARK_65TH_(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, a34, a35, a36, a37, a38, a39, a40, a41, a42, a43, a44, a45, a46, a47, a48, a49, a50, a51, a52, a53, a54, a55, a56, a57, a58, a59, a60, a61, a62, a63, n, ...) n
#define WAYMARK_65TH(...) WAYMARK_65TH_(__VA_ARGS__)

/*
 * The number of items, 0..63. The preprocessor cannot distinguish an empty list from a list of one
 * item directly, so emptiness is detected indirectly: an empty item between a macro name and ()
 * makes the macro expand (Jens Gustedt's idea).
 */
#define WAYMARK_COUNT(...) \
	WAYMARK_CAT(WAYMARK_COUNT_, WAYMARK_IS_EMPTY(__VA_ARGS__))(__VA_ARGS__)
#define WAYMARK_COUNT_1(...) 0
#define WAYMARK_COUNT_0(...) WAYMARK_65TH(__VA_ARGS__, 64, 63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48, 47, 46, 45, 44, 43, 42, 41, 40, 39, 38, 37, 36, 35, 34, 33, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define WAYMARK_HAS_COMMA(...) WAYMARK_65TH(__VA_ARGS__, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0)
#define WAYMARK_COMMA_(...) ,
#define WAYMARK_IS_EMPTY(...) \
	WAYMARK_IS_EMPTY_(WAYMARK_HAS_COMMA(__VA_ARGS__), \
			  WAYMARK_HAS_COMMA(WAYMARK_COMMA_ __VA_ARGS__), \
			  WAYMARK_HAS_COMMA(__VA_ARGS__()), \
			  WAYMARK_HAS_COMMA(WAYMARK_COMMA_ __VA_ARGS__()))
#define WAYMARK_IS_EMPTY_(a, b, c, d) WAYMARK_IS_EMPTY__(a, b, c, d)
#define WAYMARK_IS_EMPTY__(a, b, c, d) WAYMARK_SECOND_(WAYMARK_EMPTY_##a##b##c##d)
#define WAYMARK_SECOND_(...) WAYMARK_SECOND__(__VA_ARGS__, 0, 0)
#define WAYMARK_SECOND__(a, b, ...) b
#define WAYMARK_EMPTY_0001 0, 1

#define WAYMARK_EACH(m, s, ...) WAYMARK_CAT(WAYMARK_EACH_, WAYMARK_COUNT(__VA_ARGS__))(m, s, __VA_ARGS__)
#define WAYMARK_EACH_0(m, s, ...)
#define WAYMARK_EACH_1(m, s, x) m(x)
#define WAYMARK_EACH_2(m, s, x, ...) m(x) s() WAYMARK_EACH_1(m, s, __VA_ARGS__)
#define WAYMARK_EACH_3(m, s, x, ...) m(x) s() WAYMARK_EACH_2(m, s, __VA_ARGS__)
#define WAYMARK_EACH_4(m, s, x, ...) m(x) s() WAYMARK_EACH_3(m, s, __VA_ARGS__)
#define WAYMARK_EACH_5(m, s, x, ...) m(x) s() WAYMARK_EACH_4(m, s, __VA_ARGS__)
#define WAYMARK_EACH_6(m, s, x, ...) m(x) s() WAYMARK_EACH_5(m, s, __VA_ARGS__)
#define WAYMARK_EACH_7(m, s, x, ...) m(x) s() WAYMARK_EACH_6(m, s, __VA_ARGS__)
#define WAYMARK_EACH_8(m, s, x, ...) m(x) s() WAYMARK_EACH_7(m, s, __VA_ARGS__)
#define WAYMARK_EACH_9(m, s, x, ...) m(x) s() WAYMARK_EACH_8(m, s, __VA_ARGS__)
#define WAYMARK_EACH_10(m, s, x, ...) m(x) s() WAYMARK_EACH_9(m, s, __VA_ARGS__)
#define WAYMARK_EACH_11(m, s, x, ...) m(x) s() WAYMARK_EACH_10(m, s, __VA_ARGS__)
#define WAYMARK_EACH_12(m, s, x, ...) m(x) s() WAYMARK_EACH_11(m, s, __VA_ARGS__)
#define WAYMARK_EACH_13(m, s, x, ...) m(x) s() WAYMARK_EACH_12(m, s, __VA_ARGS__)
#define WAYMARK_EACH_14(m, s, x, ...) m(x) s() WAYMARK_EACH_13(m, s, __VA_ARGS__)
#define WAYMARK_EACH_15(m, s, x, ...) m(x) s() WAYMARK_EACH_14(m, s, __VA_ARGS__)
#define WAYMARK_EACH_16(m, s, x, ...) m(x) s() WAYMARK_EACH_15(m, s, __VA_ARGS__)
#define WAYMARK_EACH_17(m, s, x, ...) m(x) s() WAYMARK_EACH_16(m, s, __VA_ARGS__)
#define WAYMARK_EACH_18(m, s, x, ...) m(x) s() WAYMARK_EACH_17(m, s, __VA_ARGS__)
#define WAYMARK_EACH_19(m, s, x, ...) m(x) s() WAYMARK_EACH_18(m, s, __VA_ARGS__)
#define WAYMARK_EACH_20(m, s, x, ...) m(x) s() WAYMARK_EACH_19(m, s, __VA_ARGS__)
#define WAYMARK_EACH_21(m, s, x, ...) m(x) s() WAYMARK_EACH_20(m, s, __VA_ARGS__)
#define WAYMARK_EACH_22(m, s, x, ...) m(x) s() WAYMARK_EACH_21(m, s, __VA_ARGS__)
#define WAYMARK_EACH_23(m, s, x, ...) m(x) s() WAYMARK_EACH_22(m, s, __VA_ARGS__)
#define WAYMARK_EACH_24(m, s, x, ...) m(x) s() WAYMARK_EACH_23(m, s, __VA_ARGS__)
#define WAYMARK_EACH_25(m, s, x, ...) m(x) s() WAYMARK_EACH_24(m, s, __VA_ARGS__)
#define WAYMARK_EACH_26(m, s, x, ...) m(x) s() WAYMARK_EACH_25(m, s, __VA_ARGS__)
#define WAYMARK_EACH_27(m, s, x, ...) m(x) s() WAYMARK_EACH_26(m, s, __VA_ARGS__)
#define WAYMARK_EACH_28(m, s, x, ...) m(x) s() WAYMARK_EACH_27(m, s, __VA_ARGS__)
#define WAYMARK_EACH_29(m, s, x, ...) m(x) s() WAYMARK_EACH_28(m, s, __VA_ARGS__)
#define WAYMARK_EACH_30(m, s, x, ...) m(x) s() WAYMARK_EACH_29(m, s, __VA_ARGS__)
#define WAYMARK_EACH_31(m, s, x, ...) m(x) s() WAYMARK_EACH_30(m, s, __VA_ARGS__)
#define WAYMARK_EACH_32(m, s, x, ...) m(x) s() WAYMARK_EACH_31(m, s, __VA_ARGS__)

#define WAYMARK_EACH2(m, s, ...) WAYMARK_CAT(WAYMARK_EACH2_, WAYMARK_COUNT(__VA_ARGS__))(m, s, __VA_ARGS__)
#define WAYMARK_EACH2_0(m, s, ...)
#define WAYMARK_EACH2_1(m, s, x) m(x)
#define WAYMARK_EACH2_2(m, s, x, ...) m(x) s() WAYMARK_EACH2_1(m, s, __VA_ARGS__)
#define WAYMARK_EACH2_3(m, s, x, ...) m(x) s() WAYMARK_EACH2_2(m, s, __VA_ARGS__)
#define WAYMARK_EACH2_4(m, s, x, ...) m(x) s() WAYMARK_EACH2_3(m, s, __VA_ARGS__)
#define WAYMARK_EACH2_5(m, s, x, ...) m(x) s() WAYMARK_EACH2_4(m, s, __VA_ARGS__)
#define WAYMARK_EACH2_6(m, s, x, ...) m(x) s() WAYMARK_EACH2_5(m, s, __VA_ARGS__)
#define WAYMARK_EACH2_7(m, s, x, ...) m(x) s() WAYMARK_EACH2_6(m, s, __VA_ARGS__)
#define WAYMARK_EACH2_8(m, s, x, ...) m(x) s() WAYMARK_EACH2_7(m, s, __VA_ARGS__)
#define WAYMARK_EACH2_9(m, s, x, ...) m(x) s() WAYMARK_EACH2_8(m, s, __VA_ARGS__)
#define WAYMARK_EACH2_10(m, s, x, ...) m(x) s() WAYMARK_EACH2_9(m, s, __VA_ARGS__)
#define WAYMARK_EACH2_11(m, s, x, ...) m(x) s() WAYMARK_EACH2_10(m, s, __VA_ARGS__)
#define WAYMARK_EACH2_12(m, s, x, ...) m(x) s() WAYMARK_EACH2_11(m, s, __VA_ARGS__)
#define WAYMARK_EACH2_13(m, s, x, ...) m(x) s() WAYMARK_EACH2_12(m, s, __VA_ARGS__)
#define WAYMARK_EACH2_14(m, s, x, ...) m(x) s() WAYMARK_EACH2_13(m, s, __VA_ARGS__)
#define WAYMARK_EACH2_15(m, s, x, ...) m(x) s() WAYMARK_EACH2_14(m, s, __VA_ARGS__)
#define WAYMARK_EACH2_16(m, s, x, ...) m(x) s() WAYMARK_EACH2_15(m, s, __VA_ARGS__)
#define WAYMARK_EACH2_17(m, s, x, ...) m(x) s() WAYMARK_EACH2_16(m, s, __VA_ARGS__)
#define WAYMARK_EACH2_18(m, s, x, ...) m(x) s() WAYMARK_EACH2_17(m, s, __VA_ARGS__)
#define WAYMARK_EACH2_19(m, s, x, ...) m(x) s() WAYMARK_EACH2_18(m, s, __VA_ARGS__)
#define WAYMARK_EACH2_20(m, s, x, ...) m(x) s() WAYMARK_EACH2_19(m, s, __VA_ARGS__)
#define WAYMARK_EACH2_21(m, s, x, ...) m(x) s() WAYMARK_EACH2_20(m, s, __VA_ARGS__)
#define WAYMARK_EACH2_22(m, s, x, ...) m(x) s() WAYMARK_EACH2_21(m, s, __VA_ARGS__)
#define WAYMARK_EACH2_23(m, s, x, ...) m(x) s() WAYMARK_EACH2_22(m, s, __VA_ARGS__)
#define WAYMARK_EACH2_24(m, s, x, ...) m(x) s() WAYMARK_EACH2_23(m, s, __VA_ARGS__)
#define WAYMARK_EACH2_25(m, s, x, ...) m(x) s() WAYMARK_EACH2_24(m, s, __VA_ARGS__)
#define WAYMARK_EACH2_26(m, s, x, ...) m(x) s() WAYMARK_EACH2_25(m, s, __VA_ARGS__)
#define WAYMARK_EACH2_27(m, s, x, ...) m(x) s() WAYMARK_EACH2_26(m, s, __VA_ARGS__)
#define WAYMARK_EACH2_28(m, s, x, ...) m(x) s() WAYMARK_EACH2_27(m, s, __VA_ARGS__)
#define WAYMARK_EACH2_29(m, s, x, ...) m(x) s() WAYMARK_EACH2_28(m, s, __VA_ARGS__)
#define WAYMARK_EACH2_30(m, s, x, ...) m(x) s() WAYMARK_EACH2_29(m, s, __VA_ARGS__)
#define WAYMARK_EACH2_31(m, s, x, ...) m(x) s() WAYMARK_EACH2_30(m, s, __VA_ARGS__)
#define WAYMARK_EACH2_32(m, s, x, ...) m(x) s() WAYMARK_EACH2_31(m, s, __VA_ARGS__)

/* Applies m(index, first, second) to pairs of items. */
#define WAYMARK_PAIRS(m, s, ...) WAYMARK_CAT(WAYMARK_PAIRS_, WAYMARK_COUNT(__VA_ARGS__))(m, s, __VA_ARGS__)
#define WAYMARK_PAIRS_0(m, s, ...)
#define WAYMARK_PAIRS_2(m, s, a, b) m(0, a, b)
#define WAYMARK_PAIRS_4(m, s, a0, b0, a1, b1) m(0, a0, b0) s() m(1, a1, b1)
#define WAYMARK_PAIRS_6(m, s, a0, b0, a1, b1, a2, b2) m(0, a0, b0) s() m(1, a1, b1) s() m(2, a2, b2)
#define WAYMARK_PAIRS_8(m, s, a0, b0, a1, b1, a2, b2, a3, b3) m(0, a0, b0) s() m(1, a1, b1) s() m(2, a2, b2) s() m(3, a3, b3)
#define WAYMARK_PAIRS_10(m, s, a0, b0, a1, b1, a2, b2, a3, b3, a4, b4) m(0, a0, b0) s() m(1, a1, b1) s() m(2, a2, b2) s() m(3, a3, b3) s() m(4, a4, b4)
#define WAYMARK_PAIRS_12(m, s, a0, b0, a1, b1, a2, b2, a3, b3, a4, b4, a5, b5) m(0, a0, b0) s() m(1, a1, b1) s() m(2, a2, b2) s() m(3, a3, b3) s() m(4, a4, b4) s() m(5, a5, b5)
#define WAYMARK_PAIRS_14(m, s, a0, b0, a1, b1, a2, b2, a3, b3, a4, b4, a5, b5, a6, b6) m(0, a0, b0) s() m(1, a1, b1) s() m(2, a2, b2) s() m(3, a3, b3) s() m(4, a4, b4) s() m(5, a5, b5) s() m(6, a6, b6)
#define WAYMARK_PAIRS_16(m, s, a0, b0, a1, b1, a2, b2, a3, b3, a4, b4, a5, b5, a6, b6, a7, b7) m(0, a0, b0) s() m(1, a1, b1) s() m(2, a2, b2) s() m(3, a3, b3) s() m(4, a4, b4) s() m(5, a5, b5) s() m(6, a6, b6) s() m(7, a7, b7)
#define WAYMARK_PAIRS_18(m, s, a0, b0, a1, b1, a2, b2, a3, b3, a4, b4, a5, b5, a6, b6, a7, b7, a8, b8) m(0, a0, b0) s() m(1, a1, b1) s() m(2, a2, b2) s() m(3, a3, b3) s() m(4, a4, b4) s() m(5, a5, b5) s() m(6, a6, b6) s() m(7, a7, b7) s() m(8, a8, b8)
#define WAYMARK_PAIRS_20(m, s, a0, b0, a1, b1, a2, b2, a3, b3, a4, b4, a5, b5, a6, b6, a7, b7, a8, b8, a9, b9) m(0, a0, b0) s() m(1, a1, b1) s() m(2, a2, b2) s() m(3, a3, b3) s() m(4, a4, b4) s() m(5, a5, b5) s() m(6, a6, b6) s() m(7, a7, b7) s() m(8, a8, b8) s() m(9, a9, b9)
#define WAYMARK_PAIRS_22(m, s, a0, b0, a1, b1, a2, b2, a3, b3, a4, b4, a5, b5, a6, b6, a7, b7, a8, b8, a9, b9, a10, b10) m(0, a0, b0) s() m(1, a1, b1) s() m(2, a2, b2) s() m(3, a3, b3) s() m(4, a4, b4) s() m(5, a5, b5) s() m(6, a6, b6) s() m(7, a7, b7) s() m(8, a8, b8) s() m(9, a9, b9) s() m(10, a10, b10)
#define WAYMARK_PAIRS_24(m, s, a0, b0, a1, b1, a2, b2, a3, b3, a4, b4, a5, b5, a6, b6, a7, b7, a8, b8, a9, b9, a10, b10, a11, b11) m(0, a0, b0) s() m(1, a1, b1) s() m(2, a2, b2) s() m(3, a3, b3) s() m(4, a4, b4) s() m(5, a5, b5) s() m(6, a6, b6) s() m(7, a7, b7) s() m(8, a8, b8) s() m(9, a9, b9) s() m(10, a10, b10) s() m(11, a11, b11)
#define WAYMARK_PAIRS_26(m, s, a0, b0, a1, b1, a2, b2, a3, b3, a4, b4, a5, b5, a6, b6, a7, b7, a8, b8, a9, b9, a10, b10, a11, b11, a12, b12) m(0, a0, b0) s() m(1, a1, b1) s() m(2, a2, b2) s() m(3, a3, b3) s() m(4, a4, b4) s() m(5, a5, b5) s() m(6, a6, b6) s() m(7, a7, b7) s() m(8, a8, b8) s() m(9, a9, b9) s() m(10, a10, b10) s() m(11, a11, b11) s() m(12, a12, b12)
#define WAYMARK_PAIRS_28(m, s, a0, b0, a1, b1, a2, b2, a3, b3, a4, b4, a5, b5, a6, b6, a7, b7, a8, b8, a9, b9, a10, b10, a11, b11, a12, b12, a13, b13) m(0, a0, b0) s() m(1, a1, b1) s() m(2, a2, b2) s() m(3, a3, b3) s() m(4, a4, b4) s() m(5, a5, b5) s() m(6, a6, b6) s() m(7, a7, b7) s() m(8, a8, b8) s() m(9, a9, b9) s() m(10, a10, b10) s() m(11, a11, b11) s() m(12, a12, b12) s() m(13, a13, b13)
#define WAYMARK_PAIRS_30(m, s, a0, b0, a1, b1, a2, b2, a3, b3, a4, b4, a5, b5, a6, b6, a7, b7, a8, b8, a9, b9, a10, b10, a11, b11, a12, b12, a13, b13, a14, b14) m(0, a0, b0) s() m(1, a1, b1) s() m(2, a2, b2) s() m(3, a3, b3) s() m(4, a4, b4) s() m(5, a5, b5) s() m(6, a6, b6) s() m(7, a7, b7) s() m(8, a8, b8) s() m(9, a9, b9) s() m(10, a10, b10) s() m(11, a11, b11) s() m(12, a12, b12) s() m(13, a13, b13) s() m(14, a14, b14)
#define WAYMARK_PAIRS_32(m, s, a0, b0, a1, b1, a2, b2, a3, b3, a4, b4, a5, b5, a6, b6, a7, b7, a8, b8, a9, b9, a10, b10, a11, b11, a12, b12, a13, b13, a14, b14, a15, b15) m(0, a0, b0) s() m(1, a1, b1) s() m(2, a2, b2) s() m(3, a3, b3) s() m(4, a4, b4) s() m(5, a5, b5) s() m(6, a6, b6) s() m(7, a7, b7) s() m(8, a8, b8) s() m(9, a9, b9) s() m(10, a10, b10) s() m(11, a11, b11) s() m(12, a12, b12) s() m(13, a13, b13) s() m(14, a14, b14) s() m(15, a15, b15)

#endif
