# make help says what there is.

DATA ?= .touchsync
PORT ?= 8080
# More flags for touchsync up, such as UP="--gateways 2 --committers 2".
UP ?=
# What make bench measures.
BENCH ?= --preset standard
# How long make chaos lets faults strike, its seed (drawn and told when there is none), more of its arguments.
SECONDS ?= 600
SEED ?=
CHAOS ?=
# Folder with conformance suites of others, one folder each.
SUITES ?=
# Cross-module optimisation lets the small byte accessors inline across modules; symbols stay, for backtraces.
RELEASE = swift build -c release -Xswiftc -cross-module-optimization

.DEFAULT_GOAL := help
.PHONY: help install build release run stop test test-unit test-live test-tsan test-pipeline test-model test-chaos chaos bench lint format clean conformance

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

test: install ## Everything that must pass: lint, model, unit, live, tsan, pipeline, chaos
	@Tests/run.sh lint model unit live tsan pipeline chaos

test-unit: install ## Tests that need nothing but the package
	@Tests/run.sh unit

test-live: install ## Tests on a private PostgreSQL
	@Tests/run.sh live

test-tsan: install ## The concurrent modules under the thread sanitizer
	@Tests/run.sh tsan

test-pipeline: install ## The four daemons as processes, driven by real clients (installs Node and Chromium too)
	@Tests/run.sh pipeline

test-chaos: install ## The same under each main kind of fault, and rows of the failure matrix
	@Tests/run.sh chaos

chaos: release ## A long storm: make chaos SECONDS=600 SEED=1 CHAOS="--clients 400"
	@Tests/Chaos/run.sh .build/release --seconds $(SECONDS) $(if $(SEED),--seed $(SEED)) $(CHAOS)

test-model: install ## The protocol in every order of its steps, by spin
	@Tests/run.sh model

bench: release ## Measure the pipeline that make run started: make bench BENCH="--preset lone"
	@exec .build/release/touchsync bench --data $(DATA) $(BENCH)

lint: ## Formatting, and who may import what
	@Tests/lint.sh

format: ## Format all sources
	swift format format -i -r Package.swift Services Shared Tests

conformance: ## Run suites of others against our Socket.IO server: make conformance SUITES=DIR
	@Tests/conformance.sh $(SUITES)

clean: ## Remove what was built; data folders stay
	rm -rf .build .build-tsan Tests/PipelineTests/.build-venv Tests/Chaos/.build-venv
