# SPDX-License-Identifier: MIT
# kernel.sh - tests kernel events on that kernel; busybox runs it in the machine, for
# test/vm/kernel.bats. $1 is a folder shared with the host; results are written there, one file per
# fact.
. "${0%/*}/start.sh"

# Waits until both are seen sleeping ten times in a row: they have enabled their counters.
settled() {
	[ "$(grep -l '^State:.S' "/proc/$1/status" "/proc/$2/status" | wc -l)" -eq 2 ] || looks=0
	looks=$((looks + 1))
	[ $looks -gt 10 ]
}

mkdir units
for unit in "$WAYMARK_BUILD"/kernel-*_test "$WAYMARK_BUILD"/kdata-*_test; do
	[ -x "$unit" ] && "$unit" >"units/${unit##*/}" 2>&1
done
T=/sys/kernel/tracing
G=__x64_sys_getpgid

# Compares with the kernel's own counts: those of a kprobe event of another tool, and of a
# histogram.
echo "p:mine/getpgid $G" >$T/kprobe_events
echo 1 >$T/events/mine/getpgid/enable
echo 'hist:keys=common_pid' >$T/events/syscalls/sys_enter_getpgid/trigger
waymark stat -x , -e "kprobe:$G,kretprobe:$G,syscall:getpgid,syscall:getpgid:exit" \
	-e "func:kernel:__x64_sys_getpgi?,mine:getpgid,uprobe:$PWD/calls:tick" -- ./calls 1000 >stat.csv 2>stat.err
echo $? >stat.status
waymark stat -a -x , -e "kprobe:$G,mine:getpgid,syscall:getpgid" -- ./calls 500 >stat_all.csv 2>stat_all.err
cat $T/kprobe_profile >profile
grep Hits $T/events/syscalls/sys_enter_getpgid/hist >hist
echo '!hist:keys=common_pid' >$T/events/syscalls/sys_enter_getpgid/trigger
echo 0 >$T/events/mine/getpgid/enable

# Counts per value, and with a filter, in the kernel.
waymark stat --by comm,id -e raw_syscalls:sys_enter -- ./calls 300 >by 2>by.err
echo $? >by.status
waymark stat -x , -e raw_syscalls:sys_enter --filter 'id == 121 && $comm == "calls"' -- ./calls 200 >filter.csv 2>filter.err

# Samples where the kernel spends its time, by instruction; the code is read from its own memory.
waymark record -q -F 1000 -o kernel_time -- dd if=/dev/zero of=/dev/null bs=64k count=3000 2>dd.err
waymark report kernel_time -s dso,sym --json >kernel_time.json 2>kernel_time.err
hot=$(tr '}' '\n' <kernel_time.json | sed -n 's/.*"dso":"\[kernel.kallsyms\]","sym":"\[k\] \([^"]*\)".*/\1/p' | head -1)
waymark annotate "$hot" kernel_time --json >kernel_code.json 2>>kernel_time.err
grep " $hot\$" /proc/kallsyms >kernel_code.kallsyms

# Runs perf and waymark on one process that was stopped when both attached.
E=sched:sched_process_fork,sched:sched_process_exit,raw_syscalls:sys_enter,page-faults,context-switches
./calls 2000 stop &
calls=$!
await "grep -q '^State:.T' /proc/$calls/status"
perf stat -x , -o perf.csv -e $E -p $calls &
perf=$!
waymark stat -x , -o both.csv -e $E -p $calls &
ours=$!
for pid in $perf $ours; do
	await "[ \$(ls -l /proc/$pid/fd | grep -c perf_event) -ge 5 ] || [ ! -e /proc/$pid ]"
done
looks=0
[ -e /proc/$perf ] && await "settled $perf $ours"
kill -CONT $calls
wait

# Names places that cannot be probed, and users who may not probe.
for what in kprobe:no_such_function $G+1 do_int3; do
	waymark stat -e "kprobe:${what#kprobe:}" -- true 2>>refused
	echo $? >>refused.status
done
su nobody -s /bin/sh -c 'waymark stat -e page-faults -- true' 2>nobody.err
echo $? >nobody.status

waymark doctor >doctor
su nobody -s /bin/sh -c 'waymark doctor' >doctor.nobody

# Lists the families with the names of this kernel.
waymark list >families
waymark list 'kprobe:__x64_sys_getpg*' >list.kprobe
waymark list 'sched:*' >list.sched
ls -d $T/events/sched/*/ >tracefs.sched

# Records through this kernel's rings, which must be read because they cannot be mapped.
waymark record -o getpgid -e syscall:getpgid -- ./calls 5000 2>getpgid.err
echo $? >getpgid.status
waymark print getpgid >getpgid.text
waymark info getpgid >getpgid.info
waymark record -q -a -o machine -e 'sched:*' -e 'raw_syscalls:*' -- ./calls 100 2>machine.err
echo $? >machine.status
waymark print machine >machine.text
waymark record -q -o beside -e syscall:write -e 'hello:*' -- "$WAYMARK_BUILD/examples/hello" >hello.out 2>beside.err
waymark print beside >beside.text
ls $T/instances >instances.after

# A killed recorder leaves no probe behind; the probes of other tools remain.
waymark stat -e "kprobe:$G,uprobe:$PWD/calls:tick" -- sleep 100 &
await "grep -q waymark $T/kprobe_events && grep -q waymark $T/uprobe_events"
cat $T/kprobe_events >probes.before
kill -9 $!
await "! grep -q waymark $T/kprobe_events $T/uprobe_events"
cat $T/kprobe_events $T/uprobe_events >probes.after
echo -:mine/getpgid >>$T/kprobe_events
touch done
