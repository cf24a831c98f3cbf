#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# sanitizers.bats - builds the platform and its unit tests with sanitizers and runs them: all unit
# tests under AddressSanitizer and UndefinedBehaviorSanitizer, those with threads under
# ThreadSanitizer (WAYMARK_LONG=1: all). The guest's code is built without sanitizers, because it
# runs inside other programs.

load torture/common

# Configures a build folder: $1 name, $2 meson's b_sanitize. Builds without optimization, because
# optimizing takes more time than it saves.
configure() {
	dir=$WAYMARK_BUILD/$1
	"$WAYMARK_SOURCE/tools/configure" "$dir" "-Db_sanitize=$2" -Db_lundef=false -Doptimization=0
}

build() {
	ninja -C "$dir" "$@" >"$dir/build.log" 2>&1 || { tail -40 "$dir/build.log"; return 1; }
}

# Runs the given unit tests of the folder; without names, all.
units() {
	meson test -C "$dir" --no-rebuild --suite unit --print-errorlogs --timeout-multiplier 4 "$@" >"$dir/test.log" 2>&1 ||
		{ tail -80 "$dir/test.log"; return 1; }
	! grep -h -A 6 'runtime error:' "$dir"/meson-logs/testlog.txt || return 1
}

# Prints the command that links a target: $1 build folder, $2 target.
linking() {
	ninja -C "$1" -t commands "$2" | tail -n 1
}

# Builds a unit test from only those objects of the platform that the linker uses for it in the
# plain build: for most tests, a few of several hundred.
build_alone() {
	local link objects
	objects=$(cd "$WAYMARK_BUILD" && eval "$(linking "$WAYMARK_BUILD" "$1") -fuse-ld=bfd -Wl,--trace -o /dev/null" |
		grep -o 'libwaymark-platform\.a\.p/.*\.o' | sort -u | paste -sd ' ')
	link=$(linking "$dir" "$1")
	build $objects $(grep -o "$1\.p/[^ ]*\.o" <<<"$link")
	(cd "$dir" && eval "${link/libwaymark-platform.a/$objects}")
}

@test "unit tests are clean under AddressSanitizer and UndefinedBehaviorSanitizer" {
	export UBSAN_OPTIONS=print_stacktrace=1
	configure asan address,undefined
	build unit-tests
	units
}

@test "so is a recorder of programs that mean ill" {
	torture_setup_file
	torture_build hostile -I"$WAYMARK_SOURCE/src"
	configure asan address,undefined
	build waymark
	export ASAN_OPTIONS=log_path="$W/asan" UBSAN_OPTIONS=log_path="$W/ubsan" TORTURE_TALLY="$W/tally"
	"$dir/waymark" record -q --preload none -o "$W/trace" -- \
		env LD_PRELOAD="$WAYMARK_BUILD/libwaymark-rt.so.0" "$W/hostile" "$(torture_count 3000 30000)"
	torture_check
	"$dir/waymark" print "$W/trace" | grep -c ' torture:'
	"$dir/waymark" info --repair "$W/trace"
	"$dir/waymark" record -q --preload none -o "$W/sound" -- "$WAYMARK_BUILD/examples/hello"
	"$dir/waymark" info --verify "$W/sound"
	if cat "$W"/*san.[0-9]*; then return 1; fi
}

@test "rings, pump, loop and passes in parts are clean under ThreadSanitizer" {
	configure tsan thread
	if [ -n "${WAYMARK_LONG-}" ]; then
		build unit-tests
		units
		return
	fi
	for one in ring-pool_test ring-pool_crowd_test collect-pump_test collect-snapshot_test collect-hostile_test \
		base-loop_test analysis-pass_parts_test; do
		build_alone "$one"
		# Runs without the corpus, which adds no threads: the generated recordings cover all
		# parts.
		env -u WAYMARK_CORPUS "$dir/$one" >"$dir/test.log" 2>&1 || { tail -80 "$dir/test.log"; return 1; }
	done
}
