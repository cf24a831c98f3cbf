#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# stat.bats - compares the counts of waymark stat with those of perf stat, on one process to which
# both attached before it ran; tests its options, messages and statuses.

bats_require_minimum_version 1.5.0
load wait

setup_file() {
	export W="$BATS_FILE_TMPDIR"
	cat >"$W/work.c" <<-'END'
	#include <fcntl.h>
	#include <pthread.h>
	#include <sched.h>
	#include <signal.h>
	#include <stdlib.h>
	#include <sys/mman.h>
	#include <sys/wait.h>
	#include <unistd.h>
	__attribute__((noinline)) int tick(int i)
	{
		__asm__ volatile("" : "+r"(i));
		return i + 1;
	}
	static void *work(void *data)
	{
		char *pages = mmap(NULL, 300 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		int fd = open("/dev/null", O_WRONLY);
		madvise(pages, 300 * 4096, MADV_NOHUGEPAGE);
		for (int i = 0; i < 300; i++) {
			pages[i * 4096] = 1;
			(void)!write(fd, "x", 1);
			if (i % 10 == 0)
				usleep(10);
			tick(i);
		}
		close(fd);
		return data;
	}
	int main(int argc, char **argv)
	{
		pthread_t t;
		if (argc > 1)
			raise(SIGSTOP);
		work(NULL);
		pthread_create(&t, NULL, work, NULL);
		pthread_join(t, NULL);
		if (fork() == 0)
			_exit(work(NULL) != NULL);
		wait(NULL);
		return 3;
	}
	END
	cc -O2 -pthread "$W/work.c" -o "$W/work"
}

setup() {
	PATH="$WAYMARK_BUILD:$PATH"
	cd "$W"
	waymark stat -o /dev/null -e page-faults:u -- true 2>why || skip "nothing can be counted here: $(cat why)"
}

teardown() {
	[ -z "${pid-}" ] || kill -9 "$pid" 2>/dev/null || true
	[ -z "${open-}" ] || rm -r "$open"
	if [ -n "${probe-}" ]; then
		perf probe -q -d "$probe" 2>/dev/null || true
	fi
}

# Prints why tracepoints cannot be counted here; then the test is skipped.
need_tracepoints() {
	waymark stat -o /dev/null -e sched:sched_switch -- true 2>why || skip "$(cat why)"
}

need_perf() {
	perf stat -e page-faults true 2>/dev/null || skip "perf does not run here: nothing to compare with"
}

# Waits until the process holds this many counters (for each thread) and enables them.
wait_for_counters() {
	until_true eval '[ "$(find "/proc/'"$1"'/fd" -lname "anon_inode:*perf_event*" | wc -l)" -ge '"$2"' ]'
	until_idle "$1"
}

# Starts ./work stopped, attaches both, and lets it run; their counts are in by_perf and by_waymark,
# line by line. Arguments: events for perf, the same for waymark, their number.
count_with_both() {
	./work stop &
	pid=$!
	while [[ $(cat /proc/$pid/stat) != *") T "* ]]; do sleep 0.01; done
	perf stat -x, -o perf.out -e "$1" -p $pid &
	local perf_pid=$!
	waymark stat -x, -o waymark.out -e "$2" -p $pid &
	local waymark_pid=$!
	wait_for_counters $perf_pid "$3"
	wait_for_counters $waymark_pid "$3"
	kill -CONT $pid
	wait $pid || true
	wait $waymark_pid
	wait $perf_pid || true
	by_perf=$(grep -v '^#' perf.out | grep . | cut -d, -f1)
	by_waymark=$(cut -d, -f1 waymark.out)
	[ "$(grep -c . <<<"$by_waymark")" -eq "$3" ]
}

@test "the same numbers as perf stat: tracepoints, system calls, faults, switches" {
	need_perf
	need_tracepoints
	local runs=3 events perf_events
	[ -z "${WAYMARK_LONG-}" ] || runs=20
	perf_events=syscalls:sys_enter_write,syscalls:sys_exit_write,raw_syscalls:sys_enter,sched:sched_switch,sched:sched_process_fork,page-faults,minor-faults,context-switches
	events=syscall:write,syscall:write:exit,raw_syscalls:sys_enter,sched:sched_switch,sched:sched_process_fork,page-faults,sw:minor-faults,cs
	for ((i = 0; i < runs; i++)); do
		count_with_both $perf_events $events 8
		[ "$by_perf" = "$by_waymark" ] || { paste perf.out waymark.out; return 1; }
		# At least three times 300 of each.
		[ "$(sed -n 1p <<<"$by_waymark")" = 900 ]
		[ "$(sed -n 2p <<<"$by_waymark")" = 900 ]
		[ "$(sed -n 6p <<<"$by_waymark")" -ge 900 ]
	done
}

@test "the same numbers as perf stat: a uprobe, by perf probe and by name" {
	need_perf
	need_tracepoints
	[ -d /sys/bus/event_source/devices/uprobe ] || skip "this kernel has no uprobes"
	probe=wm_stat_test:tick$$
	perf probe -q -x ./work $probe=tick 2>why || skip "perf probe cannot: $(cat why)"
	count_with_both $probe,$probe uprobe:./work:tick,uretprobe:./work:tick 2
	[ "$by_perf" = "$by_waymark" ] || { paste perf.out waymark.out; return 1; }
	[ "$(sed -n 1p <<<"$by_waymark")" = 900 ]
	# A probe of perf is an ordinary kernel event.
	run -3 waymark stat -x, -o out -e $probe -- ./work
	[ "$(cut -d, -f1 out)" = 900 ]
}

@test "no probe remains, not even after kill -9; children of the counted command" {
	need_tracepoints
	[ -d /sys/bus/event_source/devices/uprobe ] || skip "this kernel has no uprobes"
	run -0 waymark stat -x, -o out -e uprobe:./work:tick -- sh -c './work; ./work; true'
	[ "$(cut -d, -f1 out)" = 1800 ]
	waymark stat -e uprobe:./work:tick -- sleep 100 3>&- &
	pid=$!
	until_true grep -q "waymark_${pid}_" /sys/kernel/tracing/uprobe_events
	until_true pgrep -P $pid sleep
	local sleeper=$(pgrep -P $pid sleep)
	kill -9 $pid
	kill $sleeper
	until_true eval '! grep -q "waymark_${pid}_" /sys/kernel/tracing/uprobe_events'
}

@test "USDT: every place of a probe, semaphores incremented while it is counted" {
	need_tracepoints
	[ -d /sys/bus/event_source/devices/uprobe ] || skip "this kernel has no uprobes"
	[ "$(uname -m)" = x86_64 ] || skip "the probes of this test are written for x86-64"
	cat >usdt.c <<-'END'
	unsigned short zoo_feed_semaphore __attribute__((section(".probes"), used));
	#define PROBE(name, semaphore) __asm__ volatile("990: nop\n.pushsection .note.stapsdt,\"\",\"note\"\n" \
		".balign 4\n.4byte 992f-991f,994f-993f,3\n991: .asciz \"stapsdt\"\n992: .balign 4\n" \
		"993: .8byte 990b\n.8byte 0\n.8byte " semaphore "\n.asciz \"zoo\"\n.asciz \"" name "\"\n" \
		".asciz \"\"\n994: .balign 4\n.popsection\n")
	int main(void)
	{
		for (int i = 0; i < 50; i++) {
			PROBE("two", "0");
			if (i % 2)
				PROBE("two", "0");
			if (*(volatile unsigned short *)&zoo_feed_semaphore)
				PROBE("feed", "zoo_feed_semaphore");
		}
		return 0;
	}
	END
	cc -O2 -no-pie usdt.c -o usdt
	run -0 waymark stat -x, -e 'usdt:./usdt:zoo:two,usdt:./usdt:zoo:f*' -- ./usdt
	[[ ${lines[0]} == "75,,usdt:$W/usdt:zoo:two,"* ]]
	[[ ${lines[1]} == "50,,usdt:$W/usdt:zoo:feed,"* ]]
	run -4 waymark stat -e usdt:./usdt:zoo:tow -p $$
	[[ $output == *"did you mean 'zoo:two'"* ]]
}

@test "--filter: in the kernel, the same as perf's; filters it cannot evaluate, from the stream" {
	need_tracepoints
	cat >sizes.c <<-'END'
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
	END
	cc sizes.c -o sizes
	counts() { cut -d, -f1 out | paste -sd ' '; }
	run -0 waymark stat -x, -o out -e syscall:write --filter 'count > 90' -e syscall:write \
		--filter 'count == 7 || (count & 64) != 0 && $comm == "si*"' -e syscall:write:exit \
		--filter 'ret < 10' -e syscall:write -- ./sizes
	[ "$(counts)" = "10 38 9 100" ]
	# Before any -e, a filter applies to all events, together with their own filters.
	run -0 waymark stat -x, -o out --filter 'count > 50' -e syscall:write --filter 'count <= 60' \
		-e syscall:write -- ./sizes
	[ "$(counts)" = "10 50" ]
	if perf stat -x, -o perf.out -e syscalls:sys_enter_write --filter 'count > 90' ./sizes 2>/dev/null; then
		[ "$(grep -v '^#' perf.out | grep . | cut -d, -f1)" = 10 ]
	fi
	run -0 waymark stat -x, -o out -e syscall:write --filter 'count % 2 == 0 && $pid > 0' -e syscall:close,syscall:getppid -- ./sizes
	[ "$(counts)" = "50 $(waymark stat -x, -e syscall:close -- ./sizes | cut -d, -f1) 0" ]
	waymark record -q -o even -e syscall:write:enter --filter 'count % 2 == 0 && $pid > 0' -- ./sizes
	[ "$(waymark print even | wc -l)" = 50 ]
	run -0 waymark stat --no-aggr -x, -o out -r 2 -e syscall:write --filter 'count % 2 == 0' -- ./sizes
	[ "$(wc -l <out)" = "$(getconf _NPROCESSORS_ONLN)" ]
	grep -q '^CPU0,' out
	run -0 waymark stat -I 60000 --json -o out -e syscall:write --filter 'count % 2 == 0' -- ./sizes
	python3 -c 'import json; d = json.load(open("out")); i = d["intervals"]; assert sum(e["events"][0]["value"] for e in i) == 50 and d["counted"] == "from the stream" and d["lost"] == 0, d'
	run -2 waymark stat -e page-faults -e syscall:write --filter 'count % 2 == 0' -- ./sizes
	[[ $output == *"sw:page-faults cannot be recorded"* ]]
	run -2 waymark stat -e syscall:write --filter 'count % 2 == 0' -e syscall:write -- ./sizes
	[[ $output == *"is named twice"* ]]
	# Without children: the shell's children are not counted, but its own events are.
	run -0 waymark stat -i -x, -o out -e syscall:write --filter 'count % 2 == 0' -- sh -c './sizes; echo 123 >/dev/null'
	[ "$(counts)" = 1 ]
	run -2 waymark stat -e syscall:write --filter 'cuont > 5' -p $$
	[[ $output == *"has no field 'cuont'"* ]]
	run -2 waymark stat -e syscall:write --filter 'count >' -p $$
	[[ $output == *"^"* ]]
	run -2 waymark stat -e page-faults --filter 'count > 5' -p $$
	[[ $output == *"only tracepoints, system calls and probes have fields"* ]]
	run --separate-stderr -0 waymark stat -x, -e 'syscall:write*' --filter 'count > 90' -- ./sizes
	[[ $stderr == *"lack a field of the filter"* ]]
	[[ $output == *"10,,syscall:write,"* ]]
}

# Adds the counts of an event in rows "COUNT,EVENT,...".
sum_by() { awk -F, -v e="$1" '$2 == e && $1 ~ /^[0-9]+$/ { n += $1 } END { print n + 0 }' out; }

@test "--by: rows add up to the total, for threads and children, for running processes, for all" {
	need_tracepoints
	waymark stat -o /dev/null -e syscall:write --by comm -- true 2>why || skip "$(cat why)"
	run -3 waymark stat -x, -o out -e syscall:write,syscall:write:exit --by comm,tid -- ./work
	[ "$(sum_by syscall:write)" = 900 ]
	[ "$(sum_by syscall:write:exit)" = 900 ]
	# 300 each by main, its thread and its child.
	[ "$(grep -c '^300,syscall:write,work,' out)" = 3 ]
	run -3 waymark stat -i -x, -o out -e syscall:write --by comm -- ./work
	[ "$(sum_by syscall:write)" = 300 ]
	./work stop &
	pid=$!
	while [[ $(cat /proc/$pid/stat) != *") T "* ]]; do sleep 0.01; done
	waymark stat -x, -o out -e syscall:write --by count,pid -p $pid &
	local waymark_pid=$!
	wait_for_counters $waymark_pid 1
	kill -CONT $pid
	wait $pid || true
	wait $waymark_pid
	[ "$(sum_by syscall:write)" = 900 ]
	grep -q "^600,syscall:write,1,$pid$" out
	# The program's events are included in all processes.
	# Its name is its own, because another process with the same name would be counted, too.
	cp work "all$$"
	run -0 waymark stat -a -x, -o out -e syscall:write --by comm,count -- sh -c "./all$$; true"
	[ "$(grep "^[0-9]*,syscall:write,all$$,1\$" out)" = "900,syscall:write,all$$,1" ]
}

@test "--by: texts, signed numbers, JSON; impossible combinations are refused" {
	need_tracepoints
	waymark stat -o /dev/null -e syscall:write --by comm -- true 2>why || skip "$(cat why)"
	waymark stat --json -o out -e syscall:openat,syscall:openat:exit --by '$comm' -- cat /etc/hostname >/dev/null
	waymark stat -x, -o names -e syscall:openat --by filename -- cat /etc/hostname >/dev/null
	grep -q '^1,syscall:openat,/etc/hostname$' names
	run -1 waymark stat -x, -o rets -e syscall:openat:exit --by ret -- cat /nonexistent
	grep -q ',syscall:openat:exit,-2$' rets
	python3 - <<-'END'
	import json
	d = json.load(open("out"))
	totals = {e["event"]: e["value"] for e in d["events"]}
	for table in d["by"]:
	    assert table["left_over"] == 0
	    assert sum(r["count"] for r in table["rows"]) == totals[table["event"]], d
	    assert {r["by"]["$comm"] for r in table["rows"]} == {"cat"}, d
	END
	run -125 waymark stat -e syscall:write --by cuont -- true
	[[ $output == *"has no field 'cuont'"* ]]
	run -125 waymark stat -e page-faults --by comm -- true
	[[ $output == *"has no fields"* ]]
	run -2 waymark stat -e syscall:write --by comm --per-cpu -- true
	run -0 waymark stat -x, -o out -e syscall:write -i --by comm -r 2 -- sh -c './work; echo 123 >/dev/null'
	[ "$(cat out)" = 2,syscall:write,sh ]
}

@test "--by where BPF is not available: filters, repetitions, intervals, from the stream; the same counts" {
	need_tracepoints
	waymark stat -o /dev/null -e syscall:write --by comm -- true 2>why || skip "$(cat why)"
	run -3 waymark stat -x, -o kernel -e syscall:write --by comm,count -- ./work
	run -3 waymark stat -x, -o out -e syscall:write --filter 'count + 0 == 1' --by comm,count -- ./work
	[ "$(grep '^[0-9]*,syscall:write,' kernel)" = "$(cat out)" ]
	[ "$(sum_by syscall:write)" = 900 ]
	run -3 waymark stat -x, -o out -r 2 -e syscall:write:exit --by '$comm,ret' -- ./work
	[ "$(cat out)" = 1800,syscall:write:exit,work,1 ]
	run -0 waymark stat --json -o out -I 100 -e syscall:write --by fd -- sh -c './work; sleep 1; ./work; true'
	python3 - <<-'END'
	import json
	d = json.load(open("out"))
	assert d["counted"] == "from the stream" and d["lost"] == 0, d
	assert len(d["intervals"]) >= 3, d
	rows = [r for i in d["intervals"] for t in i["by"] for r in t["rows"] if r["by"]["fd"] > 2]
	assert sum(r["count"] for r in rows) == 1800, d
	END
}

@test "--by and --filter on a uprobe's arguments: from the stream, and that is reported" {
	need_tracepoints
	[ -d /sys/bus/event_source/devices/uprobe ] || skip "this kernel has no uprobes"
	run -3 waymark stat -x, -o out -e 'uprobe:./work:tick(i=arg1:s32)' --filter 'i >= 290' --by i -- ./work
	[ "$(sort out | sed -n 1p)" = "3,uprobe:$W/work:tick,290" ]
	[ "$(wc -l <out)" = 10 ]
	run -3 waymark stat -x, -o out -e 'uprobe:./work:tick(i=arg1:s32)' --filter 'i >= 290' -- ./work
	[ "$(cut -d, -f1,3 out)" = "30,uprobe:$W/work:tick" ]
}

@test "--timeout ends it, --append appends to a file" {
	run -143 timeout 50 waymark stat --timeout 200 -x, -o out -e page-faults:u -- sleep 20
	run -0 timeout 50 waymark stat --timeout 200 -x, -o out --append -e page-faults:u -p $$
	[ "$(grep -c page-faults out)" = 2 ]
	run -2 waymark stat --append -e page-faults:u -- true
}

# CMD writes ten times at once, and seven times more after something was counted, which the
# intervals in `out` show.
delayed() {
	local write='import os, sys, time
	fd = os.open("/dev/null", os.O_WRONLY)
	[os.write(fd, b"x") for i in range(10)]
	end = time.time() + 60
	while not os.path.getsize(sys.argv[1]) and time.time() < end: time.sleep(0.05)
	[os.write(fd, b"x") for i in range(7)]'
	rm -f out
	"$@" -- python3 -c "${write//$'\t'/}" "$PWD/out"
}

@test "-D: earlier events are not counted, by perf, the counters, from the stream" {
	need_tracepoints
	if perf stat -e page-faults true 2>/dev/null; then
		delayed perf stat -D 2000 -I 100 -x, -o out -e syscalls:sys_enter_write 2>/dev/null
		[ "$(awk -F, '/write/ { n += $2 } END { print n }' out)" = 7 ]
	fi
	delayed waymark stat -D 2000 -I 100 -x, -o out -e syscall:write
	[ "$(awk -F, '{ n += $2 } END { print n }' out)" = 7 ]
	awk -F, 'NR == 1 { exit !($1 < 2) }' out # its time starts when counting starts
	delayed waymark stat -D 2000 -I 100 -x, -o out -e syscall:write --filter 'count + 0 == 1'
	[ "$(awk -F, '{ n += $2 } END { print n }' out)" = 7 ]
	awk -F, 'NR == 1 { exit !($1 < 2) }' out
	run -143 timeout 60 waymark stat -D 2500 --timeout 1 -x, -o out -e page-faults:u,task-clock:u -- \
		sh -c 'cat /etc/passwd /etc/passwd; exec sleep 50'
	[ "$(awk -F, '/page-faults/ { print $1 }' out)" = 0 ]
}

@test "-D -1 never begins; a delay longer than CMD is reported" {
	run -0 --separate-stderr waymark stat --delay -1 -x, -o out -e page-faults:u -- true
	[ "$(cut -d, -f1 out)" = 0 ]
	[ -z "$stderr" ]
	run -5 waymark stat -D 60000 --json -o out -r 2 -e page-faults:u -- true
	[ "$output" = "waymark: nothing was counted: the run ended before the delay of -D (60000 ms) was over; use a shorter -D" ]
	grep -q '"elapsed_ns": *0,' out
	run -3 waymark stat -D 60000 -o out -e page-faults:u -- ./work
	run -2 waymark stat -D -2 -e page-faults:u -- true
	need_tracepoints
	waymark stat -o /dev/null -e syscall:write --by comm -- true 2>why || skip "$(cat why)"
	for filter in --preload=none --filter=count+0==1; do # counted in the kernel, and from the stream of events
		run -0 waymark stat -D -1 -x, -o out -e syscall:write --by comm $filter -- sh -c './work; true'
		[ "$(grep -c '^[0-9]*,syscall:write,' out)" = 0 ]
		run -5 waymark stat -D 60000 -x, -o out -e syscall:write --by comm $filter -- sh -c './work; true'
		[ "$(grep -c '^[0-9]*,syscall:write,' out)" = 0 ]
		[[ $output == *"the delay of -D (60000 ms)"* ]]
	done
}

@test "--by after -D: of children that began before, and at their end" {
	need_tracepoints
	waymark stat -o /dev/null -e syscall:write --by comm -- true 2>why || skip "$(cat why)"
	timeout 60 waymark stat -D 1500 -x, -o out -e syscall:write,sched:sched_process_exit --by comm -- \
		sh -c 'echo before; (sleep 3; echo after; exit 0); true' >/dev/null
	grep -q '^1,syscall:write,sh$' out
	grep -q '^1,sched:sched_process_exit,sleep$' out
}

@test "a command: its tree is counted from its first instruction, its status is returned" {
	run -3 waymark stat -x, -o out -e page-faults:u,task-clock:u -- ./work
	[ "$(cut -d, -f1 out | head -1)" -ge 900 ]
	run -3 waymark stat -i -x, -o alone -e page-faults:u -- ./work
	# Without the thread and the child.
	[ "$(cut -d, -f1 alone)" -lt 800 ]
	run -143 waymark stat -o out -e page-faults:u -- sh -c 'kill $$'
	run -127 waymark stat -o out -e page-faults:u -- /nonexistent
	[[ $output == *"cannot run '/nonexistent': No such file"* ]]
	run -126 waymark stat -o out -e page-faults:u -- /etc/passwd
}

@test "the table: header, thousands, rates, times" {
	run --separate-stderr -3 waymark stat -e page-faults:u,task-clock:u -- ./work
	[ -z "$stderr" ]
	[[ ${lines[0]} =~ ^\ +COUNT\ \ EVENT$ ]]
	[[ ${lines[1]} =~ ^\ +[0-9,]+\ \ sw:page-faults:u\ \ [0-9,]+\ per\ second$ ]]
	[[ ${lines[2]} =~ ^\ +[0-9.]+\ ms\ \ sw:task-clock:u\ \ +[0-9.]+\ CPUs\ used$ ]]
	[[ $output =~ [0-9.]+\ s\ elapsed,\ [0-9.]+\ s\ user,\ [0-9.]+\ s\ system ]]
}

@test "zeros of a wildcard are one line; those of a name are printed, and all are in JSON" {
	need_tracepoints
	run --separate-stderr -3 waymark stat -e 'syscall:*,syscall:swapoff' -- ./work
	[[ $output =~ \ syscall:write\ .*per\ second ]]
	[ "$(grep -c ' 0  syscall:swapoff$' <<<"$output")" -eq 1 ]
	[[ ! $output =~ syscall:reboot ]]
	[[ $output =~ \ 0\ \ for\ each\ of\ the\ [0-9]+\ other\ events\ that\ match\ the\ wildcards ]]
	run --separate-stderr -3 waymark stat --json -e 'syscall:re*' -- ./work
	[[ $output =~ syscall:reboot ]]
}

@test "a system call by its libc name" {
	need_tracepoints
	run --separate-stderr -0 waymark stat -x, -e syscall:uname -- uname
	[ "$(grep -c '^[1-9][0-9]*,,syscall:newuname,' <<<"$output")" -eq 1 ]
}

@test "without -e: clocks, switches, faults" {
	run --separate-stderr -0 waymark stat --json -- true
	python3 - "$output" <<-'END'
	import json, sys
	d = json.loads(sys.argv[1])
	names = [e["event"].removesuffix(":u") for e in d["events"]]
	# An unavailable default event is not a failure, whether or not it is counted.
	assert names[:4] == ["sw:task-clock", "sw:context-switches", "sw:cpu-migrations", "sw:page-faults"], names
	assert d["elapsed_ns"] > 0 and d["runs"] == 1
	fault = d["events"][3]
	assert fault["value"] > 20 and fault["scaled"] is False, fault
	END
}

@test "-r: means and standard errors" {
	run -3 waymark stat -r 4 --json -o out -e page-faults:u -- ./work
	python3 - <<-'END'
	import json
	d = json.load(open("out"))
	e = d["events"][0]
	assert d["runs"] == 4 and e["value"] >= 900 and 0 <= e["spread"] < 0.05, d
	assert e["running_ns"] == e["enabled_ns"]
	END
	run -0 waymark stat -r 3 -e page-faults:u -- true
	[[ ${lines[1]} == *" +- "*" %"* ]]
	[[ $output == *"mean of 3 runs"* ]]
}

@test "-I: intervals add up to the total" {
	# At least 20 times 900 faults, over a second and a half.
	run -0 waymark stat -I 100 -x, -o parts -e page-faults:u -- sh -c 'for i in 1 2 3 4 5; do ./work; sleep 0.3; done; true'
	[ "$(wc -l <parts)" -ge 4 ]
	[ "$(awk -F, '{ n += $2 } END { print n }' parts)" -ge 4500 ]
	awk -F, '$1 <= last { exit 1 } { last = $1 }' parts
	run -0 waymark stat -I 100 --json -o parts -e page-faults:u -- sleep 1
	python3 -c 'import json; d = json.load(open("parts")); assert len(d["intervals"]) >= 3, d'
}

@test "--per-cpu and -C: rows that add up; --per-thread: a row for each" {
	run -3 waymark stat --per-cpu -x, -o out -e page-faults:u -- ./work
	[ "$(wc -l <out)" -eq "$(getconf _NPROCESSORS_ONLN)" ]
	[ "$(awk -F, '{ n += $2 } END { print n }' out)" -ge 900 ]
	grep -q ^CPU0, out
	sleep 30 &
	pid=$!
	run -0 waymark stat --per-thread -e page-faults:u -p $pid -- sleep 0.1
	[[ ${lines[0]} == WHERE* ]]
	[[ $output == *"sleep-$pid "* ]]
	sleep 0.2 & # its name is shown although it has ended
	run -0 waymark stat --per-thread -e page-faults:u -p $!
	[[ $output == *"sleep-$! "* ]]
	run -2 waymark stat --per-thread -- true
	run -2 waymark stat -C 0-x -- true
	[[ $output == *"-C needs a list of CPUs"* ]]
}

@test "groups are opened as perf opens them, and counted together" {
	run -3 waymark stat --json -o out -e '{page-faults,task-clock}:u,cpu-clock:u' -- ./work
	python3 - <<-'END'
	import json
	faults, task, cpu = json.load(open("out"))["events"]
	assert faults["event"] == "sw:page-faults:u" and faults["value"] >= 900, faults
	assert task["event"] == "sw:task-clock:u" and task["value"] > 0, task
	assert faults["enabled_ns"] == task["enabled_ns"] > 0, (faults, task)
	END
	command -v strace >/dev/null || skip "no strace"
	# Prints, for each event that is opened, the number of the event that leads its group; -1: none.
	opened() {
		strace -f -o trace -e trace=perf_event_open "$@" -- true >/dev/null 2>&1
		python3 - <<-'END'
		import re
		leaders = []
		for line in open("trace"):
		    call = re.search(r", -?\d+, -?\d+, (-?\d+), [A-Z_|0]+\) = (\d+)$", line)
		    if call:
		        print(leaders.index(call[1]) if call[1] != "-1" else -1)
		        leaders.append(call[2])
		END
	}
	events='{page-faults:u,task-clock:u},cpu-clock:u,{page-faults:u,cpu-clock:u}'
	opened waymark stat -e "$events" >ours
	printf '%s\n' -1 0 -1 -1 3 | diff - ours
	if command -v perf >/dev/null; then
		opened perf stat -e "$events" >perfs
		diff perfs ours
	fi
}

@test "events that cannot be counted together are counted one by one; malformed groups" {
	command -v strace >/dev/null || skip "no strace"
	# The kernel refuses the second of them as a member.
	nr=$(strace -o /dev/stdout -e trace=perf_event_open waymark stat -o /dev/null -e page-faults:u -- true | grep -c perf_event_open)
	run strace -o /dev/null -e trace=perf_event_open -e inject=perf_event_open:error=EINVAL:when=$((nr + 1)) \
		waymark stat -x, -e '{page-faults:u,task-clock:u}' -- true
	[[ $output == *"events of a group are counted one by one"*"'sw:task-clock:u'"* ]]
	[[ $output == *",,sw:page-faults:u,"* ]]
	[[ $output == *",msec,sw:task-clock:u,"* ]]
	[[ $output != *"not counted"* ]]
	run -2 waymark stat -e '{page-faults' -- true
	[[ $output == *"not closed; a group is written {EVENT,EVENT,...}"* ]]
	run -2 waymark stat -e '{page-faults,user:app:x}' -- true
	[[ $output == *"'user:app:x' cannot be in a group"* ]]
	run -2 waymark stat --by cpu -e '{sched:sched_switch,page-faults}' -- true
}

@test "-p ends with the process, -a with CMD" {
	sleep 3 &
	run -0 timeout 50 waymark stat -x, -e page-faults:u -p $!
	waymark stat -o /dev/null -a -e cpu-clock -- true 2>why || skip "$(cat why)"
	run -0 waymark stat -a -x, -e cpu-clock -- sleep 0.2
	# The clock of each CPU runs all the time.
	[ "${output%%.*}" -ge "$((200 * $(getconf _NPROCESSORS_ONLN)))" ]
}

@test "wrong use is reported: no match, no process, malformed, no event" {
	run -4 waymark stat -e page-fautls -p 1
	[[ $output == *"did you mean"*"page-faults"* ]] || [[ $output == *"cannot search the kernel's tracepoints"* ]]
	run -125 waymark stat -e page-fautls -- true
	run waymark stat -e user:shop:order -p $$
	[ "$status" -ne 0 ]
	[[ $output == *"has no waymark runtime"* ]]
	run -2 waymark stat -e mem:xyz -- true
	[[ $output == *"mem:ADDRESS"* ]]
	run -2 waymark stat
	[[ $output == *"nothing to count"* ]]
	run -1 waymark stat -e page-faults -p 4194300
	[[ $output == *"there is no process 4194300"* ]]
	run -2 waymark stat -x, --json -- true
	run -2 waymark stat -a -p 1
}

@test "a missing event is named, the others are counted, the status shows it" {
	[ ! -e /sys/bus/event_source/devices/cpu ] || skip "this machine has hardware counters"
	run --separate-stderr -5 waymark stat -x, -e cycles,page-faults:u -- true
	[[ $stderr == *"not counted: 'cpu:cycles'"* ]]
	[[ ${lines[0]} == "<not counted>,,cpu:cycles,"* ]]
	[ "${lines[1]%%,*}" -gt 20 ]
	run -125 waymark stat -e cycles -- true
	[[ $output == *"this virtual machine has no access to it"* ]]
}

@test "root of a user namespace: user faults are counted, the cure for the others is printed" {
	[ "$(cat /proc/sys/kernel/perf_event_paranoid)" = 2 ] || skip "others may count other things here"
	unshare -Ur true 2>/dev/null || skip "no user namespaces for us"
	run --separate-stderr -3 unshare -Ur waymark stat -x, -e page-faults -- ./work
	[[ ${lines[0]} == *",,sw:page-faults:u,"* ]]
	[ "${lines[0]%%,*}" -ge 900 ]
	run -125 unshare -Ur waymark stat -e context-switches -- true
	[[ $output == *"run as root outside of this user namespace (container), or: sudo sysctl"* ]]
	run -125 unshare -Ur waymark stat -a -e page-faults:u -- true
	[[ $output == *"run as root outside of this user namespace"* ]]
}

@test "user nobody: user faults are counted, missing permissions are reported with their cure" {
	[ "$(id -u)" -eq 0 ] || skip "not root: cannot become nobody"
	[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -ge 2 ] || skip "everybody may count the kernel here"
	[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -lt 3 ] || skip "nobody may count anything here"
	open=$(mktemp -d)
	chmod 755 "$open"
	cp "$(command -v waymark)" work "$open/"
	cd "$open"
	nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
	run --separate-stderr -3 nobody ./waymark stat -x, -e page-faults,context-switches -- ./work
	[[ ${lines[0]} == *",,sw:page-faults:u,"* ]]
	[ "${lines[0]%%,*}" -ge 900 ]
	[[ $stderr == *"perf_event_paranoid"*"sudo sysctl"* ]]
	run -125 nobody ./waymark stat -e sched:sched_switch -- true
	[[ $output == *"only root may read"*"mount -o remount"* ]]
	run -3 nobody ./waymark stat -e sched:sched_switch -p $$
}
