# fabricsim: everything a user or developer types. Needs Rust (cargo), Python 3.11 or newer with venv, and make.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
# Where Python may not keep its bytecode, as in many containers, every command compiles all that it needs.
unexport PYTHONDONTWRITEBYTECODE

PYTHON ?= python3
# Cargo profile of the wheel; `make setup WHEEL_PROFILE=quick` builds faster and runs slower.
WHEEL_PROFILE ?= release
BIN := .venv/bin
STAMPS := .stamps
# Built wheels wait here to be installed.
WHEELS := $(STAMPS)/wheels
# What make says of its own jobs is not for cargo, which takes all cores.
ALONE := MAKEFLAGS=
CARGO := $(ALONE) cargo
JS_TOOLS := tools/javascript/node_modules/.bin
SCRIPTS := "python/fabricsim/**/*.js" "tests/javascript/*.mjs" tools/javascript/eslint.config.js

SOURCES := Cargo.toml Cargo.lock pyproject.toml README.md tools/mpi_libraries.py $(shell find crates python studies -type f \
	-not -name '*.pyc' -not -name '*.so' -not -path '*/target/*' -not -path '*/_libraries/*' -not -path '*/tests/*' -not -path '*/benches/*' 2>/dev/null | LC_ALL=C sort)

.PHONY: help setup demo test test-rust test-python test-js parity check check-js concurrency gate fuzz fuzz-studies fuzz-oracle bench docs site clean

help: ## what there is to type
	@echo "fabricsim: make TARGET"
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1|\2/p' Makefile | awk -F'|' '{ printf "%-14s %s\n", $$1, $$2 }'

setup: $(STAMPS)/installed ## build fabricsim and install it into .venv (does nothing when up to date)
	@echo "ready: $(BIN)/fabricsim --help"

$(STAMPS)/venv: pyproject.toml
	@command -v cargo >/dev/null || { echo "Rust is missing: see https://rustup.rs" >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed: make setup PYTHON=python3.12" >&2; exit 1; }
	@"$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null || { echo "Python's venv is missing: apt-get install python3-venv" >&2; exit 1; }
	@mkdir -p $(STAMPS)
	@test -x $(BIN)/python && $(BIN)/python -c 'import pip' 2>/dev/null || "$(PYTHON)" -m venv --clear .venv
	@$(BIN)/python -c 'import tomllib; p = tomllib.load(open("pyproject.toml", "rb"))["project"]; print(*p["dependencies"], *p["optional-dependencies"]["build"], sep="\n")' > $(STAMPS)/requirements.txt
	@echo "installing Python packages ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -r $(STAMPS)/requirements.txt
	@touch $@

$(STAMPS)/installed: $(STAMPS)/venv $(SOURCES)
	@echo "building fabricsim ($(WHEEL_PROFILE)) ..."
	@rm -rf $(WHEELS)
	@$(ALONE) $(BIN)/python tools/mpi_libraries.py $(WHEEL_PROFILE)
	@$(ALONE) VIRTUAL_ENV="$$PWD/.venv" $(BIN)/maturin build --quiet --profile $(WHEEL_PROFILE) --locked --interpreter "$$PWD/$(BIN)/python" --out $(WHEELS)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --force-reinstall --no-deps $(WHEELS)/*.whl
	@$(BIN)/python -c 'import compileall, fabricsim, fabricsim.cli, numpy, pyarrow.parquet; compileall.compile_dir(fabricsim.__path__[0], quiet=1)'
	@echo $(WHEEL_PROFILE) > $@

# What extras of pyproject.toml ask for.
$(STAMPS)/test-tools: EXTRAS := test check
$(STAMPS)/site-tools: EXTRAS := site
$(STAMPS)/test-tools $(STAMPS)/site-tools: $(STAMPS)/venv
	@$(BIN)/python -c 'import sys, tomllib; o = tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]; print(*(item for name in sys.argv[1:] for item in o[name]), sep="\n")' $(EXTRAS) > $@-requirements.txt
	@echo "installing $(notdir $@) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -r $@-requirements.txt
	@touch $@

demo: setup ## reproduce a published torus study in its quick form and write a report
	$(BIN)/fabricsim reproduce torus-ross-codes --variant quick --out results/demo
	@echo
	@echo "open results/demo/report.html in a browser"

test: test-rust test-python test-js ## all tests: Rust, doctests, Python, examples, notebook, scripts of the report

# The Python module is tested from Python: linking it into a test program would need Python's development files.
# Examples are checked by lints, so none is linked here.
test-rust:
	$(CARGO) test --workspace --exclude fabricsim-py --profile quick --locked --tests
	$(CARGO) test --workspace --exclude fabricsim-py --profile quick --locked --doc

# Two at a time, a file by one of them: tests of commands wait for processes. Files come in the order of tests/python/conftest.py.
test-python: setup $(STAMPS)/test-tools
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder --durations 15 --doctest-modules --pyargs fabricsim tests/python

# Node runs these without anything else installed.
test-js:
	@if command -v node >/dev/null; then node --test tests/javascript/*.test.mjs; else echo "skipped: scripts of the report are tested by node, which is not here"; fi

parity: setup $(STAMPS)/test-tools ## every world on every engine, worker count and rank count: one answer (an hour on two cores)
	FABRICSIM_PARITY=whole cargo test --profile quick --locked -p fabricsim-des -p fabricsim-fabric -p fabricsim-judge --lib --test optimistic
	FABRICSIM_PARITY=whole cargo test --profile quick --locked -p fabricsim-des -p fabricsim-judge --test all -- engines:: checkpoint:: self_checks::
	FABRICSIM_MPICH=whole $(BIN)/python -m pytest tests/python/test_mpi_library.py -k "prints_what or mpi4py_pass"
	FABRICSIM_PARITY=whole $(BIN)/python -m pytest tests/python/test_mpi.py tests/python/test_checkpoint.py tests/python/test_studies.py tests/python/test_trace_parity.py

# Lints in the profile of the tests: build scripts and macros are compiled once for both.
check: $(STAMPS)/test-tools ## formatting, lints and types, as in CI
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --profile quick --locked -- -D warnings
	$(BIN)/ruff check python tests examples
	$(BIN)/ruff format --check python tests examples
	$(BIN)/mypy
	@$(MAKE) check-js

# Its tools come from npm (Node 20.19 or newer) into a folder that git ignores; nothing of them is shipped.
check-js: ## lints and form of the scripts of the report (needs node)
	@if command -v npm >/dev/null; then $(MAKE) $(STAMPS)/javascript-tools && \
		$(JS_TOOLS)/eslint --config tools/javascript/eslint.config.js $(SCRIPTS) && \
		$(JS_TOOLS)/prettier --config tools/javascript/prettier.json --check --log-level warn $(SCRIPTS); \
	else echo "skipped: scripts of the report are checked by tools for node, which is not here"; fi

$(STAMPS)/javascript-tools: tools/javascript/package-lock.json
	@mkdir -p $(STAMPS)
	@npm ci --prefix tools/javascript --silent --no-audit --no-fund
	@touch $@

# Flags of their own rebuild everything: a folder of their own keeps the other builds. A short search is not worth optimising for.
concurrency: export CARGO_PROFILE_QUICK_OPT_LEVEL := $(if $(LOOM_MAX_PREEMPTIONS),0,2)
concurrency: ## all interleavings of workers' barrier, mail and reports (LOOM_MAX_PREEMPTIONS=1: fewer, sooner)
	CARGO_TARGET_DIR="$${CARGO_TARGET_DIR:-target}/loom" RUSTFLAGS="--cfg loom" \
		$(CARGO) test -p fabricsim-des --profile quick --locked --lib -- interleavings --nocapture

# Its limits are those of a core that was built for release.
gate: setup ## instructions per packet-hop of the hot path against their limits (needs valgrind)
	@grep -qx release $(STAMPS)/installed || { echo "the core in .venv was not built for release: rm $(STAMPS)/installed, then make gate" >&2; exit 1; }
	tools/instructions.sh

fuzz: fuzz-studies fuzz-oracle ## a minute of mutated study files against the study reader, and one of random studies against the oracle

fuzz-studies:
	FABRICSIM_FUZZ_SECONDS=$${FABRICSIM_FUZZ_SECONDS:-60} $(CARGO) test -p fabricsim-vocabulary --profile quick --locked --test all no_input_panics

fuzz-oracle:
	FABRICSIM_ORACLE_SECONDS=$${FABRICSIM_ORACLE_SECONDS:-60} $(CARGO) test -p fabricsim-judge --profile quick --locked --test all every_message_of_random_studies

bench: setup ## speed of the engine on fixed cases
	$(BIN)/fabricsim bench

docs: setup ## Rust API documentation, and the schema of study files, into target/
	cargo doc --workspace --no-deps --locked
	@mkdir -p target/doc
	$(BIN)/fabricsim schema > target/doc/study.schema.json
	@echo "target/doc/judge/index.html, docs/tutorial.md"

site: $(STAMPS)/site-tools ## the documentation as a site, into target/site, every link checked
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "target/site/index.html; with search: $(BIN)/python -m http.server --directory target/site --bind 127.0.0.1"

clean: ## remove everything that was built (results/ stays)
	rm -rf .venv $(STAMPS) python/fabricsim/_libraries target .pytest_cache .mypy_cache .ruff_cache
