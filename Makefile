# make probe   sets up, starts the bundled gateway, probes it and prints a verdict
# make check   sets up, then lint, types, tests, vectors, coverage, trace and minimality
# make draft   renders the drafts of the specification as text, HTML and XML in build/draft, and checks them
# make mutate  breaks our own implementation, one rule at a time, and sees the suite find it
# make full    the same with the tests that take too long for every change
# make regions tests the plugin for vLLM on the two lines of vLLM that it knows, each set up for it
# make live    sets up a real vLLM (make vllm), then shows on it what holds only there; reports/ says what was seen

PYTHON ?= python3.11
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

# The environment of the real engine; not needed where VLLM_BASE_URL names one.
export VLLM_VENV ?= .vllm
ENGINE := reference_gateway/live
LIVE := $(BIN)/python -m reference_gateway.live
# What the experiments that take time run on, for how long, and what is probed with regions; CI has less of all.
LIVE_MODEL ?= larger
LIVE_TTFT ?=
LIVE_MIX ?=
LIVE_MAX_AGE ?=
LIVE_PROBE ?=
ON_ENGINE = --bundled --backend vllm --engine-url "$$VLLM_BASE_URL" --model "$$VLLM_MODEL"

PLUGIN := reference_gateway/vllm_cache_regions
REGIONS_TESTS ?=

# What renders the drafts, beside kramdown-rfc.
DRAFT_TOOLS ?= .draft

# What reports/coverage.md is about; a check that one of these runs had and the suite lacks fails `make coverage`.
COVERED := vectors probe-embedded probe-forwarding probe-vllm probe-regions

.PHONY: probe vectors coverage trace sentences draft minimality mutate mutants check full live live-attacks live-salt live-regions live-salt-parts live-regions-parts live-probe live-probe-regions vllm regions regions-on lint types test bench reports wheel clean

probe: $(READY)
	$(BIN)/cctest probe --bundled

vectors: $(READY)
	$(BIN)/cctest vectors

coverage: $(READY)
	$(BIN)/cctest coverage --quiet $(COVERED:%=reports/%.json)

# Each rule has its sentence in the drafts and each sentence its rule, and so on down to vectors, cases and mutants.
trace: $(READY)
	$(BIN)/cctest trace --quiet $(COVERED:%=reports/%.json)

# After a normative sentence of a draft was meant to go, come or change: the record that `make trace` holds them against.
sentences: $(READY)
	$(BIN)/cctest trace --quiet --sentences spec/sentences.md

draft: $(READY) $(DRAFT_TOOLS)/.ready
	$(BIN)/python -m tools.draft --tools $(DRAFT_TOOLS) --out build/draft

minimality: $(READY)
	$(BIN)/cctest minimality --quiet

# Our own implementation broken in every way that the catalogue knows: does the suite find each?
mutate: $(READY)
	$(BIN)/cctest mutate

# The same with the mutants that operators make of the source: hours; it goes on where it was interrupted.
# With MUTANTS="--earlier reports/mutation-generated.json" only those that the report lacks, and those named.
mutants: $(READY)
	$(BIN)/cctest mutate --generated $(MUTANTS) --state .mutants --json reports/mutation-generated.json \
	  --markdown reports/mutation-generated.md
	$(BIN)/python -m tests.figures

check: lint types test vectors coverage trace minimality

full: lint types
	$(BIN)/pytest -n 2 -m 'not live'
	$(BIN)/cctest mutate --whole

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

test: $(READY)
	$(BIN)/pytest -n 3 --dist worksteal
	cd $(PLUGIN) && $(abspath $(BIN))/python -m pytest -q --ignore tests/live --ignore tests/test_core.py

live: live-attacks live-salt live-regions

# With an engine of their own: beside another one, on two cores, neither answers in time.
live-attacks: $(READY) vllm
	LIVE_REQUIRED=1 $(BIN)/pytest -m live tests/live/test_live_regions_*.py

# On an engine as it comes: one salt for each request.
live-salt: $(READY) $(if $(VLLM_BASE_URL),,vllm)
	$(LIVE) run $(MAKE) live-salt-parts

# On an engine with the plugin: a salt for each region of a request.
# The probe takes the small model: on the larger one it would take very long, and find the same.
live-regions: $(READY) $(if $(VLLM_BASE_URL),,vllm)
	$(LIVE) run --regions --model $(LIVE_MODEL) $(MAKE) live-regions-parts
	$(LIVE) run --regions $(MAKE) live-probe-regions PROBED=probe-regions

# What these run on one engine, which the environment names.
live-salt-parts:
	LIVE_REQUIRED=1 $(BIN)/pytest -m live tests/live --ignore-glob='*/test_live_regions_*'
	$(LIVE) isolation --write reports
	$(LIVE) max-age $(LIVE_MAX_AGE) --write reports
	$(MAKE) live-probe PROBED=probe-vllm REGIONS=off

live-regions-parts:
	$(LIVE) public-prefix --write reports
	$(LIVE) policies --write reports
	$(LIVE) ttft $(LIVE_TTFT) --write reports
	$(LIVE) mix $(LIVE_MIX) --write reports

# The probe, and whether it met boundaries for each fragment and bounds on age; before it, what has them in force.
live-probe-regions:
	$(LIVE) public-prefix --trials 1 > /dev/null
	$(MAKE) live-probe REGIONS=auto PROBE="$(LIVE_PROBE)"
	$(BIN)/pytest -q "tests/test_reports.py::test_boundaries_for_each_fragment_and_bounds_on_age_were_seen[$(PROBED)]"

live-probe:
	$(BIN)/cctest probe $(ON_ENGINE) --serve-option=--regions --serve-option=$(REGIONS) --seed 1 $(PROBE) \
	  --json reports/$(PROBED).json > reports/$(PROBED).txt || { cat reports/$(PROBED).txt; exit 1; }
	tail -n 1 reports/$(PROBED).txt

OLDER := $(VLLM_VENV)-0.28

regions: $(READY) vllm $(OLDER)/.ready $(OLDER)/.plugin $(OLDER)/model/config.json
	cd $(PLUGIN) && $(abspath $(BIN))/mypy
	$(MAKE) regions-on ENGINE_VENV=$(VLLM_VENV)
	$(MAKE) regions-on ENGINE_VENV=$(OLDER)
	$(LIVE) hashing $(VLLM_VENV) $(OLDER) --write reports
	VLLM_VENV=$(OLDER) $(LIVE) run --regions $(MAKE) live-probe-regions PROBED=probe-regions-older

# All of the plugin's tests, or those that are named, in the environment of one engine.
regions-on:
	rm -rf $(ENGINE_VENV)/regions
	$(ENGINE_VENV)/bin/python -m pip install --quiet --target $(ENGINE_VENV)/regions pytest pytest-timeout
	cd $(PLUGIN) && PYTHONPATH=$(abspath $(ENGINE_VENV)/regions) REGIONS_MODEL=$(abspath $(VLLM_VENV)/model) \
	  $(abspath $(ENGINE_VENV))/bin/python -m pytest -q $(REGIONS_TESTS)

vllm: $(VLLM_VENV)/.ready $(VLLM_VENV)/.plugin $(VLLM_VENV)/model/config.json $(VLLM_VENV)/model-larger/config.json

bench: $(READY)
	$(BIN)/python -m tests.benchmarks.core
	$(BIN)/python -m tests.benchmarks.gateway_latency

reports: $(READY)
	$(BIN)/cctest vectors --quiet --seed 1 --json reports/vectors.json
	$(BIN)/cctest minimality --quiet --markdown reports/minimality.md
	$(BIN)/cctest probe --bundled --seed 1 --json reports/probe-embedded.json > reports/probe-embedded.txt
	$(BIN)/cctest probe --bundled --backend vllm --seed 1 --json reports/probe-forwarding.json > reports/probe-forwarding.txt
	$(BIN)/cctest coverage --quiet --markdown reports/coverage.md $(COVERED:%=reports/%.json)
	$(BIN)/cctest mutate --quiet --json reports/mutation.json --markdown reports/mutation.md \
	  --elements-json reports/mutation-elements.json
	for name in embedded forwarding; do $(BIN)/cctest report reports/probe-$$name.json \
	  --mutation reports/mutation.json --html reports/probe-$$name.html || exit 1; done
	$(BIN)/python -m tests.figures

wheel: $(READY)
	$(BIN)/python -m build --wheel --outdir dist .

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

$(DRAFT_TOOLS)/.ready: $(addprefix tools/draft/,requirements.txt package.json package-lock.json)
	@command -v npm >/dev/null || { echo "make draft needs npm: apt-get install npm" >&2; exit 1; }
	@command -v kramdown-rfc >/dev/null || { echo "make draft needs kramdown-rfc: apt-get install ruby-kramdown-rfc2629" >&2; exit 1; }
	$(PYTHON) -m venv $(DRAFT_TOOLS)
	$(DRAFT_TOOLS)/bin/python -m pip install --quiet --requirement tools/draft/requirements.txt
	cp tools/draft/package.json tools/draft/package-lock.json $(DRAFT_TOOLS)
	npm ci --silent --no-audit --no-fund --prefix $(DRAFT_TOOLS)
	touch $@

# vLLM imports torchvision and the like where they are there, and their builds don't fit a CPU's torch.
$(VLLM_VENV)/.ready: $(ENGINE)/requirements.txt
	$(PYTHON) -m venv $(VLLM_VENV)
	$(VLLM_VENV)/bin/python -m pip install --quiet --upgrade pip
	$(VLLM_VENV)/bin/python -m pip install --quiet --requirement $(ENGINE)/requirements.txt
	$(VLLM_VENV)/bin/python -m pip uninstall --quiet --yes torchvision torchaudio torchcodec
	touch $@

$(OLDER)/.ready: $(PLUGIN)/tests/older-vllm.txt
	$(PYTHON) -m venv $(OLDER)
	$(OLDER)/bin/python -m pip install --quiet --upgrade pip
	$(OLDER)/bin/python -m pip install --quiet --requirement $(PLUGIN)/tests/older-vllm.txt
	$(OLDER)/bin/python -m pip uninstall --quiet --yes torchvision torchaudio torchcodec
	touch $@

# It is loaded only where it is asked for: by VLLM_PLUGINS.
%/.plugin: %/.ready $(wildcard $(PLUGIN)/vllm_cache_regions/*.py) $(PLUGIN)/pyproject.toml
	$*/bin/python -m pip install --quiet --no-deps --force-reinstall ./$(PLUGIN)
	touch $@

%/model/config.json: %/.ready $(ENGINE)/model.py
	$*/bin/python $(ENGINE)/model.py $*/model

%/model-larger/config.json: %/.ready $(ENGINE)/model.py
	$*/bin/python $(ENGINE)/model.py $*/model-larger larger

clean:
	rm -rf $(VENV) $(VLLM_VENV) $(OLDER) $(DRAFT_TOOLS) dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis
