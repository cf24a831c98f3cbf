/* SPDX-License-Identifier: MIT */
/*
 * printf.h - for the hurried:
 *
 *   trace_printf("here with %d of %s", n, name);
 *
 * It is a marker (mark.h) whose name is `printf` and whose format describes
 * it: nothing is formatted while the program runs; the raw arguments are
 * recorded and tools render them. So it costs what any event of these fields
 * costs, some fifteen nanoseconds, a twentieth of a write(2) of the text to a file;
 * dormant it is one instruction. The format must be a string literal and is
 * checked by the compiler; every place is an event of its own, told from the
 * others by its format. Enable them all with the glob 'PROVIDER:printf' or
 * '*:printf'. What is said of arguments in mark.h holds here, too.
 */
#ifndef WAYMARK_PRINTF_H
#define WAYMARK_PRINTF_H

#pragma GCC system_header

#include <waymark/mark.h>

#define waymark_printf(format, ...) \
	WAYMARK_MARK_AT_(WAYMARK_INFO, "printf", #__VA_ARGS__, format, ##__VA_ARGS__)

#ifndef WAYMARK_NO_SHORT_NAMES
#define trace_printf waymark_printf
#endif

#endif
