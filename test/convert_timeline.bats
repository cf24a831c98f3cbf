#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Tests waymark convert to the formats of viewers, Chrome's JSON and Perfetto's protobuf: strict
# parsers read the output, and find each event with all its values, as doc/format/chrome.md and
# perfetto.md specify.

bats_require_minimum_version 1.5.0
load wait

setup() {
	PATH="$WAYMARK_BUILD:$PATH"
	check="$WAYMARK_SOURCE/test/data/timeline_check.py"
	cd "$BATS_TEST_TMPDIR"
}

need_corpus() {
	[ -d "${WAYMARK_CORPUS:-}" ] || skip "no corpus: WAYMARK_CORPUS is not set"
}

decode() { # prints a file decoded by protoc, using the published numbers of the fields
	command -v protoc >/dev/null || skip "protoc is not installed"
	protoc --decode=Trace -I"$WAYMARK_SOURCE/test/data" perfetto.proto <"$1"
}

all_there() { # STATUS TRACE...: converts to both formats and compares
	local status=$1
	shift
	waymark print --format=jsonl "$@" >wanted.jsonl 2>/dev/null || [ $? = "$status" ]
	run -"$status" waymark convert --force "$@" out.json
	python3 "$check" chrome wanted.jsonl out.json
	run -"$status" waymark convert --force "$@" out.pftrace
	decode out.pftrace >decoded
	python3 "$check" perfetto wanted.jsonl decoded
}

@test "spans of a program are bars with the values of their begins and ends" {
	waymark record -q -o t -- "$WAYMARK_BUILD/examples/span" >/dev/null
	all_there 0 t
	command -v jq >/dev/null || skip "jq is not installed"
	[ "$(jq '[.traceEvents[] | select(.ph == "X" and .name == "span:job" and .dur > 0)] | length' \
		out.json)" = 3 ]
	[ "$(jq '.traceEvents[] | select(.name == "span:job" and .args.number == 27) | .args."$end".result' \
		out.json)" = 111 ]
}

@test "the text of a marker is in the output, too" {
	waymark record -q -o t -- "$WAYMARK_BUILD/examples/marker" >/dev/null
	all_there 0 t
	grep -q '"$message":"' out.json
	grep -q 'name: "$message"' decoded
}

@test "values that JSON cannot represent, and text that is not UTF-8" {
	local lib
	lib=$(find "$WAYMARK_BUILD" -maxdepth 1 -name libwaymark-rt.so)
	cc -O2 -I"$WAYMARK_SOURCE/include" "$WAYMARK_SOURCE/test/data/odd_values.c" -o odd "$lib" \
		-Wl,--no-as-needed -Wl,-rpath,"$WAYMARK_BUILD"
	waymark record -q -o t -- ./odd
	all_there 0 t
	python3 - <<-'END'
		import json
		events = [e["args"] for e in json.load(open("out.json"))["traceEvents"] if e["ph"] == "i"]
		first, second, third = events[0], events[1], events[2]
		assert first["u"] == "18446744073709551615" and first["i"] == "-9223372036854775808"
		assert first["d"] == "NaN" and first["f"] == "Infinity" and second["d"] == "-Infinity"
		assert first["p"] == "0xffffffffffffffff" and second["u"] == "9007199254740993"
		assert third["u"] == 1 << 53 and third["i"] == -(1 << 53) and second["f"] == 0.1
		texts = [e["s"] for e in events[4:]]
		assert texts[2] == '"quoted\\" \t\n\r\b\f\x01\x1b[31m\x7f', texts[2]
		assert set(texts[3]) == {"\ufffd", "("}, texts[3]
		assert texts[4] == "gr\u00fc\u00df \U0001f600 \u2028\u202e"
	END
	! grep -qP '[\x00-\x09\x0b-\x1f\x7f]' out.json || false
	waymark convert t out.jsonl
	python3 - <<-'END'
		import json
		def refuse(constant):
		    raise ValueError(constant)
		events = [json.loads(line, parse_constant=refuse)["fields"] for line in open("out.jsonl")]
		assert events[0]["u"] == (1 << 64) - 1 and events[0]["i"] == -(1 << 63) and len(events) == 10
	END
	grep -q 'double_value: nan' decoded
	grep -q 'uint_value: 18446744073709551615' decoded
	grep -q 'pointer_value: 18446744073709551615' decoded
}

@test "kernel events: running tasks, calls and interrupts, in traces of other tracers" {
	need_corpus
	for trace in ctf1/babeltrace/succeed/lttng-tracefile-rotation/kernel \
		ctf1/tracecompass/perf-taskset2 trace.dat/trappy/conv-tests-v7-zstd.dat; do
		all_there 0 "$WAYMARK_CORPUS/$trace"
	done
	[ "$(grep -c 'sched_switch {' decoded)" -gt 0 ] || grep -q 'debug_annotations' decoded
}

@test "LTTng's user events, function calls, CTF 2, perf.data, several at once" {
	need_corpus
	all_there 0 "$WAYMARK_CORPUS/ctf1/tracecompass/cyg-profile/glxgears-cyg-profile"
	grep -q '"name":"0x[0-9a-f]*","args":{"addr":' out.json
	all_there 0 "$WAYMARK_CORPUS/ctf2/tracecompass/CTF2-vl-ints"
	all_there 0 "$WAYMARK_CORPUS/ctf1/tracecompass/context-switches/context-switches-ust"
	all_there 0 "$WAYMARK_CORPUS/perf.data/quipper/perf.data.callgraph-3.4"
	all_there 5 "$WAYMARK_CORPUS/ctf1/babeltrace/succeed/multi-domains/kernel" \
		"$WAYMARK_CORPUS/ctf1/babeltrace/succeed/multi-domains/ust"
	[[ $output == *"the tracer lost 728 events"* ]]
}

@test "samples are Perfetto's and Chrome's samples, with the names of functions" {
	cat >deep.c <<-'END'
	static volatile unsigned sink;
	__attribute__((noinline)) void spin(unsigned n) { while (n--) sink = sink * 3 + 1; }
	__attribute__((noinline)) void outer(void) { spin(100000); sink++; }
	int main(void) { for (int i = 0; i < 1500; i++) outer(); return 0; }
	END
	gcc -O1 -g -fno-optimize-sibling-calls deep.c -o deep
	waymark record -q --preload none -F 4000 -e sw:cpu-clock -g dwarf -e page-faults -o t -- ./deep >/dev/null 2>&1 ||
		skip "no samples can be taken here"
	waymark print --format=jsonl t >wanted.jsonl
	waymark convert t out.pftrace
	decode out.pftrace >decoded
	python3 "$check" perfetto wanted.jsonl decoded
	for name in spin outer main; do
		grep -q "str: \"$name\"" decoded
	done
	grep -q 'str: ".*/deep"' decoded
	grep -q 'name: "sw:cpu-clock"' decoded
	waymark convert t out.json
	python3 "$check" chrome wanted.jsonl out.json
	python3 - <<-'END'
		import json
		trace = json.load(open("out.json"))
		frames = trace["stackFrames"]
		def chain(number):
		    while number:
		        yield frames[number]["name"]
		        number = frames[number].get("parent")
		chains = [list(chain(s["sf"])) for s in trace["samples"] if s["name"] == "sw:cpu-clock"]
		assert any(c[:3] == ["spin", "outer", "main"] for c in chains), chains[:5]
		assert any(f["name"] == "spin" and f["category"].endswith("/deep") for f in frames.values())
		assert all(s["weight"] == 250000 for s in trace["samples"] if s["name"] == "sw:cpu-clock")
	END
}

@test "each piece of Chrome's format has the frames that its samples refer to" {
	need_corpus
	trace=$WAYMARK_CORPUS/perf.data/quipper/perf.data.callgraph-3.4
	waymark print --format=jsonl "$trace" >wanted.jsonl
	waymark convert --split-size 64K "$trace" out.json
	[ -e out.6.json ]
	python3 "$check" chrome wanted.jsonl out.*.json
}

@test "a damaged trace gives its good part, status 5, and what is missing" {
	need_corpus
	trace=ctf1/babeltrace/fail/valid-events-then-invalid-events/trace
	all_there 5 "$WAYMARK_CORPUS/$trace"
	[[ $output == *"at offset"* ]]
	for format in jsonl csv; do
		run -5 waymark convert "$WAYMARK_CORPUS/$trace" "out.$format"
		[[ $output == *"at offset"* ]]
		[ -s "out.$format" ]
	done
	run -1 waymark convert "$WAYMARK_SOURCE/README.md" none.json
	[ ! -e none.json ] && [ ! -e none.json.part ] || false
}

@test "readings of /proc are counters: one for each field, processor, device, process" {
	waymark record -q -e 'proc:*' --every 1h -o t -- true # read at the beginning and at the end
	all_there 0 t
	values=$(waymark print --jsonl -e proc:pid_stat t | wc -l)
	[ "$(grep -c '"proc:pid_stat rss_bytes","args":{"bytes":[0-9]*}' out.json)" = "$values" ]
	[ "$(grep -c '"ph":"i".*"name":"proc:pid_stat","args":{"comm":' out.json)" = "$values" ]
	grep -q '"pid":10000003,.*"name":"proc:cpu 0 idle_ns","args":{"ns":[0-9]*}' out.json
	grep -q '"name":"proc:loadavg load1","args":{"value":[0-9.]*}' out.json
	[ "$(grep -c '"pid":10000003,.*"name":"process_name"' out.json)" = 1 ]
	! grep -q 'Events of unknown threads' out.json decoded || false
	grep -q 'name: "proc:vmstat pgfault"' decoded
	# each new part repeats the values of counters
	run -0 waymark convert --force --split-size 64K t out.pftrace
	for piece in out.*.pftrace; do
		decode "$piece" >"$piece.text"
	done
	[ -e out.2.pftrace ]
	waymark print --format=jsonl t >wanted.jsonl
	python3 "$check" perfetto wanted.jsonl out.*.pftrace.text
}

@test "counters at the extremes of their ranges" {
	cat >ends.c <<-'END'
		#include <stdint.h>
		#include <waymark/tracepoint.h>
		WAYMARK_EVENT(proc, ends, WAYMARK_ARGS(const char *, s, uint64_t, u, int64_t, i, double, d),
			WAYMARK_FIELDS((str, dev, s), (u64, u, u), (i64, i, i), (f64, d_avg10, d)));
		int main(void)
		{
			trace_event(proc, ends, "a\"\xff b", ~0ull, INT64_MIN, 0.1);
			trace_event(proc, ends, "", 1ull << 63, 1, 1e300);
			return 0;
		}
	END
	lib=$(find "$WAYMARK_BUILD" -maxdepth 1 -name libwaymark-rt.so)
	cc -O2 -I"$WAYMARK_SOURCE/include" ends.c -o ends "$lib" -Wl,--no-as-needed \
		-Wl,-rpath,"$WAYMARK_BUILD"
	waymark record -q -o t -- ./ends
	all_there 0 t
	grep -q '"args":{"value":18446744073709551615}' out.json
	grep -q '"args":{"value":-9223372036854775808}' out.json
	grep -q 'double_counter_value: 1.8446744073709552e+19' decoded
	grep -q ' counter_value: -9223372036854775808' decoded
	grep -q 'double_counter_value: 0.1$' decoded
}

@test "lost events have a row of their own" {
	need_corpus
	trace=ctf1/babeltrace/packet-seq-num/7-lost-between-2-with-index
	run -5 waymark convert "$WAYMARK_CORPUS/$trace" out.json
	[[ $output == *"the tracer lost 7 packets"* ]]
	python3 - <<-'END'
		import json
		bars = [e for e in json.load(open("out.json"))["traceEvents"] if e.get("cat") == "lost"]
		assert bars and sum(int(e["name"].split()[0]) for e in bars if e["ph"] in "Xb") == 7, bars
	END
	run -5 waymark convert "$WAYMARK_CORPUS/$trace" out.pftrace
	decode out.pftrace >decoded
	grep -q 'name: "Lost events"' decoded
}

@test "an empty trace is converted, too" {
	waymark record -q -o t -- "$WAYMARK_BUILD/examples/hello" >/dev/null
	run -0 waymark convert t out.json --end 1
	[[ $output == *"no event"* ]]
	python3 -c 'import json; assert json.load(open("out.json"))["traceEvents"] == []'
	run -0 waymark convert t out.pftrace --end 1
	decode out.pftrace | grep -q clock_snapshot
}

@test "a large output is split into parts in time order, each readable alone" {
	need_corpus
	trace=$WAYMARK_CORPUS/ctf1/babeltrace/succeed/lttng-tracefile-rotation/kernel
	waymark print --format=jsonl "$trace" >wanted.jsonl
	run -0 waymark convert --split-size 500K "$trace" out.json
	[[ $output == *"'out.json' would be too large for the programs that read it: wrote "*" files, in time order"* ]]
	[ ! -e out.json ] && [ -e out.1.json ] && [ -e out.3.json ] || false
	! ls -- *.part 2>/dev/null || false
	python3 "$check" chrome wanted.jsonl out.*.json
	[ "$(wc -c <out.1.json)" -lt 600000 ]
	run -1 waymark convert --split-size 500K "$trace" out.json
	[[ $output == *"already exists"* ]]

	run -0 waymark convert --split-size 200K "$trace" out.pftrace
	for piece in out.*.pftrace; do
		decode "$piece" >"$piece.text"
		head -2 "$piece.text" | grep -q clock_snapshot
	done
	python3 "$check" perfetto wanted.jsonl out.*.pftrace.text
	run -2 waymark convert --split-size 1M "$trace" out.csv
}

peak_kib() { # COMMAND...: prints its peak memory
	python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$@"
}

@test "memory does not grow with the trace" {
	need_corpus
	trace=$WAYMARK_CORPUS/ctf1/tracecompass/memory # this trace has 328,056 events, which are converted in half a second
	for format in json pftrace; do
		few=$(peak_kib waymark convert --force "$trace" --end 1448652394.37 "out.$format")
		all=$(peak_kib waymark convert --force "$trace" "out.$format")
		echo "$format: $few KiB, $all KiB"
		[ "$(wc -c <"out.$format")" -gt 20000000 ]
		[ "$all" -lt $((few + 4096)) ]
	done
}

# Makes 60 recordings of one, each with its own uuid, so that the conversion takes long enough; prints their folders.
many() {
	python3 - "$WAYMARK_CORPUS/ctf1/babeltrace/succeed/lttng-tracefile-rotation/kernel" <<-'END'
	import pathlib, re, sys, uuid
	source = pathlib.Path(sys.argv[1])
	old = uuid.UUID(re.search(rb'uuid = "(.*?)"', (source / "metadata").read_bytes())[1].decode())
	for i in range(60):
	    new = uuid.UUID(int=i + 1)
	    folder = pathlib.Path(f"many/{i}")
	    folder.mkdir(parents=True)
	    for path in source.iterdir():
	        if path.is_file():
	            data = path.read_bytes().replace(old.bytes, new.bytes)
	            (folder / path.name).write_bytes(data.replace(str(old).encode(), str(new).encode()))
	    print(folder)
	END
}

@test "an interrupt leaves no files" {
	need_corpus
	mapfile -t traces < <(many)
	waymark convert "${traces[@]}" out.json &
	pid=$!
	while [ ! -e out.json.part ]; do
		kill -0 $pid
		sleep 0.02
	done
	kill -TERM $pid
	status=0
	wait $pid || status=$?
	[ $status = 143 ]
	[ ! -e out.json ] && [ ! -e out.json.part ] || false
}

@test "progress is printed on a terminal only" {
	need_corpus
	command -v script >/dev/null || skip "script is not installed: there is no terminal"
	mapfile -t traces < <(many)
	NO_COLOR=1 script -qec "echo \$\$ >pid; exec waymark convert ${traces[*]} out.json" seen >/dev/null 3>&- &
	until_true test -e out.json.part
	kill -STOP "$(cat pid)" # a conversion of less than a second shows no progress
	sleep 1.1
	kill -CONT "$!" "$(cat pid)" # script(1) also stops when its child does
	wait $!
	grep -q 'convert \[#*\.*\] *[0-9]*%' seen
	! grep -q $'\033' seen || false
	run -0 waymark convert --force "${traces[@]}" out.json
	[ -z "$output" ]
}
