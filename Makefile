# make help says what there is.

DATA ?= .touchsync
PORT ?= 8080
# More flags for touchsync up, such as UP="--gateways 2 --committers 2".
UP ?=
# What make bench measures.
BENCH ?= --preset standard
# Arguments of make bench-cores: CORES=--update, CORES="--hot take-preview".
CORES ?=
# How long make chaos lets faults strike (or make fuzz feeds each decoder, then 60 s by default), its seed (drawn and told when there is none), more of its arguments.
SECONDS ?= 600
SEED ?=
CHAOS ?=
# How long make soak lasts, and more of its arguments.
MINUTES ?= 60
SOAK ?=
# How many worlds make simulate runs from SEED on, and how: SIMULATE="--trace", "--history FILE", "--mutant NAME".
SEEDS ?= 1
SIMULATE ?=
# Whose way make walk prints: an event, or http.
EVENT ?= element:transforming
# Folder with conformance suites of others, one folder each.
SUITES ?=
# Cross-module optimisation lets the small byte accessors inline across modules; symbols stay, for backtraces.
RELEASE = deploy/swift-build.sh -c release -Xswiftc -cross-module-optimization

.DEFAULT_GOAL := help
.PHONY: help install build release run stop test test-long test-unit test-simulation simulate test-live test-tsan test-pipeline test-client test-model test-chaos test-hostile test-packaging deb image chaos soak bench bench-cores curves lint format clean conformance fuzz walk

help: ## Say what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: ## Install what is missing (libzmq, libpq, zlib, PostgreSQL 15, python3-venv, openssl), by apt
	@deploy/install.sh

build: install ## Build everything for debugging
	deploy/swift-build.sh

release: install ## Build the programs for use
	$(RELEASE)

run: release ## Build and start everything on http://127.0.0.1:$(PORT); Ctrl-C stops it
	@exec .build/release/touchsync up --port $(PORT) --data $(DATA) $(UP)

stop: ## Stop what make run started elsewhere
	@deploy/stop.sh $(DATA)

PHASES = lint model pure shells simulation live tsan fuzz conformance pipeline client packaging chaos rows hostile

test: install ## Everything that must pass: lint, model, pure, shells, simulation, live, tsan, fuzz, conformance, pipeline, client, packaging, chaos, rows, hostile
	@Tests/run.sh $(PHASES)

test-long: install ## What depends on time beside a busy core, then long drills, for hours: before a piece of work is called done
	@BUSY=1 Tests/run.sh shells live conformance pipeline chaos rows
	@LONG=1 SUITES=$(SUITES) Tests/run.sh model simulation fuzz conformance pipeline client packaging chaos rows hostile timed

test-unit: install ## The quick loop: what needs no socket, process or timer
	@Tests/run.sh pure

test-simulation: install ## Seeded worlds of all cores, and mistakes that must be found in them
	@Tests/run.sh simulation

simulate: ## Run worlds by hand: make simulate SEED=7 (what happened in it: SIMULATE=--trace), or SEEDS=1000
	@swift build --product simulate
	@exec .build/debug/simulate --seed $(or $(SEED),1) --seeds $(SEEDS) $(SIMULATE)

test-live: install ## Tests on a private PostgreSQL
	@Tests/run.sh live

test-tsan: install ## The concurrent modules under the thread sanitizer
	@Tests/run.sh tsan

test-pipeline: install ## The four daemons as processes, driven by real clients (installs Node, Chromium and Firefox too)
	@Tests/run.sh pipeline

test-client: install ## The client for web pages: its core, its types, and the client against the pipeline
	@Tests/run.sh client

test-chaos: install ## The same under each main kind of fault, and rows of the failure matrix
	@Tests/run.sh chaos rows

test-hostile: install ## Strangers against the pipeline, and what a well-behaved app feels of it (as root)
	@Tests/run.sh hostile

test-packaging: install ## What daemons report to systemd, units, rules for Prometheus (as root); make test-long also installs the package
	@Tests/run.sh packaging

deb: release ## Build the Debian package, .build/deb/touchsync_VERSION_amd64.deb
	@deploy/debian/build.sh .build/release

image: deb ## Make an OCI archive of the package without an engine, beside it (as root)
	@deploy/image.sh $$(ls -t .build/deb/touchsync_*_amd64.deb | head -n 1)

chaos: release ## A long storm: make chaos SECONDS=600 SEED=1 CHAOS="--clients 400"
	@Tests/Chaos/run.sh .build/release --seconds $(SECONDS) $(if $(SEED),--seed $(SEED)) $(CHAOS)

soak: release ## An hour of coming and going, and what grows meanwhile: make soak MINUTES=60 SOAK="--seats 120"
	@Tests/Chaos/run.sh .build/release soak --minutes $(MINUTES) $(if $(SEED),--seed $(SEED)) $(SOAK)

test-model: install ## The protocol in every order of its steps, by spin
	@Tests/run.sh model

bench: release ## Measure the pipeline that make run started, then the cores; or only a load: make bench BENCH="--preset lone"
	@.build/release/bench --data $(DATA) $(BENCH)
	@$(if $(filter file,$(origin BENCH)),Tests/Benchmarks/run.sh .build/release)

bench-cores: release ## Count instructions and allocations of each hot core's work; fails when one costs 15 % more
	@Tests/Benchmarks/run.sh .build/release $(CORES)

curves: release ## Draw how cost grows with rooms, members, connections and instances, for Services/PERFORMANCE.md (8 minutes)
	@python3 Tests/Benchmarks/curves.py .build/release Services/plots

walk: install ## Print the files and functions that a record passes: make walk EVENT=element:transforming
	@Tests/Walk/run.sh $(EVENT)

lint: ## Formatting, and who may import what
	@Tests/lint.sh

format: ## Format all sources
	swift format format -i -r Package.swift Services Shared Tests

fuzz: install ## Fuzz each decoder for longer: make fuzz SECONDS=60
	@Tests/Fuzz/run.sh $(if $(filter command,$(firstword $(origin SECONDS))),$(SECONDS),60)

conformance: install ## Run what others wrote to test such servers: make conformance SUITES=DIR
	@Tests/conformance.sh $(SUITES)

clean: ## Remove what was built; data folders stay
	rm -rf .build .build-tsan Tests/*/.build-venv Tests/*/.build-promtool Tests/*/.build-kubectl
