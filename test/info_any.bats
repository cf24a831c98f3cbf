#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Tests waymark info on traces of other tracers: their contents, the hash over all values, which is
# compared with the hash of babeltrace2's text, and violations of the format with their offset.

bats_require_minimum_version 1.5.0

setup() {
	export TZ=UTC
	waymark="$WAYMARK_BUILD/waymark"
	cd "$BATS_TEST_TMPDIR"
	[ -d "${WAYMARK_CORPUS:-}/ctf1/babeltrace" ] || skip "no corpus: WAYMARK_CORPUS is not set"
	corpus="$WAYMARK_CORPUS/ctf1"
}

@test "the hash is that of babeltrace2's text" {
	command -v babeltrace2 >/dev/null || skip "babeltrace2 is not installed"
	local trace n=0
	for trace in "$corpus"/babeltrace/succeed/{lttng-tracefile-rotation/kernel,sequence,env-warning} \
		"$corpus"/babeltrace/succeed/{multi-domains/ust,lttng-crash,meta-variant-two-underscores} \
		"$corpus"/barectf/basic/{real/double,int/sint-bit-fields-wrap,enum/senum64} \
		"$corpus"/barectf/basic/{static-array/nested-5-uint8,dynamic-array/of-str} \
		"$corpus"/tracecompass/cyg-profile/glxgears-cyg-profile; do
		[ -d "$trace" ] || continue
		babeltrace2 "$trace" 2>/dev/null | python3 "$WAYMARK_SOURCE/test/data/value_hash.py" >wanted
		"$waymark" info --hash "$trace" >got 2>/dev/null || [ $? = 5 ]
		diff got wanted || { echo "$trace"; false; }
		"$waymark" info --hash --threads 3 "$trace" 2>/dev/null | diff - wanted
		n=$((n + 1))
	done
	[ "$n" -ge 8 ]
}

@test "properties and contents of a trace" {
	run -5 "$waymark" info "$corpus/babeltrace/succeed/multi-domains/kernel"
	[[ $output == *"format     ctf 1.8"* ]]
	[[ $output == *"hostname   joraj-alpa"* ]]
	[[ $output == *"time       2019-08-05 19:05:39.266917593 to 2019-08-05 19:20:12.117684979"* ]]
	[[ $output == *"events     272"* ]]
	[[ $output == *" 728  events, 2019-08-05 19:16:02.352676346 to 2019-08-05 19:16:33.426663981, kernel_channel_0"* ]]
	[[ $output == *" 272  lttng_test_filter_event"* ]]
	"$waymark" info --json "$corpus/babeltrace/packet-seq-num/2-streams-lost-in-2" >json || [ $? = 5 ]
	python3 - <<-'EOF'
		import json
		info = json.load(open("json"))
		assert info["events"] == 8 and info["streams"] == 2, info
		assert [l["count"] for l in info["losses"]] == [2, 3, 1], info
		assert info["clocks"][0]["hz"] == 1000000000, info
	EOF
}

@test "violations are listed with file and offset" {
	run -0 "$waymark" info --verify "$corpus/babeltrace/succeed/sequence"
	[[ $output =~ ^"10 events in "("1 packet"|[0-9]+" packets")": sound"$ ]]
	run -5 "$waymark" info --verify "$corpus/conformance/stream/fail/cross-packet-event-integer"
	[[ $output == *"dummystream: at offset 28: "*"extends past the packet"* ]]
	[[ $output == *"1 violation" ]]
	cp -r "$corpus/babeltrace/succeed/sequence" trace
	chmod -R u+w trace
	local stream=$(ls trace | grep -v metadata | head -1)
	printf '\377\377\377\377' | dd of="trace/$stream" bs=1 conv=notrunc 2>/dev/null
	run -5 "$waymark" info --verify trace
	[[ $output == *"$stream: at offset 0: "* ]]
	run -2 "$waymark" info --verify --hash trace
}

@test "of several damaged traces each is named, with the reason for a refusal of metadata" {
	fail=$corpus/conformance/stream/fail
	cp -r "$fail/out-of-bound-float" other # all traces in this folder have the same UUID
	sed -i 's/uuid = "2a/uuid = "3a/' other/metadata
	run -5 "$waymark" print other "$fail/out-of-bound-sequence-start"
	for name in other "$fail/out-of-bound-sequence-start"; do
		grep -A1 -F "waymark: in '$name':" <<<"$output" | grep -q 'dummystream: at offset 20: '
	done
	run -5 "$waymark" print "$fail/out-of-bound-float" "$fail/out-of-bound-sequence-start"
	for name in out-of-bound-float out-of-bound-sequence-start; do
		[[ $output == *"waymark: $name/dummystream: at offset 20: "* ]]
	done
	run -5 "$waymark" print "$fail/out-of-bound-float"
	[[ $output != *"in '$fail"* ]]
	run -1 "$waymark" print "$corpus/babeltrace/fail/packet-based-metadata"
	[[ $output == *"at offset 0: a metadata packet claims 4096 bytes, 636 are left in the file"* ]]
	run -1 "$waymark" print "$corpus/conformance/metadata/fail/lttng-modules-2.0-pre1"
	[[ $output == *"at offset 24576: "*" claims that 35 of them are used; its header alone has 37"* ]]
}
