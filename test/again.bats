#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# again.bats - tests a process that is attached to repeatedly: each recording and each count has all
# its events, of every kind, from the first one on.

bats_require_minimum_version 1.5.0
load wait

setup_file() {
	export W="$BATS_FILE_TMPDIR" BATS_TEST_TIMEOUT=300
	# Each line that it reads makes it emit ten events of the kind named by the first letter.
	# Other letters: c connects a callback to shop:order; w stores what a tool stores that
	# enables the sites late, after the request was handled.
	cat >"$W/app.c" <<-'EOC'
	#include <stdio.h>
	#define WAYMARK_PROVIDER app
	#include <waymark/tracepoint.h>
	WAYMARK_EVENT(shop, order, WAYMARK_ARGS(int, id), WAYMARK_FIELDS((i32, id, id)));
	extern const struct waymark_site __start_waymark_sites[], __stop_waymark_sites[];
	static int called;
	static void callback(void *data, int id)
	{
		called++;
	}
	static void write_words(void)
	{
		for (const struct waymark_site *s = __start_waymark_sites; s < __stop_waymark_sites; s++) {
			struct waymark_event_state *e = (void *)((char *)&s->event + s->event);
			*(volatile uint64_t *)&e->word = WAYMARK_WORD_COMPLEX | WAYMARK_WORD_RECORD;
		}
	}
	static void one(char kind, int i)
	{
		if (kind == 'c') {
			if (i == 0)
				waymark_probe_register(shop, order, callback, NULL);
		} else if (kind == 'w') {
			write_words();
		} else if (kind == 's') {
			trace_span(work, (i32, i, i));
		} else if (kind == 'm') {
			trace_mark(app_mark, "i %d", i);
		} else if (kind == 'p') {
			trace_printf("i %d", i);
		} else {
			trace_event(shop, order, i);
		}
	}
	int main(void)
	{
		char line[16];
		setvbuf(stdout, NULL, _IOLBF, 0);
		puts("ready");
		for (int nr = 0; fgets(line, sizeof(line), stdin); printf("did %d\n", ++nr))
			for (int i = 0; i < 10; i++)
				one(line[0], i);
		printf("called %d\n", called);
		return 0;
	}
	EOC
	cc -O2 -I"$WAYMARK_SOURCE/include" "$W/app.c" -o "$W/app" -L"$WAYMARK_BUILD" \
		-Wl,--no-as-needed -l:libwaymark-rt.so.0 -Wl,-rpath,"$WAYMARK_BUILD"
}

setup() {
	PATH="$WAYMARK_BUILD:$PATH"
	cd "$BATS_TEST_TMPDIR"
	mkfifo orders
	: >orders_sent
	"$W/app" <orders >out 3>&- &
	app=$!
	exec 7>orders
	until_true grep -qx ready out # wait, because a recorder that attaches before the exec would find bash
}

teardown() {
	cat err err[0-9] 2>/dev/null || true
	exec 7>&- || true
	kill -9 "$app" ${tool:+"$tool"} 2>/dev/null || true
}

# Sends an order. They are counted in a file, because recorded() runs in a subshell.
order() { # KIND
	echo "$1" | tee -a orders_sent >&7
}

ten() { # KIND
	order "$1"
	until_true grep -qx "did $(wc -l <orders_sent)" out
}

# The runtime's agent ends with the last recorder. While it runs, a process joins without a message.
has_one_thread() {
	[ "$(ls "/proc/$app/task" | wc -l)" -eq 1 ]
}

# start DIR: starts to record the process in the background. All sites are enabled when the command
# reports that the process has not joined.
start() {
	until_true has_one_thread
	rm -rf "$1" err # a report of an earlier recording would end the wait at once
	waymark record -o "$1" -p "$app" 2>err 3>&- 7>&- &
	tool=$!
	until_true is_asked
}

is_asked() {
	grep -q "process $app has not joined yet: it joins when" err
}

# recorded KIND: prints how many of ten events are in the trace of a recording that starts with them
recorded() {
	start t
	ten "$1"
	kill -INT "$tool"
	wait "$tool"
	waymark print t | wc -l
}

@test "a word that a tool writes after the process has joined costs no event" {
	start t
	ten e
	order w
	ten e
	ten m
	kill -INT "$tool"
	wait "$tool"
	[ "$(waymark print t | wc -l)" -eq 30 ]
}

@test "a process with a callback in it joins by that event, and goes on calling" {
	ten c
	ten e
	[ "$(recorded e)" -eq 10 ]
	exec 7>&-
	until_true grep -qx "called 20" out
}

# The event's plan for two recorders is freed when one of them leaves.
@test "a stopped process survives that recorders come and go" {
	start one
	ten e
	waymark record -q -o two -p "$app" -- \
		sh -c 'echo e | tee -a orders_sent >&7; until grep -qx "did 2" out; do sleep 0.05; done' 3>&-
	kill -STOP "$app"
	waymark record -q -o three -p "$app" -- true 3>&- 7>&-
	kill -CONT "$app"
	ten e
	kill -INT "$tool"
	wait "$tool"
	[ "$(waymark print one | wc -l)" -eq 30 ]
	[ "$(waymark print two | wc -l)" -eq 10 ]
}

@test "recorded repeatedly, each kind of event is in the trace from the first one" {
	[ "$(recorded e)" -eq 10 ]
	[ "$(recorded e)" -eq 10 ]
	[ "$(recorded m)" -eq 10 ]
	[ "$(recorded p)" -eq 10 ]
	[ "$(recorded s)" -eq 20 ] # begin and end
}

@test "several recorders wait for an idle process, and each gets its events" {
	local i tools=()
	for i in 1 2 3; do
		waymark record -o "t$i" -p "$app" 2>"err$i" 3>&- 7>&- &
		tools[i]=$!
	done
	for i in 1 2 3; do
		until_true grep -q "process $app has not joined yet" "err$i"
	done
	waymark record -q -o all -a -e syscall:getppid -- true 3>&- 7>&- # needs no program
	ten e
	for i in 1 2 3; do
		kill -INT "${tools[i]}"
		wait "${tools[i]}"
		[ "$(waymark print "t$i" | wc -l)" -eq 10 ]
	done
}
