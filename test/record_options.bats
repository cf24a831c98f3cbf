#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# record_options.bats - the table of the options of record and the kinds of events: in each cell, the
# option acts, which the trace shows, or is refused with a sentence. None is ignored.
#
# A row of the table is
#
#     KINDS    OUTCOME    OPTIONS
#
# with kinds from the list in kind(). OUTCOME is !TEXT for a refusal with status 2 (125!TEXT: 125) and
# that text; =N, <N or >N for the number of events; or ~TEXT for text that each event has. OPTIONS
# follow -e EVENT; those after "before" precede it. WAYMARK_LONG adds the rows with "long".

bats_require_minimum_version 1.5.0
load wait

setup_file() {
	export W="$BATS_FILE_TMPDIR" BATS_TEST_TIMEOUT=300
	cat >"$W/work.c" <<-'END'
	/* Does 400 times: a mark, a call of probed(), of getcpu(2), a page fault, malloc. */
	#include <stdlib.h>
	#include <sys/mman.h>
	#include <sys/syscall.h>
	#include <unistd.h>
	#include <waymark/tracepoint.h>
	#define N 400
	WAYMARK_EVENT(tab, mark, WAYMARK_ARGS(int, n), WAYMARK_FIELDS((i32, n, n)));
	static volatile unsigned sum;
	__attribute__((noipa)) int probed(int n) { sum += n; return n; }
	__attribute__((noipa)) void round(char *p, int n)
	{
		trace_event(tab, mark, n);
		(void)probed(n);
		(void)syscall(SYS_getcpu, 0, 0, 0);
		p[n * 4096] = 1;
		free(malloc(100));
		sum++;
	}
	int main(int argc, char **argv)
	{
		char *p = mmap(NULL, N * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), go;
		if (p == MAP_FAILED || madvise(p, N * 4096, MADV_NOHUGEPAGE))
			return 1;
		if (argc > 1 && read(0, &go, 1) != 1)
			return 1;
		for (int n = 0; n < N; n++)
			round(p, n);
		for (int n = 0; n < 20000000; n++)
			sum += n;
		return 0;
	}
	END
	gcc -O1 -g -fno-omit-frame-pointer -I"$WAYMARK_SOURCE/include" "$W/work.c" -o "$W/work" \
		-L"$WAYMARK_BUILD" -Wl,--no-as-needed -l:libwaymark-rt.so.0 -Wl,-rpath,"$WAYMARK_BUILD"
}

setup() {
	PATH="$WAYMARK_BUILD:$PATH"
	cd "$BATS_TEST_TMPDIR"
	cp "$W/work" work
	program=
	[ -e /sys/kernel/tracing/events/syscalls/sys_enter_getcpu ] || skip "no tracefs we may use"
	waymark record -q -c 1 -e page-faults -o probe -- true 2>/dev/null || skip "nothing can be sampled here"
}

teardown() {
	[ -z "$program" ] || kill "$program" 2>/dev/null || true
}

kind() {
	case $1 in
	clock) echo sw:cpu-clock ;;
	fault) echo page-faults ;;
	call) echo syscall:getcpu:enter ;;
	probe) echo uprobe:./work:probed ;;
	mark) echo tab:mark ;;
	print) echo ftrace:print ;;
	function) echo func:kernel:vfs_read ;;
	proc) echo proc:loadavg ;;
	pmu) echo msr/tsc/ ;;
	esac
}

# The name of the event in the trace.
shown() {
	case $1 in
	fault) echo ' sw:page-faults:' ;;
	call) echo ' syscalls:sys_enter_getcpu:' ;;
	probe) echo ' uprobe:work:probed:' ;;
	*) echo " $(kind "$1"):" ;;
	esac
}

check() { # KIND OUTCOME
	local nr had
	waymark print --all t >text || true
	nr=$(grep -c -- "$(shown "$1")" text || true)
	case $2 in
	=*) [ "$nr" -eq "${2#=}" ] ;;
	\<*) [ "$nr" -lt "${2#<}" ] ;;
	\>*) [ "$nr" -gt "${2#>}" ] ;;
	\~*)
		had=$(grep -- "$(shown "$1")" text | grep -cF -- "${2#\~}" || true)
		[ "$nr" -gt 0 ] && [ "$had" -eq "$nr" ]
		;;
	esac || {
		echo "$1: $nr events, ${had-} of them have '$2'"
		head -5 text
		return 1
	}
}

cell() { # KIND OUTCOME OPTIONS
	local event expected=0 sentence
	local -a options before=() after=()
	[ "$1" != pmu ] || [ -e /sys/bus/event_source/devices/msr ] || return 0
	event=$(kind "$1")
	eval "options=($3)"
	if [ "${options[0]}" = before ]; then before=("${options[@]:1}"); else after=("${options[@]}"); fi
	echo "record ${before[*]} -e $event ${after[*]}: $2"
	case $2 in
	125!*) expected=125 sentence=${2#125!} ;;
	!*) expected=2 sentence=${2#!} ;;
	esac
	rm -rf t
	run -$expected --separate-stderr waymark record -o t "${before[@]}" -e "$event" "${after[@]}" -- ./work
	echo "$stderr"
	if [ "$expected" != 0 ]; then
		[[ $stderr == *"$sentence"* ]]
		[ ! -e t ]
	else
		check "$1" "$2"
	fi
}

# Runs the rows of standard input.
table() {
	local kinds outcome options one
	while IFS='|' read -r kinds outcome options; do
		kinds=$(echo $kinds) outcome=$(echo $outcome) options=$(echo $options)
		[ -n "$kinds" ] || continue
		if [[ $kinds == *long* ]]; then
			[ -n "${WAYMARK_LONG-}" ] || continue
			kinds=${kinds/long/}
		fi
		for one in $kinds; do
			cell "$one" "$outcome" "$options"
		done
	done
}

@test "rates and periods" {
	table <<-'END'
	clock             | ~period = 1000000 }       | -c 1000000
	fault call        | <100                      | -c 10
	fault call        | >19                       | -c 10
	clock fault       | >0                        | -F 1000
	call long         | <400                      | -F 1000
	fault             | <100                      | before -c 10
	call long         | <100                      | before -c 10
	probe             | !is a probe               | -c 10
	probe             | !is a probe               | -F 99
	mark              | !are recorded every time  | -c 10
	mark              | !are recorded every time  | -F 99
	print function    | !is recorded each time    | -c 10
	proc              | !is read, not sampled     | -F 99
	probe mark print  | !put them after the -e    | before -c 10
	pmu               | !does not sample it       | -F 99
	pmu               | !does not sample it       |
	END
}

@test "call chains" {
	table <<-'END'
	fault call        | ~callchain = [            | -g
	clock long        | ~callchain = [            | -g
	mark              | ~ustack =                 | -g
	fault             | ~callchain = [            | before -g
	call long         | ~callchain = [            | before -g
	fault             | ~stack_user = <           | -g dwarf
	clock call long   | ~stack_user = <           | -g dwarf
	mark              | !use -g without dwarf     | -g dwarf
	print function    | !recorded each time       | -g
	proc              | !is read, not sampled     | -g
	END
}

@test "values with each event, and intervals" {
	table <<-'END'
	mark              | ~ustack =                 | --context ustack
	mark              | ~ustack =                 | before --context ustack
	mark              | ~cpu =                    | --context cpu
	call              | ~cpu =                    | --context cpu
	fault             | ~cpu =                    | --context cpu -c 10
	clock fault call probe print proc | !is no event of programs  | --context ustack
	fault call probe print proc | !--context ustack belongs to| before --context ustack
	proc              | >3                        | --every 1ms
	proc              | >3                        | before --every 1ms
	clock fault call probe mark print | !is not read at intervals | --every 1ms
	fault call probe mark print | !--every is the interval of the counters of /proc| before --every 1ms
	END
	# Before the first -e they belong to the events that can have them.
	waymark record -q --context ustack --every 1ms -e syscall:getcpu -e tab:mark -e proc:loadavg -o two -- ./work
	[ "$(waymark print two | grep -c 'tab:mark: .*ustack =')" -eq 400 ]
}

@test "filters and exclusions" {
	table <<-'END'
	clock fault       | !cannot be filtered       | --filter 'n > 300'
	call probe        | !has no field             | --filter 'n > 300'
	mark              | =99                       | --filter 'n > 300'
	mark              | =99                       | before --filter 'n > 300'
	call              | =400                      | --filter '__syscall_nr > 0'
	call              | =0                        | --filter '__syscall_nr < 0'
	call long         | =0                        | -c 1 --filter '__syscall_nr < 0'
	proc              | =0                        | --filter 'running > 1000000'
	fault             | =0                        | -c 1 -x page-faults
	clock long        | =0                        | -x 'sw:*'
	call              | =0                        | -c 1 -x 'syscalls:*'
	call              | =0                        | -x syscall:getcpu
	probe             | =0                        | -x uprobe:./work:probed
	probe long        | =0                        | -x 'uprobe:work:*'
	proc              | =0                        | -x proc:loadavg
	END
	waymark record -q -e 'tab:*' -e 'syscall:getcpu' -c 1 -x tab:mark -x syscall:getcpu:exit -o two -- ./work
	[ "$(waymark print two | wc -l)" -eq 400 ]
}

@test "stacks after events, buffers, modes" {
	table <<-'END'
	call              | =400                      | --stacks user
	probe long        | =400                      | --stacks user,kernel
	clock fault mark proc | !none is recorded: use -g | --stacks user
	fault call probe mark | >3                        | -b 1M
	proc              | !have none: omit it       | -b 1M
	clock fault call probe print proc | 125!overwrite mode keeps only program events| --mode overwrite
	mark              | =400                      | --mode overwrite
	mark              | =400                      | --mode block
	clock fault call probe print proc | !makes programs wait for their own events| --mode block
	proc              | !those of the whole machine| -C 0
	END
}

@test "one CPU" {
	local last=$(($(getconf _NPROCESSORS_ONLN) - 1)) one
	[ "$last" -gt 0 ] || skip "one CPU"
	taskset -c 0 true || skip "CPU 0 is not for us"
	for one in fault call probe mark; do
		rm -rf t
		taskset -c 0 waymark record -q -o t -C "$last" -e "$(kind $one)" -- taskset -c 0 ./work
		check "$one" =0
		[ $one = mark ] || [ -n "${WAYMARK_LONG-}" ] || continue
		rm -rf t
		taskset -c 0 waymark record -q -o t -C 0 -e "$(kind $one)" -- taskset -c 0 ./work
		check "$one" '>3'
	done
}

@test "helper libraries record their events beside events of other kinds" {
	local one
	for one in "-e sched:sched_process_exec" "-e page-faults -c 1" "-F 99" "-e tab:mark" ""; do
		rm -rf t
		echo "$one"
		# shellcheck disable=SC2086
		waymark record -q --preload malloc $one -o t -- ./work 2>/dev/null
		[ "$(waymark print t | grep -c ' malloc:alloc: .*size = 100,')" -ge 400 ]
	done
	# Named ones alone, when some are named.
	waymark record -q --preload malloc,pthread -e malloc:free -o free -- ./work
	[ "$(waymark report free -s event --json | jq -r '.tables[].rows[].event')" = malloc:free ]
}

@test "running processes and threads" {
	local which one
	for which in -p -t -a; do
		for one in fault call probe mark; do
			case "$which $one" in
			"-p call" | "-p mark" | "-t probe" | "-t fault") ;;
			*) [ -n "${WAYMARK_LONG-}" ] || continue ;;
			esac
			echo "$which $one"
			rm -rf t go
			mkfifo go
			./work wait <go >/dev/null 2>&1 3>&- &
			program=$!
			exec 7>go
			if [ $which = -a ]; then set -- -a; else set -- $which $program; fi
			# CMD starts the work, and ends when it is done.
			waymark record -q "$@" -e "$(kind $one)" $([ $one != fault ] || echo -c 1) -o t -- \
				sh -c "echo >&7; while [ -e /proc/$program/exe ]; do sleep 0.02; done" 3>&-
			exec 7>&-
			wait "$program"
			program=
			check "$one" '>399'
		done
	done
}
