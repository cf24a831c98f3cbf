#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# thread_names.bats - tests that events carry the name that their thread had at the time, and that
# print, $comm in filters and the API agree on it.

bats_require_minimum_version 1.5.0

setup_file() {
	export W="$BATS_FILE_TMPDIR" BATS_TEST_TIMEOUT=300
	cat >"$W/named.c" <<-'EOF'
	#include <pthread.h>
	#include <sys/prctl.h>
	#include <unistd.h>
	#include <waymark/tracepoint.h>
	WAYMARK_EVENT(named, hit, WAYMARK_ARGS(int, n), WAYMARK_FIELDS((i32, n, n)));
	static void *named_run(void *name)
	{
		prctl(PR_SET_NAME, name);
		trace_event(named, hit, 1);
		return NULL;
	}
	int main(void)
	{
		pthread_t t;

		trace_event(named, hit, 0);
		pthread_create(&t, NULL, named_run, "a worker");
		pthread_join(t, NULL);
		trace_event(named, hit, 2);
		return 0;
	}
	EOF
	cc -O2 -I"$WAYMARK_SOURCE/include" "$W/named.c" -o "$W/named" -L"$WAYMARK_BUILD" \
		-Wl,--no-as-needed -l:libwaymark-rt.so.0 -Wl,-rpath,"$WAYMARK_BUILD" -lpthread
	cat >"$W/renamed.c" <<-'EOF'
	#include <sys/prctl.h>
	#include <unistd.h>
	int main(void)
	{
		(void)getppid();
		prctl(PR_SET_NAME, "another");
		(void)getppid();
		return 0;
	}
	EOF
	cc -O2 "$W/renamed.c" -o "$W/renamed"
}

setup() {
	PATH="$WAYMARK_BUILD:$PATH"
	cd "$BATS_TEST_TMPDIR"
}

@test "an event of a program has the name of its thread, not of its process" {
	waymark record -q -o t -- "$W/named"
	[ "$(waymark print t | grep -o '[a-z ]*:[0-9]*/[0-9]* named:hit: .*' |
		sed -E 's/[0-9]+\/[0-9]+/P/')" = " named:P named:hit: { n = 0 }
 a worker:P named:hit: { n = 1 }
 named:P named:hit: { n = 2 }" ]
	[ "$(waymark print --filter '$comm == "a worker"' t | wc -l)" -eq 1 ]
	[ "$(waymark print --jsonl t | grep -c '"comm":"a worker"')" -eq 1 ]
	[ "$(waymark print --format=perf t | grep -c '^ *a worker ')" -eq 1 ]
	waymark report -s comm --json t | grep -q '"a worker"'
}

@test "kernel events of CMD have its name at the time, also before exec and before a rename" {
	local folder=/sys/kernel/tracing
	if [ ! -d $folder/instances ] || [ ! -e $folder/events/syscalls/sys_enter_getppid ]; then
		echo "# SKIPPED: no tracefs with system call events that we may use" >&3
		skip "no tracefs we may use"
	fi
	waymark record -q -o t -e syscall:execve:enter -e syscall:getppid:enter -- "$W/renamed"
	[ "$(waymark print t | sed -E 's/^\[[^]]*\] \([^)]*\) ([^:]*):.*sys_enter_([a-z]*).*/\1 \2/')" = "waymark execve
renamed getppid
another getppid" ]
	[ "$(waymark print --filter '$comm == "waymark"' t | wc -l)" -eq 1 ]
	waymark report -s comm t | grep -q waymark
}
