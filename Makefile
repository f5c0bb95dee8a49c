# One command for everything; each target installs what it needs. `make help` lists them.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

BIN := .venv/bin
# Half of the tests wait for processes and servers: two workers for each core, eight at most.
WORKERS ?= $(shell n=$$(nproc 2>/dev/null || echo 2); echo $$((n > 4 ? 8 : n * 2)))
PYTEST := $(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal
# More interpreters that `make test-all` runs the suite on.
PYTHONS := 3.11 3.12 3.13

.PHONY: help
help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: venv
venv: ## Install the product into .venv
	@scripts/bootstrap runtime

.PHONY: venv-dev
venv-dev: ## Install the product and all that tests need into .venv
	@scripts/bootstrap dev

.PHONY: demo
demo: venv ## Run one work order from request to reviewed branch, with a scripted agent
	@$(BIN)/awo demo

.PHONY: demo-github
demo-github: venv ## From an issue to a pull request on a simulated GitHub, as separate processes
	@$(BIN)/awo demo --github

.PHONY: up
up: venv ## Start the server on this machine, with the dashboard
	@$(MAKE) --no-print-directory web || echo "make up: starting without the dashboard" >&2
	@$(BIN)/awo up

# Node may have been installed into the environment.
WITH_NODE := PATH="$(CURDIR)/$(BIN):$$PATH"

.PHONY: web
web: venv ## Build the dashboard into the package, if its sources are newer
	@$(BIN)/python scripts/dashboard_build.py --is-fresh || \
	    { scripts/node && $(WITH_NODE) $(BIN)/python scripts/dashboard_build.py; }

.PHONY: web-modules
web-modules: venv
	@scripts/node
	@$(WITH_NODE) $(BIN)/python scripts/dashboard_build.py --install

.PHONY: web-types
web-types: web-modules ## Make the dashboard's types from the API's description
	@$(WITH_NODE) scripts/web_types web/src/api/schema.d.ts

.PHONY: web-check
web-check: web-modules web ## Types, lint, tests and size of the dashboard
	@cd web && $(WITH_NODE) npm run --silent types
	@cd web && $(WITH_NODE) npm run --silent lint
	@cd web && $(WITH_NODE) npm run --silent test
	@$(WITH_NODE) scripts/web_types --check web/src/api/schema.d.ts
	@cd web && $(WITH_NODE) node scripts/bundle-budget.mjs

.PHONY: github-descriptions
github-descriptions: venv-dev
	@$(WITH_NODE) scripts/github_descriptions

.PHONY: container-engine
container-engine:
	@scripts/container_engine

.PHONY: test
test: venv-dev github-descriptions ## Run the tests (under 5 minutes on 2 cores); tidiness is for `make check`
	@$(PYTEST) -m "not slow" $(or $(TESTS),--ignore tests/tidy)

.PHONY: test-slow
test-slow: venv-dev github-descriptions container-engine ## Run the long campaigns alone
	@$(PYTEST) -m slow $(TESTS)

.PHONY: test-all
test-all: venv-dev github-descriptions container-engine ## Run every test, the slow ones included, on every supported Python
	@WORKERS=$(WORKERS) scripts/test_all $(PYTHONS)

.PHONY: soak
soak: venv-dev ## Simulate and kill for as long as BUDGET seconds (default an hour)
	@scripts/soak --budget $(or $(BUDGET),3600)

.PHONY: e2e
e2e: web-modules web ## Drive the dashboard in Chromium: flows, pictures, measures
	@$(WITH_NODE) scripts/e2e $(SPECS)

.PHONY: check
check: venv-dev ## Lint, types, import contracts, dead code, tidiness
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/vulture
	@$(BIN)/python -m pytest -q -n 0 tests/tidy

.PHONY: format
format: venv-dev ## Format the code and sort the imports
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

.PHONY: docs
docs: venv-dev ## Regenerate docs/reference and docs/reliability.md from the source
	@$(BIN)/python scripts/generate_docs.py

.PHONY: bench
bench: venv-dev github-descriptions ## Measure against the peers; writes benchmarks/results.json, docs/benchmarks.md
	@$(BIN)/python -m benchmarks run

.PHONY: bench-check
bench-check: venv-dev ## Fail when a bar is missed that docs/benchmarks.md does not explain
	@$(BIN)/python -m benchmarks check

.PHONY: fresh
fresh: ## Prove the README's commands in a bare Debian 12 root (needs root)
	@scripts/fresh $(FRESH)

.PHONY: lock
lock: venv ## Resolve the newest allowed packages and pin them with their hashes
	@scripts/lock

.PHONY: clean
clean: ## Remove the environment, caches and build products
	@rm -rf .venv .venv-* build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis \
	    .import_linter_cache .grimp_cache src/*.egg-info src/agent_work_orders/api/dashboard \
	    web/node_modules tests/github_descriptions/node_modules
	@find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
