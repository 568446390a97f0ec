#!/bin/sh
# Builds what is not built yet: Maven alone would compile everything anew every time.
set -eu
rules=../../.tmp/deps/protovalidate
test -e $rules/buf/validate/validate.proto || make -s -C ../.. .tmp/deps/protovalidate/buf/validate/validate.proto
if ! test -e target/built || test -n "$(find pom.xml src ../../proto $rules -newer target/built)"; then
	mvn -q -B compile
	touch target/built
fi
exec java -cp "target/classes:$(cat target/classpath)" test.example.client.Main
