#!/bin/bash -eu
# Packs every fuzz target with its dictionary, options and seeds into $OUT. The base image brings atheris.
pip3 install .
targets="$WORK/targets"
python3 -m conformance fuzz export "$targets"
for entry in "$targets"/fuzz_*.py; do
  compile_python_fuzzer "$entry" \
    --collect-data conformance --collect-submodules conformance.reference --add-data "$PWD/fuzz/captures.zip:fuzz"
done
cp "$targets"/*.dict "$targets"/*.options "$targets"/*_seed_corpus.zip "$OUT/"
