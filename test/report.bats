#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Tests waymark report: shares equal to perf report's, keys from events and fields, graphs, limits,
# JSON, and messages when something is missing.

bats_require_minimum_version 1.5.0
load perf

setup_file() {
	# perf requires a HOME. perf report names functions of the vdso only if an earlier recording
	# without -N left a copy of the vdso in HOME/.debug, so these tests have a HOME of their own
	# with such a copy.
	export HOME="$BATS_FILE_TMPDIR"
	perf_record -q --buildid-all -e page-faults -c 1 -o "$HOME/all.data" true >/dev/null 2>&1 || true
}

setup() {
	export TZ=UTC
	waymark="$WAYMARK_BUILD/waymark"
	compare="$BATS_TEST_DIRNAME/data/report_compare.py"
	cd "$BATS_TEST_TMPDIR"
}

need_corpus() {
	[ -d "${WAYMARK_CORPUS:-}" ] || skip "no corpus: WAYMARK_CORPUS is not set"
	quipper="$WAYMARK_CORPUS/perf.data/quipper"
}

need_perf() {
	perf_record -N -q -e cpu-clock -o probe.data true 2>/dev/null || skip "perf cannot record here"
}

# A program whose functions take 3/4 and 1/4 of its time, called from two places.
make_program() {
	cat >busy.c <<-'END'
	#include <stdio.h>
	static volatile unsigned sink;
	__attribute__((noinline)) static void spin(unsigned n) { while (n--) sink = sink * 3 + 1; }
	__attribute__((noinline)) static void large(void) { spin(3000); sink++; }
	__attribute__((noinline)) static void small(void) { spin(1000); sink++; }
	int main(void) { for (int i = 0; i < 40000; i++) { large(); small(); } return 0; }
	END
	gcc -O0 -g busy.c -o busy
}

@test "branches: rows and shares equal perf report -b's" {
	need_perf
	perf_record -N -q -e page-faults -c 1 -g -o chains.data sh -c 'ls / >/dev/null; ls /' >/dev/null
	"$BATS_TEST_DIRNAME/data/lbr.py" chains.data branches.data taken
	python3 "$compare" "$waymark" branches.data comm,dso_from,symbol_from,symbol_to,cycles
	python3 "$compare" "$waymark" branches.data comm,dso_from,dso_to,mispredict
	python3 "$compare" "$waymark" branches.data comm,dso_to,in_tx,abort,cycles
	"$waymark" report -b -s symbol_from,symbol_to,mispredict branches.data >parts.txt
	"$waymark" report -b -s symbol_from,symbol_to,mispredict branches.data --threads 1 | diff - parts.txt
	grep -q '^# page-faults: [0-9]* branches$' parts.txt
	run -4 --separate-stderr "$waymark" report -b chains.data
	[ "$stderr" = "waymark: report: no selected event has branches; record them with 'perf record -b'" ]
	run -4 --separate-stderr "$waymark" report -s mispredict branches.data
	[ "$stderr" = "waymark: report: 'mispredict' is a key of branches: use 'report --branch-stack'" ]
	run -2 --separate-stderr "$waymark" report -b -g branches.data
	[[ $stderr == *"a branch has no call chain"* ]]
}

@test "shares and symbols equal perf report's over recordings of now" {
	need_perf
	make_program
	perf_record -N -q -e cpu-clock -F 4000 -g -o chains.data ./busy
	perf_record -N -q -e cpu-clock -F 4000 -o flat.data ./busy
	cp busy busy$$
	perf_record -N -q -m 16M -a -e cpu-clock -F 2000 -g -o all.data ./busy$$
	perf_record -N -q -e page-faults -c 1 -g -o faults.data sh -c 'ls -lR /usr/share/doc >/dev/null; ./busy'
	perf_record -N -q -e cpu-clock/freq=2000/,page-faults/period=1/ -o two.data python3 -c 'import json, re'
	perf_record -N -q -e page-faults -c 1 -g --user-callchains -o half.data python3 -c 'import json, re'
	for file in chains flat faults two half; do
		python3 "$compare" "$waymark" $file.data comm,dso,sym
		python3 "$compare" "$waymark" $file.data comm,dso,sym --no-children
		python3 "$compare" "$waymark" $file.data sym
	done
	# Selects only this program and the idle tasks: perf does not find the files of a process in
	# another mount namespace, or of one that exited and was removed.
	for options in "" --no-children; do
		# shellcheck disable=SC2086
		python3 "$compare" "$waymark" all.data comm,dso,sym "(busy$$|swapper)$" $options
	done
}

@test "samples without a period weigh the event's, and events are never added up" {
	need_perf
	make_program
	perf_record -N -q -c 1000003 -e cpu-clock -e page-faults/period=1/ -e context-switches/period=1/ -o fixed.data ./busy
	perf_record -N -q -c 1 -e page-faults -e minor-faults -o ones.data python3 -c 'import json'
	perf_record -N -q -c 100 -e page-faults -e minor-faults -g -o hundreds.data python3 -c 'import json, re'
	for file in fixed ones hundreds; do
		python3 "$compare" "$waymark" $file.data comm,dso,sym --no-children
		python3 "$compare" "$waymark" $file.data comm
		perf report -i $file.data --stdio --percent-limit 0 -s comm 2>/dev/null |
			sed -n "s/^# Samples: .* of event '\(.*\)'/\1/p; s/^# Event count (approx.): //p" | paste - - | sort >perf
		"$waymark" report $file.data -s comm --json | python3 -c '
import json, sys
for t in json.load(sys.stdin)["tables"]:
    print(t["title"].split(": ")[0], sum(r["weight"] for r in t["rows"]), sep="\t")' | sort >ours
		cmp perf ours
	done
	run -0 "$waymark" report ones.data -s comm --weight count
	[ "$(grep -c '^# .*: [0-9]* samples, weight' <<<"$output")" = 2 ]
}

@test "callers at addresses where no code can be are no frames" {
	need_perf
	make_program
	perf_record -N -q -c 1000000 -e cpu-clock:u -g -o p.data ./busy
	python3 - <<-'END'
	import struct
	data = bytearray(open("p.data", "rb").read())
	at, size = struct.unpack_from("<QQ", data, 40)
	attrs = struct.unpack_from("<Q", data, 24)[0]
	assert struct.unpack_from("<Q", data, attrs + 24)[0] == 0x27  # IP, TID, TIME, CALLCHAIN
	end, nr = at + size, 0
	while at < end:
	    kind, misc, size = struct.unpack_from("<IHH", data, at)
	    chain = struct.unpack_from("<Q", data, at + 32)[0] if kind == 9 else 0
	    if chain > 4:
	        struct.pack_into("<QQ", data, at + 40 + 8 * (chain - 2), 0xbe552274c0854800, 0)
	        nr += 1
	    at += size
	assert nr > 20
	open("damaged.data", "wb").write(data)
	END
	run -0 "$waymark" report damaged.data -s sym -g callee
	[[ $output == *" spin"* && $output != *"0xbe552274c0854800"* && $output != *"0x0000000000000000"* ]]
}

@test "levels of --hierarchy equal perf report's, and limits hold on each" {
	need_perf
	make_program
	perf_record -N -q -e cpu-clock -F 4000 -g -o chains.data ./busy
	perf_record -N -q -e page-faults -c 1 -o faults.data sh -c 'ls -lR /usr/share/doc >/dev/null; ./busy'
	for file in chains faults; do
		python3 "$compare" "$waymark" $file.data comm,dso,sym --hierarchy
		python3 "$compare" "$waymark" $file.data dso,sym --hierarchy
	done
	if [ -d "${WAYMARK_CORPUS:-}" ]; then
		for file in callgraph-3.4 singleprocess-3.8 systemwide.1-3.8 weight_struct; do
			python3 "$compare" "$waymark" "$WAYMARK_CORPUS/perf.data/quipper/perf.data.$file" comm,dso --hierarchy
		done
	fi
	"$waymark" report chains.data --hierarchy --percent-limit 10 --stdio >text
	# There is one row on each level: the command, the program, its function; each in its own
	# column.
	[ "$(grep -v '^#' text | sed 's/^ *[0-9.]*% *[0-9]* *//; /^ *Self/d; /^$/d')" = $'busy\nbusy\n[.] spin' ]
	# Of busy, all samples may be in spin; ls has rows of one fault.
	"$waymark" report faults.data --hierarchy --percent-limit 10 --stdio >text
	grep -q 'rows below the limit' text
	"$waymark" report chains.data --hierarchy -g callee --json | python3 -c '
import json, sys
row = json.load(sys.stdin)["tables"][0]["rows"][0]["parts"][0]["parts"][0]
calls = {c["name"]: c["share"] for c in row["calls"] if c["depth"] == 1}
assert row["sym"] == "[.] spin" and 0.65 < calls["large"] < 0.85, row'
}

@test "options are taken as perf report has them" {
	need_perf
	make_program
	perf_record -N -q -e cpu-clock -F 1000 -g -o p.data ./busy
	"$waymark" report -i p.data --stdio -f -n --children -d busy -S spin -c busy -g callee --show-total-period >text
	"$waymark" report p.data --dso busy --symbol spin --comm busy -G --json >json
	python3 - <<-'END'
	import json
	row, = json.load(open("json"))["tables"][0]["rows"]
	lines = [l.split() for l in open("text") if "spin" in l]
	assert lines[0][2:4] == [str(row["events"]), str(row["weight"])], (lines, row)
	assert any("large" in l for l in open("text"))
	END
}

@test "source lines equal perf report's, and inlined functions have names" {
	need_perf
	cat >inlined.c <<-'END'
	static volatile unsigned sink;
	static inline __attribute__((always_inline)) void deep(unsigned n) { while (n--) sink = sink * 3 + 1; }
	static inline __attribute__((always_inline)) void middle(unsigned n) { deep(n); sink++; }
	__attribute__((noinline)) static void work(void) { middle(2000); sink += 2; }
	int main(void) { for (int i = 0; i < 60000; i++) work(); return 0; }
	END
	gcc -O2 -g inlined.c -o inlined
	perf_record -N -q -e cpu-clock -F 4000 -o p.data ./inlined
	# For other objects perf calls addr2line, which sometimes names files differently.
	python3 "$compare" "$waymark" p.data srcline 'inlined.c:' --no-children
	"$waymark" report p.data -s srcline --json >line.json
	"$waymark" report p.data -s sym --inline --json >inline.json
	python3 - <<-'END'
	import json
	def rows(name, key):
	    return {r[key]: r["self"] for r in json.load(open(name))["tables"][0]["rows"]}
	assert rows("line.json", "srcline")["inlined.c:2"] > 0.8
	assert rows("inline.json", "sym")["[.] deep (inlined)"] > 0.8
	END
}

@test "shares equal perf report's over files of kernels 3.2 to 6.12" {
	need_corpus
	local nr=0
	for file in armv7-3.4 branch-4.14 branch_stack_hw_index busy.0-3.4 busy.1-3.4 callgraph-3.4 \
		callgraph_and_branch-3.8 ctx_switch_namespaces-4.14 forkexit-3.8 group_desc-4.14 hybrid_topology \
		lost_samples-4.4 numatopology-3.2 piped.ctx_switch_namespaces-4.14 piped.target.throttled-3.4 \
		raw_callgraph_branch-3.4 remmap-3.2 singleprocess-3.8 systemwide.0-3.4 systemwide.0-3.8 \
		systemwide.1-3.4 systemwide.1-3.8 systemwide.5-3.8 weight_struct; do
		[ -f "$quipper/perf.data.$file" ] || continue
		python3 "$compare" "$waymark" "$quipper/perf.data.$file" comm,dso
		nr=$((nr + 1))
	done
	[ "$nr" -ge 20 ]
}

@test "call graphs divide a function's time among what it calls, and who called it" {
	need_perf
	make_program
	perf_record -N -q -e cpu-clock -F 4000 -g -o p.data ./busy
	"$waymark" report p.data -s sym -g --json >caller.json
	"$waymark" report p.data -s sym --no-children --call-graph callee --json >callee.json
	"$waymark" report p.data -s comm --call-graph folded --json >folded.json
	python3 - <<-'END'
	import json
	def rows(name):
	    return {r["sym"] if "sym" in r else r["comm"]: r for r in json.load(open(name))["tables"][0]["rows"]}
	main = rows("caller.json")["[.] main"]
	calls = {c["name"]: c["share"] for c in main["calls"] if c["depth"] == 1}
	assert 0.65 < calls["large"] < 0.85, calls
	assert 0.15 < calls["small"] < 0.35, calls
	spin = rows("callee.json")["[.] spin"]
	callers = {c["name"]: c["share"] for c in spin["calls"] if c["depth"] == 1}
	assert 0.65 < callers["large"] < 0.85, callers
	folded = rows("folded.json")["busy"]["calls"]
	lines = [c["name"] for c in folded]
	assert any(l.endswith("main;large;spin") for l in lines), lines
	assert abs(sum(c["share"] for c in folded) - 1) < 0.2
	END
}

@test "events of any tracer are split by contexts and by their fields" {
	need_corpus
	local trace="$WAYMARK_CORPUS/ctf1/tracecompass/context-switches"
	[ -e "$trace" ] || skip "not in the corpus: $trace"
	"$waymark" report "$trace" -s event --json >events.json
	"$waymark" print --jsonl "$trace" >events.jsonl
	python3 - <<-'END'
	import collections, json
	ours = {r["event"]: r["events"] for r in json.load(open("events.json"))["tables"][0]["rows"]}
	theirs = collections.Counter(json.loads(l)["name"] for l in open("events.jsonl"))
	assert ours == dict(theirs), (ours, theirs)
	END
	"$waymark" report "$trace" -s comm,func_entry.addr --json >field.json
	python3 - <<-'END'
	import collections, json
	ours = {(r["comm"], int(r["func_entry.addr"], 16)): r["events"]
	        for r in json.load(open("field.json"))["tables"][0]["rows"]}
	theirs = collections.Counter()
	for line in open("events.jsonl"):
	    e = json.loads(line)
	    if e["name"].endswith(":func_entry"):
	        theirs[(e["comm"], e["fields"]["addr"])] += 1
	assert ours == dict(theirs), (ours, theirs)
	END
}

@test "stacks among ftrace's events are call chains" {
	local tracefs=/sys/kernel/tracing instance="stacks$$"
	command -v trace-cmd >/dev/null || skip "trace-cmd is not installed"
	mkdir "$tracefs/instances/$instance" 2>/dev/null || skip "tracefs is not available"
	for option in stacktrace userstacktrace; do echo 1 >"$tracefs/instances/$instance/options/$option"; done
	echo 'common_pid != 0' >"$tracefs/instances/$instance/events/sched/sched_switch/filter"
	# trace-cmd reads the formats of all events, and ends when another test removes a probe meanwhile: then
	# all is recorded again. It also stops tracing in the system's own buffer, which other tests use: it
	# gets a file instead.
	echo 1 >on
	for i in {1..20}; do
		echo >"$tracefs/instances/$instance/trace"
		echo 1 >"$tracefs/instances/$instance/tracing_on"
		echo 1 >"$tracefs/instances/$instance/events/sched/sched_switch/enable"
		for k in 1 2 3 4 5; do sleep 0.01; done
		echo 0 >"$tracefs/instances/$instance/events/sched/sched_switch/enable"
		if unshare --mount sh -ec 'mount --bind on "$0/tracing_on"; exec trace-cmd extract -B "$1" -o t.dat' \
			"$tracefs" "$instance" >extract 2>&1; then
			stacks=$(trace-cmd report t.dat 2>>extract | grep -c ': kernel_stack: ') || true
			[ "$stacks" -le 4 ] || break
		fi
		sleep 0.2
	done
	rmdir "$tracefs/instances/$instance" 2>/dev/null || true
	[ "${stacks-0}" -gt 4 ] || { cat extract; return 1; }
	! "$waymark" print --jsonl -e ftrace:kernel_stack t.dat 2>/dev/null | grep '"caller":\[\]' || false
	n=$("$waymark" print -e ftrace:kernel_stack --jsonl t.dat 2>/dev/null | wc -l)
	[ "$n" = "$stacks" ]
	# Events of an instance have its name, as in trace-cmd report.
	named=$(trace-cmd report t.dat 2>/dev/null | grep -c "^$instance: ")
	[ "$named" -gt 4 ]
	[ "$("$waymark" print --jsonl t.dat 2>/dev/null | grep -c "\"buffer\":\"$instance\"")" = "$named" ]
	[ "$("$waymark" print t.dat 2>/dev/null | grep -c "^[[][^ ]* ([^)]*) $instance: ")" = "$named" ]
	"$waymark" report -e ftrace:kernel_stack t.dat -s sym -g callee --json >ours.json || [ $? = 5 ]
	python3 - "$n" <<-'END'
	import json, sys
	rows = json.load(open("ours.json"))["tables"][0]["rows"]
	schedule = [r for r in rows if r["sym"].endswith(" __schedule")]
	assert schedule[0]["events"] == int(sys.argv[1]) and schedule[0]["self"] == 0, schedule
	assert all(r["sym"].startswith("[k] ") for r in rows), rows
	END
	"$waymark" report -e ftrace:user_stack t.dat -s sym --json >ours.json || [ $? = 5 ]
	grep -q '\[\.\] 0x' ours.json
}

@test "a window and a selection leave out what they should" {
	need_corpus
	local f="$quipper/perf.data.systemwide.1-3.4"
	local all=$("$waymark" report "$f" -s event --json -e cycles | python3 -c '
import json, sys
print(sum(r["events"] for t in json.load(sys.stdin)["tables"] for r in t["rows"]))')
	[ "$all" -gt 100 ]
	[ "$("$waymark" print --jsonl -e cycles "$f" | wc -l)" = "$all" ]
	run -4 "$waymark" report "$f" -e nosuch
	run -4 "$waymark" report "$f" -s nosuchfield
	[[ $output == *"nosuchfield"* ]]
}

@test "limits say what they left out" {
	need_corpus
	run -0 "$waymark" report "$quipper/perf.data.systemwide.1-3.4" -s comm,dso --percent-limit 5
	[[ $output == *"rows below the limit"* ]]
	run -0 "$waymark" report "$quipper/perf.data.systemwide.1-3.4" -s comm --rows 1
	[ "$(grep -c '^[ 0-9.]*%' <<<"$output")" -ge 1 ]
}

@test "losses stand on top and in the exit status" {
	need_corpus
	run -5 "$waymark" report "$quipper/perf.data.lost_samples-4.4" -s comm
	[[ $output == *"# lost: "* ]]
}

@test "losses whose number the trace does not contain are not reported as none" {
	switched() { # TIME TASK TASK
		echo "  $2  [000] d..2.  $1: sched_switch: prev_comm=${2%-*} prev_pid=${2#*-} prev_prio=120 prev_state=S ==>" \
			"next_comm=${3%-*} next_pid=${3#*-} next_prio=120"
	}
	printf '# tracer: nop\n#\n' >text
	switched 100.000001 bash-10 a-11 >>text
	echo 'CPU:0 [LOST EVENTS]' >>text
	switched 100.000003 a-11 bash-10 >>text
	run -5 "$waymark" report text -s comm
	[[ $output == *"# lost: an unknown number of events lost: overrun"* ]]
	sed 's/LOST/LOST 1/' text >one
	run -5 "$waymark" report one -s comm
	[[ $output == *"# lost: 1 event lost: overrun"* ]]
	cat one text >both
	run -5 "$waymark" report both -s comm
	[[ $output == *"# lost: more than 1 event lost: overrun"* ]]
}

@test "several threads find what one finds, to the byte" {
	need_perf
	cat >faults.c <<-'END'
	#include <stdlib.h>
	#include <sys/mman.h>
	#include <sys/wait.h>
	#include <unistd.h>
	static void (*volatile keep)(char *p);
	__attribute__((noinline)) static void small(char *p) { *p = 1; }
	__attribute__((noinline)) static void large(char *p) { *(volatile char *)p = 2; keep = small; }
	static void fault(long n) {
		while (n > 0) {
			char *p = mmap(NULL, 4096 * 512, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			madvise(p, 4096 * 512, MADV_NOHUGEPAGE);
			for (int i = 0; i < 512; i++, n--)
				i % 3 ? large(p + 4096 * i) : small(p + 4096 * i);
			munmap(p, 4096 * 512);
		}
	}
	int main(int argc, char **argv) {
		for (int i = 0; i < 4; i++)
			if (!fork()) { fault(atol(argv[1])); execlp("true", "true", NULL); _exit(1); }
		while (wait(NULL) > 0) ;
		return 0;
	}
	END
	gcc -O1 -g -fno-omit-frame-pointer faults.c -o faults
	perf_record -N -q -e page-faults -c 1 -m 16M -o flat.data ./faults 50000
	perf_record -N -q -e page-faults -c 1 -m 16M -g -o chains.data ./faults 30000
	for file in flat chains; do
		# The file must be long enough to be split into three parts.
		[ "$(stat -c %s $file.data)" -gt 6000000 ]
		for options in "-s comm,dso,sym" "-s pid,cpu,sym --hierarchy" "-g caller --no-children -s sym" \
			"-s tid,dso --json" "-s event,comm,sym -c faults" "-s sym --weight count --rows 5 -g callee"; do
			for threads in 1 2 5; do
				# shellcheck disable=SC2086
				"$waymark" report $file.data $options --stdio --threads $threads >text.$threads 2>said.$threads
			done
			grep -q large text.1 || [[ $options == *tid,dso* ]]
			cmp text.1 text.2 && cmp text.1 text.5 || false
			cmp said.1 said.2 && cmp said.1 said.5 || false
		done
	done
}

@test "threads have the names that print shows, also beside events of the scheduler" {
	# Of a kworker, sched_switch has "kworker/0:2", and the record of its name "kworker/0:2-events".
	perf_record -N -q -a -e sched:sched_switch -c 1 -o s.data sleep 0.3 >/dev/null 2>err ||
		skip "perf may not record the machine here: $(head -1 err)"
	"$waymark" print --jsonl s.data >printed
	"$waymark" report -s comm s.data >reported
	python3 - <<-'END'
	import collections, json, re
	def shown(name): # as text shows it: other programs on this machine may have any name
	    return name and "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in name)
	printed = collections.Counter(shown(json.loads(line).get("comm")) for line in open("printed")
	                              if '"name":"sched:sched_switch"' in line)
	rows = [re.match(r" *[0-9.]+% +([0-9]+)  (.*)", line) for line in open("reported")]
	reported = collections.Counter({row[2]: int(row[1]) for row in rows if row})
	more, less = reported - printed, printed - reported
	# Only threads without a record of their name have that of sched_switch.
	assert len(reported) > 1 and set(less) <= {None} and more.total() == less.total(), (more, less)
	END
}

@test "call chains that lack frame pointers are reported once, with the remedy" {
	cat >touch.c <<-'END'
	#include <stddef.h>
	#include <sys/mman.h>
	__attribute__((noipa)) void touch(volatile char *p, int n) { while (n--) p[4096 * n] = 1; }
	__attribute__((noipa)) void pages(char *p) { touch(p, 3000); *(volatile char *)p = 2; }
	int main(void)
	{
	    char *p = mmap(NULL, 3000 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	    return p == MAP_FAILED || madvise(p, 3000 * 4096, MADV_NOHUGEPAGE) ? 1 : (pages(p), 0);
	}
	END
	gcc -O2 -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer touch.c -o with
	gcc -O2 -fomit-frame-pointer touch.c -o without
	for program in with without; do
		"$waymark" record -q --preload none -e page-faults -c 1 -g -o $program.t -- ./$program >/dev/null 2>&1 ||
			skip "no page faults can be sampled here"
	done
	run -0 --separate-stderr "$waymark" report with.t
	head -20 <<<"$output"
	[[ $output != *"no callers"* ]]
	run -0 --separate-stderr "$waymark" report without.t
	[[ $output == *"# broken: 3"*" call chains of programs have no callers: the code has no frame pointers; record with -g dwarf"* ]]
	# Values that are no addresses of code do not become callers.
	"$waymark" flame --folded without.t 2>err >folded
	grep -q 'flame: 3.*have no callers' err
	[ "$(grep -c '^without;touch [0-9]*$' folded)" = 1 ]
	"$waymark" flame --folded with.t 2>err >folded
	! grep 'no callers' err || false
	grep -Eq ';main;(pages;)?touch [0-9]*$' folded # a leaf function has no frame, and hides its caller
	"$waymark" record -q --preload none -e page-faults -c 1 -g dwarf -o dwarf.t -- ./without >/dev/null 2>&1
	[[ "$("$waymark" report dwarf.t)" != *"no callers"* ]]
	# Of two events, only the one without copies of the stack has broken chains.
	"$waymark" record -q --preload none -e page-faults -c 1 -g fp -e minor-faults -c 1 -g dwarf,1024 -o two.t -- ./without >/dev/null 2>&1
	run --separate-stderr "$waymark" report two.t # copies of the stack may be lost, then with status 5
	[[ $output == *"# broken: "*" call chains of programs at sw:page-faults have no callers: "* ]]
	[ "$(grep -c '^# broken:' <<<"$output")" = 1 ]
}

@test "call chains that the processor recorded are not said to lack frame pointers" {
	printf 'int main(void) { static volatile char p[4096 * 300]; for (int i = 0; i < 300; i++) p[4096 * i] = 1; return 0; }\n' >t.c
	gcc -O2 -fno-omit-frame-pointer t.c -o t
	perf_record -N -q -g -e page-faults:u -c 1 -o frames.data ./t 2>err || skip "$(head -1 err)"
	# Callers that are in no mapping, as in a program without frame pointers.
	cat >cut.py <<-'END'
	import struct, sys
	data = bytearray(open("frames.data", "rb").read())
	attr, at, size = (struct.unpack_from("<Q", data, i)[0] for i in (24, 40, 48))
	end = at + size
	while at < end:
	    kind, _, size = struct.unpack_from("<IHH", data, at)
	    if kind == 9:
	        count = struct.unpack_from("<Q", data, at + 32)[0]
	        for i in range(2, count):
	            struct.pack_into("<Q", data, at + 40 + 8 * i, 0x10 + i)
	    at += size
	open(sys.argv[1], "wb").write(data)
	END
	python3 cut.py broken.data
	run -0 --separate-stderr "$waymark" report broken.data
	[[ $output == *"# broken: "*" call chains of programs have no callers: "* ]]
	"$BATS_TEST_DIRNAME/data/lbr.py" broken.data lbr.data
	[[ "$("$waymark" report lbr.data)" != *"no callers"* ]]
}

@test "events without an address have no symbol beside samples" {
	"$waymark" record -q -e 'hello:*' -e page-faults -c 1 -o t -- "$WAYMARK_BUILD/examples/hello" >/dev/null 2>&1 ||
		skip "no page faults can be sampled here"
	run -0 "$waymark" report t --json
	python3 - "$output" <<-'END'
	import json, sys
	tables = {t["subject"]: t["rows"] for t in json.loads(sys.argv[1])["tables"] if "subject" in t}
	assert any(r["sym"] for r in tables["sw:page-faults"]), tables
	marks = [r for name, rows in tables.items() if name.startswith("hello:") for r in rows]
	assert marks and all((r["dso"], r["sym"]) == ("", "") for r in marks), marks
	END
}
