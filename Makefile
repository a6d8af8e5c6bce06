VENV ?= .venv
PY := $(VENV)/bin/python
STAMP := $(VENV)/.stamp
WANTED := -c constraints.txt -e '.[dev]' -e ./research

BARE := .venv-bare
LOWEST := .venv-lowest
TOOLS := 'pytest>=8' 'hypothesis>=6.100' 'pandas>=2.2.2' 'polars>=1.0'
PART := tests/test_extras.py tests/test_base.py tests/core/test_gaussian.py \
  tests/core/test_neighbours.py tests/learners/test_forest.py \
  tests/learners/test_trees.py \
  tests/in_context/test_modules.py tests/tables/test_table_files.py
UV = UV_FIND_LINKS="$$(python3 -m pip config get global.find-links 2>/dev/null)" $(PY) -m uv
WITHOUT_EXTRAS = --quiet -c constraints.txt --python $(BARE)/bin/python
LOW = --quiet --resolution lowest-direct --override $(LOWEST)/torch.txt \
  --python $(LOWEST)/bin/python
# Threads that wait leave the core to others, as in tests that want two.
ONE_THREAD := OMP_NUM_THREADS=1 OMP_WAIT_POLICY=passive
A_PART = $(ONE_THREAD) $(1)/bin/python -m pytest -q -p no:cacheprovider $(PART)

.PHONY: setup demo test test-bare test-lowest explore golden mutants docs bench clean

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
	$(ONE_THREAD) $(PY) -m pytest -n auto --dist worksteal -q  # a worker a core
	$(MAKE) -j2 test-bare test-lowest
	folder=$$(mktemp -d) && $(VENV)/bin/spadework bench --quick --seeds 1 --out $$folder && rm -r $$folder

test-bare: setup  # without any extra
	$(UV) venv --quiet --clear $(BARE)
	$(UV) pip install $(WITHOUT_EXTRAS) . $(TOOLS)
	$(call A_PART,$(BARE))

# The lowest versions that pyproject.toml allows, but for torch: its old wheels bring
# gigabytes of CUDA.
test-lowest: setup
	$(UV) venv --quiet --clear $(LOWEST)
	$(UV) pip freeze --python $(PY) | grep ^torch= > $(LOWEST)/torch.txt
	$(UV) pip install $(LOW) '.[export,sql,images]' $(TOOLS)
	$(call A_PART,$(LOWEST))

# Property tests with fresh draws, ten times as many; a find becomes an @example.
explore: setup
	$(ONE_THREAD) $(PY) -m pytest -n auto --dist worksteal -q -m hypothesis \
	  --hypothesis-profile=explore

# Where scores were to change: write the golden ones anew, and print what moved.
golden: setup
	OMP_NUM_THREADS=1 $(PY) tests/golden.py

# Constants of the detectors that ship: which golden score a tenth of each one moves.
mutants: setup
	OMP_NUM_THREADS=1 $(PY) tests/mutants.py 2

docs: setup  # the report of all runs, as Markdown and as a page
	$(VENV)/bin/spadework bench report

bench: setup
	$(PY) -m spadework_research.studies.speed

clean:
	rm -rf $(VENV) $(BARE) $(LOWEST) research/results-quick .pytest_cache .ruff_cache .hypothesis build dist
