#!/usr/bin/env bash
# Runs every fuzz target of the repository, one after another, FUZZTIME each.
#
#   FUZZTIME=60s tools/fuzz.sh            all targets
#   FUZZ='^FuzzParse' tools/fuzz.sh       those whose name matches
#
# Targets are found in the sources and then asked for by name: `go test -fuzz=X` ends
# well when nothing matches, so a target that its package does not list (a build tag,
# a wrong signature) stops the run, and so does a run without any target.
set -eu -o pipefail

go=${GO:-go}
time=${FUZZTIME:-60s}
pattern=${FUZZ:-.}

cd "$(dirname "$0")/.."
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# "file:func FuzzName(" -> "./folder FuzzName". Nested modules and copies are not ours
# to run; testdata holds no Go that runs.
targets=$(find . -name '*_test.go' -not -path './.tmp/*' -not -path './tools/*' \
		-not -path '*/testdata/*' -exec grep -HoE '^func Fuzz[A-Za-z0-9_]*\(' {} + |
	sed -E 's#^(\./)?(.*)/[^/]*:func (Fuzz[A-Za-z0-9_]*)\($#./\2 \3#' | sort -u || true)

ran=0
while read -r package target; do
	if [ -z "$target" ] || ! [[ $target =~ $pattern ]]; then
		continue
	fi
	listed=$("$go" test -list "^${target}\$" "$package" </dev/null)
	if ! grep -qx "$target" <<<"$listed"; then
		echo "fuzz: $package does not list $target: it would never run" >&2
		exit 1
	fi
	echo "fuzz: $package $target for $time"
	if ! "$go" test -run '^$' -fuzz "^${target}\$" -fuzztime "$time" -fuzzminimizetime 20x "$package" </dev/null 2>&1 | tee "$log"; then
		# go's fuzzing engine now and then reports the end of -fuzztime itself as a failure,
		# with this line and without an input; anything else is a finding.
		if grep -q 'Failing input written' "$log" || ! grep -qx '    context deadline exceeded' "$log"; then
			exit 1
		fi
		echo "fuzz: $target ended with its time, without a finding"
	fi
	ran=$((ran + 1))
done <<<"$targets"

if [ "$ran" -eq 0 ]; then
	echo "fuzz: no target matches '$pattern'" >&2
	exit 1
fi
echo "fuzz: $ran targets held"
