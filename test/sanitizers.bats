#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The whole platform and its unit tests once more, under the sanitizers. The
# guest's code is built without them on purpose: it lives in other programs.
# What it does in sanitized programs is test/torture_sanitizers.bats' business.

# Builds in a folder of its own and runs the unit tests there: $1 name, $2 meson's b_sanitize.
under() {
	local dir=$WAYMARK_BUILD/$1
	"$WAYMARK_SOURCE/tools/configure" "$dir" "-Db_sanitize=$2" -Db_lundef=false -Doptimization=1
	ninja -C "$dir" unit-tests >"$dir/build.log" 2>&1 || { tail -40 "$dir/build.log"; return 1; }
	meson test -C "$dir" --no-rebuild --suite unit --print-errorlogs --timeout-multiplier 4 >"$dir/test.log" 2>&1 ||
		{ tail -80 "$dir/test.log"; return 1; }
	! grep -h 'runtime error:' "$dir"/meson-logs/testlog.txt
}

@test "unit tests are clean under AddressSanitizer and UndefinedBehaviorSanitizer" {
	export UBSAN_OPTIONS=print_stacktrace=1
	under asan address,undefined
}

@test "unit tests are clean under ThreadSanitizer" {
	under tsan thread
}
