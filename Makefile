# Everything from a fresh machine with Python ≥ 3.11 and a C++ compiler: `make demo`, `make test`.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := CMakeLists.txt pyproject.toml README.md LICENSE \
  $(shell find cpp/silverbirch bindings src -name '*.?pp' -o -name '*.py' -o -name '*.pyi')
CPP_FILES := $(shell find cpp bindings -name '*.?pp')

.PHONY: demo test lint test-cpp test-python stubs format dist clean

demo: $(VENV)/installed
	$(BIN)/silverbirch demo --out demo-output

test: lint test-cpp test-python

lint: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run -Werror $(CPP_FILES)
	$(BIN)/mypy

test-cpp: $(VENV)/installed
	$(BIN)/cmake -S . -B build/cpp -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN))/ninja \
	  -DSILVERBIRCH_PYTHON=OFF -DSILVERBIRCH_TESTS=ON
	$(BIN)/cmake --build build/cpp
	$(BIN)/ctest --test-dir build/cpp --output-on-failure

test-python: $(VENV)/installed
	$(BIN)/python -m pytest -n auto

# Installs the package as users get it, not in place: what is tested is what ships.
$(VENV)/installed: $(VENV)/tools $(SOURCES)
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps .
	touch $@

$(VENV)/tools: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/pip install --quiet --disable-pip-version-check ".[dev]"
	touch $@

stubs: $(VENV)/installed
	$(BIN)/python -m nanobind.stubgen -q -m silverbirch._core -o src/silverbirch/_core.pyi

format: $(VENV)/installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CPP_FILES)

dist: $(VENV)/installed
	$(BIN)/python -m build

clean:
	rm -rf build dist $(VENV) demo-output
