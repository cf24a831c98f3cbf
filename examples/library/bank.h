/* SPDX-License-Identifier: MIT */
/* bank.h - the library's interface, which does not depend on the marks. */
#ifndef BANK_H
#define BANK_H

/* Adds `amount` to the balance. Returns the new balance, or -1 if it would be negative. */
__attribute__((visibility("default"))) long bank_move(const char *account, long amount);

#endif
