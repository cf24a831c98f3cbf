/* SPDX-License-Identifier: MIT */
/*
 * marker.c - markers: one line like a printf, nothing to declare. What is
 * recorded are the values; the text is made by who reads the trace. Fields are
 * called after the word before the conversion: water, degrees.
 *
 *   waymark record -e 'kitchen:boil*' --filter 'degrees >= 90' -o /tmp/tea -- ./marker
 */
#include <stdio.h>

#define WAYMARK_PROVIDER kitchen /* else the program's name */
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
