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

# What perf says of each sample: its event and its print form.
perf_says() {
	perf script -i "$1" -F event,trace 2>/dev/null | sed 's/^ *//; s/: */ /2; s/ *$//'
}
we_say() {
	waymark print --format=perf "$1" | sed 's/^.*[0-9]: \([a-z_]*:[a-z_]*\): /\1 /; s/ *$//'
}

record_tracepoints() {
	perf record -q "$@" -e sched:sched_switch,sched:sched_wakeup,syscalls:sys_exit_read \
		sh -c 'for i in 1 2 3 4 5 6 7 8 9; do echo $i | cat; done' >/dev/null 2>err ||
		skip "perf may not record tracepoints here: $(head -1 err)"
}

@test "tracepoints of a file: the same events with the same print forms" {
	record_tracepoints -o p.data
	perf_says p.data >perf.txt
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

@test "samples with call chains: as many, as deep" {
	perf record -q -g -e cpu-clock -o g.data -- sh -c 'i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done' 2>err ||
		skip "$(head -1 err)"
	run -0 waymark print --format=jsonl g.data
	[ "${#lines[@]}" = "$(perf script -i g.data -F event 2>/dev/null | grep -c cpu-clock)" ]
	[[ ${lines[0]} == *callchain* ]]
}
