# One way to run everything. Each target does its own set-up on a fresh machine (Python 3.11 or later).
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= 2
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal
# What `make check` tests: the state machines, rules, model, implementation, judges and every mutant.
CHECKED := $(wildcard tests/test_*.py) $(addprefix tests/,spec model impl judge conformance/specimens conformance/generation)

.PHONY: demo conformance bench wheel-compiled check test verify record test-large test-pythons mutation tla-large lint docs format clean

# The core: what it takes to judge. Everything else comes with .ready.
$(VENV)/.core: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade --constraint constraints.txt pip
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[conformance]'
	touch $@

$(VENV)/.ready: $(VENV)/.core
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev,docs,tla,spark,examples,mutation]'
	touch $@

demo: $(VENV)/.core  ## a tour in the terminal: the suite judges a right timer, then a wrong one
	@$(BIN)/purgatory demo
	@echo "Here, purgatory is $(BIN)/purgatory."

conformance: $(VENV)/.core  ## the conformance suite on the bundled timer, purgatory, memory pools and server
	$(BIN)/purgatory check bundled
	@echo "next    $(BIN)/purgatory init --lang python my-timer (or go, rust, java, javascript, c), then"
	@echo "        $(BIN)/purgatory check my-timer; the lesson: docs/tutorial/first-adapter.md"

wheel-compiled: $(VENV)/.ready  ## the wheel with the implementation compiled by mypyc, in dist/
	PURGATORY_COMPILED=1 $(BIN)/python -m build --wheel --outdir dist .

bench: $(VENV)/.ready  ## the implementation beside its peers, the proposal's workload, tables and plots of the page
	$(BIN)/purgatory bench
	$(BIN)/purgatory bench workload
	$(BIN)/purgatory bench report purgatory-work/bench/bench.json purgatory-work/bench/workload.json --write docs

lint: $(VENV)/.ready  ## style, import rules, types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/mypy

check: lint  ## what a change needs to know, in three minutes
	$(PYTEST) -m "not slow and not java" $(CHECKED)
	$(BIN)/purgatory check bundled --suite quick

test: lint  ## what a merge requires: lint, types, tests, documentation
	$(PYTEST) --durations=25

verify: $(VENV)/.ready  ## the rest: the record, packages, other systems, servers, clusters, clocks
	$(PYTEST) --durations=25 -m verify

record: $(VENV)/.ready  ## the records of tests and of TLC's results, for what has changed; the page of claims
	$(BIN)/python -m tests.recorded
	$(BIN)/python -m tests.tla.record
	$(BIN)/python -m tests.tla.manifest.noticing
	$(BIN)/python -m tests.tla.claims

test-large: $(VENV)/.ready  ## the long forms of tests, other examples, then the TLA+ models that `tla-large` names
	$(PYTEST) -m large
	$(PYTEST) -m "not java and (verify or not verify)" --hypothesis-profile=exploring $(CHECKED)
	$(BIN)/purgatory tla check --large

test-pythons: $(VENV)/.ready  ## the core on every CPython from 3.11 to 3.14 that is found
	WORKERS=$(WORKERS) $(BIN)/nox --session pythons

mutation: $(VENV)/.ready  ## which automatic mutants of the implementation the suite finds
	$(BIN)/python -m purgatory_lab.mutation

tla-large: $(VENV)/.ready  ## the TLA+ models that the tests leave out: large ones, and further examples
	$(BIN)/purgatory tla check --large

docs: $(VENV)/.ready  ## the documentation site, in site/
	$(BIN)/python -m purgatory_lab.site_pages purgatory-work/pages
	$(BIN)/zensical build --strict
	@echo "site/index.html"

format: $(VENV)/.ready
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) .nox site dist build purgatory-work .mypy_cache .pytest_cache .ruff_cache .hypothesis
