#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# torture_process.bats - programs fork, exec, and end threads in every way while they trace: each
# process and thread records its own events, and nothing leaks.

bats_require_minimum_version 1.5.0
load torture/common

setup_file() {
	torture_setup_file
	torture_build process
}

setup() {
	cd "$BATS_TEST_TMPDIR"
}

mode() {
	torture_record -- "$W/process" "$@"
	torture_check
}

@test "fork and clone three deep, with threads that trace" {
	mode deep "$(torture_count 5 200)"
}

@test "a child's threads trace before the one that forked" {
	mode heirs "$(torture_count 40 2000)"
}

@test "processes that come and go, and the command's end, while the pump sleeps" {
	mode storm "$(torture_count 700 3000)"
}

@test "vfork and exec, in four threads" {
	mode vfork_exec "$(torture_count 1500 100000)"
}

@test "posix_spawn, clone with shared memory, forks in a handler" {
	mode spawn "$(torture_count 300 10000)"
	mode clone_vm "$(torture_count 200 10000)"
	mode handler_forks "$(torture_count 300 10000)"
}

@test "short-lived threads without growth" {
	mode short_threads "$(torture_count 20000 1000000)"
}

@test "main ends before its threads; threads are canceled, with destructors that trace" {
	mode exit_main
	mode cancel "$(torture_count 500 20000)"
}

@test "a chain of exec, each image with its own" {
	mode exec_chain "$(torture_count 100 1000)"
}

@test "no descriptor of ours reaches a program that is not traced" {
	env ls -1 /proc/self/fd >without
	torture_record -q -- "$W/process" exec_untraced >with
	diff without with
}

@test "the program closes every descriptor and uses their numbers" {
	mode closes_all
	mode daemonize
}

@test "few descriptors, small files, another root" {
	mode few_descriptors
	mode small_files
	[ "$(id -u)" != 0 ] || mode changes_root
}
