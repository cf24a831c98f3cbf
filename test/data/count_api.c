/* SPDX-License-Identifier: MIT */
/*
 * count_api.c - counts events by <waymark/record.h>:
 *
 * count_api EVENT,... FILTER COMMAND... counts a command; FILTER "" means no filter.
 *
 * count_api EVENT,... FILTER -p PID READY DONE (or -t TID) counts a running process or thread: it
 * creates the file READY and counts until the file DONE exists.
 *
 * Prints a line for each counter, and one for each of its threads.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <waymark/record.h>

static void say(const char *sentence, void *data)
{
	(void)data;
	fprintf(stderr, "%s\n", sentence);
}

static void until_done(struct waymark_counters *c, const char *ready, const char *done)
{
	const struct timespec while_it_runs = {0, 20000000};
	FILE *f = fopen(ready, "w");

	if (!f || fclose(f))
		perror(ready);
	while (access(done, F_OK)) {
		(void)nanosleep(&while_it_runs, NULL);
		waymark_count_read(c);
	}
}

static void print(struct waymark_counters *c)
{
	struct waymark_counter one = WAYMARK_INIT(one);
	int32_t tid;

	for (unsigned i = 0; waymark_counter(c, i, &one) == 0; i++) {
		printf("%s %" PRIu64 "%s%s\n", one.name, one.value, one.err ? " " : "",
		       one.err ? one.why : "");
		for (unsigned k = 0; waymark_counter_thread(c, i, k, &tid, &one) == 0; k++)
			printf("  %" PRIi32 " %" PRIu64 "\n", tid, one.value);
	}
}

int main(int argc, char **argv)
{
	struct waymark_count_options o = WAYMARK_INIT(o);
	const char *events[64], *filters[64];
	struct waymark_counters *c;
	struct waymark_error error = WAYMARK_INIT(error);
	int32_t id;
	int status = 0, running;

	if (argc < 4)
		return 2;
	running = argc == 7 && (!strcmp(argv[3], "-p") || !strcmp(argv[3], "-t"));
	for (char *e = strtok(argv[1], ","); e && o.nr_events < 64; e = strtok(NULL, ",")) {
		filters[o.nr_events] = *argv[2] ? argv[2] : NULL;
		events[o.nr_events++] = e;
	}
	o.events = events;
	o.filters = filters;
	o.say = say;
	id = running ? atoi(argv[4]) : 0;
	if (running && argv[3][1] == 'p')
		o.pids = &id, o.nr_pids = 1;
	else if (running)
		o.tids = &id, o.nr_tids = 1;
	else
		o.command = (const char *const *)argv + 3;
	if (waymark_count(&o, &c, &error))
		return fprintf(stderr, "%u: %s\n", error.column, error.text), 1;
	if (running)
		until_done(c, argv[5], argv[6]);
	else
		while (waymark_count_wait(c, -1, &status) == 0)
			;
	waymark_count_read(c);
	print(c);
	waymark_count_close(c);
	return status != 0;
}
