#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# probe.bats - tests facilities that the kernels of test machines may lack, on Debian's kernel in
# the machine of tools/vm: kprobes with arguments typed by BTF, probes on events, the function
# tracer, triggers with histograms and snapshots, synthetic events; and that all of it is removed
# when the recorder ends.

bats_require_minimum_version 1.7.0
load setup_suite

setup() {
	vm_setup probe
}

taken() { # NAME [STATUS]
	cat "$W/err" script.err "$1.err"
	[ "$(cat "$1.status")" -eq "${2-0}" ]
	run -0 --separate-stderr babeltrace2 "$1"
	[ -z "$stderr" ]
	echo "$output" >"$1.fields"
}

@test "kprobes fetch parameters by name, with the kernel's types; returns too" {
	cat script.err
	[ -e done ]
	taken typed
	grep -q 'kprobe:vfs_write: .* f_flags = [0-9]*, count = 6, buf = 0x[0-9A-F]*, name = "written" }' typed.fields
	grep -q 'kretprobe:vfs_write: .* retval = 6 }' typed.fields
	taken all
	grep -q 'kprobe:vfs_write: .* file = 0x[0-9A-F]*, buf = .*, count = 6, pos = 0x[0-9A-F]* }' all.fields
	grep -q 'kprobe:vfs_write+5: .* di = 0x' all.fields
	taken open
	grep -q "kprobe:do_sys_openat2: .* arg2 = \"$PWD/there\", dfd = -100 }" open.fields
}

@test "a probe on an event fetches what its pointers point to" {
	taken event
	grep -q "eprobe:syscalls:sys_enter_openat: .* file = \"$PWD/there\", flags = 0 }" event.fields
}

@test "functions of the kernel: by its tracer, by pairs of probes" {
	taken function
	[ "$(grep -c ' ftrace:function: ' function.text)" -gt 2 ]
	run -1 grep -vc ' cat:\| sh:\| waymark:' function.text
	taken both
	grep -q 'kprobe:vfs_read: ' both.text
	grep -q 'kretprobe:vfs_read: ' both.text
}

@test "triggers: histograms and snapshots are in the trace; stacks after events" {
	taken hist 3
	# The snapshot takes what the rings contain at the first of them: the first event, and its stack,
	# unless they were read before.
	local events stacks
	events=$(grep -c 'sys_getpgid(pid' hist/kernel/snapshot) || true
	stacks=$(grep -c '<stack trace>' hist/kernel/snapshot) || true
	[ "$events" -le 1 ]
	[ $(($(grep -c 'sys_enter_getpgid: ' hist.text) + events)) -eq 50 ]
	[ $(($(grep -c 'ftrace:kernel_stack: ' hist.text) + stacks)) -eq 50 ]
	grep -q 'Hits: 50$' hist/kernel/histograms
	grep -q '^# tracer: nop' hist/kernel/snapshot
	grep -q 'histograms and snapshots are in hist/kernel' hist.err
}

@test "synthetic events that histograms make are recorded under the name they were given" {
	taken synthetic 3
	local made='synthetic:pgid_time: .* ns = [1-9][0-9]*, id = '
	[ "$(grep -c "$made" synthetic.fields)" -eq 50 ] || {
		grep -v "$made" synthetic.fields
		false
	}
	run ! grep 'no event matched' synthetic.err
	grep -q "'synthetic:late' is created by --synthetic and cannot have a --filter" refused_late.err
}

@test "a histogram of times leaves the recording's clock, and keeps the snapshot of its action" {
	taken clock 3
	# The kernel would take the clock "global" of its own accord.
	grep -q '\[mono\]' clock.out
	grep -q 'sys_enter_getpgid: ' clock.text
	[ -s clock/kernel/snapshot ]
	cat refused_trigger.err
	[ "$(tr '\n' ' ' <refused_trigger.status)" = "2 2 " ]
	grep -q "a trigger's clock 'global' would apply to all recorded events" refused_trigger.err
}

@test "uprobes with debug information on that kernel" {
	taken user 3
	[ "$(grep -c 'uprobe:calls:tick: .* i = ' user.fields)" -eq 20 ]
	[ "$(grep -c 'uretprobe:calls:tick: .* retval = ' user.fields)" -eq 20 ]
}

@test "what cannot be had is said with the reason" {
	cat refused.err refused.status
	[ "$(tr '\n' ' ' <refused.status)" = "4 4 4 4 2 4 " ]
	grep -q "did you mean 'count'" refused.err
	grep -q "no such member" refused.err
	grep -q "did you mean 'next_comm'" refused.err
	grep -q "cannot make the synthetic event 'bad nosuch_t x': Invalid type" refused_synthetic.err
}

@test "nothing remains, even when all of it is killed" {
	[ ! -s clean ]
	[ "$(grep -c waymark_ killed.before)" -eq 2 ]
	cat killed.between killed.after killed.instances
	[ "$(grep -c waymark_ killed.between)" -ge 1 ]
	[ ! -s killed.after ]
	[ ! -s killed.instances ]
}
