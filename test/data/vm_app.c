/* SPDX-License-Identifier: MIT */
/*
 * vm_app.c - vm_app HOW [N]: emits N orders and then ends as HOW states: exit (with status 42),
 * kill, fork (a child emits 50 more orders), run (one order per millisecond until it is killed).
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <waymark/tracepoint.h>
WAYMARK_EVENT(shop, order, WAYMARK_ARGS(int, id), WAYMARK_FIELDS((i32, id, id)));
static void orders(int n)
{
	for (int i = 0; i < n; i++)
		trace_event(shop, order, i);
}
int main(int argc, char **argv)
{
	const char *how = argv[1];
	orders(argc > 2 ? atoi(argv[2]) : 0);
	void *volatile some = malloc(4321);
	free(some);
	if (!strcmp(how, "exit"))
		return 42;
	if (!strcmp(how, "kill"))
		raise(SIGKILL);
	if (!strcmp(how, "fork") && fork() == 0) {
		orders(50);
		_exit(0);
	}
	if (!strcmp(how, "fork"))
		wait(NULL);
	if (!strcmp(how, "run")) {
		(void)!write(1, "ready\n", 6);
		for (;;) {
			orders(1);
			usleep(1000);
		}
	}
	return 0;
}
