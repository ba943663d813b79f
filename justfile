# Recipes for work at a desk: `just` lists them (pip install --group light brings it).
python := ".venv/bin/python"

# List the recipes.
default:
    @just --list --unsorted

# Make an environment for most work: no Spark, no fuzzer (seconds).
light:
    python3 -m venv .venv
    .venv/bin/pip install --quiet --upgrade pip
    .venv/bin/pip install --quiet --editable . --group light --constraint .github/constraints.txt

# Make the environment that has everything.
dev:
    python3 -m venv .venv
    .venv/bin/pip install --quiet --upgrade pip
    .venv/bin/pip install --quiet --editable . --group dev --constraint .github/constraints.txt

# Run the tests of modules: a file or a folder, such as conformance/reference/partial.
test +places:
    {{python}} -m tests.inner {{places}}

# Run all tests.
all:
    .venv/bin/pytest --numprocesses auto --maxprocesses 4 --dist loadfile

# Run the tests that need no server.
offline:
    .venv/bin/pytest -m "not live and not container and not spark" --numprocesses auto --maxprocesses 4 --dist loadfile

# Format, then lint.
lint:
    .venv/bin/ruff format .
    .venv/bin/ruff check .
    .venv/bin/lint-imports

# Check types.
types:
    .venv/bin/mypy

# Run everything that CI runs.
ci:
    .ci/run

# Build the docs site.
docs:
    .venv/bin/sphinx-build -W --keep-going -b html docs docs/_build/html

# Run the main job: 10,000 updates on a real server.
conformance *options:
    .venv/bin/binlog-lab conformance --updates 10000 {{options}}

# Count the planted faults, and write their page.
faults:
    {{python}} -m tests.faults --page

# Compare what is said with the recorded digests; --write --kind NAME renews one.
answers *options:
    {{python}} -m tests.systems.answers {{options}}

# Paste the README's blocks into empty systems (root, mmdebstrap).
systems *options:
    {{python}} -m tests.systems {{options}}

# Try a release: archives, checksums, links, licences, a fresh environment.
release *options:
    {{python}} -m tests.builds.release {{options}}

# Bring the changelog's fragments into CHANGELOG.md.
changelog:
    .venv/bin/towncrier build --yes

# Renew the versions that these environments have (needs uv).
lock:
    uv pip compile --quiet --universal --python-version 3.11 pyproject.toml --all-extras --group dev \
        --no-annotate --no-header --no-emit-index-url --upgrade --output-file .github/constraints.txt
