# SPDX-License-Identifier: MIT
# common.bash - shared by torture_*.bats: builds a program against the runtime,
# records it, and compares the trace with the tally.

# torture_build NAME [CC-ARGUMENT...]: builds $W/NAME from test/torture/NAME.c, linked with the
# runtime. Symbols are bound at start, because lazy binding in a handler may take 3 KiB of the
# handler's stack.
torture_build() {
	local name=$1
	shift
	cc -O2 -g -Wall -I"$WAYMARK_SOURCE/include" -I"$WAYMARK_SOURCE/test/torture" \
		"$WAYMARK_SOURCE/test/torture/$name.c" -o "$W/$name" "$@" -pthread -Wl,-z,now
}

torture_setup_file() {
	export W="$BATS_FILE_TMPDIR" PATH="$WAYMARK_BUILD:$PATH"
	# Short runs make the same random choices each time, and try every third instruction.
	[ -n "${WAYMARK_LONG-}" ] || export TORTURE_SEED="${TORTURE_SEED:-1}" TORTURE_STRIDE=3
	RT="-Wl,-u,waymark_module_register $WAYMARK_BUILD/libwaymark-rt.a"
	torture_build check
}

# torture_count SHORT LONG: prints LONG when $WAYMARK_LONG is set, else SHORT.
torture_count() {
	if [ -n "${WAYMARK_LONG-}" ]; then echo "$2"; else echo "$1"; fi
}

# torture_record [RECORD-OPTION...] -- PROGRAM...: records into $W/trace, with a new tally.
torture_record() {
	rm -rf "$W/trace" "$W/tally"
	TORTURE_TALLY="$W/tally" waymark record -o "$W/trace" "$@"
}

torture_check() {
	"$W/check" "${1:-$W/trace}" "$W/tally"
}

# Checks that babeltrace2 reads as many events as check, and prints no error.
torture_babeltrace() {
	local dir=${1:-$W/trace} ours theirs
	ours=$("$W/check" "$dir" "$W/tally" | sed -n 's/.* begun, \([0-9]*\) recorded.*/\1/p')
	babeltrace2 "$dir" 2>"$W/bt.err" >"$W/bt.out"
	theirs=$(grep -c ' torture:' "$W/bt.out")
	echo "check: $ours events, babeltrace2: $theirs"
	if grep -v 'discarded' "$W/bt.err"; then return 1; fi
	[ "$ours" = "$theirs" ]
}
