# Turns what Go benchmarks report into lines of name, value, goal.
/^Benchmark/ {
	name = $1
	sub(/^Benchmark/, "", name)
	sub(/-[0-9]+$/, "", name)
	goal = "-"
	for (i = 3; i < NF; i += 2)
		if ($(i + 1) == "goal") goal = $i
	for (i = 3; i < NF; i += 2) {
		unit = $(i + 1)
		if (unit == "value") print name, $i, goal
		else if (unit != "goal" && unit != "ns/op") print name ":" unit, $i, "-"
	}
}
