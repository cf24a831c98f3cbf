/* SPDX-License-Identifier: MIT */
/* list.c - prints the events that match a name, and their fields: cc list.c $(pkg-config --cflags
 * --libs waymark) */
#include <stdio.h>
#include <waymark/list.h>

int main(int argc, char **argv)
{
	struct waymark_list_options options = WAYMARK_INIT(options);
	struct waymark_listed_field field = WAYMARK_INIT(field);
	struct waymark_listed event = WAYMARK_INIT(event);
	struct waymark_error error = WAYMARK_INIT(error);
	struct waymark_list *list;

	options.events = argv[1]; /* NULL: all */
	if (argc > 2 || waymark_list(&options, &list, &error))
		return fprintf(stderr, "%s\n", argc > 2 ? "usage: list [NAME]" : error.text), 1;
	for (unsigned i = 0; waymark_listed(list, i, &event) == 0; i++) {
		printf("%s (%s)\n", event.name, event.kind);
		for (unsigned k = 0; argc == 2 && !waymark_listed_field(list, i, k, &field); k++)
			printf("  %s %s\n", field.type, field.name);
	}
	waymark_list_close(list);
	return 0;
}
