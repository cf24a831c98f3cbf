/* SPDX-License-Identifier: MIT */
/* bank.h - the library's interface; its users need not know that it is marked. */
#ifndef BANK_H
#define BANK_H

/* Moves money; the balance afterwards, or -1 when there is too little. */
__attribute__((visibility("default"))) long bank_move(const char *account, long amount);

#endif
