/* SPDX-License-Identifier: MIT */
/*
 * signals.h - signals that end a program, and whether whoever started us wants
 * them to: what is ignored from the start (nohup, background commands of a shell)
 * is left so. Who blocks a signal or reads it from a descriptor asks here first,
 * for the kernel hands out blocked signals whether they are ignored or not.
 */
#ifndef WM_BASE_SIGNALS_H
#define WM_BASE_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

bool wm_signal_is_ignored(int signo);

/* Of SIGINT, SIGTERM and SIGHUP those that are not ignored. */
void wm_signals_that_end(sigset_t *ret);

#endif
