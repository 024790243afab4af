# make probe   sets up, starts the bundled gateway, probes it and prints a verdict
# make check   sets up, then lint, types and tests
# make full    the same with the tests that take too long for every change

PYTHON ?= python3.11
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: probe vectors check full lint types test bench reports wheel clean

probe: $(READY)
	$(BIN)/cctest probe --bundled

vectors: $(READY)
	$(BIN)/cctest vectors

check: lint types test

full: lint types
	$(BIN)/pytest -n 2 -m 'full or not full'

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

test: $(READY)
	$(BIN)/pytest -n 2

bench: $(READY)
	$(BIN)/python -m tests.benchmarks.core
	$(BIN)/python -m tests.benchmarks.gateway_latency

reports: $(READY)
	$(BIN)/cctest vectors --quiet --json reports/vectors.json
	$(BIN)/cctest probe --bundled --seed 1 --json reports/probe-embedded.json > reports/probe-embedded.txt
	$(BIN)/cctest probe --bundled --backend vllm --seed 1 --json reports/probe-forwarding.json > reports/probe-forwarding.txt

wheel: $(READY)
	$(BIN)/python -m build --wheel --outdir dist .

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis
