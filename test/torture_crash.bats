#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# torture_crash.bats - kills `waymark record`, its pump, or both, by SIGKILL at random moments, with
# traces on a disk and in memory: the traced program is not affected, and waymark and babeltrace2
# read all complete packets of the trace.

bats_require_minimum_version 1.5.0
load torture/common

setup_file() {
	torture_setup_file
	torture_build crash
	# Uses a separate runtime folder, because left-over folders are counted.
	export XDG_RUNTIME_DIR="$W/run"
	mkdir -m 700 "$XDG_RUNTIME_DIR"
}

setup() {
	disk=$(mktemp -d "$WAYMARK_BUILD/crash.XXXXXX")
	memory=$(mktemp -d /dev/shm/waymark-crash.XXXXXX) || memory=
}

teardown() {
	rm -rf "$disk" "${memory:-$disk}"
}

# Prints the result of check for the trace $1, which has its own tally.
check_one() {
	"$W/check" "$1" "$1.tally" "ftbc$let_go" >check.out || { cat check.out "$1.err"; ls -l "$1"; return 1; }
}

# Prints the torture events of a text, as "KIND WRITER NUMBER", in each writer's order.
events_of() {
	sed -En 's/.* torture:([a-z]+): .*who = ([0-9]+), n = ([0-9]+).*/\1 \2 \3/p' | sort -s -n -k2,2
}

# Checks that babeltrace2 finds the same events in the traces $paths as print did.
agree() {
	[ ${#paths[@]} -gt 0 ] || return 0
	babeltrace2 "${paths[@]}" 2>bt.err | events_of >theirs
	sort -s -n -k2,2 ours >ours.sorted
	cmp ours.sorted theirs || { echo "not as babeltrace2: ${paths[*]}"; return 1; }
	if grep -v 'Tracer discarded' bt.err; then return 1; fi
	compared=$((compared + $(wc -l <theirs)))
	: >ours
	paths=()
}

# Checks that print, whose output is in the file $2, found every complete packet of the trace $1.
print_is_whole() {
	local status=0 whole
	waymark print "$1" >"$2" 2>print.err || status=$?
	[[ $status = [045] ]] || { echo "print $1: $status"; cat print.err; return 1; }
	check_one "$1"
	whole=$(sed -n 's/.* begun, \([0-9]*\) recorded.*/\1/p' check.out)
	[ "$(grep -c ' torture:' "$2")" = "$whole" ]
}

# Runs all checks on the trace $1.
look_at() {
	if [ ! -e "$1/metadata" ]; then # the recorder was killed before it created a trace
		if waymark print "$1" >none 2>&1; then return 1; fi
		without=$((without + 1))
		return 0
	fi
	print_is_whole "$1" before
	if ! grep -q ' 0 parts' check.out; then
		parts=$((parts + 1))
		grep -q 'at offset' print.err
	fi
	due=$((due + $(sed 's/.*lost.*, \([0-9]*\) due.*/\1/' check.out)))
	waymark info --repair "$1" >repair.out
	if ! grep -q '^nothing to repair' repair.out; then
		repaired=$((repaired + 1))
		print_is_whole "$1" after
		cmp before after
	fi
	grep -q ' 0 parts' check.out
	events_of <before >>ours
	paths+=("$1")
	[ ${#paths[@]} -lt 20 ] || agree
}

# WHOM ROUNDS FOLDER
crashes() {
	local n due=0 repaired=0 parts=0 without=0 compared=0 let_go= paths=()
	[ "$1" != command ] || let_go=d
	[ -n "$3" ] || skip "no /dev/shm"
	cd "$BATS_TEST_TMPDIR"
	: >ours
	"$W/crash" "$1" "$2" "$3"
	for ((n = 0; n < $2; n++)); do
		look_at "$3/$n"
	done
	agree
	echo "# $1, $(stat -f -c %T "$3"): $2 kills, $without before there was a trace," \
		"$parts left part of a packet, $repaired were repaired, $due events were emitted before, $compared read" >&3
	[ "$compared" -gt $((due / 10)) ]
	# The next recording removes the folders that both left; a folder without a lock must be old
	# enough.
	waymark record -q -o last -- true 2>/dev/null || true
	[ -z "$(find "$XDG_RUNTIME_DIR" -name lock)" ]
}

@test "the command is killed, the trace is on a disk" {
	crashes command "$(torture_count 12 1000)" "$disk"
}

@test "the command is killed, the trace is in memory" {
	crashes command "$(torture_count 12 1000)" "$memory"
}

@test "the pump is killed, the trace is on a disk" {
	crashes pump "$(torture_count 12 1000)" "$disk"
}

@test "the pump is killed, the trace is in memory" {
	crashes pump "$(torture_count 12 1000)" "$memory"
}

@test "the pump is killed before a call of it that changes files" {
	crashes calls "$(torture_count 12 1000)" "$disk"
}

@test "both are killed" {
	crashes both "$(torture_count 6 1000)" "$disk"
}
