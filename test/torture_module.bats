#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# torture_module.bats - modules are loaded and unloaded, recorders start, stop and change their
# rules, and callbacks are connected and disconnected, all while threads trace.

bats_require_minimum_version 1.5.0
load torture/common
load wait

setup_file() {
	torture_setup_file
	torture_build module
	torture_build plugin -shared -fPIC
	torture_build probe
	torture_build kinds
	torture_build kill
	torture_build window $RT
	torture_build rules -D_GNU_SOURCE -Wno-unused-parameter -I"$WAYMARK_SOURCE/src" \
		"$WAYMARK_SOURCE/src/ring/pool.c" "$WAYMARK_SOURCE/src/ring/pool_reader.c"
}

teardown() {
	[ -z "${pid-}" ] || kill "$pid" 2>/dev/null || true
}

@test "dlopen and dlclose under four tracing threads" {
	torture_record -- "$W/module" "$(torture_count 2000 100000)" "$W/plugin"
	torture_check
}

@test "the same while callbacks are connected and disconnected" {
	torture_record -- "$W/module" "$(torture_count 2000 100000)" "$W/plugin" probes
	torture_check
}

@test "callbacks that trace, fork, or leave by longjmp" {
	local mode
	for mode in recursive fork jump; do
		torture_record -q -- "$W/probe" "$mode"
		torture_check
	done
}

@test "rules change all the time" {
	TORTURE_TALLY="$W/tally" TORTURE_RUNTIME="$WAYMARK_BUILD/libwaymark-rt.so.0" \
		"$W/rules" "$(torture_count 2000 100000)"
}

@test "3,000 sites at once, with and without a window in the text's protection" {
	local mode
	for mode in plain narrow denied copying meddled fork; do
		timeout 120 "$W/window" "$mode" "$(torture_count 20 10000)"
	done
}

@test "two recorders each get what they asked, and both get everything" {
	torture_record -q -e torture:fixed -- waymark record -q -o "$W/other" \
		-e torture:text -e torture:bytes -- "$W/kinds" 300
	"$W/check" "$W/trace" "$W/tally" f
	"$W/check" "$W/other" "$W/tally" tb
	rm -rf "$W/other"
	torture_record -q -- waymark record -q -o "$W/other" -- "$W/kill" 300
	torture_check
	torture_check "$W/other"
	rm -rf "$W/other"
	torture_record -q -- waymark record -q -o "$W/other" -- "$W/module" 1000 "$W/plugin" probes
	torture_check
	torture_check "$W/other"
	rm -rf "$W/other"
}

# Succeeds when no process has a file of this folder open.
is_closed() {
	[ -z "$(find /proc/[0-9]*/fd -lname "$1*" 2>/dev/null)" ]
}

# Records process $pid for a moment into a separate folder. The trace, if there is one, must have no
# gap. On a busy machine the moment may be over before the recording began, or the command is killed
# before it handles signals; then its pump ends the trace a little later.
attach_for() {
	local other
	other=$(mktemp -u "$BATS_TEST_TMPDIR/other.XXXXXX")
	timeout -s INT "$1" waymark record -q -e 'torture:*' -p "$pid" -o "$other" || [ $? = 124 ]
	until_true is_closed "$other"
	[ ! -e "$other/metadata" ] || "$W/check" "$other" "$W/tally" ftbp
}

# Records process $pid until its events are in the trace; there must be no gap between them.
attach_until_recorded() {
	local other=$BATS_TEST_TMPDIR/last recorder
	env --default-signal=INT waymark record -q -e 'torture:*' -p "$pid" -o "$other" 3>&- &
	recorder=$!
	until_shows "$other" 100 torture:
	kill -INT "$recorder"
	wait "$recorder" || [ $? = 130 ]
	"$W/check" "$other" "$W/tally" ftbp
}

@test "recorders attach and leave; the one that was there loses nothing" {
	local i n=$(torture_count 10 200)
	rm -f "$W/pid"
	mkfifo "$W/pid"
	torture_record -q -- "$W/kinds" 120000 >"$W/pid" 3>&- &
	read -r pid <"$W/pid"
	for ((i = 0; i < n; i++)); do
		attach_for 0.0$((i % 7 + 3))
	done
	attach_until_recorded
	kill "$pid"
	wait
	torture_check
}

@test "recorders attach and leave when nobody else is there" {
	local i n=$(torture_count 10 200)
	rm -f "$W/pid" "$W/tally"
	mkfifo "$W/pid"
	TORTURE_TALLY="$W/tally" LD_PRELOAD="$WAYMARK_BUILD/libwaymark-rt.so.0" \
		"$W/kinds" 120000 >"$W/pid" 3>&- &
	read -r pid <"$W/pid"
	for ((i = 0; i < n; i++)); do
		attach_for 0.$((i % 3 + 1))
	done
	attach_until_recorded
	kill "$pid"
	wait
}
