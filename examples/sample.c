/* SPDX-License-Identifier: MIT */
/* sample.c - samples a command a thousand times per second, with call chains, to a folder for
 * waymark report and flame: sample FOLDER COMMAND... */
#include <inttypes.h>
#include <stdio.h>
#include <waymark/record.h>

int main(int argc, char **argv)
{
	struct waymark_record_options options = WAYMARK_INIT(options);
	struct waymark_record_how how = WAYMARK_INIT(how);
	struct waymark_recording *recording;
	struct waymark_totals totals = WAYMARK_INIT(totals);
	struct waymark_error error = WAYMARK_INIT(error);

	if (argc < 3)
		return fprintf(stderr, "usage: sample FOLDER COMMAND...\n"), 2;
	options.folder = argv[1];
	options.command = (const char *const *)argv + 2;
	how.frequency = 1000;
	how.chain = WAYMARK_CHAIN_FRAMES;
	if (waymark_record(&options, &recording, &error) ||
	    waymark_record_event(recording, "sw:task-clock", &how, &error) ||
	    waymark_record_start(recording, &error) ||
	    waymark_record_wait(recording, -1, &error) < 0)
		return fprintf(stderr, "%s\n", error.text), 1;
	waymark_record_totals(recording, &totals);
	printf("%" PRIu64 " samples\n", totals.samples);
	waymark_record_close(recording);
	return 0;
}
