# SPDX-License-Identifier: MIT
# report.sh - the group `report` of bench/run, which sources this file: waymark and perf report, in
# turn, make profiles of a recording of three million samples; also profiles of LTTng's events by
# task state.

report_time() { # ROW WHO COMMAND...
	row=$1 who=$2
	shift 2
	"$BUILD/bench/bench-timed" /dev/null "$@" >"$work/time" 2>"$work/err" ||
		{ echo "bench: '$*' ended with status $?:" >&2; head -n3 "$work/err" >&2; }
	cut -f1 "$work/time" | sed "s/^/$row\t$who\t/" >>"$raw"
}

# Measures source lines, which come from debug information; perf calls another program for each
# address. The samples are of waymark, which has many lines and inlined functions, while it prints
# in every format. A single format takes only half a second, and reading /proc/kallsyms would be
# most of that time.
report_lines() {
	perf record -q -e cpu-clock -F 20000 -o "$work/lines.data" -- sh -c '
		for form in waymark perf babeltrace json jsonl csv; do
			"$0" print --format=$form --threads 1 "$1" || exit
		done' "$BUILD/waymark" "$work/report.data" >/dev/null 2>"$work/perf.log" ||
		{ cat "$work/perf.log" >&2; return 0; }
	for _ in 1 2 3; do
		report_time report_lines ours "$BUILD/waymark" report -s srcline "$work/lines.data"
	done
	report_time report_lines peer timeout 120 perf report --stdio -i "$work/lines.data" -s srcline
}

report_record() { # FILE [varied]
	perf record -q -o "$work/$1" -e page-faults -c 1 -m 16M -- \
		"$BUILD/bench/bench-faults" "${BENCH_REPORT_SAMPLES:-3000000}" ${2-} >"$work/said" 2>&1 ||
		{ echo "bench: perf cannot record here: $(head -n1 "$work/said")" >&2; return 1; }
}

report_group() {
	command -v perf >/dev/null || { echo "bench: 'report' needs perf" >&2; return 0; }
	BENCH_PEER="perf $(perf --version | sed 's/.* //')"
	export BENCH_PEER
	report_record report.data && report_record varied.data varied || return 0
	for _ in 1 2 3; do
		report_time report_symbols peer perf report --stdio -i "$work/varied.data" -s comm,dso,sym
		report_time report_symbols ours "$BUILD/waymark" report "$work/varied.data" -s comm,dso,sym
		report_time report_symbols_2 peer perf report --stdio -i "$work/report.data" -s comm,dso,sym
		report_time report_symbols_2 ours "$BUILD/waymark" report "$work/report.data" -s comm,dso,sym
		report_time report_comm ours "$BUILD/waymark" report "$work/report.data" -s comm
	done
	# Converts the seconds for three million events to events per second.
	awk -F '\t' -v n="${BENCH_REPORT_SAMPLES:-3000000}" \
		'$1 == "report_comm" {printf "report_rate\tours\t%.3f\n", n / $3 / 1e6}' "$raw" >"$raw.rate"
	cat "$raw.rate" >>"$raw"
	report_lines
	rm -f "$work/report.data" "$work/varied.data" "$work/lines.data"
}
