#!/bin/sh
# validate.proto is made from the project's Go module, where it is not there yet.
set -eu
test -e ../../.tmp/deps/protovalidate/buf/validate/validate.proto || make -s -C ../.. .tmp/deps/protovalidate/buf/validate/validate.proto
mvn -q -B compile
exec java -cp "target/classes:$(cat target/classpath)" test.example.client.Main
