PYTHON ?= python3
PORT ?= 8000
VENV := .venv
BIN := $(VENV)/bin
SOURCES := bot tests docs

.PHONY: help install demo check test bench campaign pictures lock clean

help:            ## what can be done here
	@grep -E '^[a-z]+: .*##|^[a-z]+:  +##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

install: $(VENV)/.installed  ## build .venv from the lock

$(VENV)/.installed: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed, this is " + sys.version.split()[0] + "; try: make PYTHON=python3.12") if sys.version_info < (3, 11) else 0'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

demo: install    ## sandbox and bot on this machine, no account needed (PORT=8000)
	$(BIN)/digest-bot demo --port $(PORT)

check: install   ## format, lint, types, quick tests
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/mypy
	$(BIN)/pytest -q -n auto tests/unit

test: install    ## everything
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/mypy
	$(BIN)/pytest -q -n auto --dist worksteal

bench: install   ## timings, printed as ratios
	$(BIN)/python -m tests.bench

campaign: install  ## prove for long: make campaign NAME=kills (faults pace sharing restart disk million clicks mutants strangers)
	$(BIN)/python -m tests.campaign $(NAME)

pictures: install  ## draw the cards that the README shows
	$(BIN)/python -m docs.make_pictures

lock: install    ## renew requirements.lock: hashed, every platform, no host named
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --group dev --no-emit-index-url --no-header \
		--python-version 3.11 -o requirements.lock pyproject.toml

clean:           ## remove what make install and the tests built
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis
