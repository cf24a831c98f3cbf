#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# probe_values.bats - compares what probes fetch by name with what gdb sees at the same address:
# parameters, variables, members, bit fields, elements, of gcc, clang and Rust, without optimization
# and with it, DWARF 4 and 5. A value that differs is a failure; one that waymark refuses is not, but
# enough must be fetched. Where perf probe gives a place for a value, waymark's is the same. With
# WAYMARK_LONG, random programs, too (SEED and PROGRAMS choose them).

bats_require_minimum_version 1.5.0

setup() {
	PATH="$WAYMARK_BUILD:$PATH"
	export BATS_TEST_TIMEOUT=900
	cd "$BATS_TEST_TMPDIR"
	data="$BATS_TEST_DIRNAME/data"
	[ "$(uname -m)" = x86_64 ] || skip "written for x86-64"
	[ -w /sys/kernel/tracing/uprobe_events ] || skip "no tracefs whose uprobe_events we may write"
	command -v gdb >/dev/null || skip "gdb is not installed"
}

need() {
	command -v "$1" >/dev/null && return
	echo "# SKIPPED: $1 is not installed" >&3
	skip "$1 is not installed"
}

# Compares the values of a program; at least MINIMUM must be equal.
compare() { # MINIMUM LEVEL PROGRAM PLACES
	local body=
	[ "$2" != 0 ] || body=--body
	python3 "$data/probe_values.py" $body "$PWD/$3" "$4" >result || {
		cat result
		return 1
	}
	cat result
	[ "$(sed -nE 's/^([0-9]+) equal.*/\1/p' result)" -ge "$1" ]
}

all_of() { # COMPILER
	local level version
	sed "s/OUTER/$(grep -n 'LINE outer' "$data/probe_values.c" | cut -d: -f1)/" "$data/probe_places.txt" >places
	for level in 0 1 2; do
		for version in 4 5; do
			[ "$level$version" != 14 ] || continue
			echo "# $1 -O$level -gdwarf-$version"
			"$1" -O$level -gdwarf-$version -no-pie "$data/probe_values.c" -o values
			compare 50 $level values places
		done
	done
}

@test "C by gcc" {
	all_of gcc
}

@test "C by clang" {
	need clang
	all_of clang
}

@test "Rust" {
	need rustc
	local level levels="0 2" minor
	minor=$(rustc --version | sed 's/^rustc 1\.\([0-9]*\).*/\1/')
	# With -O2, gdb shows other values than those that the program passes for Debian 12's 1.63.
	[ "$minor" -ge 66 ] || levels=0
	cat >places <<-'END'
	f n m ch
	g n b.a b.c
	h n
	k n c z
	l a n q
	END
	for level in $levels; do
		echo "# rustc -C opt-level=$level"
		rustc -C opt-level=$level -g -C relocation-model=static -C link-arg=-no-pie "$data/probe_values.rs" -o values
		compare 4 $level values places
	done
}

@test "values that no probe can tell at a place are refused" {
	refused() { # WORDS EVENT
		run waymark list "$2"
		[ "$status" -ne 0 ]
		[[ $output == *"$1"* ]]
	}
	cc -O0 -g "$data/probe_values.c" -o values
	refused "has not stored it yet" 'uprobe:./values:outer(local)'
	refused "has not stored it yet" 'uprobe:./values:outer+4(j)'
	refused "give all its indices" 'uprobe:./values:through(n->grid[1])'
	refused "the type of a bit field cannot be changed" 'uprobe:./values:returns(b=p->b:s32)'
	command -v clang >/dev/null || return 0
	clang -O1 -g "$data/probe_values.c" -o values
	refused "optimized out" 'uprobe:./values:removed(unused)'
	refused "optimized out" 'uprobe:./values:stored(unused)'
}

@test "inlined copies of a function: each is probed, with its parameters where they have a place" {
	cat >inlined.c <<-'END'
	static inline int twice(int k) { __asm__ volatile("" : "+r"(k)); return k * 2; }
	static inline __attribute__((always_inline)) int never(int n) { __asm__ volatile("" : "+r"(n)); return n + 1; }
	int (*volatile by_address)(int) = twice;
	__attribute__((noinline)) int a(int i) { return twice(i) + never(i); }
	__attribute__((noinline)) int b(int i) { return twice(i + 3) + twice(i * 5); }
	int main(void) { return a(1) + b(2) + by_address(100) == 0; }
	END
	gcc -O2 -g inlined.c -o inlined
	# All four calls of twice(), of which one is none that the symbol table knows.
	waymark stat -x, -o counts -e uprobe:./inlined:twice -e func:./inlined:twice -e uprobe:./inlined:never -- ./inlined
	cat counts
	[ "$(awk -F, '/uprobe/ { print $1 }' counts | paste -sd' ')" = "4 1 1" ]
	if perf probe -x ./inlined -D twice >perf 2>/dev/null; then
		sed -E 's/.*:0x//' perf | sort >theirs
		waymark list --json uprobe:./inlined:twice | jq -r '.groups[] | select(.kernel) | .events[].places[].offset' |
			xargs printf '%x\n' | sort >ours
		diff theirs ours
	fi
	gcc -O0 -g inlined.c -o plain
	waymark record -q -o t --preload none -e 'uprobe:./plain:never(n)' -- ./plain
	waymark print t | grep 'uprobe:plain:never.* n = 1 }'
	# Where a copy has no place for a value, this is said.
	run -0 --separate-stderr waymark record -q -o u --preload none -e 'uprobe:./inlined:twice(arg1:s32)' -- ./inlined
	[[ $stderr == *"3 inlined copies of 'twice' are not probed"*"name its parameters"* ]]
	waymark print u | grep 'uprobe:inlined:twice.* arg1 = 100 }'
	run waymark list uretprobe:./inlined:never
	[ "$status" -eq 4 ]
	[[ $output == *"has only inlined copies"*"no return"* ]]
}

@test "perf probe gives the same addresses, registers and memory" {
	need perf
	need clang
	local compiler
	sed "s/OUTER/1/" "$data/probe_places.txt" >places
	for compiler in "gcc -O0" "gcc -O2 -gdwarf-4" "clang -O0" "clang -O2"; do
		$compiler -g -no-pie "$data/probe_values.c" -o values
		python3 "$data/probe_text.py" "$PWD/values" places "$([[ $compiler != *-O0* ]] || echo -O0)" >result || {
			echo "$compiler"
			cat result
			return 1
		}
		[ "$(sed -nE 's/^([0-9]+) equal.*/\1/p' result)" -ge 35 ]
	done
}

@test "a parameter that an inlined copy lacks is named with the place of the copy" {
	need clang
	cat >lacks.c <<-'END'
	volatile int sink;
	int other_of_one;
	static inline __attribute__((always_inline)) int twice(int k, int other, int never)
	{
		sink = k;
		if (k == 3)
			sink = other;
		return k * 2;
	}
	__attribute__((noinline)) int one(int a) { return twice(4, other_of_one, a) + a; }
	__attribute__((noinline)) int two(int a, int b) { return twice(a + b, b, a) + 3; }
	int main(void) { return one(1) + two(1, 2) == 0; }
	END
	clang -O2 -g lacks.c -o lacks
	run -0 --separate-stderr waymark record -q -o t --preload none -e 'uprobe:./lacks:twice(other)' -- ./lacks
	[[ $stderr == *"1 inlined copy of 'twice' is not probed: the inlined copy at lacks.c:10 has no location for 'other'"* ]]
	waymark print t | grep 'uprobe:lacks:twice.* other = 2 }'
	run -2 waymark record -o t2 --preload none -e 'uprobe:./lacks:twice(never)' -- ./lacks
	[[ $output == *"the inlined copy at lacks.c:10 has no location for 'never', which the compiler has optimized out there"* ]]
	run -2 waymark record -o t2 --preload none -e 'uprobe:./lacks:twice(nosuch)' -- ./lacks
	[[ $output == *"no parameter or variable 'nosuch' at this address"* ]]
}

@test "a filter on a signed bit field compares its value" {
	cc -O2 -g "$data/probe_values.c" -o values
	waymark record -q -o t --preload none -e 'uprobe:./values:returns(b=p->b)' --filter 'b == -100' -- ./values || [ "$?" -lt 2 ]
	[ "$(waymark print t | grep -c 'b = -100')" -eq 1 ]
}

@test "random programs" {
	need clang
	local seed=${SEED:-1} nr=${PROGRAMS:-0} cc level
	[ -z "${WAYMARK_LONG-}" ] || nr=${PROGRAMS:-25}
	[ "$nr" -gt 0 ] || skip "only in make check-long (or with PROGRAMS=N)"
	for ((; nr > 0; nr--, seed++)); do
		python3 "$data/probe_program.py" $seed random.c places
		for cc in gcc clang; do
			for level in 0 1 2; do
				echo "# SEED=$seed $cc -O$level"
				$cc -w -O$level -gdwarf-$((4 + seed % 2)) -no-pie random.c -o random
				compare 0 $level random places
			done
		done
	done
}
