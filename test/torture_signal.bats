#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# torture_signal.bats - signal handlers trace, nest, fork, and leave by siglongjmp, at random
# moments and at every instruction of an event.

bats_require_minimum_version 1.5.0
load torture/common

setup_file() {
	torture_setup_file
	torture_build signal
	torture_build inject -static $RT 2>/dev/null
}

@test "a handler at 10 kHz on a small alternate stack loses nothing" {
	torture_record -- "$W/signal" timer "$(torture_count 1000 30000)"
	torture_check
	torture_record --context cpu -- "$W/signal" timer "$(torture_count 500 30000)"
	torture_check
}

@test "nested handlers are recorded or counted" {
	torture_record -- "$W/signal" nested "$(torture_count 500 10000)"
	torture_check
}

@test "siglongjmp out of handlers: recorded or counted" {
	torture_record -- "$W/signal" jump "$(torture_count 1000 30000)"
	torture_check
	torture_record --context cpu -- "$W/signal" jump "$(torture_count 500 30000)"
	torture_check
}

@test "an event takes at most 512 bytes of stack" {
	torture_record -- "$W/signal" stack
	torture_check
}

paths=("text 10" "fixed 167" "fixed 10" "bytes 10")

# HANDLER [RECORD-OPTION...]: runs the test for each kind of event, and for one that changes chunks.
inject() {
	local handler=$1 path
	shift
	for path in "${paths[@]}"; do
		torture_record -q "$@" -- "$W/inject" $path "$handler"
		torture_check
	done
}

@test "a handler at every instruction: it traces a little, a lot, on a stack nearby" {
	inject one
	inject many
	inject alt
}

@test "a handler at every instruction leaves by siglongjmp" {
	inject jump
}

@test "a handler at every instruction forks, and both go on" {
	inject fork
}

@test "the same through the gate" {
	[ -n "${WAYMARK_LONG-}" ] || paths=("${paths[@]:0:2}")
	inject many --context cpu
	inject jump --context cpu
	inject fork --context cpu
}
