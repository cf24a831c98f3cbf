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
