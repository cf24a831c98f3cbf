# SPDX-License-Identifier: MIT
# shapes.sh - the group `shapes` of bench/run, which sources this file: traces unlike those of the
# group `read`, read by waymark and a peer in turn. Most inputs are made once, and kept in
# $BUILD/bench-inputs; delete the folder to make them again. BENCH_SHAPES_ROUNDS is the number of
# rounds (3).

# Each shape has three rows: processor time on one processor, wall time with default threads (peers
# have one), and peak anonymous memory.
shapes_pair() { # ROW FILE PRINT-FORMAT PEER...
	row=$1 file=$2 format=$3
	shift 3
	for _ in $(seq "${BENCH_SHAPES_ROUNDS:-3}"); do
		shapes_time "$row" peer 'cpu wall mem' $aside "$@" "$file"
		shapes_time "$row" ours 'cpu mem' $aside "$BUILD/waymark" print "--format=$format" --threads 1 "$file"
		shapes_time "$row" ours wall "$BUILD/waymark" print "--format=$format" "$file"
	done
}

shapes_time() { # ROW WHO COLUMNS COMMAND...
	row=$1 who=$2 columns=$3
	shift 3
	"$BUILD/bench/bench-timed" /dev/null "$@" >"$work/time" 2>"$work/err" ||
		[ $? = 5 ] || # events were lost in the recording
		{ echo "bench: '$*' failed:" >&2; head -n3 "$work/err" >&2; }
	awk -v row="$row" -v who="$who" -v columns="$columns" '{
		value["cpu"] = $2; value["wall"] = $1; value["mem"] = $3
		for (i = split(columns, c, " "); i > 0; i--)
			printf "%s_%s\t%s\t%s\n", row, c[i], who, value[c[i]]
	}' "$work/time" >>"$raw"
}

shapes_said() { # ROW FILE
	echo "# shapes: $1: $(du -sm "$2" | cut -f1) MiB"
}

# Makes an input, unless it was made before: NAME COMMAND..., which writes the path in its last
# argument. Sets `input`.
shapes_make() {
	input=$BUILD/bench-inputs/$1
	shift
	[ ! -e "$input" ] || return 0
	mkdir -p "${input%/*}"
	rm -rf "$input.new"
	"$@" "$input.new" >"$work/said" 2>&1 && mv "$input.new" "$input" ||
		{ echo "bench: cannot make $input: $(head -n1 "$work/said")" >&2; return 1; }
}

# --- perf.data ---------------------------------------------------------------------------

shapes_record_chains() { # FILE: two million samples with call chains, nearly all different
	perf record -q -g -e page-faults -c 1 -m 16M -o "$1" -- "$BUILD/bench/bench-chains" 2000000
}

# Many kinds of tracepoints: pipes, processes, and folders that are listed.
shapes_record_kinds() { # FILE
	perf record -q -e 'sched:*' -e 'syscalls:*' -m 4M -o "$1" -- sh -c '
		for _ in 1 2 3 4 5 6; do ls -lR /usr/lib /usr/include; done
		perf bench sched messaging -g 1 -l 30
		for _ in 1 2 3 4 5 6 7 8 9 10; do find /usr/share | wc -l; date; done'
}

shapes_perf() {
	command -v perf >/dev/null || { echo "bench: perf is not installed" >&2; return 0; }
	if shapes_make chains.data shapes_record_chains; then
		shapes_said shapes_chains "$input"
		shapes_pair shapes_chains "$input" perf perf script -i
	fi
	if shapes_make kinds.data shapes_record_kinds; then
		shapes_said shapes_kinds "$input"
		shapes_pair shapes_kinds "$input" perf perf script -i
	fi
}

# --- trace.dat ---------------------------------------------------------------------------

shapes_systems='sched syscalls irq timer signal task writeback block kmem'

shapes_enable() { # 0 or 1
	for system in $shapes_systems; do
		[ ! -e "$instance/events/$system/enable" ] ||
			echo "$1" >"$instance/events/$system/enable"
	done
}

# Like read_tracedat_record(): trace-cmd record refuses some kernels. The rings keep the last events.
shapes_record_tracedat() { # FILE
	instance=/sys/kernel/tracing/instances/bench-shapes-$$
	mkdir "$instance" || return 1
	echo 60000 >"$instance/buffer_size_kb"
	shapes_enable 1
	for _ in 1 2 3 4; do ls -lR /usr/lib /usr/include >/dev/null; done
	echo 0 >"$instance/tracing_on"
	shapes_enable 0
	set -- "$1"
	for cpu in "$instance"/per_cpu/cpu*; do
		dd if="$cpu/trace_pipe_raw" of="$work/${cpu##*/}" bs=4096 iflag=nonblock 2>/dev/null || true
		set -- "$@" "$work/${cpu##*/}"
	done
	rmdir "$instance"
	out=$1
	shift
	trace-cmd restore -c -t /sys/kernel/tracing -o "$work/head.dat" &&
		trace-cmd restore -i "$work/head.dat" -o "$out" "$@"
	got=$?
	rm -f "$@" "$work/head.dat"
	return $got
}

shapes_tracedat() {
	command -v trace-cmd >/dev/null || { echo "bench: trace-cmd is not installed" >&2; return 0; }
	shapes_make kinds.dat shapes_record_tracedat || return 0
	shapes_said shapes_tracedat "$input"
	shapes_pair shapes_tracedat "$input" perf trace-cmd report
}

# --- CTF ---------------------------------------------------------------------------------

shapes_write_ctf() { # STREAMS CLASSES EVENTS FOLDER
	"$BUILD/bench/bench-many-ctf" "$4" "$1" "$2" "$3"
}

# The four largest traces in WAYMARK_CORPUS that babeltrace2 can read.
shapes_corpus() {
	nr=0
	[ -d "${WAYMARK_CORPUS:-}" ] || { echo "bench: WAYMARK_CORPUS is not set" >&2; return 0; }
	find "$WAYMARK_CORPUS" -name metadata -printf '%h\n' | while read -r folder; do
		printf '%s\t%s\n' "$(du -s "$folder" | cut -f1)" "$folder"
	done | sort -rn | cut -f2 >"$work/corpus"
	while read -r folder && [ $nr -lt 4 ]; do
		babeltrace2 "$folder" >/dev/null 2>&1 || continue
		nr=$((nr + 1))
		echo "# shapes: shapes_corpus_$nr: $folder"
		shapes_pair shapes_corpus_$nr "$folder" babeltrace babeltrace2
	done <"$work/corpus"
}

shapes_ctf() {
	command -v babeltrace2 >/dev/null || { echo "bench: babeltrace2 is not installed" >&2; return 0; }
	# babeltrace2 needs a minute for more events in 944 streams.
	if shapes_make streams shapes_write_ctf 944 24 300000; then
		shapes_pair shapes_streams "$input" babeltrace babeltrace2
	fi
	if shapes_make classes shapes_write_ctf 4 1181 2000000; then
		shapes_pair shapes_classes "$input" babeltrace babeltrace2
	fi
	shapes_corpus
}

shapes() {
	shapes_perf
	shapes_tracedat
	shapes_ctf
}
