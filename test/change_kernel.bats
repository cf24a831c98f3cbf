#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# change_kernel.bats - tests waymark record --change with kernel events: they are enabled, disabled
# and filtered while a program runs, and counted exactly; also probes and cleanup.

bats_require_minimum_version 1.5.0
load wait

setup_file() {
	export W="$BATS_FILE_TMPDIR" BATS_TEST_TIMEOUT=300
	export TRACEFS=/sys/kernel/tracing
	# Each number that it reads makes it perform that many of two system calls and calls of a
	# function.
	cat >"$W/calls.c" <<-'EOC'
	#include <stdio.h>
	#include <stdlib.h>
	#include <sys/syscall.h>
	#include <sys/wait.h>
	#include <unistd.h>
	int __attribute__((noinline)) probed(int n)
	{
		__asm__ volatile("");
		return n + 1;
	}
	static void forked(void)
	{
		for (int i = 0; i < 5; i++)
			syscall(SYS_getppid);
		_exit(0);
	}
	int main(void)
	{
		char line[64];
		int sum = 0;
		puts("ready");
		fflush(stdout);
		while (fgets(line, sizeof(line), stdin)) {
			if (*line == 'f') {
				if (fork() == 0)
					forked();
				wait(NULL);
				puts("forked");
			}
			for (int i = 0, n = atoi(line); i < n; i++, sum++) {
				syscall(SYS_getppid);
				syscall(SYS_umask, i % 100);
				probed(i);
			}
			printf("did %d\n", sum);
			fflush(stdout);
		}
		return 0;
	}
	EOC
	cc -O1 -g "$W/calls.c" -o "$W/calls"
}

setup() {
	[ "$(id -u)" = 0 ] && [ -w $TRACEFS/instances ] || skip "not root, or no tracefs"
	[ -d $TRACEFS/events/syscalls/sys_enter_umask ] || skip "no events of system calls"
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

begin() { # starts a recording of the program with these options
	rm -f out
	waymark record -o t --preload none "$@" -- "$W/calls" <orders >out 2>err 3>&- &
	pid=$!
	pids+=("$pid")
	exec 7>orders
	until_true grep -q ready out
}

ten() {
	echo 10 >&7
	nr=$((nr + 10))
	until_true grep -qx "did $nr" out
}

finish() {
	exec 7>&-
	wait "$pid"
}

count() { # NAME
	waymark print t | grep -c " $1: " || true
}

change() {
	waymark record -q --change t "$@"
}

@test "on, off, and a new filter, counted exactly, also by babeltrace2" {
	begin -e syscall:getppid:enter
	ten
	run -0 waymark record --change t -e syscall:umask:enter
	[ "$output" = "waymark: 2 kernel events are on: t" ]
	ten
	run -0 waymark record --change t -x syscall:getppid
	[ "$output" = "waymark: 1 kernel event is on: t" ]
	ten # 20 calls of getppid, 20 of umask
	change -e syscall:umask:enter --filter 'mask >= 7'
	ten # 3 events; the kernel evaluates the whole filter
	change -e syscall:umask:enter --filter 'mask > 1 && mask * 2 < 8'
	ten # 2 events; waymark evaluates a part of the filter
	change -e syscall:umask:enter --filter 'mask * 2 == 8'
	ten # 1 event; waymark evaluates the whole filter
	change -e 'syscalls:sys_enter_um*'
	ten # 10 events; there is no filter any more
	change -x 'kernel:*'
	ten
	finish
	[ "$(count syscalls:sys_enter_getppid)" = 20 ]
	[ "$(count syscalls:sys_enter_umask)" = 36 ]
	[ "$(babeltrace2 t | grep -c 'syscalls:sys_enter_umask')" = 36 ]
	grep -q '^syscalls:sys_enter_umask\|sys_enter_umask' t/kernel/formats
	waymark info --verify t
	grep -q '56 events (56 of the kernel)' err
}

@test "kernel events are added to a running recording: of its processes and their children" {
	begin -e no:such
	ten
	change -e syscall:getppid
	ten
	echo f >&7
	until_true grep -q forked out
	(for i in 1 2 3; do ls / >/dev/null; done) # another process's
	finish
	[ "$(count syscalls:sys_exit_getppid)" = 15 ]
	[ "$(count syscalls:sys_enter_getppid)" = 15 ]
	run -1 grep -v calls: <(waymark print t)
}

@test "probes are created, filtered, switched; they are removed with the recording, and with its pump" {
	local pump
	begin -e no:such
	ten
	change -e "uprobe:$W/calls:probed(n=arg1:s32)" --filter 'n > 7'
	ten # 2
	change -x 'uprobe:*'
	ten
	cd "$W" # names of files are relative to the command's folder
	waymark record -q --change "$OLDPWD/t" -e 'uprobe:./calls:probed(n=arg1:s32)'
	cd "$OLDPWD"
	ten # 10
	finish
	[ "$(count uprobe:calls:probed)" = 12 ]
	run -1 grep "waymark_${pid}_" $TRACEFS/dynamic_events
	rm -r t
	nr=0
	begin -e no:such
	change -e "uprobe:$W/calls:probed"
	pump=$(pgrep -P $pid waymark-pump)
	[ -n "$(ls -d $TRACEFS/instances/waymark-$pump-*)" ]
	grep -q "waymark_${pump}_" $TRACEFS/dynamic_events
	kill -9 "$pump"
	until_true eval '! grep -q "waymark_'"$pump"'_" $TRACEFS/dynamic_events'
	until_true eval '! ls -d $TRACEFS/instances/waymark-'"$pump"'-* 2>/dev/null'
	ten # the program continues
	finish
}

@test "an invalid change has no effect and is reported" {
	begin -e syscall:getppid:enter
	run -4 waymark record --change t -e kernel:sched:nothing_like_it
	[[ $output == *"no kernel event matches 'sched:nothing_like_it'"* ]]
	run -2 waymark record --change t -x 'syscall:*' -e syscall:umask:enter --filter 'nope == 3'
	[[ $output == *"has no field 'nope'"*"nope == 3"*"^"* ]]
	run -2 waymark record --change t -e func:kernel:vfs_read
	[[ $output == *"only from the beginning of a recording"* ]]
	run -2 waymark record --change t -e proc:vmstat
	[[ $output == *"start a new one"* ]]
	run -2 waymark record --change t -e cpu-clock
	[[ $output == *"sampled from the beginning"* ]]
	run -2 waymark record --change t -e sched:sched_switch -c 1
	[[ $output == *"can be sampled only from the beginning"* ]]
	run -4 waymark record --change t -x kernel:sched:sched_switch
	[[ $output == *"no kernel event of that name is on"* ]]
	ten
	finish
	[ "$(count syscalls:sys_enter_getppid)" = 10 ]
	[ "$(waymark print t | grep -c .)" = 10 ]
}

@test "-x at the start applies to kernel events, too" {
	begin -e 'syscall:getp*id:enter' -e syscall:umask -x syscall:umask:exit -x 'syscalls:*_getpid'
	ten
	finish
	[ "$(count syscalls:sys_enter_getppid)" = 10 ]
	[ "$(count syscalls:sys_enter_umask)" = 10 ]
	[ "$(count syscalls:sys_exit_umask)" = 0 ]
}

@test "only records that pass a filter are recorded, and none that passes both is missing" {
	begin -e syscall:umask:enter --filter 'mask < 30'
	echo 200000 >&7
	for i in 1 2 3 4 5; do
		change -e syscall:umask:enter --filter 'mask % 2 == 1 && mask < 60'
		change -e syscall:umask:enter --filter 'mask < 30'
	done
	until_true grep -qx 'did 200000' out
	finish
	waymark print --jsonl t | python3 -c 'import json, sys
masks = [int(json.loads(line)["fields"]["mask"]) for line in sys.stdin]
assert masks and all(m < 30 or (m < 60 and m % 2) for m in masks), sorted(set(masks))'
}

@test "a recorder without access to the kernel's events reports it" {
	local open
	open=$(mktemp -d) # a folder that the other user can read, unlike some build folders
	chmod 777 "$open"
	cp "$WAYMARK_BUILD/waymark" "$open"
	cd "$open"
	setpriv --reuid 65534 --regid 65534 --clear-groups true || skip "no other user"
	setpriv --reuid 65534 --regid 65534 --clear-groups env -u XDG_RUNTIME_DIR TMPDIR=/tmp \
		./waymark record -q -o t --preload none -e no:such -- sleep 60 >err 2>&1 3>&- &
	pid=$!
	pids+=("$pid")
	until_true eval 'test -e t/.waymark || ! kill -0 $pid'
	[ -e t/.waymark ] || skip "another user does not reach this folder"
	run waymark record --change t -e sched:sched_switch
	[ "$status" -ne 0 ]
	[[ $output == *"changed nothing"*"root"* ]]
	kill -TERM "$pid" # CMD gets the signal, too
	wait "$pid" || true
	cd "$BATS_TEST_TMPDIR"
	rm -r "$open"
}
