# make help says what there is.

DATA ?= .touchsync
PORT ?= 8080
# More flags for touchsync up, such as UP="--gateways 2 --committers 2".
UP ?=
# What make bench measures.
BENCH ?= --preset standard
# Which worlds make simulate runs, and how: SIMULATE="--trace", "--history FILE", "--mutant NAME".
SEED ?= 1
SEEDS ?= 1
SIMULATE ?=
# Folder with conformance suites of others, one folder each.
SUITES ?=
# Cross-module optimisation lets the small byte accessors inline across modules; symbols stay, for backtraces.
RELEASE = swift build -c release -Xswiftc -cross-module-optimization

.DEFAULT_GOAL := help
.PHONY: help install build release run stop test test-unit test-simulation simulate test-live test-tsan test-pipeline bench lint format clean conformance

help: ## Say what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: ## Install what is missing (libzmq, libpq, PostgreSQL 15, python3-venv), by apt
	@deploy/install.sh

build: install ## Build everything for debugging
	swift build

release: install ## Build the programs for use
	$(RELEASE)

run: release ## Build and start everything on http://127.0.0.1:$(PORT); Ctrl-C stops it
	@exec .build/release/touchsync up --port $(PORT) --data $(DATA) $(UP)

stop: ## Stop what make run started elsewhere
	@deploy/stop.sh $(DATA)

test: install ## Everything that must pass: lint, unit, simulation, live, tsan, pipeline
	@Tests/run.sh lint unit simulation live tsan pipeline

test-unit: install ## Tests that need nothing but the package
	@Tests/run.sh unit

test-simulation: install ## Seeded worlds of all cores, and mistakes that must be found in them
	@Tests/run.sh simulation

simulate: ## Run worlds by hand: make simulate SEED=7 (what happened in it: SIMULATE=--trace), or SEEDS=1000
	@swift build --product simulate
	@exec .build/debug/simulate --seed $(SEED) --seeds $(SEEDS) $(SIMULATE)

test-live: install ## Tests on a private PostgreSQL
	@Tests/run.sh live

test-tsan: install ## The concurrent modules under the thread sanitizer
	@Tests/run.sh tsan

test-pipeline: install ## The four daemons as processes, driven by python-socketio
	@Tests/run.sh pipeline

bench: release ## Measure the pipeline that make run started: make bench BENCH="--preset lone"
	@exec .build/release/touchsync bench --data $(DATA) $(BENCH)

lint: ## Formatting, and who may import what
	@Tests/lint.sh

format: ## Format all sources
	swift format format -i -r Package.swift Services Shared Tests

conformance: ## Run suites of others against our Socket.IO server: make conformance SUITES=DIR
	@Tests/conformance.sh $(SUITES)

clean: ## Remove what was built; data folders stay
	rm -rf .build .build-tsan Tests/PipelineTests/.build-venv
