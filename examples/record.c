/* SPDX-License-Identifier: MIT */
/* record.c - records a command to a folder and prints the number of events and the losses: record
 * EVENTS FOLDER COMMAND... Read the trace with waymark print or <waymark/read.h>. */
#include <inttypes.h>
#include <stdio.h>
#include <waymark/record.h>

static void say(const char *sentence, void *data)
{
	fprintf(data, "%s\n", sentence);
}

int main(int argc, char **argv)
{
	struct waymark_record_options options = WAYMARK_INIT(options);
	struct waymark_recording *recording;
	struct waymark_totals totals = WAYMARK_INIT(totals);
	struct waymark_error error = WAYMARK_INIT(error);
	struct waymark_loss loss = WAYMARK_INIT(loss);

	if (argc < 4)
		return fprintf(stderr, "usage: record EVENTS FOLDER COMMAND...\n"), 2;
	options.folder = argv[2];
	options.command = (const char *const *)argv + 3;
	options.say = say;
	options.data = stderr;
	if (waymark_record(&options, &recording, &error) ||
	    waymark_record_event(recording, argv[1], NULL, &error) ||
	    waymark_record_start(recording, &error) ||
	    waymark_record_wait(recording, -1, &error) < 0)
		return fprintf(stderr, "%s\n", error.text), 1;
	waymark_record_totals(recording, &totals);
	printf("%" PRIu64 " events, %" PRIu64 " lost\n", totals.events, totals.lost);
	for (unsigned i = 0; waymark_record_loss(recording, i, &loss) == 0; i++)
		if (loss.count)
			printf("  %s: %" PRIu64 "\n", loss.cause, loss.count);
	waymark_record_close(recording);
	return 0;
}
