#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# ending.bats - tests how record, stat and top end when signals arrive, or CMD does not end.

bats_require_minimum_version 1.5.0

setup() {
	export LC_ALL=C.UTF-8
	PATH="$WAYMARK_BUILD:$PATH"
	cd "$BATS_TEST_TMPDIR"
	unset pid
	# A program that reports that it runs, and runs until it may end. It executes TRAP first.
	cat >waits <<-'END'
	#!/bin/sh
	eval "${TRAP:-}"
	echo $$ >>runs
	until [ -e go ]; do sleep 0.02; done
	exit 7
	END
	chmod +x waits
}

teardown() {
	touch go
	[ -z "${pid:-}" ] || kill -9 "$pid" 2>/dev/null || true
}

# The command line of each verb that runs a CMD; all tests here apply to each verb.
declare -gA verbs=(
	[record]="waymark record -q -o t -e hello:*"
	[stat]="waymark stat -e sw:page-faults:u"
	[stream]="waymark stat -r 1 -I 60000 -e user:hello:* --by pid"
	[top]="waymark top --stdio -d 60 -e hello:*"
)

# Runs a verb with ./waits in the background, until CMD has started. A shell makes background
# commands ignore SIGINT, which this undoes; $signals ignores or restores other signals.
begin() {
	rm -rf t go runs
	env --default-signal=INT ${signals:-} ${verbs[$1]} -- ./waits >out 2>&1 3>&- &
	pid=$!
	until_true test -s runs
	until_true takes_signals
	command=$(tail -n 1 runs)
}

# SIGTERM is blocked, because the verb reads it from a descriptor.
takes_signals() {
	(((0x$(awk '/^SigBlk/ { print $2 }' "/proc/$pid/status") & 0x4000) != 0))
}

is_stopped() {
	[ "$(awk '/^State/ { print $2 }' "/proc/$pid/status")" = T ]
}

until_true() {
	for _ in $(seq 600); do
		if "$@" >/dev/null 2>&1; then return 0; fi
		sleep 0.05
	done
	echo "never became true: $*" >&2
	cat out >&2
	return 1
}

# Prints the status of the verb, which must end within half a minute.
status_of() {
	until_true gone "$pid"
	status=0
	wait "$pid" || status=$?
}

gone() {
	! kill -0 "$1" 2>/dev/null || [ "$(awk '/^State/ { print $2 }' "/proc/$1/status")" = Z ]
}

@test "signals ignored from the start end nothing" {
	signals=--ignore-signal=HUP
	for verb in "${!verbs[@]}"; do
		begin "$verb"
		kill -HUP "$pid"
		sleep 0.2
		touch go
		status_of
		echo "$verb: $status"
		[ "$status" -eq 7 ]
	done
}

@test "CMD that does not exit is killed by a second signal; the results up to then are printed" {
	export TRAP="trap '' INT HUP; trap 'echo told >>told' TERM"
	for verb in "${!verbs[@]}"; do
		begin "$verb"
		rm -f told
		kill -TERM "$pid"
		until_true test -s told # the first signal has been handled before the second is sent
		sleep 0.5
		! gone "$pid" && ! gone "$command" || false
		kill -TERM "$pid"
		status_of
		echo "$verb: $status, $(cat out)"
		gone "$command"
		case $verb in
		record) [ "$status" -eq 137 ] && waymark info t || false ;;
		stat) [ "$status" -eq 137 ] && grep -q ' s elapsed' out || false ;;
		stream) [ "$status" -eq 137 ] && grep -q ' 0 lost' out || false ;;
		top) [ "$status" -eq 4 ] && grep -q '^Seconds  Events/s' out || false ;; # no event matched; a message says so
		esac
	done
}

@test "a signal sent to a group and to its leader counts once" {
	export TRAP="trap 'sleep 0.3; exit 5' HUP TERM"
	for verb in record stat stream; do
		begin "$verb"
		# Stops it, so that both signals are pending when it continues, and the time between
		# them does not matter.
		kill -STOP "$pid"
		until_true is_stopped
		kill -TERM "$pid"
		kill -HUP "$pid"
		kill -CONT "$pid"
		status_of
		echo "$verb: $status"
		[ "$status" -eq 5 ]
	done
}

@test "a verb with a time limit ends CMD: by SIGTERM, or by SIGKILL a while later" {
	verbs=(
		[stat]="waymark stat --timeout 300 -e sw:page-faults:u"
		[stream]="waymark stat --timeout 300 -I 60000 -e user:hello:* --by pid"
		[top]="waymark top --stdio --duration 0.3 -e hello:*"
	)
	for TRAP in "" "trap '' TERM"; do
		export TRAP
		for verb in "${!verbs[@]}"; do
			rm -f go runs
			status=0
			timeout 60 ${verbs[$verb]} -- ./waits >out 2>&1 || status=$?
			echo "$verb '$TRAP': $status, $(cat out)"
			[ ! -e runs ] || gone "$(cat runs)"
			case $verb$TRAP in
			top*) [ "$status" -eq 4 ] ;; # reported because no event matched
			*TERM) [ "$status" -eq 137 ] || [ ! -e runs ] ;; # CMD ended before it could handle the signal
			*) [ "$status" -eq 143 ] ;;
			esac
		done
	done
}

# With any limit, either CMD ran and its status is returned, or CMD did not run.
ran_or_not() { # OPTION...
	local ran=0 not=0 files
	for files in $(seq 4 40); do
		rm -f ran
		status=0
		(ulimit -n "$files"
		exec waymark stat -e sw:page-faults:u "$@" -- sh -c 'echo yes >ran; exit 9') >out 2>&1 || status=$?
		if [ "$status" -eq 9 ]; then
			test -e ran
			ran=$((ran + 1))
		else
			sleep 0.1
			test ! -e ran || { echo "$files: $status, $(cat out)" && return 1; }
			not=$((not + 1))
		fi
	done
	echo "$ran ran, $not did not"
	[ "$ran" -gt 0 ] && [ "$not" -gt 0 ] || false
}

@test "CMD is not run when no descriptor is left to detect its end" {
	local pids=() p
	for _ in 1 2 3 4; do
		sleep 60 3>&- &
		pids+=("$!")
	done
	ran_or_not
	ran_or_not -p "$(IFS=,; echo "${pids[*]}")"
	kill "${pids[@]}"
}

@test "at a terminal, a recording without CMD says that it runs and how it ends" {
	sleep 600 3>&- &
	local idle=$!
	script -qefc "waymark record -o running -e sw:page-faults -p $idle" seen >/dev/null </dev/null 3>&- &
	until_true grep -q "recording running processes to 'running' until Ctrl-C" seen
	kill "$idle"
	wait $!
	run -0 waymark record -o quiet -e sw:page-faults -p "$BASHPID" -- true
	[[ $output != *Ctrl-C* ]]
}

@test "a program whose threads exit one by one ends, although the agent is a thread, too" {
	cat >alone.c <<-'END'
	#include <pthread.h>
	#include <sys/syscall.h>
	#include <unistd.h>
	#include <waymark/tracepoint.h>
	WAYMARK_EVENT(hello, last, WAYMARK_ARGS(int, n), WAYMARK_FIELDS((i32, n, n)));
	static void *leave(void *n)
	{
		trace_event(hello, last, 2);
		return n;
	}
	int main(int argc, char **argv)
	{
		pthread_t t;
		trace_event(hello, last, 1);
		if (argc > 1 && pthread_create(&t, NULL, leave, argv))
			return 1;
		syscall(SYS_exit, 7);
	}
	END
	cc -I"$WAYMARK_SOURCE/include" alone.c -o alone -L"$WAYMARK_BUILD" -Wl,--no-as-needed -l:libwaymark-rt.so.0 \
		-Wl,-rpath,"$WAYMARK_BUILD" -pthread
	run -7 timeout 60 waymark record -q -o t -e 'hello:*' -- ./alone
	[ "$(waymark print t | grep -c hello:last)" -eq 1 ]
	run -7 timeout 60 waymark record -q -o t2 -e 'hello:*' -- ./alone 2
	[ "$(waymark print t2 | grep -c hello:last)" -eq 2 ]
	run -7 timeout 60 waymark stat -e 'hello:*' -- ./alone
	[[ "$output" == *" 1  hello:last"* ]]
	# Two recorders: the agent leaves both.
	run -7 timeout 60 waymark record -q -o t3 -e 'hello:*' -- "$WAYMARK_BUILD/waymark" stat -e 'hello:*' -- ./alone
}
