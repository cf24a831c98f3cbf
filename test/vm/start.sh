# SPDX-License-Identifier: MIT
# start.sh - how each script of this folder starts in the machine: in the folder that $1 names, with
# its own errors in script.err.
cd "$1" || exit 9
exec 2>script.err

# Waits until a shell condition holds.
await() {
	local n=0
	until eval "$1"; do
		n=$((n + 1))
		[ $n -lt 1200 ] || return 1
		sleep 0.05
	done
}
