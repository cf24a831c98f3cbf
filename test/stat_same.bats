#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# stat_same.bats - counts one stopped process by perf stat, by a BPF program and from the stream of
# events at the same time: the numbers must be equal, whatever the scheduler does.

bats_require_minimum_version 1.5.0
load wait

setup_file() {
	export W="$BATS_FILE_TMPDIR"
	cat >"$W/tasks.c" <<-'END'
	#include <fcntl.h>
	#include <pthread.h>
	#include <signal.h>
	#include <string.h>
	#include <sys/wait.h>
	#include <unistd.h>
	static char **args;
	static void *work(void *data)
	{
		int fd = open("/dev/null", O_WRONLY);
		for (int i = 0; i < 100; i++) {
			(void)!write(fd, "xxxxxxx", 1 + i % 7);
			if (i % 5 == 0)
				usleep(10);
		}
		close(fd);
		return data;
	}
	/* A thread that is not the first executes the program anew. */
	static void *again(void *data)
	{
		char *with[] = {args[0], "last", NULL};
		work(data);
		execv(args[0], with);
		return data;
	}
	int main(int argc, char **argv)
	{
		pthread_t t;
		args = argv;
		if (argc == 1)
			raise(SIGSTOP);
		work(NULL);
		if (argc > 1)
			return 0;
		pthread_create(&t, NULL, work, NULL);
		pthread_join(t, NULL);
		if (fork() == 0)
			_exit(work(NULL) != NULL);
		wait(NULL);
		pthread_create(&t, NULL, again, NULL);
		pthread_join(t, NULL);
		return 1;
	}
	END
	cc -O2 -pthread "$W/tasks.c" -o "$W/tasks"
	cat >"$W/deny.c" <<-'END'
	/* deny WHAT CMD...: runs CMD where the kernel refuses bpf(2): all, load (programs only), attach. */
	#include <linux/bpf.h>
	#include <linux/filter.h>
	#include <linux/perf_event.h>
	#include <linux/seccomp.h>
	#include <errno.h>
	#include <stddef.h>
	#include <stdio.h>
	#include <string.h>
	#include <sys/prctl.h>
	#include <sys/syscall.h>
	#include <unistd.h>
	int main(int argc, char **argv)
	{
		int load = !strcmp(argv[1], "load"), attach = !strcmp(argv[1], "attach");
		struct sock_filter code[] = {
			BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, attach ? SYS_ioctl : SYS_bpf, 0, 3),
			BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[attach])),
			BPF_JUMP(BPF_JMP | (load || attach ? BPF_JEQ : BPF_JGE) | BPF_K,
				 attach ? PERF_EVENT_IOC_SET_BPF : load ? BPF_PROG_LOAD : 0, 0, 1),
			BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
			BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		};
		struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
			perror("deny");
			return 99;
		}
		execvp(argv[2], argv + 2);
		return 98;
	}
	END
	cc "$W/deny.c" -o "$W/deny"
}

setup() {
	PATH="$WAYMARK_BUILD:$PATH"
	cd "$W"
	waymark stat -o /dev/null -e sched:sched_switch --by comm -- true 2>why || skip "$(cat why)"
	perf stat -e sched:sched_switch true 2>/dev/null || skip "perf does not run here: nothing to compare with"
	instances=/sys/kernel/tracing/instances
	[ -d "$instances" ] || skip "no tracefs at /sys/kernel/tracing"
}

teardown() {
	[ -z "${pid-}" ] || kill -9 "$pid" 2>/dev/null || true
}

# Waits until a condition holds; the condition is a function and its arguments.
wait_until() {
	local i
	for ((i = 0; i < 3000; i++)); do
		! "$@" || return 0
		sleep 0.02
	done
	return 1
}

is_stopped() { [[ $(cat "/proc/$pid/stat") == *") T "* ]]; }
holds_counters() { [ "$(find "/proc/$1/fd" -lname 'anon_inode:*perf_event*' 2>/dev/null | wc -l)" -ge "$2" ]; }
# Waits until the recorder of a background command, its child, has rings for the tasks.
streams() {
	local pump
	for pump in $(pgrep -P "$1"); do
		! holds_counters "$pump" 1 || return 0
	done
	return 1
}

# Prints "COUNT EVENT" for each event, from rows "COUNT,EVENT,...".
sums() { awk -F, '$1 ~ /^[0-9]+$/ && $2 != "" { n[$2] += $1 } END { for (e in n) print n[e], e }' "$1" | sort -k2; }

# Compares the counts. Events that the task does not cause itself may fall into the microsecond
# between the ends of two counters: once for each of the four tasks that exit. Counts of calls must
# be equal.
same() {
	diff <(grep -v 'sched_switch\|sched_waking' "$1") <(grep -v 'sched_switch\|sched_waking' "$2")
	paste -d' ' "$1" "$2" | awk '$2 != $4 || $1 - $3 > 4 || $3 - $1 > 4 { print; bad = 1 } END { exit bad }'
}

@test "perf, BPF and the stream count the same: switches, wake-ups, exits, calls of threads, children, after exec" {
	local events=sched:sched_switch,sched:sched_waking,sched:sched_process_fork,sched:sched_process_exit,raw_syscalls:sys_enter
	./tasks &
	pid=$!
	wait_until is_stopped
	perf stat -x, -o perf.out -e $events -p $pid &
	local by_perf=$!
	waymark stat -x, -o kernel.out -e $events --by tid -p $pid 2>kernel.err &
	local by_kernel=$!
	# Intervals select counting from the stream; this interval never ends.
	waymark stat -x, -o stream.out -I 86400000 -e $events --by tid -p $pid 2>stream.err &
	local by_stream=$!
	wait_until holds_counters $by_perf 5
	wait_until holds_counters $by_kernel 5
	wait_until streams $by_stream
	until_idle $by_perf $by_kernel $by_stream $(pgrep -P $by_stream)
	kill -CONT $pid
	wait $pid
	wait $by_stream
	wait $by_kernel || [ $? = 5 ] # status 5: a BPF program could not run because another instance was running
	wait $by_perf || true
	grep -v '^#' perf.out | grep . | awk -F, '{ print $1, $3 }' | sort -k2 >want
	sums stream.out >stream
	same want stream
	grep -q 'in no row' kernel.err || {
		sums kernel.out >kernel
		same want kernel
	}
	# The process creates two threads and a child.
	grep -q '^3 sched:sched_process_fork$' want
}

@test "where BPF is not permitted, wholly or in part: from the stream, and that is reported" {
	local what
	for what in all load attach; do
		run --separate-stderr -0 ./deny $what waymark stat -x, -e syscall:write --by count -- ./tasks last
		[ "$(sort -t, -k3 <<<"$output" | paste -sd' ')" = "15,syscall:write,1 15,syscall:write,2 14,syscall:write,3 14,syscall:write,4 14,syscall:write,5 14,syscall:write,6 14,syscall:write,7" ]
		[[ $stderr == "waymark: the kernel cannot count by field, so the events are recorded and counted: "*"permitted"* ]]
	done
	run --separate-stderr -0 ./deny all waymark stat --json -e syscall:write --by count -- ./tasks last
	[[ $output == *'"counted":"from the stream"'*'"lost":0'* ]]
	run --separate-stderr -0 waymark stat --json -e syscall:write --by count -- ./tasks last
	[[ $output == *'"counted":"in the kernel"'* ]]
	[ -z "$stderr" ]
}
