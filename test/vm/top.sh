# SPDX-License-Identifier: MIT
# top.sh - tests what an older kernel offers only in the system's own trace buffer; busybox runs it
# in the machine, for test/vm/top.bats. $1 is a folder shared with the host, with `between` in it;
# results are written there, one file per fact.
. "${0%/*}/start.sh"
T=/sys/kernel/tracing
R="waymark record"

# Prints all settings of the buffer that a tool may have changed, and the existing instances.
state() {
	cd $T || exit 9
	grep '' current_tracer set_event set_event_pid set_event_notrace_pid set_ftrace_pid set_ftrace_notrace_pid \
		set_ftrace_filter set_ftrace_notrace set_graph_function trace_clock buffer_size_kb buffer_percent \
		tracing_on tracing_cpumask options/function-fork options/event-fork options/overwrite
	grep entries per_cpu/cpu*/stats
	ls instances
	cd "$OLDPWD" || exit 9
}

# NAME ARGUMENTS...: makes a recording, and compares the state of the buffer before and after.
take() {
	local name=$1
	shift
	state >"$name.before"
	$R -o "$name" "$@" >"$name.out" 2>"$name.err"
	echo $? >"$name.status"
	state >"$name.after"
	waymark print "$name" >"$name.text" 2>>"$name.err"
}

# Prints the processes with that name.
called() {
	for comm in /proc/[0-9]*/comm; do
		[ "$(cat "$comm" 2>&-)" != "$1" ] || echo "$comm" | cut -d/ -f3
	done
}

# uses dd, because busybox's cat copies by sendfile while dd reads
D="dd if=/proc/uptime of=/dev/null"
G="-e func:kernel:vfs_read:graph"
$R -q -o first --preload none -e syscall:getpid -- true # creates an instance first, so that the rings have their final size
take graph --preload none $G -- sh -c "$D; $D"
take mixed -a $G -e func:kernel:vfs_open -e syscall:openat:enter -- $D
# 10,000 times, in time order
take markers -b 64M -e 'app:*' -e ftrace:print -- ./between 10000 $T/trace_marker
take filter -e ftrace:print --filter 'buf == "mark*"' -- ./between 10 $T/trace_marker
echo 0 >$T/tracing_on
echo mono_raw >$T/trace_clock
echo 3000 >$T/buffer_size_kb
echo 70 >$T/buffer_percent
echo 1 >$T/options/function-fork
take odd $G -- $D
echo 1 >$T/tracing_on
echo local >$T/trace_clock
echo 0 >$T/options/function-fork

# NAME EVENT: the buffer is in use: the recording must report that and change nothing.
refuse() { # NAME EVENT
	state >"refused_$1.before"
	$R -o "refused_$1" -e "$2" -- true 2>"refused_$1.err"
	echo $? >"refused_$1.status"
	state >"refused_$1.after"
}
echo 0 >$T/tracing_on # disabled, so that its content is the same in two looks
# Traces only one function, because an emulated machine is slow when it traces all.
echo vfs_open >$T/set_ftrace_filter
echo function >$T/current_tracer
refuse tracer ftrace:print
echo nop >$T/current_tracer
echo >$T/set_ftrace_filter
echo >$T/trace
echo 1 >$T/events/sched/sched_process_fork/enable
refuse event func:kernel:vfs_read:graph
echo 0 >$T/events/sched/sched_process_fork/enable
echo 1 >$T/tracing_on
echo hello >$T/trace_marker
refuse unread func:kernel:vfs_read:graph
echo >$T/trace
echo vfs_open >$T/set_ftrace_filter
refuse filter ftrace:print
echo >$T/set_ftrace_filter
echo 1 >$T/set_event_pid
refuse pid func:kernel:vfs_read:graph
echo >$T/set_event_pid
echo 1 >$T/tracing_cpumask
refuse cpus func:kernel:vfs_read:graph
echo 3 >$T/tracing_cpumask
cat $T/trace_pipe >/dev/null &
reader=$!
await "ls -l /proc/$reader/fd 2>&- | grep -q trace_pipe"
refuse reader func:kernel:vfs_read:graph
kill $reader
wait $reader 2>&-
$R -q -o other -e ftrace:print -a -- sleep 100 &
other=$!
await '[ -e other/kernel/formats ] && grep -q 1 $T/tracing_on'
refuse ours ftrace:print
kill $other
wait $other
state >after_all

echo $$ >$T/set_event_notrace_pid # a selection of tasks counts as a use, too
refuse notrace ftrace:print
echo >$T/set_event_notrace_pid

# When the command is killed, its pump restores the buffer; when both are killed, the next start
# does.
begin_killed() {
	$R -q -o "$1" $G -a -- sleep 100 &
	command=$!
	await "grep -q graph $T/current_tracer && [ -e $1/kernel/formats ] && grep -q 1 $T/tracing_on"
}
state >killed.before
begin_killed killed1
kill -9 $command
await "grep -q nop $T/current_tracer && [ -z \"\$(ls $T/instances)\" ]"
state >killed.pump
begin_killed killed2
kill -9 $command $(called waymark-pump)
await '[ -z "$(called waymark-pump)" ]'
state >killed.between
$R -q -o next --preload none -e syscall:getpid -- true
state >killed.after
: >done
