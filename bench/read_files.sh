# SPDX-License-Identifier: MIT
# read_files.sh - the rows of the group `read` (read.sh) for formats other than CTF: perf.data with
# three million samples, compared with perf script, and trace.dat with two million events, compared
# with trace-cmd report. Both are recorded first; both sides print the same columns on one
# processor.

# --- perf.data ---------------------------------------------------------------------------

read_perf_record() {
	perf record -q -o "$work/perf.data" -e page-faults -c 1 -m 16M -- \
		"$BUILD/bench/bench-faults" "${BENCH_READ_SAMPLES:-3000000}" >"$work/said" 2>&1 ||
		{ echo "bench: perf cannot record here: $(head -n1 "$work/said")" >&2; return 1; }
}

read_perf_theirs="comm,tid,time,event,period,ip" # The default fields of perf script, without symbols

# Ignores blanks, because the width of columns depends on perf's version.
read_perf_check() {
	perf script -i "$work/perf.data" -F $read_perf_theirs 2>/dev/null | tr -s ' ' >"$work/theirs"
	"$BUILD/waymark" print --format=perf --no-symbols "$work/perf.data" 2>/dev/null | tr -s ' ' |
		cmp - "$work/theirs" || echo "bench: waymark's text differs from perf script's" >&2
	perf script -i "$work/perf.data" 2>/dev/null | tr -s ' ' >"$work/theirs"
	"$BUILD/waymark" print --format=perf "$work/perf.data" 2>/dev/null | tr -s ' ' |
		cmp - "$work/theirs" || echo "bench: waymark's text with symbols differs from perf script's" >&2
	echo "# read: perf.data: $(wc -l <"$work/theirs") samples, $(du -m "$work/perf.data" | cut -f1) MiB"
	rm -f "$work/theirs"
}

read_perf() {
	command -v perf >/dev/null || { echo "bench: perf is not installed" >&2; return 0; }
	read_perf_record || return 0
	for _ in 1 2 3; do
		read_time read_perf peer 2 $aside perf script -i "$work/perf.data" -F $read_perf_theirs
		read_time read_perf_symbols peer 2 $aside perf script -i "$work/perf.data"
		read_time read_perf ours 2 $aside "$BUILD/waymark" print --format=perf --no-symbols --threads 1 \
			"$work/perf.data"
		read_time read_perf_symbols ours 2 $aside "$BUILD/waymark" print --format=perf --threads 1 "$work/perf.data"
		read_memory
	done
	read_perf_check
	rm -f "$work/perf.data"
}

# --- trace.dat ---------------------------------------------------------------------------

# Replaces trace-cmd record, which refuses kernels without a function tracer: reads the pages of an
# instance's rings, from which trace-cmd makes a trace.dat.
read_tracedat_record() {
	instance=/sys/kernel/tracing/instances/bench-waymark-$$
	mkdir "$instance" 2>/dev/null || return 1
	echo 80000 >"$instance/buffer_size_kb"
	read_tracedat_events 1
	dd if=/dev/zero of=/dev/null bs=1 count="${BENCH_READ_BLOCKS:-500000}" 2>/dev/null
	echo 0 >"$instance/tracing_on"
	read_tracedat_events 0
	set --
	for cpu in "$instance"/per_cpu/cpu*; do
		pages=$work/${cpu##*/}
		dd if="$cpu/trace_pipe_raw" of="$pages" bs=4096 iflag=nonblock 2>/dev/null || true
		set -- "$@" "$pages"
	done
	rmdir "$instance"
	{
		trace-cmd restore -c -t /sys/kernel/tracing -o "$work/head.dat" &&
			trace-cmd restore -i "$work/head.dat" -o "$work/trace.dat" "$@"
	} >"$work/said" 2>&1 || { head -n3 "$work/said" >&2; return 1; }
	rm -f "$@" "$work/head.dat"
}

read_tracedat_events() { # 0 or 1
	for event in sys_enter_read sys_exit_read sys_enter_write sys_exit_write; do
		echo "$1" >"$instance/events/syscalls/$event/enable"
	done
}

# Compares the outputs. trace-cmd prints a line before all events, prints names without their
# system, and rounds times.
read_tracedat_check() {
	trace-cmd report "$work/trace.dat" 2>/dev/null | sed '1d; s/^.*[0-9]: //' | tr -s ' ' >"$work/theirs"
	"$BUILD/waymark" print --format=perf "$work/trace.dat" 2>/dev/null |
		sed 's/^.*[0-9]: [a-z]*://' | tr -s ' ' | cmp - "$work/theirs" ||
		echo "bench: waymark's text differs from trace-cmd report's" >&2
	echo "# read: trace.dat: $(wc -l <"$work/theirs") events, $(du -m "$work/trace.dat" | cut -f1) MiB"
	rm -f "$work/theirs"
}

read_tracedat() {
	if ! command -v trace-cmd >/dev/null || ! read_tracedat_record; then
		echo "bench: trace.dat: needs trace-cmd, root and tracefs at /sys/kernel/tracing" >&2
		return 0
	fi
	for _ in 1 2 3; do
		read_time read_tracedat peer 2 $aside trace-cmd report "$work/trace.dat"
		read_time read_tracedat ours 2 $aside "$BUILD/waymark" print --format=perf --threads 1 "$work/trace.dat"
		read_memory
	done
	read_tracedat_check
	rm -f "$work/trace.dat"
}
