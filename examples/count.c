/* SPDX-License-Identifier: MIT */
/* count.c - counts events of a command: count EVENT[,EVENT...] COMMAND... */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <waymark/record.h>

int main(int argc, char **argv)
{
	const char *events[64], *const *command = (const char *const *)argv + 2;
	struct waymark_count_options options = {
	    .size = sizeof(options), .events = events, .command = command};
	struct waymark_counters *counters;
	struct waymark_counter c = WAYMARK_INIT(c);
	struct waymark_error error = WAYMARK_INIT(error);
	int status;

	for (char *e = argc > 2 ? strtok(argv[1], ",") : NULL; e; e = strtok(NULL, ","))
		if (options.nr_events < 64)
			events[options.nr_events++] = e;
	if (argc < 3 || waymark_count(&options, &counters, &error))
		return fprintf(stderr, "%s\n",
			       argc < 3 ? "usage: count EVENT[,EVENT...] COMMAND..." : error.text),
		       1;
	while (waymark_count_wait(counters, -1, &status) == 0)
		;
	waymark_count_read(counters);
	for (unsigned i = 0; waymark_counter(counters, i, &c) == 0; i++)
		printf("%s %" PRIu64 "%s%s\n", c.name, c.value, c.err ? ": " : "",
		       c.err ? c.why : "");
	waymark_count_close(counters);
}
