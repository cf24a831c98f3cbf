#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# torture_hostile.bats - programs overwrite the memory that they share with the pump and send it
# invalid messages: they damage only their own events.

bats_require_minimum_version 1.5.0
load torture/common

setup_file() {
	torture_setup_file
	torture_build hostile -I"$WAYMARK_SOURCE/src"
}

@test "the pump lives, the neighbour is exact, the trace is read" {
	torture_record -- "$W/hostile" "$(torture_count 2000 30000)"
	torture_check
	waymark info --repair "$W/trace"
	torture_check
	babeltrace2 "$W/trace" 2>"$W/err" | grep -c ' torture:'
	[ -z "$(grep -v 'Tracer discarded' "$W/err")" ]
}

@test "so it does with small buffers, and as a flight recorder" {
	torture_record -b 4M -- "$W/hostile" "$(torture_count 600 30000)"
	torture_check
	torture_record -b 16M --mode overwrite -- "$W/hostile" "$(torture_count 600 10000)"
	torture_check
}
