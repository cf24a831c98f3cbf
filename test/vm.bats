#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# vm.bats - tools/vm: a command on Debian's own kernel, under emulation; and what waymark records of
# programs there. One boot serves the facts of vm_user.sh; the tests look at what it left.

bats_require_minimum_version 1.5.0

setup_file() {
	export W="$BATS_FILE_TMPDIR" VM="$WAYMARK_SOURCE/tools/vm" BATS_TEST_TIMEOUT=3000
	"$VM" --prepare >"$W/release" 2>"$W/why" || {
		[ $? -eq 77 ]
		return 0
	}
	cat >"$W/app.c" <<-'EOF'
	#include <signal.h>
	#include <stdlib.h>
	#include <string.h>
	#include <sys/wait.h>
	#include <unistd.h>
	#include <waymark/tracepoint.h>
	WAYMARK_EVENT(shop, order, WAYMARK_ARGS(int, id), WAYMARK_FIELDS((i32, id, id)));
	static void orders(int n)
	{
		for (int i = 0; i < n; i++)
			trace_event(shop, order, i);
	}
	int main(int argc, char **argv)
	{
		const char *how = argv[1];
		orders(argc > 2 ? atoi(argv[2]) : 0);
		void *volatile some = malloc(4321);
		free(some);
		if (!strcmp(how, "exit"))
			return 42;
		if (!strcmp(how, "kill"))
			raise(SIGKILL);
		if (!strcmp(how, "fork") && fork() == 0) {
			orders(50);
			_exit(0);
		}
		if (!strcmp(how, "fork"))
			wait(NULL);
		if (!strcmp(how, "run")) {
			(void)!write(1, "ready\n", 6);
			for (;;) {
				orders(1);
				usleep(1000);
			}
		}
		return 0;
	}
	EOF
	cc -O2 -I"$WAYMARK_SOURCE/include" "$W/app.c" -o "$W/bare"
	cc -O2 -I"$WAYMARK_SOURCE/include" "$W/app.c" -o "$W/app" -L"$WAYMARK_BUILD" \
		-Wl,--no-as-needed -l:libwaymark-rt.so.0 -Wl,-rpath,"$WAYMARK_BUILD"
	mkdir "$W/r"
	mv "$W/app" "$W/bare" "$W/r"
	local script=$WAYMARK_SOURCE/test/data/vm_user.sh
	"$VM" -t 480 -f "$script" -d "$W/r" sh "$script" "$W/r" >"$W/out" 2>"$W/err" || true
}

setup() {
	[ -s "$W/release" ] || skip "$(cat "$W/why"): nothing was run in it"
	cd "$W/r"
}

# How many orders the text of a recording has.
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
	run -7 --separate-stderr "$VM" -d "$W/r" sh -c 'pwd; cat app | wc -c; echo words >&2; exit 7'
	[ "${lines[0]}" = "$PWD" ]
	[ "${lines[1]}" -eq "$(stat -c %s app)" ]
	[ "$stderr" = words ]
	run -137 "$VM" sh -c 'kill -9 $$'
}

@test "a panic and a time limit are told apart, with the kernel's last words" {
	run -125 "$VM" sh -c 'echo before; echo c >/proc/sysrq-trigger'
	[ "${lines[0]}" = before ]
	[[ "$output" == *"vm: the kernel said: Kernel panic - not syncing: sysrq triggered crash"* ]]
	[[ "$output" == *"vm: the kernel stopped before the command ended"* ]]
	run -124 "$VM" -t 2 sleep 100
	[[ "$output" == *"vm: still running after 2 s: ended."* ]]
}

@test "interrupted or killed, nothing of it is left" {
	local signal pid
	for signal in INT KILL; do
		env --default-signal=INT "$VM" sleep 100 3>&- &
		pid=$!
		for _ in $(seq 600); do
			qemu=$(pgrep -P $pid qemu) && break
			sleep 0.1
		done
		[ -n "$qemu" ]
		kill -$signal $pid
		wait $pid || true
		for _ in $(seq 1200); do
			[ -e "/proc/$qemu" ] || break
			sleep 0.05
		done
		[ ! -e "/proc/$qemu" ]
	done
}
