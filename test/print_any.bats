#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Tests waymark print on traces of other tracers: windows, selection, formats, several traces,
# growing ones, threads. The traces are real: $WAYMARK_CORPUS.

bats_require_minimum_version 1.5.0

setup() {
	export TZ=UTC
	waymark="$WAYMARK_BUILD/waymark"
	cd "$BATS_TEST_TMPDIR"
	[ -d "${WAYMARK_CORPUS:-}" ] || skip "no corpus: WAYMARK_CORPUS is not set"
	perf="$WAYMARK_CORPUS/perf.data/quipper/perf.data.remmap-3.2"
	[ -f "$perf" ] || skip "not in the corpus: $perf"
}

lines() { # FILE...: prints the number of lines in jsonl files
	"$waymark" print --jsonl "$@" 2>/dev/null | wc -l
}

@test "every format has every event" {
	local n=$(lines "$perf")
	[ "$n" -gt 100 ]
	[ "$("$waymark" print "$perf" | wc -l)" = "$n" ]
	[ "$("$waymark" print --format=babeltrace "$perf" | wc -l)" = "$n" ]
	[ "$("$waymark" print --format=perf "$perf" | wc -l)" = "$n" ]
	"$waymark" print --json "$perf" | python3 -c "
import json, sys
events = json.load(sys.stdin)['events']
assert len(events) == $n, len(events)
times = [e['time_ns'] for e in events if e['time_ns'] is not None]
assert times == sorted(times)
"
	"$waymark" print --format=csv --fields=pid,filename "$perf" | python3 -c "
import csv, sys
rows = list(csv.reader(sys.stdin))
assert rows[0] == 'time_ns,name,cpu,pid,tid,comm,pid,filename'.split(','), rows[0]
assert len(rows) == $n + 1, len(rows)
assert all(len(row) == 8 for row in rows)
"
}

@test "a time window, the first, the last, and threads do not change the result" {
	local begin end n
	"$waymark" print --jsonl "$perf" >all
	grep -o '"time_ns":[0-9]*[^n]' all | grep -o '[0-9]*' >times
	n=$(wc -l <times)
	begin=$(sed -n "$((n / 3))p" times)
	end=$(sed -n "$((n / 2))p" times)
	python3 - "$begin" "$end" >wanted <<-'EOF'
		import json, sys
		begin, end = map(int, sys.argv[1:])
		for line in open("all"):
		    ns = json.loads(line)["time_ns"]
		    if ns is not None and begin <= ns <= end:
		        print(line, end="")
	EOF
	"$waymark" print --jsonl --begin "${begin%?????????}.${begin: -9}" \
		--end "${end%?????????}.${end: -9}" "$perf" >got
	[ -s got ]
	cmp got wanted
	"$waymark" print --jsonl --limit 7 "$perf" | cmp - <(head -7 all)
	"$waymark" print --jsonl --tail 7 "$perf" | cmp - <(tail -7 all)
	"$waymark" print --jsonl --threads 1 "$perf" | cmp - all
	"$waymark" print --jsonl --threads 5 "$perf" | cmp - all
}

@test "names and filters select events" {
	"$waymark" print --jsonl "$perf" >all
	run -1 grep -c '"perf:mmap' all # perf's own meta events are printed only on request
	"$waymark" print --jsonl --all "$perf" >all
	"$waymark" print --jsonl -e 'perf:mmap*' "$perf" | cmp - <(grep '"perf:mmap' all)
	"$waymark" print --jsonl -e perf:mmap --filter 'len == 0x9fff' "$perf" |
		cmp - <(grep '"perf:mmap".*"len":40959,' all)
	"$waymark" print --jsonl --filter '$pid == 0' -e 'perf:mmap' "$perf" |
		cmp - <(grep '"pid":0,.*"perf:mmap"' all)
	run -2 "$waymark" print -e perf:mmap --filter 'length == 1' "$perf"
	[[ $output == *"perf:mmap has no field 'length'"* ]]
	run -4 "$waymark" print -e 'perf:mmmap' "$perf"
	[[ $output == *"no event matches 'perf:mmmap'"*"perf:mmap"* ]]
	run -2 "$waymark" print --filter 'len ==' "$perf"
	run -2 "$waymark" print --begin yesterday "$perf"
	run -2 "$waymark" print --tail 1 --limit 1 "$perf"
	run -4 "$waymark" print --end 0.5 -e 'perf:exit' "$perf"
}

@test "a field that no event has is refused with the nearest names" {
	run -4 "$waymark" print --fields=filenmae --all "$perf"
	[[ $output == *"no selected event has a field 'filenmae'; did you mean 'filename'"* ]]
	"$waymark" print --fields=comm,filename --all "$perf" >/dev/null
}

@test "two traces are merged" {
	local n=$(lines "$perf")
	cp "$perf" other
	[ "$(lines "$perf" -i other)" = "$((2 * n))" ]
	"$waymark" print --jsonl "$perf" other | python3 -c "
import json, sys
events = [json.loads(line) for line in sys.stdin]
times = [e['time_ns'] for e in events if e['time_ns'] is not None]
assert times == sorted(times)
assert {e['trace'] for e in events} == {'$perf', 'other'}
"
}

@test "a file that is not a trace is refused with the reason" {
	echo hello >file
	run -1 "$waymark" print file
	[[ $output == *"'file'"*"not a trace"* ]]
	mkdir folder
	run -1 "$waymark" print --limit 1 folder
	[[ $output == *"'folder'"* ]]
	run -1 "$waymark" print "$perf" -i nothing-here
	[[ $output == *"nothing-here"* ]]
}

@test "the reader of the output may stop early" {
	run -0 bash -c "set -o pipefail; '$waymark' print '$perf' | head -1 >/dev/null || [ \$? = 141 ]"
	[ -z "$output" ]
}

@test "a growing trace is followed: each packet once" {
	local trace="$WAYMARK_CORPUS/ctf1/babeltrace/succeed/lttng-tracefile-rotation/kernel" n pid file
	[ -d "$trace" ] || skip "not in the corpus: $trace"
	"$waymark" print --jsonl "$trace" 2>/dev/null | sort >wanted
	n=$(wc -l <wanted)
	mkdir growing
	cp "$trace"/metadata "$trace"/*_0_* growing/
	timeout 200 "$waymark" print --jsonl --follow --limit "$n" growing >got 2>err &
	pid=$!
	for _ in $(seq 300); do
		[ ! -s got ] || break
		sleep 0.1
	done
	[ -s got ]
	[ "$(wc -l <got)" -lt "$n" ]
	for file in "$trace"/*; do
		[ -d "$file" ] || [ -e "growing/${file##*/}" ] || cp "$file" "growing/.new"
		[ ! -e growing/.new ] || mv growing/.new "growing/${file##*/}"
	done
	wait $pid || [ $? = 5 ]
	sort got | cmp - wanted
}
