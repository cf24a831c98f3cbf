#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# stat_user.bats - tests waymark stat on programs' own events: counts are exact through threads,
# forks, exec, dlopen, signals and kill -9; together with the kernel's events and with other
# recorders; on running processes.

bats_require_minimum_version 1.5.0
load torture/common
load wait

setup_file() {
	torture_setup_file
	torture_build process
	torture_build kill
	torture_build signal
	torture_build module
	torture_build plugin -shared -fPIC
	torture_build inject -static $RT 2>/dev/null
	cat >"$W/steps.c" <<-'END'
	#include <pthread.h>
	#include <signal.h>
	#include <stdio.h>
	#include <stdlib.h>
	#include <unistd.h>
	#include <waymark/tracepoint.h>
	WAYMARK_EVENT(steps, step, WAYMARK_ARGS(int, who, const char *, name),
		      WAYMARK_FIELDS((i32, who, who), (str, name, name)));
	static volatile int stop;
	static volatile long done[3];
	static void on_signal(int signo)
	{
		stop = signo;
	}
	static void *work(void *data)
	{
		long who = (long)data;
		while (!stop) {
			trace_event(steps, step, (int)who, who ? "other" : "main");
			done[who]++;
			usleep(500);
		}
		return data;
	}
	/* steps: until SIGTERM; then how many steps each thread made. */
	int main(void)
	{
		pthread_t t[2];
		signal(SIGTERM, on_signal);
		for (long i = 0; i < 2; i++)
			pthread_create(&t[i], NULL, work, (void *)(i + 1));
		work(NULL);
		for (int i = 0; i < 2; i++)
			pthread_join(t[i], NULL);
		printf("%ld %ld %ld\n", done[0], done[1], done[2]);
		return 0;
	}
	END
	cc -O2 -pthread -I"$WAYMARK_SOURCE/include" "$W/steps.c" -o "$W/steps" \
		-Wl,--no-as-needed "$WAYMARK_BUILD/libwaymark-rt.so.0" -Wl,-rpath,"$WAYMARK_BUILD"
	python3 - >"$W/many.c" <<-'END'
	n = 600
	print("#include <pthread.h>\n#include <sys/wait.h>\n#include <unistd.h>\n#include <waymark/tracepoint.h>")
	for i in range(n):
	    print(f"WAYMARK_EVENT(many, e{i}, WAYMARK_ARGS(int, a), WAYMARK_FIELDS((i32, a, a)));")
	print("static void *run(void *p) { for (int k = 0; k < 10; k++) {")
	for i in range(n):
	    print(f"for (int j = 0; j <= {i % 7}; j++) trace_event(many, e{i}, k);")
	print("} return p; }\nint main(void) { pthread_t t[4];")
	print("for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, run, 0);")
	print("for (int i = 0; i < 4; i++) pthread_join(t[i], 0);")
	print("if (!fork()) { run(0); _exit(0); } wait(0); return 0; }")
	END
	cc -O0 -pthread -I"$WAYMARK_SOURCE/include" "$W/many.c" -o "$W/many"
}

setup() {
	cd "$BATS_TEST_TMPDIR"
}

teardown() {
	for one in ${pids-}; do kill -9 "$one" 2>/dev/null || true; done
}

# Counts a torture program and compares with its tally. Lost events must be reported, with status 5.
counted() {
	local status=0
	rm -f "$W/tally"
	TORTURE_TALLY="$W/tally" timeout 60 waymark stat --json -o out -e 'torture:*' -- "$@" || status=$?
	[ "$status" = 0 ] || [ "$status" = 5 ]
	python3 "$WAYMARK_SOURCE/test/data/count_check.py" out "$W/tally" $kinds
	! grep -q '"lost": 0' out || [ "$status" = 0 ]
}

@test "threads, forks three deep, exec, 5,000 short-lived threads: exact" {
	kinds=any counted "$W/process" deep 5
	counted "$W/process" heirs 20
	counted "$W/process" exec_chain 20
	counted "$W/process" short_threads "$(torture_count 5000 200000)"
	counted "$W/process" cancel 50
	counted "$W/process" closes_all
	counted "$W/process" small_files
}

@test "vfork, clone with shared memory, forks in handlers: counted or reported" {
	counted "$W/process" vfork_exec 300
	counted "$W/process" spawn 50
	counted "$W/process" clone_vm 50
	counted "$W/process" handler_forks 100
}

@test "kill -9 of programs that count: no event is missing" {
	counted "$W/kill" "$(torture_count 300 10000)"
}

@test "nested handlers, handlers that leave by siglongjmp, at every instruction" {
	counted "$W/signal" timer 100
	counted "$W/signal" nested 100
	counted "$W/signal" jump 100
	for handler in one jump fork; do
		counted "$W/inject" fixed 10 $handler
	done
	counted "$W/inject" text 10 alt
}

@test "modules are loaded and unloaded" {
	counted "$W/module" 300 "$W/plugin"
}

@test "more event ids than a small chunk holds" {
	run -0 waymark stat -x, -o out -e 'many:*' -- "$W/many"
	[ "$(wc -l <out)" = 600 ]
	awk -F, '{ split($3, a, ":e"); if ($1 != 50 * (a[2] % 7 + 1)) { print; bad = 1 } } END { exit bad }' out
}

@test "the same numbers as a recording of the same run, with filters too" {
	waymark record -q -o trace -e 'many:e1*' --filter 'a > 3 && a != 8' -- "$W/many"
	waymark stat -x, -o out -e 'many:e1*' --filter 'a > 3 && a != 8' -- "$W/many"
	recorded=$(waymark print trace | wc -l)
	[ "$recorded" -gt 1000 ]
	[ "$(awk -F, '{ n += $1 } END { print n }' out)" = "$recorded" ]
}

@test "in one table with the kernel's, in the order they were named; -r; helpers; no match" {
	run -0 waymark stat -x, -o out -e 'page-faults:u,many:e3,task-clock:u,user:many:e1' -- "$W/many"
	[ "$(cut -d, -f3 out | paste -sd' ')" = "sw:page-faults:u many:e3 sw:task-clock:u many:e1" ]
	[ "$(sed -n 2p out | cut -d, -f1)" = 200 ]
	run -0 waymark stat --json -r 3 -o out -e many:e6 -- "$W/many"
	python3 -c 'import json; d = json.load(open("out")); e = d["events"][0]; assert (e["value"], e["spread"], d["lost"], d["runs"]) == (350, 0, 0, 3), d'
	run -0 waymark stat -x, -o out --preload malloc -e 'malloc:*' -- "$W/many"
	[ "$(awk -F, '{ n += $1 } END { print n }' out)" -gt 0 ]
	run --separate-stderr -5 waymark stat -x, -e many:nope,many:e1 -- "$W/many"
	[[ $stderr == *"no event matched 'many:nope'"* ]]
	[[ $output == *"<not counted>,,many:nope"*"100,,many:e1"* ]]
	run -4 waymark stat -e many:nope -- "$W/many"
	run -2 waymark stat -e many:e1 --filter 'b > 3' -- "$W/many"
	[[ $output == *"many:e1 has no field 'b'"* ]]
	run -2 waymark stat -e many:e1,many:e1 -- "$W/many"
	run -2 waymark stat -e many:e1 --filter 'a >' -- "$W/many"
	[[ $output == *"^"* ]]
}

steps() {
	"$W/steps" >done &
	pid=$!
	pids=$pid
	until_true eval '[ "$(ls /proc/$pid/task | wc -l)" -ge 3 ]'
}

# within_the_main_one FILE OPTION...: counts some steps: at most as many as the main thread makes
# from before the count until after it; the three threads together would make more.
within_the_main_one() {
	local file=$1
	shift
	waymark stat --per-thread -x, -o around -e steps:step -p $pid -- \
		waymark stat -x, -o "$file" -e steps:step "$@" -- sleep 1
	[ "$(cut -d, -f1 "$file")" -gt 0 ]
	[ "$(cut -d, -f1 "$file")" -le "$(awk -F, -v w="steps-$pid" '$1 == w { print $2 }' around)" ]
}

@test "a running process: -I adds up, --per-thread, -t, -C, beside a recorder; then killed" {
	steps
	tids=$(ls /proc/$pid/task)
	run -0 waymark stat -I 100 -x, -o parts -e steps:step -p $pid -- bash -c \
		'. "$0" && until_true eval "[ \$(wc -l <parts) -ge 3 ]"' "$WAYMARK_SOURCE/test/wait.bash"
	[ "$(wc -l <parts)" -ge 3 ]
	[ "$(awk -F, '{ n += $2 } END { print n }' parts)" -gt 0 ]
	run -0 waymark stat --per-thread -x, -o each -e steps:step -p $pid -- sleep 1
	[ "$(wc -l <each)" = 3 ]
	for tid in $tids; do
		[ "$(awk -F, -v w="steps-$tid" '$1 == w { print $2 }' each)" -gt 0 ]
	done
	within_the_main_one one -t $pid
	waymark record -q -o trace -p $pid -e steps:step 3>&- &
	recorder=$!
	until_shows trace 1
	within_the_main_one main --filter 'name == "main"' -p $pid
	until_shows trace 901
	kill -TERM $recorder
	wait $recorder || [ $? -eq 143 ]
	run -0 waymark stat -x, -o cpus -e steps:step -C "0-$(($(getconf _NPROCESSORS_CONF) - 1))" -p $pid -- sleep 1
	[ "$(cut -d, -f1 cpus)" -gt 0 ]
	run -5 waymark stat --per-cpu -e steps:step,page-faults -p $pid -- sleep 0.1
	[[ $output == *"each thread keeps its own count"* ]]
	(sleep 2; kill -9 $pid) &
	run -0 timeout 60 waymark stat -x, -o killed -e steps:step -p $pid
	[ "$(cut -d, -f1 killed)" -gt 0 ]
}

# Waits until the program $pid has started its threads, so that it may be ended.
stepping() {
	[ "$(ls "/proc/$(pgrep -P $pid steps)/task" | wc -l)" -ge 3 ]
}

end_steps() {
	until_true stepping
	sleep 0.3 # some steps
	pkill -TERM -P $pid steps
	wait $pid
}

@test "-i: without children and threads; a child whose wait only ends when its recorder is killed" {
	waymark stat -x, -o all -e steps:step -- "$W/steps" >all.done &
	pid=$!
	end_steps
	[ "$(cut -d, -f1 all)" = "$(awk '{ print $1 + $2 + $3 }' all.done)" ]
	waymark stat -i -x, -o one -e steps:step -- "$W/steps" >one.done &
	pid=$!
	end_steps
	[ "$(cut -d, -f1 one)" = "$(cut -d' ' -f1 one.done)" ]
	# The counting command is killed: the program continues and can be counted again.
	waymark stat -e steps:step -- "$W/steps" >again.done &
	pid=$!
	until_true stepping
	child=$(pgrep -P $pid steps)
	pids=$child
	kill -9 $pid
	wait $pid || true
	run -0 waymark stat -x, -o again -e steps:step -p "$child" -- sleep 1
	[ "$(cut -d, -f1 again)" -gt 0 ]
}

@test "--per-cpu: one row each, from the stream; not with -i" {
	run -0 waymark stat --per-cpu -x, -o out -e 'many:e1,many:e2' -- "$W/many"
	for event in many:e1=100 many:e2=150; do
		[ "$(awk -F, -v e="${event%=*}" '$4 == e { n += $2; rows++ } END { print n, rows }' out)" = \
			"${event#*=} $(getconf _NPROCESSORS_ONLN)" ]
	done
	run -2 waymark stat -i --per-cpu -e many:e1 -- "$W/many"
	[[ $output == *"-i is not possible with program events"* ]]
}

@test "-D: earlier counts of programs are excluded; --per-thread; -1: nothing; from the stream" {
	cat >late.c <<-'END'
	#include <sys/stat.h>
	#include <unistd.h>
	#include <waymark/tracepoint.h>
	WAYMARK_EVENT(late, step, WAYMARK_ARGS(int, a), WAYMARK_FIELDS((i32, a, a)));
	/* late FILE: ten steps, and seven when there is something in FILE. */
	int main(int argc, char **argv)
	{
		struct stat s;
		for (int i = 0; i < 10; i++)
			trace_event(late, step, i);
		for (int n = 0; n < 1200 && !(stat(argv[argc - 1], &s) == 0 && s.st_size); n++)
			usleep(50000);
		for (int i = 0; i < 7; i++)
			trace_event(late, step, i);
		return 0;
	}
	END
	cc -O2 -I"$WAYMARK_SOURCE/include" late.c -o late
	waymark stat -D 2000 -I 100 -x, -o out -e late:step -- ./late out
	[ "$(awk -F, '{ n += $2 } END { print n }' out)" = 7 ]
	waymark stat -D 2000 -I 100 -x, -o by -e late:step --by comm -- ./late by
	[ "$(awk -F, '/late:step/ { n += $1 } END { print n }' by)" = 7 ]
	run -0 waymark stat -D -1 -x, -e late:step -- ./late /etc/passwd
	[[ $output == "0,,late:step,"* ]]
	run -5 waymark stat -D 60000 -x, -e late:step --by a -- ./late /etc/passwd
	[ "$output" = "waymark: nothing was counted: the run ended before the delay of -D (60000 ms) was over; use a shorter -D" ]
	steps
	run -0 waymark stat --per-thread -x, -o around -e steps:step -p $pid -- \
		waymark stat -D 300 --per-thread -x, -o each -e steps:step -p $pid -- sleep 1.5
	# Each thread has some steps, but fewer than in a count that began before the delay.
	[ "$(awk -F, 'NR == FNR { all[$1] = $2; next } $2 > 0 && $2 < all[$1]' around each | wc -l)" = 3 ]
	kill -9 $pid
}

@test "--by fields of programs' events, from the stream" {
	run -0 waymark stat -x, -o out -e many:e6 --filter 'a < 4' --by a -- "$W/many"
	[ "$(sort out)" = "$(for a in 0 1 2 3; do echo "35,many:e6,$a"; done)" ]
	run -0 waymark stat -x, -o out -r 2 -e 'many:e1' --by comm,tid -- "$W/many"
	[ "$(cut -d, -f1-3 out | sort | uniq -c | sed 's/^ *//')" = "10 20,many:e1,many" ]
	run --separate-stderr -4 waymark stat -e nosuch:event --by comm -- true # reports the same as without --by
	[[ $stderr == *"no event matched 'nosuch:event'"* ]]
	run --separate-stderr -2 waymark stat -e nosuch:event --by '' -- true
	[[ $stderr == *"no field to count by"* ]]
	run --separate-stderr -5 waymark stat -e many:e6 --by nope -- "$W/many"
	[[ $stderr == *"350 events of 'many:e6' not in the tables, for lack of one of the fields 'nope'"* ]]
	# More values than rows: the number of rows is limited, and the other events are counted
	# together.
	cat >wide.c <<-'END'
	#include <waymark/tracepoint.h>
	WAYMARK_EVENT(wide, value, WAYMARK_ARGS(int, a), WAYMARK_FIELDS((i32, a, a)));
	int main(void)
	{
		for (int i = 0; i < 20000; i++)
			trace_event(wide, value, i);
		return 0;
	}
	END
	cc -O2 -I"$WAYMARK_SOURCE/include" wide.c -o wide
	run --separate-stderr -5 waymark stat -x, -o out -e wide:value --by a -- ./wide
	[ "$(grep -c '^1,wide:value,' out)" = 16384 ]
	[[ $stderr == *"3616 events of 'wide:value' not in any row"* ]]
}

@test "user nobody counts their own programs" {
	[ "$(id -u)" -eq 0 ] || skip "not root: cannot become nobody"
	open=$(mktemp -d)
	chmod 755 "$open"
	cp "$(command -v waymark)" "$WAYMARK_BUILD/libwaymark-rt.so.0" "$W/many" "$open/"
	run -0 setpriv --reuid=65534 --regid=65534 --clear-groups "$open/waymark" stat -x, -e many:e1 -- "$open/many"
	rm -r "$open"
	[[ $output == "100,,many:e1,"* ]]
}
