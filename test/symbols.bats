#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Checks that names of addresses equal perf script's: for new recordings of programs that fork and
# exec, for stacks unwound by the programs' tables, and for the corpus, which has recorded mappings
# but not the programs.

bats_require_minimum_version 1.5.0
load perf

setup_file() {
	local flags= lib="$WAYMARK_BUILD/libwaymark-platform.a"
	cd "$BATS_FILE_TMPDIR"
	if nm "$lib" 2>/dev/null | grep -q __asan_init; then
		flags="-fsanitize=address,undefined"
	elif nm "$lib" 2>/dev/null | grep -q __tsan_init; then
		flags="-fsanitize=thread"
	fi
	gcc -std=gnu11 -O1 -D_GNU_SOURCE $flags -I"$WAYMARK_SOURCE/include" \
		-I"$WAYMARK_SOURCE/src" "$WAYMARK_SOURCE/test/data/name_stacks.c" "$lib" \
		-ljansson -lelf -ldw -liberty -lzstd -lz -llzma -lm -lpthread -o name_stacks
	g++ -O2 -g -fomit-frame-pointer "$WAYMARK_SOURCE/test/data/deep.cc" -o deep
}

setup() {
	cd "$BATS_TEST_TMPDIR"
	PATH="$BATS_FILE_TMPDIR:$PATH"
	export HOME="$BATS_TEST_TMPDIR" # perf keeps the builds it saw in ~/.debug
	unset DEBUGINFOD_URLS
}

need_perf() {
	command -v perf >/dev/null || skip "perf is not installed"
	perf_record -N -q -e cpu-clock -o probe.data true 2>/dev/null || skip "perf cannot record here"
}

# Prints names and objects, line by line.
plain() {
	sed -E 's/^\s+//; s/\s+$//; /^$/d; s/^[0-9a-f]+ //'
}

compare() { # FILE [WORD...]
	perf script --no-inline -i "$1" -F ip,sym,dso 2>/dev/null | plain >theirs
	name_stacks "$@" 2>said | plain >ours
	diff theirs ours | head -20
	cmp theirs ours
}

@test "names equal perf's: processes that fork and exec, call chains" {
	need_perf
	perf_record -N -q -e cpu-clock -F 2000 -g -o it.data -- sh -c "
		printf 'int f(int x) { return x * 3; }' >f.c; gcc -O2 -c f.c; deep 60; ls / >/dev/null"
	compare it.data
	[ "$(wc -l <ours)" -gt 100 ]
	grep -q 'app::Worker<long>::' ours
	grep -q 'kernel.kallsyms' ours
}

@test "stacks without frame pointers lead to main, by the programs' own tables" {
	need_perf
	perf_record -N -q -e cpu-clock:u -F 4000 --call-graph dwarf -o it.data -- deep 200
	compare it.data unwind
	# At least 99 of 100 chains must be complete.
	samples=$(sed -n 's/^\([0-9]*\) samples.*/\1/p' said)
	whole=$(sed -n 's/^ *\([0-9]*\) stacks whole$/\1/p' said)
	[ "$samples" -gt 100 ]
	[ $((whole * 100)) -ge $((samples * 99)) ]
	[ "$(grep -c '^main (' ours)" -gt $((samples / 2)) ]
}

@test "symbols that are compressed in a stripped program are found" {
	cat >mini.c <<-'END'
	static volatile unsigned sink;
	__attribute__((noinline)) static void hidden(unsigned n) { while (n--) sink = sink * 3 + 1; }
	__attribute__((noinline)) void exported(void) { hidden(100000); sink++; }
	int main(void) { for (int i = 0; i < 2000; i++) exported(); return 0; }
	END
	gcc -O1 -g -rdynamic -fno-optimize-sibling-calls mini.c -o mini
	nm -D mini --format=posix --defined-only | cut -d' ' -f1 | sort >exported
	nm mini --format=posix --defined-only | awk '$2 ~ /^[TtD]$/ { print $1 }' | sort >all
	comm -13 exported all >hidden
	grep -qx hidden hidden
	objcopy --only-keep-debug mini part
	objcopy -S --remove-section .comment --keep-symbols=hidden part small
	strip -s mini
	cp mini stripped
	xz small
	objcopy --add-section .gnu_debugdata=small.xz stripped mini
	perf_record -N -q -e cpu-clock -o p.data ./mini 2>err || skip "perf may not record here: $(head -1 err)"
	waymark() { "$WAYMARK_BUILD/waymark" "$@"; }
	waymark report p.data -s sym >report
	grep -q '\[\.\] hidden' report
	# Damaged data names no function, and nothing else happens.
	head -c 200 small.xz >cut
	objcopy --update-section .gnu_debugdata=cut mini other
	cp other mini
	run -0 waymark report p.data -s sym
	[[ $output != *"[.] hidden"* ]]
}

@test "a rebuilt program is reported as a different one" {
	need_perf
	cp "$BATS_FILE_TMPDIR/deep" one
	perf_record -N -q -e cpu-clock:u -F 2000 -o it.data -- ./one 60
	run --separate-stderr name_stacks it.data
	[[ $output == *"app::Worker<long>::"* ]]
	rm one
	g++ -O1 -g "$WAYMARK_SOURCE/test/data/deep.cc" -o one
	run --separate-stderr name_stacks it.data
	[[ $output != *"app::"* ]]
	[[ $stderr == *"the file is a different build now"* ]]
}

@test "objects of the corpus equal perf's" {
	[ -n "$WAYMARK_CORPUS" ] || skip "no corpus: set WAYMARK_CORPUS"
	command -v perf >/dev/null || skip "perf is not installed"
	nr=0
	for file in "$WAYMARK_CORPUS"/perf.data/quipper/perf.data.*; do
		case $file in
		*.pb_text | *corrupted* | *piped.ctx* | *header_features*) continue ;;
		esac
		# Compares only objects: perf uses this machine's kernel for a file that names none.
		# perf names kernel modules by their files when the file has their build ids.
		perf script --no-inline -i "$file" -F ip,sym,dso 2>/dev/null | plain |
			sed -E 's/.*\((.*)\)$/\1/; s|^/lib/modules/.*/([^/]*)\.ko$|[\1]|; /^\[/s/-/_/g' >theirs
		name_stacks "$file" 2>said | plain | sed -E 's/.*\((.*)\)$/\1/; /^\[/s/-/_/g' >ours
		if ! cmp -s theirs ours; then
			echo "${file##*/}"
			diff theirs ours | head -5
			false
		fi
		nr=$((nr + 1))
	done
	[ "$nr" -ge 20 ]
}

@test "waymark's recording with stack copies: the report leads to main" {
	waymark="$WAYMARK_BUILD/waymark"
	"$waymark" record -q -o it -e sw:cpu-clock -F 2000 -g dwarf -- deep 300 ||
		skip "sampling is not possible here"
	"$waymark" report --json -s sym it >said
	python3 - <<-'END'
	import json

	said = json.load(open("said"))
	rows = {r["sym"]: r for t in said["tables"] for r in t["rows"]}
	print({k: r["children"] for k, r in rows.items()})
	assert rows["[.] main"]["children"] > 0.9
	assert any(k.startswith("[.] app::Worker<long>::") for k in rows)
	END
}
