#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Compares waymark's perf.data with what perf of three Debian releases reads (tools/referee). Only in
# make check-long, because the packages are downloaded.

bats_require_minimum_version 1.5.0
load perf

setup_file() {
	if [ -n "${WAYMARK_LONG-}" ]; then
		"$WAYMARK_SOURCE/tools/referee" --fetch perf-6.1 perf-6.12 perf-sid >"$BATS_FILE_TMPDIR/versions" 2>&1 || true
	fi
}

setup() {
	export TZ=UTC
	[ -n "${WAYMARK_LONG-}" ] || skip "only in make check-long: it downloads perf of three Debian releases"
	waymark="$WAYMARK_BUILD/waymark"
	cd "$BATS_TEST_TMPDIR"
	! grep '^referee: ' "$BATS_FILE_TMPDIR/versions" >reason || skip "$(cat reason)"
	mapfile -t referees < <(cut -d: -f1 "$BATS_FILE_TMPDIR/versions")
	[ "${#referees[@]}" = 3 ]
}

script() { # REFEREE FILE
	"$WAYMARK_SOURCE/tools/referee" "$1" script -i "$2" 2>/dev/null
}

same() { # FILE: each perf prints the same of the file and of what convert makes of it
	rm -f out.data
	"$waymark" convert --all "$1" out.data 2>convert.log || [ $? = 5 ]
	for referee in "${referees[@]}"; do
		script "$referee" "$1" >a || continue # the file has a feature that this perf does not know
		script "$referee" out.data >b
		cmp a b
		[ -s a ] || [ "${2-}" = may-be-empty ]
	done
}

make_deep() {
	cat >deep.c <<-'END'
	static volatile unsigned sink;
	__attribute__((noinline)) void spin(unsigned n) { while (n--) sink = sink * 3 + 1; }
	__attribute__((noinline)) void rec(int d) { if (d) rec(d - 1); else spin(100000); sink++; }
	int main(void) { for (int i = 0; i < 500; i++) rec(5); return 0; }
	END
	gcc -O1 -g -fno-optimize-sibling-calls deep.c -o deep
}

@test "tracepoints, with chains and data, from files, compressed files, pipes and perf trace" {
	perf_record -N -q -e sched:sched_switch,syscalls:sys_enter_openat,raw_syscalls:sys_exit -g -o t.data ls / \
		>/dev/null 2>err || skip "perf may not record tracepoints here: $(head -1 err)"
	same t.data
	perf_record -N -q -z -a -d -W -e sched:sched_switch -e sched:sched_wakeup -o z.data true >/dev/null 2>&1
	same z.data
	perf record -N -q -e syscalls:sys_enter_openat -o - true 2>/dev/null >pipe.data
	same pipe.data
	perf trace record -o trace.data ls >/dev/null 2>&1
	same trace.data
}

@test "copied stacks, addresses of data, groups, and records of cgroups, namespaces and switches" {
	make_deep
	perf_record -N -q -e cpu-clock -F 500 --call-graph dwarf -o dwarf.data ./deep 2>err ||
		skip "perf may not sample here: $(head -1 err)"
	same dwarf.data
	perf_record -N -q -e cpu-clock -e page-faults -c 1000 -d --all-cgroups --namespaces --switch-events \
		-o features.data ./deep 2>/dev/null
	same features.data
	perf_record -N -q -e '{cpu-clock,page-faults}:S' -o group.data ./deep 2>/dev/null
	same group.data
}

@test "waymark's copied stacks: perf finds the functions that waymark finds" {
	make_deep
	"$waymark" record -q -F 500 -e sw:cpu-clock -g dwarf -o t -- ./deep >/dev/null 2>&1 ||
		skip "no samples can be taken here"
	"$waymark" convert t t.data
	"$waymark" print --format=perf t.data | awk '/\/deep\)/ { print $2 }' >ours
	[ "$(grep -c '^rec+' ours)" -gt 50 ]
	for referee in "${referees[@]}"; do
		script "$referee" t.data | awk '/\/deep\)/ { print $2 }' | cmp ours -
	done
}

@test "the files of the corpus" {
	[ -d "${WAYMARK_CORPUS:-}" ] || skip "no corpus: WAYMARK_CORPUS is not set"
	mapfile -t files < <(awk -F'\t' '$4 == "valid" && $2 == "perf.data/file" { print $1 }' \
		"$WAYMARK_CORPUS/MANIFEST.tsv")
	[ "${#files[@]}" -gt 20 ]
	for file in "${files[@]}"; do
		echo "$file"
		same "$WAYMARK_CORPUS/$file" may-be-empty
	done
	# Of these pipes, perf prints the processors or the events' names otherwise than of a file.
	file=$WAYMARK_CORPUS/perf.data/quipper/perf.data.piped.header_features_aligned-6.12
	same "$file"
}
