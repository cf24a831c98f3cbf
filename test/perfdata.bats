#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# perfdata.bats - compares how waymark and perf read new recordings of perf.

bats_require_minimum_version 1.5.0
load perf

setup() {
	PATH="$WAYMARK_BUILD:$PATH"
	export BATS_TEST_TIMEOUT=300
	cd "$BATS_TEST_TMPDIR"
	command -v perf >/dev/null || skip "perf is not installed"
}

# Prints lines of perf script with these fields, and waymark's lines; the column width depends on
# perf's version.
plain() {
	tr -s ' ' | sed 's/ *$//'
}
perf_says() { # FILE FIELDS
	perf script -i "$1" -F "$2" 2>/dev/null | plain
}
we_say() { # FILE [OPTION...]
	waymark print --format=perf "$@" | plain
}

record_tracepoints() {
	perf_record -N -q "$@" -e sched:sched_switch,sched:sched_wakeup,syscalls:sys_exit_read \
		sh -c 'for i in $(seq 40); do echo $i | cat >/dev/null; done' 2>err ||
		skip "perf may not record tracepoints here: $(head -1 err)"
}

@test "tracepoints of a file: the same events with the same print forms" {
	record_tracepoints -o p.data
	perf_says p.data comm,tid,cpu,time,event,trace >perf.txt
	we_say p.data >ours.txt
	[ "$(wc -l <ours.txt)" -gt 50 ]
	diff perf.txt ours.txt
}

@test "addresses in print forms have the names that perf script prints" {
	perf_record -N -q -e kmem:kmalloc,kmem:kfree -o p.data -- ls / 2>err >/dev/null ||
		skip "perf may not record tracepoints here: $(head -1 err)"
	perf_says p.data comm,tid,cpu,time,event,trace >perf.txt
	grep -q 'call_site=[a-z_].*+0x' perf.txt || skip "perf has no symbols of this kernel"
	we_say p.data >ours.txt
	diff perf.txt ours.txt
	waymark print p.data | grep -q 'call_site=[a-z_].*+0x'
	waymark print --jsonl p.data | grep -q '"message":"call_site=[a-z_].*+0x'
	waymark print --no-symbols p.data | grep -q 'call_site=0xffff'
}

@test "the same from a pipe, and compressed" {
	perf record -N -q -o - -e sched:sched_switch -- sleep 0.05 >pipe.data 2>err || skip "$(head -1 err)"
	perf script -i pipe.data >pipe.txt 2>err || skip "perf cannot read what it wrote: $(head -1 err)"
	[ "$(we_say pipe.data | wc -l)" = "$(wc -l <pipe.txt)" ]
	record_tracepoints -z -o z.data
	[ "$(we_say z.data | wc -l)" = "$(perf script -i z.data 2>/dev/null | wc -l)" ]
	record_tracepoints -z -o - >zpipe.data # the formats are in a record instead of the header
	perf_says zpipe.data comm,tid,cpu,time,event,trace >perf.txt
	we_say zpipe.data >ours.txt
	[ "$(wc -l <ours.txt)" -gt 50 ]
	diff perf.txt ours.txt
}

@test "a compressed file whose perf was killed has everything written until then" {
	record_tracepoints -z -o z.data
	python3 - <<-'EOF'
		import struct
		data = bytearray(open("z.data", "rb").read())
		begin, size = struct.unpack_from("<QQ", data, 40)
		struct.pack_into("<Q", data, 48, 0) # the header's size of the data, which perf writes at the end together with all features
		open("killed.data", "wb").write(data[: begin + size])
		open("cut.data", "wb").write(data[:48] + struct.pack("<Q", size) + data[56 : begin + size + 16])
	EOF
	waymark info --json z.data | grep -o '"events":[0-9]*' | head -1 >whole
	[ -s whole ]
	for f in killed cut; do
		run --separate-stderr waymark info --json $f.data
		[ "$status" = 5 ]
		grep -o '"events":[0-9]*' <<<"$output" | head -1 | diff - whole
	done
}

@test "a pipe changed by perf inject has no rounds, and is read completely" {
	perf record -q -o - -e page-faults -c 1 -- sh -c 'ls / >/dev/null' 2>err >pipe.data || skip "$(head -1 err)"
	cat pipe.data | perf inject -b -i - -o - >injected.data 2>err || skip "$(head -1 err)"
	perf script -i injected.data >perf.txt 2>err || skip "perf cannot read what it wrote: $(head -1 err)"
	waymark info --verify injected.data
	[ "$(waymark print injected.data | wc -l)" = "$(wc -l <perf.txt)" ]
}

@test "samples without symbols: the same lines" {
	perf_record -N -q -e page-faults -c 1 -o f.data -- sh -c 'for i in 1 2 3 4 5 6; do ls; done' >/dev/null 2>err ||
		skip "$(head -1 err)"
	perf_says f.data comm,tid,time,event,period,ip >perf.txt
	we_say f.data --no-symbols >ours.txt
	[ "$(wc -l <ours.txt)" -gt 100 ]
	diff perf.txt ours.txt
}

@test "samples on the wall clock: the same times, to the nanosecond" {
	perf_record -N -q -k CLOCK_REALTIME -e page-faults -c 1 -o r.data -- true 2>err || skip "$(head -1 err)"
	perf script -i r.data --ns -F time 2>/dev/null | tr -d ' :.' >perf.txt
	waymark print --jsonl r.data | grep -o '"time_ns":[0-9]*' | cut -d: -f2 >ours.txt
	[ -s ours.txt ]
	diff perf.txt ours.txt
}

@test "the perf form shows the times of the records, and a window takes both kinds" {
	perf_record -N -q -k CLOCK_MONOTONIC -e page-faults -c 1 -o r.data -- ls 2>err >/dev/null || skip "$(head -1 err)"
	perf script -i r.data -F time | tr -d ' :' >times
	we_say r.data | grep -o ' [0-9]*[.][0-9]*: ' | tr -d ' :' | diff times -
	local at=$(sed -n 20p times) wall=$(waymark print --jsonl r.data | sed -n 's/.*"time_ns":\([0-9]*\).*/\1/; 20p')
	waymark print --format=perf r.data --begin "$at" >raw
	[ "$(wc -l <raw)" -ge $(($(wc -l <times) - 19)) ]
	waymark print --format=perf r.data --begin "${wall%?????????}.${wall: -9}" | tail -5 | diff <(tail -5 raw) -
}

@test "files of the first version, short names in a pipe and features without a value are read" {
	perf_record -N -q -e cpu-clock -o r.data -- ls >/dev/null 2>err || skip "$(head -1 err)"
	sed 's/^PERFILE2/PERFFILE/' r.data >one.data
	waymark print --all r.data | cmp - <(waymark print --all one.data)
	perf record -N -q -e cpu-clock -o - true >pipe.data 2>err || skip "$(head -1 err)"
	python3 - <<-'END'
	import struct
	# perf before Linux 3.10 wrote names in a pipe, cut to words.
	pipe = open("pipe.data", "rb").read()
	at = 16 + struct.unpack_from("<H", pipe, 22)[0]
	named = pipe[:at] + struct.pack("<IHHQ8s", 65, 0, 24, 0, b"cycles:u") + pipe[at:]
	open("named.data", "wb").write(named)
	# A section of 0 bytes for the name of the processor (feature 8).
	data = bytearray(open("r.data", "rb").read())
	at, size, bits = struct.unpack_from("<QQ", data, 40) + struct.unpack_from("<Q", data, 72)
	nth = bin(bits & (1 << 8) - 1).count("1")
	assert bits >> 8 & 1
	struct.pack_into("<Q", data, at + size + 16 * nth + 8, 0)
	open("empty.data", "wb").write(data)
	END
	waymark info named.data
	waymark print named.data | grep -q .
	waymark print empty.data | cmp - <(waymark print r.data)
}

@test "traces come from standard input and pipes" {
	perf_record -N -q -e page-faults -c 1 -o r.data -- ls 2>err >/dev/null || skip "$(head -1 err)"
	waymark print r.data >want
	waymark print - <r.data | cmp want -
	waymark print -i - <r.data | cmp want -
	cat r.data | waymark print - | cmp want -
	waymark print <(cat r.data) | cmp want -
	waymark convert - c.jsonl <r.data
	[ "$(wc -l <c.jsonl)" = "$(wc -l <want)" ]
	perf record -N -q -e page-faults -c 1 -o - true 2>/dev/null | waymark report - -s comm | grep -q '% .* true'
	run -1 waymark print - </dev/null
	[[ $output == *"cannot read the trace '-': at offset 0: an empty file"* ]]
}

@test "-F prints the columns that perf script prints" {
	perf_record -N -q --sample-cpu -e cpu-clock -F 2000 -o flat.data ls -lR /usr/share/doc/libc6 2>err >/dev/null || skip "$(head -1 err)"
	perf_record -N -q --sample-cpu -e cpu-clock -F 2000 -g -o chain.data ls -lR /usr/share/doc/libc6 >/dev/null
	record_tracepoints -o trace.data
	for list in comm,tid,time pid,tid,cpu comm,pid,tid,cpu,time,event,ip,sym,dso period,event ip,sym,symoff ip,dso time,ip comm; do
		for file in flat chain; do
			perf script --no-inline -i $file.data -F "$list" 2>/dev/null | plain | sed 's/^ //' >perf.txt
			waymark script $file.data -F "$list" 2>/dev/null | plain | sed 's/^ //' >ours.txt
			diff perf.txt ours.txt
		done
	done
	for list in comm,tid,time,event,trace event,trace pid,time,event; do
		perf_says trace.data "$list" | sed 's/^ //' >perf.txt
		waymark script trace.data -F "$list" | plain | sed 's/^ //' | diff perf.txt -
	done
	perf_says flat.data -time,-cpu >perf.txt
	waymark script flat.data -F -time,-cpu | plain | diff perf.txt -
	run -2 waymark print -F comm,nosuch flat.data
	[[ $output == *"'nosuch' is not one of comm, tid"* ]]
	run -2 waymark print -F sym flat.data
	run -2 waymark print -F comm --jsonl flat.data
}

@test "the text of perf script is read: events, tasks, times and fields" {
	record_tracepoints -o trace.data
	perf_record -N -q -e cpu-clock,page-faults -g -o chain.data ls -lR /usr/share/doc/libc6 >/dev/null
	for file in trace chain; do
		perf script --no-inline -i $file.data 2>/dev/null >$file.txt
		perf script -i $file.data -F comm,tid,event 2>/dev/null | plain | sed 's/^ //; s/: *$//' >want
		waymark print --jsonl $file.txt | python3 -c '
import json, sys
for e in map(json.loads, sys.stdin):
    print(e["comm"], e["tid"], e["name"])' | diff want -
	done
	perf script -i trace.data 2>/dev/null | waymark print --jsonl -e '*:sched_switch' - | grep -q '"next_comm":"[a-z]'
	waymark report chain.txt -s event,comm | grep -q 'page-faults  *ls'
}

# perf looks up inlined functions in another program; waymark's output omits them here.
same_with_symbols() { # FILE
	perf script --no-inline -i "$1" 2>/dev/null | plain >perf.txt
	we_say "$1" --threads 1 >ours.txt
	diff perf.txt ours.txt
	waymark print --format=perf "$1" | plain | cmp - ours.txt
}

@test "samples with symbols, of processes that start and exit: the same lines" {
	export HOME="$PWD" # perf keeps the builds it saw in ~/.debug
	perf_record -N -q -e page-faults -c 1 -o f.data -- sh -c 'for i in 1 2 3 4 5 6; do ls; done' >/dev/null 2>err ||
		skip "$(head -1 err)"
	same_with_symbols f.data
	[ "$(wc -l <ours.txt)" -gt 100 ]
	grep -q '+0x[0-9a-f]* (.*/libc' ours.txt
}

@test "kernel symbols are used without the trace's build only on the same host and release" {
	local release=$(uname -r)
	export HOME="$PWD"
	perf_record -q -B -e page-faults:k -c 1 -o b.data -- ls / >/dev/null 2>err || skip "$(head -1 err)"
	same_with_symbols b.data
	grep -q '+0x[0-9a-f]* (\[kernel.kallsyms\])' ours.txt || skip "the kernel hides its addresses"
	sed "s/${release//./\\.}/${release//?/x}/g" b.data >other.data
	[ "$(we_say other.data | grep -c '\[unknown\]')" = "$(wc -l <ours.txt)" ]
}

@test "call chains and names of several kinds, with symbols: the same lines" {
	export HOME="$PWD"
	perf_record -N -q -g -e cpu-clock,page-faults -o g.data -- sh -c 'for i in 1 2 3; do ls; done' >/dev/null 2>err ||
		skip "$(head -1 err)"
	same_with_symbols g.data
	grep -q ' page-faults:' ours.txt
	grep -q '^	.*+0x[0-9a-f]* (' ours.txt
}

@test "callers that the processor recorded: the same lines" {
	cat >calls.c <<-'END'
	static volatile unsigned sink;
	__attribute__((noinline)) static void spin(unsigned n) { while (n--) sink = sink * 3 + 1; }
	__attribute__((noinline)) static void rec(int d) { if (d) rec(d - 1); else spin(100000); sink++; }
	int main(void) { for (int i = 0; i < 1000; i++) rec(4); return 0; }
	END
	gcc -O1 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls calls.c -o calls
	perf_record -N -q -c 1000000 -e cpu-clock -g -o frames.data ./calls 2>err || skip "$(head -1 err)"
	[ "$("$BATS_TEST_DIRNAME/data/lbr.py" frames.data lbr.data)" -gt 20 ]
	same_with_symbols lbr.data
	[ "$(grep -c ' rec+' ours.txt)" -gt 100 ]
}

@test "branches, with and without symbols: the same columns" {
	local columns
	export HOME="$PWD"
	perf_record -N -q -e page-faults -c 1 -g -o chains.data -- sh -c 'ls /' >/dev/null 2>err || skip "$(head -1 err)"
	"$BATS_TEST_DIRNAME/data/lbr.py" chains.data branches.data taken
	for columns in comm,ip,brstack comm,time,event,brstacksym brstack,dso brstack,brstacksym; do
		perf script --no-inline -F "$columns" -i branches.data 2>/dev/null >perf.txt
		waymark print -F "$columns" branches.data >ours.txt
		diff perf.txt ours.txt
	done
	grep -q '0x.*/0x.*/M/X/-/[0-9]*/' ours.txt
	run -4 --separate-stderr waymark print -F brstack chains.data
	[ "$stderr" = "waymark: print: no selected event has branches; record them with 'perf record -b'" ]
}

@test "callers by a copy of the stack, with symbols: the same lines" {
	export HOME="$PWD"
	g++ -O2 -g -fomit-frame-pointer "$WAYMARK_SOURCE/test/data/deep.cc" -o deep
	perf_record -N -q -e cpu-clock:u -F 1000 --call-graph dwarf -o d.data -- ./deep 40 2>err || skip "$(head -1 err)"
	same_with_symbols d.data
	grep -q '^	.* main+0x[0-9a-f]* (.*/deep)' ours.txt
}

@test "samples with call chains: the same number and depth" {
	perf_record -N -q -g -e cpu-clock -o g.data -- sh -c 'i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done' 2>err ||
		skip "$(head -1 err)"
	run -0 waymark print --format=jsonl g.data
	[ "${#lines[@]}" = "$(perf script -i g.data -F event 2>/dev/null | grep -c cpu-clock)" ]
	[[ ${lines[0]} == *callchain* ]]
}

# The counts of a round, as perf stat report prints them: time, cpu, event, count in its unit. The
# file has totals; the count of an interval is the increase.
counts_of() { # FILE
	waymark print --jsonl "$1" | python3 -c '
import json, sys
last = {}
for line in sys.stdin:
    e = json.loads(line)
    f = e.get("fields", {})
    if "value" not in f or f["round"]["label"] == "none":
        continue
    key = e["name"], f["cpu"]
    value, ran = f["value"], f["running"]
    grown, ran = value - last.get(key, (0, 0))[0], ran - last.get(key, (0, 0))[1]
    last[key] = f["value"], f["running"]
    count = "%.2f" % (grown * f["scale"]) if "scale" in f else "%d" % grown
    print("%.9f" % (e["time_ns"] / 1e9), f["cpu"], e["name"], count if ran else "-")' | sort
}

# At the end perf reads the number of lost samples for each event; the kernel has already reported
# most of them.
# Other programs of the machine are recorded, some of whose functions perf does not name.
without_symbols() {
	plain | sed -E 's/([a-z/]: [0-9a-f]+) .*/\1/'
}

@test "samples that read a group's counters are one event for each that changed" {
	perf_record -N -q -e '{cpu-clock/freq=2000/,page-faults,context-switches}:S' -o group.data \
		python3 -c 'import json, re' 2>err || skip "perf cannot read groups here: $(head -1 err)"
	perf_record -N -q -c 200000 -e '{cpu-clock,page-faults}:S' -a -o fixed.data -- python3 -c 'import json, re'
	for file in group fixed; do
		perf script -i $file.data 2>/dev/null | without_symbols >perf.txt
		we_say $file.data | without_symbols >ours.txt
		diff perf.txt ours.txt
		waymark info --verify $file.data
		python3 "$BATS_TEST_DIRNAME/data/report_compare.py" waymark $file.data comm,dso --no-children
		waymark convert $file.data copy.data --force
		perf script -i copy.data 2>/dev/null | without_symbols | diff perf.txt -
	done
	[ "$(grep -c page-faults ours.txt)" -gt 0 ]
	# A window has the differences that its events have in the whole.
	local from=$(awk -v n=$(($(wc -l <ours.txt) / 2)) 'NR == n { for (i = 1; i <= NF; i++) if ($i ~ /^[0-9]+[.][0-9]+:$/) { sub(":", "", $i); print $i; exit } }' ours.txt)
	we_say fixed.data --begin "$from" | without_symbols >part.txt
	tail -"$(wc -l <part.txt)" ours.txt | diff - part.txt
	we_say fixed.data -e page-faults | without_symbols | diff <(grep ' page-faults: ' ours.txt) -
}

@test "samples lost are counted once" {
	perf record -q -o - -e page-faults -c 1 -- true >pipe.data 2>err || skip "$(head -1 err)"
	python3 - <<-'EOF' || skip "this perf does not ask what was lost"
		import struct, sys
		data = open("pipe.data", "rb").read()
		kind, _, size = struct.unpack_from("<IHH", data, 16)
		assert kind == 64 # the attr
		sample_type, read_format = struct.unpack_from("<QQ", data, 16 + 8 + 24)
		if not read_format & 16:
		    sys.exit(1)
		def record(kind, misc, body, time):
		    for bit, value in ((1, 0), (2, time), (6, 0), (9, 0), (7, 0)):
		        body += struct.pack("<Q", value) if sample_type >> bit & 1 else b""
		    if sample_type >> 16 & 1:
		        body += data[16 + size - 8 : 16 + size] # the id of the event
		    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body
		more = record(2, 0, struct.pack("<QQ", 0, 5), 10**12)
		more += record(13, 0, struct.pack("<Q", 7), 0)
		more += record(13, 1 << 15, struct.pack("<Q", 100), 0)
		open("lost.data", "wb").write(data + more + struct.pack("<IHH", 68, 0, 8))
	EOF
	waymark info lost.data >info.txt || [ $? = 5 ]
	[ "$(grep -o '[0-9]*  events, full' info.txt | tr -s ' ')" = $'5 events, full\n2 events, full' ]
}

@test "perf stat counts at intervals: the values of perf stat report" {
	perf stat record -o s.data -a -A -I 50 -e cpu-clock,context-switches sleep 0.3 >/dev/null 2>err ||
		skip "$(head -1 err)"
	perf stat report -i s.data 2>&1 | sed -n 's/<not counted>/-/; /^ *[0-9.]* CPU/p' | tr -d , |
		awk '{ unit = $4 == "msec"; print $1, substr($2, 4), $(4 + unit), $3 }' | sort >perf.txt
	[ "$(wc -l <perf.txt)" -ge 4 ]
	counts_of s.data >ours.txt
	diff perf.txt ours.txt
	waymark info s.data | grep -q 'perf stat, 1000000000 Hz'
	waymark info --verify s.data
	[ "$(waymark print -e cpu-clock --filter 'value > 0 && $cpu == 0' s.data 2>err | wc -l)" -ge 2 ]
	[ ! -s err ]
}

@test "perf stat counts at the end, in file and pipe: the values of perf stat report" {
	perf stat record -o s.data -e task-clock:u,page-faults true >/dev/null 2>err || skip "$(head -1 err)"
	perf stat report -i s.data 2>&1 | tr -d , |
		awk '$2 == "msec" { print $3, $1 } $2 == "page-faults" { print $2, $1 }' | sort >perf.txt
	[ "$(wc -l <perf.txt)" = 2 ]
	counts_of s.data | awk '{ print $3, $4 }' | sort >ours.txt
	diff perf.txt ours.txt
	[ "$(waymark print s.data | grep -c ' thread = [0-9].* round = final (1)')" = 2 ]
	perf stat record -o - -e page-faults true >pipe.data 2>err || skip "$(head -1 err)"
	waymark print pipe.data | grep 'page-faults: { cpu = -1, .* value = [1-9][0-9]*, enabled'
	run -5 waymark convert s.data out.data
	[[ $output == *"2 events left out of perf.data: perf stat counts"* ]]
	waymark convert s.data s.ctf/
	[ "$(waymark print s.ctf | grep -c 'round = .*final')" = 2 ]
}

@test "counts with damaged rounds: all are printed, and the damage is reported" {
	perf stat record -o s.data -I 30 -e page-faults sleep 0.1 >/dev/null 2>err || skip "$(head -1 err)"
	all=$(waymark print s.data | wc -l)
	python3 - <<-'END'
		import struct
		data = bytearray(open("s.data", "rb").read())
		at, size = struct.unpack_from("<QQ", data, 40)
		rounds, end = [], at + size
		while at < end:
		    kind, _, size = struct.unpack_from("<IHH", data, at)
		    rounds += [at] if kind == 77 else []
		    at += size
		struct.pack_into("<Q", data, rounds[1] + 16, 1)  # a round before the first one
		open("back.data", "wb").write(data)
		struct.pack_into("<I", data, rounds[1], 64 + 57)  # a type that no perf record has
		open("none.data", "wb").write(data)
		struct.pack_into("<Q", data, rounds[0] - 40, 12345678)  # the id of a count
		open("id.data", "wb").write(data)
		open("places", "w").write("%d %d\n" % (rounds[1], rounds[0] - 48))
	END
	read -r second count <places
	run -5 waymark print back.data
	[[ $output == *"at offset $second: a round of counts has no time, or one before"* ]]
	[ "$(grep -c 'page-faults:' <<<"$output")" = "$all" ]
	run -5 waymark print none.data
	[[ $output == *"at offset $second: this type of record is unknown"* ]]
	[ "$(grep -c 'page-faults:' <<<"$output")" = "$all" ]
	run -5 waymark print id.data
	[[ $output == *"at offset $count: a count of an event without a description"* ]]
	[ "$(grep -c 'page-faults:' <<<"$output")" = $((all - 1)) ]
}

# Builds a folder as perf record --kcore does, because not every machine permits copying the
# kernel's memory.
kcore_of() { # FILE FOLDER
	mkdir -p "$2/kcore_dir"
	cp "$1" "$2/data"
	grep -v ' 0000000000000000 ' /proc/kallsyms >"$2/kcore_dir/kallsyms"
	: >"$2/kcore_dir/kcore"
	: >"$2/kcore_dir/modules"
}

@test "a folder with a copy of the kernel: its symbols, and the parts that are not used" {
	perf_record -N -q -e page-faults -c 1 -o f.data -- ls >/dev/null 2>err || skip "$(head -1 err)"
	kcore_of f.data kc
	name=$(we_say f.data | grep -o '[a-z_0-9]*+0x[0-9a-f]* (\[kernel' | head -1 | cut -d+ -f1)
	[ -n "$name" ] || skip "this kernel hides its symbols"
	sed -i "s/ $name\$/ as_it_was_then/" kc/kcore_dir/kallsyms
	we_say kc >ours.txt
	diff <(we_say f.data | sed "s/ $name+/ as_it_was_then+/") ours.txt
	grep -q ' as_it_was_then+0x' ours.txt
	waymark info kc | grep -q "^kernel's copy *kcore_dir: its symbols are used, its code is not"
	rm kc/kcore_dir/kallsyms
	mkdir kc/kcore_dir/kallsyms
	run -5 waymark print --format=perf kc
	[[ $output == *" kcore_dir/kallsyms: at offset 0: cannot be read (not a regular file)"* ]]
	[ "$(grep -c ' page-faults:' <<<"$output")" = "$(grep -c ' page-faults:' ours.txt)" ]
}

@test "data of a processor's tracer that is not decoded is counted" {
	perf record -N -q -e cpu-clock -o - true 2>/dev/null >plain.data || true
	[ -s plain.data ] || skip "perf may not record here"
	python3 - <<-'END'
	import struct
	info = struct.pack("<IHH", 70, 0, 24) + struct.pack("<II8x", 1, 0)
	def data(size):
	    return struct.pack("<IHH", 71, 0, 48) + struct.pack("<QQQIIII", size, 0, 0, 0, 0, 0, 0) + bytes(size)
	open("traced.data", "wb").write(open("plain.data", "rb").read() + info + data(64) + data(36872))
	END
	run -0 --separate-stderr waymark print traced.data
	[[ $stderr == *"36936 bytes of Intel PT are not decoded: 'perf script --itrace'"* ]]
	[ "$output" = "$(waymark print plain.data)" ]
}
