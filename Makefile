# Two commands: `make run` and `make test`. Both set up what they need the first time and start at once after that.

VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.PHONY: run test setup lint format types docs bench coverage mutants clean

run: setup
	@$(BIN)/python -m sill.cli.first_run

test: setup
	@$(BIN)/python scripts/browser.py
	@$(BIN)/python tests/run.py

setup: $(READY)

$(READY): pyproject.toml constraints.txt scripts/setup.py
	@command -v python3 >/dev/null 2>&1 || { echo "setup: python3 is missing; install Python 3.11 or newer" >&2; exit 2; }
	@python3 scripts/setup.py $(VENV)
	@touch $@

page: setup
	@$(BIN)/python scripts/build_page.py

lint: setup
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .

format: setup
	@$(BIN)/ruff check --fix . ; $(BIN)/ruff format .

types: setup
	@$(BIN)/mypy

docs: setup
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

bench: setup
	@$(BIN)/python bench/run.py $(ARGS)

coverage: setup
	@$(BIN)/python scripts/coverage.py

mutants: setup
	@nice -n 15 $(BIN)/python scripts/mutate.py

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
