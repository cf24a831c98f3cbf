/* SPDX-License-Identifier: MIT */
/*
 * signals.h - signals that end a program, unless the parent ignored them: signals that are ignored
 * at the start (nohup, background commands of a shell) stay ignored. Check here before blocking a
 * signal or reading it from a signalfd, because a signalfd delivers ignored signals too.
 */
#ifndef WM_BASE_SIGNALS_H
#define WM_BASE_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

bool wm_signal_is_ignored(int signo);

/* The signals among SIGINT, SIGTERM and SIGHUP that are not ignored. */
void wm_signals_that_end(sigset_t *ret);

#endif
