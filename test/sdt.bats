#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# sdt.bats - tests -DWAYMARK_SDT: readelf, perf and bpftrace trace the same place that waymark
# records at the same time.

bats_require_minimum_version 1.5.0

setup_file() {
	export W="$BATS_FILE_TMPDIR"
	cat >"$W/shop.c" <<-'END'
	#define WAYMARK_PROVIDER shop
	#include <waymark/tracepoint.h>
	WAYMARK_EVENT(shop, order, WAYMARK_ARGS(int, id, const char *, who, unsigned char, kind, double, price),
		WAYMARK_FIELDS((i32, id, id), (str, who, who), (u8, kind, kind), (f64, price, price)));
	__attribute__((noinline)) void order(int i)
	{
		trace_event(shop, order, i, "me", 200, 1.5);
		trace_mark(paid, "id %d sum %ld", i, i * 10L);
	}
	int main(void)
	{
		for (int i = 0; i < 5; i++)
			order(-i);
		return 0;
	}
	END
	for compiler in gcc clang; do
		$compiler -O2 -DWAYMARK_SDT -I"$WAYMARK_SOURCE/include" "$W/shop.c" -o "$W/shop-$compiler" \
			-L"$WAYMARK_BUILD" -Wl,-rpath,"$WAYMARK_BUILD" -Wl,--no-as-needed -lwaymark-rt
	done
}

setup() {
	PATH="$WAYMARK_BUILD:$PATH"
	cd "$W"
}

@test "the notes name provider, event and operands" {
	for compiler in gcc clang; do
		run -0 readelf -n shop-$compiler
		[ "$(grep -c NT_STAPSDT <<<"$output")" -eq 2 ]
		run sed -n '/stapsdt/,$p' <<<"$output"
		[[ $output == *"Provider: shop"*"Name: order"*"Arguments: -4@"*" 8@"*" 1@"*" 8@"*"Provider: shop"*"Name: paid"*"Arguments: -4@"*" -8@"* ]]
		[[ $output == *"Semaphore: 0x0000000000000000"* ]]
		[[ $output != *"Base: 0x0000000000000000"* ]]
	done
}

@test "without -DWAYMARK_SDT there is no note" {
	gcc -O2 -I"$WAYMARK_SOURCE/include" shop.c -o plain
	run -0 readelf -n plain
	[[ $output != *stapsdt* ]]
}

@test "perf lists them" {
	command -v perf >/dev/null || skip "perf is not installed"
	run perf --buildid-dir "$W/cache" buildid-cache --add "$W/shop-gcc"
	[ "$status" -eq 0 ] || skip "perf cannot: $output"
	run perf --buildid-dir "$W/cache" list sdt
	[[ $output == *"sdt_shop:order"* && $output == *"sdt_shop:paid"* ]]
}

@test "bpftrace traces while waymark records" {
	command -v bpftrace >/dev/null || skip "bpftrace is not installed"
	[ "$(id -u)" -eq 0 ] || skip "only root may attach"
	for compiler in gcc clang; do
		rm -rf T
		timeout 200 bpftrace -e "
			interval:ms:200 { if (@hits == 10) { exit(); } }
			BEGIN { printf(\"ready\\n\"); }
			usdt:$W/shop-$compiler:shop:order { printf(\"order %d %s %d\\n\", arg0, str(arg1), arg2); @hits++; }
			usdt:$W/shop-$compiler:shop:paid { printf(\"paid %d %d\\n\", arg0, arg1); @hits++; }" \
			>seen 2>said 3>&- &
		watcher=$!
		for _ in $(seq 600); do
			! grep -q ready seen && kill -0 $watcher 2>/dev/null || break
			sleep 0.1
		done
		grep -q ready seen || skip "no uprobes here: $(cat said)"
		waymark record -q -e 'shop:*' -o T -- ./shop-$compiler
		wait $watcher
		output=$(cat seen)
		[ "$(grep -c '^order -\{0,1\}[0-4] me 200$' <<<"$output")" -eq 5 ]
		[[ $output == *$'\n'"paid -4 -40"* ]]
		run -0 waymark print T
		[ "$(grep -c 'shop:order: ' <<<"$output")" -eq 5 ]
		[[ $output == *"id = -4, who = \"me\", kind = 200, price = 1.5"* ]]
		[ "$(grep -c 'shop:paid: id -[1-4] sum -[1-4]0$' <<<"$output")" -eq 4 ]
	done
}
