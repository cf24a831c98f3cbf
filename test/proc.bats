#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# proc.bats - tests counters of /proc as events: their values compared with the files, the times of
# the readings, the processes, and the reports of missed or refused readings.

bats_require_minimum_version 1.5.0
load wait

setup_file() {
	export W="$BATS_FILE_TMPDIR" BATS_TEST_TIMEOUT=300
	cat >"$W/fault.c" <<-'EOF'
	#include <stdlib.h>
	#include <sys/mman.h>
	#include <unistd.h>
	int main(int argc, char **argv)
	{
		size_t page = (size_t)sysconf(_SC_PAGESIZE), nr = (size_t)atoi(argv[1]);
		char *at = mmap(NULL, nr * page, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (at == MAP_FAILED || madvise(at, nr * page, MADV_NOHUGEPAGE))
			return 1;
		for (size_t i = 0; i < nr; i++)
			at[i * page] = 1;
		usleep(argc > 2 ? (useconds_t)atoi(argv[2]) * 1000 : 0);
		return 0;
	}
	EOF
	cc -O2 "$W/fault.c" -o "$W/fault"
}

setup() {
	PATH="$WAYMARK_BUILD:$PATH"
	cd "$BATS_TEST_TMPDIR"
}

# Prints the values of a field, one per line, in time order.
values() { # TRACE EVENT FIELD [FILTER]
	waymark print --jsonl -e "$2" --filter "${4:-1}" "$1" |
		python3 -c 'import json, sys
for line in sys.stdin:
    print(json.loads(line)["fields"][sys.argv[1]])' "$3"
}

# On a busy machine a reading may be missed; a message says so, and the exit status changes.
complete_but_for_late() { "$@" || [ $? -eq 5 ]; }

count_of() { waymark print --jsonl -e "$2" "$1" | wc -l; }

# Prints the words of a command that ends when the trace t has N events of a kind: N KIND [N KIND...].
until_read() {
	printf '%s\0' bash -c '. "$0"; while [ $# -gt 0 ]; do until_shows t "$1" " $2: " || exit; shift 2; done' \
		"$WAYMARK_SOURCE/test/wait.bash" "$@"
}

field_of() { awk -v key="$1" '$1 == key || $1 == key ":" { print $2 }' "$2"; }

@test "each counter of the file is a field, with the same value" {
	cp /proc/vmstat before
	mapfile -d '' command < <(until_read 3 proc:vmstat)
	waymark record -q -e proc:vmstat --every 20ms -o t -- "${command[@]}"
	cp /proc/vmstat after
	[ "$(count_of t proc:vmstat)" -ge 3 ]
	waymark list proc:vmstat --fields | awk 'NR > 3 && $1 == "u64" { print $2 }' >fields
	diff fields <(cut -d' ' -f1 before)
	for name in pgfault pgalloc_normal pgfree nr_dirtied; do
		grep -q "^$name " before || continue
		values t proc:vmstat "$name" >got
		sort -nc got # they only increase
		[ "$(head -1 got)" -ge "$(field_of "$name" before)" ]
		[ "$(tail -1 got)" -le "$(field_of "$name" after)" ]
	done
}

@test "activity outside of any task has no command: it is printed as -" {
	waymark record -q -e proc:loadavg -o t -- sleep 0.05
	waymark report t -s comm,event --json |
		python3 -c 'import json, sys
rows = json.load(sys.stdin)["tables"][0]["rows"]
assert [(r["comm"], r["event"]) for r in rows] == [("-", "proc:loadavg")], rows'
}

@test "sizes are in bytes, and constant properties do not change" {
	waymark record -q -e proc:meminfo --every 20ms -o t -- sleep 0.05
	[ "$(values t proc:meminfo MemTotal_bytes | sort -u)" = \
		$(($(field_of MemTotal /proc/meminfo) * 1024)) ]
	waymark list proc:meminfo --fields | grep -q '^ *u64 *MemTotal_bytes  bytes$'
	waymark list proc:meminfo --json --fields |
		python3 -c 'import json, sys
fields = {f["name"]: f for f in json.load(sys.stdin)["groups"][-1]["events"][0]["fields"]}
assert fields["MemFree_bytes"]["unit"] == "bytes" and fields["MemFree_bytes"]["type"] == "u64"'
}

@test "N faults of a program are N more in the machine's and in its own counter" {
	waymark record -q -e proc:vmstat -e proc:pid_stat --every 20ms -o t -- "$W/fault" 5000 1000
	values t proc:vmstat pgfault >got
	[ $(($(tail -1 got) - $(head -1 got))) -ge 5000 ]
	values t proc:pid_stat minflt '$comm == "fault"' | tail -1 >got
	[ "$(cat got)" -ge 5000 ]
	[ "$(cat got)" -le 6000 ]
}

@test "children of the command are followed, and no other processes" {
	waymark record -q -e 'proc:pid_*' --every 20ms -o t -- \
		sh -c 'head -c 1000000 /dev/zero >f; sleep 1 & sleep 1; wait'
	waymark print --jsonl -e 'proc:pid_*' t | python3 -c '
import json, sys
seen = {}
for line in sys.stdin:
    e = json.loads(line)
    seen.setdefault(e["name"], set()).add(e["comm"])
for name in "proc:pid_stat", "proc:pid_io", "proc:pid_status":
    assert "sleep" in seen[name] and "sh" in seen[name], seen
    assert not seen[name] - {"sh", "sleep", "head", "waymark"}, seen'
}

@test "counters and the program's events are in one trace, in time order" {
	waymark record -q -e 'hello:*' -e proc:vmstat --every 20ms -o t -- \
		"$WAYMARK_BUILD/examples/hello"
	complete_but_for_late waymark print t >lines
	grep -q ' proc:vmstat: ' lines
	grep -q ' hello:' lines
	if command -v babeltrace2 >/dev/null; then
		babeltrace2 t >bt
		[ "$(grep -c ' proc:vmstat: ' bt)" -eq "$(count_of t proc:vmstat)" ]
	fi
}

@test "CTF 2 has the same" {
	mapfile -d '' command < <(until_read 2 proc:vmstat 2 proc:pid_stat)
	waymark record -q --trace-format ctf-2 -e 'proc:*' --every 20ms -o t -- "${command[@]}"
	for name in vmstat meminfo stat cpu loadavg pid_stat; do
		[ "$(count_of t proc:$name)" -ge 2 ]
	done
	complete_but_for_late waymark info --verify t
}

@test "each CPU is an event, and the machine another" {
	waymark record -q -e 'proc:cpu' -e proc:stat --every 1h -o t -- true
	[ "$(values t proc:cpu cpu | sort -un | wc -l)" -eq "$(grep -c '^cpu[0-9]' /proc/stat)" ]
	[ "$(count_of t proc:stat)" -eq 2 ] # read at the beginning and at the end
	values t proc:stat processes >got
	[ "$(tail -1 got)" -gt "$(head -1 got)" ] # `true` was one more process
	[ "$(values t proc:stat btime | sort -u)" = "$(field_of btime /proc/stat)" ]
}

@test "a filter selects events; a filter that does not fit is refused" {
	waymark record -q -e proc:loadavg --filter 'tasks > 1000000000' --every 10ms -o t -- sleep 0.1
	[ "$(count_of t 'proc:*')" -eq 0 ]
	run -2 waymark record -e proc:loadavg --filter 'nope > 1' -o t2 -- true
	[[ $output == *"no field 'nope'"* ]]
	[ ! -e t2 ]
}

@test "each event has its own --every; contradictions are refused" {
	mapfile -d '' command < <(until_read 6 proc:loadavg)
	waymark record -q -e proc:loadavg --every 10ms -e proc:stat --every 1h -o t -- "${command[@]}"
	[ "$(count_of t proc:stat)" -eq 2 ]
	[ "$(count_of t proc:loadavg)" -gt 5 ]
	for wrong in 0 999us 2h x -1s; do
		run -2 waymark record -e proc:stat "--every=$wrong" -o t2 -- true
		[[ $output == *"between 1ms and 1h"* ]]
	done
	run -2 waymark record -e proc:stat -F 99 -o t2 -- true
	[[ $output == *"use --every for the interval"* ]]
	run -2 waymark stat -e proc:stat true
	[[ $output == *"waymark record -e proc:stat"* ]]
	run -4 waymark record -e '*:vmstat' -o t3 -- true # a glob over all events does not include files of /proc
	[[ $output == *"0 events"* ]]
	run -4 waymark record -e proc:sta -o t2 -- true
	[[ $output == *"proc:stat"* ]]
	[ ! -e t2 ]
}

@test "missed readings are counted, and the trace has their time" {
	waymark record -o t -e proc:loadavg --every 10ms -- sh -c '
		pump=$(pgrep -P "$PPID" -x waymark-pump)
		kill -STOP "$pump"; sleep 0.3; kill -CONT "$pump"; sleep 0.1' 2>err
	grep -q 'missed readings of /proc because the machine was busy: [0-9]' err
	waymark print --jsonl --all -e waymark:lost t | grep '"late"' | python3 -c '
import json, sys
counts = [json.loads(line)["fields"]["count"] for line in sys.stdin]
assert sum(counts) >= 20, counts'
}

@test "processes of other users, and those that exit, are not errors" {
	waymark record -a -e 'proc:pid_*' --every 20ms -o t -- \
		sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do true & done; sleep 0.1; wait' 2>err
	! grep -E 'readings of /proc that failed|format that waymark does not know' err || false
	[ "$(values t proc:pid_stat ppid | sort -un | wc -l)" -gt 2 ]
	complete_but_for_late waymark info --verify t
}
