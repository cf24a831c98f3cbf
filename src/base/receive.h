/* SPDX-License-Identifier: MIT */
/*
 * receive.h - receives packets from a UNIX socket, up to the last one its peer sent.
 *
 * When a peer closes with packets unread, Linux reports ECONNRESET to the receiver once, ahead of
 * the packets that the peer had sent. A reader that stops there loses the last packets of a process
 * that exited normally, so these two functions continue reading. Both retry EINTR.
 */
#ifndef WM_BASE_RECEIVE_H
#define WM_BASE_RECEIVE_H

#include <sys/socket.h>
#include <sys/types.h>

/* As recvmsg(2): the bytes received, 0 when the peer closed and all packets are read, or -errno. */
ssize_t wm_receive_message(int fd, struct msghdr *message, int flags);

/* The same, as recv(2). */
ssize_t wm_receive(int fd, void *data, size_t bytes, int flags);

#endif
