#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Tests the clocks of trace.dat: offsets, ticks of the TSC, guests whose times are corrected by
# their host. Each kind is put into a small file, for which trace-cmd report prints the correct
# times.

bats_require_minimum_version 1.5.0
load trace_cmd

setup_file() {
	[ -x "$WAYMARK_BUILD/test/fuzz/fuzz-seeds" ] || return 0
	"$WAYMARK_BUILD/test/fuzz/fuzz-seeds" "$BATS_FILE_TMPDIR/seeds"
	cat >"$BATS_FILE_TMPDIR/option.py" <<-'EOF'
	"""option.py FROM TO [ID WORDS]... - a trace.dat with these options; words: u32:N, u64:N, text:T."""
	import struct, sys
	data = open(sys.argv[1], "rb").read()
	at = data.index(b"options  \0") + 10
	more = b""
	for ident, words in zip(sys.argv[3::2], sys.argv[4::2]):
	    body = b""
	    for word in words.split():
	        kind, value = word.split(":")
	        body += value.encode() + b"\0" if kind == "text" else struct.pack(
	            {"u32": "<I", "u64": "<Q"}[kind], int(value) & (1 << 64) - 1)
	    more += struct.pack("<HI", int(ident), len(body)) + body
	while struct.unpack_from("<H", data, at)[0]:
	    at += 6 + struct.unpack_from("<I", data, at + 2)[0]
	assert not any(data[4096 - len(more):4096])  # the pages must keep their offset
	open(sys.argv[2], "wb").write(data[:at] + more + data[at:4096 - len(more)] + data[4096:])
	EOF
}

setup() {
	command -v trace-cmd >/dev/null || skip "trace-cmd is not installed"
	[ -x "$WAYMARK_BUILD/test/fuzz/fuzz-seeds" ] || skip "cmocka is not installed"
}

theirs() { # CPU
	trace_cmd_report -t -i made.dat | sed -n "s/.*\[$1\] *\([0-9.]*\): tick:.*/\1/p"
}

ours() {
	"$WAYMARK_BUILD/waymark" print made.dat 2>/dev/null |
		sed -n "s/^\[\([0-9.]*\)\].*{ cpu = ${1#00}, .*/\1/p"
}

same() { # [ID WORDS]...
	cd "$BATS_TEST_TMPDIR"
	python3 "$BATS_FILE_TMPDIR/option.py" "$BATS_FILE_TMPDIR/seeds/v6-none-little-64-1" made.dat "$@"
	for cpu in 000 001; do
		theirs $cpu >theirs
		ours $cpu >ours
		[ "$(wc -l <theirs)" = 30 ]
		cmp theirs ours
	done
}

tsc="text:local_[x86-tsc]"

@test "nothing is said of the clock" { same; }
@test "an offset" { same 7 text:500; }
@test "ticks of the TSC" { same 4 $tsc 14 "u32:1048576 u32:21 u64:0"; }
@test "ticks, and an offset" { same 4 $tsc 14 "u32:1048576 u32:21 u64:1000" 7 text:500; }

@test "ticks of unknown length: a warning" {
	local clock ticks="counts ticks of unknown length: times are ticks, not nanoseconds"
	cd "$BATS_TEST_TMPDIR"
	for clock in x86-tsc counter mono; do
		python3 "$BATS_FILE_TMPDIR/option.py" "$BATS_FILE_TMPDIR/seeds/v6-none-little-64-1" made.dat \
			4 "text:local_[$clock]"
		run -5 --separate-stderr "$WAYMARK_BUILD/waymark" print made.dat # the tracer lost events
		[ $clock = mono ] || [[ $stderr == *"the clock '$clock' $ticks"* ]]
		[ $clock != mono ] || [[ $stderr != *"$ticks"* ]]
	done
	python3 "$BATS_FILE_TMPDIR/option.py" "$BATS_FILE_TMPDIR/seeds/v6-none-little-64-1" made.dat \
		4 $tsc 14 "u32:1048576 u32:21 u64:0"
	run -5 --separate-stderr "$WAYMARK_BUILD/waymark" print made.dat
	[[ $stderr != *"$ticks"* ]]
}

@test "a guest, one correction for one CPU" {
	same 12 "u64:77 u32:0 u32:1 u32:1 u64:0 u64:100000 u64:1 u64:0"
	same 12 "u64:77 u32:0 u32:1 u32:1 u64:0 u64:-50 u64:1"
}

@test "a guest, two corrections, the first of which counts" {
	same 12 "u64:77 u32:0 u32:1 u32:2 u64:1100000 u64:1150000 u64:100000 u64:300000 u64:1 u64:1 u64:0 u64:0"
}

@test "a guest, interpolated, before and after what is known" {
	same 12 "u64:77 u32:1 u32:1 u32:2 u64:0 u64:2000000 u64:100000 u64:300000 u64:1 u64:1"
	same 12 "u64:77 u32:1 u32:1 u32:2 u64:1100000 u64:1150000 u64:100000 u64:300000 u64:1 u64:1"
}

@test "a guest of another speed" {
	same 12 "u64:77 u32:1 u32:1 u32:3 u64:0 u64:1150000 u64:3000000 u64:100000 u64:100000 u64:100000
		u64:1048576 u64:3145728 u64:1048576 u64:21 u64:21 u64:18"
}

@test "a guest's ticks, with an offset" {
	same 12 "u64:77 u32:0 u32:1 u32:1 u64:0 u64:100000 u64:1 u64:0" 14 "u32:1048576 u32:21 u64:0" 7 text:500
}
