# To get started, use `make run` and `make test`. `make help` lists all targets.
SHELL := /bin/bash
SWIFT ?= swift
# The options of all builds, which share a folder. Debug information about types, which only debuggers use, is left out, and the compiler
# gets larger batches, which saves time. SwiftPM needs the index to find tests.
OPTIONS := --enable-all-traits -Xswiftc -gline-tables-only -Xswiftc -driver-batch-size-limit -Xswiftc 100
# SwiftPM passes traits to the compiler in the order of a set. Without deterministic hashing, the order varies between runs and causes
# full rebuilds.
export SWIFT_DETERMINISTIC_HASHING := 1
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)

# The Debian packages for the build, the tests and the benchmarks.
BUILD_PACKAGES := libcurl4-openssl-dev libssl-dev zlib1g-dev libxml2-dev libpsl-dev libnghttp2-dev libsqlite3-dev libsimdjson-dev \
	libspng-dev libturbojpeg0-dev libwebp-dev libpixman-1-dev libbrotli-dev libzstd-dev pkg-config
TEST_PACKAGES := $(BUILD_PACKAGES) openssl ca-certificates curl gzip groff-base iproute2 util-linux \
	nginx-light apache2-bin libapache2-mod-auth-gssapi httpie krb5-kdc krb5-admin-server krb5-user tinyproxy-bin microsocks nghttp2-server nghttp2-proxy golang-go python3-authlib python3-cryptography python3-dnslib python3-flask python3-h2 python3-websockets python3-jsonschema unbound
BENCH_PACKAGES := $(BUILD_PACKAGES) nginx-light nghttp2-server nghttp2-client openssl python3-aiohttp

# Each test target runs in its own process. Otherwise, programs that one target starts would inherit the sockets of another, and keep
# connections open that tests expect to be closed. `swift test` isn't used, because it starts four processes for each target and
# sometimes hangs. The longest targets come first, so that none runs alone at the end.
TEST_TARGETS := AfarCLITests FuzzTests AfarTests AfarCurlTests FaultTests NetworkTests AfarDiskCacheTests AfarXMLTests
TEST_TARGETS += $(filter-out $(TEST_TARGETS),$(notdir $(wildcard Tests/*Tests)))
TEST_CHECKS := Tests/Rules/check Tests/Openness/check Tests/Site/check Tests/Consumer/check Alamofire/check Tests/PluginConsumers/check \
	Tests/WithoutHTTP2/check
SANITIZE = SWIFT="$(SWIFT)" OPTIONS="$(OPTIONS)" TEST_TARGETS="$(TEST_TARGETS)" Tests/Sanitizers/run

# Installs the missing Debian packages of $(1). policy-rc.d prevents servers among them from being started as services.
define install
	@command -v apt-get >/dev/null || exit 0; \
	missing=$$(for package in $(1); do \
	  dpkg-query -W -f='$${Status}' $$package 2>/dev/null | grep -q 'ok installed' || echo $$package; done); \
	if [ -n "$$missing" ]; then \
	  echo "Installing missing Debian packages:" $$missing; \
	  policy=/usr/sbin/policy-rc.d; \
	  if [ ! -e $$policy ]; then \
	    trap "$(SUDO) rm -f $$policy" EXIT; \
	    printf '#!/bin/sh\nexit 101\n' | $(SUDO) install -m 755 /dev/stdin $$policy; \
	  fi; \
	  $(SUDO) apt-get update -qq && \
	  $(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing; \
	fi
endef

SWIFT_FILES := Package.swift Alamofire Sources Plugins Tests Benchmarks

# The destination of `make install`. sudo is used only if it isn't writable.
PREFIX ?= /usr/local
AS_OWNER = $(shell mkdir -p "$(PREFIX)" 2>/dev/null && [ -w "$(PREFIX)" ] || echo $(SUDO))
BINARY = $(shell $(SWIFT) build $(OPTIONS) -c release --show-bin-path)/afar

# The base path of the site that `make docs` builds.
BASE ?= /

.PHONY: help options run install test check nightly api-breakage fuzz sanitize sanitize-thread sanitize-address bench counts bench-serializers bench-images bench-tool bench-stores bench-websockets bench-resilience bench-downloads large-downloads autobahn hummingbird newer-libcurl uri-templates curl-commands resumable-uploads oauth signatures memcheck soak \
	smoke docs lint format build-packages test-packages bench-packages

help: ## Lists the targets.
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*##/\t/' | expand -t 18

options: ## Prints the options of all builds.
	@echo $(OPTIONS)

run: build-packages ## Builds the tool and runs its demo against an embedded server.
	$(SWIFT) run $(OPTIONS) afar demo

install: build-packages ## Installs the tool with its manual and completions (PREFIX=/usr/local).
	$(SWIFT) build $(OPTIONS) -c release --product afar --static-swift-stdlib
	$(AS_OWNER) install -D -s -m 755 $(BINARY) "$(PREFIX)/bin/afar"
	$(AS_OWNER) install -D -m 644 Docs/afar.1 "$(PREFIX)/share/man/man1/afar.1"
	@set -e; shares="bash-completion/completions/afar zsh/site-functions/_afar fish/vendor_completions.d/afar.fish"; \
	for share in $$shares; do \
	  $(BINARY) --generate-completion-script $${share%%[-/]*} | \
	    $(AS_OWNER) install -D -m 644 /dev/stdin "$(PREFIX)/share/$$share"; \
	done

test: test-packages lint ## Checks the format and the wording, then runs all tests (TEST_TARGETS=AfarCoreTests for one target).
	$(SWIFT) build $(OPTIONS) --build-tests
	@Tests/run --bundle "$$($(SWIFT) build $(OPTIONS) --show-bin-path)/AfarPackageTests.xctest" --jobs 2 \
	  $(TEST_CHECKS:%=--check %) $(TEST_TARGETS)

check: test-packages ## Checks the changes since a commit (SINCE=origin/main): format, wording, and tests of affected targets.
	@SWIFT="$(SWIFT)" OPTIONS="$(OPTIONS)" Tests/check $(SINCE)

nightly: ## Runs all slow checks: fuzzers, sanitizers, soak, other libcurl versions, Autobahn, Hummingbird, docs, API breakage.
	@SWIFT="$(SWIFT)" Tests/nightly

api-breakage: ## Compares the public API with the last release.
	@SWIFT="$(SWIFT)" OPTIONS="$(OPTIONS)" Tests/APIBreakage/check

fuzz: build-packages ## Runs each parser with 100,000 mutated inputs (AFAR_FUZZ=1000 or ARGS="json" for fewer).
	$(SWIFT) build $(OPTIONS) -c release --product AfarFuzz
	@$$($(SWIFT) build $(OPTIONS) -c release --show-bin-path)/AfarFuzz $(ARGS)

sanitize: sanitize-thread sanitize-address ## Runs all tests under the two sanitizers below.

sanitize-thread: test-packages bench-packages ## Runs all tests and a storm of requests under the thread sanitizer.
	$(SANITIZE) thread
	$(SWIFT) build --package-path Benchmarks --sanitize=thread --scratch-path .build-thread/benchmarks --product Soak
	@TSAN_OPTIONS=suppressions=Tests/Sanitizers/thread.txt .build-thread/benchmarks/debug/Soak --only Storm --scale 0.1

sanitize-address: test-packages ## Runs all tests under the address and leak sanitizers.
	$(SANITIZE) address

bench: bench-packages ## Compares the speed with other clients and writes Docs/Performance.md (ARGS="--help" for options).
	$(call install,golang-go valgrind)
	$(SWIFT) build --package-path Benchmarks -c release
	@Benchmarks/.build/release/Bench $(ARGS)

counts: bench-packages ## Counts instructions and allocations per request, and compares them with Benchmarks/counts.json (ARGS=--write).
	$(call install,valgrind)
	$(SWIFT) build --package-path Benchmarks -c release
	@Benchmarks/.build/release/Bench --counts $(ARGS)

bench-serializers: bench-packages ## Compares XML, text and JSON with libxml2 in C, XMLCoder, Foundation and CPython (ARGS="XML decode").
	$(SWIFT) build --package-path Benchmarks -c release --product SerializerBench
	@Benchmarks/.build/release/SerializerBench $(ARGS)

bench-images: bench-packages ## Compares thumbnails of a photograph with Python's Pillow, from PyPI.
	$(call install,python3-venv)
	$(SWIFT) build --package-path Benchmarks -c release --product ImageBench
	@Benchmarks/Images/run

bench-tool: build-packages ## Compares the processor time of afar's start and of one request with curl and HTTPie.
	$(call install,hyperfine httpie curl python3)
	$(SWIFT) build $(OPTIONS) -c release --product afar --static-swift-stdlib
	@Benchmarks/Tool/run $(BINARY)

bench-stores: bench-packages ## Measures responses from caches in memory and on disk, and the lookup of cookies.
	$(SWIFT) build --package-path Benchmarks -c release --product StoreBench
	@Benchmarks/.build/release/StoreBench

bench-websockets: bench-packages ## Compares the messages per second over one WebSocket with Python's aiohttp.
	$(SWIFT) build --package-path Benchmarks -c release --product WebSocketBench
	@Benchmarks/.build/release/WebSocketBench

bench-resilience: bench-packages ## Measures hedging, retry budgets and circuit breakers with a flaky server (ARGS="--quick", ARGS=--write).
	$(SWIFT) build --package-path Benchmarks -c release --product ResilienceBench
	@Benchmarks/.build/release/ResilienceBench $(ARGS)

bench-downloads: bench-packages ## Compares one request with four parallel requests to nginx, which is limited to 20 MB/s per request (ARGS=--quick).
	$(SWIFT) build --package-path Benchmarks -c release --product DownloadBench
	@Benchmarks/.build/release/DownloadBench $(ARGS)

large-downloads: test-packages ## Downloads 1 GiB in parallel from a server that interrupts 20 responses.
	$(SWIFT) build $(OPTIONS) --build-tests
	@AFAR_DOWNLOAD_MIB=1024 AFAR_DOWNLOAD_CUTS=20 "$$($(SWIFT) build $(OPTIONS) --show-bin-path)/AfarPackageTests.xctest" \
	  --testing-library swift-testing --filter 'ParallelDownloadFailureTests/lostConnectionsAreResumed'

autobahn: build-packages ## Tests WebSockets with Autobahn's fuzzing server (ARGS=--quick for fewer cases).
	Tests/Autobahn/run $(ARGS)

hummingbird: test-packages ## Tests HTTP/2 with Hummingbird, a server that uses SwiftNIO (takes minutes to build).
	Tests/HummingbirdPeer/check

newer-libcurl: test-packages ## Runs the conformance suite, the fault tests and tests of HTTP/2 and TLS with the libcurl in PyPI's pycurl.
	$(call install,python3-venv)
	Tests/NewerLibcurl/run

curl-commands: test-packages ## Compares all curl commands of the tests with curl.
	$(SWIFT) build $(OPTIONS) --build-tests
	@AFAR_CURL_COMMANDS=all "$$($(SWIFT) build $(OPTIONS) --show-bin-path)/AfarPackageTests.xctest" \
	  --testing-library swift-testing --filter 'CurlDifferenceTests'

uri-templates: ## Compares the table of expanded URI templates with PyPI's uritemplate (ARGS=--write to replace the table).
	$(call install,python3-venv)
	@python3 -m venv .build/uri-templates && .build/uri-templates/bin/pip -q install uritemplate==4.2.0
	@.build/uri-templates/bin/python Tests/AfarAPITests/uri-templates.py $(ARGS)

oauth: test-packages ## Tests OAuth with PyPI's authgent-server.
	$(call install,python3-venv)
	@SWIFT="$(SWIFT)" OPTIONS="$(OPTIONS)" Tests/AfarOAuthTests/run

resumable-uploads: test-packages ## Tests uploads with PyPI's resumable-upload, with SwiftNIO, and with 1 GiB and 20 cuts (AFAR_UPLOAD_MEBIBYTES=32).
	$(call install,python3-venv)
	@SWIFT="$(SWIFT)" OPTIONS="$(OPTIONS)" Tests/AfarResumableUploadsTests/run
	@Tests/NIOUploadPeer/check

signatures: test-packages ## Compares 10,000 signatures with PyPI's botocore, and 1,000 with http-message-signatures (AFAR_SIGNATURES=1000).
	$(SWIFT) build $(OPTIONS) --build-tests
	@AFAR_SIGNATURES=$${AFAR_SIGNATURES:-10000} "$$($(SWIFT) build $(OPTIONS) --show-bin-path)/AfarPackageTests.xctest" \
	  --testing-library swift-testing --filter 'AfarSignaturesTests.*InteroperabilityTests'

memcheck: test-packages ## Runs tests of HTTP/1.1 under valgrind, which also checks libcurl (takes minutes).
	$(call install,valgrind gcc libc6-dev binutils)
	SWIFT="$(SWIFT)" Tests/Memcheck/run

soak: bench-packages ## Sends 2.4 million requests, some of them in a storm, and detects leaks (ARGS="--scale 0.01" for fewer).
	$(SWIFT) build --package-path Benchmarks -c release --product Soak
	@Benchmarks/.build/release/Soak $(ARGS)

smoke: bench-packages ## Builds the benchmarks and the soak, and runs them briefly.
	$(SWIFT) build --package-path Benchmarks -c release
	@Benchmarks/.build/release/Bench --quick --only tiny-1
	@Benchmarks/.build/release/DownloadBench --quick
	@Benchmarks/.build/release/Soak --scale 0.01

docs: build-packages ## Builds the reference and the guides as a site in .build/docs (BASE=/afar for another base path).
	$(call install,python3)
	SWIFT="$(SWIFT)" Docs/Site/build --base "$(BASE)"

lint: ## Checks the format of all Swift files, and the wording of comments, guides and messages.
	$(call install,python3)
	$(SWIFT) format lint --strict --parallel --recursive $(SWIFT_FILES)
	@Tests/Prose/check

format: ## Formats all Swift files.
	$(SWIFT) format --in-place --parallel --recursive $(SWIFT_FILES)

build-packages:
	$(call install,$(BUILD_PACKAGES))

test-packages: .build/signing-peer/complete
	$(call install,$(TEST_PACKAGES))

# botocore and http-message-signatures, with which the tests of AfarSignatures compare signatures. Without PyPI, these tests are skipped.
.build/signing-peer/complete: Tests/AfarSignaturesTests/requirements.txt
	$(call install,python3-venv)
	@rm -rf .build/signing-peer && mkdir -p .build && python3 -m venv .build/signing-peer
	@if .build/signing-peer/bin/python -m pip install -q --no-deps -r $<; then touch $@; else \
	  rm -rf .build/signing-peer; echo "The packages in $< can't be installed. Tests that need them are skipped."; fi

bench-packages:
	$(call install,$(BENCH_PACKAGES))
