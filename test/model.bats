#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Checks the models of the ring and of flipping sites: see test/model/*.pml.

@test "the models hold, and each seeded fault is found" {
	command -v spin >/dev/null || skip "spin is not installed: nothing was verified"
	run "$WAYMARK_SOURCE/test/model/run"
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$(grep -c ' verified$' <<<"$output")" -eq 5 ]
	[ "$(grep -c '^ring .* found: ' <<<"$output")" -eq 8 ]
	[ "$(grep -c '^flip .* found: ' <<<"$output")" -eq 7 ]
}

@test "the runner of the models fails when a fault is not found" {
	command -v spin >/dev/null || skip "spin is not installed: nothing was verified"
	cp -r "$WAYMARK_SOURCE/test/model" "$BATS_TEST_TMPDIR/model"
	sed -i 's/BUG3/NOTHING/' "$BATS_TEST_TMPDIR/model/flip.pml"
	sed -i 's/for n in 1 2 3 4 5 6 7; do/for n in 3; do/' "$BATS_TEST_TMPDIR/model/run"
	run "$BATS_TEST_TMPDIR/model/run" flip
	echo "$output"
	[ "$status" -ne 0 ]
	[ "$(grep -c 'NOT FOUND' <<<"$output")" -eq 1 ]
	[ "$(grep -c '^flip ' <<<"$output")" -eq 2 ]
}
