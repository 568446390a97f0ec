#!/bin/sh
# validate.proto is made from the project's Go module, where it is not there yet.
set -eu
test -e ../../.tmp/deps/protovalidate/buf/validate/validate.proto || make -s -C ../.. .tmp/deps/protovalidate/buf/validate/validate.proto
exec cargo run --quiet --locked
