/* SPDX-License-Identifier: MIT */
/*
 * change.c - changes the events of a running recording: change FIRST THEN COMMAND... It records
 * FIRST until an event arrives, from then on THEN instead, and prints all events.
 */
#include <stdio.h>
#include <waymark/record.h>

int main(int argc, char **argv)
{
	struct waymark_record_options options = WAYMARK_INIT(options);
	struct waymark_recording *recording;
	const struct waymark_event *event;
	struct waymark_error error = WAYMARK_INIT(error);
	int changed = 0;

	if (argc < 4)
		return fprintf(stderr, "usage: change FIRST THEN COMMAND...\n"), 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	options.command = (const char *const *)argv + 3;
	if (waymark_record(&options, &recording, &error) ||
	    waymark_record_event(recording, argv[1], NULL, &error) ||
	    waymark_record_start(recording, &error))
		return fprintf(stderr, "%s\n", error.text), 1;
	while (waymark_record_next(recording, -1, &event, &error) == 1) {
		printf("%s\n", waymark_type_name(event->type));
		if (!changed++ && (waymark_record_event(recording, argv[2], NULL, &error) ||
				   waymark_record_exclude(recording, argv[1], &error)))
			fprintf(stderr, "%s\n", error.text);
	}
	waymark_record_close(recording);
	return 0;
}
