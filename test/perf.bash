# SPDX-License-Identifier: MIT
# perf.bash - perf as a referee of the whole-program tests.

# perf_record ARG...: perf record, which in Linux 6.1 aborts now and then after the recording, while
# it collects build-ids; then it records again. Not for a command whose effect must happen once.
perf_record() {
	local status try
	for try in 1 2 3 4; do
		status=0
		perf record "$@" || status=$?
		[ "$status" -ge 128 ] || break
	done
	return "$status"
}
