#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Tests damaged traces of every format: no reader is ended by a signal, hangs, or uses a GiB of
# memory; no event is lost without a message; each refusal has file, place and reason. `make
# fuzz-long` runs many times as many.

bats_require_minimum_version 1.5.0

setup_file() {
	[ -x "$WAYMARK_BUILD/test/fuzz/fuzz-seeds" ] || return 0
	python3 "$WAYMARK_SOURCE/test/fuzz/seeds.py" "$BATS_FILE_TMPDIR/seeds"
	"$WAYMARK_BUILD/test/fuzz/fuzz-seeds" "$BATS_FILE_TMPDIR/seeds/trace.dat"
}

setup() {
	[ -x "$WAYMARK_BUILD/test/fuzz/fuzz-seeds" ] || skip "cmocka is not installed"
	waymark="$WAYMARK_BUILD/waymark"
	number=${WAYMARK_MUTANTS:-${WAYMARK_LONG:+20000}}
	number=${number:-600}
	cd "$BATS_TEST_TMPDIR"
	cp -r "$BATS_FILE_TMPDIR/seeds" .
}

mutants() { # FORMAT
	run -0 "$WAYMARK_SOURCE/test/fuzz/mutants" "$1" "$number"
	[[ "$output" == *"$number mutants of "* ]]
	[[ "${lines[-1]}" == "finds: 0 signals, 0 hangs, 0 silent, 0 memory, 0 bad words" ]]
}

@test "CTF 1.8" { mutants ctf-1.8; }
@test "CTF 2" { mutants ctf-2; }
@test "perf.data" { mutants perf.data; }
@test "trace.dat" { mutants trace.dat; }
@test "ftrace's text" { mutants ftrace; }
@test "waymark's own traces" { mutants own; }

@test "waymark's own traces, cut at each of the last bytes of each file" {
	"$WAYMARK_BUILD/test/fuzz/fuzz-own" one ctf-1.8
	"$WAYMARK_BUILD/test/fuzz/fuzz-own" two ctf-2
	run -0 "$WAYMARK_BUILD/test/fuzz/fuzz-cuts" "${WAYMARK_LONG:+20}75" one two
	[[ "${lines[-1]}" =~ ^[0-9]{4,}" cuts, 0 without a word"$ ]]
}

@test "each parser takes what it begins with and what was ever found" {
	"$WAYMARK_SOURCE/test/fuzz/inputs" "$WAYMARK_BUILD" inputs
	local name nr=0
	for name in "$WAYMARK_SOURCE"/test/fuzz/fuzz_*.c; do
		name=$(basename "$name" .c)
		name=${name#fuzz_}
		run -0 "$WAYMARK_BUILD/test/fuzz/fuzz-$name" inputs/"$name"/*
		[[ "$output" == *" files" ]]
		nr=$((nr + 1))
	done
	[ $nr -ge 10 ]
}

@test "the same seed makes the same mutants" {
	"$WAYMARK_BUILD/test/fuzz/fuzz-mutants" -n 300 -s 7 -j 2 seeds/perf.data/* | grep -o '^.* before' >one
	"$WAYMARK_BUILD/test/fuzz/fuzz-mutants" -n 300 -s 7 -j 1 seeds/perf.data/* | grep -o '^.* before' >two
	"$WAYMARK_BUILD/test/fuzz/fuzz-mutants" -n 300 -s 8 -j 1 seeds/perf.data/* | grep -o '^.* before' >other
	cmp one two
	! cmp -s one other || false
}

# --- bugs that fuzzing found: each was once read without a message ---------------------

bytes() { # FILE OFFSET HEX: replaces the bytes at this offset
	printf "$(echo "$3" | sed 's/../\\x&/g')" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

told() { # TRACE OFFSET WORDS: checks that every reader reports the damage with file and offset
	local verb
	for verb in "info --verify" "info --hash" info print; do
		run -5 --separate-stderr "$waymark" $verb "$1"
		[[ "$output$stderr" == *"at offset $2: "*"$3"* ]]
	done
}

@test "a sample whose type became one of perf's own records is told" {
	bytes seeds/perf.data/file-little 640 44 # FINISHED_ROUND
	told seeds/perf.data/file-little 640 "the record does not match its type (type 68, 56 bytes)"
}

@test "a record of a type that nobody knows is told" {
	bytes seeds/perf.data/file-little 816 ff
	told seeds/perf.data/file-little 816 "this type of record is unknown (type 255, 56 bytes)"
}

@test "a record that swallowed the next one is told" {
	bytes seeds/perf.data/file-little 1638 7000 # changes a size from 56 to 112 bytes
	told seeds/perf.data/file-little 1632 "56 bytes at the end of this record (type 9, 112 bytes) are not part of it"
}

@test "a record of perf's own that swallowed the next one is told, whichever it is" {
	local f damaged nr=0
	for f in seeds/perf.data/pipe-little seeds/perf.data/pipe-big; do
		run -0 "$waymark" info --verify $f
		mkdir swallowed
		python3 "$WAYMARK_SOURCE/test/fuzz/swallow.py" $f swallowed
		for damaged in swallowed/*; do
			run -5 "$waymark" info --verify "$damaged"
			[[ "$output" == *"at offset ${damaged#*/}: "* ]]
			nr=$((nr + 1))
		done
		rm -r swallowed
	done
	[ $nr -ge 56 ]
}

@test "a feature that is not read, and is longer than what is in it, is told" {
	local f=seeds/perf.data/pipe-little at
	at=$(($(LC_ALL=C grep -obUaP '\x10\0{7}\x02\0{3}\x04\0{3}' $f | cut -d: -f1) - 8)) # PMU_MAPPINGS
	bytes $f $at 5000000000000801 # the size covers its own 168 bytes and the 96 of the next packet
	told $f $at "the record of feature 16 (type 80, "
}

@test "a pipe of perf's that was cut between two records is told" {
	truncate -s -8 seeds/perf.data/pipe-little
	told seeds/perf.data/pipe-little "$(stat -c %s seeds/perf.data/pipe-little)" "ends inside a round"
}

@test "a packet that takes in the next one is told" {
	local at=$((24 + 3 * 8)) bytes # packet_size, which follows begin, end and content_size
	bytes=$(od -An -tu8 -j$at -N8 seeds/ctf-1.8/large/stream_0 | tr -d ' ')
	printf "%016x" $((2 * bytes)) | fold -w2 | tac | tr -d '\n' >twice
	bytes seeds/ctf-1.8/large/stream_0 $at "$(cat twice)"
	run -5 "$waymark" info --verify seeds/ctf-1.8/large
	[[ "$output" == *"stream_0: at offset $((bytes / 8)): a packet begins inside the one at 0"* ]]
}

@test "an event beyond the end of its packet is reported" {
	bytes seeds/ctf-1.8/large/stream_1 32 4044 # timestamp_end, 12 ns after the start
	told seeds/ctf-1.8/large 0 "ns after its end"
}

@test "compressed pages that are not counted are told" {
	local f=seeds/trace.dat/v7-zstd-little-64-1
	bytes $f 4096 00000000
	told $f 4100 "bytes follow the last chunk of compressed pages"
}

@test "what a sample does not have is not read from beyond it" {
	"$waymark" info --hash seeds/perf.data/file-little >little
	for f in file-big pipe-little pipe-big; do
		"$waymark" info --hash seeds/perf.data/$f | cmp - little
	done
}

@test "pages that no CPU claims any more are told" {
	local f at
	for f in seeds/trace.dat/v6-none-little-64-1 seeds/trace.dat/v7-none-little-64-1; do
		# The offset and size of CPU 0's pages: 4096, 12288.
		at=$(LC_ALL=C grep -obUaP '\x10\x00\x00\x00\x00\x00\x00\x00\x30\x00\x00' $f | cut -d: -f1)
		bytes $f $((at - 1)) 00000000000000000000000000000000
		run -5 "$waymark" info --verify $f
		[[ "$output" =~ "at offset "[0-9]+": "[0-9]+" bytes belong to no known part of the file" ]]
		run -5 "$waymark" print $f
	done
}

@test "records that perf's header leaves out are told" {
	local f=seeds/perf.data/file-little
	truncate -s +8 $f
	bytes $f $(($(stat -c %s $f) - 8)) 0900000000000800
	told $f $(($(stat -c %s $f) - 8)) "8 bytes belong to no known part of the file"
}

@test "a page without a record is told" {
	local f=seeds/trace.dat/v6-none-little-64-1
	dd if=/dev/zero of=$f bs=1 seek=4096 count=64 conv=notrunc status=none
	told $f 4096 "a page without records"
}

@test "pages of a size that no kernel has are told" {
	local f=seeds/trace.dat/v6-none-big-32-1 at
	at=$(LC_ALL=C grep -obUaP 'size:\K4084' $f | head -1 | cut -d: -f1)
	bytes $f "$at" 35303834 # 5084
	told $f 0 "the described page size of 5096 bytes is not a power of two"
}

@test "pages that claim to be larger than they are described are told" {
	local f=seeds/trace.dat/v6-none-little-64-1
	bytes $f 14 00200000 # the bytes after magic, version, byte order and the width of a long
	run -5 "$waymark" info --verify $f
	[[ "$output" == *"pages of CPU 0 claim 8192 bytes each"* ]]
	bytes $f 14 00000001
	run -5 "$waymark" info --verify $f
	[[ "$output" == *"pages of CPU 0 claim 16777216 bytes each, the limit is 4194304"* ]]
}

@test "a feature beyond the limit is told from one outside of the file" {
	local f=seeds/perf.data/file-little at
	at=$(python3 -c '
import struct, sys
data = open(sys.argv[1], "rb").read()
print(sum(struct.unpack_from("<2Q", data, 40)) + 8) # the size of the first feature' $f)
	truncate -s 80M $f
	bytes $f "$at" 0100000400000000
	run "$waymark" info --verify $f
	[[ "$output" == *"feature "*" has 67108865 bytes, the limit is 67108864"* ]] || false
	bytes $f "$at" 0000001000000000
	run "$waymark" info --verify $f
	[[ "$output" == *"feature "*" (268435456 bytes) is outside of the file"* ]]
}

@test "a refusal names the file in the folder, its line and offset" {
	sed -i 's/stream_id = 7;$/stream_id = 8;/' seeds/ctf-1.8/plain/metadata
	run -1 "$waymark" print seeds/ctf-1.8/plain
	[[ "$output" == *"in 'metadata':"* ]]
	[[ "$output" =~ line\ [0-9]+,\ at\ offset\ [0-9]+:\ .+ ]]
}

@test "a trace without events is reported" {
	: >seeds/ctf-2/little/stream
	for verb in "info --verify" "info --hash" info; do
		run -0 "$waymark" $verb seeds/ctf-2/little
		[[ "$output" == *"the trace has no events"* ]]
	done
	run -0 "$waymark" print seeds/ctf-2/little # nothing was asked for that could fail to match
	[[ "$output" == *"the trace has no events"* ]]
}
