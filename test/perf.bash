# SPDX-License-Identifier: MIT
# perf.bash - helpers for comparing with perf in the whole-program tests.

# perf_record ARG...: runs perf record; in Linux 6.1 it sometimes aborts after the recording, while
# it collects build-ids, and is then run again. Not for a command whose effect must happen once.
perf_record() {
	local status try
	for try in 1 2 3 4; do
		status=0
		perf record "$@" || status=$?
		[ "$status" -ge 128 ] || break
	done
	return "$status"
}
