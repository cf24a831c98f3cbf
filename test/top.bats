#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Tests waymark top: results while a program runs whose functions take known parts of its time, as
# text, as JSON, and on a terminal (tmux). No file remains, however it ends.

bats_require_minimum_version 1.5.0
load wait

setup_file() {
	export W="$BATS_FILE_TMPDIR"
	cat >"$W/busy.c" <<-'END'
	static volatile unsigned sink;
	__attribute__((noinline)) static void large(void) { for (unsigned i = 0; i < 3000; i++) sink += i; }
	__attribute__((noinline)) static void small(void) { for (unsigned i = 0; i < 1000; i++) sink += i; }
	int main(void) { for (;;) { large(); small(); } }
	END
	gcc -O0 -g "$W/busy.c" -o "$W/busy"
	cat >"$W/faults.c" <<-'END'
	#include <sys/mman.h>
	int main(void)
	{
		for (;;) {
			char *p = mmap(0, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			madvise(p, 1 << 20, MADV_NOHUGEPAGE);
			for (int i = 0; i < 1 << 20; i += 4096)
				p[i] = 1;
			munmap(p, 1 << 20);
		}
	}
	END
	gcc "$W/faults.c" -o "$W/faults"
	cat >"$W/ticks.c" <<-'END'
	#include <waymark/tracepoint.h>
	#include <time.h>
	WAYMARK_EVENT(app, tick, WAYMARK_ARGS(int, kind), WAYMARK_FIELDS((i32, kind, kind)));
	int main(void)
	{
		for (int i = 0;; i++) {
			trace_event(app, tick, i % 4 ? 1 : 2);
			nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
		}
	}
	END
}

setup() {
	export TZ=UTC LC_ALL=C.UTF-8
	unset NO_COLOR TMUX
	waymark="$WAYMARK_BUILD/waymark"
	cd "$BATS_TEST_TMPDIR"
	tmux= program=
	"$waymark" record -q -F 99 -e sw:cpu-clock -o probe -- true 2>/dev/null ||
		skip "nothing can be sampled here"
}

teardown() {
	[ -z "$program" ] || kill "$program" 2>/dev/null || true
	[ -z "$tmux" ] || $tmux kill-server 2>/dev/null || true
}

begin() {
	"$W/$1" >/dev/null 2>&1 3>&- &
	program=$!
}

folders() {
	find /dev/shm /tmp -maxdepth 1 -name 'waymark-live-*' -user "$(id -u)" | sort
}

# Waits until all folders that were not in BEFORE are gone, including those of other recordings on
# this machine.
nothing_left() { # BEFORE
	local new
	new=$(comm -13 <(echo "$1") <(folders))
	[ -z "$new" ] || until_true none_of $new
}

none_of() {
	local name
	for name in "$@"; do [ ! -e "$name" ] || return 1; done
}

@test "two functions of a running program have their shares of its time" {
	begin busy
	before=$(folders)
	run -0 --separate-stderr "$waymark" top --json --duration 4.5 -d 1.5 -e sw:cpu-clock -F 997 -s sym -p "$program"
	[ -z "$stderr" ]
	[ "${#lines[@]}" -ge 2 ]
	python3 - "${lines[-1]}" <<-'END'
	import json, sys
	tables = {t['name']: t for t in json.loads(sys.argv[1])['tables']}
	now, rows = tables['now']['rows'][0], {r['sym']: r for r in tables['profile']['rows']}
	large, small = rows['[.] large'], rows['[.] small']
	assert now['records'] >= 10 and now['lost'] == 0, now
	assert 2 < large['self'] / small['self'] < 4.5, (large, small)
	assert large['self'] + small['self'] > 0.85, rows
	assert large['cpu_time'] > small['cpu_time'] > 0
	END
	nothing_left "$before"
}

@test "each refresh is a block of text or a line of JSON; the last one has the last events" {
	run -0 --separate-stderr "$waymark" top --refreshes 2 -d 0.2 -e sw:cpu-clock -F 200 -- "$W/busy" # CMD alone would continue
	[ "$(grep -c '^Seconds  Samples/s  Samples  Lost  Late$' <<<"$output")" -eq 2 ]
	[[ $output =~ "# sw:cpu-clock: "[0-9.]+" CPUs, "[0-9]+" samples/s" ]]
	run -124 --separate-stderr "$waymark" top -d 30 -e sw:cpu-clock -F 500 -s sym --stdio -- timeout 0.5 "$W/busy"
	[ "$(grep -c '^Seconds ' <<<"$output")" -eq 1 ]
	[[ $output == *"[.] large"* ]]
}

@test "calls of functions are counted by their callers" {
	begin busy
	run -0 "$waymark" top --stdio --refreshes 1 -d 0.6 -e sw:cpu-clock -F 500 -g -s sym -p "$program"
	grep -E '^ *(9[0-9]|100)\.[0-9]+% .*\[\.\] main$' <<<"$output"
	run -0 "$waymark" top --stdio --refreshes 1 -d 0.6 -e sw:cpu-clock -F 500 -g --no-children -s sym -p "$program"
	! grep -F '[.] main' <<<"$output" || false
}

@test "events of a running program, by one of their fields" {
	gcc -I"$WAYMARK_SOURCE/include" "$W/ticks.c" -o "$W/ticks" -L"$WAYMARK_BUILD" \
		-Wl,--no-as-needed -l:libwaymark-rt.so.0 -Wl,-rpath,"$WAYMARK_BUILD"
	begin ticks
	run -0 --separate-stderr "$waymark" top --json --no-decay --refreshes 2 -d 1.5 -e 'app:*' -s kind -p "$program"
	python3 - "${lines[-1]}" <<-'END'
	import json, sys
	tables = {t['name']: t for t in json.loads(sys.argv[1])['tables']}
	rows = {r['kind']: r for r in tables['profile']['rows']}
	assert 2.5 < rows['1']['self'] / rows['2']['self'] < 3.5, rows
	assert tables['now']['rows'][0]['lost'] == 0
	END
}

@test "rates are of events and of processor time, and the titles say so" {
	begin faults
	run -0 --separate-stderr "$waymark" top --json --no-decay --refreshes 1 -d 1.5 -s comm \
		-e page-faults -c 10 -e sw:cpu-clock -F 500 -p "$program"
	echo "$output"
	python3 - "${lines[-1]}" <<-'END'
	import json, re, sys
	now, *tables = json.loads(sys.argv[1])["tables"]
	tables = {t["subject"]: t for t in tables}
	faults, clock = tables["sw:page-faults"], tables["sw:cpu-clock"]
	events, samples = map(int, re.fullmatch("sw:page-faults: ([0-9]+) events/s, ([0-9]+) samples/s", faults["title"]).groups())
	assert abs(events - 10 * samples) <= 10, faults
	assert abs(faults["rows"][0]["events_per_s"] - events) <= 1, faults
	cpus, ticks = re.fullmatch("sw:cpu-clock: ([0-9.]+) CPUs, ([0-9]+) samples/s", clock["title"]).groups()
	row = clock["rows"][0]
	assert abs(row["cpu_time"] - float(cpus)) < 0.006 and "events_per_s" not in row, clock
	# the samples' mean period, in nanoseconds and in seconds
	period = row["weight"] / (now["rows"][0]["records"] - faults["rows"][0]["weight"] / 10)
	assert abs(row["cpu_time"] * 1e9 / period - int(ticks)) <= 1 + int(ticks) / 100, (clock, now)
	END
	run -0 "$waymark" top --stdio --refreshes 1 -d 1 -s comm --weight count -e page-faults -c 10 -p "$program"
	[[ $output == *"# sw:page-faults: "*" samples/s"*"Self  Samples/s  Command"* ]]
	run -0 "$waymark" top --stdio --refreshes 1 -d 1 -s event -e page-faults -c 10 -e sw:cpu-clock -p "$program"
	[[ $output == *"Self  Samples/s  Event"* ]]
}

@test "impossible requests are reported" {
	run -2 "$waymark" top -d 0
	run -2 "$waymark" top -a -p 1
	run -127 "$waymark" top -- ./nothing-here
	run -4 "$waymark" top --stdio -d 0.3 -e nosuch:event -- true
	[[ $output == *"nosuch:event"* ]]
	run -0 "$waymark" top --stdio -d 0.3 -e sw:cpu-clock -F 99 -s nosuchfield -- sleep 0.1
	[[ $output == *"nosuchfield"* ]]
}

# Prints the folder of a top; other recordings have one, too.
folder_of() {
	find "/proc/$1/fd" -lname '*/waymark-live-*' -printf '%l\n' | head -1
}

# Waits until it has samples of some time.
sampled_much() {
	local folder
	folder=$(folder_of "$1")
	[ -n "$folder" ] && [ "$(cat "$folder"/samples-* | wc -c)" -gt 10000 ] || false
}

@test "killed, it leaves no files; terminated, it prints the last result" {
	begin busy
	"$waymark" top --stdio -d 0.3 -e sw:cpu-clock -F 200 -p "$program" >out 2>&1 3>&- &
	top=$!
	until_true test -s out
	folder=$(folder_of "$top")
	[ -d "$folder" ]
	kill -9 "$top"
	until_true none_of "$folder"
	env --default-signal=INT "$waymark" top --stdio -d 60 -e sw:cpu-clock -F 200 -p "$program" >out 2>&1 3>&- &
	top=$!
	until_true sampled_much "$top"
	folder=$(folder_of "$top")
	kill -INT "$top"
	wait "$top"
	grep -F '[.] large' out
	until_true none_of "$folder"
}

# --- on a terminal ---------------------------------------------------------------

# start COLUMNS ROWS COMMAND...: writes stty's output before and after, and the status, to files.
start() {
	command -v tmux >/dev/null || skip "tmux is not installed"
	tmux="tmux -u -L waymark-top-$$-$BATS_TEST_NUMBER -f /dev/null"
	local columns="$1" rows="$2"
	shift 2
	printf '%q ' "$@" >command
	cat >run.sh <<-'END'
	stty -a >before
	eval "$(cat command)"
	echo $? >status
	stty -a >after
	echo over
	exec sleep 600
	END
	$tmux new-session -d -x "$columns" -y "$rows" "bash run.sh" 3>&-
}

wait_for() {
	for ((i = 0; i < 1200; i++)); do
		! $tmux capture-pane -p | grep -qE -- "$1" || return 0
		sleep 0.05
	done
	echo "nothing like '$1' on this screen:"
	$tmux capture-pane -p
	return 1
}

@test "on a terminal it is redrawn; keys open calls, pause, split; q restores the terminal" {
	begin busy
	start 100 24 "$waymark" top -d 0.3 -e sw:cpu-clock -F 500 -g -s sym -p "$program"
	wait_for 'waymark top +[0-9]+ s +[1-9][0-9]* samples/s'
	wait_for '[0-9]+\.[0-9]+% .*\[\.\] large'
	wait_for 'q quit'
	$tmux send-keys h
	wait_for 'halve or double'
	$tmux send-keys x p
	wait_for 'PAUSED'
	# Opens the calls of the first row that has any, from main downwards. The help that a second key
	# shows tells that the first was handled.
	for ((row = 0; row < 6; row++)); do
		$tmux send-keys Enter h
		wait_for 'halve or double'
		$tmux send-keys x
		wait_for 'q quit'
		! $tmux capture-pane -p | grep -qE '^ +[0-9]+\.[0-9]+% large' || break
		$tmux send-keys Down
	done
	wait_for '^ +[0-9]+\.[0-9]+% large'
	$tmux send-keys p s
	wait_for 'Command +Object +Symbol'
	$tmux send-keys n
	wait_for '^ Problems'
	$tmux send-keys x
	$tmux resize-window -x 60 -y 10
	wait_for '^ waymark top '
	[ "$($tmux capture-pane -p | wc -l)" -eq 10 ]
	$tmux send-keys q
	wait_for '^over'
	[ "$(cat status)" -eq 0 ]
	cmp <(grep -v rows before) <(grep -v rows after)
	! $tmux capture-pane -p | grep -q 'q quit' || false
}

@test "a name with escape sequences does not change the terminal" {
	cp "$W/busy" "$(printf 'b\033[31m')"
	"./$(printf 'b\033[31m')" >/dev/null 2>&1 3>&- &
	program=$!
	start 80 12 "$waymark" top -d 0.3 -e sw:cpu-clock -F 300 -s comm -p "$program"
	wait_for '%.* b.*31m'
	! $tmux capture-pane -p -e | grep -q "$(printf 'b\033\\[31m')" || false
	$tmux send-keys C-c
	wait_for '^over'
}

@test "q ends the command, too, even one that ignores SIGTERM" {
	start 100 24 "$waymark" top -d 0.3 -e sw:cpu-clock -F 100 -- sh -c 'trap "" TERM; echo $$ >pid; while :; do sleep 0.1; done'
	wait_for 'q quit'
	until_true test -s pid
	$tmux send-keys q
	wait_for '^over'
	[ "$(cat status)" -eq 0 ]
	! kill -0 "$(cat pid)" 2>/dev/null || false
	cmp <(grep -v rows before) <(grep -v rows after)
}
