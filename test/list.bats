#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# list.bats - tests waymark list on programs, libraries and running processes.

bats_require_minimum_version 1.5.0
load wait

setup_file() {
	export W="$BATS_FILE_TMPDIR"
	cat >"$W/app.c" <<-'END'
	#include <stdio.h>
	#include <unistd.h>
	#include <waymark/tracepoint.h>
	enum color { RED = 1, GREEN = 2 };
	WAYMARK_EVENT(shop, order, WAYMARK_ARGS(int, id, const char *, customer, enum color, c),
		WAYMARK_FIELDS((u32, id, id), (str, customer, customer),
			(enumeration, color, u8, c, ("red", RED), ("green", GREEN)),
			(seq, ids, i32, &id, 1), (chars, tag, customer, 8), (f64, half, id / 2.0)));
	WAYMARK_EVENT(shop, idle, WAYMARK_ARGS(int, n), WAYMARK_FIELDS((i32, n, n)),
		WAYMARK_LEVEL(DEBUG), WAYMARK_PRINT("n is %d\n"));
	__attribute__((noinline)) void work(int i)
	{
		trace_event(shop, order, i, "me", RED);
		trace_event(shop, idle, i);
	}
	__attribute__((noinline)) void rest(int i)
	{
		trace_event(shop, idle, i + 1);
	}
	int main(void)
	{
		work(1);
		rest(2);
		(void)!write(1, "ready\n", 6);
		return pause();
	}
	END
	cc -O2 -g -I"$WAYMARK_SOURCE/include" "$W/app.c" -o "$W/app"
	cc -O2 -DWAYMARK_LOADTEST -I"$WAYMARK_SOURCE/include" "$W/app.c" -o "$W/loadtest"
	cc -O2 -c -I"$WAYMARK_SOURCE/include" "$W/app.c" -o "$W/app.o"
	cc -O2 -x c -fPIC -shared -Wl,-soname,libnone.so - -o "$W/libnone.so" <<<'int none;'
}

setup() {
	PATH="$WAYMARK_BUILD:$PATH"
	cd "$W"
}

teardown() {
	[ -z "${pid-}" ] || kill "$pid" 2>/dev/null || true
}

start_app() {
	mkfifo fifo.$BATS_TEST_NUMBER
	"$@" >fifo.$BATS_TEST_NUMBER 3>&- &
	pid=$!
	read -r _ <fifo.$BATS_TEST_NUMBER
}

@test "a program's events: kind, level, sites, by name" {
	run --separate-stderr waymark list ./app
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = "./app:" ]
	[[ ${lines[2]} =~ ^\ \ shop:idle\ +event\ +debug\ +2$ ]]
	[[ ${lines[3]} =~ ^\ \ shop:order\ +event\ +info\ +1$ ]]
	[ "${#lines[@]}" -eq 4 ]
	[ -z "$stderr" ]
}

@test "--fields: types, labels, print form, declaration, places" {
	run waymark list app --fields
	[ "$status" -eq 0 ]
	[[ $output == *"      int32      n"* ]]
	[[ $output == *"      uint8      color {red=1, green=2}"* ]]
	[[ $output == *"      int32[]    ids"* ]]
	[[ $output == *"      char[8]    tag"* ]]
	[[ $output == *"      float64    half"* ]]
	[[ $output == *'      print "n is %d\n"'* ]]
	[[ $output == *"declared in $W/app.c:5"* ]]
	[[ $output == *"site in rest+0x"* ]]
	[[ $output == *"site in work+0x"* ]]
}

@test "--fields: file and line of a site from debug information" {
	run waymark list app --fields
	[[ $output == *"(app.c:13)"* || $output == *"(/"*"/app.c:13)"* ]]
	[[ $output == *"app.c:14)"* ]]
	[[ $output == *"app.c:18)"* ]]
}

@test "a linked marker: the event it is attached to" {
	cat >ride.c <<-'END'
	#include <waymark/tracepoint.h>
	WAYMARK_EVENT(shop, order, WAYMARK_ARGS(int, id), WAYMARK_FIELDS((i32, id, id)));
	WAYMARK_MARK_ON_EVENT(shop, order, WAYMARK_ARGS(int, id), big, "id %d", id);
	int main(void)
	{
		trace_event(shop, order, 1);
		return 0;
	}
	END
	for language in c c++; do
		cc -x "$language" -O2 -I"$WAYMARK_SOURCE/include" ride.c -o ride
		run -0 waymark list --fields ride:big ./ride
		[[ $output == *"attached to shop:order (ride.c:3)"* ]]
		[[ $output != *"site in"* ]]
		run -0 waymark list --json ride:big ./ride
		[[ $output == *'"rides_on":"shop:order"'* ]]
	done
}

@test "events without a provider: the same name everywhere" {
	cat >lib.c <<-'END'
	#include <waymark/tracepoint.h>
	void inside(int n)
	{
		trace_mark(in_lib, "n %d", n);
	}
	END
	cat >prog.c <<-'END'
	#include <unistd.h>
	#include <waymark/tracepoint.h>
	void inside(int n);
	int main(int argc, char **argv)
	{
		for (int i = 0; i < (argc > 1 ? 3 : 600000); i++) {
			trace_mark(in_prog, "i %d", i);
			inside(i);
			if (argc == 1)
				usleep(1000);
			if (argc == 1 && i == 0)
				(void)!write(1, "ready\n", 6);
		}
		return 0;
	}
	END
	cc -O2 -fPIC -shared -I"$WAYMARK_SOURCE/include" lib.c -o libmy-part-2.so.1.0 \
		-Wl,-soname,libmy-part-2.so.1
	ln -sf libmy-part-2.so.1.0 libmy-part-2.so.1
	cc -O2 -I"$WAYMARK_SOURCE/include" prog.c -o my-prog.v2 ./libmy-part-2.so.1 -L"$WAYMARK_BUILD" \
		-Wl,--no-as-needed -lwaymark-rt -Wl,-rpath,"$WAYMARK_BUILD:$W"
	ln -sf my-prog.v2 alias
	run -0 waymark list ./alias ./libmy-part-2.so.1
	[[ $output == *"my_prog:in_prog "*"my_part_2:in_lib "* ]]
	run -0 waymark record -o names -e my_prog:in_prog -e my_part_2:in_lib -- ./alias once
	[ "$(waymark print names | grep -c 'my_prog:in_prog:\|my_part_2:in_lib:')" -eq 6 ]
	start_app ./alias
	run -0 waymark list -p "$pid"
	[[ $output == *"my_prog:in_prog "*"my_part_2:in_lib "* ]]
	run -0 --separate-stderr waymark record -o attached -e my_part_2:in_lib -p "$pid" \
		-- bash -c '. "$0" && until_shows attached 4 my_part_2:in_lib' "$WAYMARK_SOURCE/test/wait.bash"
	[ "$(waymark print attached | grep -c my_part_2:in_lib)" -gt 3 ]
	run -4 waymark record -o none -e my_part2:in_lib -p "$pid" -- sleep 0.1
	[[ $output == *"did you mean 'my_part_2:in_lib'"* ]]
}

@test "globs: whole names, parts, a name of any provider" {
	run waymark list 'shop:*' ./app
	[ "${#lines[@]}" -eq 4 ]
	run waymark list idle ./app
	[ "${#lines[@]}" -eq 3 ]
	[[ ${lines[2]} == *shop:idle* ]]
	run waymark list 'user:shop:o*' ./app
	[[ ${lines[2]} == *shop:order* ]]
	[ "${#lines[@]}" -eq 3 ]
}

@test "--json is valid JSON and complete" {
	waymark list ./app --json >list.json
	python3 - list.json <<-'END'
	import json, sys
	(file,) = json.load(open(sys.argv[1]))["groups"]
	assert file["file"] == "./app" and len(file["build_id"]) == 40
	idle, order = file["events"]
	assert (idle["provider"], idle["name"], idle["level"], idle["nr_sites"]) == ("shop", "idle", "debug", 2)
	assert idle["print"] == "n is %d\n" and order["print"] is None
	assert [f["name"] for f in order["fields"]] == ["id", "customer", "color", "ids", "tag", "half"]
	assert order["fields"][2] == {"name": "color", "type": "uint8", "labels": {"red": 1, "green": 2}}
	assert {s["function"] for s in idle["sites"]} == {"work", "rest"}
	END
}

@test "stripped, load+test, static and -O0 builds show the same events" {
	cp app stripped
	strip stripped
	cc -O0 -static -I"$WAYMARK_SOURCE/include" app.c -o static0
	for file in stripped loadtest static0; do
		run --separate-stderr waymark list ./$file
		[ "$status" -eq 0 ]
		[[ ${lines[2]} =~ shop:idle\ +event\ +debug\ +2$ ]]
		[[ ${lines[3]} =~ shop:order\ +event\ +info\ +1$ ]]
	done
	run waymark list --fields ./loadtest
	[[ $output == *"without an address"* ]]
}

@test "nothing matches: nearest names, exit 4" {
	run --separate-stderr waymark list shop:odrer ./app
	[ "$status" -eq 4 ]
	[ -z "$output" ]
	[[ $stderr == *"no event matches 'shop:odrer'; did you mean 'shop:order'"* ]]
	run --separate-stderr waymark list ./libnone.so
	[ "$status" -eq 4 ]
	[[ $stderr == *"'./libnone.so' has no events"* ]]
}

@test "unreadable files are reported with the reason; the others are listed" {
	run --separate-stderr waymark list ./missing ./app
	[ "$status" -eq 1 ]
	[[ $stderr == *"cannot open './missing': No such file or directory"* ]]
	[[ $output == *shop:idle* ]]
	run --separate-stderr waymark list ./app.c
	[ "$status" -eq 1 ]
	[[ $stderr == *"cannot read './app.c': "*"not an ELF file"* ]]
	run --separate-stderr waymark list ./app.o
	[ "$status" -eq 1 ]
	[[ $stderr == *"an object file"* ]]
	run --separate-stderr waymark list "$W"
	[ "$status" -eq 1 ]
	[[ $stderr == *"a directory"* ]]
	head -c 3000 app >cut
	run --separate-stderr waymark list ./cut
	[ "$status" -eq 1 ]
	[[ $stderr == *"the file ends before"* ]]
	printf '\177ELF\1\2\1' >big
	truncate -s 64 big
	run --separate-stderr waymark list ./big
	[[ $stderr == *"big-endian"* ]]
}

@test "a file without section headers: reported, with the cure" {
	cp app sstripped
	# clears e_shoff, e_shnum and e_shstrndx
	printf '\0\0\0\0\0\0\0\0' | dd of=sstripped bs=1 seek=40 conv=notrunc status=none
	printf '\0\0\0\0' | dd of=sstripped bs=1 seek=60 conv=notrunc status=none
	run --separate-stderr waymark list ./sstripped
	[ "$status" -eq 1 ]
	[[ $stderr == *"section headers were stripped"*"-p"* ]]
	# A process that runs it: without the runtime the state is not known, with the runtime it is
	# reported.
	start_app ./sstripped
	run --separate-stderr waymark list -p "$pid"
	[ "$status" -eq 4 ]
	[[ $stderr == *"no section headers"*"no waymark runtime"*"LD_PRELOAD"* ]]
	kill "$pid"
	rm fifo.$BATS_TEST_NUMBER
	start_app env LD_PRELOAD="$WAYMARK_BUILD/libwaymark-rt.so.0" ./sstripped
	run --separate-stderr waymark list -p "$pid"
	[ "$status" -eq 0 ]
	[[ $output =~ shop:idle\ +event\ +debug\ +2\ +off ]]
	[[ $output =~ shop:order\ +event\ +info\ +1\ +off ]]
	run --separate-stderr waymark list --fields shop:order -p "$pid"
	[[ $output == *"uint8      color {red=1, green=2}"* ]]
	[[ $stderr == *"are read from the process"* ]]
}

@test "a running process: its events, none on" {
	start_app ./app
	run --separate-stderr waymark list -p "$pid"
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = "$W/app (pid $pid):" ]
	[[ $output == *"libwaymark-rt is not loaded"* ]]
	[[ $output =~ shop:idle\ +event\ +debug\ +2\ +off ]]
	run --separate-stderr waymark list shop:order -p "$pid" --json
	[ "$status" -eq 0 ]
	[[ $output == *"\"pids\":[$pid]"*'"on":0'* ]]
	[[ $output != *'"idle"'* ]]
}

@test "with the runtime: which events are on" {
	cat >on.c <<-'END'
	#include <unistd.h>
	#include <waymark/tracepoint.h>
	WAYMARK_EVENT(lamp, lit, WAYMARK_ARGS(int, n), WAYMARK_FIELDS((i32, n, n)));
	WAYMARK_EVENT(lamp, dark, WAYMARK_ARGS(int, n), WAYMARK_FIELDS((i32, n, n)));
	static void probe(void *data, int n)
	{
	}
	int main(void)
	{
		waymark_probe_register(lamp, lit, probe, 0);
		trace_event(lamp, lit, 1);
		trace_event(lamp, dark, 1);
		(void)!write(1, "ready\n", 6);
		return pause();
	}
	END
	cc -O2 -I"$WAYMARK_SOURCE/include" on.c -o on -L"$WAYMARK_BUILD" \
		-Wl,--no-as-needed -lwaymark-rt -Wl,-rpath,"$WAYMARK_BUILD"
	start_app ./on
	run --separate-stderr waymark list -p "$pid"
	[ "$status" -eq 0 ]
	[[ $output =~ lamp:lit\ +event\ +info\ +1\ +on ]]
	[[ $output =~ lamp:dark\ +event\ +info\ +1\ +off ]]
	[[ $output != *"libwaymark-rt is not loaded"* ]]
}

@test "the runtime linked statically is seen" {
	cc -O2 -I"$WAYMARK_SOURCE/include" app.c -o static-rt \
		-Wl,-u,waymark_module_register "$WAYMARK_BUILD/libwaymark-rt.a"
	start_app ./static-rt
	run --separate-stderr waymark list -p "$pid"
	[ "$status" -eq 0 ]
	[[ $output != *"libwaymark-rt is not loaded"* ]]
}

@test "a deleted program that still runs is listed, or the reason is reported" {
	cp app gone
	start_app ./gone
	rm gone
	run --separate-stderr waymark list -p "$pid"
	[ "$status" -eq 0 ]
	[[ $output == *shop:idle* ]]
}

@test "processes of the same program are one group" {
	start_app ./app
	first=$pid
	./app >/dev/null 3>&- &
	second=$!
	for _ in $(seq 600); do
		run --separate-stderr waymark list
		[[ $output != *"(pids $first $second):"* ]] || break
		sleep 0.05
	done
	kill "$second"
	[ "$status" -eq 0 ]
	[[ $output == *"$W/app (pids $first $second):"* ]]
}

@test "wrong use: exit 2 and the cure" {
	run --separate-stderr waymark list --feilds ./app
	[ "$status" -eq 2 ]
	[[ $stderr == *"unknown option '--feilds'; did you mean '--fields'?"* ]]
	run --separate-stderr waymark list -p 0
	[ "$status" -eq 2 ]
	[[ $stderr == *"option '--pid' needs a whole number from 1 to"* ]]
	run --separate-stderr waymark list -p 1 ./app
	[ "$status" -eq 2 ]
	run --separate-stderr waymark list -p 2147483647
	[ "$status" -eq 1 ]
	[[ $stderr == *"no process 2147483647"* ]]
	run --separate-stderr waymark lits
	[ "$status" -eq 2 ]
	[[ $stderr == *"did you mean 'list'?"* ]]
}

@test "a full disk for the output is reported; a reader that closes the pipe is not" {
	run --separate-stderr bash -c 'waymark list ./app >/dev/full'
	[ "$status" -eq 1 ]
	[[ $stderr == *"cannot write to 'standard output': No space left on device"* ]]
	run --separate-stderr bash -c 'waymark list ./app | true'
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
}

# Prints why the kernel's events cannot be listed here; the test is then skipped.
need_tracefs() {
	waymark list sched:sched_switch >/dev/null 2>why || skip "$(cat why)"
}

@test "without arguments: families, with their counts and how to list them" {
	run --separate-stderr waymark list
	[ "$status" -eq 0 ]
	[[ ${lines[0]} =~ ^FAMILY\ +EVENTS\ +WHAT\ +FOR\ EXAMPLE$ ]]
	[[ $output == *$'\n'"sw  "* ]]
	[[ $output == *$'\n'"tracepoint  "* ]]
	[ "${#lines[@]}" -lt 200 ]
	# Each example that can be run unchanged prints something.
	waymark list --json >families.json
	python3 - <<-'END'
	import json, subprocess
	families = json.load(open("families.json"))["groups"][0]["families"]
	assert {f["family"] for f in families} >= {"tracepoint", "syscall", "sw", "cpu", "usdt", "uprobe", "kprobe", "mem"}
	for f in families:
	    if f["missing"] or "BIN" in f["example"] or not f["example"].startswith("waymark list"):
	        continue
	    assert f.get("nr_events", 1) > 0, f
	    subprocess.run(f["example"], shell=True, check=True, stdout=subprocess.DEVNULL)
	END
}

@test "the kernel's events: globs, every family, kinds" {
	run waymark list 'sw:*-faults'
	[ "$status" -eq 0 ]
	[[ $output == *"sw:page-faults "*"software  a memory page was not present"* ]]
	[[ $output == *sw:major-faults* ]]
	[[ $output != *context* ]]
	run waymark list faults
	[[ $output == *sw:page-faults* ]]
	need_tracefs
	run waymark list 'sched:sched_sw*'
	[[ $output == *"sched:sched_switch "*tracepoint* ]]
	run waymark list sched_switch
	[[ $output == *"sched:sched_switch "*tracepoint* ]]
	run waymark list 'syscall:open*'
	[[ $output == *"syscall:openat "*"system-call"* ]]
	until_true counts_agree # others may add or remove probes between the two listings
}

counts_agree() {
	[ "$(waymark list '*' | grep -c '  tracepoint$')" -eq "$(waymark list | awk '$1 == "tracepoint" { print $2 }')" ]
}

@test "kernel events: fields and print format as in tracefs" {
	need_tracefs
	run waymark list --fields sched:sched_switch
	[[ $output == *"      char[16]         prev_comm"* ]]
	[[ $output == *'      print "prev_comm=%s prev_pid=%d'* ]]
	[[ $output != *common_pid* ]]
	waymark list --json 'sched:*' >events.json
	python3 - <<-'END'
	import json
	events = {e["name"]: e for g in json.load(open("events.json"))["groups"] if g.get("kernel") for e in g["events"]}
	fields = {f["name"]: f for f in events["sched:sched_switch"]["fields"]}
	assert fields["next_pid"]["bytes"] == 4 and fields["next_pid"]["signed"], fields
	assert all(e["kind"] == "tracepoint" for e in events.values())
	END
	run waymark list --fields syscall:openat
	[[ $output == *filename* ]]
	[[ $output == *"at its return:"*"ret"* ]]
}

@test "USDT probes of files and processes, compared with readelf; functions" {
	[ -d /sys/bus/event_source/devices/uprobe ] || skip "this kernel has no uprobes"
	cc -O2 -g -DWAYMARK_SDT -I"$WAYMARK_SOURCE/include" app.c -o sdt
	run waymark list --fields ./sdt
	[ "$status" -eq 0 ]
	[[ $output == *"usdt:./sdt:shop:idle "*usdt*"2 places"* ]]
	[[ $output == *"at file offset 0x"*"operands "* ]]
	waymark list --json ./sdt >sdt.json
	readelf -n sdt >notes
	python3 - <<-'END'
	import json, re
	events = [e for g in json.load(open("sdt.json"))["groups"] if g.get("kernel") for e in g["events"]]
	places = sum(len(e["places"]) for e in events)
	notes = open("notes").read()
	assert places == notes.count("Provider:"), (places, notes)
	operands = sorted(p["operands"] for e in events for p in e["places"])
	assert operands == sorted(o.strip() for o in re.findall("Arguments:(.*)", notes)), operands
	END
	run waymark list 'usdt:./sdt:*:ord*'
	[ "${#lines[@]}" -eq 3 ]
	run waymark list 'func:./sdt:wor*'
	[[ $output == *":work "* ]]
	start_app ./sdt
	run waymark list -p "$pid"
	[[ $output == *"usdt:$W/sdt:shop:order "* ]]
}

@test "a name the kernel does not have: nearest names, statuses" {
	run --separate-stderr waymark list 'usdt:./app:*:*'
	[ "$status" -eq 4 ]
	[[ $stderr == *"has no USDT probes"* ]]
	run --separate-stderr waymark list 'func:./app:wrok'
	[ "$status" -eq 4 ]
	[[ $stderr == *"did you mean 'work'"* ]]
	run --separate-stderr waymark list mem:what
	[ "$status" -eq 2 ]
	need_tracefs
	run --separate-stderr waymark list sched:sched_swich
	[ "$status" -eq 4 ]
	[[ $stderr == *"did you mean 'sched:sched_switch'"* ]]
}
