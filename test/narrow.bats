#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Tests 32-bit programs on a 64-bit machine: names, callers, source lines and instructions.

bats_require_minimum_version 1.5.0
load perf

setup() {
	cd "$BATS_TEST_TMPDIR"
	PATH=$WAYMARK_BUILD:$PATH
	gcc -m32 -c -x c /dev/null -o none.o 2>why || skip "no 32-bit compiler: $(head -1 why)"
	build narrow
	./narrow || skip "this kernel runs no 32-bit programs"
}

# build NAME OPTION... - builds a 32-bit program that needs no 32-bit library
build() {
	local name=$1
	shift
	gcc -m32 -O1 -g -nostdlib -static -ffreestanding -fno-pic -no-pie -fno-omit-frame-pointer -Wl,--build-id \
		"$@" "$WAYMARK_SOURCE/test/data/narrow.c" -o "$name"
}

# Samples ./busy, by perf into p.data and by waymark into t.
sampled() {
	build busy -DROUNDS=20000 "${@:--DWORK=5000}"
	perf_record -q -N -e cpu-clock -F 2000 --call-graph fp -o p.data ./busy 2>/dev/null || skip "perf cannot record here"
	waymark record -q --preload none -o t -F 2000 -g -- ./busy
}

@test "samples have functions, callers and lines, in perf's files and in our own" {
	for how in -no-pie "-fpie -static-pie"; do
		rm -rf t
		sampled -DWORK=5000 $how
		for trace in p.data t; do
			waymark report "$trace" --json >r.json
			waymark report "$trace" --sort srcline --no-children --json >l.json
			python3 - <<-'END'
			import json, re
			rows = {r["sym"]: r for r in json.load(open("r.json"))["tables"][0]["rows"]}
			assert rows["[.] work"]["self"] > 0.5, rows
			assert rows["[.] _start"]["children"] >= rows["[.] work"]["self"] * 0.9, rows
			lines = json.load(open("l.json"))["tables"][0]["rows"]
			best = max(lines, key=lambda r: r["weight"])
			assert re.search(r"narrow\.c:\d+", str(best)), best
			END
		done
	done
}

# deep OPTION... - samples ./deep, which keeps no frame pointers, with stack copies, by perf and by waymark
deep() {
	gcc -m32 -O1 -g -nostdlib -static -ffreestanding -fno-pic -no-pie -fomit-frame-pointer -fasynchronous-unwind-tables \
		-Wl,--build-id -DWORK=50000 -DROUNDS=3000 "$@" "$WAYMARK_SOURCE/test/data/narrow_deep.c" -o deep
	perf_record -q -N -e cpu-clock -F 2000 --call-graph dwarf,8192 -o p.data ./deep 2>/dev/null ||
		skip "perf cannot record here"
	rm -rf t
	waymark record -q --preload none -o t -F 2000 -g dwarf -- ./deep
	waymark convert -f t c.data
}

# chains TRACE FIRST REST - checks that all chains that begin with FIRST continue with REST, a
# regular expression, except one, or one in a hundred
chains() {
	waymark print --format=perf "$1" >chains
	python3 - "$2" "$2 $3" <<-'END'
	import re, sys
	chains = []
	for sample in open("chains").read().split("\n\n"):
	    names = [l.split()[1].split("+")[0] for l in sample.splitlines()[1:] if "[kernel" not in l]
	    if names and names[0] == sys.argv[1]:
	        chains.append(" ".join(names))
	wrong = [c for c in chains if not re.fullmatch(sys.argv[2], c)]
	assert len(chains) > (50 if sys.argv[1] == "work" else 0), len(chains)
	assert len(wrong) <= max(1, len(chains) // 100), (len(wrong), len(chains), wrong[:3])
	END
}

@test "callers without frame pointers, from copies of the stack" {
	deep
	for trace in p.data t c.data; do
		chains "$trace" work "sized realigned (descend ){21}main _start"
		waymark report "$trace" --json >r.json
		python3 - <<-'END'
		import json
		rows = {r["sym"]: r for r in json.load(open("r.json"))["tables"][0]["rows"]}
		assert rows["[.] main"]["children"] >= 0.99, rows["[.] main"]
		END
	done
	# perf reports registers of 32 bits.
	perf script -D -i c.data 2>/dev/null | grep -m1 'user regs: mask 0xff0fff ABI 32-bit'
}

@test "callers below a signal handler of a 32-bit program, through the kernel's own code" {
	deep -DSIGNALS
	for trace in p.data t; do
		chains "$trace" work "handler \\S+ sized realigned (descend ){21}main _start"
		# The chain contains the call that returns.
		chains "$trace" __kernel_sigreturn "sized realigned (descend ){21}main _start"
	done
}

@test "a function's instructions are objdump's, with its lines and the samples that fell on it" {
	sampled
	objdump -d --disassemble=work busy >wanted
	for trace in p.data t; do
		waymark annotate work "$trace" --json >ours.json
		python3 - <<-'END'
		import json, re
		rows = json.load(open("ours.json"))["tables"][0]["rows"]
		found = re.findall(r"^ +([0-9a-f]+):\t[0-9a-f ]+\t(\S+)", open("wanted").read(), re.M)
		assert [r["address"] for r in rows] == [int(a, 16) for a, _ in found], (rows, found)
		assert abs(sum(r["share"] for r in rows) - 1) < 1e-9
		assert any(r["source"] and "sink = sink * 3" in r["source"] for r in rows), rows
		assert any("(%esp" in r["instruction"] or "(%ebp" in r["instruction"] for r in rows), rows
		END
	done
}

@test "a rebuilt 32-bit program is a different one" {
	# Changes the program, so that no cache knows this build from another run.
	sampled "-DWORK=$((5000 + RANDOM))"
	build busy -DROUNDS=20000 -DWORK=4999
	run waymark report t
	[[ $output != *"[.] work"* ]]
	[[ $output == *"different build"* ]]
}

# probed EVENT... - prints the hits of these events in ./narrow, without process and time
probed() {
	local asked=()
	for event; do
		asked+=(-e "$event")
	done
	rm -rf t
	waymark record -q --preload none -o t "${asked[@]}" -- ./narrow
	waymark print t | sed -E 's/.*(probe|usdt):narrow:([^{]*): \{ cpu.*__probe_(ip|func) = 0x[0-9a-f]+(, __probe_ret_ip = 0x[0-9a-f]+)?,? ?/\2 /; s/ \}$//; s/ +$//'
}

can_probe() {
	waymark record -q --preload none -o tried -e uprobe:./narrow:_start -- ./narrow 2>why || skip "no probes here: $(head -1 why)"
}

@test "functions and probes of a 32-bit program are listed" {
	waymark list 'func:./narrow:*' >l
	for name in work feed _start; do
		grep -q "uprobe:.*/narrow:$name " l
	done
	run -0 waymark list ./narrow
	[[ $output == *"usdt:./narrow:zoo:feed"*"5 operands, 1 place"* ]]
	[[ $output == *"usdt:./narrow:zoo:none"*"0 operands, 1 place"* ]]
}

@test "arguments of a 32-bit function: by number, by name, and its return value" {
	can_probe
	probed 'uprobe:./narrow:work(arg1,arg2:s16,arg4:x32,arg5:x64,$stack6)' >got
	table=0x$(nm narrow | sed -n 's/ [dD] pair//p' | sed 's/^0*//')
	for i in 1 2 3; do echo "work arg1 = 10, arg2 = -2, arg4 = $table, arg5 = 0x123456789abc, stack6 = 4660"; done >wanted
	diff wanted got
	probed 'uprobe:./narrow:work(turns,step,p,wide,counter)' >got
	for i in 1 2 3; do echo "work turns = 10, step = -2, p = $table, wide = 20015998343868, counter = 7"; done >wanted
	diff wanted got
	probed 'uretprobe:./narrow:feed($retval)' >got
	printf 'feed retval = %d\n' -1 -2 -3 >wanted
	diff wanted got
}

@test "all parameters except those behind pointers in memory; a line within has those in registers" {
	can_probe
	run -0 waymark record -q --preload none -o t -e 'uprobe:./narrow:work(*)' -- ./narrow
	[[ $output == *"without one or more of its arguments: 'text': it is reached through a 32-bit pointer in memory"* ]]
	[ "$(waymark print t | grep -c 'turns = 10, step = -2, p = 0x[0-9a-f]*, wide = 20015998343868')" = 3 ]
	run -2 waymark record -q --preload none -o u -e 'uprobe:./narrow:work(p->first)' -- ./narrow
	[[ $output == *"through a 32-bit pointer in memory"* ]]
	address=$(objdump -d --disassemble=work narrow | sed -n 's/^ *\([0-9a-f]*\):.*movsbl (%\(e..\)),.*/\1 \2/p')
	[ -n "$address" ]
	probed "uprobe:./narrow:0x${address% *}(+0(%${address#* }):string,s=%${address#* }:string)" >got
	[ "$(grep -c 'arg1 = "hay", s = "hay"' got)" = 3 ]
}

@test "USDT probes of a 32-bit program: constants, registers, memory, variables" {
	can_probe
	probed 'usdt:./narrow:zoo:*' >got
	for i in 1 2 3; do
		echo "zoo:feed arg1 = $i, arg2 = 77, arg3 = -$i, arg4 = $i, arg5 = 7"
		echo zoo:none
	done >wanted
	diff wanted got
}

@test "stat counts calls of a 32-bit program's functions" {
	can_probe
	waymark stat --json -e uprobe:./narrow:work,usdt:./narrow:zoo:none -- ./narrow >s.json
	[ "$(grep -o '"value":3\b\|"count":3\b' s.json | wc -l)" -ge 2 ]
}
