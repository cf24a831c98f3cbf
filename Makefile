# SPDX-License-Identifier: MIT
# The front door. `make demo` and `make check` install what is missing of
# their package group, then build with meson in build/.

BUILD ?= build
B ?= emit

.PHONY: all build demo check check-long bench install clean format need-build

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

check:
	@tools/need build demo check vm
	@$(MAKE) --no-print-directory build
	@tools/run-tests $(BUILD)

check-long:
	@tools/need build demo check vm
	@$(MAKE) --no-print-directory build
	@tools/run-tests --long $(BUILD)

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
