# SPDX-License-Identifier: MIT
# read.sh - the groups `read` and `read-long` of bench/run, which sources this file: records a big
# LTTng-UST trace, which waymark and babeltrace2 read in turn, from warm caches; read_files.sh has
# the other formats. BENCH_READ_EVENTS is the number of events.

# Records without loss: the program waits for the consumer.
read_record() { # N
	trace=$work/lttng-read
	{
		lttng create bench --output="$trace" &&
			lttng enable-channel -u -s bench --subbuf-size=512K --num-subbuf=16 \
				--blocking-timeout=inf ch &&
			lttng enable-event -u -s bench -c ch 'bench:on_*' && lttng start bench
	} >"$work/lttng.log" 2>&1 || { cat "$work/lttng.log" >&2; return 1; }
	LTTNG_UST_ALLOW_BLOCKING=1 LTTNG_UST_REGISTER_TIMEOUT=-1 "$BUILD/bench/bench-burst" "$1"
	lttng stop bench >/dev/null 2>&1
	lttng destroy bench >/dev/null 2>&1
}

# Runs COMMAND, discards its output, and records the seconds: wall time (1) or processor time (2).
read_time() { # ROW WHO WHICH COMMAND...
	row=$1 who=$2 which=$3
	shift 3
	"$BUILD/bench/bench-timed" /dev/null "$@" >"$work/time" 2>"$work/err" ||
		{ echo "bench: '$*' ended with status $?:" >&2; head -n3 "$work/err" >&2; }
	cut -f"$which" "$work/time" | sed "s/^/$row\t$who\t/" >>"$raw"
}

read_memory() { # prints the memory of the last command
	cut -f3 "$work/time" >>"$work/memory"
}

# Prints the maximum over all commands.
read_memory_row() { # ROW
	sort -g "$work/memory" | tail -n1 | sed "s/^/$1\tours\t/" >>"$raw"
}

# Measures the wall time to read a trace that is in no cache.
read_cold() { # TRACE WHO COMMAND...
	find "$1" -type f -exec dd if={} iflag=nocache count=0 status=none \;
	who=$2
	shift 2
	"$BUILD/bench/bench-timed" /dev/null "$@" 2>/dev/null | cut -f1 |
		sed "s/^/# read: from a cold cache, $who: /; s/\$/ s/"
}

# Uses a copy on a disk, because files in /dev/shm are always cached.
read_cold_copy() {
	copy=$(mktemp -d "${BENCH_DIR:-/var/tmp}/waymark-bench-XXXXXX")
	cp -r "$trace" "$copy" && sync "$copy"
	read_cold "$copy" 'babeltrace2 -c sink.utils.counter' babeltrace2 "$copy" -c sink.utils.counter
	read_cold "$copy" 'waymark info --hash' "$BUILD/waymark" info --hash "$copy"
	read_cold "$copy" 'waymark print' "$BUILD/waymark" print "$copy"
	rm -rf "$copy"
}

# Measures a window in the middle of the trace, a thousandth of its length, in seconds.
read_window() {
	"$BUILD/waymark" info --json "$trace" | python3 -c '
import json, sys
info = json.load(sys.stdin)
begin, end = info["begin_ns"], info["end_ns"]
middle, half = (begin + end) // 2, (end - begin) // 2000
for ns in middle - half, middle + half:
    print(f"{ns // 10**9}.{ns % 10**9:09}")'
}

# Checks that both outputs are equal; otherwise the times could not be compared.
read_check() {
	babeltrace2 "$trace" 2>/dev/null >"$work/theirs"
	"$BUILD/waymark" print --format=babeltrace "$trace" 2>/dev/null | cmp - "$work/theirs" ||
		echo "bench: waymark's text differs from babeltrace2's" >&2
}

read_rounds() {
	ours=$BUILD/waymark
	set -- $(read_window)
	for _ in 1 2 3; do
		read_time read_text peer 2 $aside babeltrace2 "$trace"
		read_time read_text ours 2 $aside "$ours" print --format=babeltrace --threads 1 "$trace"
		read_memory
		read_time read_text_1 ours 1 "$ours" print --format=babeltrace --threads 1 "$trace"
		read_time read_text_all ours 1 "$ours" print --format=babeltrace --threads "$cpus" "$trace"
		read_memory
		read_time read_text_pair ours 1 sh -c '"$@" & "$@"; wait' sh "$ours" print --format=babeltrace --threads 1 "$trace"
		read_time read_hash peer 1 babeltrace2 "$trace" -c sink.utils.counter
		read_time read_hash ours 1 "$ours" info --hash "$trace"
		read_memory
		read_time read_hash_1 ours 2 $aside "$ours" info --hash --threads 1 "$trace"
		read_time read_window peer 1 babeltrace2 "$trace" --begin "$1" --end "$2"
		read_time read_window ours 1 "$ours" print --format=babeltrace "$trace" --begin "$1" --end "$2"
	done
}

# Prints the speedup of all processors over one, from the best times; and the throughput of two
# independent processes at once, which is the best speedup that two processors of this machine can
# give.
read_speedup() {
	awk -F '\t' '
	/^read_text_(1|all|pair)\t/ && (!best[$1] || $3 < best[$1]) { best[$1] = $3 }
	END {
		one = best["read_text_1"]
		if (best["read_text_all"]) printf "read_threads\tours\t%.3f\n", one / best["read_text_all"]
		if (best["read_text_pair"]) printf "read_threads\tpeer\t%.3f\n", 2 * one / best["read_text_pair"]
	}' "$raw" >>"$raw.more"
	cat "$raw.more" >>"$raw"
}

read_start() { # EVENTS
	lttng_on
	[ -n "$lttng_pid" ] || return 1
	read_record "$1" || return 1
	lttng_off
	echo "# read: $("$BUILD/waymark" info --hash "$trace" | tr '\n' ' '), $(du -sm "$trace" | cut -f1) MiB"
}

read_group() {
	command -v babeltrace2 >/dev/null || { echo "bench: babeltrace2 is not installed" >&2; return 0; }
	read_start "${BENCH_READ_EVENTS:-12000000}" || return 0
	BENCH_PEER="babeltrace2 $(babeltrace2 --version | sed -n 's/^Babeltrace \([0-9.]*\).*/\1/p')"
	read_rounds
	read_check
	read_cold_copy
	rm -rf "$trace" "$work/theirs"
	read_perf
	read_tracedat
	read_memory_row read_memory
	read_speedup
}

# Checks that memory does not grow with the size of a trace: 240 million events, 4.2 GiB, in
# BENCH_DIR (/var/tmp).
read_long_group() {
	folder=$(mktemp -d "${BENCH_DIR:-/var/tmp}/waymark-bench-XXXXXX")
	short=$work
	work=$folder
	if read_start "${BENCH_READ_EVENTS:-240000000}"; then
		read_cold "$trace" 'waymark info --hash' "$BUILD/waymark" info --hash "$trace"
		read_time read_long_hash ours 1 "$BUILD/waymark" info --hash "$trace"
		read_memory
		read_time read_long_text ours 1 "$BUILD/waymark" print --format=babeltrace "$trace"
		read_memory
		read_time read_long_text_1 ours 1 $aside "$BUILD/waymark" print --threads 1 "$trace"
		read_memory
		read_memory_row read_long_memory
	fi
	work=$short
	rm -rf "$folder"
}
