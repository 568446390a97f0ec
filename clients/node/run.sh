#!/usr/bin/env bash
# Builds what is missing below node_modules/, src/gen/ and build/, then runs the client
# against HALLMARK_ADDR.
set -euo pipefail
cd "$(dirname "$0")"
validate=.tmp/deps/protovalidate/buf/validate/validate.proto # what proto/ imports; buf.yaml names it
make -s -C ../.. "$validate"

stamp=$(cat run.sh package-lock.json tsconfig.json buf.gen.yaml src/*.ts "../../$validate" ../../proto/hallmark/v1/*.proto | sha256sum)
if [ "$stamp" != "$(cat build/stamp 2>/dev/null)" ]; then
  rm -rf build
  lock=$(sha256sum package-lock.json)
  if [ "$lock" != "$(cat node_modules/.stamp 2>/dev/null)" ]; then
    npm ci --silent --no-audit --no-fund
    echo "$lock" >node_modules/.stamp
  fi
  npm run --silent generate
  npm run --silent build
  echo "$stamp" >build/stamp
fi
tests=$(npm test --silent 2>&1) || { echo "$tests"; exit 1; }
echo "ok     the recipe's own tests"
exec npm start --silent
