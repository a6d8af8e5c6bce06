VENV ?= .venv
PY := $(VENV)/bin/python
STAMP := $(VENV)/.stamp
WANTED := -c constraints.txt -e '.[dev]' -e ./research

.PHONY: setup demo test explore golden docs bench clean

setup: $(STAMP)

# uv is fast; where it cannot be used, pip does the same.
$(STAMP): pyproject.toml research/pyproject.toml constraints.txt
	test -x $(PY) || python3 -m venv $(VENV)
	$(PY) -m pip install --quiet uv || true
	UV_FIND_LINKS="$$(python3 -m pip config get global.find-links 2>/dev/null)" \
	  $(PY) -m uv pip install --quiet --compile-bytecode --python $(PY) $(WANTED) \
	  || $(PY) -m pip install --quiet $(WANTED)
	touch $@

demo: setup
	$(VENV)/bin/spadework demo

test: setup
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .
	$(VENV)/bin/pyright
	$(VENV)/bin/lint-imports
	OMP_NUM_THREADS=1 $(PY) -m pytest -n auto --dist worksteal -q  # a worker a core, a thread a worker
	folder=$$(mktemp -d) && $(VENV)/bin/spadework bench --quick --seeds 1 --out $$folder && rm -r $$folder

# Property tests with fresh draws, ten times as many; a find becomes an @example.
explore: setup
	OMP_NUM_THREADS=1 $(PY) -m pytest -n auto --dist worksteal -q -m hypothesis \
	  --hypothesis-profile=explore

# Where scores were to change: write the golden ones anew, and print what moved.
golden: setup
	OMP_NUM_THREADS=1 $(PY) tests/golden.py

docs: setup  # the report of all runs, as Markdown and as a page
	$(VENV)/bin/spadework bench report

bench: setup
	$(PY) -m spadework_research.studies.speed

clean:
	rm -rf $(VENV) research/results-quick .pytest_cache .ruff_cache .hypothesis build dist
