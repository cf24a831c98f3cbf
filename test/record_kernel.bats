#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# record_kernel.bats - the kernel's events in a recording: whose they are, that none is missing,
# their order among the program's own, and that nothing stays behind.

bats_require_minimum_version 1.5.0

setup_file() {
	export W="$BATS_FILE_TMPDIR" BATS_TEST_TIMEOUT=60
	export TRACEFS=/sys/kernel/tracing
	cat >"$W/calls.c" <<-'EOF'
	#include <stdlib.h>
	#include <unistd.h>
	int main(int argc, char **argv)
	{
		for (int i = argc > 1 ? atoi(argv[1]) : 0; i > 0; i--)
			(void)getppid();
		return argc > 2 ? atoi(argv[2]) : 0;
	}
	EOF
	cc -O2 "$W/calls.c" -o "$W/calls"
	cat >"$W/between.c" <<-'EOF'
	#include <fcntl.h>
	#include <stdlib.h>
	#include <unistd.h>
	#include <waymark/tracepoint.h>
	WAYMARK_EVENT(app, before, WAYMARK_ARGS(int, n), WAYMARK_FIELDS((i32, n, n)));
	WAYMARK_EVENT(app, after, WAYMARK_ARGS(int, n), WAYMARK_FIELDS((i32, n, n)));
	int main(int argc, char **argv)
	{
		int fd = open(argv[2], O_WRONLY);
		for (int i = 0; i < atoi(argv[1]); i++) {
			trace_event(app, before, i);
			if (write(fd, "mark", 4) != 4)
				return 1;
			trace_event(app, after, i);
		}
		return argc != 3;
	}
	EOF
	cc -O2 -I"$WAYMARK_SOURCE/include" "$W/between.c" -o "$W/between" -L"$WAYMARK_BUILD" \
		-Wl,--no-as-needed -l:libwaymark-rt.so.0 -Wl,-rpath,"$WAYMARK_BUILD"
}

setup() {
	PATH="$WAYMARK_BUILD:$PATH"
	cd "$BATS_TEST_TMPDIR"
	if [ ! -d "$TRACEFS/instances" ] || [ ! -e "$TRACEFS/events/syscalls/sys_enter_getppid" ]; then
		echo "# SKIPPED: no tracefs with system call events that we may use at $TRACEFS" >&3
		skip "no tracefs we may use"
	fi
}

# Others may be recording on this machine; an instance whose maker is gone is a leftover.
teardown() {
	local name pid
	for name in "$TRACEFS"/instances/waymark-*; do
		[ -e "$name" ] || continue
		pid=${name#*/waymark-}
		[ -e "/proc/${pid%-*}" ] || { echo "left behind: $name"; return 1; }
	done
}

pump_of() { # of a recording command
	for _ in $(seq 100); do
		pgrep -P "$1" -x waymark-pump && return
		sleep 0.05
	done
	return 1
}

@test "each system call is there twice, of CMD alone, with CMD's status" {
	run -7 --separate-stderr waymark record -o t --preload none -e syscall:getppid -- "$W/calls" 100000 7
	[[ $stderr == *"200000 events (200000 of the kernel)"*"0 lost"* ]]
	[ "$(waymark print t | grep -c ' calls:.*sys_enter_getppid')" = 100000 ]
	[ "$(waymark print t | grep -c ' calls:.*sys_exit_getppid')" = 100000 ]
	run -0 --separate-stderr babeltrace2 t
	[ "$(grep -c getppid <<<"$output")" = 200000 ]
	[ -z "$stderr" ]
}

@test "as many system calls as there were are recorded or counted as lost (WAYMARK_LONG: two million)" {
	local n=200000 kept lost
	[ -z "${WAYMARK_LONG-}" ] || n=2000000
	run -0 --separate-stderr waymark record -o t --preload none -e syscall:getppid -- "$W/calls" $n
	kept=$(sed -n 's/.*(\([0-9]*\) of the kernel).*/\1/p' <<<"$stderr")
	lost=$(sed -n 's/.* \([0-9]*\) lost.*/\1/p' <<<"$stderr")
	echo "# $kept recorded, $lost lost" >&3
	[ $((kept + lost)) = $((2 * n)) ]
	[ "$(waymark info --json t | python3 -c 'import json, sys; print(json.load(sys.stdin)["events"])')" = "$kept" ]
}

@test "children are followed, their names known" {
	run -0 waymark record -q -o t --preload none -e syscall:getppid:enter -- sh -c "$W/calls 10; $W/calls 20 & wait"
	[ "$(waymark print t | grep -c ' calls:')" = 30 ]
}

@test "a running process by -p, everything by -a without ourselves" {
	sh -c "while :; do $W/calls 1000; done" & pid=$!
	run -0 waymark record -q -o p -e syscall:getppid:enter -p $pid -- sleep 0.3
	kill $pid
	[ "$(waymark print p | grep -c " calls:")" -gt 500 ]
	waymark record -q -o a -a -e 'syscall:*' -- sh -c "sleep 0.5; $W/calls 100" 3>&- & local command=$!
	pump=$(pump_of $command)
	wait $command
	waymark print a >a.txt
	[ "$(grep -c ' calls:.*sys_enter_getppid' a.txt)" -ge 100 ]
	run -1 grep -c "/$command \|/$pump " a.txt
}

@test "a filter of the kernel's; one it refuses is shown with its reason" {
	run -0 waymark record -q -o t -e syscall:write:enter --filter 'count == 3' -- sh -c 'echo ab; echo abcd; echo cd'
	[ "$(waymark print t | grep -c sys_enter_write)" = 2 ]
	run -2 waymark record -q -o t2 -e kernel:sched:sched_switch --filter 'nosuch > 2' -- true
	[[ $output == *"nosuch"*"Field not found"* ]]
	[ ! -e t2 ]
}

@test "what is not there says the nearest names; a counter is not recorded" {
	run -4 waymark record -q -o t -e kernel:sched:sched_swich -- true
	[[ $output == *sched_switch* ]]
	run -2 waymark record -q -o t -e kernel:page-faults -- true
	[[ $output == *"waymark stat"* ]]
}

@test "user and kernel events in one trace, and kernel: and user: settle whose" {
	run -0 --separate-stderr waymark record -o t -e app:before -e syscall:write -- "$W/between" 5 /dev/null
	[[ $stderr == *"15 events (10 of the kernel)"* ]]
	waymark print t | grep -o 'app:before\|sys_e[a-z]*_write' >order
	[ "$(head -3 order | tr '\n' ' ')" = "app:before sys_enter_write sys_exit_write " ]
	run -0 --separate-stderr waymark record -o u -e user:app:before -- "$W/between" 5 /dev/null
	[[ $stderr == *"5 events,"* ]]
}

@test "a write to trace_marker lies between the events around it, each time" {
	local n=100000
	[ -z "${WAYMARK_LONG-}" ] || n=1000000
	run waymark record -b 256M -o t -e 'app:*' -e ftrace:print -- "$W/between" $n "$TRACEFS/trace_marker"
	[[ $output != *"6.12 and later"* ]] || skip "the kernel gives no markers to instances"
	[ "$status" = 0 ]
	[[ $output == *"$((3 * n)) events ($n of the kernel)"*"0 lost"* ]]
	run -0 sh -c "waymark print t | grep -o 'app:before\|ftrace:print\|app:after' | paste - - - | sort | uniq -c"
	[[ $output =~ ^\ *$n\ app:before.ftrace:print.app:after$ ]]
}

@test "kill -9 of the pump or the command leaves no instance" {
	waymark record -q -o t -e syscall:getppid -- sh -c "while :; do $W/calls 1000; done" 3>&- & local command=$!
	pump=$(pump_of $command)
	for _ in $(seq 50); do [ -e t/kernel/formats ] && break; sleep 0.1; done
	kill -9 $command
	for _ in $(seq 50); do [ -e "/proc/$pump" ] || break; sleep 0.1; done
	[ ! -e "/proc/$pump" ]
	pkill -f "while :; do $W/calls" || true
	waymark record -q -o t2 -e syscall:getppid -- sh -c "sleep 1; $W/calls 10" 3>&- & command=$!
	pump=$(pump_of $command)
	for _ in $(seq 50); do [ -e t2/kernel/formats ] && break; sleep 0.1; done
	kill -9 "$pump"
	wait $command
}

@test "in a PID namespace, whose numbers the kernel's tracing does not know, it is said" {
	unshare --pid --fork --mount-proc true 2>/dev/null || skip "no namespaces for us"
	run unshare --pid --fork --mount-proc "$WAYMARK_BUILD/waymark" record -o n -e syscall:getppid -- "$W/calls" 5
	[[ $output == *"container"*"-a"* ]]
	[[ $output == *"0 events"* ]]
}

@test "a disk that fills is said at once, what it costs is counted as such, status 5" {
	mkdir small
	mount -t tmpfs -o size=2m none small || skip "no small file system for us"
	run -5 --separate-stderr waymark record -o small/t --preload none -e syscall:getppid -- "$W/calls" 100000
	umount small
	[[ $stderr == *"cannot write to 'small/t': No space left on device"* ]]
	[[ $stderr =~ ([0-9]+)" events (".*", "([0-9]+)" lost (disk "([0-9]+)")" ]]
	[ "${BASH_REMATCH[2]}" = "${BASH_REMATCH[3]}" ]
	# What the kernel tells of the task itself (its name, its mappings, its end) needs the disk, too.
	local sum=$((BASH_REMATCH[1] + BASH_REMATCH[2]))
	[ "$sum" -ge 200000 ] && [ "$sum" -le 200100 ]
}

@test "without permission it says so, and how to get it" {
	run setpriv --reuid=65534 --clear-groups waymark record -q -o "$W/none" -e kernel:sched:sched_switch -- true
	[ "$status" -ne 0 ]
	[[ $output == *root* || $output == *permi* ]]
}

# System calls have a text of their own in the kernel, and a bare %p is another number there: neither is compared.
@test "events print as the kernel prints them, here and on another machine" {
	local other="$TRACEFS/instances/bats-print-$$" systems="sched signal task irq exceptions raw_syscalls" s
	mkdir "$other"
	echo 65536 >"$other/buffer_size_kb"
	for s in $systems; do [ ! -d "$other/events/$s" ] || echo 1 >"$other/events/$s/enable"; done
	waymark record -q --preload none -o t $(for s in $systems; do [ ! -d "$TRACEFS/events/$s" ] || echo "-e $s:*"; done) \
		-- sh -c 'ls -lR /usr/include/linux; sleep 0.01 & kill $!; wait' >/dev/null
	echo 0 >"$other/tracing_on"
	cp "$other/trace" kernel.txt
	echo 0 >"$other/events/enable"
	rmdir "$other"
	mkdir elsewhere && mv t elsewhere/
	waymark print elsewhere/t >ours.txt
	python3 - kernel.txt ours.txt <<-'EOP'
	import collections, re, sys
	theirs = re.compile(r'.*?-\d+ +\[\d+\] \S+ +[\d.]+: (\w+): (.*)')
	ours = re.compile(r'.*? \w+:(\w+): \{ cpu = \d+ \} (.*)')
	def texts(file, form):
	    found = (form.match(line) for line in open(file))
	    return collections.Counter((m.group(1), m.group(2).rstrip()) for m in found if m)
	kernel, mine = texts(sys.argv[1], theirs), texts(sys.argv[2], ours)
	missing = mine - kernel
	for name, text in list(missing)[:5]:
	    print("not the kernel's:", name, text)
	names = {name for name, text in mine}
	print('#', sum(mine.values()), 'lines of', len(names), 'events,', sum(missing.values()), 'are not the kernel\'s')
	sys.exit(len(names) < 8 or sum(missing.values()) > 0)
	EOP
}
