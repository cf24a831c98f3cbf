#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# read_api.bats - tests <waymark/read.h>: the installed library reads the same events as print and
# exports no other symbols, and its header and manual page list the same functions.

bats_require_minimum_version 1.5.0

setup() {
	export TZ=UTC
	waymark="$WAYMARK_BUILD/waymark"
	cd "$BATS_TEST_TMPDIR"
}

# Prints time, thread and name of each event, as examples/read.c does.
printed() {
	"$waymark" print --jsonl "$@" 2>/dev/null | python3 -c '
import json, sys
for line in sys.stdin:
    e = json.loads(line)
    time = -2**63 if e["time_ns"] is None else e["time_ns"]
    print(time, e.get("comm", ""), e["name"])
'
}

@test "the example reads the same as print: waymark's traces, and those of other tracers" {
	"$waymark" record -q -o own -- "$WAYMARK_BUILD/examples/hello" >/dev/null
	"$WAYMARK_BUILD/examples/read" own >ours
	[ "$(wc -l <ours)" -eq 3 ]
	diff ours <(printed own)
	[ -d "${WAYMARK_CORPUS:-}" ] || skip "no corpus: WAYMARK_CORPUS is not set"
	for trace in ctf1/tracecompass/context-switches/context-switches-ust \
		ctf1/babeltrace/succeed/meta-variant-two-underscores \
		perf.data/linux-perf-data/sleep.data trace.dat/trappy/trace_idle.dat; do
		"$WAYMARK_BUILD/examples/read" "$WAYMARK_CORPUS/$trace" >ours
		[ -s ours ]
		cmp ours <(printed "$WAYMARK_CORPUS/$trace")
	done
}

@test "a file that is not a trace is refused with a sentence" {
	echo no trace >file
	run -1 "$WAYMARK_BUILD/examples/read" file
	[ "$output" = "cannot read the trace 'file': at offset 0: not a trace of a known format" ]
	: >file
	run -1 "$WAYMARK_BUILD/examples/read" file
	[[ "$output" == "cannot read the trace 'file': at offset 0: an empty file: "* ]]
}

@test "the library exports only waymark_ names; each is in a header and its page" {
	lib="$WAYMARK_BUILD/libwaymark.so.1"
	nm -D --defined-only "$lib" | awk '$2 != "A" { print $3 }' >versioned
	# Each has the version of a release.
	[ -z "$(grep -vE '^waymark_[a-z0-9_]+@@WAYMARK_[0-9]+\.[0-9]+$' versioned)" ]
	sed 's/@@.*//' versioned | sort >exported
	[ "$(wc -l <exported)" -gt 30 ]
	for name in list read record; do
		grep -oE '\bwaymark_[a-z0-9_]*[a-z0-9]\(' "$WAYMARK_SOURCE/include/waymark/$name.h" | tr -d '(' |
			sort -u >$name.declared
		grep -oE '\bwaymark_[a-z0-9_]+' <(sed 's/\\f[BRI]/ /g' \
			"$WAYMARK_SOURCE/doc/man/waymark-$name.3") | sort -u >described
		[ -z "$(comm -23 $name.declared described)" ]
	done
	diff exported <(sort -u ./*.declared)
}

@test "an external C and C++ program, by pkg-config" {
	DESTDIR="$PWD/root" meson install -C "$WAYMARK_BUILD" --no-rebuild --quiet
	pc=$(find root -name waymark.pc)
	prefix=$(dirname "$(dirname "$(find "$PWD/root" -path '*/bin/waymark')")")
	flags=$(PKG_CONFIG_PATH=$(dirname "$pc") pkg-config --define-variable=prefix="$prefix" \
		--cflags --libs waymark)
	[[ $flags != *"$WAYMARK_SOURCE/include"* ]]
	export LD_LIBRARY_PATH
	LD_LIBRARY_PATH=$(dirname "$(dirname "$PWD/$pc")")
	"$waymark" record -q -o own -- "$WAYMARK_BUILD/examples/hello" >/dev/null
	cp "$WAYMARK_SOURCE/examples/read.c" read.cc
	for compile in "gcc -std=c99" "gcc -std=c11" "g++ -std=c++11"; do
		source="$WAYMARK_SOURCE/examples/read.c"
		[[ $compile != g++* ]] || source=read.cc
		$compile -Wall -Wextra -Werror "$source" -o read $flags
		[ "$(./read own | wc -l)" -eq 3 ]
	done
}

@test "reading allocates by packet, not by event" {
	nm "$WAYMARK_BUILD/libwaymark.so.1" | grep -qE '__[at]san_init' && skip "sanitizers allocate themselves"
	cat >many.c <<-'END'
	#include <waymark/tracepoint.h>
	WAYMARK_EVENT(many, one, WAYMARK_ARGS(int, n), WAYMARK_FIELDS((i32, n, n), (str, s, "text")));
	int main(void)
	{
		for (int n = 0; n < 50000; n++)
			trace_event(many, one, n);
	}
	END
	gcc -O2 -I"$WAYMARK_SOURCE/include" many.c -o many -L"$WAYMARK_BUILD" \
		-Wl,--no-as-needed,-rpath,"$WAYMARK_BUILD" -lwaymark-rt
	"$waymark" record -q --mode block -o own -- ./many
	gcc -O2 -D_GNU_SOURCE -fPIC -shared "$WAYMARK_SOURCE/test/data/count_malloc.c" -o count_malloc.so
	truncate -s 4096 counts
	COUNT_FILE="$PWD/counts" LD_PRELOAD="$PWD/count_malloc.so" "$WAYMARK_BUILD/examples/read" own >out
	[ "$(wc -l <out)" -eq 50000 ]
	read -r allocs _ callocs reallocs memaligns < <(od -An -t d8 -w40 -N 40 counts)
	[ "$allocs" -gt 0 ]
	[ $((allocs + callocs + reallocs + memaligns)) -lt 2500 ]
}
