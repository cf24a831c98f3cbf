#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# python.bats - tests the package in bindings/python, on traces recorded here and on real ones.

bats_require_minimum_version 1.5.0

setup_file() {
	local flags= lib="$WAYMARK_BUILD/libwaymark-platform.a"
	cd "$BATS_FILE_TMPDIR"
	if nm "$lib" 2>/dev/null | grep -qE '__asan_init|__tsan_init'; then
		skip "python does not load a library built with sanitizers"
	fi
	gcc -std=gnu11 -D_GNU_SOURCE $flags -I"$WAYMARK_SOURCE/include" -I"$WAYMARK_SOURCE/src" \
		"$WAYMARK_SOURCE/test/data/make_trace.c" "$lib" \
		$(sed -n 's/.*make_trace.c" "$lib" \(.*\) \\$/\1/p' "$WAYMARK_SOURCE/test/print.bats") \
		-o make_trace
	./make_trace own ctf-1.8
	./make_trace other ctf-1.8
	cp -r own damaged
	truncate -s 1000 damaged/user-1-0
}

setup() {
	cd "$BATS_FILE_TMPDIR"
	export WAYMARK="$WAYMARK_BUILD/waymark" WAYMARK_LIBRARY="$WAYMARK_BUILD/libwaymark.so.1"
	export HELLO="$WAYMARK_BUILD/examples/hello"
	export OWN="$PWD/own" OTHER="$PWD/other" DAMAGED="$PWD/damaged" CORPUS="${WAYMARK_CORPUS:-}"
	export PYTHONPATH="$WAYMARK_SOURCE/bindings/python" PYTHONDONTWRITEBYTECODE=1
}

@test "the package returns what print prints, and more" {
	run python3 "$WAYMARK_SOURCE/bindings/python/tests/test_waymark.py" -q
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *Ran\ [12][0-9]\ tests* ]]
}

@test "its README's program runs" {
	sed -n '/^```python$/,/^```$/p' "$WAYMARK_SOURCE/bindings/python/README.md" | sed '/^```/d' >program.py
	[ -s program.py ]
	sed -i 's/"trace"/"own"/' program.py
	python3 program.py
}
