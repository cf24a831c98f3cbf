#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# docs.bats - tests the documents: every command line in them runs and prints the output shown,
# generated parts are current, manual pages are formatted without a warning, and links have targets.

bats_require_minimum_version 1.5.0

setup_file() {
	export W="$BATS_FILE_TMPDIR"
	DESTDIR="$W/root" meson install -C "$WAYMARK_BUILD" --no-rebuild --quiet
	local pc prefix
	pc=$(find "$W/root" -name waymark-rt.pc)
	prefix=$(dirname "$(dirname "$(find "$W/root" -path '*/bin/waymark')")")
	export PKG_CONFIG_PATH LD_LIBRARY_PATH PREFIX="$prefix"
	PKG_CONFIG_PATH=$(dirname "$pc")
	LD_LIBRARY_PATH=$(dirname "$PKG_CONFIG_PATH")
	mkdir "$W/bin"
	# Sets the prefix in pkg-config, because the files are installed below DESTDIR.
	printf '#!/bin/sh\nexec %s --define-variable=prefix=%s "$@"\n' "$(command -v pkg-config)" \
		"$prefix" >"$W/bin/pkg-config"
	chmod +x "$W/bin/pkg-config"
	# Guides and manual pages use the README's program; one guide uses that of another guide.
	sed -n '/^```c shop.c$/,/^```$/p' "$WAYMARK_SOURCE/README.md" | sed '1d;$d' >"$W/shop.c"
	sed -n '/^```c words.c$/,/^```$/p' "$WAYMARK_SOURCE/doc/guide/time.md" | sed '1d;$d' >"$W/words.c"
	PATH="$W/bin:$PATH"
	gcc -O2 -g "$W/shop.c" -o "$W/shop" $(pkg-config --cflags --libs waymark-rt)
}

setup() {
	export PATH="$W/bin:$PREFIX/bin:$PATH" TZ=UTC LC_ALL=C.UTF-8
	cd "$BATS_TEST_TMPDIR"
	# Allows attaching, because some examples attach to a running program.
	may_attach() {
		local scope
		scope=$(cat /proc/sys/kernel/yama/ptrace_scope 2>/dev/null) || scope=0
		[ "$(id -u)" -eq 0 ] || [ "$scope" -eq 0 ] ||
			skip "attaching is not permitted here (yama ptrace_scope is $scope): not run"
	}
	session() { python3 "$WAYMARK_SOURCE/test/data/doc_session.py" "$@"; }
}

@test "README: every command runs and prints what it shows" {
	may_attach
	[ -w /sys/kernel/tracing/trace ] || skip "the kernel's events cannot be recorded here: not run"
	session "$WAYMARK_SOURCE/README.md"
}

@test "guides: every command runs and prints what it shows" {
	may_attach
	[ -w /sys/kernel/tracing/trace ] || skip "the kernel's events cannot be recorded here: not run"
	for guide in "$WAYMARK_SOURCE"/doc/guide/*.md; do
		mkdir "$(basename "$guide")"
		cd "$(basename "$guide")"
		cp "$W/shop.c" "$W/words.c" "$W/shop" .
		session "$guide"
		cd ..
	done
}

@test "manual pages: every example runs and prints what it shows" {
	may_attach
	for page in "$WAYMARK_SOURCE"/doc/man/*.[13] "$WAYMARK_SOURCE/doc/man/waymark-filter.7"; do
		mkdir "$(basename "$page")"
		cd "$(basename "$page")"
		cp "$W/shop" .
		session "$page"
		cd ..
	done
}

@test "manual pages and completions match the option tables" {
	"$WAYMARK_SOURCE/tools/gen" --check "$WAYMARK_BUILD"
}

@test "gen detects an outdated page" {
	cp -r "$WAYMARK_SOURCE/tools" "$WAYMARK_SOURCE/share" .
	mkdir doc
	cp -r "$WAYMARK_SOURCE/doc/man" doc/
	tools/gen --check "$WAYMARK_BUILD"
	sed -i 's/^Print one JSON/Print one YAML/' doc/man/waymark-list.1
	run -1 tools/gen --check "$WAYMARK_BUILD"
	[[ $output == *"doc/man/waymark-list.1: not what the option tables say"* ]]
	tools/gen "$WAYMARK_BUILD"
	diff -r doc/man "$WAYMARK_SOURCE/doc/man"
}

@test "manual pages format without a warning" {
	command -v groff >/dev/null || skip "groff is not installed: nothing was formatted"
	for page in "$WAYMARK_SOURCE"/doc/man/*.[137]; do
		run -0 groff -man -Tutf8 -ww -z "$page"
		[ -z "$output" ] || { echo "$page: $output"; return 1; }
	done
}

@test "each verb has a page, and each page is installed" {
	for verb in $(waymark help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
		case $verb in help | version) continue ;; esac
		[ -e "$PREFIX/share/man/man1/waymark-$verb.1" ]
	done
	[ -e "$PREFIX/share/man/man1/waymark.1" ]
	[ -e "$PREFIX/share/man/man3/waymark-tracepoint.3" ]
}

@test "every macro and function a program may use is in waymark-tracepoint(3)" {
	local page="$WAYMARK_SOURCE/doc/man/waymark-tracepoint.3" name
	for name in $(sed -n 's/^#define \(trace_[a-z_]*\).*/\1/p' \
		"$WAYMARK_SOURCE"/include/waymark/*.h | sort -u) \
		$(grep -oh 'getenv("WAYMARK_[A-Z]*' -r "$WAYMARK_SOURCE/src/runtime" | cut -d'"' -f2) \
		WAYMARK_EVENT WAYMARK_SPAN WAYMARK_SESSION WAYMARK_MARK_ON_EVENT; do
		grep -qF "$name" "$page" || { echo "$name is not in $page"; return 1; }
	done
}

@test "links in documents have targets" {
	cd "$WAYMARK_SOURCE"
	local file link bad=
	for file in *.md doc/*/*.md examples/*.md; do
		for link in $(grep -o '](\([^)#]*\)' "$file" | sed 's/](//' | grep -v '^http'); do
			[ -e "$(dirname "$file")/$link" ] || bad+="$file: $link"$'\n'
		done
		# Checks that paths in the text exist in the tree: src/x/y.c, include/..., doc/...,
		# test/..., tools/...
		for link in $(grep -oE '`(src|include|doc|test|tools|examples|bench|share)/[a-z0-9_./-]+`' \
			"$file" | tr -d '`'); do
			[ -e "$link" ] || bad+="$file: $link"$'\n'
		done
	done
	[ -z "$bad" ] || { echo "$bad"; return 1; }
}
