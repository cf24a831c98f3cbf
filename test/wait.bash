# SPDX-License-Identifier: MIT
# wait.bash - waits for events in other processes by polling. The limit of a minute is for busy machines;
# each wait ends as soon as its condition is true.

# Waits until a command or function succeeds.
until_true() {
	local i
	for ((i = 0; i < 1200; i++)); do
		if "$@" >/dev/null 2>&1; then return 0; fi
		sleep 0.05
	done
	echo "never became true: $*" >&2
	return 1
}

# Waits until all these processes sleep and stay asleep: they have finished their work.
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

# is_gone PID: the process has ended, perhaps without a parent that waited for it.
is_gone() {
	[[ ! -e /proc/$1 || $(cat "/proc/$1/stat" 2>/dev/null) == *") Z "* ]]
}

# Waits until all these processes have ended: their files are closed, their locks free.
until_gone() {
	local pid
	for pid in "$@"; do
		until_true is_gone "$pid" || return 1
	done
}

pump_of() { # prints the pump's pid of a recording command
	until_true pgrep -P "$1" -x waymark-pump || return 1
	pgrep -P "$1" -x waymark-pump
}

# Waits until a recording command has set up kernel tracing and sampling.
until_tracing() {
	until_true grep -q 1 "/sys/kernel/tracing/instances/waymark-$1-0/tracing_on" || return 1
	until_idle "$1" "$(pump_of "$1")"
}

# shows DIR N [PATTERN]: succeeds when print finds at least N lines in a trace that may not exist yet.
shows() {
	[ "$(waymark print "$1" 2>/dev/null | grep -c -- "${3-}")" -ge "$2" ]
}

until_shows() {
	until_true shows "$@"
}
