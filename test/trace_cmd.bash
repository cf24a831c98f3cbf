# SPDX-License-Identifier: MIT
# trace_cmd.bash - trace-cmd as a referee.

# trace_cmd_report ARGUMENT...: prints what trace-cmd report prints. trace-cmd 3.1 prints other times about once in
# 400 runs (of the same file: 106439675570920 instead of 106439.675571), so this takes the text that comes twice in a row.
trace_cmd_report() {
	local text before
	text=$(mktemp -p "$BATS_TEST_TMPDIR") before=$(mktemp -p "$BATS_TEST_TMPDIR")
	trace-cmd report "$@" >"$text" 2>/dev/null || true
	for _ in 1 2 3 4; do
		mv "$text" "$before"
		trace-cmd report "$@" >"$text" 2>/dev/null || true
		if cmp -s "$text" "$before"; then break; fi
	done
	cat "$text"
	rm -f "$text" "$before"
}
