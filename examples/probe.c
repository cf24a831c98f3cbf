/* SPDX-License-Identifier: MIT */
/*
 * probe.c - a program with a callback for its own event. The callback gets the
 * C arguments with their full types, here a pointer to a struct of which the
 * trace has two members. While no callback is connected, the mark costs one
 * instruction.
 */
#include <stdio.h>

#include <waymark/tracepoint.h>

struct order {
	unsigned id;
	const char *customer;
	double price; /* not recorded, but the callback reads it */
};

WAYMARK_EVENT(shop, order, WAYMARK_ARGS(const struct order *, o),
	      WAYMARK_FIELDS((u32, id, o->id), (str, customer, o->customer)));

struct total {
	unsigned orders;
	double price;
};

static void add_up(void *private_data, const struct order *o)
{
	struct total *total = private_data;

	total->orders++;
	total->price += o->price;
}

static void take(unsigned id, const char *customer, double price)
{
	struct order o = {id, customer, price};

	trace_event(shop, order, &o);
}

int main(void)
{
	struct total total = {0, 0};

	take(1, "anna", 3);
	if (waymark_probe_register(shop, order, add_up, &total) < 0) {
		fputs("probe: libwaymark-rt is not loaded\n", stderr);
		return 1;
	}
	take(2, "ben", 10.5);
	take(3, "carla", 4.25);
	waymark_probe_unregister(shop, order, add_up, &total);
	waymark_synchronize(); /* after this call no thread runs add_up() any more */
	take(4, "david", 99);
	printf("%u orders, %.2f\n", total.orders, total.price);
	return 0;
}
