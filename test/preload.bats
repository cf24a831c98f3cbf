#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# preload.bats - tests libwaymark-malloc, -pthread and -func with unmodified programs: their
# behaviour does not change, and each call is an event.

bats_require_minimum_version 1.5.0

setup_file() {
	export W="$BATS_FILE_TMPDIR" DATA="$WAYMARK_SOURCE/test/data"
	cd "$W"
	local flags="-O1 -Wall -Wextra -D_GNU_SOURCE -fno-builtin"
	cc $flags -fPIC -shared "$DATA/count_malloc.c" -o count_malloc.so
	cc $flags -fPIC -shared "$DATA/nervous_dlsym.c" -o nervous_dlsym.so
	cc $flags "$DATA/allocations.c" -o allocations
	cc $flags "$DATA/locks.c" -pthread -o locks
}

setup() {
	export LC_ALL=C.UTF-8 # in the POSIX locale programs allocate almost nothing
	PATH="$WAYMARK_BUILD:$PATH"
	cd "$BATS_TEST_TMPDIR"
}

# Prints the events of trace T that match $1, as lines "provider:name count".
counts() {
	waymark info T --json | python3 -c '
import fnmatch, json, sys
for c in json.load(sys.stdin)["classes"]:
    name = c["provider"] + ":" + c["name"]
    if fnmatch.fnmatch(name, sys.argv[1]):
        print(name, c["events"])' "${1:-*}" | sort
}

# Runs a command alone and then traced: output, errors and status must be equal. Then each kind of
# allocation must have as many events as the allocator had calls.
same_and_counted() {
	local status_plain=0 status_traced=0
	"$@" >out.plain 2>err.plain </dev/null || status_plain=$?
	rm -rf T counts
	truncate -s 4096 counts
	COUNT_FILE="$PWD/counts" LD_PRELOAD="$W/count_malloc.so" \
		waymark record -q -o T --preload malloc,pthread,func -- "$@" \
		>out.traced 2>err.traced </dev/null || status_traced=$?
	[ "$status_plain" -eq "$status_traced" ]
	cmp out.plain out.traced
	cmp err.plain err.traced
	python3 - "$(counts 'malloc:*')" <<-'END'
	import struct, sys
	got = dict(line.split() for line in sys.argv[1].splitlines())
	names = ["alloc", "free", "calloc", "realloc", "memalign"]
	due = struct.unpack("5q", open("counts", "rb").read(40))
	print({n: (int(got.get("malloc:" + n, 0)), d) for n, d in zip(names, due)})
	assert due[0] > 10 and due[1] > 10
	assert all(int(got.get("malloc:" + n, 0)) == d for n, d in zip(names, due))
	END
	[[ $(waymark info T) == *"0 lost"* ]]
}

@test "ls" {
	same_and_counted ls -la /etc
	same_and_counted ls /no/such/file
}

@test "python3, threads and its own exit status" {
	same_and_counted /usr/bin/python3 -c '
import threading, sys
total = []
def work(n):
    total.append(sum(len(str(i) * n) for i in range(2000)))
threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
for t in threads: t.start()
for t in threads: t.join()
print(sorted(total))
sys.exit(3)'
	[[ $(counts 'pthread:thread_create') == "pthread:thread_create 4" ]]
}

@test "sqlite3" {
	same_and_counted sqlite3 :memory: 'create table t(a, b); create index i on t(b);
		with recursive n(x) as (select 1 union all select x + 1 from n where x < 20000)
			insert into t select x, x * 7919 % 10007 from n;
		select count(*), sum(a) from t where b between 100 and 900; select nonsense'
	[ "$(counts 'pthread:mutex_acquire' | cut -d' ' -f2)" -eq \
		"$(counts 'pthread:mutex_release' | cut -d' ' -f2)" ]
}

@test "sort with threads" {
	/usr/bin/perl -e 'srand 1; printf "%d %s\n", rand 1e6, "x" x rand 9 for 1..300000' >lines
	same_and_counted sort --parallel=3 -n lines
	[ "$(counts 'pthread:thread_create' | cut -d' ' -f2)" -ge 1 ]
}

@test "perl, its children too" {
	same_and_counted perl -e 'for (1..3) { fork; } my @a = map { "x" x 1000 } 1..100;
		1 while wait > 0; print "p";'
}

@test "a shell and all its children" {
	same_and_counted sh -c 'ls /etc | sort -r | head -n 5; (sh -c "perl -e 1"; ls /) | cat; exit 9'
	[ "$(waymark info T --json | python3 -c '
import json, sys
print(len({p["path"] for p in json.load(sys.stdin)["processes"]}))')" -ge 6 ]
}

@test "each kind of allocation: sizes, pointers, results; contents and errno unchanged" {
	run --separate-stderr waymark record -q -o T --preload malloc -- "$W/allocations"
	[ "$status" -eq 7 ]
	[ "$output" = fine ]
	[ -z "$stderr" ]
	waymark print T --jsonl >events
	python3 - <<-'END'
	import collections, json
	kinds, live, vain = collections.Counter(), {}, collections.Counter()
	for line in open("events"):
	    event = json.loads(line)
	    name, f = event["name"], event["fields"]
	    p, size = f["ptr"], f.get("size", 0) * f.get("count", 1)
	    if name == "malloc:free":
	        assert not p or live.pop(p)
	        continue
	    if name == "malloc:realloc" and f["old"] and p:
	        live.pop(f["old"])
	    if p:
	        assert p not in live
	        live[p] = name
	    how = f["function"]["label"] if "function" in f else name
	    if size >= 1000000:
	        kinds[how] += 1
	        vain[how] += not p
	        assert f["caller"]
	print(kinds, vain, live)
	assert kinds == {"malloc:alloc": 7, "malloc:calloc": 4, "malloc:realloc": 12, "posix_memalign": 3,
	                 "aligned_alloc": 1, "memalign": 1, "valloc": 1, "pvalloc": 1}
	assert +vain == {"malloc:alloc": 1, "malloc:calloc": 1, "malloc:realloc": 2, "posix_memalign": 2}
	END
}

@test "locks: the exact number of requests, acquires, releases, waits, threads" {
	run --separate-stderr waymark record -q -o T --preload pthread -- "$W/locks"
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	declare -A due
	while read -r name count; do
		due[$name]=$count
	done <<<"$output"
	[ "${due[mutex_acquire]}" -gt 4000 ]
	due[mutex_request]=${due[mutex_acquire]}
	due[rwlock_request]=${due[rwlock_acquire]}
	due[cond_wait_end]=${due[cond_wait_begin]}
	due[thread_start]=${due[thread_create]}
	due[thread_exit]=${due[thread_create]}
	for name in "${!due[@]}"; do
		echo "pthread:$name ${due[$name]}"
	done | sort >due
	counts >got
	diff due got
}

@test "locks: owners; results; a cancelled wait ends" {
	waymark record -q -o T --preload pthread -- "$W/locks" >/dev/null
	waymark print T --jsonl >events
	python3 - <<-'END'
	import collections, errno, json
	owner, results, waits, wanted = {}, collections.Counter(), [], {}
	for line in open("events"):
	    event = json.loads(line)
	    name, tid, f = event["name"].split(":")[1], event["tid"], event["fields"]
	    m = f.get("mutex")
	    if name == "mutex_request":
	        wanted[tid] = m
	    elif name == "mutex_acquire":
	        assert wanted.pop(tid) == m
	        results[f["how"]["label"], f["result"]] += 1
	        if not f["result"]:
	            assert m not in owner, (m, owner)
	            owner[m] = tid
	    elif name == "mutex_release":
	        freed = owner.pop(m, None)
	    elif name == "mutex_release_failed":
	        assert freed is None and f["result"] == errno.EPERM
	    elif name == "cond_wait_begin":
	        assert owner.pop(m) == tid
	    elif name == "cond_wait_end":
	        waits.append(f["result"])
	        assert m not in owner
	        owner[m] = tid
	print(results, waits, owner)
	assert not owner and not wanted
	assert results["trylock", errno.EBUSY] == 3 and results["lock", errno.EDEADLK] == 1
	assert results["timedlock", errno.ETIMEDOUT] == results["clocklock", errno.ETIMEDOUT] == 1
	assert waits.count(errno.ECANCELED) == 1 and waits.count(errno.ETIMEDOUT) == 2
	END
}

@test "threads: created by one, started and ended by another, with their routine" {
	waymark record -q -o T --preload pthread -e 'pthread:thread_*' -- "$W/locks" >/dev/null
	waymark print T --jsonl >events
	python3 - <<-'END'
	import json
	events = [json.loads(line) for line in open("events")]
	main = events[0]["pid"]
	by = {k: [e for e in events if e["name"] == "pthread:thread_" + k] for k in ("create", "start", "exit")}
	assert {len(v) for v in by.values()} == {7}
	assert {e["tid"] for e in by["create"]} == {main}
	assert main not in {e["tid"] for e in by["start"]}
	assert {e["tid"] for e in by["start"]} == {e["tid"] for e in by["exit"]}
	born = lambda kind: sorted((e["fields"]["birth"], e["fields"]["routine"]) for e in by[kind])
	assert born("create") == born("start") and [b for b, _ in born("create")] == list(range(1, 8))
	assert len({e["fields"]["routine"] for e in by["create"]}) == 4
	END
}

@test "a dlsym that allocates before an allocator exists; one look-up per name" {
	for program in allocations locks; do
		rm -rf T
		run --separate-stderr env LD_PRELOAD="$W/nervous_dlsym.so" \
			waymark record -q -o T --preload malloc,pthread -- "$W/$program"
		[[ $status -eq 7 || $program = locks && $status -eq 0 ]]
		[[ $stderr =~ ^dlsym\ ([0-9]+) ]]
		[ "${BASH_REMATCH[1]}" -ge 10 ]
		[ "${BASH_REMATCH[1]}" -le 32 ]
		[ "$(counts 'malloc:alloc' | cut -d' ' -f2)" -ge 1 ]
	done
	[ "$(counts 'pthread:mutex_acquire' | cut -d' ' -f2)" -gt 4000 ]
}

@test "loaded but not enabled: no event; and without the runtime's recorder, no effect" {
	waymark record -q -o T --preload malloc,pthread -e 'pthread:thread_create' -- "$W/locks" >/dev/null
	[ "$(counts)" = "pthread:thread_create 7" ]
	run -7 --separate-stderr env \
		LD_PRELOAD="$WAYMARK_BUILD/libwaymark-malloc.so $WAYMARK_BUILD/libwaymark-pthread.so" \
		"$W/allocations"
	[ "$output" = fine ]
	[ -z "$stderr" ]
}

@test "a program with an allocator of its own keeps it" {
	cat >own.c <<-'END'
	#include <stdio.h>
	#include <stdlib.h>
	static char heap[1 << 20] __attribute__((aligned(16)));
	static size_t used, calls;
	void *malloc(size_t n)
	{
		void *p = heap + used;
		used += (n + 15) & ~15ul;
		calls++;
		return used > sizeof(heap) ? NULL : p;
	}
	void free(void *p)
	{
	}
	int main(void)
	{
		char *p = malloc(100), *line = NULL;
		free(p);
		printf("%d %d\n", p >= heap && p < heap + sizeof(heap), calls > 0);
		return asprintf(&line, "%d", 5) != 1 || line < heap || line > heap + sizeof(heap);
	}
	END
	cc -D_GNU_SOURCE -fno-builtin own.c -o own
	run --separate-stderr waymark record -q -o T --preload malloc,pthread -- ./own
	[ "$status" -eq 0 ]
	[ "$output" = "1 1" ]
	[ -z "$stderr" ]
	[[ $(counts) != *malloc:alloc* ]]
}

@test "functions: entry and exit with their addresses, of threads and children" {
	cat >calls.c <<-'END'
	#include <pthread.h>
	#include <sys/wait.h>
	#include <unistd.h>
	int leaf(int n)
	{
		return n + 1;
	}
	int branch(int n)
	{
		return leaf(n) + leaf(n + 1);
	}
	void *work(void *p)
	{
		for (int i = 0; i < 50; i++)
			branch(i);
		return p;
	}
	int main(void)
	{
		pthread_t t;
		pthread_create(&t, NULL, work, NULL);
		pthread_join(t, NULL);
		if (fork() == 0) {
			branch(1);
			_exit(0);
		}
		return wait(NULL) < 0;
	}
	END
	cc -O0 -no-pie -finstrument-functions calls.c -o calls -pthread
	waymark record -q -o T --preload func -- ./calls
	[ "$(counts)" = "func:entry 155"$'\n'"func:exit 155" ]
	waymark print T --jsonl >events
	nm calls >names
	python3 - <<-'END'
	import collections, json
	names = {int(a, 16): n for a, t, n in (line.split() for line in open("names") if len(line.split()) == 3)}
	seen, stack = collections.Counter(), collections.defaultdict(list)
	for line in open("events"):
	    event = json.loads(line)
	    name = names[event["fields"]["function"]]
	    kind = event["name"].split(":")[1]
	    seen[kind, name] += 1
	    if kind == "entry":
	        stack[event["tid"]].append(name)
	    elif event["tid"] in stack:
	        assert stack[event["tid"]].pop() == name
	print(seen)
	for kind in ("entry", "exit"):
	    assert (seen[kind, "leaf"], seen[kind, "branch"], seen[kind, "work"]) == (102, 51, 1)
	END
}

@test "stacks of a program without marks have names, without any kernel event" {
	cat >deep.c <<-'END'
	#include <stdlib.h>
	__attribute__((noinline)) void *innermost(size_t n) { void *p = malloc(n); __asm__("" : "+r"(p)); return p; }
	int main(void) { for (int i = 0; i < 10; i++) free(innermost(4321)); return 0; }
	END
	cc -g -O1 -fno-builtin -fno-omit-frame-pointer deep.c -o deep
	waymark record -q -o T --preload malloc -e malloc:alloc --filter 'size == 4321' --context ustack -- ./deep
	run --separate-stderr waymark report T -s sym
	echo "$output"
	[[ $output == *innermost* && $output == *main* ]]
}
