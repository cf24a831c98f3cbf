# SPDX-License-Identifier: MIT
# wait.bash - waiting for what others do, by looking whether it is so. A minute is for machines that are
# busy with something else; nobody waits longer than it takes.

# Until a command or function succeeds.
until_true() {
	local i
	for ((i = 0; i < 1200; i++)); do
		if "$@" >/dev/null 2>&1; then return 0; fi
		sleep 0.05
	done
	echo "never became true: $*" >&2
	return 1
}

# Until all these processes wait for something and go on waiting: what they had to do is done.
until_idle() {
	local i pid nr=0
	for ((i = 0; i < 1200 && nr < 5; i++)); do
		nr=$((nr + 1))
		for pid in "$@"; do
			[[ $(cat "/proc/$pid/stat") == *") S "* ]] || nr=0
		done
		sleep 0.03
	done
	[ $nr -eq 5 ] || { echo "never at rest: $*" >&2; return 1; }
}

pump_of() { # of a recording command
	until_true pgrep -P "$1" -x waymark-pump || return 1
	pgrep -P "$1" -x waymark-pump
}

# Until a recording command has told the kernel what to trace, and who is sampled beside it.
until_tracing() {
	until_true grep -q 1 "/sys/kernel/tracing/instances/waymark-$1-0/tracing_on" || return 1
	until_idle "$1" "$(pump_of "$1")"
}

# shows DIR N [PATTERN]: a trace, written as yet or not, prints that many lines.
shows() {
	[ "$(waymark print "$1" 2>/dev/null | grep -c -- "${3-}")" -ge "$2" ]
}

until_shows() {
	until_true shows "$@"
}
