# SPDX-License-Identifier: MIT
# probe.sh - tests probes and other facilities of tracefs on that kernel; busybox runs it in the
# machine, for test/vm/probe.bats. $1 is a folder shared with the host; results are written there,
# one file per fact.
. "${0%/*}/start.sh"
T=/sys/kernel/tracing
R="waymark record --preload none"

# NAME ARGUMENTS...: makes a recording; its messages and its text are stored under that name.
take() {
	local name=$1
	shift
	$R -o "$name" "$@" >"$name.out" 2>"$name.err"
	echo $? >"$name.status"
	waymark print "$name" >"$name.text" 2>>"$name.err"
}

# Prints the processes with that name.
called() {
	for comm in /proc/[0-9]*/comm; do
		[ "$(cat "$comm")" != "$1" ] || echo "$comm" | cut -d/ -f3
	done
}

take typed -e 'kprobe:vfs_write(file->f_flags, count, buf=buf:x64, name=file->f_path.dentry->d_name.name:string)' \
	-e 'kretprobe:vfs_write($retval)' -- sh -c 'echo 12345 >written'
take all -e 'kprobe:vfs_write(*)' -e 'kprobe:vfs_write+5(%di)' -- sh -c 'echo 12345 >written'
take open -e 'kprobe:do_sys_openat2(arg2:ustring, dfd)' -- cat "$PWD/there"
take event -e 'eprobe:syscalls:sys_enter_openat(file=filename:ustring, flags)' -- cat "$PWD/there"
take function -e 'func:kernel:vfs_re*' -e 'func:kernel:vfs_open' -- cat "$PWD/there"
take both -e 'func:kernel:vfs_rea?:return' -- dd "if=$PWD/there" of=/dev/null
take hist --trigger 'syscalls:sys_enter_getpgid:hist:keys=common_pid' --trigger 'syscalls:sys_exit_getpgid:snapshot:1' \
	--stacks kernel -e syscall:getpgid:enter -- ./calls 50
# The time between entry and exit, which the kernel computes in a synthetic event with this name. It
# is recorded whether it is named or not.
take synthetic --synthetic 'pgid_time u64 ns; long id' -e synthetic:pgid_time -e 'synthetic:*' \
	--trigger 'syscalls:sys_enter_getpgid:hist:keys=common_pid:ts0=common_timestamp' \
	--trigger 'syscalls:sys_exit_getpgid:hist:keys=common_pid:ns=common_timestamp-$ts0:onmatch(syscalls.sys_enter_getpgid).pgid_time($ns,ret)' \
	-- ./calls 50
# A histogram that takes times must not change the recording's clock; its action takes a snapshot.
take clock --trigger 'syscalls:sys_enter_getpgid:hist:keys=common_pid:ts0=common_timestamp.usecs' \
	--trigger 'syscalls:sys_exit_getpgid:hist:keys=common_pid:us=common_timestamp.usecs-$ts0:onmax($us).snapshot()' \
	-e syscall:getpgid -- sh -c "cat $T/instances/waymark-*/trace_clock; ./calls 50"
for trigger in 'hist:keys=common_pid:ts0=common_timestamp:clock=global' 'hist:keys=common_pid:ts0=common_timestamp if nosuch > 1'; do
	$R -o refused --trigger "syscalls:sys_enter_getpgid:$trigger" -- true 2>>refused_trigger.err
	echo $? >>refused_trigger.status
done
take user -e 'uprobe:./calls:tick(i)' -e 'uretprobe:./calls:tick($retval)' -- ./calls 20
for name in 'kprobe:vfs_writ' 'kprobe:vfs_write(cuont)' 'kprobe:vfs_write(file->f_flgs)' 'kprobe:vfs_write(file)x' 'kprobe:vfs_write+1' 'eprobe:sched:sched_switch(next_com)'; do
	$R -o refused -e "$name" -- true 2>>refused.err
	echo $? >>refused.status
done
$R -o refused --synthetic 'bad nosuch_t x' -- true 2>refused_synthetic.err
$R -o refused --synthetic 'late u64 ns' -e synthetic:late --filter 'ns > 1' -- true 2>refused_late.err
cat $T/dynamic_events >clean
ls $T/instances >>clean

# Kills everything while it records; then the next start must remove the rest.
waymark record -q -o killed --synthetic 'left u64 x' --trigger 'sched:sched_switch:hist:keys=next_pid' -e kprobe:vfs_read -a -- sleep 100 &
command=$!
await '[ -e killed/kernel/formats ] && [ "$(grep -c waymark_ $T/dynamic_events)" -eq 2 ]'
cat $T/dynamic_events >killed.before
kill -9 $command $(called waymark-pump) $(called waymark-probes)
await '[ -z "$(called waymark-pump)$(called waymark-probes)" ]'
cat $T/dynamic_events >killed.between
$R -q -o next -e syscall:getpgid -- ./calls 1
cat $T/dynamic_events >killed.after
ls $T/instances >killed.instances
: >done
