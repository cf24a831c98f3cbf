/* SPDX-License-Identifier: MIT */
/*
 * arguments.c - prints the values that a probe fetches, live: arguments PROBE COMMAND... PROBE is a
 * function, a USDT probe or another place, with the values to fetch: 'uprobe:./app:work(n=%di:s32)'
 */
#include <inttypes.h>
#include <stdio.h>
#include <waymark/record.h>

static void print_value(const struct waymark_value *value)
{
	printf(" %s=", waymark_field_name(value->field));
	switch (waymark_field_kind(value->field)) {
	case WAYMARK_UNSIGNED:
		printf("%" PRIu64, value->u);
		break;
	case WAYMARK_SIGNED:
		printf("%" PRId64, value->s);
		break;
	case WAYMARK_FLOAT:
		printf("%g", value->f);
		break;
	case WAYMARK_TEXT:
		printf("\"%.*s\"", (int)value->count, value->text);
		break;
	default:
		printf("?");
	}
}

int main(int argc, char **argv)
{
	struct waymark_record_options options = WAYMARK_INIT(options);
	struct waymark_recording *recording;
	const struct waymark_event *event;
	struct waymark_error error = WAYMARK_INIT(error);
	unsigned i;

	if (argc < 3)
		return fprintf(stderr, "usage: arguments PROBE COMMAND...\n"), 2;
	options.command = (const char *const *)argv + 2;
	if (waymark_record(&options, &recording, &error) ||
	    waymark_record_event(recording, argv[1], NULL, &error) ||
	    waymark_record_start(recording, &error))
		return fprintf(stderr, "%s\n", error.text), 1;
	while (waymark_record_next(recording, -1, &event, &error) == 1) {
		printf("%s", waymark_type_name(event->type));
		for (i = event->parts[WAYMARK_FIELDS].begin; i < event->parts[WAYMARK_FIELDS].end;
		     i = event->values[i].next)
			print_value(&event->values[i]);
		printf("\n");
	}
	waymark_record_close(recording);
	return 0;
}
