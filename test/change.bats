#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# change.bats - tests waymark record --change: events are enabled, disabled and filtered again while
# a program runs, and counted exactly; also which processes must follow a change, and the message
# when one does not.

bats_require_minimum_version 1.5.0
load wait

setup_file() {
	export W="$BATS_FILE_TMPDIR" BATS_TEST_TIMEOUT=300
	# Each line that it reads makes it do one thing and report it: emit ten of each event, fork
	# a child that does the same at SIGUSR1, or load a library that has its own event.
	cat >"$W/app.c" <<-'EOC'
	#include <dlfcn.h>
	#include <signal.h>
	#include <stdio.h>
	#include <stdlib.h>
	#include <string.h>
	#include <unistd.h>
	#include <waymark/tracepoint.h>
	WAYMARK_EVENT(shop, order, WAYMARK_ARGS(int, id), WAYMARK_FIELDS((i32, id, id)));
	WAYMARK_EVENT(shop, refund, WAYMARK_ARGS(int, id), WAYMARK_FIELDS((i32, id, id)));
	WAYMARK_EVENT(stock, low, WAYMARK_ARGS(int, left), WAYMARK_FIELDS((i32, left, left)));
	static int id;
	static void ten(void)
	{
		for (int i = 0; i < 10; i++, id++) {
			trace_event(shop, order, id);
			trace_event(shop, refund, id);
			trace_event(stock, low, i);
		}
	}
	static void child(void)
	{
		sigset_t set;
		int got;
		sigemptyset(&set);
		sigaddset(&set, SIGUSR1);
		sigprocmask(SIG_BLOCK, &set, NULL);
		printf("child %d\n", (int)getpid());
		for (id = 1000;; printf("child did %d\n", id)) {
			sigwait(&set, &got);
			ten();
		}
	}
	int main(int argc, char **argv)
	{
		char line[256];
		setvbuf(stdout, NULL, _IOLBF, 0);
		printf("ready\n");
		while (fgets(line, sizeof(line), stdin)) {
			line[strcspn(line, "\n")] = 0;
			if (!strcmp(line, "fork") && fork() == 0)
				child();
			if (line[0] == '/') {
				void (*mark)(void) = (void (*)(void))dlsym(dlopen(line, RTLD_NOW), "mark");
				mark();
			}
			if (!*line)
				ten();
			printf("did %d\n", id);
		}
		return 0;
	}
	EOC
	cat >"$W/late.c" <<-'EOC'
	#include <waymark/tracepoint.h>
	WAYMARK_EVENT(late, comer, WAYMARK_ARGS(int, n), WAYMARK_FIELDS((i32, n, n)));
	void mark(void)
	{
		for (int i = 0; i < 7; i++)
			trace_event(late, comer, i);
	}
	EOC
	cc -O2 -I"$WAYMARK_SOURCE/include" "$W/app.c" -o "$W/app" -L"$WAYMARK_BUILD" \
		-Wl,--no-as-needed -l:libwaymark-rt.so.0 -Wl,-rpath,"$WAYMARK_BUILD" -ldl
	cc -O2 -shared -fPIC -I"$WAYMARK_SOURCE/include" "$W/late.c" -o "$W/late.so"
}

setup() {
	PATH="$WAYMARK_BUILD:$PATH"
	mkdir "$BATS_TEST_TMPDIR/here"
	cd "$BATS_TEST_TMPDIR/here"
	mkfifo orders
	pids=()
	nr=0
}

teardown() {
	exec 7>&- || true
	for p in "${pids[@]}"; do
		kill -9 "$p" 2>/dev/null || true
	done
}

# Starts a command that runs the program, in the background. The program reads its orders from
# descriptor 7.
begin() {
	"$@" <orders >out 2>err 3>&- &
	pid=$!
	pids+=("$pid")
	exec 7>orders
	until_true grep -q ready out
}

ten() { # makes the program emit ten of each event
	echo >&7
	nr=$((nr + 10))
	until_true grep -qx "did $nr" out
}

finish() {
	exec 7>&-
	wait "$pid"
}

count() { # DIR NAME
	waymark print "$1" | grep -c " $2: " || true
}

@test "on, off, and a new filter, counted exactly" {
	begin waymark record -o t -e shop:order -- "$W/app"
	ten
	run -0 waymark record --change t -e stock:low
	[ "$output" = "waymark: 2 events are on in 1 process: t" ]
	ten
	run -0 waymark record --change t -e shop:order --filter 'id >= 25'
	ten
	run -0 waymark record --change t -x 'stock:*' -e 'shop:*' --filter 'id % 10 == 3'
	[ "$output" = "waymark: 2 events are on in 1 process: t" ]
	ten
	run -0 waymark record --change t -x '*'
	[ "$output" = "waymark: 0 events are on in 1 process: t" ]
	ten
	run -0 waymark record --change t -e '*' -x refund
	[ "$output" = "waymark: 2 events are on in 1 process: t" ]
	ten
	finish
	[ "$(count t shop:order)" -eq $((10 + 10 + 5 + 1 + 0 + 10)) ]
	[ "$(count t shop:refund)" -eq 1 ]
	[ "$(count t stock:low)" -eq $((0 + 10 + 10 + 0 + 0 + 10)) ]
	grep -q ' 0 lost: t' err
	run -0 babeltrace2 t
	[ "$(grep -c shop:order <<<"$output")" -eq 36 ]
}

@test "contexts are added and removed with the rule" {
	begin waymark record -q -o t -e order -- "$W/app"
	ten
	waymark record -q --change t -e order --context cpu
	ten
	waymark record -q --change t -e order
	ten
	finish
	[ "$(count t shop:order)" -eq 30 ]
	[ "$(waymark print t | grep shop:order | grep -c 'cpu')" -eq 10 ]
}

@test "no event at first, then some" {
	begin waymark record -o t -e nothing:here -- "$W/app"
	ten
	run -0 waymark record --change t -e shop:refund
	[ "$output" = "waymark: 1 event is on in 1 process: t" ]
	ten
	finish
	[ "$(count t shop:refund)" -eq 10 ]
	[[ "$(cat err)" == *"no event matched 'nothing:here'"* ]]
}

@test "two recorders of one program, only one of them is changed" {
	begin waymark record -q -o outer -e order -- waymark record -q -o inner -e order -- "$W/app"
	ten
	run -0 waymark record --change inner -x order -e low
	[ "$output" = "waymark: 1 event is on in 1 process: inner" ]
	ten
	run -0 waymark record --change outer -e order --filter 'id < 25'
	[[ "$output" == "waymark: 0 to 1 events are on in "[23]" processes: outer" ]] # the inner one, too
	ten
	finish
	[ "$(count inner shop:order)" -eq 10 ]
	[ "$(count inner stock:low)" -eq 20 ]
	[ "$(count outer shop:order)" -eq 25 ]
	[ "$(count outer stock:low)" -eq 0 ]
}

@test "a flight recorder follows, too" {
	begin waymark record -q -o t --mode overwrite -e order -- "$W/app"
	ten
	waymark record -q --change t -x order -e refund
	ten
	run -0 waymark record --snapshot t
	[[ "$output" == *"snapshot: 20 events"* ]]
	finish
	[ "$(count t shop:refund)" -eq 10 ]
}

@test "targets that appear later: a library, a forked child, another program" {
	begin waymark record -q -o t -e order -- "$W/app"
	run -4 waymark record --change t -e late:comer
	[[ "$output" == *"no event of the recorded processes matches 'late:comer'"* ]]
	echo "$W/late.so" >&7
	until_true grep -qx "did 0" out
	waymark record -q --change t -e stock:low
	echo fork >&7
	until_true grep -q '^child [0-9]' out
	child=$(awk '/^child [0-9]/ { print $2 }' out)
	pids+=("$child")
	kill -USR1 "$child"
	until_true grep -qx 'child did 1010' out
	kill -9 "$child"
	ten
	finish
	[ "$(count t late:comer)" -eq 7 ]
	[ "$(count t stock:low)" -eq 20 ]
	[ "$(waymark print t | grep "app:$child/" | grep -c stock:low)" -eq 10 ]
}

more_of_child() {
	done=$((done + 10))
	kill -USR1 "$child"
	until_true grep -qx "child did $done" out
}

# Waits until ten more events of a child, and some of another child, are in the trace.
reached() {
	more_of_child
	shows t 1 "app:$child/.*shop:order"
}

# The number of orders in the trace with this id or a higher one; some of the earlier ones may be
# missing.
orders_from() {
	waymark print --jsonl t -e shop:order --fields id | python3 -c '
import json, sys
print(sum(json.loads(line)["fields"]["id"] >= int(sys.argv[1]) for line in sys.stdin))' "$1"
}

@test "a child without any matching event is reached later" {
	begin waymark record -q -o t -e nothing:here -- "$W/app"
	echo fork >&7
	until_true grep -q '^child [0-9]' out
	child=$(awk '/^child [0-9]/ { print $2 }' out)
	pids+=("$child")
	waymark record -q --change t -e shop:order
	done=1000
	until_true reached # attaches to a different process
	first=$done
	more_of_child
	more_of_child
	kill -9 "$child"
	finish
	[ "$(orders_from "$first")" -eq 20 ]
}

ten_seen() {
	ten
	shows t 1 shop:order
}

@test "an attached process without any matching event is reached later" {
	begin "$W/app"
	app=$pid
	waymark record -o t -p "$app" -e nothing:here 2>err2 3>&- 7>&- &
	recorder=$!
	pids+=("$recorder")
	until_true test -e t/.waymark
	run -0 waymark record --change t -e order
	[[ "$output" == *"no process has joined yet"* ]]
	until_true ten_seen
	first=$nr
	ten
	ten
	finish
	wait "$recorder"
	[ "$(orders_from "$first")" -eq 20 ]
}

@test "a stopped process is reported, and follows when it continues" {
	begin waymark record -q -o t -e order -- "$W/app"
	app=$(pgrep -P "$pid" -x app)
	ten
	kill -STOP "$app"
	until_true grep -q '^State:.T' "/proc/$app/status"
	run -0 waymark record --change t -x order -e low
	[[ "$output" == *"1 of 1 process did not answer within a second; it is stopped or starting"* ]]
	kill -CONT "$app"
	until_true sh -c "waymark list -p $app | grep -q 'low.*on'"
	ten
	finish
	[ "$(count t shop:order)" -eq 10 ]
	[ "$(count t stock:low)" -eq 10 ]
}

@test "wrong names, filters, paths" {
	run -1 waymark record --change here -e order
	[[ "$output" == *"cannot open 'here'"* ]]
	mkdir empty
	run -1 waymark record --change empty -e order
	[[ "$output" == *"no recording is writing to 'empty' now"* ]]
	mkdir -p odd/.waymark long
	run -1 waymark record --change odd -e order
	[[ "$output" == *"cannot read 'odd/.waymark': Is a directory"* ]]
	head -c 5000 /dev/zero >long/.waymark
	run -1 waymark record --change long -e order
	[[ "$output" == *"'long/.waymark' is damaged: "* ]]
	begin waymark record -q -o t -e order -- "$W/app"
	run -4 waymark record --change t -e shop:ordre -x stick:low
	[[ "$output" == *"matches 'shop:ordre'"*"did you mean 'shop:order'?"* ]]
	[[ "$output" == *"matches 'stick:low'"*"did you mean 'stock:low'?"* ]]
	run -2 waymark record --change t -e order --filter 'id >'
	[[ "$output" == *"id >"*"^"* ]]
	run -2 waymark record --change t -e order --filter 'price > 3'
	[[ "$output" == *"shop:order has no field 'price': it has id"* ]]
	run -2 waymark record --change t -x order --filter 'id > 3'
	[[ "$output" == *"put this option after an -e"* ]]
	run -2 waymark record --change t --stacks kernel -e order
	[[ "$output" == *"cannot be added to a running recording"* ]]
	run -2 waymark record --change t
	[[ "$output" == *"-e GLOB"*"-x GLOB"* ]]
	run -2 waymark record --change t -e order -- true
	[[ "$output" == *"--change addresses a running recorder"* ]]
	ten
	finish
	[ "$(count t shop:order)" -eq 10 ] # none of this changed the recording
}

@test "exclude some events from the start" {
	begin waymark record -o t -x 'stock:*' -x refund -- "$W/app"
	ten
	finish
	[ "$(count t shop:order)" -eq 10 ]
	grep -q ' 10 events, ' err
}

@test "more rules than events, and very many changes" {
	many=()
	for i in $(seq 200); do many+=(-e "none:event$i"); done
	begin waymark record -q -o t "${many[@]}" -e order -- "$W/app"
	ten
	for i in $(seq 40); do
		waymark record -q --change t -x order
		waymark record -q --change t -e order
	done
	run -2 waymark record --change t -e "$(printf 'a%.0s' $(seq 600))"
	ten
	finish
	[ "$(count t shop:order)" -eq 20 ]
}
