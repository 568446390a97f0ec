package contract

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
)

// The contract that the tables break.
const (
	jobFolder = "job_status/v1/"
	yamlOf    = jobFolder + "contract.yaml"
	caseOf    = jobFolder + "cases/accepted-failed-run.yaml"
)

// A change breaks a tree.
type change func(t testing.TB, m fstest.MapFS)

// edit replaces the one place in a file where old stands.
func edit(t testing.TB, m fstest.MapFS, file, old, replacement string) {
	t.Helper()
	text := string(m[file].Data)
	if strings.Count(text, old) != 1 {
		t.Fatalf("%s: %q stands %d times", file, old, strings.Count(text, old))
	}
	m[file].Data = []byte(strings.Replace(text, old, replacement, 1))
}

func in(file, old, replacement string) change {
	return func(t testing.TB, m fstest.MapFS) { t.Helper(); edit(t, m, file, old, replacement) }
}

// y edits contract.yaml, k the accepted case.
func y(old, replacement string) change { return in(yamlOf, old, replacement) }
func k(old, replacement string) change { return in(caseOf, old, replacement) }

func file(name, text string) change {
	return func(_ testing.TB, m fstest.MapFS) { m[name] = &fstest.MapFile{Data: []byte(text)} }
}

func drop(names ...string) change {
	return func(_ testing.TB, m fstest.MapFS) {
		for _, name := range names {
			delete(m, name)
		}
	}
}

func both(changes ...change) change {
	return func(t testing.TB, m fstest.MapFS) {
		t.Helper()
		for _, c := range changes {
			c(t, m)
		}
	}
}

// A row is one broken tree. Each of want is one fault, "place: fragment"; a place
// that begins with ":" is in contract.yaml, one with "+:" in the accepted case.
type row struct {
	line int // of the table, for go test -run
	harm change
	want []string
}

func r(c change, want ...string) row {
	_, _, line, _ := runtime.Caller(1)
	return row{line, c, want}
}

// runRows checks that a tree has exactly the faults of its row, in order.
func runRows(t *testing.T, rows []row) {
	t.Helper()
	for _, row := range rows {
		t.Run(fmt.Sprintf("line%d", row.line), func(t *testing.T) {
			m := good(t)
			row.harm(t, m)
			tree, err := Load(m)
			if len(row.want) == 0 {
				if err != nil {
					t.Errorf("line %d: %v", row.line, err)
				}
				return
			}
			var faults Faults
			if !errors.As(err, &faults) || tree != nil {
				t.Fatalf("line %d: Load = %v, %v; want faults", row.line, tree, err)
			}
			for i, f := range faults {
				if strings.Contains(f.String(), "SECRET") {
					t.Errorf("line %d: a value of the payload is shown: %s", row.line, f)
				}
				if i >= len(row.want) {
					t.Errorf("line %d: one more fault:\n%s", row.line, f)
					continue
				}
				w := row.want[i]
				switch {
				case strings.HasPrefix(w, ":"):
					w = yamlOf + w
				case strings.HasPrefix(w, "+:"):
					w = caseOf + w[1:]
				}
				place, fragment, _ := strings.Cut(w, ": ")
				if got := f.String(); !strings.HasPrefix(got, place+": ") || !strings.Contains(got, fragment) {
					t.Errorf("line %d:\ngot  %s\nwant %s: …%s…", row.line, got, place, fragment)
				}
			}
			for _, w := range row.want[min(len(faults), len(row.want)):] {
				t.Errorf("line %d: no fault %s", row.line, w)
			}
		})
	}
}

func long(n int) string { return strings.Repeat("a", n) }

// deep returns n nested lists.
func deep(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
