# SPDX-License-Identifier: MIT
# vm_kernel.sh - run by test/vm_kernel.bats in the machine, by busybox: kernel events on that kernel.
# $1: a folder shared with the machine outside; results go there, one file a fact.
cd "$1" || exit 9
exec 2>script.err

mkdir units
for unit in "$WAYMARK_BUILD"/kernel-*_test "$WAYMARK_BUILD"/kdata-*_test; do
	[ -x "$unit" ] && "$unit" >"units/${unit##*/}" 2>&1
done
touch done
