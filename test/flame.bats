#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Tests waymark flame: trees, reading and writing of folded lines, off-CPU time, and the page as a
# browser draws it.

bats_require_minimum_version 1.5.0
load perf

setup() {
	waymark="$WAYMARK_BUILD/waymark"
	cd "$BATS_TEST_TMPDIR"
	cat >folded <<-'END'
	make;main;read_file;parse 60
	make;main;read_file 20
	make;main;write</script><b>;flush 15
	cc1;main 5
	END
}

# Prints the page after its script ran; the address may select a view.
page_as_drawn() { # FILE [#VIEW]
	chromium --headless --no-sandbox --disable-gpu --virtual-time-budget=3000 --window-size=1200,800 \
		--user-data-dir="$BATS_TEST_TMPDIR/chromium" --dump-dom "file://$PWD/$1${2-}" 2>chromium.log
}

@test "folded lines are printed unchanged, the heaviest first" {
	"$waymark" flame --folded folded >out
	diff <(sort out) <(sort folded)
	[ "$(tail -1 out)" = "cc1;main 5" ]
}

@test "malformed lines are refused with their number" {
	printf 'a;b 1\na;c\n' >bad
	run -1 "$waymark" flame --folded bad
	[[ $output == *"line 2"* ]]
}

@test "a page is one file without references, and hostile names stay text" {
	run -0 "$waymark" flame folded -o page.html
	[ "$(grep -c '</script>' page.html)" = 2 ]
	! grep -q 'src=\|href=\|http' <(grep -v 'www.w3.org' page.html) || false
	run -1 "$waymark" flame folded -o page.html
	[[ $output == *"page.html"* ]]
	run -0 "$waymark" flame folded -o page.html --force
}

@test "a browser draws it: boxes, zoom, search, icicle, changes" {
	command -v chromium >/dev/null || skip "chromium is not installed"
	"$waymark" flame folded -o page.html
	page_as_drawn page.html >dom
	grep -q '<title>read_file: 80, 80.00%</title>' dom
	grep -q '<title>write&lt;/script&gt;&lt;b&gt;: 15, 15.00%</title>' dom
	grep -q '<title>all: 100, 100.00%</title>' dom
	page_as_drawn page.html '#q=pars' >dom
	grep -q 'id="matched">matched 60.00%' dom
	grep -q '#e040fb' dom
	page_as_drawn page.html '#z=make&z=main&z=read_file' >dom
	grep -q 'id="status">read_file: 80, 80.00%' dom
	! grep -q '<title>cc1: ' dom || false
	page_as_drawn page.html '#turn=1' >dom
	grep -q 'id="turn" type="button">Flame' dom
	sed 's/parse 60/parse 10/' folded >less
	"$waymark" flame folded --before less -o change.html
	page_as_drawn change.html >dom
	grep -q 'parse: 60, 60.00%; before 20.00% (+40.00)' dom
}

@test "a page of deep stacks opens at its root" {
	command -v chromium >/dev/null || skip "chromium is not installed"
	python3 -c 'print(";".join(f"f{i}" for i in range(300)), 5)' >folded
	"$waymark" flame folded -o page.html
	sed -i 's|</body>|<script>document.body.dataset.y = Math.round(scrollY);</script></body>|' page.html
	for view in "" "#turn=1"; do
		page_as_drawn page.html "$view" | grep -o 'data-y="[0-9]*"' | grep -o '[0-9]*'
	done >scrolled
	[ "$(sed -n 1p scrolled)" -gt 3000 ]
	[ "$(sed -n 2p scrolled)" -lt 100 ]
}

@test "call chains of a recording: the tree has every weight" {
	perf_record -N -q -e cpu-clock -F 4000 -g -o p.data python3 -c 'sum(i * i for i in range(3000000))' 2>/dev/null ||
		skip "perf cannot record here"
	"$waymark" flame p.data --folded >lines
	"$waymark" report p.data -s comm --json | python3 -c '
import json, sys
total = sum(r["weight"] for t in json.load(sys.stdin)["tables"] for r in t["rows"])
lines = sum(int(l.rsplit(" ", 1)[1]) for l in open("lines"))
assert total == lines, (total, lines)'
	"$waymark" flame p.data -o p.html
	diff <("$waymark" flame lines --folded | sort) <(sort lines)
}

@test "off-CPU time is the time slept" {
	# Large rings: a perf that gets no processor for seconds must lose nothing.
	perf_record -N -q -a -m 64M -g -c 1 -e sched:sched_switch,sched:sched_waking -o s.data \
		python3 -c 'import time; [time.sleep(0.05) for i in range(10)]' 2>/dev/null || skip "perf cannot record here"
	for how in off-cpu wakeups; do
		# 5: the kernel may leave out switches of some threads of the machine.
		"$waymark" flame s.data --$how --folded >$how 2>why || { [ $? -eq 5 ] && grep -q "not counted" why; }
	done
	python3 - <<-'END'
	# On a busy machine a thread can be woken before it has left its processor: then it did not sleep.
	for how, least in ("off-cpu", 490e6), ("wakeups", 240e6):
	    slept = sum(int(l.rsplit(" ", 1)[1]) for l in open(how) if l.startswith("python3;"))
	    assert least < slept < 60e9, (how, slept)
	END
	grep -q '^python3;.*schedule' off-cpu
	perf_record -N -q -g -e cpu-clock -o c.data true 2>why || skip "perf cannot record here: $(head -1 why)"
	run -4 "$waymark" flame c.data --off-cpu
	[[ $output == *"-e sched:sched_switch"* ]]
}

@test "off-CPU time of one command; what its trace does not tell is said" {
	"$waymark" record -q -g -c 1 -e sched:sched_switch -e sched:sched_waking -o own -- \
		python3 -c 'import time; [time.sleep(0.05) for i in range(10)]' 2>why ||
		skip "cannot record here: $(head -1 why)"
	"$waymark" flame own --off-cpu --folded >own.folded
	awk '/^python3;/ { sum += $NF } END { exit !(sum > 490e6 && sum < 60e9) }' own.folded
	# Timers wake it, in the context of another task.
	run -5 "$waymark" flame own --wakeups --folded
	[[ $output == *"the wakeups that ended them are not in the trace"*"waymark record -a "* ]]
	# The exit shows that the thread ran again, but nothing shows when.
	perf_record -N -q -g -c 1 -e sched:sched_switch -o one.data sleep 0.1 2>why || skip "$(head -1 why)"
	run -5 "$waymark" flame one.data --off-cpu --folded
	[[ $output == *"not when they ran again; record with 'waymark record -c 1 -g -e sched:sched_switch'"* ]]
	perf_record -N -q -g -c 1 --switch-events -e sched:sched_switch -o both.data sleep 0.1 2>why || skip "$(head -1 why)"
	"$waymark" flame both.data --off-cpu --folded | grep -q '^sleep;.*nanosleep.* [1-9][0-9]\{8,\}$'
	# perf reads the records in a converted recording.
	"$waymark" convert own own.data
	perf script -i own.data --show-switch-events | grep -q 'PERF_RECORD_SWITCH IN'
}
