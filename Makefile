# SPDX-License-Identifier: MIT
# The front door. `make demo` and `make check` install what is missing of
# their package group, then build with meson in build/.

BUILD ?= build
B ?= emit
MUTANTS ?= 100000
SEED ?= 2
SECONDS ?= 60

.PHONY: all build demo check check-long fuzz fuzz-long bench install clean format need-build

all: build

need-build:
	@tools/need build

# New files are found by asking again: meson learns the list when it configures.
build: need-build
	@tools/configure $(BUILD)
	@ninja -C $(BUILD) --quiet

demo:
	@tools/need build demo
	@$(MAKE) --no-print-directory build
	@BUILD=$(BUILD) examples/demo/run

# make check T="record print" runs only these tests.
check:
	@tools/need build demo check vm
	@$(MAKE) --no-print-directory build
	@tools/run-tests $(BUILD) $(T)

# The last step runs `make demo` and `make check` in a bare Debian, in both orders.
check-long:
	@tools/need build demo check vm fresh
	@$(MAKE) --no-print-directory build
	@tools/run-tests --long $(BUILD)
	@tools/fresh || [ $$? = 77 ]

# libFuzzer, a minute for each parser; finds go to fuzz-finds/. One of them: make fuzz F=tsdl
fuzz:
	@tools/need build check
	@CC=clang CXX=clang++ tools/configure build-fuzz -Dfuzz=true -Db_sanitize=address,undefined -Db_lundef=false
	@ninja -C build-fuzz --quiet $$(ninja -C build-fuzz -t targets all | grep -o '^test/fuzz/fuzz-[a-z0-9-]*:' | tr -d :)
	@test/fuzz/fuzz build-fuzz $(SECONDS) $(F)

# 100,000 damaged traces of each format; what is found is kept in fuzz-finds/.
fuzz-long:
	@tools/need build check
	@$(MAKE) --no-print-directory build
	@mkdir -p fuzz-finds
	@for format in ctf-1.8 ctf-2 perf.data trace.dat ftrace own; do \
		echo "$$format"; WAYMARK_BUILD="$(abspath $(BUILD))" WAYMARK_SOURCE="$(CURDIR)" \
		FUZZ_KEEP="$(CURDIR)/fuzz-finds" test/fuzz/mutants $$format $(MUTANTS) $(SEED) || exit 1; \
	done

bench:
	@tools/need build bench
	@$(MAKE) --no-print-directory build
	@BUILD=$(BUILD) bench/run $(B)

install: build
	@meson install -C $(BUILD)

format:
	@clang-format-14 -i $$(git ls-files '*.c' '*.h' '*.cc' | grep -v '^include/waymark/')

clean:
	rm -rf build build-*
