#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# examples.bats - tests that each program of examples/ works as documented, recorded or not.

bats_require_minimum_version 1.5.0

setup() {
	PATH="$WAYMARK_BUILD:$PATH"
	E="$WAYMARK_BUILD/examples"
	cd "$BATS_TEST_TMPDIR"
}

# Runs example $1 alone and recorded; the output must be the same. Then $output is the trace, one
# line per event: "name field=value...", with unchanged strings, without thread and span ids and
# times.
recorded() {
	"$E/$1" >alone
	waymark record -q -o T "${@:2}" -- "$E/$1" >traced
	cmp alone traced
	[[ $(waymark info T) == *"0 lost"* ]]
	waymark print T --jsonl >events
	run -0 python3 - <<-'END'
	import json
	for line in open("events"):
	    event = json.loads(line)
	    fields = event["fields"]
	    shown = (f"{k}={v['label'] if isinstance(v, dict) else v}"
	             for k, v in fields.items() if k not in ("span_id", "parent_id"))
	    print(event["name"], *shown)
	END
	[ "$(babeltrace2 T | grep -vc ' waymark:')" -eq "${#lines[@]}" ]
}

@test "hello: a typed event" {
	recorded hello
	[ "$output" = "hello:greeting who=world times=1 mood=calm
hello:greeting who=world times=2 mood=calm
hello:greeting who=world times=3 mood=glad" ]
}

@test "marker: fields named after the preceding words; a filter" {
	recorded marker
	[ "${#lines[@]}" -eq 10 ]
	[ "${lines[0]}" = "kitchen:boiling water=kettle degrees=20" ]
	[ "${lines[8]}" = "kitchen:boiling water=kettle degrees=100" ]
	[[ ${lines[9]} == "kitchen:tea_ready cups=2 "*"=0.5" ]]
	rm -r T
	recorded marker -e 'kitchen:boil*' --filter 'degrees >= 90'
	[ "$output" = "kitchen:boiling water=kettle degrees=90
kitchen:boiling water=kettle degrees=100" ]
}

@test "span: scopes and spans over threads, nested" {
	recorded span
	[ "$(grep -c '^span:job number=' <<<"$output")" -eq 3 ]
	[ "$(grep -c '^span:job result=' <<<"$output")" -eq 3 ]
	[ "$(grep -c '^span:collatz$' <<<"$output")" -eq 3 ]
	python3 - <<-'END'
	import json
	open_spans, seen = {}, []
	for line in open("events"):
	    event = json.loads(line)
	    name, fields = event["name"], event["fields"]
	    if "parent_id" in fields:
	        parent = open_spans.get(fields["parent_id"])
	        assert parent or not fields["parent_id"]
	        open_spans[fields["span_id"]] = event
	        seen.append((name, parent and parent["name"]))
	    else:
	        begin = open_spans.pop(fields["span_id"])
	        assert begin["name"] == name and begin["time_ns"] <= event["time_ns"]
	        assert (begin["tid"] != event["tid"]) == (name == "span:job")
	assert not open_spans
	assert seen[0] == ("span:all_jobs", None)
	assert seen.count(("span:job", "span:all_jobs")) == 3
	END
}

@test "stack: C++ templates, one event for all instances" {
	recorded stack
	[ "${lines[0]}" = stack:main ]
	[ "${lines[3]}" = "stack:push type=small depth=3" ]
	[ "${lines[4]}" = "stack:push type=big depth=1" ]
	[ "$(grep -c '^stack:pop ' <<<"$output")" -eq 2 ]
	run -0 waymark list "$E/stack"
	[[ $output =~ stack:pop\ +event\ +debug\ +2 ]]
}

@test "library: events of a shared library, by name" {
	recorded customer
	[ "$output" = "bank:moved account=anna amount=100 balance=100
bank:moved account=anna amount=-30 balance=70
bank:refused account=anna amount=-500" ]
	rm -r T
	recorded customer -e bank:refused
	[ "$output" = "bank:refused account=anna amount=-500" ]
	run -4 waymark list "$E/customer"
	run -0 waymark list "$E/libbank.so"
	[[ $output == *bank:moved*bank:refused* ]]
}

@test "probe: callbacks get the arguments while connected, recorded or not" {
	run -0 "$E/probe"
	[ "$output" = "2 orders, 14.75" ]
	recorded probe
	[ "${#lines[@]}" -eq 4 ]
	[ "${lines[3]}" = "shop:order id=4 customer=david" ]
}
