# Two commands matter: `make demo` and `make test`. Both do all set-up first.

SHELL := /bin/sh
VENV := .venv
BIN := $(VENV)/bin
STAMPS := .setup
AGENT := agent/target/release/tierlab-agent
PLUGIN := agent/target/release/tierlab-cache.so
APP := apps/rubbos/target/rubbos.jar
SHOP := apps/shop/node_modules/.package-lock.json
KERNELS := apps/kernels/target/release/tierlab-kernels
WHEELS := dist
RUN := runs/picture/demo/001
# One before and one after Debian 12's.
POSTGRESQLS := $(STAMPS)/postgresql-13.18.0.txz $(STAMPS)/postgresql-18.3.0.txz

# Modules are compiled when they are first imported, and kept: the run has no use for most of what pip
# installs, and compiling all of it takes longer than installing it.
export PYTHONDONTWRITEBYTECODE :=
PIP := $(BIN)/pip -q --disable-pip-version-check
# For one that lives for seconds.
QUICK_JVM := -XX:TieredStopAtLevel=1 -XX:+UseSerialGC

.DEFAULT_GOAL := help
.PHONY: help demo test test-environments test-third-party test-third-party-quick test-fast lint format fuzz bench setup setup-test setup-environments \
    agent-tests image-guest image-xen lock wheel picture clean

help: ## List the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-23s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: setup ## Set up, run RUBBoS on four real tiers, print the answer (the page: runs/demo/001/report.html)
	@$(BIN)/tierlab demo

test: setup-test agent-tests ## Set up and prove the product on real servers (10 minutes of tests)
	@$(BIN)/python tests/suite.py test

test-environments: setup-environments ## The other environments and applications, and whole studies (18 minutes: guests are emulated)
	@$(BIN)/python tests/suite.py environments

test-third-party: setup-test $(STAMPS)/third-party ## Applications that others wrote, held against their own logs (an hour; NAMES="ghost trac" for some)
	@$(BIN)/python bench/third_party/run.py $(NAMES)

test-third-party-quick: setup-test ## Two of these, with what the tests have installed (90 s)
	@$(BIN)/python bench/third_party/run.py --quick

test-fast: setup ## The tests that take seconds
	cd agent && cargo test --locked --workspace --quiet
	cd apps/kernels && cargo test --locked --quiet
	$(BIN)/pytest -m "not slow and not privileged"

lint: setup ## Formatting, types, import rules
	cd agent && cargo fmt --all --check
	cd agent && cargo clippy --locked --workspace --all-targets --quiet -- -D warnings
	agent/plugins/build /dev/null -fanalyzer
	cd apps/kernels && cargo fmt --check
	cd apps/kernels && cargo clippy --locked --all-targets --quiet -- -D warnings
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports

format: setup ## Rewrite the sources in the project's format
	cd agent && cargo fmt --all
	cd apps/kernels && cargo fmt
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

fuzz: SECONDS := 45
fuzz: ## Fuzz each dissector and the driver for SECONDS (45) of CPU time, on cores that are idle
	@agent/fuzz/run $(SECONDS)

bench: setup-test ## Measure beside the peers; prints ratios (over an hour; what misses a bar is named at the end)
	@missed=; \
	measure() { echo "bench: $$*"; "$$@" || missed="$$missed\n  $$*"; }; \
	measure $(BIN)/python bench/drive/run.py; \
	measure $(BIN)/python bench/sample/run.py; \
	measure $(BIN)/python bench/sample/polls.py; \
	measure $(BIN)/python bench/trace/run.py; \
	measure $(BIN)/python bench/trace/threads.py; \
	measure $(BIN)/python bench/profile/perf.py; \
	measure $(BIN)/python bench/link/run.py; \
	measure $(BIN)/python bench/link/random_applications.py; \
	measure $(BIN)/python bench/analyse/run.py; \
	measure $(BIN)/python bench/compare/run.py; \
	measure $(BIN)/python bench/profile/run.py; \
	measure $(BIN)/python bench/diagnosis/run.py --quick; \
	measure $(KERNELS) speed-up; \
	test -z "$$missed" || { printf "bench: missed a bar, or did not end:$$missed\n"; exit 1; }

wheel: setup ## Make one wheel with the agent and the applications inside: dist/
	@$(PIP) wheel --no-deps --no-build-isolation --wheel-dir $(WHEELS) .

# A fault with a long chain: memory is taken from the database for a second.
picture: setup $(STAMPS)/packages-test ## Take the picture in the README anew: docs/picture
	@test -d $(RUN) || $(BIN)/tierlab demo --seed 68 --runs runs/picture
	@$(BIN)/python docs/picture/take.py $(RUN)

lock: ## Renew requirements.lock from pyproject.toml
	@test -x $(BIN)/pip-compile || $(BIN)/pip install -q pip-tools
	$(BIN)/pip-compile -q --generate-hashes --strip-extras --no-emit-find-links --no-emit-index-url \
	    --no-emit-trusted-host --allow-unsafe --extra dev --output-file requirements.lock pyproject.toml

# Downloads, compilers and package scripts wait for different things: they go side by side.
setup: ## Install and build what a run needs
	@$(MAKE) -s --no-print-directory -j 3 $(STAMPS)/packages-run $(STAMPS)/python $(AGENT) $(PLUGIN) $(APP) $(KERNELS)

setup-test: setup $(STAMPS)/packages-test $(SHOP)

agent-tests: setup
	@cd agent && CARGO_TERM_QUIET=true cargo test --locked --workspace --no-run
	@cd apps/kernels && CARGO_TERM_QUIET=true cargo test --locked --no-run

setup-environments: setup-test
	@$(MAKE) -s --no-print-directory -j 3 image-guest image-xen $(STAMPS)/vcsim $(POSTGRESQLS)

image-guest image-xen: | $(STAMPS)/packages-test
	@test "$$(id -u)" -ne 0 || $(BIN)/tierlab image build $(@:image-%=%)

$(STAMPS)/tools: setup/check-tools.sh
	@setup/check-tools.sh
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/third-party: setup/third-party.sh setup/packages-third-party.txt setup/apt.sh | $(STAMPS)/packages-test
	@setup/third-party.sh
	@touch $@

$(STAMPS)/packages-%: setup/packages-%.txt setup/apt.sh | $(STAMPS)/tools
	@setup/apt.sh $<
	@touch $@

$(STAMPS)/python: requirements.lock pyproject.toml | $(STAMPS)/packages-run
	@echo "setup: Python environment"
	@test -x $(BIN)/python || python3 -m venv $(VENV)
	@$(PIP) install --no-compile --require-hashes -r requirements.lock
	@$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

$(STAMPS)/vcsim: setup/vcsim.sh | $(STAMPS)/packages-test
	@setup/vcsim.sh $@

$(STAMPS)/postgresql-%.txz: setup/postgresql.sh | $(STAMPS)/tools
	@setup/postgresql.sh $* $@

$(AGENT): agent/Cargo.toml agent/Cargo.lock agent/.cargo/config.toml $(shell find agent/src agent/crates -name '*.rs' -o -name '*.[ch]' -o -name Cargo.toml) | $(STAMPS)/tools
	@echo "setup: building the agent"
	@cd agent && CARGO_TERM_QUIET=true cargo agent
	@touch $@

$(PLUGIN): agent/plugins/build $(wildcard agent/plugins/*.[ch]) | $(STAMPS)/tools
	@echo "setup: building the simulated cache"
	@agent/plugins/build $@

$(APP): apps/rubbos/pom.xml $(shell find apps/rubbos/src -type f) | $(STAMPS)/tools
	@echo "setup: building RUBBoS"
	@cd apps/rubbos && MAVEN_OPTS="$(QUICK_JVM) $$MAVEN_OPTS" mvn -q -B -Dmaven.test.skip package
	@touch $@

# What npm installs is for tests alone: the shop stands for a user's own application.
$(SHOP): apps/shop/package-lock.json setup/npm.sh | $(STAMPS)/packages-test
	@setup/npm.sh apps/shop

$(KERNELS): apps/kernels/Cargo.toml apps/kernels/Cargo.lock apps/kernels/.cargo/config.toml $(shell find apps/kernels/src -name '*.rs') | $(STAMPS)/tools
	@echo "setup: building the kernels"
	@cd apps/kernels && CARGO_TERM_QUIET=true cargo kernels
	@touch $@

clean: ## Remove what was built here
	rm -rf $(VENV) $(STAMPS) agent/target apps/rubbos/target apps/kernels/target apps/shop/node_modules build dist
