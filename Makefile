# Every target works alone on a fresh machine that has Python 3.11 or newer, make and a package index.
PYTHON ?= python3
BIN := .venv/bin
# What pytest is run by in `.ci/run`: tools/second_run.py.
REPEAT ?=

# Compiling windvane and its tests anew takes longer than many a test, and each test that starts a process does it again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help venv run test lint format generate lock reference test-long again test-etcd test-reference test-clients docs conformance bench bench-import bench-list bench-apiserver bench-apply bench-cel bench-operators bench-pods bench-etcd bench-webhooks bench-tests clean

help:  ## what you can do here
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):[^#]*## /  make \1|/' | column -t -s '|'

# The stamp is remade when the lock changes, so `git pull && make test` is always enough.
.venv/.stamp: requirements.lock pyproject.toml operators/etcd/pyproject.toml tools/documentation.py
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "windvane needs Python 3.11 or newer; try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@echo "Making the virtual environment .venv; about a minute." >&2
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock >&2
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable . >&2
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable operators/etcd >&2
	@touch $@

venv: .venv/.stamp  ## the virtual environment, from the lock

run: .venv/.stamp  ## an etcd cluster that an operator keeps, on a Kubernetes on this machine, until Ctrl-C
	@cd operators/etcd && exec "$(CURDIR)/$(BIN)/windvane" dev --keep --pods process $(WHAT)

test: .venv/.stamp  ## the tests that need nothing but Python
	$(REPEAT) $(BIN)/pytest -m "not reference and not long and not etcd" -n 2 --dist loadfile --no-loadscope-reorder
	@echo "Not run here: what takes longest (make test-long, make test-etcd), and a real kube-apiserver (make test-reference, which needs Go)."

test-long: .venv/.stamp  ## what takes longest: random lives, crashes, hundreds of pods, many examples; minutes
	HYPOTHESIS_PROFILE=$${HYPOTHESIS_PROFILE:-thorough} $(REPEAT) $(BIN)/pytest -m "(long or hypothesis) and not reference and not etcd" -n 3 --maxschedchunk 1

again: .venv/.stamp  ## the tests that failed last, one after the other
	HYPOTHESIS_PROFILE=$${HYPOTHESIS_PROFILE:-thorough} $(BIN)/pytest --last-failed --last-failed-no-failures none

test-etcd: .venv/.stamp  ## what the etcd operator survives: thirty scenarios with real etcds; about a quarter of an hour
	$(BIN)/pytest -n 2 operators/etcd/tests/scenarios
	@$(BIN)/python operators/etcd/tests/scenarios/table.py

lint: .venv/.stamp  ## ruff, mypy --strict, import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: .venv/.stamp  ## let ruff fix and format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

generate: .venv/.stamp  ## write src/windvane/k8s anew
	$(BIN)/python tools/generate

lock: .venv/.stamp  ## resolve the newest versions into requirements.lock
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-find-links --no-strip-extras \
	  --upgrade --extra dev --extra uvloop --group dev --custom-compile-command "make lock" -o requirements.lock pyproject.toml
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-find-links --no-strip-extras \
	  --upgrade --extra uvloop --group bench --custom-compile-command "make lock" -o bench/requirements.lock pyproject.toml
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-find-links --no-strip-extras \
	  --upgrade --extra uvloop --group clients --custom-compile-command "make lock" -o tests/clients/requirements.lock pyproject.toml
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-find-links --no-strip-extras \
	  --upgrade --group docs --extra test --custom-compile-command "make lock" -o tools/manual/requirements.lock pyproject.toml

reference:  ## build the real kube-apiserver, etcd and kubectl (needs Go; 6 to 10 minutes, once)
	$(PYTHON) reference/build.py

test-reference: .venv/.stamp reference  ## the tests on the real kube-apiserver
	WINDVANE_REQUIRE_REFERENCE=1 $(REPEAT) $(BIN)/pytest -m reference -n 3 --dist worksteal

.venv-clients/.stamp: tests/clients/requirements.lock pyproject.toml
	$(PYTHON) -m venv .venv-clients
	.venv-clients/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r tests/clients/requirements.lock
	echo "$(CURDIR)/src" > "$$(.venv-clients/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/windvane.pth"
	@touch $@

test-clients: .venv-clients/.stamp  ## the embedded API server, used by other clients for Python
	$(REPEAT) .venv-clients/bin/pytest -W ignore --confcutdir tests/clients tests/clients  # how tidy they are is their own affair

.venv-docs/.stamp: tools/manual/requirements.lock pyproject.toml
	@$(PYTHON) -m venv .venv-docs
	@.venv-docs/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r tools/manual/requirements.lock
	@echo "$(CURDIR)/src" > "$$(.venv-docs/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/windvane.pth"
	@touch $@

docs: .venv-docs/.stamp  ## the manual as a site with search and an API reference, in build/site
	@.venv-docs/bin/python tools/manual

# WHAT="--help" says what can be asked for.
conformance: .venv/.stamp reference  ## Kubernetes' own e2e tests on the embedded server, with a score
	$(PYTHON) reference/build.py e2e
	PYTHONPATH=tests $(BIN)/python -m e2e $(WHAT)

.venv-bench/.stamp: bench/requirements.lock pyproject.toml .venv/.stamp
	$(PYTHON) -m venv .venv-bench
	.venv-bench/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r bench/requirements.lock
	echo "$(CURDIR)/src" > "$$(.venv-bench/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/windvane.pth"
	@touch $@

bench: bench-import bench-list bench-apiserver bench-apply bench-cel bench-operators bench-webhooks bench-pods bench-etcd bench-tests  ## all benchmarks

bench-import: .venv-bench/.stamp  ## what importing costs
	.venv-bench/bin/python bench/imports.py

bench-list: .venv-bench/.stamp reference  ## listing 20,000 objects, beside other clients
	PYTHONPATH=tests $(BIN)/python bench/list_decode.py

bench-apiserver: .venv/.stamp reference  ## the embedded API server beside the real one
	PYTHONPATH=tests:bench $(BIN)/python bench/apiserver.py

bench-apply: .venv/.stamp reference  ## server-side apply on the embedded API server beside the real one
	PYTHONPATH=tests:bench $(BIN)/python bench/apply.py

bench-cel: .venv/.stamp reference  ## what validation rules cost, beside the real API server
	PYTHONPATH=tests:bench $(BIN)/python bench/cel.py

bench-operators: .venv-bench/.stamp reference  ## operators written with windvane, kopf and controller-runtime
	PYTHONPATH=tests:bench $(BIN)/python bench/operators.py $(WHAT)

bench-webhooks: .venv/.stamp reference  ## what a webhook adds to a create, beside one of controller-runtime's
	PYTHONPATH=tests:bench $(BIN)/python bench/webhooks.py $(WHAT)

bench-pods: .venv/.stamp  ## a Deployment of 1,000 simulated pods, and one of 50 processes
	$(BIN)/python bench/pods.py $(WHAT)

bench-etcd: .venv/.stamp  ## what the etcd operator costs while nothing happens: with no cluster, with one, with ten
	PYTHONPATH=operators/etcd/src $(BIN)/python bench/etcd.py $(WHAT)

bench-tests: .venv/.stamp  ## thirty tests of an operator, each with a cluster of its own
	$(BIN)/python bench/operator_tests.py

clean:  ## remove what make made here (not the reference build's cache)
	rm -rf build .venv .venv-bench .venv-clients .venv-docs .hypothesis .mypy_cache .pytest_cache .ruff_cache
