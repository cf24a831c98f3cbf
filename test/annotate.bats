#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Tests waymark annotate: the instructions equal objdump's, and the shares are those of the samples.

bats_require_minimum_version 1.5.0
load perf

setup() {
	waymark="$WAYMARK_BUILD/waymark"
	cd "$BATS_TEST_TMPDIR"
	perf_record -N -q -e cpu-clock -o probe.data true 2>/dev/null || skip "perf cannot record here"
	cat >busy.c <<-'END'
	#include <stdlib.h>
	static volatile unsigned sink;
	__attribute__((noipa)) static void work(unsigned n)
	{
		while (n--)
			sink = sink * 3 + 1;
		sink += getenv("NOTHING") != NULL;
	}
	int main(void)
	{
		for (int i = 0; i < 60000; i++)
			work(2000);
		return 0;
	}
	END
	gcc -O2 -g busy.c -o busy
	perf_record -N -q -e cpu-clock -F 4000 -o p.data ./busy
}

@test "every instruction is shown, with its samples" {
	"$waymark" annotate work p.data --json >ours.json
	objdump -d --disassemble=work busy >wanted
	perf script -i p.data -F ip,sym >ips
	python3 - <<-'END'
	import json, re, collections
	rows = json.load(open("ours.json"))["tables"][0]["rows"]
	listed = [int(m[1], 16) for m in re.finditer(r"^ +([0-9a-f]+):\t[0-9a-f ]+\t\S", open("wanted").read(), re.M)]
	assert [r["address"] for r in rows] == listed, (rows, listed)
	samples = collections.Counter(int(l.split()[0], 16) & 0xfff for l in open("ips") if l.split()[1:] == ["work"])
	ours = {r["address"] & 0xfff: r["events"] for r in rows if r["events"]}
	assert ours == dict(samples), (ours, samples)
	assert abs(sum(r["share"] for r in rows) - 1) < 1e-9
	assert any("getenv@plt" in r["instruction"] for r in rows), rows
	assert any(r["source"] and "sink = sink * 3 + 1;" in r["source"] for r in rows), rows
	END
	run -0 "$waymark" annotate work p.data --no-source
	[[ $output != *"busy.c:"* ]]
}

@test "each event has its own listing" {
	perf_record -N -q -e cpu-clock/period=250000/,task-clock/period=1000000/ -o two.data ./busy
	"$waymark" annotate work two.data --json >ours.json
	perf script -i two.data -F event,ip,sym >events
	python3 - <<-'END'
	import json, collections
	wanted = collections.Counter(l.split()[0].split(":")[0] for l in open("events") if l.split()[2:] == ["work"])
	tables = json.load(open("ours.json"))["tables"]
	got = {t["title"].split(":")[0]: sum(r["events"] for r in t["rows"]) for t in tables}
	assert got == dict(wanted) and len(got) == 2, (got, wanted)
	assert all(abs(sum(r["share"] for r in t["rows"]) - 1) < 1e-9 for t in tables)
	END
	run -0 "$waymark" annotate work two.data -e 'task-clock*' --no-source
	[ "$(grep -c ' of the total weight' <<<"$output")" = 1 ]
}

@test "a changed file is not shown as the recorded one: the stored build is used, or none" {
	sed 's/sink \* 3/sink * 5/' busy.c >other.c
	gcc -O2 -g other.c -o busy
	objdump -d --disassemble=work busy | grep -q '(%r[a-z]*,%r[a-z]*,4)'
	run "$waymark" annotate work p.data
	! grep -q '(%r[a-z]*,%r[a-z]*,4)' <<<"$output" || false
	grep -q '(%r[a-z]*,%r[a-z]*,2)\|no instructions\|no event occurred in' <<<"$output"
}

@test "a missing function is reported; the kernel's code is shown, or the reason why not" {
	run -4 "$waymark" annotate wrok p.data
	[[ $output == *"no event occurred in a function named 'wrok'; did you mean 'work'"* ]]
	run -4 --separate-stderr "$waymark" annotate nosuch p.data --json
	[[ $stderr == *"no event occurred in a function named 'nosuch'"* && $output == *'"schema"'* ]]
	perf_record -N -q -e page-faults -c 1 -o k.data ls -lR /usr/share/doc >/dev/null
	local name=$("$waymark" report k.data -s dso,sym --json | python3 -c '
import json, sys
for r in json.load(sys.stdin)["tables"][0]["rows"]:
    if r["dso"] == "[kernel.kallsyms]" and not r["sym"].startswith("[k] 0x"):
        print(r["sym"][4:])
        break')
	[ -n "$name" ] || skip "the kernel tells no names here"
	run -0 "$waymark" annotate "$name" k.data
	[[ $output == *"0xffff"* ]]
	if [ -r /proc/kcore ]; then
		# test/vm/kernel.bats tests it on a kernel that is known to allow it.
		[[ $output == *" ret"* || $output == *"no instructions"* ]]
	else
		[[ $output == *"cannot show the instructions of [kernel.kallsyms]: /proc/kcore: "*"; no vmlinux of that build on this machine"* ]]
	fi
}
