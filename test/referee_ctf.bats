#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Compares the CTF traces of the corpus, $WAYMARK_CORPUS, and what convert makes of them with what
# babeltrace2 2.1 reads (tools/referee). Only in make check-long, because its package is downloaded.

bats_require_minimum_version 1.5.0

setup() {
	export TZ=UTC
	waymark="$WAYMARK_BUILD/waymark"
	[ -n "${WAYMARK_LONG-}" ] || skip "only in make check-long: it downloads babeltrace2 of Debian 13"
	[ -f "${WAYMARK_CORPUS:-}/MANIFEST.tsv" ] || skip "no corpus: WAYMARK_CORPUS is not set"
	cd "$BATS_TEST_TMPDIR"
	"$WAYMARK_SOURCE/tools/referee" --fetch babeltrace2-2.1 >version 2>&1 || skip "$(tail -1 version)"
}

# Traces that babeltrace2 2.1 cannot read.
is_refused() { # TRACE
	case $1 in
	*/fail/*) return 0 ;;
	ctf1/barectf/counter-clock/dst-er-features/ts) return 0 ;;              # aborts: packets without times
	ctf1/conformance/stream/pass/integer-large-size) return 0 ;;            # refuses it
	ctf1/conformance/stream/pass/variant-missing-enum-mappings) return 0 ;; # aborts
	ctf1/tracecompass/funky_trace) return 0 ;;                              # refuses its clock
	esac
	return 1
}

reads() { # TRACE: babeltrace2 2.1 prints `ours` for it
	timeout 400 "$WAYMARK_SOURCE/tools/referee" babeltrace2-2.1 "$1" >theirs 2>/dev/null || true
	cmp -s ours theirs && return
	echo "$trace, $1:"
	diff -a ours theirs | head -4
	bad="$bad $trace"
}

@test "babeltrace2 2.1 reads every trace, and its conversions, with equal text" {
	local trace kind to n=0 bad=
	while IFS=$'\t' read -r trace kind _; do
		[[ $kind == ctf* ]] || continue
		! is_refused "$trace" || continue
		timeout 400 "$waymark" print --format=babeltrace-2.1 "$WAYMARK_CORPUS/$trace" >ours 2>/dev/null || true
		reads "$WAYMARK_CORPUS/$trace"
		for to in ctf-1.8 ctf-2; do
			rm -rf copy
			"$waymark" convert --to $to "$WAYMARK_CORPUS/$trace" copy 2>/dev/null || [ $? = 5 ]
			reads copy
		done
		n=$((n + 1))
	done <"$WAYMARK_CORPUS/MANIFEST.tsv"
	echo "compared: $n; not the same:$bad"
	[ "$n" -ge 200 ]
	[ -z "$bad" ]
}
