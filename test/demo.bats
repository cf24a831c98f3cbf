#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# demo.bats - tests `make demo`: the report matches the traces, and its last line is the path of one
# of them.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR"
}

@test "the demo: report, figures, path of the trace" {
	out="$BATS_TEST_TMPDIR/demo"
	BUILD="$WAYMARK_BUILD" run -0 --separate-stderr "$WAYMARK_SOURCE/examples/demo/run" "$out" 1
	[ -z "$stderr" ]
	[ "${lines[-1]}" = "$out/trace" ]
	[ -f "$out/trace/metadata" ]
	for part in "Slowest statements" "SELECT sum(amount) FROM orders JOIN customer" \
		"Stages of the work" "Allocations by size" "Mutexes with waiting threads" \
		"Lost: none" "with marks and helpers, not recorded" "sqlite3 | sort" "/usr/bin/sort" ": as waymark does"; do
		[[ $output == *"$part"* ]] || { echo "no '$part'"; false; }
	done

	# Compares the printed numbers with the trace, and checks that each statement has a begin
	# and an end.
	PATH="$WAYMARK_BUILD:$PATH"
	echo "$output" >report
	run -4 waymark list "$out/plain" # the baseline has no marks
	statements=$(sed -n 's/.*: \([0-9]*\) statements.*/\1/p' "$out/recorded.out")
	[ "$statements" -gt 5000 ]
	waymark info --json "$out/trace" | python3 -c '
import json, sys
facts, report = json.load(sys.stdin), open("report").read().split("== sqlite3 | sort")[0]
lines = [line.split() for line in report.splitlines()]
counts = {c["provider"] + ":" + c["name"]: c["events"] for c in facts["classes"]}
assert all([str(n), name] in lines for name, n in counts.items())
assert counts["sqlite_load:statement"] == 2 * int(sys.argv[1])
assert counts["malloc:alloc"] > 1000 and counts["pthread:mutex_acquire"] > 10000
assert counts["pthread:mutex_request"] == counts["pthread:mutex_acquire"]
assert counts["pthread:thread_create"] == 4
assert sum(counts.values()) == facts["events"]' "$statements"
}

@test "the demo does not touch a folder that it did not create" {
	mkdir "$BATS_TEST_TMPDIR/mine"
	touch "$BATS_TEST_TMPDIR/mine/file"
	BUILD="$WAYMARK_BUILD" run -1 "$WAYMARK_SOURCE/examples/demo/run" "$BATS_TEST_TMPDIR/mine"
	[ -e "$BATS_TEST_TMPDIR/mine/file" ]
}
