/* SPDX-License-Identifier: MIT */
/*
 * pumproc.h - the pump process, a child of the command that serves a session and writes its trace.
 * channel.h is the command's connection to it.
 *
 *   command                                   pump process (in its own session)
 *   wm_pumproc_start() --fork-->             creates the trace directory
 *                       <--READY or FAILED--
 *   wm_channel_order() --STOP, SNAPSHOT-->   rounds: sockets, packets
 *                       <--TROUBLE, SNAPSHOT--
 *   wm_channel_look() --LOOK-->              live: everything recorded by now is written
 *                       <--LOOKED--
 *                       <--DONE--             last packets, directory closed
 *
 * The pump process prints nothing and inherits only the command's descriptors that it needs.
 */
#ifndef WM_CONTROL_PUMP_PUMPROC_H
#define WM_CONTROL_PUMP_PUMPROC_H

#include "base/diag.h"
#include "control/pump/channel.h"
#include "control/pump/recording.h"

/*
 * Forks the pump process and waits for its first report. Returns 0, or the process's error and
 * message; it has then exited. The caller may have several threads if the C library's allocator
 * works in the child of fork(2).
 */
int wm_pumproc_start(const struct wm_recording_options *o, struct wm_channel *ret,
		     struct wm_diag *diag);

/* The pump process's main(); `channel` is its end of the pair. For wm_pumproc_start() and tests. */
int wm_pumproc_main(const struct wm_recording_options *o, int channel);

#endif
