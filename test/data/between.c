/* SPDX-License-Identifier: MIT */
/* between.c N FILE - N times: emits an event, writes four bytes to FILE, emits another event. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include <waymark/tracepoint.h>

WAYMARK_EVENT(app, before, WAYMARK_ARGS(int, n), WAYMARK_FIELDS((i32, n, n)));
WAYMARK_EVENT(app, after, WAYMARK_ARGS(int, n), WAYMARK_FIELDS((i32, n, n)));

int main(int argc, char **argv)
{
	int fd = open(argv[2], O_WRONLY);

	for (int i = 0; i < atoi(argv[1]); i++) {
		trace_event(app, before, i);
		if (write(fd, "mark", 4) != 4)
			return 1;
		trace_event(app, after, i);
	}
	return argc != 3;
}
