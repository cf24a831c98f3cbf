#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Tests waymark print and info on traces made with the trace writer, compared with babeltrace2: the
# same events with the same values in the same order; and after truncation at any byte every
# complete packet, with exit status 5.

bats_require_minimum_version 1.5.0

setup_file() {
	local flags= lib="$WAYMARK_BUILD/libwaymark-platform.a"
	cd "$BATS_FILE_TMPDIR"
	# A library with sanitizers requires programs with sanitizers.
	if nm "$lib" 2>/dev/null | grep -q __asan_init; then
		flags="-fsanitize=address,undefined"
	elif nm "$lib" 2>/dev/null | grep -q __tsan_init; then
		flags="-fsanitize=thread"
	fi
	gcc -std=gnu11 -D_GNU_SOURCE $flags -I"$WAYMARK_SOURCE/include" -I"$WAYMARK_SOURCE/src" \
		"$WAYMARK_SOURCE/test/data/make_trace.c" "$lib" -ljansson -lelf -ldw -liberty -lzstd -lz -llzma -lm -lpthread \
		-o make_trace
	./make_trace one ctf-1.8
	./make_trace two ctf-2
}

setup() {
	export TZ=UTC
	waymark="$WAYMARK_BUILD/waymark"
	cd "$BATS_TEST_TMPDIR"
	cp -r "$BATS_FILE_TMPDIR/one" "$BATS_FILE_TMPDIR/two" .
}

# Prints babeltrace2's lines: "time name {contexts and fields}", without packet contexts.
theirs() {
	babeltrace2 --no-delta "$1" 2>/dev/null | sed -E \
		-e 's/^\[([0-9:.]+)\] [^ ]+ ([^ ]+): \{ [^}]*\}(, )?/\1 \2 /' \
		-e 's/_[a-z]+_length = [0-9]+, //g' \
		-e 's/\[[0-9]+\] = //g'
}

# Prints waymark's JSON, converted to babeltrace2's text.
ours() {
	"$waymark" print --jsonl --all "$1" 2>/dev/null | python3 -c '
import json, sys, time
hexed = {"x4", "ptr"}
def one(k, v):
	if isinstance(v, dict):
		return "( %s : container = %d )" % (json.dumps(v["label"]) if v["label"] is not None
			else "<unknown>", v["value"])
	if k == "e" and not isinstance(v, dict): raise SystemExit("enum without a label")
	if k == "blob":
		return "[ " + ", ".join("0x%X" % b for b in bytes.fromhex(v)) + " ]"
	if isinstance(v, bool): return str(int(v))
	if isinstance(v, list): return "[ " + ", ".join(one(k, x) for x in v) + " ]"
	if isinstance(v, str): return json.dumps(v)
	if k in hexed or k == "ustack": return "0x%X" % v
	return str(v)
for line in sys.stdin:
	e = json.loads(line)
	t = time.strftime("%H:%M:%S", time.gmtime(e["time_ns"] // 10**9))
	f = {}
	if "ustack" in e: f["ustack"] = e["ustack"]
	f.update(e["fields"])
	body = "{ " + ", ".join("%s = %s" % (k, one(k, v)) for k, v in f.items()) + " }"
	cpu = "{ cpu = %d }, " % e["cpu"] if "cpu" in e else ""
	print("%s.%09d %s %s%s" % (t, e["time_ns"] % 10**9, e["name"], cpu, body))
'
}

@test "print and babeltrace2 print the same values" {
	# The two tools escape control sequences differently; those lines are compared below.
	theirs one | grep -v 'line' >theirs
	ours one | grep -v 'line' >ours
	[ "$(wc -l <theirs)" -gt 60 ]
	grep -v 'waymark:lost' theirs >t
	grep -v 'waymark:lost' ours >o
	diff t o
	[ "$(babeltrace2 one 2>/dev/null | wc -l)" -eq "$("$waymark" print --jsonl --all one 2>/dev/null | wc -l)" ]
}

@test "CTF 1.8 and CTF 2 print the same" {
	"$waymark" print one >1 2>/dev/null || [ $? -eq 5 ]
	"$waymark" print two >2 2>/dev/null || [ $? -eq 5 ]
	diff 1 2
	"$waymark" print --json --all one >1 2>/dev/null || [ $? -eq 5 ]
	"$waymark" print --json --all two >2 2>/dev/null || [ $? -eq 5 ]
	diff 1 2
}

@test "print formats are applied, escape sequences made harmless" {
	run "$waymark" print one
	[ "$status" -eq 5 ]
	[[ "$output" == *'alpha:100/102 app:query: { cpu = 0 } rows 0 sql <select 1> 100%'* ]]
	[[ "$output" == *'sql <\x1b[31mred\nline\xff> 100%'* ]]
	[[ "$output" == *'events are missing: 7 lost: 7 full'* ]]
	[ -z "$("$waymark" print one 2>/dev/null | grep $'\x1b')" ]
}

@test "JSON is valid, 64-bit values exact" {
	"$waymark" print --json one 2>/dev/null | python3 -c '
import json, sys
events = json.load(sys.stdin)["events"]
assert len(events) == 72, len(events)
e = [e for e in events if e["name"] == "app:all"][0]
assert e["fields"]["u8"] == 2**64 - 1 and e["fields"]["i8"] == -2**63
assert e["ustack"] == [0x401000, 2**64 - 1]
assert e["fields"]["s"] == "say \"hi\""
assert all(a["time_ns"] <= b["time_ns"] for a, b in zip(events, events[1:]))
'
	run "$waymark" print --json --jsonl one
	[ "$status" -eq 2 ]
}

@test "the newest trace in this folder is the default; no trace found: 4; not a trace: 1" {
	run "$waymark" print
	[ "$status" -eq 4 ]
	mv two waymark-a
	mv one waymark-b
	touch -d '2020-01-01' waymark-a/metadata
	run "$waymark" info
	[ "$status" -eq 5 ]
	[[ "$output" == *'trace      waymark-b'* ]]
	touch -d '2019-01-01' waymark-b/metadata
	run "$waymark" info
	[[ "$output" == *'format     CTF 2'* ]]
	mkdir empty
	run "$waymark" print empty
	[ "$status" -eq 1 ]
	[[ "$output" == *"no trace in this folder"* ]]
}

@test "info prints the contents" {
	run "$waymark" info one
	[ "$status" -eq 5 ]
	[[ "$output" == *'events     72 of 3 classes'* ]]
	[[ "$output" == *'lost       7 lost: 7 full'* ]]
	[[ "$output" == *'20  app:query'* ]]
	[[ "$output" == *'100        1     1000  alpha'* ]]
	"$waymark" info --json two >out || [ $? -eq 5 ]
	python3 -c '
import json
i = json.load(open("out"))
assert i["events"] == 72 and i["lost"]["full"] == 7 and i["clock_error_ns"] == 25
assert {c["name"]: c["events"] for c in i["classes"]} == {"plain": 40, "query": 20, "all": 12}
'
}

@test "cut at bytes of the last two packets: every complete packet is read, then repaired" {
	# user-1-0: four packets of 264 bytes with 10 events each.
	local size=$(stat -c %s one/user-1-0) whole step=11
	[ "$size" -eq 1056 ]
	[ -z "${WAYMARK_LONG-}" ] || step=1 # step 11, so that the boundary between two packets is among the cuts
	for ((cut = 528; cut < 1056; cut += step)); do
		cp "$BATS_FILE_TMPDIR/one/user-1-0" one/user-1-0
		truncate -s $cut one/user-1-0
		whole=$((cut / 264 * 10 + 32))
		local status=0
		"$waymark" print one >out 2>err || status=$?
		[ $status -eq 5 ]
		[ "$(wc -l <out)" -eq $whole ]
		grep -q 'waymark: user-1-0: at offset' err
		# babeltrace2 takes a second for each, so it reads only some
		(((cut - 528) % 99 && cut != 792)) && continue
		"$waymark" info --repair one >out
		grep -q 'user-1-0' out
		[ "$(babeltrace2 one 2>err | grep -vc waymark:)" -eq $whole ]
		[ -z "$(grep -i error err)" ]
		[ "$("$waymark" info --repair one)" = "nothing to repair" ]
		cp -r "$BATS_FILE_TMPDIR/one/." one/
	done
}

no_delta() {
	sed 's/ (+[^)]*)//' "$1"
}

@test "each file in turn cut in half or removed: the others are read, the missing part is reported" {
	local file how status
	"$waymark" print one >all 2>/dev/null || [ $? -eq 5 ]
	for file in $(cd one && find . -type f -printf '%P\n'); do
		for how in half gone; do
			cp -r "$BATS_FILE_TMPDIR/one/." one/
			if [ $how = half ]; then
				truncate -s $(($(stat -c %s "one/$file") / 2)) "one/$file"
			else
				rm "one/$file"
			fi
			status=0
			"$waymark" print one >out 2>err || status=$?
			case $file in
			metadata)
				[ $status -eq 1 ]
				grep -q metadata err
				;;
			index/*) cmp all out ;;
			*)
				[ $status -eq 5 ]
				grep -q "waymark: $file: at offset" err
				case $file in # the recorder's own file has the names of processes
				waymark-*) [ "$(wc -l <out)" -eq "$(wc -l <all)" ] ;;
				*) [ -z "$(diff <(no_delta all) <(no_delta out) | grep '^>')" ] ;;
				esac
				"$waymark" info --repair one >out
				[ "$("$waymark" info --repair one)" = "nothing to repair" ]
				;;
			esac
		done
	done
}

@test "a trace that is being written is not repaired" {
	truncate -s 1000 one/user-1-0
	exec 7>>one/user-1-0
	run "$waymark" info --repair one 7>&-
	exec 7>&-
	[ "$status" -eq 1 ]
	[[ "$output" == *'still being written'* ]]
	[ "$(stat -c %s one/user-1-0)" -eq 1000 ]
}

@test "selected events of waymark's traces keep the names of their processes" {
	run -5 --separate-stderr "$waymark" print -e app:plain --limit 1 one
	[[ $output == *" alpha:100/101 app:plain: { n = 0 }" ]]
	run --separate-stderr "$waymark" print --jsonl --filter '$comm == "beta"' one
	[[ $output == *'"comm":"beta"'* ]]
	[[ $output != *'"comm":"alpha"'* ]]
	"$waymark" print --format=babeltrace --all one 2>/dev/null | cmp - <(babeltrace2 one 2>/dev/null)
}

@test "--follow ends when the reader of its output ends, also where SIGPIPE is ignored" {
	run -5 timeout 60 python3 - "$waymark" <<-'END' # events were lost
	import os, signal, subprocess, sys
	reader, writer = os.pipe()
	os.close(reader)
	signal.signal(signal.SIGPIPE, signal.SIG_IGN)
	sys.exit(subprocess.run([sys.argv[1], 'print', '--follow', 'one'], stdout=writer,
				restore_signals=False).returncode)
	END
}

@test "a filter that fits no event suggests the nearest fields" {
	cd "$BATS_TEST_TMPDIR"
	"$WAYMARK_BUILD/waymark" record -q -o t -- "$WAYMARK_BUILD/examples/hello" >/dev/null
	run -4 "$WAYMARK_BUILD/waymark" print --filter 'timse == 3' t
	[[ $output == *"left out; did you mean 'times'"* ]]
	run -4 "$WAYMARK_BUILD/waymark" print -e 'hello:*' --filter 'timse == 3' t
	[[ $output == *"; did you mean 'times'"* ]]
}
