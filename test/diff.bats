#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Tests waymark diff: it finds changes, and reports differences within the expected variation as
# such.

bats_require_minimum_version 1.5.0
load perf

setup() {
	waymark="$WAYMARK_BUILD/waymark"
	cd "$BATS_TEST_TMPDIR"
	perf_record -N -q -e cpu-clock -o probe.data true 2>/dev/null || skip "perf cannot record here"
	cat >busy.c <<-'END'
	#include <stdlib.h>
	static volatile unsigned sink;
	__attribute__((noinline)) static void first(unsigned n) { while (n--) sink = sink * 3 + 1; }
	__attribute__((noinline)) static void second(unsigned n) { while (n--) sink = sink * 5 + 1; }
	int main(int argc, char **argv)
	{
		for (int i = 0; i < 30000; i++) { first(1000); second((unsigned)atoi(argv[1])); }
		return 0;
	}
	END
	gcc -O1 busy.c -o busy
	for i in 1 2 3; do
		perf_record -N -q -e cpu-clock -F 4000 -o before$i ./busy 1000
		perf_record -N -q -e cpu-clock -F 4000 -o after$i ./busy 3000
	done
}

@test "a function that takes three times as long is found, with its significance" {
	"$waymark" diff before1 after1 -s sym --json >one.json
	"$waymark" diff before1,before2,before3 after1,after2,after3 -s sym --json >three.json
	"$waymark" diff before1,before2,before3 after1,after2,after3 before1,before2 -s sym --json >sides.json
	python3 - <<-'END'
	import json
	for name in "one", "three", "sides":
	    rows = {r["sym"]: r for r in json.load(open(name + ".json"))["tables"][0]["rows"]}
	    many = name == "sides"
	    second = rows["[.] second"]
	    after, chance = second["after_1" if many else "after"], second["chance_1" if many else "chance"]
	    # The shares are half and three quarters, apart from interrupts and other load on a busy
	    # machine.
	    assert 0.3 < second["before"] < 0.6, second
	    assert 0.6 < after < 0.85, second
	    assert chance < 0.05, second
	    if many:
	        assert abs(second["change_2"]) < 0.1, second
	END
	run -0 "$waymark" diff before1 after1 -s sym --rows 2
	[[ $output == *"second"* ]]
}

@test "a recording does not differ from itself" {
	"$waymark" diff before1 before1 -s comm,dso,sym --json | python3 -c '
import json, sys
rows = json.load(sys.stdin)["tables"][0]["rows"]
assert rows and all(r["change"] == 0 and r["rate_change"] == 0 and r["chance"] == 1 for r in rows), rows'
}

@test "a single recording cannot be compared, and missing recordings are reported" {
	run -2 "$waymark" diff before1
	run -1 "$waymark" diff before1 nosuch
	[[ $output == *"nosuch"* ]]
}
