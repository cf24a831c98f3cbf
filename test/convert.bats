#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# convert.bats - waymark convert: the same events in another tool's format, or a
# word about each that is not there.

bats_require_minimum_version 1.5.0

setup() {
	PATH="$WAYMARK_BUILD:$PATH"
	cd "$BATS_TEST_TMPDIR"
	waymark record -q -o t -- "$WAYMARK_BUILD/examples/hello" >/dev/null
}

@test "jsonl, json and csv are what print prints" {
	waymark convert t a.jsonl
	waymark print --format=jsonl t | cmp - a.jsonl
	waymark convert --to json t a.array
	waymark print --format=json t | cmp - a.array
	waymark convert t a.csv -e 'hello:*'
	waymark print --format=csv -e 'hello:*' t | cmp - a.csv
	[ "$(stat -c %a a.csv)" = 600 ]
}

@test "an OUT that is there is left alone without --force, and whole with it" {
	echo mine >a.json
	run -1 waymark convert t a.json
	[[ $output == *"'a.json': it is there already; --force replaces it"* ]]
	[ "$(cat a.json)" = mine ]
	waymark convert --force t a.json
	grep -q hello:greeting a.json
	[ ! -e a.json.part ]
	run -1 waymark convert --to chrome --force t .
	run -2 waymark convert t
	run -2 waymark convert t a.what
	[[ $output == *"'a.what' does not tell the format"* ]]
}

@test "what a killed conversion left is taken over" {
	echo rest >a.jsonl.part
	waymark convert t a.jsonl
	[ ! -e a.jsonl.part ]
	waymark print --format=jsonl t | cmp - a.jsonl
}
