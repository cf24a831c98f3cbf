#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# torture_step.bats - kills a process by SIGKILL at every instruction of the paths through the
# runtime; the trace contains everything that was committed before.

bats_require_minimum_version 1.5.0
load torture/common

setup_file() {
	torture_setup_file
	torture_build step -static $RT
	cp "$W/step" "$W/step_patched"
	torture_build step -DWAYMARK_LOADTEST -static $RT
	mv "$W/step" "$W/step_loadtest"
	mv "$W/step_patched" "$W/step"
}

# A `fixed` event has 24 bytes: 167 fill a thread's first chunk, 2727 each later one.
@test "an event of fixed fields, a string, a sequence" {
	for kind in fixed text bytes; do
		torture_record -q -- "$W/step" "$kind"
		torture_check
	done
}

@test "an event through the gate: a context, a filter" {
	torture_record -q -e torture:bytes --context cpu -e torture:fixed -- \
		"$W/step" bytes 10 visit
	torture_check
	torture_record -q -e torture:text --filter 'n < 1000 && s == "*x*"' -e torture:fixed -- \
		"$W/step" text 10 visit
	torture_check
}

@test "a chunk switch: from the first chunk, from a later one, in the middle of a string" {
	torture_record -q -- "$W/step" fixed 167
	torture_check
	torture_record -q -- "$W/step" fixed 2894 visit
	torture_check
	torture_record -q -- "$W/step" text 166 visit
	torture_check
}

@test "a flight recorder's reuse of the oldest chunk" {
	# 64K are sixteen chunks of 4 KiB.
	torture_record -q --mode overwrite -b 64K -- "$W/step" fixed 2839 visit lossy
	torture_check
}

@test "a forked child's first event" {
	torture_record -q -- "$W/step" first
	torture_check
}

@test "joining at exec, from the dynamic linker to main" {
	torture_record -q -- "$W/step" start "$(torture_count 29 1)"
	torture_check
}

@test "joining a recorder that attaches" {
	torture_record -q -- "$W/step_loadtest" attach "$(torture_count 11 1)"
	torture_check
}
