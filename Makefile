# make conformance | make test | make semantics | make bench | make format | make clean
# Needs Python 3.11 or newer with pip, and make; everything else is installed into .venv by the first target.

PYTHON ?= python3
PIP_OPTIONS ?=
VENV := .venv
BIN := $(VENV)/bin
# What pytest is given besides: `make test PYTEST_OPTIONS="-k inplace"`.
PYTEST_OPTIONS ?=

.DEFAULT_GOAL := conformance
.PHONY: conformance test lint semantics bench format clean

conformance: $(VENV)/stamp-dev
	$(BIN)/refgrad conformance

test: lint
	$(BIN)/python -m pytest -n 2 --slow $(PYTEST_OPTIONS)

lint: $(VENV)/stamp-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The page of rules, docs/semantics.md, from the cases and the READMEs of their topics.
semantics: $(VENV)/stamp-dev
	$(BIN)/refgrad semantics

bench: $(VENV)/stamp-bench
	$(BIN)/python -m tests.bench

format: $(VENV)/stamp-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache

# Some systems ship Python's venv module without ensurepip: then the outer pip fills the environment.
define install
	if $(BIN)/python -m pip --version >/dev/null 2>&1; \
	then $(BIN)/python -m pip install $(PIP_OPTIONS) -c constraints.txt -e $(1); \
	else $(PYTHON) -m pip --python $(BIN)/python install $(PIP_OPTIONS) -c constraints.txt -e $(1); fi
endef

$(VENV)/stamp-dev: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	|| { echo "refgrad needs Python 3.11 or newer; name one with: make PYTHON=/path/to/python3.12"; exit 2; }
	$(PYTHON) -m venv --clear $(VENV) || $(PYTHON) -m venv --clear --without-pip $(VENV)
	$(call install,'.[dev]')
	touch $@

$(VENV)/stamp-bench: $(VENV)/stamp-dev
	$(call install,'.[bench]')
	touch $@
