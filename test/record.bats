#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# record.bats - tests waymark record on real programs: the trace, the exit status, its end when a
# process dies, and its messages about wrong names, directories and disks.

bats_require_minimum_version 1.5.0
load wait

setup_file() {
	export W="$BATS_FILE_TMPDIR" BATS_TEST_TIMEOUT=300
	cat >"$W/app.c" <<-'EOF'
	#include <signal.h>
	#include <stdlib.h>
	#include <string.h>
	#include <sys/wait.h>
	#include <unistd.h>
	#include <waymark/tracepoint.h>
	WAYMARK_EVENT(shop, order, WAYMARK_ARGS(int, id, const char *, customer),
		WAYMARK_FIELDS((i32, id, id), (str, customer, customer)));
	WAYMARK_EVENT(shop, idle, WAYMARK_ARGS(int, n), WAYMARK_FIELDS((i32, n, n)));
	static void orders(int n)
	{
		for (int i = 0; i < n; i++)
			trace_event(shop, order, i, "me");
	}
	int main(int argc, char **argv)
	{
		const char *how = argc > 1 ? argv[1] : "";
		orders(argc > 2 ? atoi(argv[2]) : 100);
		trace_event(shop, idle, 1);
		if (!strcmp(how, "exit"))
			return 42;
		if (!strcmp(how, "kill"))
			raise(SIGKILL);
		if (!strcmp(how, "abort"))
			abort();
		if (!strcmp(how, "fork") && fork() == 0) {
			orders(50);
			_exit(0);
		}
		if (!strcmp(how, "fork"))
			wait(NULL);
		if (!strcmp(how, "exec"))
			execl(argv[0], argv[0], "once", "30", (char *)NULL);
		if (!strcmp(how, "run")) {
			(void)!write(1, "ready\n", 6);
			for (;;) {
				trace_event(shop, order, -1, "still");
				usleep(1000);
			}
		}
		return 0;
	}
	EOF
	cc -O2 -I"$WAYMARK_SOURCE/include" "$W/app.c" -o "$W/app" -L"$WAYMARK_BUILD" \
		-Wl,--no-as-needed -l:libwaymark-rt.so.0 -Wl,-rpath,"$WAYMARK_BUILD"
	# The same program without the runtime: dormant until the runtime is preloaded.
	cc -O2 -I"$WAYMARK_SOURCE/include" "$W/app.c" -o "$W/bare"
}

setup() {
	PATH="$WAYMARK_BUILD:$PATH"
	mkdir "$BATS_TEST_TMPDIR/here"
	cd "$BATS_TEST_TMPDIR/here"
	pids=()
}

teardown() {
	for p in "${pids[@]}"; do
		kill -9 "$p" 2>/dev/null || true
	done
}

# Starts a command in the background; its pid is in $pid, its standard error in ./err. A shell makes
# background commands ignore SIGINT, and CMD inherits that; this undoes it.
background() {
	env --default-signal=INT "$@" >out 2>err 3>&- &
	pid=$!
	pids+=("$pid")
}

events() { # DIR [GREP]: prints the number of events that waymark print finds
	waymark print "$1" | grep -c "${2-}" || true
}

# Prints the process whose parent is $1 and whose name is $2.
child_of() {
	local p
	for p in /proc/[0-9]*; do
		if [ "$(awk '/^PPid/ { print $2 }' "$p/status" 2>/dev/null)" = "$1" ] &&
			[ "$(cat "$p/comm" 2>/dev/null)" = "$2" ]; then
			echo "${p#/proc/}"
			return 0
		fi
	done
	return 1
}

@test "all user events of a command, one line at the end" {
	run --separate-stderr waymark record -o t -- "$W/app"
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	[[ "$stderr" =~ ^"waymark: 101 events, ".*" from 1 process, 0 lost: t"$ ]]
	[ "$(events t shop:order)" -eq 100 ]
	[ "$(events t shop:idle)" -eq 1 ]
	[ "$(stat -c %a t)" = 700 ]
	babeltrace2 t >bt 2>bt.err
	[ ! -s bt.err ]
	[ "$(grep -c shop: bt)" -eq 101 ]
}

@test "the default directory has the program's name and the time" {
	run waymark record -q -- "$W/app"
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	[[ "$(echo waymark-*)" =~ ^waymark-app-[0-9]{8}-[0-9]{6}$ ]]
}

@test "a program without the runtime is recorded by preloading it" {
	run waymark record -o t -- "$W/bare"
	[ "$status" -eq 0 ]
	[ "$(events t shop:order)" -eq 100 ]
	run -4 waymark record -o t2 --preload none -e shop:order -- "$W/bare"
	[ "$(events t2 shop:order)" -eq 0 ]
}

@test "a program built with a sanitizer, which must be loaded first" {
	cc -fsanitize=address -I"$WAYMARK_SOURCE/include" "$W/app.c" -o asan || skip "no ASan here"
	run -0 waymark record -o t -- ./asan
	[ "$(events t shop:order)" -eq 100 ]
	cc -fsanitize=address -I"$WAYMARK_SOURCE/include" "$W/app.c" -o asan -L"$WAYMARK_BUILD" \
		-Wl,--no-as-needed -l:libwaymark-rt.so.0 -Wl,-rpath,"$WAYMARK_BUILD"
	run -0 waymark record -o t2 -- ./asan
	[ "$(events t2 shop:order)" -eq 100 ]
}

@test "globs select, filters apply to the preceding -e" {
	waymark record -q -o t1 -e 'shop:i*' -- "$W/app"
	[ "$(events t1)" -eq 1 ]
	waymark record -q -o t2 -e shop:order --filter 'id < 10' -e shop:idle -- "$W/app"
	[ "$(events t2 shop:order)" -eq 10 ]
	[ "$(events t2 shop:idle)" -eq 1 ]
	waymark record -q -o t3 --filter 'customer == "me"' -e order --filter 'id >= 90' -- "$W/app"
	[ "$(events t3)" -eq 10 ]
	waymark record -q -o t4 --context cpu -e order -- "$W/app"
	[ "$(events t4 'cpu')" -eq 100 ]
}

@test "a malformed filter is shown with a caret, one that does not fit with its event" {
	run -2 waymark record -o t -e order --filter 'id >' -- "$W/app"
	[[ "$output" == *"^"* ]]
	run -2 waymark record -o t -e shop:order --filter 'rows > 1' -- "$W/app"
	[[ "$output" == *"shop:order"* ]]
	run -2 waymark record -o t -e shop:order --filter 'customer > 1' -- "$W/app"
	[[ "$output" == *"the filter does not fit shop:order: a string cannot be compared with a number"* ]]
	[ ! -e t ]
}

@test "events that a filter does not fit are not recorded, and reported" {
	run -0 waymark record -o t -e 'shop:*' --filter 'id < 3' -- "$W/app"
	[[ "$output" == *"1 event matched an -e but cannot be checked by its filter"* ]]
	[ "$(events t shop:order)" -eq 3 ]
	[ "$(events t shop:idle)" -eq 0 ]
	many=()
	for i in $(seq 9); do many+=(-e 'shop:o*' --filter "id == $i"); done
	run -0 waymark record -o t2 "${many[@]}" -- "$W/app"
	[[ "$output" == *"1 event matched"*"more than 8 filters for one event"* ]]
	[ "$(events t2 shop:order)" -eq 8 ]
}

@test "a glob that matches nothing: nearest names, status 4" {
	run -4 waymark record -o t -e shop:ordre -- "$W/app"
	[[ "$output" == *"no event matched 'shop:ordre'; did you mean 'shop:order'"* ]]
	run -0 waymark record -o t2 -e shop:ordre -e shop:idle -- "$W/app"
	[[ "$output" == *"no event matched 'shop:ordre'"* ]]
}

@test "the command's status is returned" {
	run -42 waymark record -o t1 -- "$W/app" exit
	run -137 waymark record -o t2 -- "$W/app" kill
	[ "$(events t2 shop:order)" -eq 100 ]
	run -134 waymark record -o t3 -- "$W/app" abort
	run -127 waymark record -o t4 -- ./no-such-program
	[ ! -e t4 ]
	run -126 waymark record -o t5 -- /etc/passwd
	[ ! -e t5 ]
	run -2 waymark record
	run -2 waymark record -a -p 1
}

@test "children by fork and by exec are recorded, with their own pid" {
	waymark record -q -o t1 -- "$W/app" fork
	[ "$(events t1 shop:order)" -eq 150 ]
	[ "$(waymark print t1 | grep -o 'app:[0-9]*/' | sort -u | wc -l)" -eq 2 ]
	waymark record -q -o t2 -- "$W/app" exec
	[ "$(events t2 shop:order)" -eq 130 ]
}

@test "two recorders at once each get the events they requested" {
	waymark record -q -o outer -e shop:idle -- waymark record -q -o inner -e shop:order -- "$W/app"
	[ "$(events outer)" -eq 1 ]
	[ "$(events inner)" -eq 100 ]
}

@test "more events than the buffer holds: lost and counted, exactly" {
	run -0 --separate-stderr waymark record -o t --buffer-size 64K -- "$W/app" once 3000000
	[[ "$stderr" =~ ([0-9]+)" events, ".*", "([0-9]+)" lost" ]]
	[ "$((BASH_REMATCH[1] + BASH_REMATCH[2]))" -eq 3000001 ]
	run -5 waymark record -o t2 --fail-on-loss --buffer-size 64K -- "$W/app" once 3000000
	run -0 --separate-stderr waymark record -o t3 --mode block --buffer-size 64K -- "$W/app" once 300000
	[[ "$stderr" == *" 300001 events, "*" 0 lost"* ]]
}

@test "flight recorder: no output before the end, then the last events, also after a crash" {
	run -134 --separate-stderr waymark record -o t --mode overwrite --buffer-size 64K -- \
		"$W/app" abort 100000
	[[ "$stderr" =~ ([0-9]+)" events, ".*", "([0-9]+)" lost (overwritten" ]]
	[ "$((BASH_REMATCH[1] + BASH_REMATCH[2]))" -eq 100001 ]
	[ "$(waymark print t | tail -1 | grep -c shop:idle)" -eq 1 ]
	waymark print t | tail -2 | head -1 | grep -q 'id = 99999'
}

@test "flight recorder: snapshots by signal and by command" {
	background waymark record -o t --mode overwrite -- "$W/app" run
	until_true grep -q ready out
	kill -USR2 "$pid"
	until_true grep -q 'snapshot: [1-9][0-9]* events' err
	run -0 waymark record --snapshot t
	[[ "$output" =~ "snapshot: "[1-9] ]]
	[ "$(events t shop:order)" -gt 100 ]
	kill -TERM "$pid"
	wait "$pid" || [ "$?" -eq 143 ]
	run -1 waymark record --snapshot t
	[[ "$output" == *"no recording is writing to 't'"* ]]
}

@test "too few descriptors, a path without permission: the cure is printed" {
	local n
	for n in 8 12 16 20 24; do
		prlimit --nofile=$n:$n waymark record -o t$n -- "$W/app" 2>>few || true
		prlimit --nofile=$n:$n waymark stat -e 'shop:*' --by pid -- "$W/app" 2>>few || true
		prlimit --nofile=$n:$n waymark stat -a -- true 2>>few || true
		prlimit --nofile=$n:$n waymark record -o u$n -a -e sched:sched_switch -F 99 -- true 2>>few || true
	done
	grep -q 'Too many open files' few
	[ "$(grep 'Too many open files' few | grep -vc 'ulimit -n')" = 0 ] || { grep -v 'ulimit -n' few; return 1; }
	[ "$(grep -c 'protocol\|more than one descriptor' few)" = 0 ]
	# The signal does not end the recorder: it reports the failed write, and CMD has the default action.
	run -125 prlimit --fsize=0:0 waymark record -o f -- true
	[[ $output == *"File too large; raise the file size limit with 'ulimit -f'"* ]]
	run -153 prlimit --fsize=8000:8000 waymark stat -e page-faults:u -- sh -c 'head -c 9000 /dev/zero >large'
	[ "$(id -u)" -eq 0 ] || skip "not root: cannot become nobody"
	open=$(mktemp -d)
	cp "$(command -v waymark)" "$WAYMARK_BUILD/libwaymark-rt.so.0" "$open/"
	chmod 755 "$open"
	mkdir -m 700 "$open/closed"
	run -125 setpriv --reuid=65534 --regid=65534 --clear-groups "$open/waymark" record -o "$open/closed/t" -- true
	[ "$output" = "waymark: cannot record to '$open/closed/t': cannot create the folder: Permission denied; run as root, or as a user with permission, or choose another directory" ]
	run -125 setpriv --reuid=65534 --regid=65534 --clear-groups "$open/waymark" stat -o "$open/closed/t" -e page-faults:u -- true
	[ "$output" = "waymark: cannot write '$open/closed/t': Permission denied; run as root, or as a user with permission, or choose another path" ]
	run -3 setpriv --reuid=65534 --regid=65534 --clear-groups "$open/waymark" print "$open/closed/t"
	[[ $output == *"Permission denied; run as root, or as a user with permission" ]]
	rm -r "$open"
}

@test "Ctrl-C ends the recording and leaves a whole trace" {
	background waymark record -o t -- "$W/app" run
	until_true grep -q ready out
	kill -INT "$pid"
	wait "$pid" || [ "$?" -eq 130 ]
	grep -q ' 0 lost: t' err
	[ "$(events t 'id = 99,')" -eq 1 ]
	[ ! -e t/.waymark ]
}

@test "kill -INT ends a recorder that a script began with &, where SIGINT is ignored" {
	local who
	"$W/app" run >out 3>&- &
	pids+=("$!")
	who=$!
	until_true grep -q ready out
	env --ignore-signal=INT waymark record -o t -p "$who" 2>err 3>&- &
	pid=$!
	pids+=("$pid")
	until_true sh -c 'waymark print t | grep -q still'
	kill -INT "$pid"
	wait "$pid"
	grep -q ' 0 lost: t' err
	[ ! -e t/.waymark ]
	kill -0 "$who"
}

@test "of two runtimes in a process, one linked and one preloaded, -p uses the one with the marks" {
	cc -O2 -I"$WAYMARK_SOURCE/include" "$W/app.c" -o own -Wl,-u,waymark_module_register \
		"$WAYMARK_BUILD/libwaymark-rt.a"
	LD_PRELOAD="$WAYMARK_BUILD/libwaymark-rt.so.0" ./own run >out 3>&- &
	pids+=("$!")
	local who=$!
	until_true grep -q ready out
	grep -q libwaymark-rt "/proc/$who/maps"
	run -0 waymark record -o t -e shop:order -p "$who" -- bash -c '. "$0" && until_shows t 11 still' "$WAYMARK_SOURCE/test/wait.bash"
	[ "$(events t still)" -gt 10 ]
}

@test "kill -9 of the command: the pump finishes the trace, the program continues" {
	background waymark record -o t -- "$W/app" run
	until_true grep -q ready out
	pump="$(child_of "$pid" waymark-pump)"
	app="$(child_of "$pid" app)"
	pids+=("$app")
	kill -9 "$pid"
	until_true test ! -e "/proc/$pump/exe"
	[ ! -e t/.waymark ]
	[ "$(events t 'id = 99,')" -eq 1 ]
	kill -0 "$app"
	[ "$(cat "/proc/$app/comm")" = app ]
}

@test "kill -9 of the pump: reported, and the program's status is kept" {
	background waymark record -o t -- "$W/app" run
	until_true grep -q ready out
	until_shows t 1 'id = 99,' # packets are on disk
	kill -9 "$(child_of "$pid" waymark-pump)"
	until_true grep -q 'ended early, by signal 9: ' err
	kill -0 "$(child_of "$pid" app)"
	kill -9 "$(child_of "$pid" app)"
	wait "$pid" || [ "$?" -eq 137 ]
	[ "$(events t shop:order)" -ge 100 ]
}

@test "a program that is already running" {
	env -u LD_PRELOAD "$W/app" run >out 3>&- &
	app=$!
	pids+=("$app")
	until_true grep -q ready out
	[ "$(ls "/proc/$app/task" | wc -l)" -eq 1 ]
	run -0 waymark record -o t -e order -p "$app" -- bash -c '. "$0" && until_shows t 11 "id = -1"' "$WAYMARK_SOURCE/test/wait.bash"
	[[ "$output" == *" from 1 process, 0 lost: t"* ]]
	[ "$(events t 'id = -1')" -gt 10 ]
	kill -0 "$app"
	background waymark record -o t2 -p "$app"
	until_true sh -c 'waymark print t2 | grep -q shop:order'
	kill -9 "$app"
	wait "$pid"
	grep -q ' 0 lost: t2' err
}

@test "a filter's plan is removed with its recorder: the next one to attach begins anew" {
	"$W/app" run >out 3>&- &
	app=$!
	pids+=("$app")
	until_true grep -q ready out
	for i in 1 2 3; do
		waymark record -q -o t$i -e order --filter 'id == -1' -p "$app" -- bash -c '. "$0" && until_shows t$1 6 "id = -1"' "$WAYMARK_SOURCE/test/wait.bash" $i
		[ "$(events t$i 'id = -1')" -gt 5 ]
	done
	kill -0 "$app"
}

@test "a program that is already running, repeatedly, and by two recorders" {
	"$W/app" run >out 3>&- &
	app=$!
	pids+=("$app")
	until_true grep -q ready out
	for i in 1 2 3; do
		waymark record -q -o t$i -p "$app" -- bash -c '. "$0" && until_shows t$1 6 "id = -1"' "$WAYMARK_SOURCE/test/wait.bash" $i
		[ "$(events t$i 'id = -1')" -gt 5 ]
	done
	background waymark record -o t4 -p "$app"
	until_shows t4 1 'id = -1'
	run -0 waymark record -o t5 -p "$app" -- bash -c '. "$0" && until_shows t5 11 "id = -1"' "$WAYMARK_SOURCE/test/wait.bash"
	until_shows t4 101 'id = -1'
	kill -INT "$pid"
	wait "$pid" || [ "$?" -eq 130 ]
	[ "$(events t5 'id = -1')" -gt 10 ]
}

@test "code that must not be patched: no event is recorded, and the reason is printed" {
	WAYMARK_NOPATCH=1 run -0 waymark record -o t -- "$W/app"
	[[ "$output" =~ "tracepoints that stayed off because their code cannot be patched: "[1-9][0-9]*" in 1 process".*"unset WAYMARK_NOPATCH" ]]
	[[ "$output" == *" 0 events, "* ]]
	WAYMARK_NOPATCH=1 "$W/app" run >out 3>&- &
	app=$!
	pids+=("$app")
	until_true grep -q ready out
	run -0 waymark record -o t2 -p "$app" -- sleep 0.3
	[[ "$output" =~ "process $app: tracepoints that stay off because WAYMARK_NOPATCH is set: "[1-9] ]]
	[[ "$output" == *" 0 events, "* ]]
}

@test "a process that cannot be attached to is reported with the cure" {
	run -1 waymark record -o t -p $$
	[[ "$output" == *"no waymark runtime"*"LD_PRELOAD"* ]]
	run -1 waymark record -o t -p 4194303
	[[ "$output" == *"no process 4194303"* ]]
	[ ! -e t ]
}

@test "every process with the runtime" {
	"$W/app" run >out 3>&- &
	pids+=("$!")
	first=$!
	until_true grep -q ready out
	background waymark record -o t -a -e 'shop:*'
	until_true test -e t/.waymark
	"$W/app" run >out2 3>&- &
	pids+=("$!")
	second=$!
	until_shows t 11 "app:$first/"
	until_shows t 11 "app:$second/"
	kill -INT "$pid"
	wait "$pid" || [ "$?" -eq 130 ]
	[ "$(events t "app:$first/")" -gt 10 ]
	[ "$(events t "app:$second/")" -gt 10 ]
}

@test "a recorder of one process and one of all: each has each event once, by its name" {
	background waymark record -q -o all -a -e 'shop:*' -- sleep 30
	all=$pid
	until_true test -e all/.waymark
	background waymark record -q -o own -e shop:order -- "$W/app" run
	until_true grep -q ready out
	until_shows all 101 'id = -1'
	until_shows own 101 'id = -1'
	kill -TERM "$pid"
	wait "$pid" || [ "$?" -eq 143 ]
	kill -TERM "$all"
	wait "$all" || [ "$?" -eq 143 ]
	[ "$(events own 'id = -1')" -gt 100 ]
	[ "$(events all 'id = -1')" -gt 100 ]
	# By time: the events that both traces have are at the same times, and none occurs twice.
	for t in all own; do
		waymark print "$t" | grep 'app:.*id = -1' | cut -d' ' -f1 >$t.times
		[ -z "$(uniq -d $t.times)" ]
		[ "$(wc -l <$t.times)" -eq "$(events $t 'id = -1')" ] # all of them are from the provider app
	done
}

@test "an impossible output directory: reported before the command runs" {
	mkdir full
	echo x >full/file
	run -125 waymark record -o full -- touch ran
	[[ "$output" == *"full"* ]]
	run -125 waymark record -o /proc/none -- touch ran
	run -125 waymark record -o full/file/t -- touch ran
	[ ! -e ran ]
}

@test "a disk that fills up: reported at once, counted, the good part kept, status 5" {
	if [ "$(id -u)" -ne 0 ] || ! mkdir small || ! mount -t tmpfs -o size=600k none small; then
		skip "a small file system needs root"
	fi
	run --separate-stderr waymark record -o small/t --buffer-size 64M -- "$W/app" once 200000
	kept="$(events small/t shop:order)"
	umount small
	[ "$status" -eq 5 ]
	[[ "$stderr" == *"cannot write to 'small/t': No space left on device"* ]]
	[[ "$stderr" =~ "waymark: "([0-9]+)" events, ".*", "([0-9]+)" lost (disk " ]]
	[ "$((BASH_REMATCH[1] + BASH_REMATCH[2]))" -eq 200001 ]
	[ "$kept" -eq "${BASH_REMATCH[1]}" ] || [ "$kept" -eq "$((BASH_REMATCH[1] - 1))" ]
	[ "$kept" -gt 1000 ]
}

@test "no file or process remains" {
	# Skipped if other recordings run on this machine at the same time.
	export XDG_RUNTIME_DIR="$PWD/run"
	mkdir -m 700 "$XDG_RUNTIME_DIR"
	waymark record -q -o t -- "$W/app"
	[ "$(events t)" -eq 101 ]
	[ ! -e t/.waymark ]
	[ -n "$(ls "$XDG_RUNTIME_DIR")" ]
	[ -z "$(find "$XDG_RUNTIME_DIR" -name lock)" ]
}

@test "options for samples after an event of a program act or are refused" {
	local app="$WAYMARK_BUILD/examples/hello"
	cd "$BATS_TEST_TMPDIR"
	for options in "-c 1" "-F 99" "-g dwarf"; do
		for name in 'hello:*' user:hello:greeting; do
			run -2 "$WAYMARK_BUILD/waymark" record -o t -e "$name" $options -- "$app"
			[[ $output == *"is not a kernel event: program events are recorded every time they occur"* ]]
			[ ! -e t ]
		done
	done
	"$WAYMARK_BUILD/waymark" record -q -o t -e 'hello:*' -g -- "$app" >/dev/null
	"$WAYMARK_BUILD/waymark" print --fields ustack t | grep -q 'ustack = \[ 0x'
}
