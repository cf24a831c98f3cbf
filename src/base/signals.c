/* SPDX-License-Identifier: MIT */
/* signals.c - see signals.h. */
#include "base/signals.h"

#include <stddef.h>

bool wm_signal_is_ignored(int signo)
{
	struct sigaction now;

	return sigaction(signo, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

void wm_signals_that_end(sigset_t *ret)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

	(void)sigemptyset(ret);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (!wm_signal_is_ignored(signals[i]))
			(void)sigaddset(ret, signals[i]);
}
