# What a newcomer needs: `make run` and `make test`. `make help` lists the rest.
SHELL := /bin/bash
SWIFT ?= swift
TRAITS := --enable-all-traits
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)

# Libraries that the build needs, and programs that only the tests or the benchmarks need.
BUILD_PACKAGES := libcurl4-openssl-dev pkg-config
TEST_PACKAGES := $(BUILD_PACKAGES) openssl ca-certificates curl
BENCH_PACKAGES := $(BUILD_PACKAGES) nginx-light

# Each test target runs in a process of its own: programs that one starts would inherit the sockets of another, and keep
# connections open that a test waits to see closed.
TEST_TARGETS := $(notdir $(wildcard Tests/*Tests))

# Installs the Debian packages among $(1) that are missing, and says so.
define install
	@command -v apt-get >/dev/null || exit 0; \
	missing=$$(for package in $(1); do \
	  dpkg-query -W -f='$${Status}' $$package 2>/dev/null | grep -q 'ok installed' || echo $$package; done); \
	if [ -n "$$missing" ]; then \
	  echo "Installing Debian packages that are missing:" $$missing; \
	  $(SUDO) apt-get update -qq && \
	  DEBIAN_FRONTEND=noninteractive $(SUDO) apt-get install -y -qq --no-install-recommends $$missing; \
	fi
endef

SWIFT_FILES := Package.swift Sources Tests Benchmarks

.PHONY: help run test bench lint format build-packages test-packages bench-packages

help: ## Lists the targets.
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*##/\t/' | expand -t 12

run: build-packages ## Builds the tool and runs its demo against an embedded server.
	$(SWIFT) run $(TRAITS) afar demo

test: test-packages lint ## Checks the format, then runs all tests.
	$(SWIFT) build $(TRAITS) --build-tests
	@set -e; for target in $(TEST_TARGETS); do \
	  echo "== $$target"; $(SWIFT) test $(TRAITS) --skip-build --filter "^$$target\."; done
	Tests/Consumer/check

bench: bench-packages ## Compares the speed with other clients (ARGS="--help" tells more).
	$(SWIFT) build --package-path Benchmarks -c release
	@Benchmarks/.build/release/Bench $(ARGS)

lint: ## Checks the format of all Swift files.
	$(SWIFT) format lint --strict --recursive $(SWIFT_FILES)

format: ## Formats all Swift files.
	$(SWIFT) format --in-place --recursive $(SWIFT_FILES)

build-packages:
	$(call install,$(BUILD_PACKAGES))

test-packages:
	$(call install,$(TEST_PACKAGES))

bench-packages:
	$(call install,$(BENCH_PACKAGES))
