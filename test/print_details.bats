#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Tests print --format=details, which prints all that a trace tells of an event, and info --metadata.

bats_require_minimum_version 1.5.0

setup() {
	export TZ=UTC
	waymark="$WAYMARK_BUILD/waymark"
	cd "$BATS_TEST_TMPDIR"
	python3 "$WAYMARK_SOURCE/test/data/odd_ctf.py" odd
}

@test "details: times, places, headers, and every field with its type" {
	"$waymark" print --format=details --limit 2 odd/packets-32768 >out
	sed -n '1,/^$/p' out >first
	diff first - <<-'EOF'
		e
		  time            10.000213623 (10000213623 ns)
		  clock           327687 at 32768 Hz, c
		  trace           odd/packets-32768
		  stream          stream, class 0, instance 0
		  packet          at 0, 57 bytes, begins at 10000213623 ns, ends at 10000335693 ns
		  event class     id 0
		  packet header
		    magic = 3254525889  (unsigned, 32 bits)
		  packet context
		    k = 7  (unsigned, 5 bits)
		  event header
		    timestamp = 327687  (unsigned, 64 bits)
		  fields
		    a = 9  (unsigned, 8 bits)
		    b = 1  (unsigned, 2 bits)

	EOF
	[ "$(grep -c '^e$' out)" = 2 ]
	"$waymark" print --format=details odd/own-tags >out
	grep -q '^    s = \[ ' out
	grep -q '(list: structure, 4 members)' out
	"$waymark" print --format=details --fields=n odd/own-tags >out
	grep -q '^    n = 3' out
	! grep -q '^    s = ' out || false
}

@test "details of a recording" {
	"$waymark" record -q -o t -- "$WAYMARK_BUILD/examples/hello"
	"$waymark" print --format=details --limit 1 t >out
	grep -q '^  time  .*-.* ns)$' out
	grep -q '^  process ' out
	grep -q '^  event header$' out
}

@test "the metadata of a trace, also of one that cannot be read, without packets" {
	cmp <("$waymark" info --metadata odd/lists) <(cat odd/lists/metadata; echo)
	python3 - <<-'EOF'
		import struct
		text = open("odd/lists/metadata", "rb").read()[len("/* CTF 1.8 */ "):]
		head = lambda n: struct.pack("<I16sIIIBBBBB", 0x75D11D57, bytes(16), 0, 8 * (37 + n), 8 * (40 + n), 0, 0, 0, 1, 8)
		half = len(text) // 2
		with open("odd/lists/metadata", "wb") as f:
		    for part in text[:half], text[half:]:
		        f.write(head(len(part)) + part + b"\0\0\0")
	EOF
	"$waymark" info --metadata odd/lists >out
	[ "$(head -1 out)" = "/* CTF 1.8 */" ]
	cp out odd/lists/metadata
	run -0 "$waymark" info --verify odd/lists
	echo "trace {" >odd/lists/metadata
	run -1 "$waymark" info odd/lists
	[ "$("$waymark" info --metadata odd/lists)" = "trace {" ]
	"$waymark" info --metadata odd >out
	grep -q '^==> words/metadata <==$' out
	mkdir none
	run -1 "$waymark" info --metadata none
	[[ $output == *"no CTF metadata"* ]]
}
