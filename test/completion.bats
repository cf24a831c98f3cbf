#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# completion.bats - tests the words that shells offer on <Tab>: verbs, options and words of the
# option tables, and the names of existing events, which waymark lists. Runs the real bash, zsh and
# fish.

bats_require_minimum_version 1.5.0

setup_file() {
	export W="$BATS_FILE_TMPDIR" BATS_TEST_TIMEOUT=300
	export SHARE="$WAYMARK_SOURCE/share/completions"
	PATH="$WAYMARK_BUILD:$PATH" waymark record -q -e 'proc:pid_*' -e proc:loadavg --every 10ms \
		-o "$W/trace" -- sleep 0.1
}

setup() {
	PATH="$WAYMARK_BUILD:$PATH"
	cd "$BATS_TEST_TMPDIR"
	cp -r "$W/trace" .
}

# --- the queries ---------------------------------------------------------------------------------

@test "list --names: providers first, then the names of one; no characters that a shell would execute" {
	waymark list --names >all
	grep -qx 'proc:' all
	grep -qx 'sw:' all
	grep -qx 'uprobe:' all
	! grep -q ':.' all || false
	diff <(sort -u all) <(LC_ALL=C sort -u all)
	waymark list --names sw:page | diff - <(echo sw:page-faults)
	waymark list --names proc:load | diff - <(echo proc:loadavg)
	[ -z "$(waymark list --names nothing-is-called-so)" ]
	run -2 waymark list --names --json
	run -2 waymark list --names a b
}

@test "info --names: the events of a trace, each once" {
	waymark info --names trace >names
	diff names - <<-'EOF'
	proc:loadavg
	proc:pid_io
	proc:pid_stat
	proc:pid_status
	EOF
	run -2 waymark info --names --json trace
}

@test "a name with shell syntax is not offered" {
	sed -i 's/proc:loadavg/proc:lo`id`/' trace/metadata
	waymark info trace | grep -qF 'proc:lo`id`'
	waymark info --names trace >names
	grep -qx 'proc:pid_io' names
	! grep -qF 'id`' names || false
	[ -z "$(bash_words waymark report trace -e proc : lo)" ]
}

# --- bash -------------------------------------------------------------------------------------------

# Completes the given words as bash does on <Tab>.
bash_words() {
	bash -c '. "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _waymark
		printf "%s\n" "${COMPREPLY[@]}"' "$SHARE/waymark" "$@"
}

@test "bash: verbs, options, words" {
	[ "$(bash_words waymark rec)" = record ]
	[ "$(bash_words waymark record --mod)" = --mode ]
	[ "$(bash_words waymark record --mode over)" = overwrite ]
	[ "$(bash_words waymark record --mode = bl)" = block ]
	[ "$(bash_words waymark record --preload ma)" = malloc ]
	[ "$(bash_words waymark record --preload malloc,pt)" = malloc,pthread ]
	[[ $(bash_words waymark record -o x -- bas) == *bash* ]]
	[ "$(bash_words waymark help pri)" = print ]
	[ "$(bash_words waymark print --format json)" = $'json\njsonl' ]
	[ "$(bash_words waymark report -s comm,sr)" = comm,srcline ]
	[ "$(bash_words waymark print tra)" = trace ]
	[ "$(bash_words waymark print -i tra)" = trace ]
	[ -z "$(bash_words waymark record --filter x)" ]
	[[ $(bash_words waymark list -p '') == *"$$"* ]]
}

@test "bash: existing events, and those of a trace" {
	# Readline breaks words at ':' and replaces only the part after the last.
	[ "$(bash_words waymark record -e proc : load)" = loadavg ]
	[ "$(bash_words waymark record --event = proc : load)" = loadavg ]
	[ "$(bash_words waymark record -x sw : page)" = page-faults ]
	[[ $(bash_words waymark record -e proc :) == *loadavg* ]]
	[ "$(bash_words waymark record -e pro)" = proc: ]
	[ "$(bash_words waymark stat -e sw : cs,sw : page-f)" = page-faults ]
	[ "$(bash_words waymark report trace -e proc : pid_i)" = pid_io ]
	[ -z "$(bash_words waymark report trace -e proc : vms)" ]
	[ "$(bash_words waymark print trace -e "'proc:l")" = proc:loadavg ]
}

@test "bash, on a terminal" {
	# Runs readline itself: prints the line after <Tab>, as the command gets it.
	cat >drive.py <<-'EOF'
	import os, pty, select, sys, time
	pid, fd = pty.fork()
	if pid == 0:
	    os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])
	def until(text):
	    got, end = b"", time.time() + 20
	    while text not in got and time.time() < end:
	        if select.select([fd], [], [], 0.1)[0]:
	            got += os.read(fd, 4096)
	    return text in got
	def send(text):
	    os.write(fd, text.encode())
	send(f". {sys.argv[1]}; waymark() {{ echo \"GOT <$*>\"; }}; PS1=; echo REA''DY\n")
	assert until(b"READY")
	send("unset -f waymark; hash -r; got() { echo \"GOT <$*>\"; }; complete -F _waymark got; echo STA''RT\n")
	assert until(b"START")
	send(sys.argv[2] + "\t")
	time.sleep(2)
	send("\n")
	ok = until(f"GOT <{sys.argv[3]}>".encode())
	send("exit\n")
	os.waitpid(pid, 0)
	sys.exit(not ok)
	EOF
	python3 drive.py "$SHARE/waymark" 'got record -e proc:load' 'record -e proc:loadavg'
	python3 drive.py "$SHARE/waymark" 'got report -s comm,src' 'report -s comm,srcline'
}

# --- zsh ----------------------------------------------------------------------------------------

@test "zsh: the command line after <Tab>" {
	command -v zsh >/dev/null || skip "zsh is not installed"
	zsh -n "$SHARE/_waymark"
	cat >complete.zsh <<-'END'
	zmodload zsh/zpty
	zpty z zsh -f -i
	zpty -w z "fpath=($1 \$fpath); autoload -U compinit; compinit -u -D; echo RE''ADY"
	zpty -r -m z out '*READY*'
	zpty -w -n z "$2"$'\t'
	zpty -r -m z out "*$3*" && print found
	END
	becomes() { [ "$(timeout 200 zsh -f complete.zsh "$SHARE" "$1" "$2")" = found ]; }
	becomes 'waymark record --mode over' overwrite
	becomes 'waymark rec' 'waymark record'
	becomes 'waymark record -e proc:load' proc:loadavg
	becomes 'waymark record -e pro' proc:
	becomes 'waymark stat -e sw:cs,sw:page-f' sw:page-faults
	becomes 'waymark report trace -e proc:pid_i' proc:pid_io
	becomes 'waymark report -s comm,src' comm,srcline
}

# --- fish ---------------------------------------------------------------------------------------

@test "fish: the words offered" {
	command -v fish >/dev/null || skip "fish is not installed"
	fish_words() {
		fish --no-config -c "source $SHARE/waymark.fish; complete -C '$1'" | cut -f1
	}
	[ "$(fish_words 'waymark rec')" = record ]
	[ "$(fish_words 'waymark record --mod')" = --mode ]
	[ "$(fish_words 'waymark record --mode over')" = overwrite ]
	[ "$(fish_words 'waymark help pri')" = print ]
	[ "$(fish_words 'waymark record -e proc:load')" = proc:loadavg ]
	[ "$(fish_words 'waymark record --event=proc:load')" = --event=proc:loadavg ]
	[ "$(fish_words 'waymark record -e pro')" = proc: ]
	[ "$(fish_words 'waymark report trace -e proc:pid_i')" = proc:pid_io ]
	[ "$(fish_words 'waymark report -s comm,src')" = comm,srcline ]
	[ "$(fish_words 'waymark print --format jsonl')" = jsonl ]
}
