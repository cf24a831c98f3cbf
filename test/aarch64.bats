#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# aarch64.bats - tests the runtime and the matrix program, cross-compiled, under qemu-user: sites
# are counted, patched and executed, and callbacks preserve the vector registers, with SVE and
# without.

bats_require_minimum_version 1.5.0

setup_file() {
	export W="$BATS_FILE_TMPDIR"
	cd "$WAYMARK_SOURCE"
	# The compiler flags of the guest, as in meson.build.
	local flags=(-std=gnu11 -O2 -D_GNU_SOURCE -fvisibility=hidden -fno-stack-protector -fno-builtin
		-fno-tree-loop-distribute-patterns -DWM_GUEST -fPIC -ftls-model=initial-exec
		-mno-outline-atomics -Iinclude -Isrc -Wall -Wextra -Werror -Wno-unused-parameter
		-Wno-sign-compare -Wno-missing-field-initializers) file
	for file in $(tools/sources --guest); do
		echo "-mgeneral-regs-only -c $file -o $W/$(basename "$file").o"
	done >"$W/list"
	echo "-c src/event/filter_float.c -o $W/filter_float.o" >>"$W/list"
	echo "-c src/runtime/entry_aarch64.S -o $W/entry.o" >>"$W/list"
	xargs -P 2 -L 1 aarch64-linux-gnu-gcc "${flags[@]}" <"$W/list"
	aarch64-linux-gnu-ar rcs "$W/libwaymark-rt.a" "$W"/*.o
	aarch64-linux-gnu-gcc -shared "$W"/*.o -o "$W/libwaymark-rt.so.0" -Wl,-soname,libwaymark-rt.so.0 \
		-Wl,-z,now -Wl,-z,initfirst -Wl,-z,nodelete -Wl,--version-script=src/runtime/exports.map
	ln -sf libwaymark-rt.so.0 "$W/libwaymark-rt.so"
}

# Builds the matrix program for aarch64 and runs it on two kinds of CPU: $1 language standard, $2 kind.
marks() {
	mkdir -p "$W/$1-$2" && cd "$W/$1-$2"
	WAYMARK_BUILD=$W CROSS=aarch64-linux-gnu- RUN="qemu-aarch64 -cpu cortex-a57 -L /usr/aarch64-linux-gnu" \
		"$WAYMARK_SOURCE/test/matrix/build" . gcc "$1" "${3:--O2}" "$2" bfd "${@:4}"
	run -0 qemu-aarch64 -cpu max -L /usr/aarch64-linux-gnu ./program
	[ "$output" = ok ]
}

@test "C, a static program" {
	marks gnu11 static
}

@test "C++, a static program" {
	marks c++17 static
}

@test "C, with shared libraries and a module" {
	marks gnu11 pie
	marks gnu11 pic -O0
}

@test "C++, with shared libraries and a module" {
	marks c++20 pie -O3
}

@test "load and test" {
	marks gnu11 static -O2 -DWAYMARK_LOADTEST
}
