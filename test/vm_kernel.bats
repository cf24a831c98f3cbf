#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# vm_kernel.bats - what our machines' own kernels may lack, tested on Debian's kernel in the machine of
# tools/vm: kprobes, the function tracer, an older interface. The tests of the rooms kernel and kdata
# run in it whole: nothing that they skip here may be skipped there.

bats_require_minimum_version 1.5.0

setup_file() {
	export W="$BATS_FILE_TMPDIR" VM="$WAYMARK_SOURCE/tools/vm" BATS_TEST_TIMEOUT=240
	"$VM" --prepare >"$W/release" 2>"$W/why" || return 0
	local script=$WAYMARK_SOURCE/test/data/vm_kernel.sh unit
	local files=(-f "$script")
	for unit in "$WAYMARK_BUILD"/kernel-*_test "$WAYMARK_BUILD"/kdata-*_test; do
		if [ -x "$unit" ]; then files+=(-f "$unit"); fi
	done
	mkdir "$W/r"
	"$VM" -t 240 "${files[@]}" -d "$W/r" sh "$script" "$W/r" >"$W/out" 2>"$W/err" || true
}

setup() {
	[ -s "$W/release" ] || skip "$(cat "$W/why"): nothing was run in it"
	cd "$W/r"
}

@test "the tests of rooms kernel and kdata pass there, and none of kprobes or tracefs is skipped" {
	cat "$W/out" "$W/err" script.err
	[ -e done ]
	[ "$(ls units | wc -l)" -gt 4 ]
	for unit in units/*; do
		grep -q '\[  PASSED  \]' "$unit" || cat "$unit"
		grep -q '\[  PASSED  \]' "$unit"
		! grep -q '\[  FAILED  \]' "$unit"
	done
	! grep -E 'skipped: .*(kprobes|uprobes|tracefs|tracing file system|system call events)' units/*
}
