# Each target does all its own set-up: `make demo` or `make test` on a fresh machine with Python >= 3.11 is enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: help install install-dev demo test check bench clean
help:
	@echo "make demo     train, measure and look inside a small English-French translator (a few minutes, CPU)"
	@echo "make test     run the tests"
	@echo "make check    formatting, lint, types, layers"
	@echo "make bench    slow measurements, written to docs/benchmarks.md (BENCH=--help: what else)"
	@echo "make install  put regard into .venv"
	@echo "make clean    remove .venv, runs and caches"

install: $(VENV)/.installed
install-dev: $(VENV)/.installed-dev

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "regard needs Python 3.11 or newer; name one: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "installing regard into $(VENV) (a minute or two) ..."
	$(PIP) --editable .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "installing regard and its development tools into $(VENV) (a minute or two) ..."
	$(PIP) --editable '.[dev]'
	@touch $@ $(VENV)/.installed

demo: install
	$(BIN)/regard demo

test: install-dev  # a file's tests go to one worker, so what they share is made once
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

check: install-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: install-dev
	$(BIN)/python benchmarks/run.py $(BENCH)

clean:
	rm -rf $(VENV) runs build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
