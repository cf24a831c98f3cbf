/* SPDX-License-Identifier: MIT */
/*
 * customer.c - uses the library; it has no marks of its own.
 *
 *   waymark list ./customer ./libbank.so
 *   waymark record -e bank:refused -o /tmp/bank -- ./customer
 */
#include <stdio.h>

#include "bank.h"

int main(void)
{
	printf("%ld\n", bank_move("anna", 100));
	printf("%ld\n", bank_move("anna", -30));
	printf("%ld\n", bank_move("anna", -500));
	return 0;
}
