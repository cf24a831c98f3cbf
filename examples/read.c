/* SPDX-License-Identifier: MIT */
/* read.c - prints time, thread name and event of any trace: cc read.c $(pkg-config --cflags --libs
 * waymark) */
#include <stdio.h>
#include <waymark/read.h>

int main(int argc, char **argv)
{
	struct waymark_error error = WAYMARK_INIT(error);
	struct waymark_trace *trace;
	struct waymark_reader *reader;
	const struct waymark_event *event;
	unsigned length;

	if (argc != 2 || waymark_open(argv[1], &trace, &error) ||
	    waymark_read(trace, NULL, &reader, &error))
		return fprintf(stderr, "%s\n", argc == 2 ? error.text : "usage: read TRACE"), 1;
	while (waymark_next(reader, &event) == 1) {
		const char *comm = waymark_comm(reader, event, &length);

		printf("%lld %.*s %s\n", (long long)event->time_ns, (int)length, comm,
		       waymark_type_name(event->type));
	}
	waymark_reader_close(reader);
	waymark_close(trace);
	return 0;
}
