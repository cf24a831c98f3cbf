#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# torture_kill.bats - kills traced programs by SIGKILL at random moments: committed events are read
# back, the other process loses nothing, and the accounts are exact.

bats_require_minimum_version 1.5.0
load torture/common

setup_file() {
	torture_setup_file
	torture_build kill
}

@test "kills: every committed event is there, the neighbour's too" {
	torture_record -- "$W/kill" "$(torture_count 1500 100000)"
	torture_check
}

@test "kills: babeltrace2 agrees" {
	torture_record -- "$W/kill" "$(torture_count 200 10000)"
	torture_check
	torture_babeltrace
}

@test "kills with buffers too small: the account is exact" {
	torture_record -b 256K -- "$W/kill" "$(torture_count 100 5000)" 20000 lossy all
	torture_check
}

@test "kills of a flight recorder: what was overwritten is counted exactly" {
	torture_record --mode overwrite -b 256K -- "$W/kill" "$(torture_count 60 2000)" 20000 \
		lossy all
	torture_check
}

@test "kills in block mode: the account is exact" {
	torture_record --mode block -b 256K -- "$W/kill" "$(torture_count 60 2000)" 20000 lossy
	torture_check
}
