/* SPDX-License-Identifier: MIT */
/* trigger.c - attaches an action to an event of the kernel: trigger TRIGGER FOLDER COMMAND...
 * 'kmem:kmalloc:hist:keys=bytes_req' writes a histogram to FOLDER/kernel, and
 * 'sched:sched_switch:stacktrace' records the kernel's stack. */
#include <stdio.h>
#include <waymark/record.h>

int main(int argc, char **argv)
{
	struct waymark_record_options options = WAYMARK_INIT(options);
	struct waymark_recording *recording;
	struct waymark_error error = WAYMARK_INIT(error);

	if (argc < 4)
		return fprintf(stderr, "usage: trigger TRIGGER FOLDER COMMAND...\n"), 2;
	options.folder = argv[2];
	options.command = (const char *const *)argv + 3;
	if (waymark_record(&options, &recording, &error) ||
	    waymark_record_trigger(recording, argv[1], &error) ||
	    waymark_record_start(recording, &error) ||
	    waymark_record_wait(recording, -1, &error) < 0)
		return fprintf(stderr, "%s\n", error.text), 1;
	waymark_record_close(recording);
	return 0;
}
