#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# list_probe.bats - tests waymark list on places that can be probed: the parameters and variables
# there, compared with perf probe -V, and the source lines, compared with perf probe -L.

bats_require_minimum_version 1.5.0

setup_file() {
	export W="$BATS_FILE_TMPDIR"
	cat >"$W/zoo.c" <<-'END'
	#include <stdlib.h>
	struct item { int size; const char *name; struct item *next; };
	enum color { RED = 1, GREEN };
	int global = 7;
	static inline int twice(int k)
	{
		int z = k * 2;
		return z + global;
	}
	__attribute__((noinline)) int tick(int i, const char *const name, double w, struct item it, int (*fn)(int))
	{
		int x = i + 1;
		static long calls;
		enum color c = i & 1 ? RED : GREEN;
		calls++;
		if (x > 3) {
			long inner[2] = {x * 2, c};
			__asm__ volatile("" : "+m"(inner));
			x += (int)inner[0];
		}
		return twice(x) + it.size + c + (fn ? fn(x) : 0) + (int)w + *name;
	}
	__attribute__((noinline)) void nothing(void)
	{
		__asm__ volatile("");
	}
	int main(int argc, char **argv)
	{
		struct item it = {-5, "inner", NULL};
		nothing();
		return tick(argc, argv[0], 2.5, it, NULL) == 0;
	}
	END
	cc -O0 -g "$W/zoo.c" -o "$W/zoo"
}

setup() {
	PATH="$WAYMARK_BUILD:$PATH"
	cd "$W"
	[ -d /sys/bus/event_source/devices/uprobe ] || skip "this kernel has no uprobes"
}

@test "--fields of a function, of a line, of a return; each with its type or a reason" {
	run -0 waymark list --fields uprobe:./zoo:tick
	echo "$output"
	[[ $output == *"      at file offset 0x"* ]]
	[[ $output == *"      int              i"$'\n'* ]]
	[[ $output == *"      const char * const name"$'\n'* ]]
	[[ $output == *"      double           w  (it is passed in a vector register"* ]]
	[[ $output == *"      struct item      it  (it is a structure; name one of its members)"* ]]
	[[ $output == *"      int (*)()        fn"$'\n'* ]]
	[[ $output == *"      long int         calls"$'\n'* ]]
	[[ $output == *"      enum color       c"* ]]
	[[ $output != *inner* && $output != *global* ]]
	run -0 waymark list --fields uprobe:./zoo:zoo.c:18
	[[ $output == *"      long int[2]      inner"$'\n'*"int              i"$'\n'* ]]
	run -0 waymark list --fields uretprobe:./zoo:tick
	[[ $output == *'      int              $retval'* ]]
	run -0 waymark list --fields uretprobe:./zoo:nothing
	[[ $output != *'$retval'* ]]
	cc -O0 zoo.c -o bare
	run -0 waymark list --fields 'func:./bare:[nt]*i*'
	[ "$(grep -c 'has no debug information' <<<"$output")" -eq 1 ]
}

# Prints "NAME" of each variable that perf finds at a place.
perf_variables() { # PROGRAM PLACE
	perf probe -x "./$1" -V "$2" 2>/dev/null | awk -F'\t' '/^\t\t/ { print $NF }' | sort -u
}

@test "--fields: all variables of perf probe -V, by gcc and clang, -O0 and -O2, DWARF 4 and 5" {
	command -v perf >/dev/null || skip "perf is not installed"
	local cc level version place
	for cc in gcc clang; do
		command -v $cc >/dev/null || continue
		for level in 0 2; do
			for version in 4 5; do
				$cc -O$level -gdwarf-$version zoo.c -o any
				for place in tick main zoo.c:15 zoo.c:18; do
					perf_variables any $place >theirs
					waymark list --fields "uprobe:./any:$place" | sed -nE 's/^      .* ([a-z]+)(  \(.*)?$/\1/p' | sort -u >ours
					echo "# $cc -O$level DWARF $version, $place: $(paste -sd' ' theirs) | $(paste -sd' ' ours)"
					[ -z "$(comm -23 theirs ours)" ]
				done
			done
		done
	done
	[ -s theirs ]
}

@test "--lines of a function, a file and a part of it: each line can be probed; all of perf probe -L" {
	run -0 waymark list --lines uprobe:./zoo:tick
	[ "${lines[0]}" = "$W/zoo.c" ]
	[[ $output == *"         __attribute__((noinline)) int tick(int i"*$'\n'"     11  {"$'\n'"     12  int x = i + 1;"$'\n'"         static long calls;"* ]]
	run -0 waymark list -L ./zoo:zoo.c:12-14
	[ "${#lines[@]}" -eq 4 ]
	run -4 waymark list -L ./zoo:tik
	[[ $output == *"did you mean 'tick'"* ]]
	run -4 waymark list -L ./zoo:zoo.c:2-4
	[[ $output == *"none of these lines has code"* ]]
	run -2 waymark list -L ./zoo:tick ./zoo
	local cc level version line
	for cc in gcc clang; do
		command -v $cc >/dev/null || continue
		for level in 0 2; do
			for version in 4 5; do
				echo "# $cc -O$level DWARF $version"
				$cc -O$level -gdwarf-$version zoo.c -o any
				waymark list --json --lines uprobe:./any:tick >lines.json
				waymark list --lines uprobe:./any:tick | awk '$1 + 0 { print $1 }' >ours
				[ -s ours ]
				for line in $(cat ours); do
					waymark list uprobe:./any:zoo.c:$line >/dev/null
				done
				[ "$(jq -r '.groups[].lines[].line' lines.json)" = "$(cat ours)" ]
				# perf names the line of the declaration, too, and no lines of tick after it from others.
				if command -v perf >/dev/null; then
					perf probe -x ./any -L tick | awk '$1 ~ /^[0-9]+$/ && NR > 1 { print $1 + 10 }' | grep -vx 10 | sort >theirs
					[ -z "$(comm -23 <(awk '$1 <= 22' theirs) <(sort ours))" ]
				fi
			done
		done
	done
	# Without the source, the numbers alone.
	mkdir gone
	cp zoo.c gone/lost.c
	cc -O0 -g gone/lost.c -o lost
	rm -r gone
	run -0 --separate-stderr waymark list --lines uprobe:./lost:tick
	[[ $stderr == *"cannot read source"*lost.c* ]]
	[ "${lines[1]}" = "     11" ]
}
