# SPDX-License-Identifier: MIT
# user.sh - tests user-space recording on that kernel; busybox runs it in the machine, for
# test/vm/user.bats. $1 is a folder shared with the host, with `app` in it; results are written
# there, one file per fact.
. "${0%/*}/start.sh"
uname -r >release
cat /proc/cpuinfo >cpuinfo
waymark --version >version
test -e /sys/kernel/tracing/kprobe_events; echo $? >kprobe_events
wc -l </sys/kernel/tracing/available_filter_functions >functions

# NAME ARGUMENTS...: records; stores the messages, the status and the events under that name.
record() {
	local name=$1
	shift
	waymark record -o "$name" "$@" >"$name.out" 2>"$name.err"
	echo $? >"$name.status"
	waymark print --all "$name" >"$name.text" 2>"$name.print_err"
}

record plain -- ./app plain 1000
waymark info plain >plain.info 2>&1
record exit -- ./app exit 10
record killed -- ./app kill 5000
record forks -- ./app fork 100
record preloaded --preload malloc -- ./bare plain 10

./app run >running &
app=$!
await 'grep -q ready running'
waymark record -q -o attached -p $app >/dev/null 2>attached.err &
recorder=$!
await '[ "$(waymark print attached 2>/dev/null | wc -l)" -gt 20 ]'
kill -TERM $recorder
wait $recorder
echo $? >attached.status
waymark print attached >attached.text 2>attached.print_err

# The command is killed while the program continues: its pump ends the trace.
waymark record -q -o orphan -p $app >/dev/null 2>orphan.err &
recorder=$!
await '[ "$(waymark print orphan 2>/dev/null | wc -l)" -gt 20 ]'
kill -9 $recorder
wait $recorder
await '! pidof waymark >/dev/null'
waymark print orphan >orphan.text 2>orphan.print_err
echo $? >orphan.status

# Program and recorder are killed at the same time, during the recording.
waymark record -q -o both -p $app >/dev/null 2>both.err &
await '[ "$(waymark print both 2>/dev/null | wc -l)" -gt 20 ]'
kill -9 $app $(pidof waymark)
waymark info --repair both >both.repair 2>&1
waymark print both >both.text 2>both.print_err
echo $? >both.status
touch done
