#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# perfdata.bats - perf.data recorded on the spot, read by waymark and by perf.

bats_require_minimum_version 1.5.0

setup() {
	PATH="$WAYMARK_BUILD:$PATH"
	export BATS_TEST_TIMEOUT=60
	cd "$BATS_TEST_TMPDIR"
	command -v perf >/dev/null || skip "perf is not installed"
}

# Lines of perf script with these fields, and ours; columns are as wide as the version likes.
perf_says() { # FILE FIELDS
	perf script -i "$1" -F "$2" 2>/dev/null | tr -s ' ' | sed 's/ *$//'
}
we_say() {
	waymark print --format=perf "$1" | tr -s ' ' | sed 's/ *$//'
}

record_tracepoints() {
	perf record -q "$@" -e sched:sched_switch,sched:sched_wakeup,syscalls:sys_exit_read \
		sh -c 'for i in 1 2 3 4 5 6 7 8 9; do echo $i | cat; done' >/dev/null 2>err ||
		skip "perf may not record tracepoints here: $(head -1 err)"
}

@test "tracepoints of a file: the same events with the same print forms" {
	record_tracepoints -o p.data
	perf_says p.data comm,tid,cpu,time,event,trace >perf.txt
	we_say p.data >ours.txt
	[ "$(wc -l <ours.txt)" -gt 50 ]
	diff perf.txt ours.txt
}

@test "the same of a pipe, and compressed" {
	perf record -q -o - -e sched:sched_switch -- sleep 0.05 >pipe.data 2>err || skip "$(head -1 err)"
	[ "$(we_say pipe.data | wc -l)" = "$(perf script -i pipe.data 2>/dev/null | wc -l)" ]
	record_tracepoints -z -o z.data
	[ "$(we_say z.data | wc -l)" = "$(perf script -i z.data 2>/dev/null | wc -l)" ]
}

@test "samples without symbols: the same lines" {
	perf record -q -e page-faults -c 1 -o f.data -- sh -c 'for i in 1 2 3 4 5 6; do ls; done' >/dev/null 2>err ||
		skip "$(head -1 err)"
	perf_says f.data comm,tid,time,event,period,ip >perf.txt
	we_say f.data >ours.txt
	[ "$(wc -l <ours.txt)" -gt 100 ]
	diff perf.txt ours.txt
}

# Addresses of programs are shown by perf as they are in their files: that takes symbols.
@test "call chains and names of several kinds: the same lines but for the program's addresses" {
	local user='/^\t *[0-9a-f]\{1,15\}$/d'
	perf record -q -g -e cpu-clock,page-faults -o g.data -- sh -c 'for i in 1 2 3; do ls; done' >/dev/null 2>err ||
		skip "$(head -1 err)"
	perf_says g.data comm,tid,time,event,period,ip | sed "$user" >perf.txt
	we_say g.data | sed "$user" >ours.txt
	grep -q ' page-faults:' ours.txt
	grep -q '^	' ours.txt || skip "no chain has an address of the kernel"
	diff perf.txt ours.txt
}

@test "samples with call chains: as many, as deep" {
	perf record -q -g -e cpu-clock -o g.data -- sh -c 'i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done' 2>err ||
		skip "$(head -1 err)"
	run -0 waymark print --format=jsonl g.data
	[ "${#lines[@]}" = "$(perf script -i g.data -F event 2>/dev/null | grep -c cpu-clock)" ]
	[[ ${lines[0]} == *callchain* ]]
}
