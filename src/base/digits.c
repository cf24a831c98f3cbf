/* SPDX-License-Identifier: MIT */
/* digits.c - the tables of digits.h. */
#include "base/digits.h"

#define ROW(d) d, '0', d, '1', d, '2', d, '3', d, '4', d, '5', d, '6', d, '7', d, '8', d, '9'

const char wm_digit_pairs[200] = {ROW('0'), ROW('1'), ROW('2'), ROW('3'), ROW('4'),
				  ROW('5'), ROW('6'), ROW('7'), ROW('8'), ROW('9')};

/* The least numbers of 1, 2, 3... digits. */
const uint64_t wm_digit_powers[20] = {1,
				      10,
				      100,
				      1000,
				      10000,
				      100000,
				      1000000,
				      10000000,
				      100000000,
				      1000000000,
				      10000000000,
				      100000000000,
				      1000000000000,
				      10000000000000,
				      100000000000000,
				      1000000000000000,
				      10000000000000000,
				      100000000000000000,
				      1000000000000000000,
				      10000000000000000000u};
