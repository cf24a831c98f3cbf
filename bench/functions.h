/* SPDX-License-Identifier: MIT */
/* functions.h - ALL(X): X(0000) to X(0777), for programs of 512 alike functions. */
#ifndef BENCH_FUNCTIONS_H
#define BENCH_FUNCTIONS_H

#define EIGHT(X, n) X(n##0) X(n##1) X(n##2) X(n##3) X(n##4) X(n##5) X(n##6) X(n##7)
#define EIGHTS(X, n)                                                                               \
	EIGHT(X, n##0)                                                                             \
	EIGHT(X, n##1)                                                                             \
	EIGHT(X, n##2) EIGHT(X, n##3) EIGHT(X, n##4) EIGHT(X, n##5) EIGHT(X, n##6) EIGHT(X, n##7)
#define ALL(X)                                                                                     \
	EIGHTS(X, 00)                                                                              \
	EIGHTS(X, 01)                                                                              \
	EIGHTS(X, 02) EIGHTS(X, 03) EIGHTS(X, 04) EIGHTS(X, 05) EIGHTS(X, 06) EIGHTS(X, 07)

#endif
