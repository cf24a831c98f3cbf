#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# matrix.bats - tests marks of every kind with every compiler, standard, optimisation, code model
# and linker: sites are counted, and at run time each must be hit exactly as often as expected. See
# test/matrix/. WAYMARK_LONG=1 runs all combinations.

bats_require_minimum_version 1.5.0

# Builds and runs each line of standard input: COMPILER STANDARD -OPT KIND LINKER [FLAG...].
builds() {
	local dir=$BATS_TEST_TMPDIR
	xargs -d '\n' -P 2 -I{} bash -c \
		'w=$(mktemp -d "$0/XXXXXX") && "$WAYMARK_SOURCE/test/matrix/build" "$w" $1; r=$?; rm -rf "$w"; exit $r' \
		"$dir" {}
}

@test "compilers x standards x optimisation x kinds of code x linkers, pairwise" {
	# Each value of a column is combined with each value of every other column.
	builds <<-'END'
	clang c++11 -O0 pic lld
	clang c++11 -O3 static gold
	clang c++17 -O0 static bfd
	clang c++17 -O3 pie lld
	clang c++20 -O2 static lld
	clang c++20 -O3 pic bfd
	clang gnu11 -O0 pic bfd
	gcc c++11 -O2 pie bfd
	gcc c++17 -O2 pic gold
	gcc c++20 -O0 pie gold
	gcc gnu11 -O2 static lld
	gcc gnu11 -O3 pie gold
	END
}

@test "with link-time optimisation" {
	builds <<-'END'
	gcc gnu11 -O2 pie bfd -flto
	gcc c++17 -O3 pic gold -flto
	clang gnu11 -O2 pie lld -flto
	clang c++20 -O3 pic lld -flto=thin
	END
}

@test "a runtime inside the program, and a library that loads the shared one" {
	builds <<-'END'
	gcc gnu11 -O2 two bfd
	clang c++17 -O2 two lld
	END
}

@test "load and test instead of patched code; notes for other tools; odd levels" {
	builds <<-'END'
	gcc gnu11 -O2 pie bfd -DWAYMARK_LOADTEST
	clang c++17 -O2 pic lld -DWAYMARK_LOADTEST
	gcc c++20 -O2 pie bfd -DWAYMARK_SDT
	clang gnu11 -O2 static lld -DWAYMARK_SDT
	gcc gnu11 -Og pie bfd
	clang gnu11 -Os pie bfd
	gcc c++11 -O1 pie bfd -fno-exceptions -fno-rtti
	END
}

@test "under the sanitizers" {
	builds <<-'END'
	gcc gnu11 -O1 pie bfd -fsanitize=address,undefined
	clang c++17 -O2 pie lld -fsanitize=address
	gcc c++17 -O2 pie bfd -fsanitize=thread
	END
}

@test "all combinations (WAYMARK_LONG=1)" {
	[ -n "${WAYMARK_LONG-}" ] || skip "long: 216 builds"
	for compiler in gcc clang; do
		for standard in gnu11 c++11 c++17 c++20; do
			for optimisation in -O0 -O2 -O3; do
				for kind in pic pie static; do
					for linker in bfd gold lld; do
						echo "$compiler $standard $optimisation $kind $linker"
					done
				done
			done
		done
	done | builds
}
