/* SPDX-License-Identifier: MIT */
/*
 * marker.c - markers: one line like a printf, without a declaration. The program records the
 * values; readers of the trace format the text. The name of a field is the word in front of its
 * conversion: water, degrees.
 *
 *   waymark record -e 'kitchen:boil*' --filter 'degrees >= 90' -o /tmp/tea -- ./marker
 */
#include <stdio.h>

#define WAYMARK_PROVIDER kitchen /* without this, the program's name */
#include <waymark/tracepoint.h>

int main(void)
{
	const char *water = "kettle";

	for (int degrees = 20; degrees <= 100; degrees += 10)
		trace_mark(boiling, "water %s degrees %d", water, degrees);
	trace_mark(tea_ready, "cups %d, %f litres", 2, 0.5);
	puts("tea");
	return 0;
}
