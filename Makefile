# Two commands for a fresh machine: `make run` and `make test`. Everything lands in .venv.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STATE ?= state
SERVER := $(VENV)/.server
MARK := $(VENV)/.installed
ARGS ?=
COMPILED ?=
# Without bytecode files, tests that start processes take twice as long.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help run quick quick-tests test nightly simulate checks test-compiled test-all \
    lint types layers docs unit format changelog release bench clean

help:            ## list the targets
	@sed -n 's/^\([a-z-]*\):.*##/\1\t/p' $(MAKEFILE_LIST)

run: $(SERVER)   ## set up, make the database and an example account, serve in the foreground
	@mkdir -p $(STATE)
	@$(BIN)/python tools/first_run.py --state $(STATE)
	$(BIN)/twistd --nodaemon --pidfile= emu --config $(STATE)/emu.toml $(ARGS)

# Two at once: while the tests are collected, mypy uses the other processor. More processes than
# processors, because some tests wait.
quick: $(MARK)   ## all checks but expensive tests and middle cases: run it while you work
	@$(MAKE) --no-print-directory -j 2 --output-sync=target quick-tests types lint layers

quick-tests: $(MARK)
	$(BIN)/pytest -q --ignore=tests/server -m "not slow and not costly and not repeat" --hypothesis-profile=quick --processes 4 $(ARGS)

# Two at once: while mypy uses one processor, the tests use the other.
test: $(MARK)    ## set up and pass every check
	@$(MAKE) --no-print-directory -j 2 unit checks

checks: SITE_OPTIONS := --check
checks: lint types layers docs    ## all checks but the tests

lint: $(MARK)    ## ruff
	$(BIN)/ruff check --quiet .
	$(BIN)/ruff format --quiet --check .

types: $(MARK)   ## mypy --strict
	$(BIN)/mypy

layers: $(MARK)  ## import-linter
	$(BIN)/lint-imports

docs: $(MARK)    ## the site of docs/ in build/site; every warning is an error
	@$(BIN)/python -m tools.site.pages
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m tools.site.build $(SITE_OPTIONS)
	@$(BIN)/python -m tools.site.pages --check build/site

unit: $(MARK)    ## all tests; eight processes, because some tests wait
	$(BIN)/pytest -q --processes 8 $(ARGS)

nightly: $(MARK) ## all tests, with 20 times as many examples, other ones in each run; takes long
	EMU_CORRUPT_ROUNDS=$${EMU_CORRUPT_ROUNDS:-60} EMU_CRASH_ROUNDS=$${EMU_CRASH_ROUNDS:-50} \
	    $(BIN)/pytest -q --processes 8 --hypothesis-profile=nightly $(ARGS)
	$(MAKE) simulate SEEDS=1..2000

simulate: $(MARK) ## the whole server in virtual time with faults, for SEEDS=A..B
	$(BIN)/python -m tools.simulate --seeds $(or $(SEEDS),1..100) $(ARGS)

# COMPILED names a virtual environment in which the compiled form is installed already.
test-compiled: $(MARK)  ## the tests again on the compiled form, in a copy of the tree
	@test -n "$(COMPILED)" || $(BIN)/python -m pip install --quiet --group compile
	$(BIN)/python tools/compiled_copy.py .compiled $(COMPILED)
	cd .compiled && ../$(BIN)/pytest -q --processes 2 $(ARGS)

test-all: test   ## the tests again under each other Python that is installed
	$(PYTHON) tools/test_all.py

format: $(MARK)  ## let ruff format the sources
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix --quiet .

changelog: $(MARK)  ## show the section that the files in tools/changes form
	@$(BIN)/towncrier build --draft --version unreleased

RELEASE := build/release-venv

release: $(SERVER)  ## build, check and try what a release publishes; publishes nothing
	@test -x $(RELEASE)/bin/python || $(PYTHON) -m venv $(RELEASE)
	@$(RELEASE)/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	@$(RELEASE)/bin/python -m pip install --quiet --group release
	$(RELEASE)/bin/python -m tools.release $(ARGS)

bench: $(MARK)   ## print the figures of the benchmarks (not a test)
	$(BIN)/python -m tools.bench

clean:           ## remove the virtual environment and the files of tools
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .compiled build dist

# What the server needs. A virtual environment needs Debian's python3-venv; install it when we may,
# else say so.
define ENVIRONMENT
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	    || { echo "make: Python 3.11 or newer is needed; set PYTHON=..." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || tools/install_debian.sh python3-venv
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing (about a minute)"
endef

$(SERVER): pyproject.toml tools/hatch_build.py
	$(ENVIRONMENT)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

# What the server and the checks need, in one installation. Dependency groups came with pip 25.1.
# Bytecode is left to the first import: most modules of these packages are never imported.
$(MARK): pyproject.toml tools/hatch_build.py
	$(ENVIRONMENT)
	$(BIN)/python -m pip install --quiet --no-compile --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --no-compile --editable '.[editor]' --group dev
	@$(PYTHON) tools/commit_message.py --install
	@touch $(SERVER) $@
