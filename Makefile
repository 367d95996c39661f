# Everything from a fresh machine with Python ≥ 3.11 and a C++ compiler: `make demo`, `make test`, `make bench`,
# `make reproduce`.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := CMakeLists.txt pyproject.toml README.md LICENSE \
  $(shell find cpp/silverbirch bindings src -name '*.?pp' -o -name '*.py' -o -name '*.pyi' -o -name '*.csv' -o -name '*.css')
CPP_FILES := $(shell find cpp bindings benchmarks -name '*.?pp')

.PHONY: demo bench reproduce test lint test-cpp test-python stubs format dist clean

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
	$(BIN)/cmake -S . -B build/cpp -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN))/ninja \
	  -DSILVERBIRCH_PYTHON=OFF -DSILVERBIRCH_TESTS=ON
	$(BIN)/cmake --build build/cpp
	$(BIN)/ctest --test-dir build/cpp --output-on-failure

test-python: $(VENV)/for-developers
	$(BIN)/python -m pytest -n auto

# Installs the package as users get it, not in place: what is tested is what ships.
INSTALL = test -d $(VENV) || $(PYTHON) -m venv $(VENV); \
  $(BIN)/python -m pip install --quiet --disable-pip-version-check

$(VENV)/for-users: $(SOURCES)
	$(INSTALL) ".[cli]"
	touch $@

$(VENV)/for-developers: $(SOURCES)
	$(INSTALL) ".[dev]"
	touch $@ $(VENV)/for-users

$(VENV)/for-benchmarks: $(SOURCES)
	$(INSTALL) ".[bench]"
	touch $@ $(VENV)/for-users

stubs: $(VENV)/for-developers
	$(BIN)/python -m nanobind.stubgen -q -m silverbirch._core -o src/silverbirch/_core.pyi

format: $(VENV)/for-developers
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CPP_FILES)

dist: $(VENV)/for-developers
	$(BIN)/python -m build

clean:
	rm -rf build dist $(VENV) demo-output
