#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# user.bats - tests tools/vm: a command on Debian's own kernel, under emulation; and recordings of
# programs there.

bats_require_minimum_version 1.7.0
load setup_suite
load ../wait

setup() {
	vm_setup user
}

# Prints the number of orders in the text of a recording.
orders() {
	grep -c shop:order "$1.text"
}

@test "the machine runs Debian's kernel, with kprobes and the function tracer" {
	cat "$W/out" "$W/err" script.err
	[ -e done ]
	[ "$(cat release)" = "$(cat "$W/release")" ]
	[ "$(cat kprobe_events)" -eq 0 ]
	[ "$(cat functions)" -gt 10000 ]
	grep -q '^waymark [0-9]' version
}

@test "a command is recorded; the trace is the same outside, and for babeltrace2" {
	[ "$(cat plain.status)" -eq 0 ]
	[ "$(orders plain)" -eq 1000 ]
	[[ "$(cat plain.err)" == "waymark: 1000 events, "*" from 1 process, 0 lost: plain" ]]
	"$WAYMARK_BUILD/waymark" print --all plain | cmp - plain.text
	[ "$(babeltrace2 plain | grep -c shop:order)" -eq 1000 ]
}

@test "the emulated CPU's counter is not to be trusted: the trace is on the monotonic clock" {
	grep -qw nonstop_tsc cpuinfo && skip "this emulator's counter is"
	grep '^clock *monotonic,' plain.info
}

@test "statuses, a death by SIGKILL, children, a preloaded runtime" {
	[ "$(cat exit.status)" -eq 42 ]
	[ "$(orders exit)" -eq 10 ]
	[ "$(cat killed.status)" -eq 137 ]
	[ "$(orders killed)" -eq 5000 ]
	[ "$(cat forks.status)" -eq 0 ]
	[ "$(orders forks)" -eq 150 ]
	[ "$(cat preloaded.status)" -eq 0 ]
	[ "$(orders preloaded)" -eq 10 ]
	grep -q 'malloc:alloc.*size = 4321' preloaded.text
}

@test "a running program is attached to, its sites flipped from outside" {
	[ "$(cat attached.status)" -eq 0 ]
	[ ! -s attached.err ]
	[ "$(orders attached)" -gt 20 ]
}

@test "the recorder killed: its pump ends the trace; all killed: what is whole is read" {
	[ "$(cat orphan.status)" -eq 0 ]
	[ "$(orders orphan)" -gt 20 ]
	cat both.repair both.print_err
	[ "$(cat both.status)" -eq 0 ]
	[ "$(orders both)" -gt 20 ]
	[ "$(babeltrace2 both | grep -c shop:order)" -eq "$(orders both)" ]
}

@test "the command's status is the machine's; a killed command's too" {
	[ "$(cat "$W/status")" -eq 7 ]
	[ "$(cat "$W/out")" = "$VM_RESULTS"$'\n'"$(stat -c %s app)" ]
	grep -qx words "$W/err"
	run -137 "$VM" sh -c 'kill -9 $$'
}

@test "a panic and a time limit are distinguished, with the kernel's last messages" {
	run -125 "$VM" sh -c 'echo before; echo c >/proc/sysrq-trigger'
	[ "${lines[0]}" = before ]
	[[ "$output" == *"vm: kernel message: Kernel panic - not syncing: sysrq triggered crash"* ]]
	[[ "$output" == *"vm: the kernel stopped before the command ended"* ]]
	run -124 "$VM" -t 2 sleep 100
	[[ "$output" == *"vm: stopped, because it still ran after 2 s;"* ]]
}

@test "interrupted or killed, nothing of it is left" {
	local signal pid
	for signal in INT KILL; do
		env --default-signal=INT "$VM" sleep 100 3>&- &
		pid=$!
		until_true pgrep -P $pid qemu
		qemu=$(pgrep -P $pid qemu)
		kill -$signal $pid
		wait $pid || true
		until_true [ ! -e "/proc/$qemu" ]
	done
}
