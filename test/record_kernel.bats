#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# record_kernel.bats - tests kernel events in a recording: their processes, their completeness,
# their order among the program's own events, and cleanup.

bats_require_minimum_version 1.5.0
load wait

setup_file() {
	export W="$BATS_FILE_TMPDIR" BATS_TEST_TIMEOUT=300
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

# Other processes may record on this machine and be killed: an instance whose creator is dead is a
# leftover.
teardown() {
	until_true none_left || { echo "left behind: $(left_behind)"; return 1; }
}

left_behind() {
	local name pid
	for name in "$TRACEFS"/instances/waymark-*; do
		pid=${name#*/waymark-}
		[ ! -e "$name" ] || [ -e "/proc/${pid%-*}" ] || echo "$name"
	done
}

none_left() {
	[ -z "$(left_behind)" ]
}

@test "each system call is recorded twice, for CMD alone, with CMD's status" {
	run -7 --separate-stderr waymark record -o t --preload none -e syscall:getppid -- "$W/calls" 100000 7
	[[ $stderr == *"200000 events (200000 of the kernel)"*"0 lost"* ]]
	[ "$(waymark print t | grep -c ' calls:.*sys_enter_getppid')" = 100000 ]
	[ "$(waymark print t | grep -c ' calls:.*sys_exit_getppid')" = 100000 ]
	run -0 --separate-stderr babeltrace2 t
	[ "$(grep -c getppid <<<"$output")" = 200000 ]
	[ -z "$stderr" ]
}

# Calls by name, in the forms of strace and of waymark: "3 openat".
by_strace() {
	strace -f -qq -o strace.txt -e signal=none "$@" >/dev/null 2>&1 </dev/null || return 1
	grep -v 'resumed>\|+++' strace.txt | sed 's/^[0-9]* *\([a-z0-9_]*\)(.*/\1/' | sort | uniq -c
}

# The tracepoints have other names than strace for some calls. The kernel's calls of uprobe and uretprobe
# happen at the probes of others in libc.
by_waymark() {
	rm -rf t
	waymark record -q -o t -e 'syscall:*' -- "$@" >/dev/null 2>&1 </dev/null || return 1
	waymark print t | sed -n 's/.* syscalls:sys_enter_\([a-z0-9_]*\):.*/\1/p' |
		sed 's/^newfstat$/fstat/; s/^newstat$/stat/; s/^newlstat$/lstat/; s/^newuname$/uname/;
		s/^sendfile64$/sendfile/; s/^umount$/umount2/; /^uprobe$/d; /^uretprobe$/d' | sort | uniq -c
}

@test "the system calls of a command are those that strace shows, from its execve on" {
	local i
	printf '%s\n' one two three >words
	while read -ra command; do
		by_strace "${command[@]}" >expected
		by_waymark "${command[@]}" >found
		diff expected found || { echo "system calls of: ${command[*]}"; return 1; }
		grep -q '^ *1 execve$' found || [ "${command[0]}" != true ]
	done <<-'END'
	true
	/bin/echo a b
	ls -l /etc
	cat words
	sort words
	git --version
	grep -r root /etc/passwd
	sed s/o/0/ words
	awk {print} words
	perl -e 1
	env true
	find /usr/share/doc/git -name c*
	END
	# A file that only a shell can run; and PATH is searched before the recording.
	printf 'echo ran\n' >ran-by-shell
	chmod +x ran-by-shell
	PATH="/nonexistent:$PATH:." run -0 waymark record -q -o s -e syscall:execve:enter -- ran-by-shell
	[ "${lines[0]}" = ran ]
	[ "$(waymark print s | grep -c sys_enter_execve)" = 2 ]
}

@test "nothing of the command precedes its execve; the runtime is preloaded for programs' events only" {
	waymark record -q -o k -e 'sched:*' -e 'syscall:*' -- env >environment
	run -1 grep -q libwaymark-rt environment
	waymark print k >all
	[[ $(head -1 all) == *" waymark:"*sys_enter_execve:* ]]
	waymark record -q -o p -e sched:sched_switch -e '*:*' -- env >environment || [ $? = 4 ]
	grep -q ^LD_PRELOAD=.*libwaymark-rt environment
	waymark record -q -o u -e user:sched:sched_switch -- env >environment || [ $? = 4 ]
	grep -q ^LD_PRELOAD=.*libwaymark-rt environment
}

@test "every system call is recorded or counted as lost (WAYMARK_LONG: two million)" {
	local n=200000 kept lost
	[ -z "${WAYMARK_LONG-}" ] || n=2000000
	run -0 --separate-stderr waymark record -o t --preload none -e syscall:getppid -- "$W/calls" $n
	kept=$(sed -n 's/.*(\([0-9]*\) of the kernel).*/\1/p' <<<"$stderr")
	lost=$(sed -n 's/.* \([0-9]*\) lost.*/\1/p' <<<"$stderr")
	echo "# $kept recorded, $lost lost" >&3
	[ $((kept + lost)) = $((2 * n)) ]
	[ "$(waymark info --json t | python3 -c 'import json, sys; print(json.load(sys.stdin)["events"])')" = "$kept" ]
}

@test "children are followed, with their names" {
	run -0 waymark record -q -o t --preload none -e syscall:getppid:enter -- sh -c "$W/calls 10; $W/calls 20 & wait"
	[ "$(waymark print t | grep -c ' calls:')" = 30 ]
}

@test "a running process by -p, everything except the recorder by -a" {
	sh -c "while :; do $W/calls 1000; done" & pid=$!
	run -0 waymark record -q -o p -e syscall:getppid:enter -p $pid \
		-- bash -c '. "$0" && until_shows p 501 " calls:"' "$WAYMARK_SOURCE/test/wait.bash"
	kill $pid
	[ "$(waymark print p | grep -c " calls:")" -gt 500 ]
	# kmem:kfree prints symbols, so a helper process packs them for the trace; it must be
	# excluded, too.
	waymark record -q -o a -a -e 'syscall:*' -e kmem:kfree -- sh -c "until [ -e go ]; do sleep 0.05; done; $W/calls 100" 3>&- & local command=$!
	pump=$(pump_of $command)
	until_true pgrep -P "$pump" -x waymark-syms
	helper=$(pgrep -P "$pump" -x waymark-syms)
	touch go
	wait $command
	waymark print a >a.txt
	[ "$(grep -c ' calls:.*sys_enter_getppid' a.txt)" -ge 100 ]
	run -1 grep -c "/$command \|/$pump \|/$helper " a.txt
}

@test "a 32-bit program: unavailable events are reported; raw system calls are recorded" {
	# Calls getppid fifty times and exits; needs no 32-bit library.
	cat >narrow.c <<-'EOF'
	static int call(int number, int argument)
	{
		int result;
		__asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(argument) : "memory");
		return result;
	}
	void _start(void)
	{
		for (int i = 0; i < 50; i++)
			call(64, 0);
		call(1, 0);
	}
	EOF
	gcc -m32 -O1 -nostdlib -static -ffreestanding -fno-pic -no-pie narrow.c -o narrow 2>why || skip "no 32-bit compiler: $(head -1 why)"
	./narrow || skip "this kernel runs no 32-bit programs"
	run -0 --separate-stderr waymark record -o t -e syscall:getppid -- ./narrow
	[[ $stderr == *"'./narrow' is a 32-bit program: the kernel has no events for its individual system calls; raw_syscalls:"* ]]
	[[ $stderr != *"wrong ELF class"* ]]
	run -0 --separate-stderr waymark record -q -o r --preload none -e raw_syscalls:sys_enter --filter 'id == 64' -- ./narrow
	[ -z "$stderr" ]
	[ "$(waymark print r | grep -c ' narrow:.*NR 64 ')" = 50 ]
	run -0 waymark record -q -o u -e uprobe:./narrow:_start -- ./narrow
	[ "$(waymark print u | grep -c ' narrow:')" = 1 ]
}

@test "a process that dies during the attach: reported, or recorded up to then" {
	local ms pid seen=0 missed=0
	for ms in 001 020 040 060 080 100 130 160 200 300 1000 5000; do
		[ $ms -lt 1000 ] || [ $seen = 0 ] || break
		LD_PRELOAD="$WAYMARK_BUILD/libwaymark-rt.so.0" sleep "$((10#$ms / 1000)).$(printf %03d $((10#$ms % 1000)))" 3>&- & pid=$!
		run timeout 50 waymark record -o "d$ms" -p $pid -e 'app:*' -e sched:sched_process_exit -c 1 -e sched:sched_switch
		case $status in
		0 | 4) seen=$((seen + 1)) ;;
		1)
			[[ $output == *"there is no process $pid"* || $output == *"process $pid ended"* ]]
			missed=$((missed + 1))
			;;
		*) echo "status $status: $output" && return 1 ;;
		esac
		[ "$status" = 1 ] || waymark info "d$ms" >/dev/null
	done
	echo "# recorded $seen, gone before $missed" >&3
	[ $missed -ge 1 ]
	[ $seen -ge 1 ]
}

@test "single threads, single CPUs: kernel events, program events, samples; without their children" {
	cat >"$W/two.c" <<-'EOF'
	#include <pthread.h>
	#include <stdio.h>
	#include <stdlib.h>
	#include <sys/syscall.h>
	#include <unistd.h>
	#include <waymark/tracepoint.h>
	WAYMARK_EVENT(app, tick, WAYMARK_ARGS(int, n), WAYMARK_FIELDS((i32, n, n)));
	static void *work(void *end)
	{
		printf("%ld\n", syscall(SYS_gettid));
		fflush(stdout);
		for (int i = 0; access(end, F_OK); i++) {
			(void)getppid();
			trace_event(app, tick, i);
			usleep(1000);
			if (i % 50 == 0 && fork() == 0) {
				(void)getppid();
				_exit(0);
			}
		}
		return NULL;
	}
	int main(int argc, char **argv)
	{
		pthread_t one, other;
		pthread_create(&one, NULL, work, argv[1]);
		usleep(10000);
		pthread_create(&other, NULL, work, argv[2]);
		return pthread_join(one, NULL) + pthread_join(other, NULL);
	}
	EOF
	cc -O1 -D_GNU_SOURCE -I"$WAYMARK_SOURCE/include" "$W/two.c" -o "$W/two" -pthread -L"$WAYMARK_BUILD" \
		-Wl,--no-as-needed -l:libwaymark-rt.so.0 -Wl,-rpath,"$WAYMARK_BUILD"
	"$W/two" "$PWD/end" "$PWD/never" >tids 3>&- & local pid=$! tid
	until_true eval '[ "$(grep -c . tids)" = 2 ]'
	tid=$(head -1 tids)
	waymark record -q -o s -t "$tid" -c 1 -e syscall:getppid:enter \
		-- bash -c '. "$0" && until_shows s 21 sys_enter_getppid' "$WAYMARK_SOURCE/test/wait.bash" 3>&- & local sampler=$!
	# The recording ends when the thread does.
	waymark record -q -o t -t "$tid" -e app:tick -e syscall:getppid:enter 3>&- & local recorder=$!
	until_shows t 51 app:tick
	until_shows t 51 sys_enter_getppid
	wait $sampler
	touch end
	wait $recorder
	waymark print --jsonl t >t.json
	[ "$(grep -c '"name":"app:tick"' t.json)" -gt 50 ]
	[ "$(grep -c '"name":"syscalls:sys_enter_getppid"' t.json)" -gt 50 ]
	run -1 grep -v "\"tid\":$tid," t.json
	waymark print --jsonl s >s.json
	[ "$(grep -c sys_enter_getppid s.json)" -gt 20 ]
	run -1 grep -v "\"tid\":$tid," s.json
	kill $pid
	# Restricts program events and kernel events to one CPU.
	local first last cpus=($(python3 -c 'import os; print(*sorted(os.sched_getaffinity(0)))'))
	[ ${#cpus[@]} -gt 1 ] || skip "one CPU"
	first=${cpus[0]} last=${cpus[-1]}
	run -0 waymark record -q -o c --preload none -C $last -e app:before -e syscall:getppid:enter -- sh -c \
		"taskset -c $first $W/calls 100; taskset -c $last $W/calls 50; taskset -c $first $W/between 30 /dev/null; taskset -c $last $W/between 20 /dev/null"
	[ "$(waymark print c | grep -c ' calls:.*getppid')" = 50 ]
	[ "$(waymark print c | grep -c app:before)" = 20 ]
	run -2 waymark record -o u -C 4000 -e app:tick -- true
	[[ $output == *"CPU 4000 does not exist"* ]]
	run -1 waymark record -o u -t 4194303 -e app:tick
	[[ $output == *"there is no thread 4194303"* ]]
	run -2 waymark record -o u -t $$ -p $$ -e app:tick
	run -2 waymark record -o u -t $$ -a -e app:tick
	[ ! -e u ]
}

@test "filters: the kernel's part and the pump's together equal a reader's" {
	cat >"$W/sizes.c" <<-'EOF'
	#include <fcntl.h>
	#include <unistd.h>
	int main(void)
	{
		char bytes[100] = {0};
		int fd = open("/dev/null", O_WRONLY);
		for (int i = 1; i <= 100; i++)
			(void)!write(fd, bytes, i);
		return 0;
	}
	EOF
	cc "$W/sizes.c" -o "$W/sizes"
	run -0 waymark record -q -o all --preload none -e syscall:write:enter -- "$W/sizes"
	local filter kept
	for filter in 'count > 90' 'count % 7 == 3' 'count < 50 && count * 2 > fd + 40' \
		'$comm == "si*" && count > 10 && ($comm == "s[ij]zes" || count == 1)' '$comm == "x[yz]"' \
		'$pid == $tid && (count & 1) == 1' '$cpu * 0 == 0 && count <= 9' '$time > 1 && count / 0 == 1' \
		'count == 5 || fd - 1 == 100 || count + 1 == 8'; do
		rm -rf t
		run -0 --separate-stderr waymark record -o t --preload none -e syscall:write:enter --filter "$filter" -- "$W/sizes"
		kept=$(waymark print t | grep -c sys_enter_write || true)
		[ "$kept" = "$(waymark print all -e '*sys_enter_write' --filter "$filter" | grep -c sys_enter_write || true)" ]
		[[ $stderr == *"$kept events ($kept of the kernel)"*", 0 lost"* ]]
	done
	# Events that the filter dropped are counted, but not as lost.
	rm -rf t
	run -0 --separate-stderr waymark record -o t --preload none -e syscall:write:enter --filter 'count > 50 && count % 2 == 0' -- "$W/sizes"
	[[ $stderr == *"25 events (25 of the kernel), 25 rejected by --filter, "*", 0 lost"* ]]
	rm -rf t
	run -0 --separate-stderr waymark record -o t --preload none -c 1 -e syscalls:sys_enter_write --filter 'count > 50 && count % 2 == 0 && $comm == "si[z]*"' -- "$W/sizes"
	[[ $stderr == *"25 events (25 samples), 25 rejected by --filter, "*", 0 lost"* ]]
}

@test "a filter that does not fit is shown with a caret; events of a glob that lack a field do not pass" {
	run -2 waymark record -q -o t -e kernel:sched:sched_switch --filter 'prev_pid > 2 && nosuch > 2' -- true
	[[ $output == *"sched:sched_switch has no field 'nosuch'"*"prev_pid > 2 && nosuch"*"                  ^"* ]]
	run -2 waymark record -q -o t -e kernel:sched:sched_switch --filter 'prev_comm > 2' -- true
	[[ $output == *"a string cannot be compared with a number"*"^"* ]]
	run -2 waymark record -q -o t -c 1 -e sw:page-faults --filter 'address > 2' -- true
	[[ $output == *"only tracepoints and system calls have fields"* ]]
	[ ! -e t ]
	run -0 --separate-stderr waymark record -q -o t --preload none -e syscall:write --filter 'count == 3' -- sh -c 'echo ab; echo abcd; echo cd'
	[[ $stderr == *"1 event of 'syscall:write' lacks a field of the filter"* ]]
	[ "$(waymark print t | grep -c sys_enter_write)" = 2 ]
	[ "$(waymark print t | grep -c sys_exit_write)" = 0 ]
}

@test "an unknown name gets the nearest names; a wildcard does not record counters" {
	run -4 waymark record -q -o t -e kernel:sched:sched_swich -- true
	[[ $output == *sched_switch* ]]
	run -2 waymark record -q -o t -e 'kernel:page-f*' -- true
	[[ $output == *"waymark stat"* ]]
}

@test "user and kernel events in one trace; kernel: and user: resolve a clash" {
	run -0 --separate-stderr waymark record -o t -e app:before -e syscall:write -- "$W/between" 5 /dev/null
	[[ $stderr == *"15 events (10 of the kernel)"* ]]
	waymark print t | grep -o 'app:before\|sys_e[a-z]*_write' >order
	[ "$(head -3 order | tr '\n' ' ')" = "app:before sys_enter_write sys_exit_write " ]
	run -0 --separate-stderr waymark record -o u -e user:app:before -- "$W/between" 5 /dev/null
	[[ $stderr == *"5 events,"* ]]
}

@test "a write to trace_marker is between the events around it, each time" {
	local n=100000
	[ -z "${WAYMARK_LONG-}" ] || n=1000000
	[ "$(cat "$TRACEFS/tracing_on")" = 1 ] || skip "the kernel refuses markers: somebody turned tracing_on off"
	run waymark record -b 256M -o t -e 'app:*' -e ftrace:print -- "$W/between" $n "$TRACEFS/trace_marker"
	[[ $output != *"which is in use"* ]] || skip "the kernel offers markers only in its own buffer, which another tool uses"
	echo "$output"
	[ "$status" = 0 ]
	[[ $output == *"$((3 * n)) events ($n of the kernel)"*"0 lost"* ]]
	run -0 sh -c "waymark print t | grep -o 'app:before\|ftrace:print\|app:after' | paste - - - | sort | uniq -c"
	[[ $output =~ ^\ *$n\ app:before.ftrace:print.app:after$ ]]
}

@test "kill -9 of the pump or the command leaves no instance" {
	waymark record -q -o t -e syscall:getppid -- sh -c "while :; do $W/calls 1000; done" 3>&- & local command=$!
	pump=$(pump_of $command)
	until_true test -e t/kernel/formats
	kill -9 $command
	until_true test ! -e "/proc/$pump"
	pkill -f "while :; do $W/calls" || true
	waymark record -q -o t2 -e syscall:getppid -- sh -c "until [ -e go ]; do sleep 0.05; done; $W/calls 10" 3>&- &
	command=$!
	pump=$(pump_of $command)
	until_true test -e t2/kernel/formats
	kill -9 "$pump"
	touch go
	wait $command
}

@test "a PID namespace, which the kernel's tracing does not support, is reported" {
	unshare --pid --fork --mount-proc true 2>/dev/null || skip "no namespaces for us"
	run unshare --pid --fork --mount-proc "$WAYMARK_BUILD/waymark" record -o n -e syscall:getppid -- "$W/calls" 5
	[[ $output == *"container"*"-a"* ]]
	[[ $output == *"0 events"* ]]
}

@test "a disk that fills up is reported at once, its losses are counted as such, status 5" {
	mkdir small
	mount -t tmpfs -o size=2m none small || skip "no small file system for us"
	run -5 --separate-stderr waymark record -o small/t --preload none -e syscall:getppid -- "$W/calls" 100000
	umount small
	[[ $stderr == *"cannot write to 'small/t': No space left on device"* ]]
	[[ $stderr =~ ([0-9]+)" events (".*", "([0-9]+)" lost (disk "([0-9]+)")" ]]
	[ "${BASH_REMATCH[2]}" = "${BASH_REMATCH[3]}" ]
	# The kernel's records about the task itself (its name, mappings and exit) are also written
	# to the disk.
	local sum=$((BASH_REMATCH[1] + BASH_REMATCH[2]))
	[ "$sum" -ge 200000 ] && [ "$sum" -le 200100 ] || false
}

@test "missing permission is reported, with the cure" {
	run setpriv --reuid=65534 --clear-groups waymark record -q -o "$W/none" -e kernel:sched:sched_switch -- true
	[ "$status" -ne 0 ]
	[[ $output == *root* || $output == *permi* ]]
	local open=$(mktemp -d) # other users may have no access to the build folder
	chmod 777 "$open"
	cp "$WAYMARK_BUILD/waymark" "$open"
	cd "$open"
	run setpriv --reuid=65534 --clear-groups ./waymark record -q --preload none -o t -e sched:sched_switch -- true
	cd "$BATS_TEST_TMPDIR"
	rm -rf "$open"
	[ "$status" -ne 0 ]
	[[ $output == *"'sched:sched_switch'; the kernel's events cannot be read: "*root* ]]
}

# The kernel prints system calls in its own way, and a bare %p as a different number, so these are
# not compared.
@test "events print as the kernel prints them, on this machine and on another" {
	local other="$TRACEFS/instances/bats-print-$$" systems="sched signal task irq exceptions raw_syscalls" s
	mkdir "$other"
	echo 65536 >"$other/buffer_size_kb"
	# Other activity on the machine would overwrite the events to compare.
	echo $BASHPID >"$other/set_event_pid"
	echo 1 >"$other/options/event-fork"
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

@test "the size -b is that of the kernel's rings, which do not grow: every lost event is counted" {
	local kib events lost
	cat >look <<-'EOF'
	#!/bin/sh
	cat "$1"/instances/waymark-$PPID-0/buffer_size_kb >kib
	exec "$2" 300000
	EOF
	run -0 --separate-stderr waymark record -o t -b 1M -e syscall:getppid -- sh look "$TRACEFS" "$W/calls"
	kib=$(grep -o '^[0-9]*' kib)
	[ "$kib" -ge $((1024 / $(nproc --all))) ] && [ "$kib" -le 1100 ]
	[[ $stderr =~ ([0-9]+)" events ("[0-9]+" of the kernel)".*", "([0-9]+)" lost" ]]
	events=${BASH_REMATCH[1]} lost=${BASH_REMATCH[2]}
	[ $((events + lost)) -eq 600002 ] # sh itself asks once
	[ "$lost" -eq 0 ] || [[ $stderr == *"rings, of "*"too small"* ]]
}

@test "a flight recorder takes no events of the kernel, samples or /proc" {
	local event
	for event in syscall:getppid sw:cpu-clock proc:stat; do
		run -125 --separate-stderr waymark record -o t --mode overwrite -e "$event" -- "$W/calls" 1
		[[ $stderr == *"overwrite mode keeps only program events"* ]]
		[ ! -e t ]
	done
}

@test "a misspelt event of the kernel is refused with the nearest names, and leaves no trace" {
	[ -d "$TRACEFS/events/sched" ] || skip "no tracefs"
	run -4 "$WAYMARK_BUILD/waymark" record -o "$BATS_TEST_TMPDIR/t" -e sched:sched_swtich -- true
	[[ $output == *"did you mean 'sched:sched_switch'"*"write user:sched:sched_swtich"* ]]
	[ ! -e "$BATS_TEST_TMPDIR/t" ]
	# A name that resembles none may be an event of a program; so may any after "user:".
	for name in sched:of_my_program user:sched:sched_swtich; do
		run -4 "$WAYMARK_BUILD/waymark" record -o "$BATS_TEST_TMPDIR/t" -e "$name" -- true
		[[ $output == *"no event matched"* ]]
		rm -r "$BATS_TEST_TMPDIR/t"
	done
}

@test "names without a provider, fields and triggers are refused with the nearest names, before CMD runs" {
	refused() { # names, then the arguments of record
		run -"$1" waymark record -o t "${@:3}" -- touch ran
		[[ $output == *"$2"* ]] || { echo "$output"; return 1; }
		[ ! -e t ] && [ ! -e ran ]
	}
	refused 4 "did you mean 'sched_switch'? (for an event of a program, write user:sched_swtich)" -e sched_swtich
	refused 4 "did you mean 'cpu-clock'?" -e cpu-clok
	refused 2 "has no field 'prev_cmm'; did you mean 'prev_comm'" -e sched:sched_switch --filter 'prev_cmm == "x"'
	refused 4 "no event 'sched:sched_swtich'; did you mean 'sched:sched_switch'" --trigger sched:sched_swtich:stacktrace
	refused 2 "; did you mean 'stacktrace'?" --trigger sched:sched_switch:stcktrace
	refused 2 "; did you mean 'prev_pid'" --trigger 'sched:sched_switch:stacktrace if prev_pdi == 0'
	# After the run, a pattern that matched nothing is compared with the names of the kernel.
	run -4 waymark record -o t -e 'shced:*' -- true
	[[ $output == *"no event matched 'shced:*'; did you mean 'sched:*'?"* ]]
	# A name that CMD's file has is an event of the program, and part of a kernel's name may be one.
	run -0 waymark record -q -o u -e before -- "$W/between" 1 /dev/null
	[ "$(waymark print u | wc -l)" = 1 ]
	run -4 waymark record -q -o v -e switch -- true
}

@test "root without a capability is not told to be root" {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	setpriv --reuid 65534 --clear-groups sleep 1000 3>&- &
	local pid=$!
	until [ "$(awk '/^Uid/ { print $2 }' "/proc/$pid/status")" = 65534 ] && grep -q sleep "/proc/$pid/comm"; do
		sleep 0.05
	done
	run ! setpriv --bounding-set=-sys_ptrace "$WAYMARK_BUILD/waymark" record -o "$BATS_TEST_TMPDIR/t" -p "$pid" -- true
	kill "$pid"
	[[ $output == *"lacks the capability CAP_SYS_PTRACE"* && $output != *"or root"* ]]
}
