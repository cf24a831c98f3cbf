/* SPDX-License-Identifier: MIT */
/*
 * bank.c - a shared library with events of its own. Its constructor registers
 * the sites when it is loaded, at the start or by dlopen().
 */
#include "bank.h"

#include <waymark/tracepoint.h>

WAYMARK_EVENT(bank, moved, WAYMARK_ARGS(const char *, account, long, amount, long, balance),
	      WAYMARK_FIELDS((str, account, account), (i64, amount, amount),
			     (i64, balance, balance)));
WAYMARK_EVENT(bank, refused, WAYMARK_ARGS(const char *, account, long, amount),
	      WAYMARK_FIELDS((str, account, account), (i64, amount, amount)),
	      WAYMARK_LEVEL(WARNING));

static long balance;

long bank_move(const char *account, long amount)
{
	if (balance + amount < 0) {
		trace_event(bank, refused, account, amount);
		return -1;
	}
	balance += amount;
	trace_event(bank, moved, account, amount, balance);
	return balance;
}
