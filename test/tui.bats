#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Tests waymark report on a terminal (tmux): the screen equals the text output, keys work as the
# help states, any size works, and the terminal is restored.

bats_require_minimum_version 1.5.0
load wait
load perf

setup() {
	export TZ=UTC LC_ALL=C.UTF-8
	unset NO_COLOR TMUX
	waymark="$WAYMARK_BUILD/waymark"
	cd "$BATS_TEST_TMPDIR"
	command -v tmux >/dev/null || skip "tmux is not installed"
	ldd "$waymark" | grep -q libncursesw || skip "built without libncursesw"
	tmux=
}

teardown() {
	end_terminal
}

# Each terminal has its own tmux server, because a server continues for a moment after its session
# ends.
end_terminal() {
	[ -z "${tmux:-}" ] || $tmux kill-server 2>/dev/null || true
	nr_terminals=$((${nr_terminals:-0} + 1))
	tmux="tmux -u -S $BATS_TEST_TMPDIR/tmux-$nr_terminals -f /dev/null"
}

need_corpus() {
	[ -d "${WAYMARK_CORPUS:-}" ] || skip "no corpus: WAYMARK_CORPUS is not set"
	trace="$WAYMARK_CORPUS/perf.data/quipper/perf.data.$1"
	[ -e "$trace" ] || skip "not in the corpus: $trace"
	ln -sf "$trace" t.data
}

# A program whose functions take 3/4 and 1/4 of its time, sampled with call chains. Not in the kernel,
# whose interrupts would be many rows on a busy machine.
need_samples() {
	perf_record -N -q -e cpu-clock -o probe.data true 2>/dev/null || skip "perf cannot record here"
	cat >busy.c <<-'END'
	static volatile unsigned sink;
	__attribute__((noinline)) static void spin(unsigned n) { while (n--) sink = sink * 3 + 1; }
	__attribute__((noinline)) static void large(void) { spin(3000); sink++; }
	__attribute__((noinline)) static void small(void) { spin(1000); sink++; }
	int main(void) { for (int i = 0; i < 20000; i++) { large(); small(); } return 0; }
	END
	gcc -O0 -g busy.c -o busy
	perf_record -N -q -e cpu-clock:u -F 2000 -g -o p.data ./busy
}

# start COLUMNS ROWS COMMAND...: runs the command on a terminal of that size; writes stty's output
# before and after, and the status, to files.
start() {
	local columns="$1" rows="$2"
	shift 2
	end_terminal
	printf '%q ' "$@" >command
	cat >run.sh <<-'END'
	stty -a >before
	eval "$(cat command)"
	echo $? >status
	stty -a >after
	echo over
	exec sleep 600
	END
	$tmux new-session -d -x "$columns" -y "$rows" "bash run.sh"
}

report() {
	start "${columns:-100}" "${rows:-30}" "$waymark" report "$@"
	wait_for 'q quit'
}

screen() {
	$tmux capture-pane -p
}

# Waits until the screen matches the pattern.
wait_for() {
	for ((i = 0; i < 1200; i++)); do
		! screen | grep -qE -- "$1" || return 0
		sleep 0.05
	done
	echo "nothing like '$1' on this screen:"
	screen
	return 1
}

keys() {
	$tmux send-keys "$@"
}

rows_on_screen() { # AT-LEAST
	[ "$(screen | grep -c '%')" -ge "$1" ]
}

# Prints the rows of the table on the screen, without the mark, and with runs of blanks as one
# blank.
rows_shown() {
	screen | sed -nE 's/^[-+ ] +([0-9.]+% )/\1/p' | grep -E '%.*%|^[0-9.]+% +[0-9]+ ' | tr -s ' ' | sed 's/ $//'
}

rows_of_stdin() {
	sed -nE 's/^ *([0-9.]+% )/\1/p' | tr -s ' ' | sed 's/ $//'
}

rows_of_text() {
	"$waymark" report --stdio "$@" 2>/dev/null | rows_of_stdin
}

ended() {
	wait_for '^over'
	[ "$(cat status)" = "$1" ]
	diff <(sed 's/rows [0-9]*; columns [0-9]*//' before) <(sed 's/rows [0-9]*; columns [0-9]*//' after)
}

@test "the screen equals the text: tables, losses on top, and the status at the end" {
	need_corpus lost_samples-4.4
	columns=76 rows=14 report t.data -s comm,dso
	cat >wanted <<-'END'
	 waymark report  trace t.data  events 191  seconds 0.002211312
	 lost: 2 events lost: full
	 cycles:pp: 97 samples, weight 1940291  (table 1 of 3: Tab)
	    Self  Events  Command  Object
	  64.95%      63  echo     [kernel.kallsyms]
	  22.68%      22  echo     ld-2.23.so
	   6.19%       6  echo     libc-2.23.so
	   3.09%       3  echo     [unknown]
	   2.06%       2  echo     libpthread-2.23.so
	   1.03%       1  echo     coreutils



	 1 of 6  ? help  q quit
	END
	diff wanted <(screen | sed 's/ *$//')
	keys Tab
	wait_for 'table 2 of 3'
	screen | grep -q '^  57.50%      46  echo     \[kernel.kallsyms\]'
	keys Tab Tab
	wait_for 'table 1 of 3'
	for n in 1 2 3; do
		rows_shown >shown
		rows_of_text t.data -s comm,dso >text
		[ "$(grep -cxF -f shown text)" = "$(wc -l <shown)" ]
		keys Tab
		wait_for "table $((n % 3 + 1)) of 3"
	done
	keys i
	wait_for 'lost +lost +2 events lost: full'
	keys q
	wait_for 'q quit'
	keys '?'
	wait_for 'Tab +the next table'
	keys q
	wait_for 'table 1 of 3'
	keys q
	ended 5
}

@test "calls open and close, with the shares of -g" {
	need_samples
	report p.data -s sym
	keys / '] main' Enter
	wait_for '^\+ .*\[\.\] main'
	keys Enter
	wait_for '^ *\+ +[0-9.]+%  small'
	"$waymark" report p.data -s sym -g --json | python3 -c '
import json, sys
main, = [r for r in json.load(sys.stdin)["tables"][0]["rows"] if r["sym"] == "[.] main"]
for c in main["calls"]:
    if c["depth"] == 1:
        print("%.2f%%  %s" % (c["share"] * 100, c["name"]))' >wanted
	[ "$(wc -l <wanted)" -ge 2 ]
	diff wanted <(screen | sed -nE 's/^    [-+ ] +([0-9.]+%  [a-z_]+)/\1/p' | sed 's/ *$//')
	keys Down Right
	wait_for '^    - +[0-9.]+%  large'
	wait_for '^ {4,}[-+ ] +([0-9.]+% +)?spin$'
	keys Left Left Left
	wait_for '^\+ .*\[\.\] main'
	keys E
	wait_for '^- .*\[\.\] main'
	wait_for '%  large'
	keys C
	wait_for '^\+ .*\[\.\] main'
	! screen | grep -q '%  large' || false
	keys q
	ended 0
}

@test "rows are searched and selected, and all of it can be undone" {
	need_corpus callgraph-3.4
	report t.data -s comm,dso
	all=$(screen | sed -nE '$s/^ 1 of ([0-9]+) .*/\1/p')
	[ "$all" = "$(rows_of_text t.data -s comm,dso | wc -l)" ]
	rows_of_text t.data -s comm,dso >rows
	first=$(grep -n libpthread rows | head -1 | cut -d: -f1)
	keys / libpthread Enter
	wait_for "^ $first of"
	keys n
	wait_for "^ $(grep -n libpthread rows | sed -n 2p | cut -d: -f1) of"
	keys N
	wait_for "^ $first of"
	keys d
	wait_for 'dso is libpthread'
	diff <(grep libpthread rows) <(rows_shown)
	keys f comm:CHROME Enter
	wait_for 'comm has CHROME'
	diff <(grep libpthread rows | grep -i chrome) <(rows_shown)
	keys Escape
	wait_for 'dso is libpthread[^ ]*  \?'
	keys BSpace
	wait_for "^ 1 of $all "
	keys t
	wait_for 'comm is '
	keys Escape
	wait_for "^ 1 of $all "
	keys P 5 Enter
	wait_for 'at least 5%'
	diff <(rows_of_text t.data -s comm,dso --percent-limit 5) <(rows_shown)
	keys P nothing Enter
	wait_for "'nothing' is not a percentage"
	keys / nosuchthing Enter
	wait_for "no line has 'nosuchthing'"
	keys f nosuchthing Enter
	wait_for 'no row matches'
	keys a
	wait_for 'line has no instructions'
	keys q
	ended 0
}

@test "other keys read the trace again; wrong input is reported and the result is kept" {
	need_corpus callgraph-3.4
	report t.data -s comm,dso
	keys s C-u dso Enter
	wait_for ' Children +Self +Events +Object$'
	diff <(rows_of_text t.data -s dso | head -20) <(rows_shown | head -20)
	keys s
	wait_for '^split by: dso$'
	keys , nosuchfield Enter
	wait_for "no selected event has a field 'nosuchfield'"
	diff <(rows_of_text t.data -s dso | head -20) <(rows_shown | head -20)
	keys P 3 Enter
	wait_for 'at least 3%'
	keys s C-u comm Enter
	wait_for ' Events +Command$'
	wait_for 'at least 3%'
	diff <(rows_of_text t.data -s comm --percent-limit 3) <(rows_shown)
	keys q
	ended 0
}

@test "a function's instructions: at the hottest, then by weight, then back" {
	need_samples
	report p.data --no-children
	keys / '] spin' Enter a
	wait_for 'spin in .*busy: '
	"$waymark" annotate spin p.data --json | python3 -c '
import json, sys
rows = sorted((r for r in json.load(sys.stdin)["tables"][0]["rows"] if r["share"]), key=lambda r: (-r["share"], r["address"]))
for r in rows:
    print("%.2f%% %d 0x%016x" % (r["share"] * 100, r["events"], r["address"]))' >wanted
	"$waymark" annotate spin p.data | grep 0x0000 >lines
	diff <(sort wanted) <(rows_shown | grep -v '^0.00%' | cut -d' ' -f1-3 | sort)
	# The selected line is the hottest; H goes to the next.
	for n in 1 2; do
		address=$(sed -n ${n}p wanted | cut -d' ' -f3)
		wait_for "^ $(grep -n "$address" lines | cut -d: -f1) of $(wc -l <lines) "
		keys H
	done
	# A jump moves to its target.
	number=$(grep -nE 'j[a-z]+ +[0-9a-f]+ <\+0x' lines | head -1 | cut -d: -f1)
	target=$(sed -nE "${number}s/.* ([0-9a-f]+) <\+0x.*/\1/p" lines)
	keys g
	for ((n = 1; n < number; n++)); do
		keys Down
	done
	keys Enter
	wait_for "^ $(grep -n "0x0*$target " lines | cut -d: -f1) of $(wc -l <lines) "
	keys q
	wait_for 'Symbol$'
	keys q
	ended 0
}

@test "the instructions of an opened call are those of the function that it names" {
	need_samples
	report p.data -s sym -g
	keys / '] large' Enter Enter Down a
	wait_for 'spin in .*busy: '
	keys q
	wait_for 'Symbol$'
	keys q
	ended 0
}

@test "--hierarchy opens level by level" {
	need_corpus callgraph-3.4
	report t.data -s comm,dso --hierarchy
	diff <("$waymark" report t.data -s comm --no-children --stdio | rows_of_stdin | head -20) <(rows_shown | head -20)
	keys / chrome Enter Enter
	wait_for '^- .* chrome$'
	wait_for ' libpthread'
	"$waymark" report t.data -s comm,dso --no-children --stdio --comm chrome | rows_of_stdin | sed 's/ chrome / /' >below
	diff below <(rows_shown | sed '1,/ chrome$/d' | head -"$(wc -l <below)")
	keys f dso:libpthread Enter
	wait_for 'dso has libpthread'
	keys E
	wait_for ' libpthread'
	! screen | grep -q '\[kernel' || false
	keys q
	ended 0
}

@test "any size works, also while it changes" {
	need_corpus callgraph-3.4
	start 20 5 "$waymark" report t.data
	wait_for '[0-9]%'
	screen | grep -q '^ waymark report'
	for size in 20x2 1x1 7x3 300x80 80x24 20x5; do
		$tmux resize-window -x "${size%x*}" -y "${size#*x}"
		keys Down e '?' PPage NPage q / x Escape '>' '<' i q
	done
	$tmux resize-window -x 80 -y 24
	wait_for 'q quit'
	until_true rows_on_screen 10 # pending keys may still open a page
	keys q
	ended 0
}

@test "the terminal is restored: after q, Ctrl-C, a signal, and while stopped" {
	need_corpus callgraph-3.4
	report t.data
	keys C-c
	ended 0
	for signal in TERM HUP; do
			report t.data
		pkill -"$signal" -P "$($tmux display-message -p '#{pane_pid}')"
		ended $((128 + $(kill -l "$signal")))
	done
	end_terminal
	printf '%q ' "$waymark" report t.data >command
	cat >job.sh <<-'END'
	stty -a >before
	eval "$(cat command)"
	stty -a >stopped
	echo here
	until [ -e go ]; do sleep 0.05; done
	fg >/dev/null
	echo $? >status
	stty -a >after
	echo over
	exec sleep 600
	END
	$tmux new-session -d -x 80 -y 24 "bash -m job.sh"
	wait_for 'q quit'
	keys C-z
	wait_for '^here'
	diff before stopped
	touch go
	wait_for 'q quit'
	keys Down q
	ended 0
}

@test "an unsuitable terminal, or no terminal: text; no colours when disabled" {
	need_corpus callgraph-3.4
	for term in dumb nosuchterm; do
		start 100 60 bash -c "TERM=$term '$waymark' report t.data -s comm 2>words"
		ended 0
		[ "$(cat words)" = "waymark: report: TERM='$term' is a terminal that cannot move the cursor; printing text instead" ]
		diff <(rows_of_text t.data -s comm) <(screen | rows_of_stdin)
		done
	start 100 30 bash -c "'$waymark' report t.data --comm nobody; '$waymark' report t.data -s comm | cat; '$waymark' report t.data -s comm --stdio >text; '$waymark' report t.data -s comm --json >json"
	ended 0
	diff <("$waymark" report t.data -s comm) text
	python3 -c 'import json; json.load(open("json"))'
	report t.data
	$tmux capture-pane -e -p | grep -q $'\e\[[0-9;]*3[12]m'
	start 100 30 env NO_COLOR=1 "$waymark" report t.data
	wait_for 'q quit'
	! $tmux capture-pane -e -p | grep -q $'\e\[[0-9;]*3[0-7]m' || false
	start 100 30 env TERM=vt100 "$waymark" report t.data
	wait_for 'q quit'
	! $tmux capture-pane -e -p | grep -q $'\e\[[0-9;]*3[0-7]m' || false
}

@test "names with control sequences stay text, wide characters take their columns" {
	cat >names.c <<-'END'
	#include <sys/prctl.h>
	#include <waymark/tracepoint.h>
	WAYMARK_EVENT(names, seen, WAYMARK_ARGS(const char *, name), WAYMARK_FIELDS((str, name, name)));
	int main(void)
	{
		trace_event(names, seen, "\033]0;owned\007\033[31mred\x9b" "2J\xff\r");
		trace_event(names, seen, "\xe6\xbc\xa2\xe5\xad\x97 wide");
		trace_event(names, seen, "\xe6\xbc\xa2\xe5\xad\x97 wide");
		return 0;
	}
	END
	gcc -O2 -I"$WAYMARK_SOURCE/include" names.c -o names -L"$WAYMARK_BUILD" -Wl,-rpath,"$WAYMARK_BUILD" -Wl,--no-as-needed -lwaymark-rt
	"$waymark" record -q -o trace -- ./names
	columns=100 rows=12 report trace -s name,comm
	title=$($tmux display-message -p '#{pane_title}')
	[[ $title != *owned* ]]
	screen | grep -qF '\x1b]0;owned\x07\x1b[31mred\x9b2J\xff\r'
	[ "$(screen | sed -n '/wide/s/.*\(漢字 wide\).*/\1/p')" = "漢字 wide" ]
	# The following columns are aligned: the name has 4 bytes more, and takes 2 columns more,
	# than characters.
	python3 - "$(screen | grep wide)" "$(screen | grep owned)" <<-'END'
	import sys, unicodedata
	def column(line):
	    before = line[:line.rindex("names")]
	    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in before)
	a, b = (column(line) for line in sys.argv[1:])
	assert a == b, (a, b)
	END
	keys / 漢 Enter
	wait_for '^ 1 of 2'
	keys f 漢 Enter
	wait_for 'with 漢'
	wait_for '\(1 of 2 rows\)'
	keys q
	ended 0
}

# Prints the CPU time of a process in clock ticks.
worked() {
	sed 's/.*) //' "/proc/$1/stat" | awk '{ print $12 + $13 }'
}

@test "moving through 100,000 rows takes little processor time" {
	cat >many.c <<-'END'
	#include <waymark/tracepoint.h>
	WAYMARK_EVENT(many, one, WAYMARK_ARGS(int, n), WAYMARK_FIELDS((i32, n, n)));
	int main(void) { for (int n = 1; n <= 100000; n++) trace_event(many, one, n); return 0; }
	END
	gcc -O2 -I"$WAYMARK_SOURCE/include" many.c -o many -L"$WAYMARK_BUILD" -Wl,-rpath,"$WAYMARK_BUILD" -Wl,--no-as-needed -lwaymark-rt
	"$waymark" record -q --mode block -o trace -- ./many
	report trace -s n
	wait_for '^ 1 of 100000 '
	keys G
	wait_for '^ 100000 of 100000 '
	# A hundred keys with one redraw each, a search through all rows, and a filter. Measures
	# processor time, which does not depend on other load.
	local pid=$(pgrep -P "$($tmux display-message -p '#{pane_pid}')" -x waymark)
	local begin=$(worked "$pid")
	for n in 1 2 3 4 5; do
		keys Up Up Up Up Up Up Up Up Up PPage Up Up Up Up Up Up Up Up Up PPage
	done
	keys g / 99999 Enter
	wait_for '^ [0-9]+ of 100000 '
	keys f n:99999 Enter
	wait_for '\(1 of 100000 rows\)'
	[ $(($(worked "$pid") - begin)) -lt $((5 * $(getconf CLK_TCK))) ]
	keys q
	ended 0
}
