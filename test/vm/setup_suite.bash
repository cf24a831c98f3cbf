# SPDX-License-Identifier: MIT
# setup_suite.bash - boots the machine of tools/vm once for all *.bats of this folder, and runs
# their scripts in it, one after the other. The tests check the results that the scripts left in the
# folders $VM_RESULTS/NAME. The order matters: top.sh uses the system's own trace buffer, which the
# others use, too.

VM_SCRIPTS="top user probe kernel"

# Builds the programs that the scripts run, each in the folder of its script.
vm_programs() {
	local rt=(-Wl,--no-as-needed -l:libwaymark-rt.so.0 "-L$WAYMARK_BUILD" "-Wl,-rpath,$WAYMARK_BUILD")
	local data=$WAYMARK_SOURCE/test/data include=-I$WAYMARK_SOURCE/include
	cc -O2 "$include" "$data/vm_app.c" -o "$VM_RESULTS/user/bare"
	cc -O2 "$include" "$data/vm_app.c" -o "$VM_RESULTS/user/app" "${rt[@]}"
	cc -O2 "$include" "$data/between.c" -o "$VM_RESULTS/top/between" "${rt[@]}"
	cc -O2 -g "$data/calls.c" -o "$VM_RESULTS/probe/calls"
	cc -O2 "$data/calls.c" -o "$VM_RESULTS/kernel/calls"
	echo hello >"$VM_RESULTS/probe/there"
}

setup_suite() {
	export VM="$WAYMARK_SOURCE/tools/vm" VM_RESULTS="$BATS_SUITE_TMPDIR/r" VM_OUTPUT="$BATS_SUITE_TMPDIR"
	local here=$WAYMARK_SOURCE/test/vm script unit
	local files=(-f "$here/start.sh")
	"$VM" --prepare >"$VM_OUTPUT/release" 2>"$VM_OUTPUT/why" || {
		[ $? -eq 77 ]
		return 0
	}
	for script in $VM_SCRIPTS; do
		mkdir -p "$VM_RESULTS/$script"
		files+=(-f "$here/$script.sh")
	done
	vm_programs
	# Not the comparison with libtraceevent, which dies of this kernel's formats: it divides by zero, and
	# reads as many elements of an array as a field of random value says.
	for unit in "$WAYMARK_BUILD"/kernel-*_test "$WAYMARK_BUILD"/kdata-*_test; do
		[[ $unit != */kdata-traceevent_test ]] || continue
		if [ -x "$unit" ]; then files+=(-f "$unit"); fi
	done
	if command -v perf >/dev/null; then files+=(-f "$(command -v perf)"); fi
	cd "$VM_RESULTS"
	# The status and output are those of the last command; user.bats checks them.
	local status=0
	"$VM" -t 3000 "${files[@]}" -d "$VM_RESULTS" sh -c \
		"for n in $VM_SCRIPTS; do sh $here/\$n.sh $VM_RESULTS/\$n; done; pwd; wc -c <user/app; echo words >&2; exit 7" \
		>"$VM_OUTPUT/out" 2>"$VM_OUTPUT/err" || status=$?
	echo $status >"$VM_OUTPUT/status"
}

# To be called by setup() of each file: enters the folder with the results of script NAME; $W is the
# folder of all results.
vm_setup() {
	W=$VM_OUTPUT
	[ -s "$W/release" ] || skip "$(cat "$W/why"): nothing was run in it"
	cd "$VM_RESULTS/$1"
}
