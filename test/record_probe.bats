#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# record_probe.bats - tests probes created for a recording: at functions, addresses and returns, at
# USDT notes, with their arguments; on commands, processes, in containers; and their removal.

bats_require_minimum_version 1.5.0
load wait

setup_file() {
	export W="$BATS_FILE_TMPDIR" BATS_TEST_TIMEOUT=300 TRACEFS=/sys/kernel/tracing
	cat >"$W/work.c" <<-'EOF'
	#include <stdlib.h>
	#include <unistd.h>
	struct item { int size; const char *name; struct item *next; };
	__attribute__((noinline)) int tick(int i, const char *name)
	{
		__asm__ volatile("" : "+r"(i), "+r"(name));
		return i + 1;
	}
	__attribute__((noinline)) const char *label(struct item *it, double weight, unsigned char c)
	{
		__asm__ volatile("" : "+r"(it), "+x"(weight), "+r"(c));
		return it->name;
	}
	int main(int argc, char **argv)
	{
		struct item last = {7, "last", NULL}, it = {-5, "inner", &last};
		int n = argc > 1 ? atoi(argv[1]) : 3;
		for (int i = -2; i < n - 2; i++) {
			tick(i, "hello");
			label(&it, i, 'c');
			if (argc > 2)
				usleep(1000);
		}
		return 0;
	}
	EOF
	cc -O2 -g "$W/work.c" -o "$W/work"
	cc -O2 -g "$W/work.c" -o "$W/with blanks: and a colon"
	cat >"$W/usdt.c" <<-'EOF'
	unsigned short zoo_feed_semaphore __attribute__((section(".probes"), used));
	long outside = 77;
	#define PROBE(name, semaphore, operands, ...) __asm__ volatile("990: nop\n" \
		".pushsection .note.stapsdt,\"\",\"note\"\n" \
		".balign 4\n.4byte 992f-991f,994f-993f,3\n991: .asciz \"stapsdt\"\n992: .balign 4\n" \
		"993: .8byte 990b\n.8byte 0\n.8byte " semaphore "\n.asciz \"zoo\"\n.asciz \"" name "\"\n" \
		".asciz \"" operands "\"\n994: .balign 4\n.popsection\n" :: __VA_ARGS__)
	int main(void)
	{
		volatile struct { long pad; int memory; double weight; } s = {1, -9, 2.5};
		long table[4] = {10, 11, 12, 13};
		for (int i = 0; i < 50; i++) {
			PROBE("two", "0", "-4@%[i] 8@%[c]", [i] "r"(i), [c] "n"(5));
			if (i % 2)
				PROBE("two", "0", "-4@%[i] 8@%[c]", [i] "n"(-1), [c] "r"(6L));
			if (*(volatile unsigned short *)&zoo_feed_semaphore)
				PROBE("feed", "zoo_feed_semaphore", "8@%[t]", [t] "r"("banana"));
			PROBE("all", "0", "-4@%[m] 8f@%[d] 8@outside(%%rip) 8@(%[b],%[x],8) 8f@%[f] 1@%%ah",
			      [m] "m"(s.memory), [d] "m"(s.weight), [b] "r"(table), [x] "r"((long)(i % 4)),
			      [f] "x"(1.5), "a"(0x4100 + i));
		}
		return 0;
	}
	EOF
	if [ "$(uname -m)" = x86_64 ]; then cc -O2 -no-pie "$W/usdt.c" -o "$W/usdt"; cc -O2 "$W/usdt.c" -o "$W/usdt_pie"; fi
}

setup() {
	PATH="$WAYMARK_BUILD:$PATH"
	cd "$BATS_TEST_TMPDIR"
	if [ ! -w "$TRACEFS/uprobe_events" ]; then
		echo "# SKIPPED: no tracefs whose uprobe_events we may write at $TRACEFS" >&3
		skip "no probes can be made"
	fi
}

# Other processes may use probes on this machine, so only those of dead creators are leftovers of
# waymark.
teardown() {
	local left
	for _ in $(seq 600); do
		left=$(left_behind)
		[ -n "$left" ] || return 0
		sleep 0.1
	done
	echo "left behind: $left"
	return 1
}

left_behind() {
	local name pid
	for name in "$TRACEFS"/instances/waymark-*; do
		pid=${name#*/waymark-}
		[ ! -e "$name" ] || [ -e "/proc/${pid%-*}" ] || echo "$name"
	done
	for pid in $(grep -o 'waymark_[0-9]*' "$TRACEFS/uprobe_events" | sort -u); do
		[ -e "/proc/${pid#waymark_}" ] || grep "$pid" "$TRACEFS/uprobe_events"
	done
}

need_x86() {
	[ "$(uname -m)" = x86_64 ] || skip "written for x86-64"
}

record() {
	run --separate-stderr waymark record -o t --preload none "$@"
	echo "$stderr" "$output"
	[ "$status" -eq 0 ]
}

# Prints the probes of a trace with their fields by name, as babeltrace2 reads them.
fields() {
	babeltrace2 "$1" | grep -E ' (u|uret)probe:| usdt:'
}

# Checks that babeltrace2 reads the same events as print; it also shows the tasks' mappings
# ("[uprobes]").
same_in_babeltrace() {
	run -0 --separate-stderr babeltrace2 t
	[ -z "$stderr" ]
	[ "$(grep -v ' perf:' <<<"$output" | grep -c "$1")" -eq "$(waymark print t | grep -c "$1")" ]
}

@test "a function's arguments by number, register and address, strings; its return value" {
	need_x86
	record -e "uprobe:$W/work:tick(i=arg1:s32, arg2:string, again=%rdi:x8, first=+0(%si):char, \$comm)" \
		-e "uretprobe:$W/work:tick(ret=\$retval:s32)" -e "uretprobe:$W/work:label(\$retval:string)" -- "$W/work"
	[[ $stderr == *"9 events (9 of the kernel)"*"0 lost"* ]]
	fields t >text
	[[ $(sed -n 1p text) == *" uprobe:work:tick: "*"i = -2, arg2 = \"hello\", again = 0xFE, first = "*"comm = \"work\""* ]]
	[[ $(sed -n 2p text) == *" uretprobe:work:tick: "*"ret = -1 "* ]]
	[[ $(sed -n 3p text) == *" uretprobe:work:label: "*"retval = \"inner\" "* ]]
	same_in_babeltrace probe:work
}

@test "places: an offset, an address, functions by glob, a path with blanks and a colon" {
	need_x86
	local at
	at=$(nm "$W/work" | awk '$3 == "tick" { print $1 }')
	record -e "uprobe:$W/work:0x$at" -e "func:$W/work:*[kb]*e*l" -e "func:$W/work:t?ck" -- "$W/work" 4
	[ "$(waymark print t | grep -c "uprobe:work:0x")" -eq 4 ]
	[ "$(waymark print t | grep -c "uprobe:work:label")" -eq 4 ]
	[ "$(waymark print t | grep -c "uprobe:work:tick")" -eq 4 ]
	rm -r t
	record -e "uprobe:$W/with blanks: and a colon:tick(arg1:s8)" -- "$W/with blanks: and a colon"
	[ "$(fields t | grep -c "uprobe:with blanks: and a colon:tick.*arg1 = ")" -eq 3 ]
	same_in_babeltrace "a colon:tick"
}

@test "parameters and variables by name, types and parts of them, at functions and lines" {
	need_x86
	local level
	for level in 0 2; do
		cc -O$level -g "$W/work.c" -o work$level
		rm -rf t
		record -e "uprobe:./work$level:tick(*)" -e "uretprobe:./work$level:tick(\$retval)" \
			-e "uprobe:./work$level:label(it->size, next=it->next->name, weight=c, hex=it->size:x8)" \
			-e "uprobe:./work$level:work.c:21(i, it.name, next=last.size)" -- ./work$level
		fields t >text
		grep -q "uprobe:work$level:tick: .* i = -1, name = \"hello\" }" text
		grep -q "uretprobe:work$level:tick: .* retval = -1 }" text
		grep -q "uprobe:work$level:label: .* size = -5, next = \"last\", weight = 99, hex = 0xFB }" text
		grep -q "uprobe:work$level:work.c:21: .* i = 0, name = \"inner\", next = 7 }" text
		[ "$(grep -c work.c:21 text)" -eq 3 ]
		same_in_babeltrace "probe:work"
	done
}

@test "parameters of a function that begins with code inlined into it; bit fields of all compilers and DWARF versions" {
	need_x86
	local cc
	cat >fields.c <<-'EOF'
	#include <stdio.h>
	struct bits { unsigned a : 3, b : 7; int c : 9; unsigned long d : 40; unsigned char e : 2; };
	struct __attribute__((packed)) packed { unsigned a : 5, b : 30, c : 6; unsigned long d : 45; };
	static inline int inner(int k) { return k * 5; }
	__attribute__((noinline)) int outer(int j, int k) { return inner(j) + k; }
	__attribute__((noinline)) int both(struct bits *x, struct packed *y)
	{
		__asm__ volatile("" : "+r"(x), "+r"(y));
		return x->a + (int)y->b;
	}
	int main(void)
	{
		struct bits x = {5, 77, 100, 0x123456789a, 2};
		struct packed y = {21, 0x2aaaaaab, 33, 0x123456789ab};
		return printf("%d\n", outer(3, 1000) + both(&x, &y)) < 0;
	}
	EOF
	for cc in "gcc -O0" "gcc -O2" "clang -O0" "clang -O1" "clang -O2"; do
		command -v ${cc% *} >/dev/null || continue
		for version in 4 5; do
			echo "# $cc -gdwarf-$version"
			$cc -gdwarf-$version fields.c -o fields
			rm -rf t
			record -e 'uprobe:./fields:outer(j, k)' \
				-e 'uprobe:./fields:both(x->a, b=x->b, c=x->c, d=x->d, e=x->e)' \
				-e 'uprobe:./fields:both(y->a, b=y->b, c=y->c, d=y->d)' -- ./fields
			fields t >text
			grep "outer.* j = 3, k = 1000 }" text
			grep "both.* a = 5, b = 77, c = 100, d = 78187493530, e = 2 }" text
			grep "both.* a = 21, b = 715827883, c = 33, d = 1250999896491 }" text
		done
	done
	# A line of the inlined function: its own parameter.
	! command -v clang || {
		clang -O2 -g fields.c -o fields
		rm -rf t
		record -e 'uprobe:./fields:fields.c:4(k)' -- ./fields
		fields t | grep "fields.c:4.* k = 3 }"
	}
}

@test "C++: names as written, this, references, arguments on the stack" {
	need_x86
	cat >cage.cc <<-'END'
	#include <string>
	namespace zoo {
	struct Point { int x, y; };
	struct Cage {
		std::string name; int size;
		__attribute__((noinline)) int feed(const std::string &food, Point p, double kg, long n, short last);
		__attribute__((noinline)) int feed(int n);
	};
	int Cage::feed(const std::string &food, Point p, double kg, long n, short last)
	{
		asm volatile("" ::: "memory");
		return size + p.x + (int)food.size() + (int)n + last + (int)kg;
	}
	int Cage::feed(int n)
	{
		asm volatile("" ::: "memory");
		return n;
	}
	}
	__attribute__((noinline)) long many(int a, int b, int c, int d, int e, int f, int g, char h, const char *i)
	{
		asm volatile("" ::: "memory");
		return a + b + c + d + e + f + g + h + *i;
	}
	int main()
	{
		zoo::Cage c = {"lion", 7};
		for (int i = 0; i < 3; i++)
			if (c.feed("meat", {i, 2}, 1.5, 10, -3) + c.feed(i) + many(1, 2, 3, 4, 5, 6, 7 + i, 'h', "ninth") == 0)
				return 1;
	}
	END
	c++ -O1 -g cage.cc -o cage
	record -e 'uprobe:./cage:zoo::Cage::feed(this->size)' -e 'uprobe:./cage:many(a,f,g,h,i)' \
		-e "uprobe:./cage:$(nm cage | awk '/feedERK/ { print $3 }')(n, last)" -- ./cage
	fields t >text
	[ "$(grep -c 'cage:zoo::Cage::feed: .* size = 7 }' text)" -eq 6 ]
	grep -q 'cage:many: .* a = 1, f = 6, g = 9, h = 104, i = "ninth" }' text
	[ "$(grep -c 'cage:_ZN.* n = 10, last = -3 }' text)" -eq 3 ]
	same_in_babeltrace cage:
	rm -rf t
	record -e 'func:./cage:zoo::*:return' -- ./cage
	[ "$(waymark print t | grep -c 'uretprobe:cage:zoo::Cage::feed')" -eq 6 ]
	run -4 waymark record -q -o u -e 'uprobe:./cage:zoo::Cage::fed' -- true
	[[ $output == *"did you mean 'zoo::Cage::feed'"* ]]
}

@test "an error in a place or an argument is reported, with its column" {
	need_x86
	refused() { # STATUS WORDS EVENT
		run "-$1" waymark record -q -o u --preload none -e "$3" -- true
		[[ $output == *$2* ]]
		[ ! -e u ]
	}
	cc -O0 -g "$W/work.c" -o work
	refused 4 "did you mean 'tick'" uprobe:./work:tik
	refused 2 "is outside" uprobe:./work:tick+5000
	refused 2 "in the middle of an instruction, which begins 1 byte earlier: tick+1" uprobe:./work:tick+2
	refused 4 "line 3 of work.c has no code; the next line with code is 5" uprobe:./work:work.c:3
	refused 4 "nor has any later line" uprobe:./work:work.c:3000
	refused 4 "did you mean 'work.c'" uprobe:./work:wrok.c:3
	refused 2 "only functions have a return" uretprobe:./work:work.c:5
	refused 4 "did you mean 'name'" 'uprobe:./work:tick(nam)'
	refused 4 "did you mean 'size'" 'uprobe:./work:label(it->sise)'
	refused 2 "vector register" 'uprobe:./work:label(weight)'
	refused 2 "name one of its members" 'uprobe:./work:work.c:21(it)'
	refused 2 "use uretprobe" 'uprobe:./work:tick($retval)'
	refused 2 "Unknown type is specified, at 'u65'" 'uprobe:./work:tick(i:u65)'
	refused 4 "give its path" uprobe:./nothing:tick
	refused 2 "more than 2000 functions" 'func:libc.so.6:*'
	run -2 waymark record -q -o u -e 'uprobe:./work:tick(i=arg1, b=%xmm0)' -- true
	local before=${lines[1]%%\%xmm0*} caret=${lines[2]%^}
	[ "${#before}" -eq "${#caret}" ]
	strip work
	refused 4 "no debug information, which lines need" uprobe:./work:work.c:5
	printf '\177ELF\1\1\1' >old
	head -c 100 /dev/zero >>old
	refused 2 "is for machine 0 and cannot run here" uprobe:./old:main
	if command -v aarch64-linux-gnu-gcc >/dev/null; then
		aarch64-linux-gnu-gcc "$W/work.c" -o arm
		refused 2 "cannot run here" uprobe:./arm:tick
	fi
}

@test "filters on a probe's arguments: the kernel's part and the pump's" {
	need_x86
	record -e "uprobe:$W/work:tick(i=arg1:s32)" --filter 'i >= 0' -- "$W/work" 10
	[ "$(waymark print t | grep -c tick)" -eq 8 ]
	rm -rf t
	record -e "uprobe:$W/work:tick(i=arg1:s32)" --filter 'i >= 0 && i % 4 == 1' -- "$W/work" 10
	[ "$(waymark print t | grep -c tick)" -eq 2 ]
	run -2 --separate-stderr waymark record -q -o u -e "uprobe:$W/work:tick(i=arg1:s32)" --filter 'j > 1' -- true
	[[ $stderr == *"has no field 'j'"*"  j > 1"*"  ^"* ]]
}

@test "a running process, everything, and the children of the process" {
	need_x86
	"$W/work" 600000 slowly >/dev/null 3>&- & pid=$!
	run -0 waymark record -q -o p -e "uprobe:$W/work:tick" -p $pid -- bash -c '. "$0" && until_shows p 21 tick' "$WAYMARK_SOURCE/test/wait.bash"
	"$W/work" 600000 slowly >/dev/null 3>&- & local other=$!
	run -0 waymark record -q -o a -e "uprobe:$W/work:tick" -a -- \
		bash -c '. "$0" && until_shows a 21 "work:$1/" && until_shows a 21 "work:$2/"' "$WAYMARK_SOURCE/test/wait.bash" $pid $other
	kill $pid $other
	wait $pid || true
	[ "$(waymark print p | grep -c "work:$pid/.*tick")" -gt 20 ]
	[ "$(waymark print p | grep -vc "$pid/")" -eq 0 ]
	[ "$(waymark print a | grep -c "work:$pid/")" -gt 20 ]
	[ "$(waymark print a | grep -c "work:$other/")" -gt 20 ]
	record -e "uprobe:$W/work:tick" -- sh -c "$W/work 10; $W/work 20 & wait"
	[ "$(waymark print t | grep -c tick)" -eq 30 ]
}

@test "stacks after events, triggers that record them, stop tracing, switch events on" {
	local stack='ftrace:kernel_stack: '
	cc -O2 "$WAYMARK_SOURCE/test/data/calls.c" -o calls
	rm -rf t
	run -3 --separate-stderr waymark record -o t --preload none --stacks kernel,user -e syscall:getpgid:exit -- ./calls 20
	[[ $stderr == *"60 events (60 of the kernel)"*"0 lost"* ]]
	waymark print t >text
	[ "$(grep -c "calls:.*$stack" text)" -eq 20 ]
	[ "$(grep -c 'calls:.*ftrace:user_stack: ' text)" -eq 20 ]
	[[ $(sed -n 1p text) == *sys_exit_getpgid* ]]
	[[ $(sed -n 2p text) == *kernel_stack* ]]
	same_in_babeltrace kernel_stack
	rm -rf t
	run -3 waymark record -q -o t --preload none --trigger 'syscalls:sys_enter_getpgid:traceoff:1 if pid == 0' -e syscall:getpgid:exit \
		-e syscall:brk:enter -- ./calls 20
	[ "$(waymark print t | grep -c getpgid)" -eq 0 ]
	[ "$(waymark print t | grep -c 'calls:.*brk')" -gt 0 ]
	rm -rf t
	run -3 waymark record -q -o t --preload none --trigger 'syscalls:sys_enter_getpgid:enable_event:syscalls:sys_exit_getpgid:1' \
		--trigger 'syscalls:sys_enter_getpgid:stacktrace:3' -- ./calls 20
	[ "$(waymark print t | grep -c 'calls:.*sys_exit_getpgid')" -eq 20 ]
	[ "$(waymark print t | grep -c "$stack")" -eq 3 ]
}

@test "an impossible trigger is reported: no such event, no such command, a filter, a missing kernel option" {
	refused() { # STATUS WORDS OPTION TEXT
		run "-$1" waymark record -q -o u --preload none "$3" "$4" -e syscall:getppid -- true
		[[ $output == *$2* ]]
		[ ! -e u ]
	}
	refused 4 "no event 'sched:sched_swich'" --trigger sched:sched_swich:stacktrace
	refused 2 "not of the form SYSTEM:EVENT:COMMAND" --trigger stacktrace
	refused 2 "refuses the trigger 'nonsense'" --trigger sched:sched_switch:nonsense
	refused 2 "Field not found" --trigger 'sched:sched_switch:stacktrace if nosuch == 1'
	# The kernel's error_log has the position: after the name.
	run -2 waymark record -q -o u --trigger 'sched:sched_switch:stacktrace if prev_pid > 1 && nosuch == 1' -- true
	[[ $output == *"Field not found"*$'\n  '"sched:sched_switch:stacktrace if prev_pid > 1 && nosuch == 1"* ]]
	local column=${lines[2]%^}
	[ "${#column}" -eq "$(expr length "  sched:sched_switch:stacktrace if prev_pid > 1 && nosuch ")" ]
	refused 2 "use kernel or user" --stacks kernel,none
	[ -e "$TRACEFS/events/sched/sched_switch/hist" ] || refused 2 CONFIG_HIST_TRIGGERS --trigger sched:sched_switch:hist:keys=next_pid
	[ -e "$TRACEFS/snapshot" ] || refused 2 CONFIG_TRACER_SNAPSHOT --trigger sched:sched_switch:snapshot
	[ -e "$TRACEFS/synthetic_events" ] || refused 2 CONFIG_SYNTH_EVENTS --synthetic 'late u64 ns'
	[ -e "$TRACEFS/kprobe_events" ] || refused 2 CONFIG_KPROBE_EVENTS -e 'eprobe:sched:sched_switch(next_comm)'
	refused 2 "is not of the form eprobe" -e eprobe:sched:sched_switch
}

@test "in a container: files as its processes see them, by -p, by /proc/PID/root, by process" {
	need_x86
	mkdir -p root/app root/lib64 root/bin root/proc
	cc -O2 -g -static "$W/work.c" -o root/app/work
	ln -s /app/work root/bin/tool
	unshare -m true 2>why || skip "no mount namespaces: $(cat why)"
	unshare -m chroot root /bin/tool 600000 slowly >/dev/null 3>&- & local pid=$!
	until_true eval '[ "$(readlink /proc/$pid/exe)" = "$PWD/root/app/work" ]'
	local name
	for name in uprobe:/bin/tool:tick uprobe:/app/work:tick uprobe:tool:tick; do
		rm -rf t
		PATH="$PATH:/app:/bin" run -0 waymark record -q -o t -e "$name(arg1:s32)" -p $pid \
			-- bash -c '. "$0" && until_shows t 11 work:tick' "$WAYMARK_SOURCE/test/wait.bash"
		[ "$(fields t | grep -c "uprobe:work:tick: .* tid = $pid, .*arg1 = ")" -gt 10 ]
	done
	for name in "uprobe:/proc/$pid/root/bin/tool:tick" "uprobe:$pid:tick"; do
		rm -rf t
		run -0 waymark record -q -o t -e "$name" -a -- bash -c '. "$0" && until_shows t 11 work:tick' "$WAYMARK_SOURCE/test/wait.bash"
		[ "$(waymark print t | grep -c "tool:$pid/.*uprobe:work:tick: ")" -gt 10 ]
	done
	kill $pid
	run -4 waymark record -q -o u -e "uprobe:/app/work:tick" -a -- true
	run -125 waymark record -q -o u -e "uprobe:4194305:tick" -- true
	[[ $output == *"there is no process 4194305"* ]]
}

@test "kill -9 of command and pump while probes fire: the next start leaves no instance and no probe" {
	need_x86
	local pump keeper
	waymark record -q -o t --preload none -e "uprobe:$W/work:tick" -- "$W/work" 600000 slowly 3>&- & local command=$!
	pump=$(pump_of $command)
	until_true pgrep -P $command -x waymark-probes
	keeper=$(pgrep -P $command -x waymark-probes)
	until_true test -e t/kernel/formats
	grep -q "waymark_${command}_" "$TRACEFS/uprobe_events"
	# Another process's probe at the same place, and another process's instance, must remain.
	echo "p:other_$$/tick $W/work:0x$(nm "$W/work" | awk '$3 == "tick" { print $1 }')" >>"$TRACEFS/uprobe_events"
	mkdir "$TRACEFS/instances/other_$$"
	local app=$(pgrep -P $command -x work)
	kill -9 "$keeper" "$pump" "$command"
	wait $command || true
	kill "$app"
	# The pump holds the instance's lock until the kernel has ended it.
	until_gone "$keeper" "$pump" "$app"
	# The next start removes them, unless another process started recording first.
	grep -q "waymark_${command}_" "$TRACEFS/uprobe_events" || echo "# the probes were removed by another's start" >&3
	run -0 waymark record -q -o next -e syscall:getppid -- true
	run -1 grep "waymark_${command}_" "$TRACEFS/uprobe_events"
	[ -z "$(ls "$TRACEFS/instances" | grep "waymark-$command-")" ]
	grep -q "other_$$" "$TRACEFS/uprobe_events"
	rmdir "$TRACEFS/instances/other_$$"
	echo "-:other_$$/tick" >>"$TRACEFS/uprobe_events"
}

@test "kill -9 of the command: its pump writes the events up to then, then the keeper removes the probes" {
	need_x86
	waymark record -q -o t --preload none -e "uprobe:$W/work:tick" -- "$W/work" 600000 slowly 3>&- & local command=$!
	until_shows t 11 work:tick
	local app=$(pgrep -P $command -x work)
	kill -9 $command
	wait $command || true
	until_true eval '! grep -q "waymark_${command}_" "$TRACEFS/uprobe_events"'
	kill $app
	[ "$(waymark print t | grep -c work:tick)" -gt 10 ]
	same_in_babeltrace work:tick
}

@test "200 processes at once, by -p and as a tree" {
	need_x86
	record -e "uprobe:$W/work:tick(arg1:s32)" -- sh -c "for i in \$(seq 200); do $W/work 5 & done; wait"
	[ "$(waymark print t | grep -c work:tick)" -eq 1000 ]
	[ "$(waymark print t | grep -o 'work:[0-9]*/' | sort -u | wc -l)" -eq 200 ]
	rm -rf t
	local pids=() i
	for ((i = 0; i < 200; i++)); do
		sh -c "kill -STOP \$\$; exec $W/work 5" >/dev/null 3>&- &
		pids+=($!)
	done
	for i in "${pids[@]}"; do while [[ $(cat /proc/$i/stat) != *") T "* ]]; do sleep 0.01; done; done
	waymark record -q -o t -e "uprobe:$W/work:tick(arg1:s32)" -p "$(IFS=,; echo "${pids[*]}")" 3>&- & local command=$!
	until_tracing $command
	kill -9 "${pids[0]}"
	kill -CONT "${pids[@]:1}"
	wait $command
	[ "$(waymark print t | grep -c work:tick)" -eq 995 ]
	[ "$(waymark print t | grep -o 'work:[0-9]*/' | sort -u | wc -l)" -eq 199 ]
}

@test "Debian's programs: readline of bash, malloc and fopen of libc" {
	need_x86
	record -e 'uretprobe:bash:readline($retval:string)' -- bash --norc -i <<<'echo typed by nobody' || true
	[[ $(fields t) == *'uretprobe:bash:readline: '*'retval = "echo typed by nobody"'* ]]
	rm -rf t
	record -e 'uprobe:libc.so.6:malloc(bytes=arg1)' -e 'uretprobe:libc.so.6:fopen($retval:x64)' \
		-e 'uprobe:libc.so.6:fopen(path=arg1:string, mode=arg2:string)' -- sort /etc/passwd
	[ "$(fields t | grep -c 'libc.so.6:malloc: .* bytes = [1-9]')" -gt 5 ]
	same_in_babeltrace libc.so.6:
}

@test "USDT: registers, memory, constants, variables, doubles; several places are one event" {
	need_x86
	local program
	for program in usdt usdt_pie; do
		rm -rf t
		record -e "usdt:$W/$program:zoo:*" -- "$W/$program"
		fields t >text
		[ "$(grep -c "usdt:$program:zoo:two: " text)" -eq 75 ]
		[ "$(grep -c "zoo:two: .*arg1 = -1, arg2 = 6 " text)" -eq 25 ]
		[ "$(grep -c "zoo:two: .*arg1 = 49, arg2 = 5 " text)" -eq 1 ]
		[ "$(grep -c "zoo:feed: " text)" -eq 50 ]
		[ "$(grep -c "zoo:all: .*arg1 = -9, arg2 = 2.5, arg3 = 77, arg6 = 65 " text)" -eq 50 ]
		[ "$(waymark info t --json | grep -o '"usdt:[a-z_]*:zoo:two"' | wc -l)" -le 1 ]
		[ "$(grep -c 'without one or more' <<<"$stderr")" -eq 1 ]
		[[ $stderr == *"argument 4 ("*",8)) is indexed memory"*"argument 5 (8f@%xmm"*"the kernel cannot read"* ]]
		same_in_babeltrace zoo:
	done
}

@test "USDT: arguments by name and type; the semaphore is counted down again" {
	need_x86
	record -e "usdt:$W/usdt:zoo:feed(what=arg1:string)" -- "$W/usdt"
	[ "$(fields t | grep -c 'zoo:feed: .*what = "banana"')" -eq 50 ]
	run -2 --separate-stderr waymark record -q -o u -e "usdt:$W/usdt:zoo:all(arg4)" -- true
	[[ $stderr == *"indexed memory"* ]]
	run -2 --separate-stderr waymark record -q -o u -e "usdt:$W/usdt:zoo:feed(arg2)" -- true
	[[ $stderr == *"no argument 2"* ]]
	[ ! -e u ]
}
