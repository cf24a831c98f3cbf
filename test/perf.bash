# SPDX-License-Identifier: MIT
# perf.bash - helpers for comparing with perf in the whole-program tests.

# perf_record ARG...: runs perf record; not for a command whose effect must happen once. While another recorder asks
# for build-ids, as waymark does, the kernel marks the mappings that it reports to all recorders as if they had build-ids,
# too, and perf 6.1 aborts when it reads them. Then waits until that recorder has ended.
perf_record() {
	local status try
	for ((try = 0; try < 100; try++)); do
		status=0
		perf record "$@" || status=$?
		[ "$status" -ge 128 ] || break
		sleep 0.5
	done
	return "$status"
}
