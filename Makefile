# Each target does all its own set-up: `make demo` or `make test` on a fresh machine with Python >= 3.11 is enough.
PYTHON ?= python3
VENV := .venv
LOWEST := .venv-lowest
NEWEST := .venv-newest
RELEASE := .venv-release
WORKERS := -n 2 --dist loadfile --no-loadscope-reorder
BIN := $(VENV)/bin
# Python compiles on all cores what pip would compile on one, but for packages of which tests and commands import little
# or nothing; a few files are for other versions of Python, which is no fault. What is missing is compiled when it is
# first imported.
PIP := $(BIN)/pip install --quiet --disable-pip-version-check --no-compile --constraint constraints.txt
RARE := /tests/|/site-packages/(fontTools|graphql|mypy|mypyc|pandas|pip|pygments/lexers|ray|schemathesis|setuptools|tensorboard|torch/_inductor|torch/testing|torchgen|transformers/models)/
COMPILE := $(BIN)/python -m compileall -q -j 0 -x '$(RARE)' $(VENV)/lib >/dev/null 2>&1 || true
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help install install-dev demo test test-long test-browser test-course test-fuzz test-soak test-lowest test-newest check types style house bench dist clean
help:
	@echo "make demo         train, measure and look inside a small English-French translator (a few minutes, CPU)"
	@echo "make test         run the tests"
	@echo "make test-long    run the tests that train, kill or restart whole runs"
	@echo "make test-browser run the page in a real browser (needs chromium)"
	@echo "make test-course  run every command of docs/course and compare what it prints (a minute)"
	@echo "make test-fuzz    ask a running server at random, by its OpenAPI document, and translate 30,000 random texts"
	@echo "make test-soak    serve good and hostile clients for 30 minutes (MINUTES=2: two)"
	@echo "make test-lowest  run the tests with the lowest versions that pyproject.toml allows, in .venv-lowest"
	@echo "make test-newest  run the tests with the newest versions of all dependencies, in .venv-newest"
	@echo "make check        formatting, lint, types, layers, order of the package"
	@echo "make house        sizes, cycles, duplicates and clashes, as a table"
	@echo "make bench        slow measurements, written to docs/benchmarks.md (BENCH=--help: what else)"
	@echo "make dist         what a release publishes: sdist and wheel, checked and tried without PyTorch, and an SBOM"
	@echo "make install      put regard into .venv, with PyTorch"
	@echo "make clean        remove the virtual environments, runs and caches"

install: $(VENV)/.installed
install-dev: $(VENV)/.installed-dev

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "regard needs Python 3.11 or newer; name one: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --upgrade pip  # the one that Python brings resolves far slower

$(VENV)/.installed: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "installing regard and PyTorch into $(VENV) (a minute or two) ..."
	$(PIP) --editable '.[torch,page]'
	@$(COMPILE)
	@touch $@

$(VENV)/.installed-dev: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "installing regard and its development tools into $(VENV) (a minute or two) ..."
	$(PIP) --editable '.[dev]'
	@$(COMPILE)
	@touch $@ $(VENV)/.installed

demo: install
	$(BIN)/regard demo

test: install-dev  # a file's tests go to one worker, so what they share is made once
	$(BIN)/python -m pytest $(WORKERS) --durations=10

test-long: install-dev
	$(BIN)/python -m pytest $(WORKERS) -m 'long and not gpu'

test-browser: install-dev  # each worker has a server and a browser, so any test can go to any of them
	@test -x $${REGARD_CHROMIUM:-/usr/bin/chromium} || { echo "chromium is missing: apt-get install chromium, or name another: \
	  make test-browser REGARD_CHROMIUM=/path/to/chromium" >&2; exit 2; }
	$(BIN)/python -m pytest -n 2 --dist worksteal --durations=5 tests/browser -m browser

test-course: install-dev
	$(BIN)/python -m pytest -n 2 -m course --durations=0 tests/test_course_pages.py

test-fuzz: install-dev
	$(BIN)/python -m pytest -m slow tests/serve/test_fuzz.py tests/translation/test_fuzz.py tests/translation/test_whole_spans.py

test-soak: install-dev
	$(BIN)/python benchmarks/soak.py --minutes $(or $(MINUTES),30)

test-lowest: $(LOWEST)/.installed
	$(LOWEST)/bin/python -m pytest $(WORKERS)

$(LOWEST)/.installed: pyproject.toml constraints-lowest.txt
	$(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/pip install --quiet --disable-pip-version-check --constraint constraints-lowest.txt --editable '.[test]'
	@touch $@

test-newest: $(NEWEST)/bin/python  # installs again each time, because what is newest changes
	$(NEWEST)/bin/pip install --quiet --disable-pip-version-check --upgrade --upgrade-strategy eager --editable '.[test]'
	$(NEWEST)/bin/python -m pytest $(WORKERS)

$(NEWEST)/bin/python:
	$(PYTHON) -m venv $(NEWEST)

check: types style  # two parts, which make -j2 runs side by side

types: install-dev
	$(BIN)/mypy --num-workers 2

style: install-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports
	$(BIN)/python tools/house.py --check

house: install-dev
	$(BIN)/python tools/house.py --list

bench: install-dev
	$(BIN)/python benchmarks/run.py $(BENCH)

dist:  # the wheel is made from the sdist, and tried in an environment of its own
	rm -rf dist build $(RELEASE) sbom.cdx.json
	$(PYTHON) -m venv $(RELEASE)/tools
	$(PYTHON) -m venv $(RELEASE)/installed
	$(RELEASE)/tools/bin/pip install --quiet --disable-pip-version-check build twine cyclonedx-bom
	$(RELEASE)/tools/bin/python -m build
	$(RELEASE)/tools/bin/twine check --strict dist/*
	$(RELEASE)/installed/bin/pip install --quiet --disable-pip-version-check --constraint constraints.txt dist/*.whl
	$(RELEASE)/installed/bin/regard translate "The cat is on the mat."
	$(RELEASE)/tools/bin/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible \
	  --output-file sbom.cdx.json $(RELEASE)/installed/bin/python

clean:
	rm -rf $(VENV) $(LOWEST) $(NEWEST) $(RELEASE) sbom.cdx.json runs build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
