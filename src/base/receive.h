/* SPDX-License-Identifier: MIT */
/*
 * receive.h - receives packets from a UNIX socket, including the last ones of a peer that has
 * closed it.
 *
 * When a peer closes with packets unread, Linux reports ECONNRESET to the receiver once, ahead of
 * the packets that the peer had sent. A reader that stops there loses the last packets of a process
 * that exited normally, so these two functions continue reading. Both retry EINTR.
 */
#ifndef WM_BASE_RECEIVE_H
#define WM_BASE_RECEIVE_H

#include <sys/socket.h>
#include <sys/types.h>

/*
 * Like recvmsg(2). Returns the number of bytes received, 0 when the peer has closed the socket and
 * all packets have been read, or -errno.
 */
ssize_t wm_receive_message(int fd, struct msghdr *message, int flags);

/* Like recv(2), with the same results. */
ssize_t wm_receive(int fd, void *data, size_t bytes, int flags);

#endif
