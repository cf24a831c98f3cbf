#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# json.bats - validates what every verb prints as JSON against its schema in share/schema. Members
# that a schema does not have are errors, and so are members that occur twice.

bats_require_minimum_version 1.5.0
load wait

setup_file() {
	export W="$BATS_FILE_TMPDIR" PATH="$WAYMARK_BUILD:$PATH"
	cat >"$W/app.c" <<-'END'
	#include <string.h>
	#include <unistd.h>
	#include <waymark/tracepoint.h>
	WAYMARK_EVENT(shop, order, WAYMARK_ARGS(int, id, const char *, customer),
		WAYMARK_FIELDS((u32, id, id), (str, customer, customer), (f64, price, id / 2.0),
			(enumeration, size, u8, id % 3, ("small", 0), ("large", 1)), (seq, ids, i32, &id, 1)),
		WAYMARK_PRINT("order %u of %s"));
	WAYMARK_EVENT(shop, idle, WAYMARK_ARGS(int, n), WAYMARK_FIELDS((i32, n, n)), WAYMARK_LEVEL(DEBUG));
	static volatile unsigned sink;
	__attribute__((noinline)) void spin(unsigned n) { while (n--) sink = sink * 3 + 1; }
	__attribute__((noinline)) void work(int i)
	{
		trace_event(shop, order, i, "Ada");
		(void)!write(1, "x", 1);
		spin(20000);
	}
	int main(int argc, char **argv)
	{
		for (int i = 0; i < 400; i++)
			work(i);
		trace_event(shop, idle, argc);
		if (argc > 1 && !strcmp(argv[1], "stay"))
			pause();
		return 0;
	}
	END
	cc -O1 -g -fno-omit-frame-pointer -I"$WAYMARK_SOURCE/include" "$W/app.c" -o "$W/app"
	cc -O1 -DWAYMARK_LOADTEST -I"$WAYMARK_SOURCE/include" "$W/app.c" -o "$W/no_sites"
	waymark record -q -o "$W/one" -- "$W/app" >/dev/null
	waymark record -q --preload malloc -e 'malloc:*' -e 'shop:*' -o "$W/two" -- "$W/app" >/dev/null
	waymark record -q -e 'shop:*' -g -o "$W/stacks" -- "$W/app" >/dev/null
	waymark record -q -F 2000 -g -o "$W/samples" -- "$W/app" >/dev/null 2>&1 || rm -rf "$W/samples"
}

setup() {
	python3 -c 'import jsonschema' 2>/dev/null || skip "python3-jsonschema is not installed"
	schemas="$WAYMARK_SOURCE/share/schema"
	check="$BATS_TEST_DIRNAME/data/json_check.py"
	cd "$BATS_TEST_TMPDIR"
	nr=0
}

teardown() {
	[ -z "${pid-}" ] || kill "$pid" 2>/dev/null || true
}

need_corpus() {
	[ -d "${WAYMARK_CORPUS:-}" ] || skip "no corpus: WAYMARK_CORPUS is not set"
}

# Runs a command whose output is kept for validation; its status must be 0, 4 (no event) or 5 (missing events).
# What this machine does not permit prints nothing and is not kept.
keep() {
	local status=0
	nr=$((nr + 1))
	"$@" >"$nr.json" 2>"$nr.err" || status=$?
	case $status in
	0 | 4 | 5) [ -s "$nr.json" ] ;;
	3) rm "$nr.json" ;;
	*) echo "$*: status $status" >&2; cat "$nr.err" >&2; return 1 ;;
	esac
}

# Validates all that was kept.
valid() { python3 "$check" "$schemas" "$1" ./*.json; }

@test "each verb with JSON has a schema, closed and with descriptions" {
	waymark help --tables >tables
	python3 - tables "$schemas" <<-'END'
	import json, pathlib, sys
	verbs = {v["name"] for v in json.load(open(sys.argv[1])) if any(o.get("name") == "json" for o in v["options"])}
	files = {p.name.split(".")[0].split("-")[1]: json.loads(p.read_text()) for p in pathlib.Path(sys.argv[2]).iterdir()}
	assert verbs == set(files), verbs ^ set(files)
	def walk(node, where):
	    if isinstance(node, list):
	        for item in node:
	            walk(item, where)
	    if not isinstance(node, dict):
	        return
	    if "properties" in node and "required" in node and "type" in node:
	        assert "additionalProperties" in node, where
	        rest = node["additionalProperties"]
	        assert rest is False or rest.get("description"), where
	        for name, member in node["properties"].items():
	            assert member.get("description"), (where, name)
	    for name, child in node.items():
	        walk(child, where + [name])
	for verb, schema in files.items():
	    walk(schema, [verb])
	END
}

@test "list" {
	"$W/app" stay >out &
	pid=$!
	until_idle "$pid"
	keep waymark list --json "$W/app"
	keep waymark list --json "$W/no_sites"
	keep waymark list --json 'ord*' "$W/app" "$W/no_sites"
	keep waymark list --json -p "$pid"
	keep waymark list --json
	keep waymark list --json --fields 'proc:*'
	keep waymark list --json 'sw:*'
	keep waymark list --json --fields "uprobe:$W/app:work"
	keep waymark list --json --fields "uretprobe:$W/app:work"
	keep waymark list --json --lines "uprobe:$W/app:work"
	if [ -r /sys/kernel/tracing/events/sched ]; then
		keep waymark list --json 'sched:*'
		keep waymark list --json --fields 'sched:*'
		keep waymark list --json --fields 'syscall:open*'
	fi
	valid list
}

@test "list: an event that is on" {
	waymark record -q -o t -- "$W/app" stay >out &
	pid=$!
	until_true grep -q . out
	until_idle "$(pgrep -P "$pid" -x app)"
	keep waymark list --json -p "$(pgrep -P "$pid" -x app)"
	grep -q '"on":1' 1.json
	valid list
}

@test "info" {
	keep waymark info --json "$W/one"
	keep waymark info --json "$W/stacks"
	[ ! -d "$W/samples" ] || keep waymark info --json "$W/samples"
	cp -r "$W/one" cut
	chmod -R u+w cut
	truncate -s -100 cut/user-*
	keep waymark info --json cut
	waymark convert "$W/one" c.ctf2
	waymark convert "$W/one" c.dat
	[ ! -d "$W/samples" ] || waymark convert "$W/samples" c.data
	keep waymark info --json c.ctf2
	keep waymark info --json c.dat
	[ ! -d "$W/samples" ] || keep waymark info --json c.data
	valid info
}

@test "print" {
	keep waymark print --json "$W/one"
	keep waymark print --json --limit 50 --all "$W/two" "$W/one"
	keep waymark print --json --head=all --limit 50 "$W/one"
	keep waymark print --json --limit 50 --fields=id,customer "$W/one"
	keep waymark print --json --end 1 "$W/one"
	keep waymark print --json --limit 20 "$W/stacks"
	[ ! -d "$W/samples" ] || keep waymark print --json --limit 100 --all "$W/samples"
	waymark convert --to json "$W/one" a.array
	cmp a.array 1.json
	valid print
}

@test "lines of print and convert" {
	keep waymark print --jsonl --all --limit 200 "$W/two" "$W/one"
	keep waymark print --jsonl --head=all --limit 50 "$W/one"
	[ ! -d "$W/samples" ] || keep waymark print --jsonl --limit 100 --head=all "$W/samples"
	[ ! -d "$W/samples" ] || keep waymark print --jsonl --limit 50 --fields=ip "$W/samples"
	waymark convert "$W/stacks" a.jsonl
	mv a.jsonl a.json
	[ "$(valid event:lines)" -gt 600 ]
}

@test "report" {
	local how traces=("$W/one" "$W/stacks")
	[ ! -d "$W/samples" ] || traces+=("$W/samples")
	for trace in "${traces[@]}"; do
		keep waymark report --json "$trace"
		keep waymark report --json -s comm,pid,tid,cpu,event,dso,sym,srcline "$trace"
		keep waymark report --json -s symbol "$trace"
		keep waymark report --json --hierarchy -s comm,event,sym "$trace"
		keep waymark report --json --percent-limit 60 -s event --show-total-period "$trace"
		for how in caller callee folded none; do
			keep waymark report --json --inline -g "$how" -s sym "$trace"
		done
		keep waymark report --json --no-children -g -s dso "$trace"
	done
	keep waymark report --json -s id,size,shop:order.customer --weight id -e shop:order "$W/one"
	keep waymark report --json --rows 1 -s id "$W/one" "$W/two"
	valid report
}

@test "diff" {
	keep waymark diff --json "$W/one" "$W/two"
	keep waymark diff --json "$W/one,$W/two" "$W/two" "$W/one,$W/stacks" -s event,comm --by-rate
	keep waymark diff --json "$W/one" "$W/stacks" -s event,customer --percent-limit 1
	[ ! -d "$W/samples" ] || keep waymark diff --json "$W/samples" "$W/samples"
	valid diff
}

@test "annotate" {
	keep waymark annotate --json work "$W/stacks"
	keep waymark annotate --json --no-source work "$W/stacks"
	[ ! -d "$W/samples" ] || keep waymark annotate --json spin "$W/samples"
	valid annotate
}

@test "stat" {
	local app=(sh -c "exec $W/app >/dev/null")
	for form in "" "-r 3" "-I 50" "--per-cpu" "-r 2 --per-cpu"; do
		keep waymark stat $form --json -e 'shop:*' -- "${app[@]}"
		keep waymark stat $form --json -- "${app[@]}"
		keep waymark stat $form --json -e 'syscall:write' --filter 'count == 1' -- "${app[@]}"
	done
	for form in "" "-r 2" "-I 50"; do
		keep waymark stat $form --json -e shop:order --by size,customer -- "${app[@]}"
		keep waymark stat $form --json -e syscall:write --by fd -- "${app[@]}"
		keep waymark stat $form --json -e syscall:openat:exit --by '$comm' -- "${app[@]}"
	done
	"$W/app" stay >out &
	pid=$!
	keep waymark stat --per-thread --json --timeout 50 -p "$pid"
	keep waymark stat --json -e cycles,sw:task-clock,mem:0x0:w -- "${app[@]}"
	valid stat
}

@test "top" {
	local app=(sh -c "exec $W/app >/dev/null")
	keep waymark top --json -d 0.1 -e 'shop:*' -s event,id -- "${app[@]}"
	keep waymark top --json -d 0.1 -g -F 2000 -s comm,sym -- "${app[@]}"
	keep waymark top --json -d 0.1 --no-decay --percent-limit 50 --refreshes 2 -e 'shop:*' -s customer -- "${app[@]}"
	valid top:lines
}

@test "doctor" {
	keep waymark doctor --json
	valid doctor
}

# Prints the paths of all traces of the corpus, also of damaged ones.
corpus_traces() {
	tail -n +2 "$WAYMARK_CORPUS/MANIFEST.tsv" | cut -f1 | sort -u
}

@test "info of the corpus" {
	need_corpus
	for trace in $(corpus_traces); do
		keep waymark info --json "$WAYMARK_CORPUS/$trace" || grep -q "^waymark: " "$nr.err"
		[ -s "$nr.json" ] || rm "$nr.json"
	done
	[ "$(valid info)" -gt 100 ]
}

@test "events of the corpus" {
	need_corpus
	for trace in $(corpus_traces); do
		keep waymark print --jsonl --all --head=all --limit 20 "$WAYMARK_CORPUS/$trace" || grep -q "^waymark: " "$nr.err"
		[ -s "$nr.json" ] || rm "$nr.json"
	done
	[ "$(valid event:lines)" -gt 1000 ]
}

@test "reports of the corpus" {
	need_corpus
	for trace in $(corpus_traces | grep -v '^ctf'); do
		keep waymark report --json --rows 50 "$WAYMARK_CORPUS/$trace" || grep -q "^waymark: " "$nr.err"
		keep waymark report --json -g -s sym --percent-limit 5 "$WAYMARK_CORPUS/$trace" || grep -q "^waymark: " "$nr.err"
	done
	find . -name '*.json' -empty -delete
	[ "$(valid report)" -gt 20 ]
}

@test "a member that the schema does not have is an error" {
	keep waymark info --json "$W/one"
	cp -r "$schemas" mine
	sed -i 's/"clock_hz": {/"clock_khz": {/; s/"clock_hz",/"clock_khz",/' mine/waymark-info.schema.json
	run -1 python3 "$check" mine info 1.json
	[[ $output == *clock_hz* || $output == *clock_khz* ]]
}
