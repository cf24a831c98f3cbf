#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# again.bats - a process that is attached to repeatedly: each recording and each count has
# everything from its first event on, of any kind.

bats_require_minimum_version 1.5.0
load wait

setup_file() {
	export W="$BATS_FILE_TMPDIR" BATS_TEST_TIMEOUT=300
	# Each line read makes it emit ten of the kind named by its first letter.
	cat >"$W/app.c" <<-'EOC'
	#include <stdio.h>
	#define WAYMARK_PROVIDER app
	#include <waymark/tracepoint.h>
	WAYMARK_EVENT(shop, order, WAYMARK_ARGS(int, id), WAYMARK_FIELDS((i32, id, id)));
	static void one(char kind, int i)
	{
		if (kind == 's') {
			trace_span(work, (i32, i, i));
		} else if (kind == 'm') {
			trace_mark(app_mark, "i %d", i);
		} else if (kind == 'p') {
			trace_printf("i %d", i);
		} else {
			trace_event(shop, order, i);
		}
	}
	int main(void)
	{
		char line[16];
		setvbuf(stdout, NULL, _IOLBF, 0);
		for (int nr = 0; fgets(line, sizeof(line), stdin); printf("did %d\n", ++nr))
			for (int i = 0; i < 10; i++)
				one(line[0], i);
		return 0;
	}
	EOC
	cc -O2 -I"$WAYMARK_SOURCE/include" "$W/app.c" -o "$W/app" -L"$WAYMARK_BUILD" \
		-Wl,--no-as-needed -l:libwaymark-rt.so.0 -Wl,-rpath,"$WAYMARK_BUILD"
}

setup() {
	PATH="$WAYMARK_BUILD:$PATH"
	cd "$BATS_TEST_TMPDIR"
	mkfifo orders
	nr=0
	"$W/app" <orders >out 3>&- &
	app=$!
	exec 7>orders
}

teardown() {
	exec 7>&- || true
	kill -9 "$app" ${tool:+"$tool"} 2>/dev/null || true
}

ten() { # KIND
	echo "$1" >&7
	nr=$((nr + 1))
	until_true grep -qx "did $nr" out
}

# All places of the process are on by the time the command reports that it has not joined.
is_asked() {
	grep -q "process $app has not joined yet: it joins when" err
}

# recorded KIND: prints how many of ten events are in the trace of a recording that they begin
recorded() {
	rm -rf t
	waymark record -o t -p "$app" 2>err 3>&- 7>&- &
	tool=$!
	until_true is_asked
	ten "$1"
	kill -INT "$tool"
	wait "$tool"
	waymark print t | wc -l
}

@test "recorded repeatedly, each kind of event is in the trace from the first one" {
	[ "$(recorded e)" -eq 10 ]
	[ "$(recorded e)" -eq 10 ]
	[ "$(recorded m)" -eq 10 ]
	[ "$(recorded p)" -eq 10 ]
	[ "$(recorded s)" -eq 20 ] # begin and end
}
