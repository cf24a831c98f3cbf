/* SPDX-License-Identifier: MIT */
/*
 * printf.h - a marker without a name, for quick debugging:
 *
 *   trace_printf("here with %d of %s", n, name);
 *
 * It is a marker (mark.h) named `printf` that is described by its format: no text is formatted
 * while the program runs; the raw arguments are recorded and tools render them. So it costs as much
 * as any event with these fields: about fifteen nanoseconds, a twentieth of a write(2) of the text
 * to a file. A dormant one is one instruction. The format must be a string literal and is checked
 * by the compiler; every place is a separate event, identified by its format. Enable all of them
 * with the glob 'PROVIDER:printf' or '*:printf'. The rules for arguments in mark.h apply here, too.
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
