/* SPDX-License-Identifier: MIT */
/* trace.c - prints the events of a command live: trace 'syscall:open*' ls */
#include <stdio.h>
#include <waymark/record.h>

int main(int argc, char **argv)
{
	struct waymark_record_options options = WAYMARK_INIT(options);
	struct waymark_recording *recording;
	const struct waymark_event *event;
	struct waymark_error error = WAYMARK_INIT(error);
	unsigned length;

	options.command = (const char *const *)argv + 2;
	if (argc < 3)
		return fprintf(stderr, "usage: trace EVENTS COMMAND...\n"), 2;
	if (waymark_record(&options, &recording, &error) ||
	    waymark_record_event(recording, argv[1], NULL, &error) ||
	    waymark_record_start(recording, &error))
		return fprintf(stderr, "%s\n", error.text), 1;
	while (waymark_record_next(recording, -1, &event, &error) == 1) {
		const char *comm = waymark_record_comm(recording, event, &length);
		printf("%lld %.*s %s\n", (long long)event->time_ns, (int)length, comm,
		       waymark_type_name(event->type));
	}
	waymark_record_close(recording);
	return 0;
}
