#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Tests waymark convert to the file formats of tracers: waymark and the tools that own the formats
# read the output back. The traces are real: a selection of $WAYMARK_CORPUS; with WAYMARK_LONG all
# of it.

bats_require_minimum_version 1.5.0
load perf
load trace_cmd

setup() {
	export TZ=UTC
	waymark="$WAYMARK_BUILD/waymark"
	compare="$BATS_TEST_DIRNAME/data/compare_events.py"
	cd "$BATS_TEST_TMPDIR"
}

corpus() { # KIND-REGEX NAME...: prints the valid traces of a kind; without WAYMARK_LONG, only the named ones
	local kind=$1 path
	shift
	[ -d "${WAYMARK_CORPUS:-}" ] || skip "no corpus: WAYMARK_CORPUS is not set"
	if [ -z "${WAYMARK_LONG-}" ]; then
		for path; do
			[ -e "$WAYMARK_CORPUS/$path" ] || skip "not in the corpus: $path"
		done
		traces=("$@")
	else
		mapfile -t traces < <(awk -F'\t' -v kind="$kind" '$4 == "valid" && $2 ~ kind { print $1 }' \
			"$WAYMARK_CORPUS/MANIFEST.tsv")
	fi
	[ "${#traces[@]}" -gt 0 ]
}

convert() { # FORMAT TRACE OUT: succeeds with status 0, or 5 when the trace itself is damaged or lost events
	rm -rf "$3"
	"$waymark" convert --all --to "$1" "$2" "$3" 2>convert.log || [ $? = 5 ]
}

print_as() { # FORMAT TRACE
	"$waymark" print --all --format="$1" "$2" 2>/dev/null || true
}

as_babeltrace2() { # TRACE: prints it as babeltrace2 does, without its bug with an empty string after another
	! diff <(print_as babeltrace "$1") <(babeltrace2 "$1" 2>/dev/null) | grep '^<' | grep -v '= ""' || false
}

tids() { # TRACE: the thread of each event
	print_as jsonl "$1" | sed 's/.*"tid":\(-\?[0-9]*\).*"name":\("[^"]*"\).*/\1 \2/'
}

ctf_names=(
	ctf1/babeltrace/packet-seq-num/7-lost-between-2-with-index
	ctf1/babeltrace/succeed/meta-variant-two-underscores
	ctf1/babeltrace/succeed/lttng-event-after-packet
	ctf1/babeltrace/succeed/session-rotation/3/ust/pid/10352
	ctf1/barectf/basic/int/sint-bit-fields-wrap
	ctf1/barectf/basic/dynamic-array/of-static-array-of-str
	ctf1/barectf/counter-clock/dst-packet-features/disc-er-counter-snapshot-uint8
	ctf1/conformance/metadata/pass/sequence-scoped-length
	ctf1/conformance/stream/pass/variant-missing-fields
	ctf1/tracecompass/context-switches/context-switches-ust
	ctf1/tracecompass/funky_trace
)

@test "CTF 1.8 to CTF 1.8: babeltrace2 prints the same, losses included" {
	corpus '^ctf1' "${ctf_names[@]}"
	for t in "${traces[@]}"; do
		convert ctf-1.8 "$WAYMARK_CORPUS/$t" out
		diff <("$waymark" info --hash "$WAYMARK_CORPUS/$t" 2>/dev/null) \
			<("$waymark" info --hash out 2>/dev/null)
		cmp <(print_as babeltrace "$WAYMARK_CORPUS/$t") <(print_as babeltrace out)
		babeltrace2 "$WAYMARK_CORPUS/$t" >a 2>a.err || true
		babeltrace2 out >b 2>b.err || true
		cmp a b
		diff <(grep -a discarded a.err | sed 's/ in trace.*//') \
			<(grep -a discarded b.err | sed 's/ in trace.*//')
	done
}

@test "CTF 1.8 to CTF 2 and back" {
	corpus '^ctf1' "${ctf_names[@]}"
	for t in "${traces[@]}"; do
		convert ctf-2 "$WAYMARK_CORPUS/$t" out
		grep -aq '"version":2' out/metadata
		diff <("$waymark" info --hash "$WAYMARK_CORPUS/$t" 2>/dev/null) \
			<("$waymark" info --hash out 2>/dev/null)
		cmp <(print_as babeltrace "$WAYMARK_CORPUS/$t") <(print_as babeltrace out)
		convert ctf-1.8 out back
		"$compare" <(print_as jsonl out) <(print_as jsonl back)
	done
}

@test "CTF 2 to CTF 2, and to CTF 1.8 with the labels of the tag as names of the options" {
	corpus '^ctf2' ctf2/converted/babeltrace/succeed/meta-variant-no-underscore \
		ctf2/converted/ctf-testsuite/stream/pass/variant-missing-fields
	for t in "${traces[@]}"; do
		convert ctf-2 "$WAYMARK_CORPUS/$t" out
		diff <("$waymark" info --hash "$WAYMARK_CORPUS/$t" 2>/dev/null) \
			<("$waymark" info --hash out 2>/dev/null)
		cmp <(print_as babeltrace "$WAYMARK_CORPUS/$t") <(print_as babeltrace out)
		convert ctf-1.8 "$WAYMARK_CORPUS/$t" out
		[ "$("$compare" <(print_as jsonl "$WAYMARK_CORPUS/$t") <(print_as jsonl out))" = \
			"$(print_as jsonl out | wc -l)" ]
		cmp <(print_as babeltrace "$WAYMARK_CORPUS/$t") <(print_as babeltrace out)
		as_babeltrace2 out
	done
}

@test "perf.data and trace.dat to CTF 1.8 and 2: the same values, and babeltrace2 reads them" {
	corpus '^(perf|trace)' perf.data/quipper/perf.data.raw_callgraph_branch-3.4 \
		perf.data/quipper/perf.data.lost_samples-4.4 \
		perf.data/linux-perf-data/sleep.data \
		trace.dat/trappy/conv-tests-v7-zstd.dat trace.dat/trappy/trace_idle.dat
	for t in "${traces[@]}"; do
		for format in ctf-1.8 ctf-2; do
			convert $format "$WAYMARK_CORPUS/$t" out
			n=$("$compare" <(print_as jsonl "$WAYMARK_CORPUS/$t") <(print_as jsonl out))
			[ "$n" -gt 0 ]
			[ $format = ctf-2 ] || as_babeltrace2 out
		done
		lost=$("$waymark" print "$WAYMARK_CORPUS/$t" 2>&1 >/dev/null | grep 'tracer lost' || true)
		[ "$("$waymark" print out 2>&1 >/dev/null | grep 'tracer lost' || true)" = "$lost" ]
	done
}

@test "waymark's own recordings keep their values and names, whole or in part" {
	"$waymark" record -q -o t -- "$WAYMARK_BUILD/examples/hello" >/dev/null
	for format in ctf-1.8 ctf-2; do
		convert $format t out
		diff <("$waymark" info --hash t) <("$waymark" info --hash out)
		"$waymark" print out | grep -q 'hello:[0-9]*/[0-9]* hello:greeting'
		rm -rf out
		"$waymark" convert --to $format -e hello:greeting --filter 'times == 2' t out
		[ "$("$waymark" print --jsonl out | wc -l)" = 1 ]
		"$waymark" print --jsonl out | grep -q '"times":2'
		run -1 "$waymark" convert --to $format t out
		[[ $output == *"'out': already exists"* ]]
	done
	cmp <(babeltrace2 t) <(convert ctf-1.8 t whole && babeltrace2 whole)
}

@test "several traces: a folder for each, merged when they are read" {
	"$waymark" record -q -o a -- "$WAYMARK_BUILD/examples/hello" >/dev/null
	"$waymark" record -q -o b -- "$WAYMARK_BUILD/examples/hello" >/dev/null
	"$waymark" convert --all a b both.ctf
	[ -f both.ctf/1-a/metadata ]
	[ -f both.ctf/2-b/metadata ]
	"$compare" <(print_as jsonl both.ctf) <("$waymark" print --all --jsonl -i a -i b)
	convert ctf-2 both.ctf again
	"$compare" <(print_as jsonl both.ctf) <(print_as jsonl again)
}

report() { # FILE: prints trace-cmd's output without its lines about losses and CPUs
	trace_cmd_report "$1" | grep -vE '^cpus=|EVENTS DROPPED'
}

@test "trace.dat to trace.dat: trace-cmd reports the same" {
	corpus '^trace' trace.dat/trappy/raw_trace.dat trace.dat/trappy/conv-tests-v7-zstd.dat \
		trace.dat/trappy/trace_idle.dat
	for t in "${traces[@]}"; do
		for format in trace.dat trace.dat-plain; do
			convert $format "$WAYMARK_CORPUS/$t" out.dat
			diff <(trace_cmd_report "$WAYMARK_CORPUS/$t") \
				<(trace_cmd_report out.dat) | head -20 >differences
			[ ! -s differences ] || { echo "$format of $t"; cat differences; return 1; }
			diff <("$waymark" info --hash "$WAYMARK_CORPUS/$t" 2>/dev/null) \
				<("$waymark" info --hash out.dat 2>/dev/null)
			cmp <(print_as jsonl "$WAYMARK_CORPUS/$t") <(print_as jsonl out.dat)
			trace-cmd dump --summary out.dat >dump
			grep -q 'CPUs\|cpus' dump
		done
	done
	"$waymark" convert --force --filter 'common_pid == 0' "$WAYMARK_CORPUS/$t" some.dat ||
		[ $? = 5 ]
	[ "$(report some.dat | wc -l)" = "$("$waymark" print --filter 'common_pid == 0' \
		"$WAYMARK_CORPUS/$t" 2>/dev/null | wc -l)" ]
}

@test "events of trace.dat keep their threads in CTF, and from there in trace.dat" {
	corpus '^trace.dat' trace.dat/trappy/trace_idle.dat
	for t in "${traces[@]}"; do
		for to in ctf-1.8 ctf-2; do
			convert $to "$WAYMARK_CORPUS/$t" ctf
			convert trace.dat ctf back.dat
			tids "$WAYMARK_CORPUS/$t" >a
			[ -s a ]
			cmp a <(tids ctf)
			cmp a <(tids back.dat)
		done
	done
}

@test "events without a kernel format get a generated one in trace.dat" {
	corpus '^(ctf|perf)' ctf1/tracecompass/funky_trace ctf1/babeltrace/succeed/sequence \
		ctf1/babeltrace/succeed/lttng-event-after-packet \
		ctf1/tracecompass/context-switches/context-switches-ust \
		perf.data/quipper/perf.data.raw_callgraph_branch-3.4
	for t in "${traces[@]}"; do
		convert trace.dat "$WAYMARK_CORPUS/$t" out.dat
		n=$(print_as jsonl "$WAYMARK_CORPUS/$t" | wc -l)
		[ "$(print_as jsonl out.dat | wc -l)" = "$n" ]
		[ "$(report out.dat | wc -l)" = "$n" ]
	done
	"$waymark" record -q -o t -- "$WAYMARK_BUILD/examples/hello" >/dev/null
	"$waymark" convert t t.dat
	[ "$(report t.dat | grep -o 'greeting: .*' | tr -s ' ')" = \
		"greeting: who=world times=1 mood=calm
greeting: who=world times=2 mood=calm
greeting: who=world times=3 mood=glad" ]
	"$waymark" convert t a.jsonl
	"$waymark" convert t.dat b.jsonl
	[ "$("$compare" --fields a.jsonl b.jsonl)" = 3 ]
	run -1 "$waymark" convert -i t -i t.dat two.dat
	[[ $output == *"one trace at a time"* ]]
	[ ! -e two.dat ]
}

@test "kernel events of waymark's and perf's recordings become kernel events again" {
	[ "$(id -u)" = 0 ] && [ -d /sys/kernel/tracing/events/sched ] || skip "needs root and tracefs"
	"$waymark" record -q -o t -e sched:sched_switch -e sched:sched_process_exec \
		-e syscalls:sys_enter_openat -e 'hello:*' -- \
		sh -c "$WAYMARK_BUILD/examples/hello; ls /" >/dev/null
	"$waymark" convert t t.dat
	"$waymark" convert t a.jsonl
	"$waymark" convert t.dat b.jsonl
	[ "$("$compare" --fields --cpu <(grep -v hello: a.jsonl) <(grep -v hello: b.jsonl))" -gt 3 ]
	[ "$(report t.dat | wc -l)" = "$(wc -l <a.jsonl)" ]
	report t.dat | grep -q 'sched_process_exec: *filename=/.*ls pid='
	report t.dat | grep -q ' hello-[0-9]* .*greeting: *who=world times=3 mood=glad'
	perf_record -N -q -e sched:sched_process_exec -e sched:sched_switch -o p.data -- \
		sh -c 'ls / >/dev/null' 2>/dev/null || skip "perf cannot record here"
	"$waymark" convert p.data p.dat
	"$waymark" convert --force p.data a.jsonl
	"$waymark" convert --force p.dat b.jsonl
	[ "$("$compare" --fields --cpu a.jsonl b.jsonl)" -gt 1 ]
	diff <(perf script -i p.data -F event,trace 2>/dev/null | grep -o 'filename=.*') \
		<(report p.dat | grep -o 'filename=.*')
}

script() { # FILE: prints perf script's output
	perf script -i "$1" 2>/dev/null
}

@test "call chains of tracepoints that trace.dat cannot hold are counted" {
	perf_record -N -q -g -e syscalls:sys_enter_openat -o p.data ls / >/dev/null 2>err ||
		skip "perf may not record tracepoints here: $(head -1 err)"
	n=$("$waymark" print p.data | wc -l)
	run -5 "$waymark" convert p.data out.dat
	[[ $output == *"$n events written to trace.dat without call chains"* ]]
	[ "$("$waymark" print out.dat | wc -l)" = "$n" ]
	perf_record -N -q -e syscalls:sys_enter_openat -o p.data ls / >/dev/null
	run -0 "$waymark" convert --force p.data out.dat
}

@test "perf.data to perf.data: perf script prints the same, also for a part" {
	corpus '^perf' perf.data/quipper/perf.data.callgraph-3.4 \
		perf.data/quipper/perf.data.lost_samples-4.4 \
		perf.data/quipper/perf.data.branch_stack_hw_index \
		perf.data/quipper/perf.data.piped.header_features_aligned-6.12
	for t in "${traces[@]}"; do
		convert perf.data "$WAYMARK_CORPUS/$t" out.data
		cmp <(print_as jsonl "$WAYMARK_CORPUS/$t") <(print_as jsonl out.data)
		# A perf older than the file's version may fail to read it.
		script "$WAYMARK_CORPUS/$t" >a || true
		[ ! -s a ] || cmp a <(script out.data)
	done
	t=$WAYMARK_CORPUS/perf.data/quipper/perf.data.callgraph-3.4
	"$waymark" convert -e cycles --filter '$cpu == 0' "$t" part.data
	n=$("$waymark" print -e cycles --filter '$cpu == 0' "$t" | wc -l)
	[ "$n" -gt 10 ]
	[ "$(script part.data | grep -c 'cycles:')" = "$n" ]
}

@test "tracepoints of perf.data keep their formats, and all that perf stores with them" {
	perf_record -N -q -e sched:sched_switch,syscalls:sys_enter_openat -g -o file.data ls / >/dev/null 2>err ||
		skip "perf may not record tracepoints here: $(head -1 err)"
	# As for perf_record: another recorder can make perf unable to read its own file.
	for ((try = 0; try < 100; try++)); do
		perf record -N -q -e syscalls:sys_enter_openat -o - true 2>/dev/null >pipe.data
		! script pipe.data >/dev/null || break
		sleep 0.5
	done
	for t in file pipe; do
		convert perf.data $t.data out.data
		script $t.data >a
		[ -s a ]
		cmp a <(script out.data)
		# Names of threads that belong to the formats end the section.
		perf report -i out.data --stdio >/dev/null 2>&1
	done
}

@test "the mark that ends the features of a pipe does not become a feature of perf.data" {
	perf record -N -q -e cpu-clock -o - true 2>/dev/null >pipe.data || true
	[ -s pipe.data ] || skip "perf may not record here"
	convert perf.data pipe.data out.data
	python3 - <<-'END'
	import struct
	data = open("out.data", "rb").read()
	at, size = struct.unpack_from("<QQ", data, 40)
	features = [i for i in range(256) if data[72 + i // 8] >> i % 8 & 1]
	sizes = [struct.unpack_from("<QQ", data, at + size + 16 * n)[1] for n in range(len(features))]
	assert len(features) > 5 and 0 not in sizes, list(zip(features, sizes))
	END
}

@test "build-ids that the kernel promised because of another recorder are not read or copied" {
	perf_record -N -q -e cpu-clock -F 2000 -g -o true.data ls -lR /usr/share/doc >/dev/null 2>err ||
		skip "perf may not record here: $(head -1 err)"
	python3 - <<-'END'
	import struct
	data = bytearray(open("true.data", "rb").read())
	at, size = struct.unpack_from("<QQ", data, 40)
	end, nr = at + size, 0
	while at < end:
	    kind, misc, size = struct.unpack_from("<IHH", data, at)
	    if kind == 10:
	        struct.pack_into("<H", data, at + 4, misc | 1 << 14)
	        nr += 1
	    at += size
	assert nr
	open("promised.data", "wb").write(data)
	END
	"$waymark" print --format=perf true.data >want
	"$waymark" print --format=perf promised.data | cmp want -
	"$waymark" convert promised.data out.data
	cmp <(script true.data) <(script out.data)
}

@test "waymark's samples become perf's: perf report shows their symbols" {
	"$waymark" record -q -F 999 -g -e sw:cpu-clock -o t -- \
		sh -c 'i=0; while [ $i -lt 30000 ]; do i=$((i + 1)); done' >/dev/null 2>&1 ||
		skip "no samples can be taken here"
	# Uninitialised memory must not be written to any file.
	MALLOC_PERTURB_=171 "$waymark" convert t t.data
	MALLOC_PERTURB_=85 "$waymark" convert t again.data
	cmp t.data again.data
	"$waymark" convert -e sw:cpu-clock t a.jsonl
	"$waymark" convert -e sw:cpu-clock t.data b.jsonl
	n=$(wc -l <a.jsonl)
	[ "$n" -gt 5 ]
	python3 - <<-'EOF'
		import json
		def samples(name):
		    for line in open(name):
		        e = json.loads(line)
		        v = {**e, **e["common"], **e.get("fields", {})}
		        yield (e["name"], e["time_ns"], e["pid"], e["tid"], e["cpu"],
		               v["ip"], v["period"], v["callchain"])
		a, b = list(samples("a.jsonl")), list(samples("b.jsonl"))
		assert a == b, [x for x in zip(a, b) if x[0] != x[1]][:1]
	EOF
	[ "$(script t.data | grep -c 'sw:cpu-clock:')" = "$n" ]
	perf report -i t.data --stdio --no-children -g none -F overhead,comm,dso 2>/dev/null >report
	grep -q '% *sh .*[a-z]' report
	"$waymark" record -q -o hello -- "$WAYMARK_BUILD/examples/hello" >/dev/null
	run -1 "$waymark" convert hello hello.data
	[[ $output == *"it has no samples"* ]]
	[ ! -e hello.data ]
}

@test "perf finds the callers in waymark's samples with copied stacks" {
	cat >deep.c <<-'END'
	static volatile unsigned sink;
	__attribute__((noinline)) void spin(unsigned n) { while (n--) sink = sink * 3 + 1; }
	__attribute__((noinline)) void rec(int d) { if (d) rec(d - 1); else spin(100000); sink++; }
	int main(int argc, char **argv) { do { for (int i = 0; i < 1500; i++) rec(5); } while (argc > 1); }
	END
	gcc -O1 -g -fno-optimize-sibling-calls deep.c -o deep
	"$waymark" record -q -F 500 -e sw:cpu-clock -g dwarf -o t -- ./deep >/dev/null 2>&1 || skip "no samples can be taken here"
	./deep for-ever 3>&- &
	deep=$!
	"$waymark" record -q -F 500 -e sw:cpu-clock -g dwarf -p $deep -o running -- sleep 0.5 >/dev/null 2>&1 || true
	kill $deep
	for t in t running; do
		"$waymark" convert $t $t.data
		"$waymark" print --format=perf $t | sed -n '/ spin+/,/^$/p' | grep -c '_start' >ours
		script $t.data | sed -n '/ spin+/,/^$/p' | grep -c '_start' >perf
		[ "$(cat ours)" -gt 10 ]
		cmp ours perf
	done
}

@test "waymark's samples of tracepoints keep their fields: perf script prints them" {
	"$waymark" record -q -c 1 -e sched:sched_switch -g -e syscalls:sys_exit_read -o t -- \
		sh -c 'for i in 1 2 3 4 5 6; do echo $i | cat; done' >/dev/null 2>&1 ||
		skip "no tracepoint can be sampled here"
	"$waymark" convert t t.data
	"$waymark" convert -e 's*' t a.jsonl
	"$waymark" convert -e 's*' t.data b.jsonl
	python3 - <<-'EOF'
		import json
		def samples(name):
		    for line in open(name):
		        e = json.loads(line)
		        yield (e["name"], e["time_ns"], e["tid"], e["cpu"], e["message"],
		               {k: v for k, v in e["fields"].items() if k != "callchain"})
		a, b = list(samples("a.jsonl")), list(samples("b.jsonl"))
		assert a == b, [x for x in zip(a, b) if x[0] != x[1]][:1]
		assert {x[0] for x in a} == {"sched:sched_switch", "syscalls:sys_exit_read"}
		open("messages", "w").writelines(f"{x[0]}: {x[4]}\n" for x in a)
	EOF
	perf script -i t.data -F event,trace 2>/dev/null | tr -s ' ' | sed 's/^ //; s/ $//' >script
	diff messages script
	# No kernel has a format for the fields of an event with this name.
	sed -i 's/sys_exit_read/sys_exit_raed/' t/metadata
	n=$("$waymark" print -e 'syscalls:*' t | wc -l)
	[ "$n" -gt 1 ]
	run -5 "$waymark" convert -e 'syscalls:*' t reduced.data
	[[ $output == *"$n events written to perf.data without tracepoint fields"* ]]
	[ "$(script reduced.data | grep -c sys_exit_raed)" = "$n" ]
}
