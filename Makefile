# What a newcomer needs: `make run` and `make test`. `make help` lists the rest.
SHELL := /bin/bash
SWIFT ?= swift
TRAITS := --enable-all-traits
# SwiftPM passes traits to the compiler in the order of a set. Unless hashing is deterministic, the order differs between runs, and
# everything is built again.
export SWIFT_DETERMINISTIC_HASHING := 1
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)

# Libraries that the build needs, and programs that only the tests or the benchmarks need.
BUILD_PACKAGES := libcurl4-openssl-dev libssl-dev zlib1g-dev libxml2-dev libpsl-dev libsqlite3-dev libsimdjson-dev \
	libspng-dev libturbojpeg0-dev libwebp-dev libpixman-1-dev pkg-config
TEST_PACKAGES := $(BUILD_PACKAGES) openssl ca-certificates curl gzip groff-base iproute2 util-linux \
	nginx-light apache2-bin libapache2-mod-auth-gssapi krb5-kdc krb5-admin-server krb5-user tinyproxy-bin microsocks nghttp2-server python3-websockets python3-jsonschema
BENCH_PACKAGES := $(BUILD_PACKAGES) nginx-light openssl python3-aiohttp

# Each test target runs in a process of its own: programs that one starts would inherit the sockets of another, and keep
# connections open that a test waits to see closed. They are started without `swift test`, which makes four processes for
# each target and has been seen to wait for ever.
# The longest ones come first, so that none is left over at the end.
TEST_TARGETS := AfarCLITests FuzzTests AfarTests AfarCurlTests NetworkTests
TEST_TARGETS += $(filter-out $(TEST_TARGETS),$(notdir $(wildcard Tests/*Tests)))
TEST_CHECKS := Tests/Rules/check Tests/Openness/check Tests/Site/check Tests/Consumer/check Tests/PluginConsumers/check
SANITIZE = SWIFT="$(SWIFT)" TRAITS="$(TRAITS)" TEST_TARGETS="$(TEST_TARGETS)" Tests/Sanitizers/run

# Installs the Debian packages among $(1) that are missing, and says so. Servers among them are not started as services: what
# asks for that is refused by policy-rc.d.
define install
	@command -v apt-get >/dev/null || exit 0; \
	missing=$$(for package in $(1); do \
	  dpkg-query -W -f='$${Status}' $$package 2>/dev/null | grep -q 'ok installed' || echo $$package; done); \
	if [ -n "$$missing" ]; then \
	  echo "Installing Debian packages that are missing:" $$missing; \
	  policy=/usr/sbin/policy-rc.d; \
	  if [ ! -e $$policy ]; then \
	    trap "$(SUDO) rm -f $$policy" EXIT; \
	    printf '#!/bin/sh\nexit 101\n' | $(SUDO) install -m 755 /dev/stdin $$policy; \
	  fi; \
	  $(SUDO) apt-get update -qq && \
	  $(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing; \
	fi
endef

SWIFT_FILES := Package.swift Sources Plugins Tests Benchmarks

# Where `make install` puts the tool. Root is asked for only where it is needed.
PREFIX ?= /usr/local
AS_OWNER = $(shell mkdir -p "$(PREFIX)" 2>/dev/null && [ -w "$(PREFIX)" ] || echo $(SUDO))
BINARY = $(shell $(SWIFT) build $(TRAITS) -c release --show-bin-path)/afar

# The path of the site that `make docs` builds.
BASE ?= /

.PHONY: help run install test check nightly api-breakage fuzz sanitize sanitize-thread sanitize-address bench bench-serializers bench-images bench-stores bench-websockets autobahn newer-libcurl memcheck soak \
	smoke docs lint format build-packages test-packages bench-packages

help: ## Lists the targets.
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*##/\t/' | expand -t 18

run: build-packages ## Builds the tool and runs its demo against an embedded server.
	$(SWIFT) run $(TRAITS) afar demo

install: build-packages ## Installs the tool with its manual and completions (PREFIX=/usr/local).
	$(SWIFT) build $(TRAITS) -c release --product afar --static-swift-stdlib
	$(AS_OWNER) install -D -s -m 755 $(BINARY) "$(PREFIX)/bin/afar"
	$(AS_OWNER) install -D -m 644 Docs/afar.1 "$(PREFIX)/share/man/man1/afar.1"
	@set -e; shares="bash-completion/completions/afar zsh/site-functions/_afar fish/vendor_completions.d/afar.fish"; \
	for share in $$shares; do \
	  $(BINARY) --generate-completion-script $${share%%[-/]*} | \
	    $(AS_OWNER) install -D -m 644 /dev/stdin "$(PREFIX)/share/$$share"; \
	done

test: test-packages lint ## Checks the format and the wording, then runs all tests. One target: TEST_TARGETS=AfarCoreTests.
	$(SWIFT) build $(TRAITS) --build-tests
	@Tests/run --bundle "$$($(SWIFT) build $(TRAITS) --show-bin-path)/AfarPackageTests.xctest" --jobs 2 \
	  $(TEST_CHECKS:%=--check %) $(TEST_TARGETS)

check: test-packages ## Checks what has changed since a commit (SINCE=origin/main): format, wording, tests of what depends on it.
	@SWIFT="$(SWIFT)" TRAITS="$(TRAITS)" Tests/check $(SINCE)

nightly: ## Runs everything that takes hours: fuzzers, sanitizers, soak, other libcurl versions, Autobahn, docs, API breakage.
	@SWIFT="$(SWIFT)" Tests/nightly

api-breakage: ## Compares the public API with the last release.
	@SWIFT="$(SWIFT)" TRAITS="$(TRAITS)" Tests/APIBreakage/check

fuzz: build-packages ## Feeds 100,000 changed inputs to each parser (AFAR_FUZZ=1000, ARGS="json" for less).
	$(SWIFT) build $(TRAITS) -c release --product AfarFuzz
	@$$($(SWIFT) build $(TRAITS) -c release --show-bin-path)/AfarFuzz $(ARGS)

sanitize: sanitize-thread sanitize-address ## Runs all tests under the two sanitizers below.

sanitize-thread: test-packages bench-packages ## Runs all tests, and a storm of requests, under the thread sanitizer.
	$(SANITIZE) thread
	$(SWIFT) build --package-path Benchmarks --sanitize=thread --scratch-path .build-thread/benchmarks --product Soak
	@TSAN_OPTIONS=suppressions=Tests/Sanitizers/thread.txt .build-thread/benchmarks/debug/Soak --only Storm --scale 0.1

sanitize-address: test-packages ## Runs all tests under the address and leak sanitizers.
	$(SANITIZE) address

bench: bench-packages ## Compares the speed with other clients and writes Docs/Performance.md (ARGS="--help" tells more).
	$(SWIFT) build --package-path Benchmarks -c release
	@Benchmarks/.build/release/Bench $(ARGS)

bench-serializers: bench-packages ## Compares XML, text and JSON with libxml2 in C, XMLCoder, Foundation and CPython (ARGS="XML decode").
	$(SWIFT) build --package-path Benchmarks -c release --product SerializerBench
	@Benchmarks/.build/release/SerializerBench $(ARGS)

bench-images: bench-packages ## Compares thumbnails of a photograph with Python's Pillow, from PyPI.
	$(call install,python3-venv)
	$(SWIFT) build --package-path Benchmarks -c release --product ImageBench
	@Benchmarks/Images/run

bench-stores: bench-packages ## Measures requests that caches answer, in memory and on disk, and the look-up of cookies.
	$(SWIFT) build --package-path Benchmarks -c release --product StoreBench
	@Benchmarks/.build/release/StoreBench

bench-websockets: bench-packages ## Compares messages a second over one WebSocket with Python's aiohttp.
	$(SWIFT) build --package-path Benchmarks -c release --product WebSocketBench
	@Benchmarks/.build/release/WebSocketBench

autobahn: build-packages ## Has the WebSockets tested by Autobahn's fuzzing server (ARGS=--quick for less).
	Tests/Autobahn/run $(ARGS)

newer-libcurl: test-packages ## Runs the conformance suite, the faults and tests of HTTP/2 and TLS over the libcurl in PyPI's pycurl.
	$(call install,python3-venv)
	Tests/NewerLibcurl/run

memcheck: test-packages ## Runs tests of HTTP/1.1 under valgrind, which sees into libcurl too (takes minutes).
	$(call install,valgrind gcc libc6-dev binutils)
	SWIFT="$(SWIFT)" Tests/Memcheck/run

soak: bench-packages ## Makes 1.6 million requests, a storm of them too, and looks for leaks (ARGS="--scale 0.01" for a look).
	$(SWIFT) build --package-path Benchmarks -c release --product Soak
	@Benchmarks/.build/release/Soak $(ARGS)

smoke: bench-packages ## Builds the benchmarks and the soak, and takes a short look at whether they run.
	$(SWIFT) build --package-path Benchmarks -c release
	@Benchmarks/.build/release/Bench --quick --only tiny-1
	@Benchmarks/.build/release/Soak --scale 0.01

docs: build-packages ## Builds the reference and the guides as a site in .build/docs (BASE=/afar for the path it will have).
	$(call install,python3)
	SWIFT="$(SWIFT)" Docs/Site/build --base "$(BASE)"

lint: ## Checks the format of all Swift files, and the wording of comments, guides and messages.
	$(call install,python3)
	$(SWIFT) format lint --strict --recursive $(SWIFT_FILES)
	@Tests/Prose/check

format: ## Formats all Swift files.
	$(SWIFT) format --in-place --recursive $(SWIFT_FILES)

build-packages:
	$(call install,$(BUILD_PACKAGES))

test-packages:
	$(call install,$(TEST_PACKAGES))

bench-packages:
	$(call install,$(BENCH_PACKAGES))
