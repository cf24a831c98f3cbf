/* SPDX-License-Identifier: MIT */
/* emit_peer.c - the loops of emit_ours.c over LTTng-UST's tracepoints. */
#include <stdint.h>

#include <lttng/tracef.h>

#include "emit.h"
#include "lttng/provider.h"

const bool emit_have_peer = true;

EMIT_LOOP(peer_2int, lttng_ust_tracepoint(bench, on_2int, (int)i, (int)(2 * i)))
EMIT_LOOP(peer_4mixed,
	  lttng_ust_tracepoint(bench, on_4mixed, (int)i, (long)i * 3, emit_text, (double)i * 0.5))
EMIT_LOOP(peer_filtered, lttng_ust_tracepoint(bench, filtered, (int)i, (int)(2 * i)))

#define SITE(m) lttng_ust_tracepoint(bench, on_m##m, (int)i, (int)(2 * i));
EMIT_LOOP(peer_64sites, EMIT_64(SITE) i += 63)

#define DORMANT(m)                                                                                 \
	lttng_ust_tracepoint(bench, off_2int, (int)i, (int)(2 * i));                               \
	EMIT_WORK(i);
EMIT_LOOP(peer_dormant, EMIT_64(DORMANT) i += 63)

EMIT_LOOP(peer_printf, lttng_ust_tracef("request %d took %d us\n", (int)i + 1234567, 42))

bool peer_on(void)
{
	return lttng_ust_tracepoint_enabled(bench, on_2int);
}
