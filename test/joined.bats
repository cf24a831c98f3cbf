#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Copies and snapshots of one recording, named together: packets that several of them have are read once, as
# babeltrace2 does, and a message says so.

bats_require_minimum_version 1.5.0

setup() {
	export TZ=UTC
	waymark="$WAYMARK_BUILD/waymark"
	cd "$BATS_TEST_TMPDIR"
	mkdir -p here
	python3 "$WAYMARK_SOURCE/test/data/snapshot_ctf.py" here/a 1 3
	python3 "$WAYMARK_SOURCE/test/data/snapshot_ctf.py" here/b 2 5
}

said() { # N
	[[ $stderr == *"waymark: $1 left out, because other files of the same recording have"* ]]
}

as_babeltrace() { # TRACE...
	run -0 --separate-stderr "$waymark" print --format=babeltrace "$@"
	if command -v babeltrace2 >/dev/null; then
		cmp <(echo "$output") <(babeltrace2 "$@")
	fi
}

@test "print: a copy, snapshots that overlap, any spelling of their paths" {
	cp -r here/a copy
	as_babeltrace here/a copy
	[ "${#lines[@]}" = 6 ]
	said '3 packets are'
	as_babeltrace here/a here/b
	[ "${#lines[@]}" = 10 ]
	said '2 packets are'
	as_babeltrace here/b ../"${PWD##*/}"/here/a "$PWD/copy" ./here/a/
	[ "${#lines[@]}" = 10 ]
	said '8 packets are'
	cd here
	as_babeltrace ../copy b
	[ "${#lines[@]}" = 10 ]
	run -0 --separate-stderr "$waymark" print --follow --limit 6 a ../copy
	[ "${#lines[@]}" = 6 ]
}

@test "print: another recording is not joined" {
	cp -r here/a other
	sed -i 's/01020304-/11020304-/' other/metadata
	python3 - <<-'end'
		data = open("here/a/stream", "rb").read()
		open("other/stream", "wb").write(data.replace(b"\x01\x02\x03\x04", b"\x11\x02\x03\x04"))
	end
	as_babeltrace here/a other
	[ "${#lines[@]}" = 12 ]
	[ -z "$stderr" ]
}

@test "losses between snapshots are counted once" {
	python3 "$WAYMARK_SOURCE/test/data/snapshot_ctf.py" c 1 4 5
	python3 "$WAYMARK_SOURCE/test/data/snapshot_ctf.py" d 2 6 5
	run -5 --separate-stderr "$waymark" print --format=babeltrace c d
	[ "${#lines[@]}" = 12 ]
	[ "$(grep -c 'discarded 5 events' <<<"$stderr")" = 4 ]
	run -5 --separate-stderr "$waymark" print c d
	[[ $stderr == *"the tracer lost 20 events"* ]]
}

@test "report, convert, info" {
	run -0 --separate-stderr "$waymark" report here/a here/b
	[[ $output == *"10 events"* ]]
	said '2 packets are'
	run -0 --separate-stderr "$waymark" convert --to jsonl here/a here/b out.jsonl
	[ "$(wc -l <out.jsonl)" = 10 ]
	said '2 packets are'
	for format in ctf-1.8 ctf-2; do
		run -0 "$waymark" convert --to $format here/a here/b out
		[ "$("$waymark" print out | wc -l)" = 10 ]
		rm -r out
	done
	run -0 --separate-stderr "$waymark" info here
	[[ $output == *'events     10'* ]]
	said '2 packets are'
	# The output may not replace an input.
	run -2 "$waymark" convert --force --to ctf-1.8 here/a here/b here/b
	[[ $output == *"is one of the input traces"* ]]
}

@test "C API and Python" {
	run -0 env PYTHONPATH="$WAYMARK_SOURCE/bindings/python" PYTHONDONTWRITEBYTECODE=1 \
		WAYMARK_LIBRARY="$WAYMARK_BUILD/libwaymark.so.1" python3 - <<-'end'
		import waymark
		with waymark.open("here/a", "here/b") as trace:
		    print(sum(1 for event in trace))
	end
	[ "$output" = 10 ]
}
