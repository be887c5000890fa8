# Needs Python 3.11 or newer (with its venv module), make and git, nothing else. All that the
# targets use is installed, with the versions of constraints.txt, into .venv beside this file.
#
#   make ratio                          install if needed, then reproduce the figure
#   make test ARGS='-k engine -x'       ARGS goes to the command of ratio, test and test-all
#   make PYTHON=/path/to/python3.12     the Python to make .venv with

SHELL = /bin/sh
PYTHON =
ARGS =

PYTHONS = python3 python3.13 python3.12 python3.11 python3.14 python
STAMP = .venv/.installed
PIP = .venv/bin/python -I -m pip --disable-pip-version-check --no-input

# The caller's environment may belong to another installation. What names a mirror, a proxy or
# a certificate stays; what would send packages elsewhere, or other modules here, goes.
unexport PYTHONHOME PYTHONPATH PYTHONSTARTUP PYTHONUSERBASE PYTHONPLATLIBDIR PYTHONEXECUTABLE
unexport PYTHONOPTIMIZE PYTHONWARNINGS PYTHONINSPECT PYTHONSAFEPATH __PYVENV_LAUNCHER__
unexport VIRTUAL_ENV CONDA_PREFIX MYPYPATH RUFF_CONFIG
unexport PIP_ABI PIP_CONSTRAINT PIP_DRY_RUN PIP_EDITABLE PIP_FORCE_REINSTALL PIP_IGNORE_INSTALLED
unexport PIP_IMPLEMENTATION PIP_NO_BINARY PIP_NO_BUILD_ISOLATION PIP_PLATFORM PIP_PRE
unexport PIP_PREFIX PIP_PYTHON PIP_PYTHON_VERSION PIP_REQUIREMENT PIP_ROOT PIP_SRC PIP_TARGET
unexport PIP_UPGRADE PIP_VERBOSE PIP_BUILD_CONSTRAINT PIP_REQUIRE_HASHES PIP_REPORT
# These settings may also come from a configuration file, which only another value overrides.
export PIP_USER = 0
export PIP_NO_DEPS = 0
# Figures are drawn to files, also when the caller is a notebook's terminal.
export MPLBACKEND = Agg

# A .venv is out of use when its install was cut short, when the folder has been moved (scripts
# in it name their interpreter by full path), or when the Python it was made with has gone.
STALE := $(shell test "`cat $(STAMP) 2>/dev/null`" = "`pwd -P`" \
	&& .venv/bin/python -I -c '' 2>/dev/null || echo stale)

.DEFAULT_GOAL := help
.PHONY: help install ratio test test-all lint format constraints clean stale notebooks-pdf \
	model-book

help: ## show these lines
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

ratio: $(STAMP) ## reproduce the competitive-ratio figure (training/ratio)
	@.venv/bin/schedlab reproduce ratio $(ARGS)

test: $(STAMP) ## run the tests, without the slow ones
	@.venv/bin/python -m pytest $(ARGS)

test-all: $(STAMP) ## run all tests, also the slow ones
	@.venv/bin/python -m pytest -m "slow or not slow" $(ARGS)

notebooks-pdf: $(STAMP) ## run the notebooks and print them to build/notebooks (pandoc, Chromium)
	@.venv/bin/python -m experiments.notebook_pages $(ARGS)

model-book: $(STAMP) ## write notebooks/MODELS.md again from the docstrings
	@.venv/bin/python -m experiments.model_book

lint: $(STAMP) ## ruff (rules and layout) and mypy
	@status=0; \
	.venv/bin/ruff check || status=1; \
	.venv/bin/ruff format --check || status=1; \
	.venv/bin/mypy || status=1; \
	exit $$status

format: $(STAMP) ## let ruff fix what it can, and lay out the code
	@.venv/bin/ruff check --fix
	@.venv/bin/ruff format

install: $(STAMP) ## make .venv with the pinned versions

# The stamp is written last, so that an install that was cut short is done again from nothing;
# after a change of pyproject.toml or constraints.txt a sound .venv is brought up to date.
$(STAMP): pyproject.toml constraints.txt $(STALE)
	@set -e; \
	if test -n "$(STALE)"; then \
	    $(find_python); \
	    echo "Making .venv with $$python" >&2; \
	    "$$python" -I -m venv --clear .venv; \
	fi; \
	rm -f $@; \
	echo "Installing the versions of constraints.txt into .venv: about a minute" >&2; \
	$(PIP) install --quiet -c constraints.txt hatchling; \
	$(PIP) install --quiet -c constraints.txt --no-build-isolation -e '.[dev]'; \
	pwd -P > $@

stale:

# Sets $python to an interpreter that is new enough and can make environments. An interpreter
# inside an environment answers with the one it was made from, so that .venv outlives it.
define find_python
python=; tried=; \
for candidate in $(if $(PYTHON),"$(PYTHON)",$(PYTHONS)); do \
    path=`command -v "$$candidate" 2>/dev/null` || continue; \
    answer=`"$$path" -E -s -c "$$probe" 2>/dev/null` || answer="does not start"; \
    case $$answer in \
        use:*) python=$${answer#use:}; break ;; \
        *) tried="$$tried, $$candidate ($$answer)" ;; \
    esac; \
done; \
if test -z "$$python"; then \
    echo "error: no Python 3.11 or newer with its venv module was found." >&2; \
    echo "Looked for $(if $(PYTHON),$(PYTHON),$(PYTHONS))$${tried:+; found: $${tried#, }}." >&2; \
    echo "Install one, or name one: make PYTHON=/path/to/python3" >&2; \
    exit 1; \
fi
endef

define probe
import sys
version = '.'.join(map(str, sys.version_info[:3]))
try:
    import ensurepip, venv
    able = True
except ImportError:
    able = False
if sys.version_info < (3, 11):
    print('version ' + version)
elif not able:
    print('version ' + version + ', without venv')
else:
    print('use:' + (getattr(sys, '_base_executable', None) or sys.executable))
endef
export probe

constraints: ## resolve the newest versions again and pin them (use Python 3.11)
	@set -e; \
	$(find_python); \
	rm -rf build/constraints; \
	"$$python" -I -m venv build/constraints; \
	build/constraints/bin/python -I -m pip --disable-pip-version-check install --quiet '.[dev]'; \
	build/constraints/bin/python -I -m pip --disable-pip-version-check freeze \
	    --exclude schedlab > build/constraints/pins; \
	mv build/constraints/pins constraints.txt

clean: ## remove .venv, builds and caches; results/ stays
	rm -rf .venv build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
