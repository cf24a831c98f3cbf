#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# record_api.bats - tests <waymark/list.h> and <waymark/record.h>: the examples, built outside of
# the tree with an installed waymark, do the same as the command.

bats_require_minimum_version 1.5.0
load wait

setup_file() {
	export W="$BATS_FILE_TMPDIR"
	DESTDIR="$W/root" meson install -C "$WAYMARK_BUILD" --no-rebuild --quiet
	local pc prefix flags name
	pc=$(find "$W/root" -name waymark.pc)
	prefix=$(dirname "$(dirname "$(find "$W/root" -path '*/bin/waymark')")")
	flags=$(PKG_CONFIG_PATH=$(dirname "$pc") pkg-config --define-variable=prefix="$prefix" \
		--cflags --libs waymark)
	for name in arguments change count list record sample trace trigger; do
		gcc -std=c99 -D_GNU_SOURCE -Wall -Wextra -Werror "$WAYMARK_SOURCE/examples/$name.c" \
			-o "$W/$name" $flags
	done
	gcc -std=c99 -D_GNU_SOURCE -Wall -Wextra -Werror "$WAYMARK_SOURCE/test/data/count_api.c" -o "$W/count_api" $flags
	export LD_LIBRARY_PATH
	LD_LIBRARY_PATH=$(dirname "$(dirname "$pc")")
}

setup() {
	waymark="$WAYMARK_BUILD/waymark"
	cd "$BATS_TEST_TMPDIR"
}

# Prints the names of the kernel's events, and of their fields, as the command lists them.
listed() {
	"$waymark" list --json --fields "$@" | python3 -c '
import json, sys
for group in json.load(sys.stdin)["groups"]:
    for e in group.get("events", []):
        name = e["name"] if "kernel" in group else e["provider"] + ":" + e["name"]
        print(name, "(" + e["kind"] + ")")
        for f in e.get("fields", []) + e.get("exit_fields", []):
            print("  " + f["type"], f["name"])
'
}

@test "list: events and their fields equal the command's" {
	for glob in 'sched:sched_s*' 'syscall:open*' 'sw:*' 'usdt:/bin/bash:*:*'; do
		diff <("$W/list" "$glob") <(listed "$glob")
	done
	[ "$("$W/list" 'sched:sched_switch' | wc -l)" -ge 8 ]
	[ "$("$W/list" | wc -l)" -gt 1000 ]
}

@test "list: an unknown name gets the nearest names" {
	run -1 "$W/list" sched:sched_swich
	[[ $output == *"did you mean 'sched:sched_switch'"* ]]
}

@test "live: an example prints the same as the command records, events of programs and of the kernel" {
	"$W/trace" 'hello:*' "$WAYMARK_BUILD/examples/hello" | grep -v 'hello, world' >live
	[ "$(wc -l <live)" -eq 3 ]
	[ "$(awk '{ print $2, $3 }' live | sort -u)" = "hello hello:greeting" ]
	sort -c -n live
	[ -w /sys/kernel/tracing ] || skip "events of the kernel need root"
	"$W/trace" syscall:getppid perl -e 'getppid for 1..1000' >live
	"$waymark" record -q -o own -e syscall:getppid -- perl -e 'getppid for 1..1000'
	[ "$(grep -c sys_enter_getppid live)" -ge 1000 ]
	diff <(awk '{ print $3 }' live | sort | uniq -c) \
		<("$waymark" print --jsonl own | grep -o 'syscalls:sys_[a-z_]*' | sort | uniq -c)
	sort -c -n live
}

@test "live: 200,000 events of a program that does not wait, delivered or counted as lost" {
	cat >many.c <<-'END'
	#include <waymark/tracepoint.h>
	WAYMARK_EVENT(many, one, WAYMARK_ARGS(int, n), WAYMARK_FIELDS((i32, n, n)));
	int main(void)
	{
		for (int n = 0; n < 200000; n++)
			trace_event(many, one, n);
	}
	END
	gcc -O2 -I"$WAYMARK_SOURCE/include" many.c -o many -L"$WAYMARK_BUILD" \
		-Wl,--no-as-needed,-rpath,"$WAYMARK_BUILD" -lwaymark-rt
	"$W/trace" 'many:*' ./many >live
	[ "$(wc -l <live)" -eq 200000 ]
}

@test "to a folder: the same numbers as the command, and a complete trace" {
	[ "$("$W/record" 'hello:*' own "$WAYMARK_BUILD/examples/hello" | tail -1)" = "3 events, 0 lost" ]
	[ "$("$waymark" print --jsonl own | wc -l)" -eq 3 ]
	run -1 "$W/record" 'hello:*' own true
	[ "$output" = "cannot record to 'own': the folder is not empty; use a new one" ]
	run -1 "$W/record" 'hello:*' other ./nothing
	[ "$output" = "cannot run './nothing': No such file or directory" ]
	[ ! -e other ]
}

@test "counting: the same numbers as perf stat" {
	[ -w /sys/kernel/tracing ] || skip "system calls are counted by root"
	"$W/count" syscalls:sys_enter_getppid,sw:page-faults perl -e 'getppid for 1..12345' >counts
	grep -qx 'syscalls:sys_enter_getppid 12345' counts
	faults=$(awk '/page-faults/ { print $2 }' counts)
	command -v perf || skip "perf is not installed"
	theirs=$(perf stat -x, -e page-faults perl -e 'getppid for 1..12345' 2>&1 | cut -d, -f1)
	[ "$faults" -gt $((theirs * 9 / 10)) ] && [ "$faults" -lt $((theirs * 11 / 10)) ] || false
}

# totals FILTER... - prints the lines of count_api without those of threads
totals() {
	"$W/count_api" "$@" >all && grep -v '^ ' all
}

@test "counting: filters are evaluated where events are counted; unsupported ones are reported" {
	[ -w /sys/kernel/tracing ] || skip "system calls are counted by root"
	calls='syscall(3, 77) for 1..50; syscall(3, 78) for 1..20'
	run -0 totals syscalls:sys_enter_close 'fd == 77 || fd == 78' perl -e "$calls"
	[ "$output" = "syscalls:sys_enter_close 70" ]
	run -0 totals syscall:close 'fd == 77' perl -e "$calls"
	[ "$output" = "syscall:close 50" ]
	run -1 totals syscalls:sys_enter_close 'fdd == 77' true
	[[ $output == "1: "*fdd* ]]
	run -0 --separate-stderr "$W/count_api" 'syscalls:sys_enter_*pid' 'pid == 4711' true
	[[ $stderr == *"lack a field of the filter, so they are not counted"* ]]
	run -1 totals syscalls:sys_enter_close 'fd % 2 == 0' true
	[[ $output == *"record the events with this filter"* ]]
}

# ./marked emits 1000 events in each of two threads, then in a child. Arguments: "die": then kills
# itself by SIGKILL; "wait": begins when the file ./go exists, then creates ./done, and ends when
# ./end exists.
marked() {
	cat >marked.c <<-'END'
	#include <pthread.h>
	#include <signal.h>
	#include <stdio.h>
	#include <string.h>
	#include <sys/wait.h>
	#include <unistd.h>
	#include <waymark/tracepoint.h>
	WAYMARK_EVENT(marked, one, WAYMARK_ARGS(int, n), WAYMARK_FIELDS((i32, n, n)));
	static void *work(void *data)
	{
		for (int n = 0; n < 1000; n++)
			trace_event(marked, one, n);
		return data;
	}
	static void until(const char *path)
	{
		for (int i = 0; i < 6000 && access(path, F_OK); i++)
			usleep(10000);
	}
	int main(int argc, char **argv)
	{
		int waits = argc > 1 && !strcmp(argv[1], "wait");
		pthread_t t;
		if (waits)
			until("go");
		pthread_create(&t, NULL, work, NULL);
		work(NULL);
		pthread_join(t, NULL);
		if (argc > 1 && !strcmp(argv[1], "die"))
			kill(getpid(), SIGKILL);
		if (!fork())
			_exit(work(NULL) != NULL);
		wait(NULL);
		if (waits)
			fclose(fopen("done", "w")), until("end");
		return 0;
	}
	END
	gcc -O2 -pthread -I"$WAYMARK_SOURCE/include" marked.c -o marked -L"$WAYMARK_BUILD" \
		-Wl,--no-as-needed,-rpath,"$WAYMARK_BUILD" -lwaymark-rt
}

@test "counting: events of programs, of threads, children, kill -9, filtered in the program" {
	marked
	run -0 totals 'marked:*,sw:page-faults,nothing:there' '' ./marked
	[[ ${lines[0]} == "sw:page-faults "* ]]
	[ "${lines[1]}" = "marked:one 3000" ]
	[ "${lines[2]}" = "nothing:there 0" ]
	run -0 totals user:marked:one 'n % 10 == 3' ./marked
	[ "$output" = "marked:one 300" ]
	run -1 "$W/count_api" marked:one '' ./marked die
	[ "${lines[0]}" = "marked:one 2000" ]
	run -1 totals marked:one 'm == 1' ./marked
	[[ $output == *"marked:one has no field 'm'"* ]]
	run -0 totals 'marked:*,marked:one' '' ./marked
	[ "$output" = "marked:one 3000" ]
	run -1 totals marked:one,marked:one '' ./marked
	[[ $output == *"given twice"* ]]
	run -1 totals marked:one 'n = ' ./marked
	[[ $output == [1-9]": "* ]]
}

@test "counting: a program counts its own events" {
	cat >itself.c <<-'END'
	#include <inttypes.h>
	#include <stdio.h>
	#include <waymark/record.h>
	#include <waymark/tracepoint.h>
	WAYMARK_EVENT(itself, one, WAYMARK_ARGS(int, n), WAYMARK_FIELDS((i32, n, n)));
	int main(void)
	{
		const char *events[] = {"itself:*"};
		struct waymark_count_options o = {.size = sizeof(o), .events = events, .nr_events = 1};
		struct waymark_counters *c;
		struct waymark_counter one = WAYMARK_INIT(one);
		struct waymark_error error = WAYMARK_INIT(error);
		if (waymark_count(&o, &c, &error))
			return printf("%s\n", error.text), 1;
		for (int n = 0; n < 1000; n++)
			trace_event(itself, one, n);
		waymark_count_read(c);
		for (unsigned i = 0; waymark_counter(c, i, &one) == 0; i++)
			printf("%s %" PRIu64 "\n", one.name, one.value);
		waymark_count_close(c);
		trace_event(itself, one, -1);
		return 0;
	}
	END
	gcc -D_GNU_SOURCE -I"$WAYMARK_SOURCE/include" itself.c -o itself -L"$WAYMARK_BUILD" \
		-Wl,--no-as-needed,-rpath,"$WAYMARK_BUILD" -lwaymark -lwaymark-rt
	run -0 ./itself
	[ "$output" = "itself:one 1000" ]
}

@test "counting: events of a running process, of one of its threads" {
	local pid counting
	marked
	for whose in p:3000 t:1000; do
		rm -f go done end ready
		./marked wait 3>&- &
		pid=$!
		until_true grep -qx marked "/proc/$pid/comm" # it is a shell until it calls exec
		until_idle "$pid"
		"$W/count_api" marked:one '' -"${whose%:*}" "$pid" ready done >counts 3>&- &
		counting=$!
		until_true test -e ready
		touch go
		wait "$counting"
		grep -qx "marked:one ${whose#*:}" counts
		grep -qx "  $pid 1000" counts
		touch end
		wait "$pid"
	done
	run -1 "$W/count_api" marked:one '' -p $$ ready done
	[[ $output == *"no waymark runtime"* ]]
}

@test "counting: an event that cannot be counted is reported, the others are counted" {
	run -0 "$W/count" sw:page-faults,cpu:cycles true
	[[ ${lines[0]} == "sw:page-faults "[1-9]* ]]
	[[ ${lines[1]} == cpu:cycles* ]]
	run -1 "$W/count" sw:page-fault true
	[[ $output == *"did you mean"*sw:page-faults* ]]
}

@test "sampling: the functions in which a program spends its time" {
	run -0 "$W/sample" own perl -e '$x = 0; $x += $_ for 1..6000000'
	[[ ${lines[-1]} == [1-9]*" samples" ]]
	[ "$("$waymark" print --jsonl own -e 'sw:task-clock' | wc -l)" -eq "${output%% *}" ]
}

@test "probes: arguments of a function and of a USDT probe, as they are hit" {
	[ -w /sys/kernel/tracing ] || skip "probes are put by root"
	cat >work.c <<-'END'
	#include <waymark/tracepoint.h>
	WAYMARK_EVENT(app, step, WAYMARK_ARGS(int, n), WAYMARK_FIELDS((i32, n, n)));
	__attribute__((noinline)) int work(int n)
	{
		trace_event(app, step, n * 2);
		return n + 1;
	}
	int main(void)
	{
		int sum = 0;
		for (int n = -2; n < 3; n++)
			sum += work(n);
		return sum > 100;
	}
	END
	gcc -O1 -DWAYMARK_SDT -I"$WAYMARK_SOURCE/include" work.c -o work
	"$W/arguments" 'uprobe:./work:work(n=%di:s32)' ./work >fetched
	[ "$(grep -o 'n=.*' fetched | tr '\n' ' ')" = "n=-2 n=-1 n=0 n=1 n=2 " ]
	"$W/arguments" 'usdt:./work:app:step' ./work >fetched
	[ "$(grep -o 'arg1=.*' fetched | tr '\n' ' ')" = "arg1=-4 arg1=-2 arg1=0 arg1=2 arg1=4 " ]
}

# other FIRST THEN: changes a recording from FIRST to THEN and writes the output to the file seen;
# ./two runs until an event of THEN arrived.
other() {
	local changing
	rm -f end made
	"$W/change" "$1" "$2" ./two >seen 3>&- &
	changing=$!
	until_true eval '[ "$(uniq -c seen | tail -1 | awk "{ print \$1 }")" -gt 10 ] && [ "$(uniq seen | wc -l)" -gt 1 ]'
	touch end
	wait "$changing"
}

@test "changing the events while recording" {
	cat >two.c <<-'END'
	#include <stdio.h>
	#include <time.h>
	#include <unistd.h>
	#include <waymark/tracepoint.h>
	WAYMARK_EVENT(two, first, WAYMARK_ARGS(int, n), WAYMARK_FIELDS((i32, n, n)));
	WAYMARK_EVENT(two, then, WAYMARK_ARGS(int, n), WAYMARK_FIELDS((i32, n, n)));
	int main(void)
	{
		FILE *made;
		int n;
		for (n = 0; access("end", F_OK); n++) {
			trace_event(two, first, n);
			trace_event(two, then, n);
			nanosleep(&(struct timespec){.tv_nsec = 10000000}, 0);
		}
		made = fopen("made", "w");
		fprintf(made, "%d\n", n);
		return fclose(made);
	}
	END
	gcc -O2 -I"$WAYMARK_SOURCE/include" two.c -o two -L"$WAYMARK_BUILD" \
		-Wl,--no-as-needed,-rpath,"$WAYMARK_BUILD" -lwaymark-rt
	other two:first two:then
	[ "$(uniq seen | head -1)" = two:first ]
	[ "$(uniq seen | tail -1)" = two:then ]
	[ "$(grep -c two:first seen)" -lt "$(cat made)" ]
	[ -w /sys/kernel/tracing/instances ] || return 0
	# Kernel events are added to a recording that began without them, and then changed.
	local call=syscalls:sys_enter_clock_nanosleep
	other two:first syscall:clock_nanosleep:enter
	[ "$(uniq seen | head -1)" = two:first ]
	[ "$(uniq seen | tail -1)" = $call ]
	[ "$(grep -c two:first seen)" -lt "$(cat made)" ]
	other syscall:clock_nanosleep:enter syscall:clock_nanosleep:exit
	[ "$(uniq seen | head -1)" = $call ]
	[ "$(uniq seen | tail -1)" = syscalls:sys_exit_clock_nanosleep ]
	[ "$(grep -c $call seen)" -lt "$(cat made)" ]
	rm end
	"$W/change" two:first func:kernel:vfs_read ./two >seen 2>words 3>&- & local changing=$!
	until_true grep -q 'can be recorded only from the beginning of a recording' words
	touch end
	wait $changing
}

@test "triggers: stacks of the kernel; features that this kernel lacks are reported" {
	[ -w /sys/kernel/tracing ] || skip "triggers are set by root"
	"$W/trigger" sched:sched_switch:stacktrace own sleep 0.05
	[ "$("$waymark" print --jsonl own -e 'ftrace:kernel_stack' | wc -l)" -ge 1 ]
	run "$W/trigger" kmem:kmalloc:hist:keys=bytes_req hist true
	[ "$status" -eq 0 ] && [ -s hist/kernel/kmem.kmalloc.hist ] ||
		[[ $output == *"CONFIG_HIST_TRIGGERS"* ]]
}

# Prints the instances of the kernel's tracing that a process created.
instances() {
	find /sys/kernel/tracing/instances -maxdepth 1 -name "waymark-$1-*" 2>/dev/null | wc -l
}

no_instance() {
	[ "$(instances "$1")" -eq 0 ]
}

@test "no folder in memory and no instance remain when the reader is killed" {
	[ -w /sys/kernel/tracing ] || skip "instances are made by root"
	"$W/trace" syscall:getppid sleep 600 >live 3>&- &
	pid=$!
	until_tracing $pid # if it was killed before it had a pump, the next start removes the instance
	[ "$(instances $pid)" -eq 1 ]
	local command=$(pgrep -P $pid -x sleep)
	kill -9 $pid
	until_true no_instance $pid
	kill "$command"
}
