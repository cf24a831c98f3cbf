#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# empty.bats - tests recordings that stay empty: each reason is reported with a cure, and the cure
# works.

bats_require_minimum_version 1.5.0
load wait

setup_file() {
	export W="$BATS_FILE_TMPDIR" BATS_TEST_TIMEOUT=300
	cat >"$W/app.c" <<-'EOC'
	#include <stdlib.h>
	#include <unistd.h>
	#include <waymark/tracepoint.h>
	WAYMARK_EVENT(app, tick, WAYMARK_ARGS(int, n), WAYMARK_FIELDS((i32, n, n)));
	WAYMARK_EVENT(app, never, WAYMARK_ARGS(int, n), WAYMARK_FIELDS((i32, n, n)));
	int main(int argc, char **argv)
	{
		int n = argc > 1 ? atoi(argv[1]) : 5;
		if (argc > 7)
			trace_event(app, never, 1);
		for (int i = 0; i < n; i++) {
			trace_event(app, tick, i);
			if (n > 100)
				usleep(1000);
		}
		return 0;
	}
	EOC
	options=(-O2 -I"$WAYMARK_SOURCE/include" "$W/app.c")
	cc "${options[@]}" -o "$W/app" -L"$WAYMARK_BUILD" -Wl,--no-as-needed -l:libwaymark-rt.so.0 \
		-Wl,-rpath,"$WAYMARK_BUILD"
	cc "${options[@]}" -static -o "$W/static"
	chmod 755 "$W"
}

setup() {
	PATH="$WAYMARK_BUILD:$PATH"
	mkdir "$BATS_TEST_TMPDIR/here"
	cd "$BATS_TEST_TMPDIR/here"
	pids=()
}

teardown() {
	for p in "${pids[@]}"; do
		kill -9 "$p" 2>/dev/null || true
	done
	[ -z "${open-}" ] || rm -r "$open"
}

@test "programs without marks, and the helpers that provide some" {
	run -0 waymark record -o t -- env -i /bin/true
	[[ "$output" == *"no process of "*" has tracepoints"*"cleared environment"*"record -g -- "*"syscall:"*"--preload malloc,pthread"* ]]
	run -0 waymark record -o t2 --preload malloc -- ls /
	[[ "$output" =~ [1-9][0-9]*" events, " ]]
	[[ "$output" != *"has tracepoints"* ]]
}

@test "a static program without the runtime; --preload none" {
	run -0 waymark record -o t -- "$W/static"
	[[ "$output" == *"linked statically and without the runtime"*"libwaymark-rt.a"* ]]
	run -4 waymark record -o t3 -e app:tick -- "$W/static"
	[[ "$output" == *"the event 'app:tick' exists, but no process that contains it joined"* ]]
	run -0 waymark record -o t2 --preload none -- /bin/true
	[[ "$output" == *"--preload none excluded it"* ]]
}

@test "a setuid program is not reached by its environment, but from outside" {
	[ "$(id -u)" -eq 0 ] || skip "needs root, to make a program setuid"
	# The other user must be able to read the runtime, but the build folder may be in root's
	# home, which is closed.
	open=$(mktemp -d)
	chmod 755 "$open"
	cp "$WAYMARK_BUILD/libwaymark-rt.so.0" "$open"
	cc -O2 -I"$WAYMARK_SOURCE/include" "$W/app.c" -o "$open/setuid" -L"$open" -Wl,--no-as-needed \
		-l:libwaymark-rt.so.0 -Wl,-rpath,"$open"
	chown nobody "$open/setuid"
	chmod 4755 "$open/setuid"
	run -0 waymark record -o t -- "$open/setuid"
	[[ "$output" == *"privileges of its own"*"waymark record -p PID"* ]]
	"$open/setuid" 5000 3>&- &
	pids+=("$!")
	until_true grep -q libwaymark-rt "/proc/$!/maps"
	run -0 waymark record -o t2 -p "$!" -- bash -c '. "$0" && until_shows t2 1 app:tick' "$WAYMARK_SOURCE/test/wait.bash"
	[[ "$output" == *" from 1 process, 0 lost: t2"* ]]
}

@test "a process that never reaches a mark" {
	"$W/app" 20000 3>&- &
	app=$!
	pids+=("$app")
	until_true grep -q libwaymark-rt "/proc/$app/maps"
	run -4 waymark record -o t -p "$app" -e app:never -- sleep 0.2
	[[ "$output" == *"process $app has not joined yet: it joins when one of its threads passes"* ]]
	# Attaches to the path of the first one.
	run -0 waymark record -o t2 -p "$app" -e app:tick -- bash -c '. "$0" && until_shows t2 1 app:tick' "$WAYMARK_SOURCE/test/wait.bash"
	[[ "$output" == *" from 1 process, 0 lost: t2"* ]]
}

@test "root of a namespace that an ordinary user made: its programs are recorded" {
	[ "$(id -u)" -eq 0 ] || skip "not root: cannot become nobody"
	nobody() { env -u XDG_RUNTIME_DIR setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
	nobody unshare -Ur true 2>/dev/null || skip "no user namespaces for nobody"
	open=$(mktemp -d)
	chmod 777 "$open"
	cp "$W/app" "$WAYMARK_BUILD/waymark" "$WAYMARK_BUILD/libwaymark-rt.so.0" "$open"
	cd "$open"
	run -0 nobody unshare -Ur ./waymark record -o t -- ./app
	[[ "$output" == *"5 events, "*" from 1 process, 0 lost: t"* ]]
	run nobody unshare -Ur ./waymark record -o t2 -e sched:sched_switch -- ./app
	[[ "$output" != *"only root may read"* || "$output" == *"run as root outside of this user namespace"* ]]
}

@test "many processes without marks are reported in one sentence" {
	local many=() i list
	for i in {1..20}; do
		sleep 1000 3>&- &
		many+=("$!")
	done
	pids+=("${many[@]}")
	list=$(IFS=,; echo "${many[*]}")
	run ! waymark record -o t -p "$list" -e app:tick -- true
	[ "${#lines[@]}" -eq 1 ]
	[[ "$output" == *"process ${many[0]} has no waymark runtime"*"; the same holds for 19 more processes" ]]
}

@test "thousands of processes can be named" {
	list=$$
	for i in {1..3000}; do list+=,$$; done
	run ! waymark record -o t -p "$list" -e app:tick -- true
	[[ "$output" == *"process $$ has no waymark runtime"*"; the same holds for 3000 more processes" ]]
}

@test "a process in another mount namespace: why it cannot join, its marks off again, the cure works" {
	unshare -m true 2>/dev/null || skip "may not make a mount namespace"
	[ -w /dev/shm ] || skip "no /dev/shm"
	shared=$(mktemp -d /dev/shm/waymark-test.XXXXXX)
	cp "$W/app" "$WAYMARK_BUILD/libwaymark-rt.so.0" "$shared"
	unshare -m sh -c "mount -t tmpfs none /tmp && LD_LIBRARY_PATH=$shared exec $shared/app 20000" 3>&- &
	app=$!
	pids+=("$app")
	until_true grep -q libwaymark-rt "/proc/$app/maps"
	run -4 env -u XDG_RUNTIME_DIR waymark record -o t -p "$app" -e app:tick -- sleep 0.5
	[[ "$output" == *"process $app cannot reach this recorder"*"XDG_RUNTIME_DIR"* ]]
	run -0 waymark list -p "$app" app:tick
	[[ "$output" == *" off"* ]]
	run env XDG_RUNTIME_DIR="$shared" waymark record -o t2 -p "$app" -e app:tick -- bash -c '. "$0" && until_shows t2 1 app:tick' "$WAYMARK_SOURCE/test/wait.bash"
	rm -rf "$shared"
	echo "$output"
	[ "$status" -eq 0 ]
	[[ "$output" == *" from 1 process, 0 lost: t2"* ]]
}

@test "WAYMARK_ENABLE without a command to record with" {
	mkdir alone
	cp "$WAYMARK_BUILD/libwaymark-rt.so.0" alone
	[ ! -e /usr/bin/waymark ] && [ ! -e /usr/local/bin/waymark ] || skip "waymark is installed"
	run -0 env WAYMARK_ENABLE='app:*' WAYMARK_OUTPUT=t LD_LIBRARY_PATH="$PWD/alone" "$W/app"
	[[ "$output" == *"no waymark command"*"WAYMARK_TOOL"* ]]
	run -0 env WAYMARK_ENABLE='app:*' WAYMARK_OUTPUT=t LD_LIBRARY_PATH="$PWD/alone" \
		WAYMARK_TOOL="$WAYMARK_BUILD/waymark" "$W/app"
	[ -z "$output" ] || { echo "$output"; return 1; }
	until_true sh -c 'waymark print t | grep -q app:tick'
}
