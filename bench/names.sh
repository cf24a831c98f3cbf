# SPDX-License-Identifier: MIT
# names.sh - the group `names` of bench/run, which sources this file: records a C++ program without
# frame pointers by perf with stack copies; then waymark and perf script, in turn, resolve its
# addresses and unwind its stacks. BENCH_NAMES_ROUNDS is the number of rounds of the program.

names_time() { # ROW WHO COMMAND...
	row=$1 who=$2
	shift 2
	"$BUILD/bench/bench-timed" /dev/null "$@" >"$work/time" 2>"$work/err" ||
		{ echo "bench: '$*' ended with status $?:" >&2; head -n3 "$work/err" >&2; }
	cut -f2 "$work/time" | sed "s/^/$row\t$who\t/" >>"$raw"
}

names() {
	for tool in perf g++; do
		command -v "$tool" >/dev/null || { echo "bench: 'names' needs $tool" >&2; return 0; }
	done
	g++ -O2 -g -fomit-frame-pointer "$here/../test/data/deep.cc" -o "$work/deep"
	perf record -q -e cpu-clock:u -F 8000 --call-graph dwarf -o "$work/names.data" \
		"$work/deep" "${BENCH_NAMES_ROUNDS:-10000}" >/dev/null 2>"$work/perf.log" ||
		{ cat "$work/perf.log" >&2; return 0; }
	$aside "$BUILD/bench/bench-names" "$work/names.data" 2>"$work/names.log" |
		awk '{print $1 "\tours\t" $2}' >>"$raw"
	sed 's/^/# /' "$work/names.log"
	for _ in 1 2 3; do
		names_time names_unwind peer $aside perf script --no-inline -i "$work/names.data"
		names_time names_unwind ours $aside "$BUILD/waymark" print --format=perf --threads 1 \
			"$work/names.data"
	done
}
