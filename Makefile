# demo, test, lint, docs and bench work in a fresh clone: they make .venv first.

PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/.installed

.PHONY: demo test lint docs bench clean

demo: $(INSTALLED)
	@echo '$$ raceproof check examples/bank.c'
	@$(BIN)/raceproof check examples/bank.c; code=$$?; \
	echo "(exit code $$code: 0 nothing to report, 1 findings, 2 could not analyse)"; \
	test $$code -le 1

test: $(INSTALLED)
	$(BIN)/pytest -n auto tests

lint: $(INSTALLED)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(INSTALLED)
	$(BIN)/pip install --quiet --editable '.[docs]'
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet --site-dir build/site

bench: $(INSTALLED)
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/machine.py
	$(BIN)/python benchmarks/reduction.py

clean:
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis build dist

$(INSTALLED): pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --editable '.[dev]'
	touch $@
