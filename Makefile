# Everything that is done to this project. `make` lists it.
#
# Needs Go and GNU make 4. Developer tools are pinned in tools/go.mod and
# tools/buf/go.mod and built on first use into .tmp/bin; nothing is installed.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.ONESHELL:
.DELETE_ON_ERROR:
.SUFFIXES:
.DEFAULT_GOAL := help
MAKEFLAGS += --warn-undefined-variables --no-builtin-rules

GO ?= go
# How long each fuzz target runs, and which run (a regular expression).
FUZZTIME ?= 60s
FUZZ ?= .
# Which benchmarks run, and how often.
BENCH ?= .
BENCHCOUNT ?= 1
# How long the soak takes.
SOAK ?= 10m
# Which clients run, by folder of clients/; empty: all whose tools are installed.
CLIENTS ?=
PKG ?= ./...
# Over how many rounds `make bench` takes its medians, and which workloads it runs.
ROUNDS ?= 5
ONLY ?= .
# How many contracts `make bench-start` starts with.
MANY ?= 10000
HALLMARK_TEST_POSTGRES ?=
RATIOS := ./validators/schema ./gate ./policy ./audit/sqlite $(if $(HALLMARK_TEST_POSTGRES),./audit/postgres)
# A commit whose recorded promise `make breaking` keeps too, such as origin/main.
BREAKING_AGAINST ?=
# Where the public test suites lie; tests look here first.
HALLMARK_SHARED ?= $(abspath $(CURDIR)/../shared)

BIN := .tmp/bin
BUF := $(BIN)/buf
PLUGINS := $(BIN)/protoc-gen-go $(BIN)/protoc-gen-go-grpc
VALIDATE_PROTO := .tmp/deps/protovalidate/buf/validate/validate.proto
LANDED := tools/breaking/landed.binpb
REPORT := $(GO) run tools/testreport/main.go

.PHONY: help
help: ## list what can be made
	@awk -F ':.*## ' '/^[a-z][a-z-]*:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' Makefile

# ---- the service ------------------------------------------------------------

.PHONY: build
build: ## bin/hallmark
	$(GO) build -trimpath -o bin/hallmark ./cmd/hallmark

.PHONY: demo
demo: build ## what tools might return, through real gRPC, both views side by side
	$(GO) run ./cmd/demo

.PHONY: run
run: build ## serve in the foreground on 127.0.0.1:7443; stop with ctrl-c
	@cat <<-'EOF'
	Paste into another terminal (make grpcurl builds bin/grpcurl once):

	  bin/grpcurl -plaintext -d '{"request": {"tool": "deploy_status", "request_id": "req.D1e2P3l4", "arguments_json": "{\"environment\":\"staging\"}"}, "raw_text": "{\"environment\":\"staging\",\"revision\":\"a83f19c\",\"state\":\"healthy\"}"}' 127.0.0.1:7443 hallmark.v1.GateService/Validate

	EOF
	exec bin/hallmark serve --contracts contracts --policies policies --data data

.PHONY: grpcurl
grpcurl: ## bin/grpcurl, for looking at a running service
	$(GO) -C tools build -o ../bin/grpcurl github.com/fullstorydev/grpcurl/cmd/grpcurl

# ---- tests ------------------------------------------------------------------

.PHONY: test
test: ## all that needs no more than Go; says what was skipped and why
	@$(GO) test -json ./... | $(REPORT)

.PHONY: race
race: ## the same under the race detector (needs cgo)
	@$(GO) test -race -json ./... | $(REPORT)

.PHONY: test-tools
test-tools: ## the tests of what lies under tools/
	$(GO) -C tools test ./...

.PHONY: conformance
conformance: ## the public suites, whole; absent data is a failure
	@test -d "$(HALLMARK_SHARED)/corpora" || {
		echo "conformance: no suites at $(HALLMARK_SHARED)/corpora; set HALLMARK_SHARED" >&2
		exit 1
	}
	HALLMARK_SHARED="$(HALLMARK_SHARED)" $(GO) test -json -count=1 -run Conformance ./... | $(REPORT) -strict

.PHONY: clients
clients: build $(VALIDATE_PROTO) ## a client in each language against a service of its own; CLIENTS="go java" chooses
	$(GO) run ./clients/harness $(CLIENTS)

.PHONY: contracts
contracts: ## lint the shipped contracts and run their cases
	$(GO) run ./cmd/hallmark check contracts

.PHONY: fuzz
fuzz: ## every fuzz target for FUZZTIME (60s) each; FUZZ=regexp selects
	@GO="$(GO)" FUZZTIME="$(FUZZTIME)" FUZZ="$(FUZZ)" tools/fuzz.sh

.PHONY: faults
faults: ## the real binary killed, its disk full, its database gone; up to 8 minutes
	HALLMARK_FAULTS=full $(GO) test -json -count=1 -timeout 15m ./faulttest | $(REPORT)

# Loads on loopback and gives way to everything else that runs here.
.PHONY: fleet
fleet: ## replicas behind nginx and round robin, overload, drain; up to 6 minutes
	HALLMARK_FLEET=full nice -n 5 $(GO) test -json -count=1 -timeout 15m ./fleettest | $(REPORT)

.PHONY: soak
soak: ## a mix of calls for SOAK (10m) on each store; prints what it took
	HALLMARK_SOAK="$(SOAK)" nice -n 5 $(GO) test -v -count=1 -timeout 0 -run '^TestSoak$$' ./fleettest

.PHONY: deploy-check
deploy-check: $(BIN)/grpcurl ## deploy/ as far as this machine can; says what it left out
	@GO="$(GO)" tools/deploy-check.sh

.PHONY: bench
bench: build ## what a call costs beside a bare echo and the library: name value goal (minutes)
	@mkdir -p .tmp/bench
	$(GO) build -o .tmp/bench/ ./bench/...
	.tmp/bench/ratios -hallmark bin/hallmark -echo .tmp/bench/echo -load .tmp/bench/load -rounds $(ROUNDS) -only '$(ONLY)'
	for package in $(RATIOS); do
		$(GO) test -run '^$$' -bench '^Benchmark(Ratio|Growth|Compile)$$' -benchtime 1x $$package | awk -f bench/lines.awk
	done

# Needs memory: 5 GB for 10,000.
.PHONY: bench-start
bench-start: build ## start and reload with MANY (10,000) contracts, each with its cases; minutes
	@mkdir -p .tmp/bench
	$(GO) build -o .tmp/bench/ ./bench/...
	.tmp/bench/ratios -hallmark bin/hallmark -many $(MANY)

.PHONY: bench-go
bench-go: ## every Go benchmark; BENCH=regexp and PKG=package select, BENCHCOUNT repeats
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem -count $(BENCHCOUNT) $(PKG)

# ---- judgement of sources ---------------------------------------------------

.PHONY: check
check: lint check-generate breaking tidy-check test-tools test ## what a change must pass before it lands

.PHONY: lint
lint: lint-format lint-go lint-proto archtest ## every linter below

.PHONY: lint-format
lint-format: $(BIN)/gofumpt ## gofumpt, without changing anything
	@wrong=$$($(BIN)/gofumpt -l .)
	test -z "$$wrong" || {
		echo "not formatted, run make format:" >&2
		echo "$$wrong" >&2
		exit 1
	}

.PHONY: format
format: $(BIN)/gofumpt ## gofumpt, in place
	$(BIN)/gofumpt -w .

# gen is left to its generators: its comments are those of proto/, which buf judges.
.PHONY: lint-go
lint-go: $(BIN)/staticcheck ## go vet and staticcheck, all checks on
	$(GO) vet ./...
	$(GO) -C tools vet ./...
	$(BIN)/staticcheck $$($(GO) list ./... | grep -v '/gen/')
	cd tools && ../$(BIN)/staticcheck ./...

.PHONY: lint-proto
lint-proto: $(BUF) $(VALIDATE_PROTO) ## buf: STANDARD and COMMENTS
	$(BUF) lint

.PHONY: archtest
archtest: ## which package may import which, and the budgets
	$(GO) test ./internal/archtest

.PHONY: tidy-check
tidy-check: ## go.mod files say exactly what the sources need
	$(GO) mod tidy -diff
	$(GO) -C tools mod tidy -diff
	$(GO) -C tools/buf mod tidy -diff

.PHONY: vuln
vuln: $(BIN)/govulncheck ## known vulnerabilities that our code reaches (needs the network)
	$(BIN)/govulncheck ./...

# ---- the wire promise -------------------------------------------------------

.PHONY: generate
generate: $(BUF) $(PLUGINS) $(VALIDATE_PROTO) ## gen/ from proto/, offline
	$(BUF) generate

# The answer is a difference, not a changed tree: generated beside gen, then compared
# both ways, so that a file too many is found like one too few.
.PHONY: check-generate
check-generate: $(BUF) $(PLUGINS) $(VALIDATE_PROTO) ## gen/ is exactly what proto/ says
	@rm -rf .tmp/check-generate
	$(BUF) generate -o .tmp/check-generate
	diff -r -u gen .tmp/check-generate/gen || {
		echo "check-generate: gen differs from proto; run make generate and commit" >&2
		exit 1
	}
	echo "check-generate: gen is what proto says"

# The last landed promise is recorded as an image in the tree, so that this needs no
# git history. The record must be current, so that the next change is held to it.
.PHONY: breaking
breaking: $(BUF) $(VALIDATE_PROTO) ## proto/ keeps every promise recorded (buf: FILE)
	@$(BUF) breaking proto --against $(LANDED)
	if [ -n "$(BREAKING_AGAINST)" ]; then
		git show "$(BREAKING_AGAINST):$(LANDED)" >.tmp/against.binpb
		$(BUF) breaking proto --against .tmp/against.binpb
	fi
	$(BUF) build $(LANDED) --exclude-source-info --exclude-imports -o .tmp/landed.binpb
	$(BUF) build proto --exclude-source-info --exclude-imports -o .tmp/proposed.binpb
	cmp -s .tmp/landed.binpb .tmp/proposed.binpb || {
		echo "breaking: proto promises more than is recorded; run make breaking-record and commit" >&2
		exit 1
	}
	echo "breaking: every promise is kept and recorded"

.PHONY: breaking-record
breaking-record: $(BUF) $(VALIDATE_PROTO) ## record what proto/ promises now; refused if it breaks
	@if [ -e $(LANDED) ]; then $(BUF) breaking proto --against $(LANDED); fi
	$(BUF) build proto --exclude-source-info -o $(LANDED)

# ---- tools ------------------------------------------------------------------

$(BUF): tools/buf/go.mod tools/buf/go.sum
	@echo "building buf, once: this takes minutes"
	$(GO) -C tools/buf build -o "$(CURDIR)/$@" github.com/bufbuild/buf/cmd/buf
	touch $@

# Each tool's package is the tool directive of tools/go.mod that ends in its name.
$(PLUGINS) $(BIN)/staticcheck $(BIN)/gofumpt $(BIN)/govulncheck $(BIN)/grpcurl: tools/go.mod tools/go.sum
	@package=$$(awk -v name="$(@F)" '$$1 ~ ("/" name "$$") && NF == 1 { print $$1 }' tools/go.mod)
	$(GO) -C tools build -o "$(CURDIR)/$@" "$$package"
	touch $@

$(VALIDATE_PROTO): tools/go.mod tools/go.sum tools/validateproto/main.go
	@$(GO) -C tools run ./validateproto -out "$(CURDIR)/.tmp/deps/protovalidate"
	touch $@

.PHONY: clean
clean: ## remove what was built; tools are kept
	rm -rf bin .tmp/check-generate .tmp/*.binpb
