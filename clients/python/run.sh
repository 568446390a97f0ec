#!/usr/bin/env bash
# Builds what is missing below build/, then runs the client against HALLMARK_ADDR.
set -euo pipefail
cd "$(dirname "$0")"
proto=../../proto
deps=../../.tmp/deps/protovalidate # what proto/ imports; `make generate` writes it too
make -s -C ../.. .tmp/deps/protovalidate/buf/validate/validate.proto

stamp=$(cat run.sh requirements.txt "$deps"/buf/validate/*.proto "$proto"/hallmark/v1/*.proto | sha256sum)
if [ "$stamp" != "$(cat build/stamp 2>/dev/null)" ]; then
  rm -rf build
  python3 -m venv build/venv
  build/venv/bin/pip install --quiet --disable-pip-version-check -r requirements.txt
  mkdir build/gen
  PATH="$PWD/build/venv/bin:$PATH" build/venv/bin/python -m grpc_tools.protoc -I "$proto" -I "$deps" \
    --python_out=build/gen --mypy_out=quiet:build/gen \
    --grpc_python_out=build/gen --mypy_grpc_out=quiet:build/gen \
    buf/validate/validate.proto $(cd "$proto" && echo hallmark/v1/*.proto)
  echo "$stamp" >build/stamp
fi
export PYTHONPATH=build/gen
tests=$(build/venv/bin/python -m unittest --quiet test_permit 2>&1) || { echo "$tests"; exit 1; }
echo "ok     the recipe's own tests"
exec build/venv/bin/python orchestrator.py
