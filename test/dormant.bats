#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# dormant.bats - tests the cost of a dormant mark: one instruction. Each function of
# test/dormant/hot.c is compiled with and without its mark at -O2 and -O3, and the hot paths are
# compared; see test/dormant/compare.py. Without WAYMARK_LONG=1, -O3 is used only for C on this
# machine.

bats_require_minimum_version 1.5.0

# Compiles with and without marks and compares. Arguments: $1 prefix of the tools, $2 variant, then
# the compiler.
same_but_sites() {
	local level levels=(-O2) prefix=$1 variant=$2 flags=() source=$WAYMARK_SOURCE/test/dormant
	if [ -n "${WAYMARK_LONG-}" ] || [[ "$*" == " site"*" -std=gnu11" ]]; then levels+=(-O3); fi
	shift 2
	[[ $variant != load* ]] || flags=(-DWAYMARK_LOADTEST)
	cd "$BATS_TEST_TMPDIR"
	flags+=(-Wall -Wextra -I"$WAYMARK_SOURCE/include" -c "$source/hot.c")
	for level in "${levels[@]}"; do
		"$@" $level -Werror -DMARKED "${flags[@]}" -o marked.o
		"$@" $level "${flags[@]}" -o plain.o
		python3 "$source/compare.py" "$prefix" "$variant" marked.o plain.o
	done
}

@test "gcc: one instruction" {
	same_but_sites "" site gcc -std=gnu11
	same_but_sites "" site g++ -std=c++17 -x c++
	same_but_sites "" site gcc -std=gnu11 -fPIC
}

@test "clang: one instruction" {
	same_but_sites "" site-reload clang -std=gnu11
	same_but_sites "" site-reload clang++ -std=c++17 -x c++
	same_but_sites "" site-reload clang -std=gnu11 -fPIC
}

@test "load and test: one load, one test, one branch" {
	same_but_sites "" load gcc -std=gnu11
	same_but_sites "" load g++ -std=c++17 -x c++
	same_but_sites "" load-reload clang -std=gnu11
	same_but_sites "" load-reload clang++ -std=c++17 -x c++
}

@test "aarch64: one instruction" {
	same_but_sites aarch64-linux-gnu- site aarch64-linux-gnu-gcc -std=gnu11
	same_but_sites aarch64-linux-gnu- site aarch64-linux-gnu-g++ -std=c++17 -x c++
}

@test "the comparison detects code that it must refuse" {
	# Replaces the mark by one that loads, calls and saves registers.
	sed 's|^#define M(.*__VA_ARGS__$|extern volatile int on; void slow(void);\n#define M(...) if (on) slow();|' \
		"$WAYMARK_SOURCE/test/dormant/hot.c" >"$BATS_TEST_TMPDIR/bad.c"
	cd "$BATS_TEST_TMPDIR"
	gcc -O2 -w -I"$WAYMARK_SOURCE/include" -DMARKED -c bad.c -o marked.o
	gcc -O2 -w -I"$WAYMARK_SOURCE/include" -c bad.c -o plain.o
	run -1 python3 "$WAYMARK_SOURCE/test/dormant/compare.py" "" load marked.o plain.o
	[[ $output == *"leaf_event_1_1: "*"more pushes"* ]]
	run -1 python3 "$WAYMARK_SOURCE/test/dormant/compare.py" "" site marked.o plain.o
	[[ $output == *"leaf_event_1_1: 0 sites on the hot path, not 1"* ]]
}

@test "WAYMARK_DISABLE leaves no code or data" {
	cd "$BATS_TEST_TMPDIR"
	for compiler in "gcc -std=gnu99" "clang -std=gnu11" "g++ -std=c++11 -x c++" "clang++ -std=c++20 -x c++"; do
		$compiler -O2 -Wall -Wextra -Wpedantic -Werror -DWAYMARK_DISABLE -I"$WAYMARK_SOURCE/include" -DMARKED \
			-c "$WAYMARK_SOURCE/test/dormant/hot.c" -o disabled.o
		$compiler -O2 -DWAYMARK_DISABLE -I"$WAYMARK_SOURCE/include" -c "$WAYMARK_SOURCE/test/dormant/hot.c" -o plain.o
		cmp <(objdump -d disabled.o | tail -n +4) <(objdump -d plain.o | tail -n +4)
		[ -z "$(nm disabled.o | grep -v -e ' T ' -e ' U g$')" ]
		run readelf -SW disabled.o
		[[ $output != *waymark* && $output != *stapsdt* && $output != *array* ]]
	done
}

# Each line is wrong and must not compile: without a variant and with one of three, in turn; with
# WAYMARK_LONG=1, with all of them.
@test "the compiler refuses wrong marks" {
	cd "$BATS_TEST_TMPDIR"
	local accepted=0 turn=0 variants=(-DWAYMARK_DISABLE -DWAYMARK_LOADTEST -DWAYMARK_SDT)
	while IFS= read -r line; do
		cat >bad.c <<-END
		#include <waymark/tracepoint.h>
		WAYMARK_EVENT(t, two, WAYMARK_ARGS(int, a, const char *, s), WAYMARK_FIELDS((i32, a, a), (str, s, s)));
		WAYMARK_SPAN(t, sp, WAYMARK_ARGS(int, n), WAYMARK_FIELDS((i32, n, n)));
		struct big { int x[9]; } big;
		int i;
		long l;
		char *str;
		void cb(void *p, int a);
		void cb(void *p, int a) { (void)p; (void)a; }
		$line
		END
		turn=$(((turn + 1) % 3))
		for variant in -DNONE ${WAYMARK_LONG:+"${variants[@]}"} "${variants[turn]}"; do
			for compiler in "gcc -std=gnu11" "clang++ -std=c++17 -x c++"; do
				if $compiler $variant -O1 -Wall -Wextra -Werror -I"$WAYMARK_SOURCE/include" -c bad.c -o bad.o 2>/dev/null; then
					echo "accepted by $compiler $variant: $line"
					accepted=1
				fi
			done
		done
	done <<-'END'
	void f(void) { trace_mark(m, "rows %d", str); }
	void f(void) { trace_mark(m, "rows %d %s", i); }
	void f(void) { trace_mark(m, "rows %d", i, i); }
	void f(void) { trace_mark_level(NOSUCH, m, "x"); }
	void f(void) { trace_mark(m, "%d", big); }
	void f(void) { trace_printf("%d", l); }
	void f(void) { trace_event(t, two, i); }
	void f(void) { trace_event(t, two, i, 5); }
	void f(void) { trace_event(t, nosuch, i, str); }
	void f(void) { if (trace_event_enabled(t, nosuch)) i++; }
	void f(void) { trace_span(x, (i32, a, nosuch)); }
	void f(void) { trace_span(x, (str, a, i)); }
	void f(void) { trace_span_end(x, nosuch); }
	uint64_t f(void) { return trace_span_begin(x, (seq, a, i16, &i, 1)); }
	void f(void) { trace_span_stop(t, sp, 1); }
	int f(void) { return waymark_probe_register(t, two, cb, 0); }
	int f(void) { return waymark_mark_register("x", "y", cb, 0); }
	WAYMARK_EVENT(t, bad, WAYMARK_ARGS(int, a), WAYMARK_FIELDS((i32, b, b)));
	WAYMARK_EVENT(t, bad, WAYMARK_ARGS(int, a), WAYMARK_FIELDS((i32, a, a)), WAYMARK_PRINT("%s"));
	WAYMARK_MARK_ON_EVENT(t, two, WAYMARK_ARGS(int, a, char *, s), m, "%d", a);
	WAYMARK_MARK_ON_EVENT(t, two, WAYMARK_ARGS(int, a, const char *, s), m, "%s", a);
	END
	[ "$accepted" -eq 0 ]
}
