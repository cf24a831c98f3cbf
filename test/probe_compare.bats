#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# probe_compare.bats - perf, waymark stat and waymark record attach to the same stopped process,
# which then runs: their numbers must be equal, for uprobes and USDT probes of Debian's Python and
# PostgreSQL. Three runs of each; twenty with WAYMARK_LONG. PostgreSQL is in the package group
# bench.

bats_require_minimum_version 1.5.0
load wait

setup_file() {
	export W="$BATS_FILE_TMPDIR" BATS_TEST_TIMEOUT=500 TRACEFS=/sys/kernel/tracing PYTHON=/usr/bin/python3
	[ -z "${WAYMARK_LONG-}" ] || export BATS_TEST_TIMEOUT=1800
	cat >"$W/work.py" <<-'END'
	import gc
	def tick(n):
	    return n + 1
	for i in range(300):
	    tick(i)
	for i in range(7):
	    gc.collect()
	END
}

setup() {
	PATH="$WAYMARK_BUILD:$PATH"
	cd "$BATS_TEST_TMPDIR"
	[ -w "$TRACEFS/uprobe_events" ] || skip "no tracefs whose uprobe_events we may write"
	perf stat -e page-faults true 2>/dev/null || skip "perf does not run here: nothing to compare with"
	group=wmcmp$$
}

teardown() {
	[ -z "${pid-}" ] || kill -9 "$pid" 2>/dev/null || true
	perf probe -q -d "$group:*" 2>/dev/null || true
	[ -z "${sdt-}" ] || perf probe -q -d "$sdt" 2>/dev/null || true
	[ -z "${alone-}" ] || flock -u "$alone"
}

# Waits until a shell condition is true.
await() {
	until_true eval "$1"
}

# Adds all places of a program's probes to perf, as PROVIDER:NAME; their names are stored in $sdt. The
# names are the same for everybody, so another run of this test must end first.
perf_adds() { # PROGRAM PROVIDER NAME...
	local program=$1 provider=$2 name
	shift 2
	exec {alone}<"$TRACEFS/uprobe_events"
	flock "$alone"
	perf probe -l 2>/dev/null | grep -q "sdt_$provider:" && skip "somebody else has probes sdt_$provider"
	sdt="sdt_$provider:*"
	perf --buildid-dir "$PWD/ids" buildid-cache --add "$program"
	for name; do
		perf --buildid-dir "$PWD/ids" probe -q "sdt_$provider:$name"
	done
}

# Prints perf's events that are places of a probe: function__entry, function__entry_1 and so on.
places() { # PROVIDER NAME
	perf probe -l 2>/dev/null | grep -oE "sdt_$1:$2(_[0-9]+)? " | tr -d ' ' | paste -sd,
}

# Runs "$@" after all three have attached to it; then compares the counts for each line of `pairs`:
# "WAYMARK'S NAME|PERF'S NAMES|NAME IN THE TRACE".
compare_one() {
	local ours theirs recorded event names name listed perf_pid stat_pid record_pid p
	rm -rf t
	sh -c 'kill -STOP $$; exec "$@"' sh "$@" >out 2>err 3>&- &
	pid=$!
	await "[[ \$(cat /proc/$pid/stat) == *') T '* ]]"
	listed=$(cut -d'|' -f1 pairs)
	perf stat -x, -o perf.csv -e "$(cut -d'|' -f2 pairs | paste -sd,)" -p $pid 3>&- &
	perf_pid=$!
	waymark stat -x, -o stat.csv $(sed 's/^/-e /' <<<"$listed") -p $pid 3>&- &
	stat_pid=$!
	waymark record -q -o t $(sed 's/^/-e /' <<<"$listed") -p $pid 3>&- &
	record_pid=$!
	for p in $perf_pid $stat_pid; do
		await "[ \$(find /proc/$p/fd -lname '*perf_event*' 2>/dev/null | wc -l) -ge $(wc -l <<<"$listed") ]"
	done
	await "[ -e t/kernel/formats ] && grep -q $pid $TRACEFS/instances/waymark-$record_pid-0/set_event_pid"
	until_tracing $record_pid
	until_idle $perf_pid $stat_pid
	kill -CONT $pid
	wait $pid
	wait $record_pid
	wait $stat_pid
	wait $perf_pid || true
	while IFS='|' read -r name names event; do
		theirs=0
		for p in ${names//,/ }; do
			theirs=$((theirs + $(awk -F, -v name="$p" '$3 == name { print $1 }' perf.csv)))
		done
		ours=$(awk -F, -v name=":$event" 'index($3, name) { print $1 }' stat.csv)
		recorded=$(waymark print t | grep -c ":$event: ") || true
		echo "$name: perf $theirs, stat $ours, record $recorded"
		[ "$ours" -eq "$theirs" ] && [ "$recorded" -eq "$theirs" ] || return 1
		[ "$theirs" -gt 0 ]
	done <pairs
}

compare() {
	local i runs=3
	[ -z "${WAYMARK_LONG-}" ] || runs=20
	for ((i = 0; i < runs; i++)); do
		compare_one "$@"
	done
}

@test "uprobes: functions of Python, entry and return" {
	local binary
	binary=$(readlink -f $PYTHON)
	perf probe -q -x "$binary" $group:eval=PyObject_GetAttr 2>why || skip "perf probe cannot: $(cat why)"
	perf probe -q -x "$binary" $group:len=PyUnicode_FromFormat
	cat >pairs <<-END
	uprobe:$binary:PyObject_GetAttr|$group:eval|PyObject_GetAttr
	uprobe:$binary:PyUnicode_FromFormat|$group:len|PyUnicode_FromFormat
	END
	compare $PYTHON "$W/work.py"
}

@test "USDT: Python's function__entry and gc__start" {
	local binary
	binary=$(readlink -f $PYTHON)
	readelf -n "$binary" 2>/dev/null | grep -q 'Provider: python' || {
		echo "# SKIPPED: $binary has no USDT probes" >&3
		skip "no USDT probes in $binary"
	}
	perf_adds "$binary" python function__entry gc__start
	cat >pairs <<-END
	usdt:$binary:python:function__entry|$(places python function__entry)|python:function__entry
	usdt:$binary:python:gc__start|$(places python gc__start)|python:gc__start
	END
	compare $PYTHON "$W/work.py"
	[ "$(waymark print t | grep -c 'gc__start')" -ge 7 ]
}

@test "USDT of a running Python, by its pid; a probe that none of its files has" {
	readelf -n "$(readlink -f $PYTHON)" 2>/dev/null | grep -q 'Provider: python' || skip "no USDT probes in $PYTHON"
	$PYTHON -c 'import gc, time
while True:
    gc.collect()
    time.sleep(0.005)' 3>&- &
	pid=$!
	await "grep -q libc.so /proc/$pid/maps"
	run -0 waymark record -q -o p -e "usdt:$pid:python:gc__*" -p $pid -- sleep 2
	[ "$(waymark print p | grep -c "/$pid .*python:gc__start: .*arg1 *= *2")" -gt 5 ]
	[ "$(waymark print p | grep -c "/$pid .*python:gc__done: ")" -gt 5 ]
	run -4 waymark record -q -o u -e "usdt:$pid:python:nothing" -a -- true
	[[ $output == *"not found in the "*" that process $pid runs code from"* ]]
}

@test "USDT and uprobes: PostgreSQL's queries, transactions, buffers" {
	local bin
	bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -1)
	if [ ! -x "$bin/postgres" ] || ! id postgres >/dev/null 2>&1; then
		echo "# SKIPPED: no PostgreSQL (Debian's postgresql-15)" >&3
		skip "no PostgreSQL"
	fi
	readelf -n "$bin/postgres" 2>/dev/null | grep -q 'Provider: postgresql' || skip "it has no USDT probes"
	mkdir data
	chown postgres data
	chmod a+x "$BATS_TEST_TMPDIR" "$W" "$(dirname "$W")" "$(dirname "$(dirname "$W")")"
	as() { setpriv --reuid postgres --regid postgres --clear-groups env -C / "$@"; }
	as "$bin/initdb" -N -A trust -D "$PWD/data" >initdb.log 2>&1
	printf 'create table zoo (id int, name text);\ninsert into zoo select i, i from generate_series(1, 500) i;\nselect count(*) from zoo;\n' >queries
	chmod a+r queries
	perf_adds "$bin/postgres" postgresql query__start transaction__start buffer__read__start
	perf probe -q -x "$bin/postgres" $group:run=PortalRun
	cat >pairs <<-END
	usdt:$bin/postgres:postgresql:query__start|$(places postgresql query__start)|postgresql:query__start
	usdt:$bin/postgres:postgresql:transaction__start|$(places postgresql transaction__start)|postgresql:transaction__start
	usdt:$bin/postgres:postgresql:buffer__read__start|$(places postgresql buffer__read__start)|postgresql:buffer__read__start
	uprobe:$bin/postgres:PortalRun|$group:run|PortalRun
	END
	cat >run.sh <<-END
	exec setpriv --reuid postgres --regid postgres --clear-groups env -C / $bin/postgres --single -D $PWD/data postgres <$PWD/queries
	END
	compare sh run.sh
	# The text of each query.
	waymark record -q -o q --preload none -e "usdt:$bin/postgres:postgresql:query__start(query=arg1:string)" -- sh run.sh >/dev/null 2>&1
	waymark print q | grep -q 'query__start: .*query *= *"select count(\*) from zoo;'
}
