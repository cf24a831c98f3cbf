#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# record_sample.bats - tests sampling: the number of samples, their processes and call chains, the
# description of tasks, losses, and the samples an ordinary user gets.

bats_require_minimum_version 1.5.0
load wait

setup_file() {
	export W="$BATS_FILE_TMPDIR" BATS_TEST_TIMEOUT=300
	cat >"$W/work.c" <<-'EOC'
	/* work calls N | touch N | threads T N | burn MS: does so much of it; rename MS: on the last CPU. */
	#define _GNU_SOURCE
	#include <pthread.h>
	#include <sched.h>
	#include <stdio.h>
	#include <stdlib.h>
	#include <string.h>
	#include <sys/mman.h>
	#include <sys/prctl.h>
	#include <sys/syscall.h>
	#include <time.h>
	#include <unistd.h>
	volatile unsigned long sum;
	static long n;
	static void *calls(void *unused)
	{
		for (long i = 0; i < n; i++)
			(void)syscall(SYS_getcpu, 0, 0, 0);
		return unused;
	}
	__attribute__((noinline)) void deep(void)
	{
		for (int i = 0; i < 100000; i++)
			sum += i;
	}
	__attribute__((noinline)) void middle(void)
	{
		deep();
		sum++;
	}
	static long cpu_ms(void)
	{
		struct timespec t;
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
		return t.tv_sec * 1000 + t.tv_nsec / 1000000;
	}
	int main(int argc, char **argv)
	{
		n = atol(argv[argc - 1]);
		if (!strcmp(argv[1], "calls"))
			calls(NULL);
		if (!strcmp(argv[1], "touch")) {
			char *p = mmap(NULL, n << 12, PROT_READ | PROT_WRITE,
				       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			madvise(p, n << 12, MADV_NOHUGEPAGE);
			for (long i = 0; i < n; i++)
				p[i << 12] = 1;
			printf("%lx %lx\n", (long)p, (long)p + (n << 12));
		}
		if (!strcmp(argv[1], "threads")) {
			pthread_t t[64];
			int nr = atoi(argv[2]);
			for (int i = 0; i < nr; i++)
				pthread_create(&t[i], NULL, calls, NULL);
			for (int i = 0; i < nr; i++)
				pthread_join(t[i], NULL);
		}
		if (!strcmp(argv[1], "rename")) {
			cpu_set_t last;
			CPU_ZERO(&last);
			CPU_SET(sysconf(_SC_NPROCESSORS_ONLN) - 1, &last);
			sched_setaffinity(0, sizeof(last), &last);
			for (long until = cpu_ms() + n; cpu_ms() < until; sum++) {
				prctl(PR_SET_NAME, sum % 2 ? "odd" : "even");
				for (int i = 0; i < 10000; i++)
					sum += 2;
			}
		}
		if (!strcmp(argv[1], "burn")) {
			long until = cpu_ms() + n;
			while (cpu_ms() < until)
				middle();
			sum++;
		}
		return 0;
	}
	EOC
	cc -O0 -fno-omit-frame-pointer -no-pie -pthread "$W/work.c" -o "$W/work"
}

setup() {
	PATH="$WAYMARK_BUILD:$PATH"
	cd "$BATS_TEST_TMPDIR"
	if ! waymark record -q -F 99 -o probe -- true 2>why; then
		echo "# SKIPPED: nothing can be sampled here: $(tail -1 why)" >&3
		skip "no sampling"
	fi
	command -v babeltrace2 >/dev/null || skip "babeltrace2 is not installed"
}

needs_tracepoints() {
	[ -e /sys/kernel/tracing/events/syscalls/sys_enter_getcpu ] || skip "no tracefs we may use"
}

text() { # prints a trace, one event per line
	babeltrace2 "$1" 2>"$1.errors"
}

@test "each event of a tracepoint is a sample, with its own fields" {
	needs_tracepoints
	run -0 --separate-stderr waymark record --preload none -c 1 -e syscall:getcpu -o t -- "$W/work" calls 20000
	[[ $stderr == *"40000 events (40000 samples)"*"0 lost"* ]]
	text t >text
	[ "$(grep -c 'sys_enter_getcpu: .*period = 1 }, { __syscall_nr = 309, ' text)" = 20000 ]
	[ "$(grep -c 'sys_exit_getcpu: .*ret = ' text)" = 20000 ]
	[ ! -s t.errors ]
}

@test "each page that is touched faults once, at its address" {
	waymark record -q -c 1 -e page-faults -o t -- "$W/work" touch 400 >range
	read -r begin end <range
	text t | sed -n 's/.*sw:page-faults.* addr = 0x\([0-9A-F]*\).*/\1/p' | tr A-F a-f |
		awk -v b="$begin" -v e="$end" 'length($1) == length(b) && $1 >= b && $1 < e' >addresses
	[ "$(wc -l <addresses)" = 400 ]
	[ "$(sort -u addresses | wc -l)" = 400 ]
}

@test "a period takes one of so many events, and weighs the sample with it" {
	waymark record -q -e page-faults -c 100 -o t -- "$W/work" touch 2000 >/dev/null
	text t | grep -c 'sw:page-faults.*period = 100 }' >nr
	cat nr
	[ "$(cat nr)" -ge 20 ] && [ "$(cat nr)" -le 200 ]
	run -0 --separate-stderr waymark report t -s event
	[[ $output == *"$(cat nr) events, weight $(cat nr)00"$'\n'* ]]
	needs_tracepoints
	waymark record -q --preload none -e syscalls:sys_enter_getcpu -c 1000 -o u -- "$W/work" calls 20000
	text u >text
	[ "$(grep -c 'sys_enter_getcpu: .*period = 1000 }' text)" -ge 15 ]
	[ "$(grep -c 'sys_enter_getcpu: ' text)" -le 20 ]
}

@test "a rate gives about that many samples per second of CPU time; the event is named" {
	run -0 --separate-stderr waymark record -F 1000 -o t -- "$W/work" burn 400
	[[ $stderr == *"sampling cpu:cycles"* || $stderr == *"sampling sw:cpu-clock"* ]]
	n=$(text t | grep -c 'cpu-clock\|cycles')
	echo "# $n samples of 400 ms" >&3
	[ "$n" -gt 250 ]
	[ "$n" -lt 700 ]
}

@test "a named counter is sampled with a default rate" {
	waymark record -q -e cpu-clock -o t -- "$W/work" burn 400
	[ "$(text t | grep -c 'sw:cpu-clock')" -gt 250 ]
	waymark record -q -e page-faults -e sw:page-faults:u -o t1 -- "$W/work" touch 400 >range
	[ "$(text t1 | grep -c "sw:page-faults")" -gt 0 ]
	run -4 waymark record -q -e 'page-f*' -o t2 -- true # of programs
}

@test "call chains by frame pointers lead to main, through kernel and program" {
	waymark record -q -F 1000 -g -e sw:cpu-clock -o t -- "$W/work" burn 200
	range() { nm -S "$W/work" | awk -v f="$1" '$4 == f { print $1, $2 }'; }
	text t >text
	python3 - text $(range deep) $(range middle) $(range main) <<-'EOF'
	import re, sys
	a = [int(x, 16) for x in sys.argv[2:]]
	inside = lambda x, i: a[i] <= x < a[i] + a[i + 1]
	whole = 0
	for line in open(sys.argv[1]):
	    m = re.search(r'callchain = \[ (.*?) \]( \}|, )', line)
	    chain = [int(x, 16) for x in re.findall(r'= (0x[0-9A-F]+)', m.group(1))] if m else []
	    if chain and 0xFFFFFFFFFFFFFE00 in chain:
	        user = chain[chain.index(0xFFFFFFFFFFFFFE00) + 1:]
	        whole += len(user) > 2 and inside(user[0], 0) and inside(user[1], 2) and inside(user[2], 4)
	print(whole)
	sys.exit(whole < 50)
	EOF
	[ -f t/kernel/kallsyms.zst ] || [ "$(id -u)" != 0 ]
}

@test "dwarf: registers and the requested number of stack bytes" {
	waymark record -q -F 500 -g dwarf,1024 -e sw:cpu-clock -o t -- "$W/work" burn 200
	text t | grep cpu-clock >text
	[ "$(grep -c '_regs_user_length = [1-9]' text)" -gt 20 ]
	[ "$(grep -c '_stack_user_length = 1024' text)" -gt 20 ]
	run -1 grep 'callchain = .* 0xFFFFFFFFFFFFFE00' text
}

@test "threads, children and programs they exec are sampled, and described in the trace" {
	needs_tracepoints
	waymark record -q --preload none -c 1 -e syscall:getcpu:enter -o t -- sh -c "$W/work threads 5 300; $W/work calls 7 & wait"
	text t >text
	[ "$(grep -c sys_enter_getcpu text)" = 1507 ]
	[ "$(grep sys_enter_getcpu text | grep -o ' tid = [0-9]*' | sort | uniq -c | awk '$1 == 300' | wc -l)" = 5 ]
	[ "$(grep -c 'perf:mmap2.*/work"' text)" = 2 ]
	[ "$(grep -c 'perf:comm.*comm = "work"' text)" = 2 ]
	[ "$(grep -c perf:fork text)" -ge 7 ]
	id=$(readelf -n "$W/work" | sed -n 's/.*Build ID: //p')
	hex=$(grep 'perf:mmap2.*/work"' text | head -1 | grep -o 'build_id = \[[^]]*\].*\], filename' |
		grep -o '= 0x[0-9A-F]*' | sed 's/= 0x//' | awk '{ printf "%02s", $1 }' | tr 'A-F ' 'a-f0')
	[ "$hex" = "$id" ]
}

@test "a running process: its mappings, its name and its samples" {
	"$W/work" burn 600000 3>&- & pid=$!
	run -0 waymark record -q -F 500 -g -e sw:cpu-clock -p $pid -o t -- bash -c '. "$0" && until_shows t 6 sw:cpu-clock' "$WAYMARK_SOURCE/test/wait.bash"
	kill $pid
	text t >text
	[ "$(grep -c "sw:cpu-clock.* pid = $pid" text)" -gt 5 ]
	[ "$(grep "sw:cpu-clock" text | grep -vc " pid = $pid")" = 0 ]
	[ "$(grep -c "perf:mmap2.* pid = $pid, .*/work\"" text)" = 1 ]
	[ "$(grep -c "perf:comm.* pid = $pid, .*\"work\"" text)" = 1 ]
}

@test "events on a CPU while a running process is described are in that CPU's packets, in order" {
	"$W/work" rename 60000 >/dev/null 3>&- & pid=$!
	for i in 1 2 3 4 5 6 7 8; do
		waymark record -q -F 99 -e sw:cpu-clock -p $pid -o t$i -- true || break
	done
	kill $pid
	for i in 1 2 3 4 5 6 7 8; do
		run -0 waymark info --verify t$i
	done
}

@test "with kernel events the trace has the tasks' mappings and names" {
	needs_tracepoints
	run -0 --separate-stderr waymark record --preload none -e syscall:getcpu:enter -o t -- sh -c "$W/work calls 5"
	[[ $stderr == *" 5 events (5 of the kernel)"* ]]
	text t >text
	[ "$(grep -c 'perf:mmap2.*/work"' text)" = 1 ]
	[ "$(grep -c 'perf:comm.*"work"' text)" = 1 ]
	[ "$(grep -c 'perf:mmap2.* pid = -1.*kernel.kallsyms' text)" = 1 ]
	[ ! -e t/kernel/kallsyms.zst ] # no print form of these events shows a symbol
	waymark record -q --preload none -e kmem:kmem_cache_alloc -o k -- true
	[ -s k/kernel/kallsyms.zst ]
}

@test "everything except the recorder; one CPU alone" {
	needs_tracepoints
	waymark record -q -a -c 1 -e syscall:write:enter -o a -- sh -c "sleep 0.5; $W/work calls 100; echo x" >/dev/null & command=$!
	pump=$(pump_of $command)
	wait $command
	text a >a.txt
	[ "$(grep -c sys_enter_write a.txt)" -ge 1 ]
	run -1 grep "sys_enter_write.* pid = \($command\|$pump\)," a.txt
	waymark record -q -a -C 0 -F 200 -e sw:cpu-clock -o c -- sleep 0.3
	text c >c.txt
	[ "$(grep -c 'sw:cpu-clock' c.txt)" -gt 10 ]
	run -1 grep 'sw:cpu-clock.*cpu_id = [1-9]' c.txt
}

@test "samples that the rings cannot hold are counted, to the last one" {
	needs_tracepoints
	waymark record --preload none -c 1 -e syscall:getcpu -o t -- sh -c "kill -STOP \$(pgrep -P \$PPID -x waymark-pump); $W/work calls 400000; kill -CONT \$(pgrep -P \$PPID -x waymark-pump)" 2>said
	lost=$(sed -n 's/.* \([0-9]*\) lost (full.*/\1/p' said)
	kept=$(sed -n 's/.*(\([0-9]*\) samples).*/\1/p' said)
	echo "# kept $kept, lost $lost" >&3
	[ "$lost" -gt 0 ]
	# The sum includes lost records about the shell and pgrep, which run at the same time.
	[ $((kept + lost)) -ge 800000 ]
	[ $((kept + lost)) -le 800100 ]
	[ "$(text t | grep -c getcpu)" = "$kept" ]
	text t | grep 'waymark:lost' >lost
	run -1 grep -v 'cause = ( "full".*, cpu = [0-9]* }' lost
	text t | sed -n 's/.*waymark:lost.*cause = ( "full".*count = \([0-9]*\).*/\1/p' >losses
	[ "$(awk '{ n += $1 } END { print n }' losses)" = "$lost" ]
}

@test "an ordinary user samples their own programs, and the missing parts are reported" {
	[ "$(id -u)" = 0 ] || skip "not root: is the ordinary case already"
	[ "$(cat /proc/sys/kernel/perf_event_paranoid)" = 2 ] || skip "kernel.perf_event_paranoid is not 2"
	u=$(mktemp -d /tmp/waymark-sample-XXXXXX)
	chmod 777 "$u"
	cp "$W/work" "$WAYMARK_BUILD/waymark" "$u"
	run -0 setpriv --reuid=65534 --regid=65534 --clear-groups env XDG_RUNTIME_DIR= \
		"$u/waymark" record --preload none -F 500 -g -e sw:cpu-clock -o "$u/t" -- "$u/work" burn 100
	[[ $output == *"in user space only"*perf_event_paranoid* ]]
	text "$u/t" >text
	rm -r "$u"
	[ "$(grep -c 'sw:cpu-clock' text)" -gt 10 ]
	run -1 grep 'callchain = .* 0xFFFFFFFFFFFFFF80' text
}

@test "missing kernel symbols are reported" {
	mkdir small
	mount -t tmpfs -o size=600k none small || skip "no small file system for us"
	run -0 --separate-stderr waymark record -o small/t --preload none -F 100 -e sw:cpu-clock -- true
	umount small
	[[ $stderr == *"the kernel's symbols are not in the trace (No space left on device; free some space"* ]]
}

@test "samples, the program's events and the kernel's use one clock" {
	cat >between.c <<-'EOF'
	#include <sys/mman.h>
	#include <unistd.h>
	#include <waymark/tracepoint.h>
	WAYMARK_EVENT(app, before, WAYMARK_ARGS(unsigned long, page), WAYMARK_FIELDS((x64, at, page)));
	WAYMARK_EVENT(app, after, WAYMARK_ARGS(unsigned long, page), WAYMARK_FIELDS((x64, at, page)));
	int main(void)
	{
		char *p = mmap(NULL, 200 << 12, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		madvise(p, 200 << 12, MADV_NOHUGEPAGE);
		for (int i = 0; i < 200; i++, p += 4096) {
			trace_event(app, before, (unsigned long)p);
			usleep(200);
			*p = 1;
			usleep(200);
			trace_event(app, after, (unsigned long)p);
		}
		return 0;
	}
	EOF
	cc -O2 -I"$WAYMARK_SOURCE/include" between.c -o between -L"$WAYMARK_BUILD" \
		-Wl,--no-as-needed -l:libwaymark-rt.so.0 -Wl,-rpath,"$WAYMARK_BUILD"
	run -0 waymark record -q -e 'app:*' -e page-faults -c 1 -o t -- ./between
	python3 - t <<-'EOF'
	import re, subprocess, sys
	out = subprocess.run(['babeltrace2', sys.argv[1]], capture_output=True, text=True).stdout
	state, good = None, 0
	for line in out.splitlines():
	    if 'app:before' in line:
	        state = [int(re.search(r'at = (0x[0-9A-F]+)', line).group(1), 16), False]
	    elif 'sw:page-faults' in line and state:
	        state[1] |= int(re.search(r'addr = (0x[0-9A-F]+)', line).group(1), 16) == state[0]
	    elif 'app:after' in line:
	        good += state[1]
	print(good)
	sys.exit(good != 200)
	EOF
	grep -q 'sample_clock_error_ns = [0-9]*;' t/metadata
	waymark info t | grep -E '^samples +at most [0-9]+ ns between their clock'
}

@test "an event that cannot be sampled is reported before recording begins" {
	run -2 waymark record -F 0 -o t -- true
	[[ $output == *"is not a positive integer"* ]]
	run -2 waymark record -F 99 -c 5 -o t -- true
	[[ $output == *"and not both"* ]]
	run -2 waymark record -F 99 -g dwarf,77 -o t -- true
	[[ $output == *"multiple of 8"* ]]
	run -2 waymark record -c 1 -e app:one -o t -- true # refused: it is not a kernel event and has no clock
	[[ $output == *"put them after the -e they apply to"* ]]
	run -2 waymark record -c 1 -o t -- true
	[[ $output == *"shortest period"* ]]
	run -2 waymark record -F 1000000000 -e sw:cpu-clock -o t -- true
	[[ $output == *"perf_event_max_sample_rate"* ]]
	run -2 waymark record -e 'kernel:sw:cpu-c*' -o t -- true # whatever it matches
	[[ $output == *"-F HZ"* ]]
	[ ! -e t ]
}

@test "report names the functions of a program and of the kernel, joined to the recording or not" {
	for how in "-g" "-g dwarf"; do
		for preload in "" "--preload none"; do
			rm -rf t
			waymark record -q $preload -F 1000 $how -e sw:cpu-clock -o t -- "$W/work" burn 200
			waymark report t >table
			grep -E '^ +(100|[5-9][0-9])\.[0-9]+% +(100|[5-9][0-9])\.[0-9]+% .* work +\[\.\] deep$' table
		done
	done
	[ -e /sys/kernel/tracing/events/sched/sched_switch ] || return 0
	waymark record -q --preload none -c 1 -g -e sched:sched_switch -o k -- sleep 0.01
	waymark report k | grep -E '\[kernel.kallsyms\] +\[k\] schedule'
}

# Prints the samples of ./grow in sorted order, without their times, which are corrected at the end.
samples_of() {
	python3 - "$1" <<-'END'
	import re, sys
	for sample in sorted(re.sub(r"\d+\.\d{6}:", "", s, 1) for s in open(sys.argv[1]).read().split("\n\n")):
	    if sample.startswith("grows"):
	        print(sample)
	END
}

same_samples() {
	samples_of followed >have
	samples_of whole >wanted
	cmp have wanted
}

@test "a growing trace is printed with names, also those of libraries loaded later" {
	local cpu recording printing
	cat >grows.c <<-'END'
	#include <dlfcn.h>
	#include <unistd.h>
	volatile unsigned sum;
	__attribute__((noipa)) static void early(void)
	{
		for (int i = 0; i < 100000; i++)
			sum += i;
	}
	int main(void)
	{
		void (*f)(void) = early;
		for (int loaded = 0; access("end", F_OK); f()) {
			if (!loaded && !access("load", F_OK)) {
				f = (void (*)(void))dlsym(dlopen("./late.so", RTLD_NOW), "late");
				loaded = 1;
			}
		}
		return 0;
	}
	END
	sed 's/static void early/void late/; /^int main/,$d' grows.c >late.c
	gcc -O1 -shared -fPIC -o late.so late.c
	gcc -O1 -o grows grows.c -ldl
	# The records of one CPU are written in order; those of another CPU may be later.
	cpu=$(taskset -pc $$ | sed 's/.*: *//; s/[,-].*//')
	waymark record -q --preload none -F 500 -g dwarf,4096 -e sw:cpu-clock -o t -- taskset -c "$cpu" ./grows 3>&- &
	recording=$!
	until_true [ -e t/metadata ]
	timeout 250 waymark print --follow --format=perf t >followed 2>said 3>&- &
	printing=$!
	until_true grep -q ' early+0x.*/grows)' followed
	touch load
	until_true grep -q ' late+0x.*/late.so)' followed
	touch end
	wait $recording
	waymark print --format=perf t >whole
	until_true same_samples
	kill $printing
	wait $printing || true
	same_samples
	grep -q ' main+0x.*/grows)' have
}

# Prints the size of the rings of a process's samples, in KiB.
ring_kib() { # PID
	awk '/^[0-9a-f]+-/ { ring = /perf_event/ } ring && /^Size:/ { sum += $2 } END { print sum + 0 }' "/proc/$1/smaps"
}

@test "-b sets the size of the rings of samples, of all CPUs together" {
	local pump size cpus
	cpus=$(getconf _NPROCESSORS_ONLN)
	for size in 1 4; do
		waymark record -q -o "b$size" -F 50 -e cpu-clock -b "$((size * cpus))M" -- sleep 600 3>&- &
		pid=$!
		pump=$(pump_of "$pid")
		# Besides its samples each ring has one page.
		until_true eval '[ "$(ring_kib "$pump")" -ge $((size * cpus * 1024)) ]'
		[ "$(ring_kib "$pump")" -lt $((size * cpus * 1024 + cpus * 128)) ]
		kill -TERM "$pid"
		wait "$pid" || true
		pid=
	done
}
