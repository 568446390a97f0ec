package server

import (
	"regexp"
	"slices"
	"strings"
)

const envPrefix = "HALLMARK_"

// kubernetes is what Kubernetes puts into every container for a Service called hallmark,
// behind the prefix; likewise for others whose name begins with that.
var kubernetes = regexp.MustCompile(`^(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT(_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$`)

// UnknownVariables returns, sorted, the names of those variables of an environment
// ("NAME=value" each) that look like settings and are none, each with the setting that may
// be meant where one is close. Left out are empty ones, those that Kubernetes makes for a
// Service, and those of Hallmark's own tests. No value is in them.
func UnknownVariables(environ []string) []string {
	c := DefaultConfig()
	var known []string
	for _, f := range c.Fields() {
		known = append(known, f.Env)
	}
	services := servicesIn(environ)
	var unknown []string
	for _, e := range environ {
		name, value, _ := strings.Cut(e, "=")
		if value == "" || !strings.HasPrefix(name, envPrefix) || slices.Contains(known, name) || ofOthers(name, services) {
			continue
		}
		if near := nearestVariable(name, known); near != "" {
			name += " (did you mean " + near + "?)"
		}
		unknown = append(unknown, name)
	}
	slices.Sort(unknown)
	return slices.Compact(unknown)
}

// servicesIn returns what stands before the variables of Kubernetes' Services. Only one
// that has a host is taken for a Service, but for the one that is called hallmark.
func servicesIn(environ []string) []string {
	services := []string{envPrefix}
	for _, e := range environ {
		name, _, _ := strings.Cut(e, "=")
		if service, is := strings.CutSuffix(name, "SERVICE_HOST"); is && strings.HasPrefix(service, envPrefix) {
			services = append(services, service)
		}
	}
	return services
}

// ofOthers reports whether a name is of Kubernetes or of the tests.
func ofOthers(name string, services []string) bool {
	for _, prefix := range []string{"HALLMARK_TEST_", "HALLMARK_REQUIRE_"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return name == "HALLMARK_SHARED" || slices.ContainsFunc(services, func(service string) bool {
		rest, is := strings.CutPrefix(name, service)
		return is && kubernetes.MatchString(rest)
	})
}

// nearestVariable returns the one name that a misspelt one may stand for: at most two
// letters away, or else the one with which it shares words and differs in no more than
// words that one of them lacks. "" where there is none, or no single one.
func nearestVariable(name string, known []string) string {
	near, most, single := "", 3, false
	for _, k := range known {
		switch d := letters(name, k); {
		case d < most:
			near, most, single = k, d, true
		case d == most:
			single = false
		}
	}
	if near != "" && single {
		return near
	}
	words := func(s string) []string { return strings.Split(strings.TrimPrefix(s, envPrefix), "_") }
	near, shared, single := "", 0, false
	for _, k := range known {
		a, b := words(name), words(k)
		if !covers(a, b) && !covers(b, a) {
			continue
		}
		switch n := min(len(a), len(b)); {
		case n > shared:
			near, shared, single = k, n, true
		case n == shared:
			single = false
		}
	}
	if !single {
		return ""
	}
	return near
}

// covers reports whether every word of b is one of a.
func covers(a, b []string) bool {
	return !slices.ContainsFunc(b, func(word string) bool { return !slices.Contains(a, word) })
}

// letters is how many bytes have to be changed, added or taken away to make b of a.
func letters(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0]++
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
