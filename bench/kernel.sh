# SPDX-License-Identifier: MIT
# kernel.sh - the group `kernel` of bench/run, which sources this file: records every read and
# write of a dd with one-byte blocks by waymark and by perf record, in turn; both follow child
# processes. Then compares the two kinds of call chains that waymark records with samples.

kernel_dd="dd if=/dev/zero of=/dev/null bs=1 count=${BENCH_KERNEL_BLOCKS:-200000}"

# Prints the seconds that dd reports, which show the overhead in the traced program.
kernel_dd_seconds() { # ROW WHO FILE
	sed -n "s/.* copied, \([0-9.e-]*\) s.*/$1\t$2\t\1/p" "$3" >>"$raw"
}

kernel_ours() {
	rm -rf "$work/ours"
	"$BUILD/bench/bench-timed" "$work/dd" "$BUILD/waymark" record -o "$work/ours" --preload none \
		-e syscall:read -e syscall:write -- sh -c "$kernel_dd 2>&1" >"$work/time" 2>"$work/said"
	kernel_dd_seconds kernel_dd ours "$work/dd"
	cut -f2 "$work/time" | sed "s/^/kernel_cpu\tours\t/" >>"$raw"
	set -- $(sed -n 's/^waymark: \([0-9]*\) events.* \([0-9]*\) lost.*/\1 \2/p' "$work/said")
	printf 'kernel_bytes\tours\t%d\n' $(($(du -sb "$work/ours" | cut -f1) / $1)) >>"$raw"
	printf 'kernel_lost\tours\t%d\n' "$2" >>"$raw"
}

kernel_perf() {
	rm -f "$work/perf.data"
	"$BUILD/bench/bench-timed" "$work/dd" perf record -q -o "$work/perf.data" \
		-e 'syscalls:sys_*_read,syscalls:sys_*_write' -- sh -c "$kernel_dd 2>&1" \
		>"$work/time" 2>"$work/said"
	kernel_dd_seconds kernel_dd peer "$work/dd"
	cut -f2 "$work/time" | sed "s/^/kernel_cpu\tpeer\t/" >>"$raw"
	events=$("$BUILD/waymark" info --json "$work/perf.data" 2>/dev/null |
		python3 -c 'import json, sys; print(json.load(sys.stdin)["events"])')
	printf 'kernel_bytes\tpeer\t%d\n' $(($(stat -c %s "$work/perf.data") / events)) >>"$raw"
	expected=$((4 * ${BENCH_KERNEL_BLOCKS:-200000}))
	printf 'kernel_lost\tpeer\t%d\n' $((events < expected ? expected - events : 0)) >>"$raw"
}

# The same dd, sampled with call chains. The time includes the fixed cost of a recording.
sample_dd="dd if=/dev/zero of=/dev/null bs=1 count=${BENCH_SAMPLE_BLOCKS:-2000000}"

sample_ours() {
	rm -rf "$work/ours"
	"$BUILD/bench/bench-timed" "$work/dd" "$BUILD/waymark" record -o "$work/ours" --preload none \
		-F 4000 -g -e cpu-clock -- sh -c "$sample_dd 2>&1" >"$work/time" 2>"$work/said"
	kernel_dd_seconds sample_dd ours "$work/dd"
	cut -f2 "$work/time" | sed "s/^/sample_cpu\tours\t/" >>"$raw"
	samples=$(sed -n 's/.*(\([0-9]*\) samples).*/\1/p' "$work/said")
	printf 'sample_bytes\tours\t%d\n' $(($(du -cb "$work"/ours/samples-* | tail -1 | cut -f1) / samples)) >>"$raw"
}

sample_perf() {
	rm -f "$work/perf.data"
	"$BUILD/bench/bench-timed" "$work/dd" perf record -q -o "$work/perf.data" -F 4000 -g -e cpu-clock \
		-- sh -c "$sample_dd 2>&1" >"$work/time" 2>"$work/said"
	kernel_dd_seconds sample_dd peer "$work/dd"
	cut -f2 "$work/time" | sed "s/^/sample_cpu\tpeer\t/" >>"$raw"
	samples=$("$BUILD/waymark" info --json "$work/perf.data" 2>/dev/null |
		python3 -c 'import json, sys; print(json.load(sys.stdin)["events"])')
	printf 'sample_bytes\tpeer\t%d\n' $(($(stat -c %s "$work/perf.data") / samples)) >>"$raw"
}

# A C++ program without frame pointers, sampled 999 times a second with copies of its stack (ours),
# with call chains by frame pointers (peer), and not at all (bare): the program's time, the
# recorder's processor time, and the size of a sample.
stacks_put() { # ROW WHO VALUE
	printf '%s\t%s\t%s\n' "$1" "$2" "$3" >>"$raw"
}

stacks_recorded() { # WHO -g-ARGUMENT...
	who=$1
	shift
	rm -rf "$work/stacks"
	"$BUILD/bench/bench-timed" "$work/inner" "$BUILD/waymark" record -o "$work/stacks" --preload none -F 999 "$@" \
		-e cpu-clock -- "$BUILD/bench/bench-timed" /dev/null "$work/deep" "$stacks_rounds" >"$work/time" 2>"$work/said"
	stacks_put stacks_time "$who" "$(cut -f1 "$work/inner")"
	stacks_put stacks_recorder "$who" "$(paste "$work/time" "$work/inner" | awk '{print $2 - $5}')"
	samples=$(sed -n 's/.*(\([0-9]*\) samples).*/\1/p' "$work/said")
	stacks_put stacks_bytes "$who" $(($(du -cb "$work"/stacks/samples-* | tail -1 | cut -f1) / samples))
}

stacks_rows() {
	stacks_rounds=${BENCH_STACKS_ROUNDS:-20000}
	g++ -O2 -g -fomit-frame-pointer "$here/../test/data/deep.cc" -o "$work/deep" || return 0
	for _ in 1 2 3 4 5; do
		stacks_recorded ours -g dwarf
		stacks_recorded peer -g
		"$BUILD/bench/bench-timed" /dev/null "$work/deep" "$stacks_rounds" >"$work/time"
		stacks_put stacks_time bare "$(cut -f1 "$work/time")"
	done
}

kernel_group() {
	if [ -n "${BENCH_INSIDE-}" ]; then
		echo "bench: kernel: must run alone: make bench B=kernel" >&2
		return 0
	fi
	if [ ! -d /sys/kernel/tracing/instances ] || ! command -v perf >/dev/null; then
		echo "bench: kernel: needs tracefs at /sys/kernel/tracing, root and perf" >&2
		return 0
	fi
	BENCH_PEER="perf $(perf --version | sed 's/.* //')"
	export BENCH_PEER
	for _ in 1 2 3 4 5; do
		kernel_ours
		kernel_perf
		sample_ours
		sample_perf
	done
	stacks_rows
}
