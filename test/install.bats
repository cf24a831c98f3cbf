#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# install.bats - checks that the files that `meson install` installs suffice: the examples are built
# with pkg-config outside of the tree, linked in every way, and recorded with the installed command.

bats_require_minimum_version 1.5.0

setup_file() {
	export W="$BATS_FILE_TMPDIR"
	DESTDIR="$W/root" meson install -C "$WAYMARK_BUILD" --no-rebuild --quiet
	local pc
	pc=$(find "$W/root" -name waymark-rt.pc)
	[ -n "$pc" ]
	export PREFIX LIBDIR PKG_CONFIG_PATH
	PKG_CONFIG_PATH=$(dirname "$pc")
	LIBDIR=$(dirname "$PKG_CONFIG_PATH")
	PREFIX=$(dirname "$(dirname "$(find "$W/root" -path '*/bin/waymark')")")
	cp -r "$WAYMARK_SOURCE/examples" "$W/src"
}

setup() {
	cd "$W/src"
	PATH="$PREFIX/bin:$PATH"
	export LD_LIBRARY_PATH="$LIBDIR"
	command -v pkg-config
	FLAGS=$(pkg-config --define-variable=prefix="$PREFIX" --cflags --libs waymark-rt)
	OUT="$BATS_TEST_TMPDIR"
}

# Records a program that was built outside of the tree; its trace must contain the given number of
# events.
records() {
	local count=$1
	rm -rf "$OUT/T"
	run -0 --separate-stderr waymark record -o "$OUT/T" -- "${@:2}"
	[[ $stderr == "waymark: $count events, "*" 0 lost: "* ]]
	[ "$(waymark print --jsonl "$OUT/T" | wc -l)" -eq "$count" ]
}

@test "no file of the source or build folder is needed" {
	[[ $FLAGS == *"-I$PREFIX/include"* ]]
	[[ $FLAGS != *"$WAYMARK_SOURCE"* && $FLAGS != *"$WAYMARK_BUILD"* ]]
	[ -e "$PREFIX/include/waymark/tracepoint.h" ]
	run -0 readelf -d "$PREFIX/bin/waymark"
	[[ $output != *PATH*"$WAYMARK_BUILD"* ]]
	[[ $(command -v waymark) == "$PREFIX"* ]]
}

@test "C examples by pkg-config, with gcc and clang" {
	for cc in gcc clang; do
		command -v $cc || continue
		for pair in hello:3 marker:10 span:14 probe:4; do
			name=${pair%:*}
			$cc -O2 -Wall -Wextra -Werror $name.c -o "$OUT/$name" -pthread $FLAGS
			readelf -d "$OUT/$name" | grep -q 'NEEDED.*libwaymark-rt'
			records "${pair#*:}" "$OUT/$name"
		done
	done
}

@test "C++ by pkg-config" {
	for cxx in g++ clang++; do
		command -v $cxx || continue
		for std in c++11 c++20; do
			$cxx -std=$std -O2 -Wall -Wextra -Werror stack.cc -o "$OUT/stack" $FLAGS
			records 8 "$OUT/stack"
		done
	done
}

@test "as-needed linking, flags before or after the sources" {
	gcc -O2 -Wl,--as-needed hello.c -o "$OUT/after" $FLAGS
	gcc -O2 -Wl,--as-needed $FLAGS hello.c -o "$OUT/before"
	for name in after before; do
		readelf -d "$OUT/$name" | grep -q 'NEEDED.*libwaymark-rt'
		records 3 "$OUT/$name"
	done
}

@test "a library and its user" {
	gcc -O2 -fPIC -shared library/bank.c -o "$OUT/libbank.so" $FLAGS
	gcc -O2 library/customer.c -o "$OUT/customer" -L"$OUT" -lbank -Wl,-rpath,"$OUT"
	records 3 "$OUT/customer"
}

@test "statically: only the runtime, or the whole program" {
	cflags=$(pkg-config --define-variable=prefix="$PREFIX" --cflags waymark-rt)
	gcc -O2 $cflags probe.c -o "$OUT/own" -Wl,-u,waymark_module_register "$LIBDIR/libwaymark-rt.a"
	run -0 "$OUT/own"
	[ "$output" = "2 orders, 14.75" ]
	[[ $(readelf -d "$OUT/own") != *libwaymark-rt* ]]
	gcc -O2 -static $cflags probe.c -o "$OUT/static" -Wl,-u,waymark_module_register \
		"$LIBDIR/libwaymark-rt.a"
	run -0 "$OUT/static"
	[ "$output" = "2 orders, 14.75" ]
	records 4 "$OUT/static"
}

@test "schemas of JSON are installed" {
	diff -r "$WAYMARK_SOURCE/share/schema" "$PREFIX/share/waymark/schema"
}

@test "helpers have a folder of their own, beside no library that programs link" {
	[ "$(cd "$LIBDIR" && echo libwaymark-*.so)" = libwaymark-rt.so ]
	[ "$(cd "$LIBDIR/waymark" && echo *)" = "libwaymark-func.so libwaymark-malloc.so libwaymark-pthread.so" ]
}

# Records with the helpers of that prefix: by the command, without a search path for libraries, and
# by the library.
finds_helpers() {
	local lib="$1/${LIBDIR#"$PREFIX"/}"
	run -0 --separate-stderr env -u LD_LIBRARY_PATH "$1/bin/waymark" record -q -o "$OUT/T" \
		--preload malloc,pthread,func -- printenv LD_PRELOAD
	[[ $output == "$1/"*"/waymark/libwaymark-malloc.so:"* ]]
	[[ $output != *"$WAYMARK_BUILD"* ]]
	[[ $(waymark info "$OUT/T") == *malloc:alloc* ]]
	run -0 env LD_LIBRARY_PATH="$lib" "$OUT/tool" "$OUT/by_library"
	[[ $output == "$lib/waymark/libwaymark-malloc.so:"* ]]
	[[ $(waymark info "$OUT/by_library") == *malloc:alloc* ]]
	rm -rf "$OUT/T" "$OUT/by_library"
}

@test "the installed command and library find the installed helpers, also in a moved prefix" {
	cat >"$OUT/tool.c" <<-'END'
	#include <stdio.h>
	#include <waymark/record.h>
	int main(int argc, char **argv)
	{
		const char *command[] = {"printenv", "LD_PRELOAD", NULL};
		struct waymark_record_options options = {.size = sizeof(options), .folder = argv[1],
							 .command = command, .preload = "malloc"};
		struct waymark_error error = WAYMARK_INIT(error);
		struct waymark_recording *recording;
		if (waymark_record(&options, &recording, &error) ||
		    waymark_record_start(recording, &error) ||
		    waymark_record_wait(recording, -1, &error) < 0)
			return fprintf(stderr, "%s\n", error.text), 1;
		waymark_record_close(recording);
		return argc - 2;
	}
	END
	gcc -O2 -Wall -Wextra -Werror "$OUT/tool.c" -o "$OUT/tool" \
		$(pkg-config --define-variable=prefix="$PREFIX" --cflags --libs waymark)
	finds_helpers "$PREFIX"
	cp -r "$PREFIX" "$OUT/moved"
	finds_helpers "$OUT/moved"
}
