#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# convert.bats - tests waymark convert: the output has the same events in another tool's format, or
# there is a message about each missing one.

bats_require_minimum_version 1.5.0

setup() {
	PATH="$WAYMARK_BUILD:$PATH"
	cd "$BATS_TEST_TMPDIR"
	waymark record -q -o t -- "$WAYMARK_BUILD/examples/hello" >/dev/null
}

teardown() {
	[ ! -d small ] || umount small 2>/dev/null || true
}

@test "jsonl, json and csv are equal to print's output" {
	waymark convert t a.jsonl
	waymark print --format=jsonl t | cmp - a.jsonl
	waymark convert --to json t a.array
	waymark print --format=json t | cmp - a.array
	waymark convert t a.csv -e 'hello:*'
	waymark print --format=csv -e 'hello:*' t | cmp - a.csv
	[ "$(stat -c %a a.csv)" = 600 ]
}

@test "an existing OUT is kept without --force, and replaced as a whole with it" {
	echo mine >a.json
	run -1 waymark convert t a.json
	[[ $output == *"'a.json': already exists; --force replaces it"* ]]
	[ "$(cat a.json)" = mine ]
	waymark convert --force t a.json
	grep -q hello:greeting a.json
	[ ! -e a.json.part ]
	run -2 waymark convert --to chrome --force t .
	run -2 waymark convert t
	run -2 waymark convert t a.what
	[[ $output == *"the name 'a.what' does not determine a format"* ]]
}

@test "--force replaces a folder that is a trace, and no other" {
	waymark convert t old.ctf --to ctf-2
	mkdir -p mine && echo letter >mine/letter
	run -1 waymark convert t old.ctf --to ctf-2
	[[ $output == *"--force replaces a trace"* ]]
	waymark convert --force --to ctf-2 -e 'hello:*' t old.ctf
	[ "$(waymark print old.ctf | wc -l)" = "$(waymark print -e 'hello:*' t | wc -l)" ]
	[ ! -e old.ctf.part ]
	run -1 waymark convert --force --to ctf-2 t mine
	[[ $output == *"is not a trace"* ]]
	[ "$(cat mine/letter)" = letter ]
	mkdir set && mv old.ctf set/in
	run -2 waymark convert --force --to ctf-2 set/in set
	[[ $output == *"'set' contains one of the input traces"* ]]
	waymark info set/in >/dev/null
	rm -r set mine
}

@test "the input is not overwritten" {
	waymark convert t a.jsonl
	run -2 waymark convert --force --to jsonl t t/../t
	[[ $output == *"'t/../t' is one of the input traces"* ]]
	waymark info t >/dev/null
}

@test "a full disk is reported, and no partial output remains" {
	[ "$(id -u)" = 0 ] || skip "not root: no small file system can be mounted"
	mkdir small
	mount -t tmpfs -o size=16k none small 2>/dev/null || skip "no small file system can be mounted here"
	waymark convert t t.dat # copies of a CTF trace would be joined
	for ((i = 0; i < 400; i++)); do echo t.dat; done >names
	for out in a.json a.pftrace a.jsonl; do
		run -1 waymark convert $(cat names) small/$out
		[[ $output == *"cannot write 'small/$out': No space left on device"* ]] || break
	done
	[[ $output == *"No space left on device"* ]]
	[ -z "$(ls -A small)" ]
}

@test "the leftovers of a killed conversion are replaced" {
	echo rest >a.jsonl.part
	waymark convert t a.jsonl
	[ ! -e a.jsonl.part ]
	waymark print --format=jsonl t | cmp - a.jsonl
}
