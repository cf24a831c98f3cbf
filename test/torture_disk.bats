#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# torture_disk.bats - tests a disk that is full, becomes full, or gets free space again while a
# trace is written: the failure is reported at once, complete data is kept, every lost event is
# counted, and the status is 5.

bats_require_minimum_version 1.5.0
load torture/common

setup_file() {
	torture_setup_file
	torture_build kill
}

setup() {
	small="$BATS_TEST_TMPDIR/small"
	mkdir "$small"
	if [ "$(id -u)" != 0 ] || ! mount -t tmpfs -o size=40m none "$small"; then
		rmdir "$small"
		skip "a small file system needs root"
	fi
	cd "$BATS_TEST_TMPDIR"
}

teardown() {
	[ ! -d "$small" ] || umount "$small"
}

# Records programs that are killed while they emit, into $small/trace. The status must be 5, the sum
# correct, and babeltrace2 must read the same as print. $1: the losses that check permits.
recorded_with_loss() {
	local done_ begun recorded sum
	rm -f "$W/tally"
	TORTURE_TALLY="$W/tally" run -5 --separate-stderr waymark record -o "$small/trace" -- \
		"$W/kill" "$(torture_count 300 3000)" 3000 lossy all
	[[ "$stderr" == *"waymark: cannot write to '$small/trace': No space left on device"* ]]
	[[ "$stderr" =~ "waymark: "([0-9]+)" events, ".*", "([0-9]+)" lost (" ]]
	sum=$((BASH_REMATCH[1] + BASH_REMATCH[2]))
	"$W/check" "$small/trace" "$W/tally" "ftb$1" >check.out || { cat check.out; return 1; }
	read -r done_ begun recorded <<<"$(sed -En \
		's/.* ([0-9]+) done, ([0-9]+) begun, ([0-9]+) recorded.*/\1 \2 \3/p' check.out)"
	echo "$done_ <= $sum <= $begun, $recorded"
	[ "$done_" -le "$sum" ]
	[ "$sum" -le "$begun" ]
	[ "$recorded" -gt 0 ]
	[ "$recorded" -lt "$done_" ]
	[ "$(waymark print "$small/trace" 2>/dev/null | grep -c ' torture:')" = "$recorded" ]
	babeltrace2 "$small/trace" 2>bt.err >bt.out
	[ "$(grep -c ' torture:' bt.out)" = "$recorded" ]
	[ -z "$(grep -v 'Tracer discarded' bt.err)" ]
}

@test "a disk that fills" {
	head -c 38M /dev/zero >"$small/ballast"
	recorded_with_loss l # the losses could not be written to the trace either, but were reported
}

@test "a disk that fills and gets room again: what comes then is recorded" {
	head -c 39900000 /dev/zero >"$small/ballast"
	(
		for _ in $(seq 6000); do # until the disk is full and events were lost for that reason
			[ "$(df --output=avail "$small" | tail -1)" -ge 64 ] || break
			sleep 0.01
		done
		sleep 0.1
		rm "$small/ballast"
	) 3>&- &
	recorded_with_loss
	wait
	[ "$(du -sm "$small/trace" | cut -f1)" -gt 4 ]
}

@test "no room for the first byte: said before the command runs" {
	head -c 50M /dev/zero >"$small/ballast" || true
	run -125 waymark record -o "$small/trace" -- touch ran
	[[ "$output" == *"No space left on device"* ]]
	[ ! -e ran ]
}
