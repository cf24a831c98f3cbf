#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Compares waymark print --format=babeltrace with babeltrace2, byte for byte, for every CTF 1.8
# trace of the corpus, $WAYMARK_CORPUS. Lists the traces for which babeltrace2 stops or is wrong.

bats_require_minimum_version 1.5.0

setup() {
	export TZ=UTC
	waymark="$WAYMARK_BUILD/waymark"
	[ -f "${WAYMARK_CORPUS:-}/MANIFEST.tsv" ] || skip "no corpus: WAYMARK_CORPUS is not set"
	command -v babeltrace2 >/dev/null || skip "babeltrace2 is not installed"
	cd "$BATS_TEST_TMPDIR"
}

# Traces for which babeltrace2's output cannot be compared, because it stops at the first damage and
# may drop intact events before it, or aborts.
is_no_measure() { # TRACE
	case $1 in
	*/fail/*) return 0 ;;
	ctf1/conformance/stream/pass/integer-large-size) return 0 ;;           # refuses it
	ctf1/conformance/stream/pass/variant-missing-enum-mappings) return 0 ;; # aborts
	ctf1/tracecompass/funky_trace) return 0 ;;                             # babeltrace2 refuses its clock
	# One sys_open has an empty file name; babeltrace2 prints that of an earlier sys_open, which is in
	# the file once.
	ctf1/tracecompass/bug446190) return 0 ;;
	esac
	return 1
}

@test "output equal to babeltrace2's for every trace it can read" {
	local trace n=0 bad=
	while IFS=$'\t' read -r trace kind _; do
		[ "$kind" = ctf1.8 ] || continue
		! is_no_measure "$trace" || continue
		timeout 400 babeltrace2 "$WAYMARK_CORPUS/$trace" >theirs 2>/dev/null || true
		timeout 400 "$waymark" print --format=babeltrace "$WAYMARK_CORPUS/$trace" >ours 2>/dev/null || true
		cmp -s ours theirs || { bad="$bad $trace"; diff -a ours theirs | head -4; }
		n=$((n + 1))
	done <"$WAYMARK_CORPUS/MANIFEST.tsv"
	echo "compared: $n; not the same:$bad"
	[ "$n" -ge 150 ]
	[ -z "$bad" ]
}

@test "lost events and packets are reported like babeltrace2 does" {
	local trace
	for trace in succeed/multi-domains/kernel succeed/ev-disc-no-ts-begin-end \
		packet-seq-num/2-lost-before-last packet-seq-num/7-lost-between-2-with-index; do
		trace="$WAYMARK_CORPUS/ctf1/babeltrace/$trace"
		[ -d "$trace" ] || continue
		babeltrace2 "$trace" 2>theirs >/dev/null
		run -5 --separate-stderr "$waymark" print --format=babeltrace "$trace"
		[ "$stderr" = "$(cat theirs)" ]
		[ -n "$stderr" ]
	done
}

@test "equal output for special cases of the format: bits, tags, scopes, clocks" {
	python3 "$WAYMARK_SOURCE/test/data/odd_ctf.py" odd
	local trace n=0
	for trace in odd/*; do
		babeltrace2 "$trace" >theirs 2>/dev/null
		"$waymark" print --format=babeltrace "$trace" >ours
		[ -s theirs ]
		cmp ours theirs
		rm -rf copy
		"$waymark" convert --to ctf-1.8 "$trace" copy
		run -0 --separate-stderr "$waymark" print --format=babeltrace copy
		[ -z "$stderr" ] # no warning either: what was odd is not copied
		cmp <(echo "$output") theirs
		babeltrace2 copy >copied 2>/dev/null
		cmp copied theirs
		rm -rf copy
		"$waymark" convert --to ctf-2 "$trace" copy
		cmp <("$waymark" print --format=babeltrace copy) theirs
		n=$((n + 1))
	done
	[ "$n" -gt 20 ]
}

same_with() { # TRACE OPTION...: babeltrace2 prints the same with these options
	local trace=$1
	shift
	babeltrace2 "$@" "$trace" >theirs 2>/dev/null
	"$waymark" print --format=babeltrace "$@" "$trace" >ours 2>/dev/null || [ $? = 5 ]
	[ -s theirs ]
	cmp ours theirs
}

@test "equal output with babeltrace2's options for times, names and streams" {
	local trace c="$WAYMARK_CORPUS/ctf1" TZ=America/New_York
	export TZ
	python3 "$WAYMARK_SOURCE/test/data/odd_ctf.py" odd
	for trace in "$c/tracecompass/context-switches/context-switches-ust" odd/odd-hz odd/variant-1 odd/lists \
		"$c/babeltrace/succeed/lttng-tracefile-rotation/kernel"; do
		[ -d "$trace" ] || continue
		same_with "$trace" --clock-seconds
		same_with "$trace" --clock-cycles
		same_with "$trace" --clock-date
		same_with "$trace" --clock-gmt
		same_with "$trace" --clock-date --clock-gmt --no-delta
		same_with "$trace" --no-delta
		same_with "$trace" --clock-seconds --clock-offset=-100
		same_with "$trace" --clock-offset=86399
		same_with "$trace" --names=all
		same_with "$trace" --names=none
		same_with "$trace" --names=scope,payload
		same_with "$trace" --names=header,context --clock-cycles
		same_with "$trace" --names=header --no-delta
	done
	for trace in "$c/babeltrace/intersection/3eventsintersectreverse" "$c/babeltrace/succeed/multi-domains/kernel" \
		"$c/babeltrace/succeed/barectf-event-before-packet" "$c/babeltrace/succeed/lttng-tracefile-rotation/kernel"; do
		[ ! -d "$trace" ] || same_with "$trace" --stream-intersection
	done
}

@test "the head of a line, and options that cannot be" {
	local t
	python3 "$WAYMARK_SOURCE/test/data/odd_ctf.py" odd
	t=odd/odd-hz
	sed -i 's/^\(.*\)clock {/\1env { hostname = "h"; domain = "ust"; procname = "p"; vpid = 7; }; clock {/; s/name = "e";/name = "e"; loglevel = 13;/' $t/metadata
	"$waymark" print --format=babeltrace --no-delta --clock-cycles --limit 1 --head=all $t >out
	[ "$(cat out)" = '[00000000000000001000] h:h:ust:p:(7):0/0 TRACE_DEBUG_LINE (13) e: { x = 120 }' ]
	"$waymark" print --format=babeltrace --no-delta --clock-cycles --limit 1 --names=all --head=trace:domain,loglevel $t >out
	[ "$(cat out)" = 'timestamp = 00000000000000001000, trace:domain = ust, loglevel = TRACE_DEBUG_LINE (13), name = e, event.fields = { x = 120 }' ]
	"$waymark" print --format=babeltrace --no-delta --clock-cycles --limit 1 --head=none $t >out
	[ "$(cat out)" = '[00000000000000001000] e: { x = 120 }' ]
	"$waymark" print --jsonl --limit 1 --head=all $t >out
	[ "$(cat out)" = '{"time_ns":2251220703,"comm":"p","name":"e","loglevel":13,"hostname":"h","domain":"ust","procname":"p","vpid":"7","stream":{"class":0,"instance":0,"file":"stream"},"fields":{"x":120}}' ]
	"$waymark" print --json --head=stream,loglevel $t | python3 -c 'import json, sys; assert len(json.load(sys.stdin)["events"]) == 2'
	# The form of waymark's own lines, and the time window with an offset.
	"$waymark" print --clock-cycles --limit 1 $t >out
	[ "$(cat out)" = '[00000000000000001000] (+????????????) p e: { x = 120 }' ]
	[ "$("$waymark" print --no-delta --clock-offset 1.5 --begin 3 $t | wc -l)" = 2 ]
	[ "$("$waymark" print --no-delta --clock-offset 1.5 --begin 4 $t | wc -l)" = 1 ]
	[[ "$("$waymark" print --jsonl --clock-offset 0.000000001 --limit 1 $t)" == '{"time_ns":2251220704,'* ]]
	for option in --names=nothing --head=loglevels --clock-offset=x --clock-offset=1.x "--clock-date --clock-seconds"; do
		run -2 "$waymark" print --format=babeltrace $option $t
	done
	run -2 "$waymark" print --names=all $t
	run -2 "$waymark" print --jsonl --clock-date $t
	run -2 "$waymark" print --follow --stream-intersection $t
	python3 "$WAYMARK_SOURCE/test/data/clock_ctf.py" apart 'freq = 1;' 'freq = 1;'
	run -1 "$waymark" print --clock-force-correlate --stream-intersection apart
	[[ $output == *"have no times"* ]]
}
