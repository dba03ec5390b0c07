# Everything an engineer does here, each in one word. The first two set themselves up on a fresh machine.

BIN := .venv/bin
SOURCES := adapters api bot domain ingestion localchat prompts rag sandbox
UV ?= uv
LOCK := $(UV) pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url --no-annotate
WORKERS ?= 6

.PHONY: run test check lint types imports tests format lock sbom wheel pictures migration released clean

run: .venv/run.stamp        ## start Baza; it says which page to open
	@while $(BIN)/baza run; status=$$?; [ $$status -eq 75 ]; do :; done; exit $$status

test: .venv/test.stamp      ## everything: format, lint, types, imports, shape, tests (says what it skipped and why)
	@$(MAKE) --no-print-directory -j2 check tests

check: lint types imports

lint: .venv/test.stamp
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: .venv/test.stamp
	$(BIN)/mypy $(SOURCES) tests benchmarks

imports: .venv/test.stamp
	$(BIN)/lint-imports

tests: .venv/test.stamp     ## on two cores six at once: some of their time they wait
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -p tests.forks --processes $(WORKERS) --durations=20

pictures: .venv/test.stamp  ## take the README's pictures anew
	BAZA_PICTURES=docs/pictures $(BIN)/python -m pytest -q tests/acceptance/test_make_run.py

format: .venv/test.stamp    ## format and mend what can be mended by machine
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lock: .venv/test.stamp      ## resolve the dependencies anew (needs uv)
	$(LOCK) pyproject.toml -o requirements.lock
	$(LOCK) pyproject.toml --group dev -c requirements.lock -o requirements-dev.lock
	$(LOCK) --group build -c requirements-dev.lock -o requirements-build.lock

migration: .venv/test.stamp ## for the Supabase CLI: the functions that have changed, as the next migration (NAME=…)
	$(BIN)/python -m tests.collecting $(NAME)

released: .venv/test.stamp  ## at a release: the migrations hold all functions, and nobody edits them any more
	$(BIN)/python -m tests.collecting functions
	cd supabase && sha256sum migrations/*.sql > released.sha256

sbom:                       ## dist/baza.cdx.json: what a running Baza consists of, as CycloneDX (needs uv)
	@mkdir -p dist
	$(UV) tool run --from cyclonedx-bom==7.5.0 cyclonedx-py requirements --pyproject pyproject.toml --output-reproducible \
	  -o dist/baza.cdx.json requirements.lock

wheel: .venv/test.stamp     ## dist/baza-*.whl
	$(BIN)/python -m hatchling build -t wheel

clean:
	rm -rf .venv dist build

.venv/run.stamp: requirements.lock requirements-build.lock pyproject.toml
	@sh .ci/setup requirements.lock $@

.venv/test.stamp: requirements-dev.lock requirements.lock pyproject.toml
	@sh .ci/setup requirements-dev.lock $@
	@touch .venv/run.stamp # the development packages hold the others, in the same versions
