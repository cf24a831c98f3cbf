/* SPDX-License-Identifier: MIT */
#include "base/receive.h"

#include <errno.h>
#include <stdbool.h>

ssize_t wm_receive_message(int fd, struct msghdr *message, int flags)
{
	bool was_reset = false;

	for (;;) {
		ssize_t n = recvmsg(fd, message, flags);

		if (n >= 0)
			return n;
		if (errno == ECONNRESET && !was_reset)
			was_reset = true;
		else if (errno != EINTR)
			return -errno;
	}
}

ssize_t wm_receive(int fd, void *data, size_t bytes, int flags)
{
	struct iovec part = {.iov_base = data, .iov_len = bytes};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

	return wm_receive_message(fd, &message, flags);
}
