#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# filter.bats - checks that the results that src/event/filter_test.c expects are those of the second
# evaluator, and that the code that runs inside programs calls only waymark's functions.

bats_require_minimum_version 1.5.0

@test "the expected results are those of the reference" {
	run -0 "$WAYMARK_SOURCE/test/data/filter_cases.py" --check
	[[ "$output" == *" 0 wrong" ]]
}

# Compiles one file as for the runtime library, and lists its undefined symbols.
needs() {
	"${CC:-gcc}" -std=gnu11 -D_GNU_SOURCE -I"$WAYMARK_SOURCE/include" -I"$WAYMARK_SOURCE/src" -fPIC \
		-fno-stack-protector -fno-builtin -DWM_GUEST "$@" -o "$BATS_TEST_TMPDIR/needs.o"
	nm -u "$BATS_TEST_TMPDIR/needs.o" | awk '{ print $2 }'
}

@test "guest code of filters needs no libc" {
	for level in -O0 -O2 -O3; do
		for file in filter_link filter_run; do
			run -0 needs "$level" -mgeneral-regs-only -c "$WAYMARK_SOURCE/src/event/$file.c"
			[ -n "$output" ]
			[ -z "$(grep -v '^wm_' <<<"$output")" ]
		done
		run -0 needs "$level" -c "$WAYMARK_SOURCE/src/event/filter_float.c"
		[ "$output" = wm_filter_exec ]
	done
}
