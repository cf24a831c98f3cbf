#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# run_tests.bats - tests tools/run-tests and tools/configure on a small tree: a test that was not
# built fails, and a package that is installed later is found.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR"
	mkdir -p tools src/base/deep test bench examples doc pc
	cp "$WAYMARK_SOURCE"/tools/run-tests "$WAYMARK_SOURCE"/tools/configure tools/
	export PKG_CONFIG_PATH="$PWD/pc"
	echo 'int main(void) { return 0; }' | tee src/base/one_test.c >src/base/deep/two_test.c
	printf '@test "whole" { true; }\n' >test/whole.bats
	cat >meson.build <<-'END'
	project('tiny', 'c')
	optional = dependency('waymark-tiny', required: false)
	test('base-one_test', executable('base-one_test', 'src/base/one_test.c'))
	if optional.found()
	  test('base-deep-two_test', executable('base-deep-two_test', 'src/base/deep/two_test.c'))
	endif
	test('whole', find_program('bats'), args: files('test/whole.bats'))
	END
}

install_package() {
	printf 'Name: tiny\nDescription: tiny\nVersion: 1\n' >pc/waymark-tiny.pc
}

build() {
	tools/configure build
	ninja -C build --quiet
}

@test "a test that was not built fails by name until its package is installed" {
	build
	run -1 tools/run-tests build
	[[ $output == *$'\nFAILED base-deep-two_test: not built'* ]]
	[[ $output == *$'\n2 of the 3 tests in the sources ran\n'* ]]
	[[ $output == *"2 passed, 1 failed, 0 skipped"* ]]
	run -1 tools/run-tests build base-deep-two_test

	install_package
	build
	run -0 tools/run-tests build
	[[ $output == *$'\n3 of the 3 tests in the sources ran\n'* ]]
	[[ $output == *"3 passed, 0 failed, 0 skipped"* ]]
	run -0 tools/run-tests build base-deep-two_test
}

@test "a skip because a package is missing fails the whole suite; other skips are counted by reason" {
	install_package
	printf '@test "%s" { skip "%s"; }\n' tool "the-tool is not installed" one "no corpus" two "no corpus" \
		>test/whole.bats
	cat >src/base/one_test.c <<-'END'
	#include <stdio.h>
	int main(void) { puts("[ RUN      ] test_x\nSKIPPED: no such clock\n[  SKIPPED ] test_x"); return 0; }
	END
	build
	run -1 tools/run-tests build
	[[ $output == *$'\nFAILED whole: tool: the-tool is not installed\n'* ]]
	[[ $output == *$'\nSKIPPED    2 no corpus\n'* ]]
	[[ $output == *$'\nSKIPPED    1 no such clock\n'* ]]
	[[ $output == *"2 passed, 1 failed, 0 skipped"* ]]
	# A test that is named on the command line may skip for any reason.
	run -0 tools/run-tests build whole
	[[ $output == *$'\nSKIPPED    1 the-tool is not installed\n'* ]]
}

@test "a build folder is configured again only when files or packages changed" {
	build
	stat -c %Y.%y build/build.ninja >before
	build
	stat -c %Y.%y build/build.ninja | cmp before -
	install_package
	build
	! stat -c %Y.%y build/build.ninja | cmp -s before - || false
}

@test "two runs in one build folder have a log each" {
	install_package
	build
	run -0 tools/run-tests build
	[[ $output != *"Another run"* ]]
	cp build/meson-logs/testlog.json first
	run -0 flock build/meson-logs/testlog.lock tools/run-tests build whole
	[[ $output == *"Another run of tests uses $PWD/build: the log of this one is meson-logs/testlog-2.txt"* ]]
	[[ $output == *"1 passed, 0 failed, 0 skipped"* ]]
	cmp first build/meson-logs/testlog.json
	[ "$(wc -l <build/meson-logs/testlog-2.json)" = 1 ]
}
