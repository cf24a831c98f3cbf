#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The whole platform and its unit tests once more, under the sanitizers. The
# guest's code is built without them on purpose: it lives in other programs.
# What it does in sanitized programs is test/torture_sanitizers.bats' business.

load torture/common

# Builds in a folder of its own and runs unit tests there: $1 name, $2 meson's
# b_sanitize, then the tests (none: all).
under() {
	local dir=$WAYMARK_BUILD/$1
	"$WAYMARK_SOURCE/tools/configure" "$dir" "-Db_sanitize=$2" -Db_lundef=false -Doptimization=1
	shift 2
	ninja -C "$dir" unit-tests >"$dir/build.log" 2>&1 || { tail -40 "$dir/build.log"; return 1; }
	meson test -C "$dir" --no-rebuild --suite unit --print-errorlogs --timeout-multiplier 4 "$@" >"$dir/test.log" 2>&1 ||
		{ tail -80 "$dir/test.log"; return 1; }
	[ -z "$(grep -h 'runtime error:' "$dir"/meson-logs/testlog.txt)" ]
}

@test "unit tests are clean under AddressSanitizer and UndefinedBehaviorSanitizer" {
	export UBSAN_OPTIONS=print_stacktrace=1
	under asan address,undefined
}

@test "so is a recorder of programs that mean ill" {
	torture_setup_file
	torture_build hostile -I"$WAYMARK_SOURCE/src"
	ninja -C "$WAYMARK_BUILD/asan" waymark >"$W/build.log" 2>&1 || { tail -40 "$W/build.log"; return 1; }
	export ASAN_OPTIONS=log_path="$W/asan" UBSAN_OPTIONS=log_path="$W/ubsan" TORTURE_TALLY="$W/tally"
	"$WAYMARK_BUILD/asan/waymark" record -q --preload none -o "$W/trace" -- \
		env LD_PRELOAD="$WAYMARK_BUILD/libwaymark-rt.so.0" "$W/hostile" "$(torture_count 3000 30000)"
	torture_check
	"$WAYMARK_BUILD/asan/waymark" print "$W/trace" | grep -c ' torture:'
	"$WAYMARK_BUILD/asan/waymark" info --repair "$W/trace"
	"$WAYMARK_BUILD/asan/waymark" record -q --preload none -o "$W/sound" -- "$WAYMARK_BUILD/examples/hello"
	"$WAYMARK_BUILD/asan/waymark" info --verify "$W/sound"
	if cat "$W"/*san.[0-9]*; then return 1; fi
}

@test "rings, pump, sockets and passes in parts are clean under ThreadSanitizer" {
	# Those in which threads or processes meet; the others would only be slow.
	under tsan thread ring-pool_test ring-pool_crowd_test collect-pump_test \
		collect-snapshot_test collect-hostile_test control-session-member_test base-loop_test analysis-pass_parts_test
}
