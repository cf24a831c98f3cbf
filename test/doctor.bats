#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# doctor.bats - tests waymark doctor: what it reports as working works, everything else has a reason
# and a cure, and it leaves nothing behind.

bats_require_minimum_version 1.5.0

setup() {
	PATH="$WAYMARK_BUILD:$PATH"
	cd "$BATS_TEST_TMPDIR"
}

teardown() {
	[ -z "${open-}" ] || rm -r "$open"
}

# Prints "yes", "partly" or "no" for a facility in the file doctor.json.
works() {
	python3 -c 'import json, sys; print({c["capability"]: c["works"] for c in json.load(open("doctor.json"))["capabilities"]}[sys.argv[1]])' "$1"
}

@test "text and JSON say the same, with groups and cures" {
	waymark doctor --json >doctor.json
	waymark doctor >doctor.txt
	python3 - <<-'END'
	import json, re
	# Ignores numbers, because the number of kernel events changes while other processes create
	# probes.
	plain = lambda s: re.sub(r"\d+", "N", s)
	text = plain(open("doctor.txt").read())
	checks = json.load(open("doctor.json"))["capabilities"]
	assert len(checks) >= 20
	assert len({c["capability"] for c in checks}) == len(checks)
	for c in checks:
	    assert c["works"] in ("yes", "partly", "no")
	    assert plain(c["detail"]) in text, c
	    assert c["group"] + ":" in text
	    assert c["works"] != "yes" or "cure" not in c, c
	    if "cure" in c:
	        assert plain("fix: " + c["cure"]) in text, c
	END
}

@test "what works, works" {
	waymark doctor --json >doctor.json
	run waymark stat -o /dev/null -e sched:sched_switch -- true
	[ "$(works tracepoints)" = "$([ "$status" -eq 0 ] && echo yes || echo no)" ]
	run waymark stat -o /dev/null -a -e cpu-clock -- true
	[ "$(works perf-all)" = "$([ "$status" -eq 0 ] && echo yes || echo no)" ]
	run waymark stat -o /dev/null -e cycles:u -- true
	[ "$(works hardware)" = "$([ "$status" -eq 0 ] && echo yes || echo no)" ]
	run waymark stat -o /dev/null -e kprobe:do_exit -- true
	[ "$(works kprobes)" = "$([ "$status" -eq 0 ] && echo yes || echo no)" ]
	run waymark stat -o /dev/null -e mem:0x601000:w:u -- true
	[ "$(works breakpoints)" = "$([ "$status" -eq 0 ] && echo yes || echo no)" ]
}

@test "it leaves no instance, no probe, no process" {
	instances() { ls /sys/kernel/tracing/instances 2>/dev/null | grep waymark_ || true; }
	probes() { grep waymark_ /sys/kernel/tracing/uprobe_events 2>/dev/null || true; }
	before=$(probes | sort)
	waymark doctor >/dev/null &
	wait $!
	[ -z "$(instances | grep "waymark_${!}_")" ]
	[ -z "$(comm -13 <(echo "$before") <(probes | grep "waymark_${!}_" | sort))" ]
	[ -z "$(pgrep -P $! || true)" ]
}

@test "nobody gets an answer for everything, and never a bare errno" {
	[ "$(id -u)" -eq 0 ] || skip "not root: cannot become nobody"
	open=$(mktemp -d)
	chmod 755 "$open"
	cp "$(command -v waymark)" "$open/"
	nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
	cd "$open"
	nobody ./waymark doctor --json >"$BATS_TEST_TMPDIR/doctor.json"
	cd "$BATS_TEST_TMPDIR"
	waymark doctor --json >root.json
	python3 - <<-'END'
	import json
	mine = {c["capability"]: c for c in json.load(open("doctor.json"))["capabilities"]}
	root = {c["capability"]: c for c in json.load(open("root.json"))["capabilities"]}
	assert mine.keys() == root.keys()
	for name, c in mine.items():
	    # What works for root but not for nobody must have a cure.
	    if c["works"] == "no" and root[name]["works"] == "yes":
	        assert c.get("cure"), c
	    assert c["detail"] not in ("Operation not permitted", "Permission denied"), c
	    assert len(c["detail"]) > 3
	assert mine["patching"]["works"] == root["patching"]["works"]
	# no cure, if root cannot remove the lock of the machine's manufacturer
	assert root["function"]["works"] == "yes" or root["function"].get("cure"), root
	END
}

@test "a capability that is not enough is named, with the one that is" {
	[ "$(id -u)" -eq 0 ] || skip "not root: cannot keep capabilities"
	[ -d /sys/bus/event_source/devices/uprobe ] || skip "no uprobes"
	open=$(mktemp -d)
	chmod 777 "$open"
	cp "$WAYMARK_BUILD/waymark" "$WAYMARK_BUILD/libwaymark-rt.so.0" "$open/"
	cd "$open"
	with() { setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps "$1" --ambient-caps "$1" "${@:2}"; }
	run with +perfmon ./waymark stat -i -e "uprobe:$open/waymark:main" -- "$open/waymark" version
	[ "$status" -eq 0 ] || [[ $output == *"demands CAP_SYS_ADMIN for it, CAP_PERFMON is not enough; run as root"* ]]
	run with -all ./waymark stat -i -e "uprobe:$open/waymark:main" -- "$open/waymark" version
	[[ $output == *"it needs CAP_SYS_ADMIN (on older kernels, CAP_PERFMON is enough); run as root"* ]]
	# CAP_SYS_ADMIN opens a tracefs of its own, whose files it cannot read.
	[ "$(stat -c %a /sys/kernel/tracing)" = 700 ] || skip "everybody may read tracefs"
	run with +sys_admin ./waymark record -o t -e sched:sched_switch -- true
	[[ $output == *"the kernel's events cannot be read: only root may read"* ]]
}

@test "in a user namespace, cures name root outside of it, whether a tracefs is mounted or not" {
	unshare --mount unshare -Ur true 2>/dev/null || skip "no user namespaces for us"
	cat >mounted <<-'END'
	[ -e /sys/kernel/tracing/events ] || mount -t tracefs nodev /sys/kernel/tracing
	END
	cat >unmounted <<-'END'
	while umount /sys/kernel/tracing 2>/dev/null || umount -l /sys/kernel/debug 2>/dev/null; do :; done
	END
	for state in mounted unmounted; do
		unshare --mount sh -ec ". ./$state; waymark doctor --json >root.json; unshare -Ur waymark doctor --json >inner.json"
		python3 - $state <<-'END'
		import json, sys
		inner = {c["capability"]: c for c in json.load(open("inner.json"))["capabilities"]}
		root = {c["capability"]: c for c in json.load(open("root.json"))["capabilities"]}
		cures = ["outside of this user namespace"]
		assert root["tracefs"]["works"] == "yes", root["tracefs"]
		if sys.argv[1] == "unmounted":
		    # Root can open a tracefs that is not mounted; the namespace's root needs a
		    # mounted one.
		    assert "mount -t tracefs" in inner["tracefs"]["cure"], inner["tracefs"]
		    cures += ["mount -t tracefs", "see tracefs above"]
		for name, c in inner.items():
		    if c["works"] == "no" and root[name]["works"] == "yes":
		        assert any(cure in c["cure"] for cure in cures), c
		END
	done
}
