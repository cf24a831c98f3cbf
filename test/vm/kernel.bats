#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# kernel.bats - tests facilities that the kernels of test machines may lack, on Debian's kernel in
# the machine of tools/vm: kprobes, the function tracer, an older interface. It also runs the tests
# of rooms kernel and kdata: those skipped outside may not be skipped there.

bats_require_minimum_version 1.7.0
load setup_suite

setup() {
	vm_setup kernel
}

@test "the tests of rooms kernel and kdata pass there, and none of kprobes or tracefs is skipped" {
	cat "$W/out" "$W/err" script.err
	[ -e done ]
	[ "$(ls units | wc -l)" -gt 4 ]
	for unit in units/*; do
		if ! grep -q '\[  PASSED  \]' "$unit" || grep -q '\[  FAILED  \]' "$unit"; then
			cat "$unit"
			return 1
		fi
	done
	! grep -E 'skipped: .*(kprobes|uprobes|tracefs|tracing file system|system call events)' units/* || false
}

# Prints the count of an event in a file of `stat -x ,`.
count() {
	awk -F, -v name="$2" '$3 == name { print $1 }' "$1"
}

@test "kprobes, kretprobes, functions by glob: as many as the kernel's own probes and histograms count" {
	cat stat.csv stat.err profile hist
	[ "$(cat stat.status)" -eq 3 ]
	[ "$(grep -c '^1000,' stat.csv)" -eq 7 ]
	[ "$(count stat.csv kretprobe:__x64_sys_getpgid)" -eq 1000 ]
	[ "$(count stat_all.csv kprobe:__x64_sys_getpgid)" -eq 500 ]
	[ "$(count stat_all.csv syscall:getpgid)" -eq 500 ]
	[ "$(awk '$1 == "getpgid" { print $2 }' profile)" -eq 1500 ]
	grep -q 'Hits: 1500$' hist
}

@test "counts by the values of fields, by a program in this kernel; filters" {
	cat by by.err filter.csv filter.err
	[ "$(cat by.status)" -eq 3 ]
	grep -qE '^ +300  calls +121$' by
	[ "$(count filter.csv raw_syscalls:sys_enter)" -eq 200 ]
}

@test "a function of the kernel has the instructions that are in its memory" {
	cat kernel_time.err
	python3 - <<-'END'
	import json
	a = json.load(open("kernel_code.json"))
	assert not [n for n in a["notes"] if n["name"] == "code"], a["notes"]
	rows = a["tables"][0]["rows"]
	start = int(open("kernel_code.kallsyms").read().split()[0], 16)
	assert rows[0]["address"] == start and all(r["instruction"] for r in rows), rows
	assert sum(r["events"] for r in rows) > 100 and abs(sum(r["share"] for r in rows) - 1) < 1e-9, rows
	assert any(r["instruction"].startswith(("ret", "jmp")) for r in rows), rows
	END
}

@test "perf and waymark on one stopped process count the same" {
	[ -s perf.csv ] || skip "no perf in the machine"
	cat perf.csv both.csv
	[ "$(count both.csv sched:sched_process_fork)" -eq 1 ]
	[ "$(count both.csv raw_syscalls:sys_enter)" -gt 2000 ]
	local name ours
	for name in sched:sched_process_fork sched:sched_process_exit raw_syscalls:sys_enter page-faults context-switches; do
		ours=$(awk -F, -v name="$name" '$3 == name || $3 == "sw:" name { print $1 }' both.csv)
		[ "$ours" -eq "$(count perf.csv "$name")" ]
	done
}

@test "what cannot be probed is said with the reason; Debian's paranoia with its cure" {
	cat refused
	[ "$(sort -u refused.status)" = 125 ]
	grep -q "'kprobe:no_such_function' cannot be probed: the kernel has no function of this name" refused
	grep -q "'kprobe:__x64_sys_getpgid+1' cannot be probed: no instruction begins" refused
	grep -q "'kprobe:do_int3' cannot be probed: the kernel allows no probe here" refused
	[ "$(cat nobody.status)" -ne 0 ]
	grep -q 'kernel.perf_event_paranoid must be at most [12] (now 3)' nobody.err
}

@test "doctor knows this kernel: what it has, what it is too old for, what nobody may" {
	cat doctor
	grep -q '^  yes  *in the kernel  *any function of the kernel' doctor
	grep -q '^  yes  *function tracer  *function and function_graph' doctor
	grep -q '^  yes  *histograms ' doctor
	grep -q '^  yes  *same clock as programs  *CLOCK_MONOTONIC (mono), as in programs' doctor
	grep -q '^  yes  *names of kernel addresses ' doctor
	grep -q '^  partly  *buffers  *readable, not mappable' doctor
	grep -q '^  no  *your own processes .*kernel.perf_event_paranoid must be at most 2 (now 3)' doctor.nobody
	grep -q '^  no  *names of kernel addresses ' doctor.nobody
}

@test "list names what this kernel has, functions among it" {
	grep -q '^kprobe  *any ' families
	grep -q '  kprobe:__x64_sys_getpgid  *kprobe$' list.kprobe
	[ "$(grep -c '^  sched:' list.sched)" -eq "$(wc -l <tracefs.sched)" ]
}

@test "system calls are recorded through rings that are read, none lost, and babeltrace2 reads them" {
	cat getpgid.err getpgid.info
	[ "$(cat getpgid.status)" -eq 3 ]
	grep -q '^waymark: 10000 events (10000 of the kernel), .* 0 lost: getpgid$' getpgid.err
	grep -q '^clock *monotonic,' getpgid.info
	[ "$(grep -c 'calls:.* syscalls:sys_enter_getpgid: ' getpgid.text)" -eq 5000 ]
	[ "$(grep -c 'calls:.* syscalls:sys_exit_getpgid: ' getpgid.text)" -eq 5000 ]
	"$WAYMARK_BUILD/waymark" print getpgid | cmp - getpgid.text
	[ "$(babeltrace2 getpgid 2>bt.err | grep -c getpgid)" -eq 10000 ]
	[ ! -s bt.err ]
}

@test "the whole machine, in the layouts of this kernel's events; nothing of ours is left" {
	cat machine.err
	"$WAYMARK_BUILD/waymark" info machine
	grep 'sys_enter: .*NR 121 ' machine.text | cut -d' ' -f3 | sort | uniq -c
	[ "$(cat machine.status)" -eq 3 ]
	grep -q 'sched:sched_switch: .* prev_state=' machine.text
	[ "$(grep -c ' raw_syscalls:sys_enter: .*NR 121 ' machine.text)" -eq 100 ]
	[ "$(babeltrace2 machine 2>bt.err | grep -vcE ' (waymark|perf):')" -eq "$(wc -l <machine.text)" ]
	[ ! -s bt.err ]
	[ ! -s instances.after ]
}

@test "a program's events and the kernel's are in true order on the clock they share" {
	cat beside.err beside.text
	[ "$(cat hello.out)" = $'hello, world\nhello, world\nhello, world' ]
	# Its output is a file, so there is one write(2), after the three events.
	[ "$(grep -oE 'hello:greeting|sys_enter_write|sys_exit_write' beside.text | paste -sd ' ')" = \
		"hello:greeting hello:greeting hello:greeting sys_enter_write sys_exit_write" ]
}

@test "killed while it probes, it leaves its own probes no longer and others' alone" {
	grep -q waymark probes.before
	grep -q mine/getpgid probes.before
	! grep waymark probes.after || false
	grep -q mine/getpgid probes.after
}
