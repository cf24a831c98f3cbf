#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# top.bats - tests what older kernels offer only in the system's own trace buffer, the graph of
# functions and writes to trace_marker, on Debian's kernel in the machine of tools/vm: the buffer is
# taken when no process uses it, its state is restored afterwards, and otherwise it is refused with
# a message.

bats_require_minimum_version 1.7.0
load setup_suite

setup() {
	vm_setup top
}

taken() { # NAME
	cat "$W/err" script.err "$1.err"
	[ "$(cat "$1.status")" -eq 0 ]
	grep -q ' 0 lost' "$1.err"
	run -0 --separate-stderr babeltrace2 "$1"
	[ -z "$stderr" ]
	diff "$1.before" "$1.after"
}

@test "the graph of functions: of the command and its children, each entry with its exit" {
	[ -e done ]
	taken graph
	[ "$(grep -c ' dd:.*ftrace:funcgraph_entry: .*--> vfs_read (0)' graph.text)" -ge 2 ]
	[ "$(grep -c ' dd:.*ftrace:funcgraph_exit: .*<-- vfs_read (0) [1-9][0-9]* ns over: 0' graph.text)" -ge 2 ]
	[ "$(grep -c funcgraph_entry graph.text)" -eq "$(grep -c funcgraph_exit graph.text)" ]
	run -1 grep -v ' dd:\| sh:\| waymark:' graph.text
	run -0 babeltrace2 graph
	grep -q 'funcgraph_exit: .* func = [0-9A-Fx]*, depth = 0, overrun = 0, calltime = [0-9]*, rettime = [0-9]* }' <<<"$output"
}

@test "beside events and functions of its own instance, in order" {
	taken mixed
	grep -q 'ftrace:function: .*vfs_open' mixed.text
	grep -q 'sys_enter_openat' mixed.text
	grep -q 'funcgraph_exit.*vfs_read' mixed.text
	run -1 grep -q ' waymark-pump:' mixed.text # from all processes except the recorder
	cut -c2-19 mixed.text | sort -c
}

@test "a write to trace_marker lies between the events around it, ten thousand times" {
	taken markers
	grep -q '30000 events (10000 of the kernel)' markers.err
	run -0 sh -c "grep -o 'app:before\|ftrace:print\|app:after' markers.text | paste - - - | sort | uniq -c"
	[[ $output =~ ^\ *10000\ app:before.ftrace:print.app:after$ ]]
	taken filter
	[ "$(grep -c ftrace:print filter.text)" -eq 10 ]
}

@test "a buffer that is not as usual is given back as it was found" {
	taken odd
	grep -q 'mono \[mono_raw\]' odd.after
	grep -q 'buffer_size_kb:3000' odd.after
	grep -q 'tracing_on:0' odd.after
	[ "$(grep -c funcgraph odd.text)" -ge 2 ]
}

@test "who or what uses it is said, and nothing is changed" {
	local what
	for what in tracer event unread filter pid cpus reader ours notrace; do
		echo "$what"
		cat "refused_$what.err"
		[ "$(cat "refused_$what.status")" -eq 125 ]
		grep -q "own trace buffer, which is in use: " "refused_$what.err"
		diff "refused_$what.before" "refused_$what.after"
	done
	grep -q "offers the function graph (before Linux 6.11)" refused_event.err
	grep -q "offers the texts written to trace_marker (before Linux 6.16)" refused_tracer.err
	grep -q "/sys/kernel/tracing/current_tracer contains 'function'" refused_tracer.err
	grep -q "/set_event contains 'sched:sched_process_fork'" refused_event.err
	grep -q 'it holds [0-9]* unread event' refused_unread.err
	grep -q "/set_ftrace_filter contains 'vfs_open'" refused_filter.err
	grep -q "/set_event_pid contains '1'" refused_pid.err
	grep -q "tracing_cpumask excludes some CPUs" refused_cpus.err
	grep -q "process [0-9]* (cat) reads it" refused_reader.err
	grep -q "process [0-9]* (waymark-pump) reads it" refused_ours.err
	diff killed.before after_all
}

@test "killed in the midst of it: the pump gives it back, or the next start does" {
	diff killed.before killed.pump
	grep -q 'current_tracer:function_graph' killed.between
	grep -q 'waymark-top-' killed.between
	diff killed.before killed.after
}
