/* SPDX-License-Identifier: MIT */
/*
 * receive.h - packets of a UNIX socket, up to the last one its peer sent.
 *
 * Linux tells who receives that the connection was reset as soon as a peer closes with packets
 * unread, and tells it once and first: before what that peer had sent. A reader that gives up
 * there loses the last words of a process that did end in order, so these two read on.
 * Both retry EINTR.
 */
#ifndef WM_BASE_RECEIVE_H
#define WM_BASE_RECEIVE_H

#include <sys/socket.h>
#include <sys/types.h>

/* As recvmsg(2): what was received, 0 when the peer is gone and all it sent is read, -errno. */
ssize_t wm_receive_message(int fd, struct msghdr *message, int flags);

/* As recv(2), the same. */
ssize_t wm_receive(int fd, void *data, size_t bytes, int flags);

#endif
