/* SPDX-License-Identifier: MIT */
/*
 * hello.c - the smallest example: declare an event, emit it, record it.
 *
 *   waymark record -o /tmp/hello -- ./hello
 *   waymark print /tmp/hello
 */
#include <stdio.h>

#include <waymark/tracepoint.h>

enum mood { CALM, GLAD };

WAYMARK_EVENT(hello, greeting, WAYMARK_ARGS(const char *, who, int, times, enum mood, mood),
	      WAYMARK_FIELDS((str, who, who), (i32, times, times),
			     (enumeration, mood, u8, mood, ("calm", CALM), ("glad", GLAD))));

int main(int argc, char **argv)
{
	const char *who = argc > 1 ? argv[1] : "world";

	for (int times = 1; times <= 3; times++) {
		trace_event(hello, greeting, who, times, times == 3 ? GLAD : CALM);
		printf("hello, %s\n", who);
	}
	return 0;
}
