#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Streams and traces whose clocks count from unrelated origins have no common order: print and convert
# refuse them, as babeltrace2 does, unless --clock-force-correlate is given.

bats_require_minimum_version 1.5.0

setup() {
	export TZ=UTC
	waymark="$WAYMARK_BUILD/waymark"
	cd "$BATS_TEST_TMPDIR"
	u='uuid = "11111111-2222-3333-4444-555555555555";'
	v='uuid = "11111111-2222-3333-4444-666666666666";'
}

trace() { # OUT CLOCK...
	python3 "$WAYMARK_SOURCE/test/data/clock_ctf.py" "$@"
}

has_order() { # TRACE...: the clocks are related; babeltrace2 says the same of CTF 1.8
	run -0 --separate-stderr "$waymark" print --format=babeltrace "$@"
	if [ -z "${only_ours-}" ] && command -v babeltrace2 >/dev/null; then
		cmp <(echo "$output") <(babeltrace2 "$@")
	fi
}

has_none() { # TRACE...
	local nr
	run -1 --separate-stderr "$waymark" print "$@"
	[[ $stderr == *"unrelated origins"*"--clock-force-correlate"* ]]
	[ -z "$output" ]
	if [ -z "${only_ours-}" ] && command -v babeltrace2 >/dev/null; then
		! babeltrace2 "$@" >theirs 2>&1 || false
	fi
	rm -f out.jsonl
	run -1 "$waymark" convert --to jsonl "$@" out.jsonl
	[ ! -e out.jsonl ]
	nr=$("$waymark" print --clock-force-correlate "$@" | wc -l)
	"$waymark" convert --clock-force-correlate --to jsonl "$@" out.jsonl
	[ "$(wc -l <out.jsonl)" = "$nr" ]
	# CTF keeps the clocks, and so what can be said of them.
	rm -rf copy
	"$waymark" convert --to ctf-1.8 "$@" copy
	run -1 "$waymark" print copy
}

@test "two streams of a trace" {
	trace one 'freq = 1000;'
	has_order one
	trace same "freq = 1000; $u" "freq = 2000; $u"
	has_order same
	"$waymark" convert --to ctf-1.8 same copy
	has_order copy
	trace epoch 'freq = 1000; offset_s = 7; absolute = true;' 'freq = 2000; offset_s = 8; absolute = true;'
	has_order epoch
	trace other "freq = 1000; $u" "freq = 1000; $v"
	has_none other
	trace unknown 'freq = 1000;' 'freq = 1000;'
	only_ours=1 has_none unknown # babeltrace2 2.0 takes all clocks without a UUID for one
	trace mixed 'freq = 1000; offset_s = 7; absolute = true;' 'freq = 1000; offset_s = 7;'
	has_none mixed
}

@test "two traces" {
	trace a "freq = 1000; $u"
	trace b "freq = 1000; $u"
	trace c "freq = 1000; $v"
	trace d 'freq = 1000;'
	trace e 'freq = 1000; offset_s = 7; absolute = true;'
	has_order a b
	has_none a c
	has_none a d
	has_none d e
	mkdir both
	cp -r d both/1
	cp -r d both/2
	only_ours=1 has_none both
}

@test "CTF 2: an origin, or the identity of the clock" {
	local only_ours=1 o='"origin":{"name":"boot","uid":"7"}' p='"origin":{"name":"boot","uid":"8"}'
	trace same "$o,\"name\":\"a\"" "$o,\"name\":\"b\""
	has_order same
	"$waymark" convert --to ctf-2 same copy
	has_order copy
	trace id '"name":"a","uid":"x"' '"name":"a","uid":"x","offset-from-origin":{"seconds":1}'
	has_order id
	trace epoch '"origin":"unix-epoch"' '"origin":"unix-epoch"'
	has_order epoch
	trace other "$o" "$p"
	has_none other
	trace unknown '"name":"a"' '"name":"a"'
	has_none unknown
	trace space "$o" '"origin":{"namespace":"n","name":"boot","uid":"7"}'
	has_none space
}

@test "recordings of the kernel: one order on one machine" {
	[ -d "${WAYMARK_CORPUS:-}" ] || skip "no corpus: WAYMARK_CORPUS is not set"
	local perf="$WAYMARK_CORPUS/perf.data/quipper/perf.data.remmap-3.2" n
	[ -f "$perf" ] || skip "not in the corpus: $perf"
	cp "$perf" other
	n=$("$waymark" print "$perf" 2>/dev/null | wc -l)
	[ "$("$waymark" print "$perf" other 2>/dev/null | wc -l)" = $((2 * n)) ]
	trace epoch 'freq = 1000; offset_s = 7; absolute = true;'
	run -1 "$waymark" print "$perf" epoch
	[[ $output == *"unrelated origins"* ]]
}
