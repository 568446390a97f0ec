// Command testreport reads the events of `go test -json` on standard input and
// prints what a person needs: a line per package, the output of tests that failed,
// and at the end every test that was skipped, with its reason. A test that could not
// run because something was absent is thereby never a silent pass.
//
//	go test -json ./... | go run tools/testreport/main.go
//	go test -json -run Conformance ./... | go run tools/testreport/main.go -strict
//
// With -strict a skipped test is a failure, and so is a run in which no test ran:
// `go test -run X` with no match ends well and proves nothing.
//
// Exit status: 0 if all is well, 1 if a test or a build failed or -strict was not
// met. The pipe's other end fails by itself; run it under `set -o pipefail`.
// It imports the standard library alone, so that `make test` needs Go and no more.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// event is one line of `go test -json`, see `go doc test2json` and `go help buildjson`.
type event struct {
	Action     string
	Package    string
	ImportPath string // of a build; that of a test reads "p [p.test]"
	Test       string
	Output     string
}

// key names one test of one package; an empty test is the package itself.
type key struct{ pkg, test string }

// report gathers what the run showed. Its zero value is not ready: see newReport.
type report struct {
	out     io.Writer
	pending map[key][]string // output of tests that have not ended
	skipped []string
	passed  int
	failed  int
	// Packages in which a test has failed: their own failure says nothing new.
	told map[string]bool
}

func newReport(out io.Writer) *report {
	return &report{out: out, pending: make(map[key][]string), told: make(map[string]bool)}
}

func main() {
	strict := flag.Bool("strict", false, "fail if a test was skipped or none ran")
	flag.Parse()
	r := newReport(os.Stdout)
	if err := r.read(os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "testreport:", err)
		os.Exit(1)
	}
	if !r.finish(*strict) {
		os.Exit(1)
	}
}

// read consumes events until the end of in. A line that is no event is passed on as
// it is: whatever go says beside its events may be the reason of a failure.
func (r *report) read(in io.Reader) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			var e event
			if json.Unmarshal([]byte(line), &e) == nil && e.Action != "" {
				r.take(e)
			} else {
				fmt.Fprint(r.out, line)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (r *report) take(e event) {
	k := key{e.Package, e.Test}
	switch e.Action {
	case "build-output":
		fmt.Fprint(r.out, e.Output)
	case "build-fail":
		r.failed++
		pkg, _, _ := strings.Cut(e.ImportPath, " ")
		r.told[pkg] = true
	case "output":
		if e.Test == "" {
			r.packageLine(e.Output)
			return
		}
		r.pending[k] = append(r.pending[k], e.Output)
	case "pass", "fail", "skip":
		r.end(e.Action, k)
	}
}

// packageLine prints a line of a package. Packages without tests and the lone PASS
// before each result say nothing.
func (r *report) packageLine(line string) {
	if line == "PASS\n" || strings.HasSuffix(line, "[no test files]\n") {
		return
	}
	fmt.Fprint(r.out, line)
}

func (r *report) end(action string, k key) {
	if k.test == "" {
		if action == "fail" {
			if !r.told[k.pkg] {
				r.failed++
			}
			r.flush(k.pkg)
		}
		return
	}
	output := r.pending[k]
	delete(r.pending, k)
	switch action {
	case "pass":
		r.passed++
	case "fail":
		r.failed++
		r.told[k.pkg] = true
		fmt.Fprint(r.out, strings.Join(output, ""))
	case "skip":
		r.skipped = append(r.skipped, fmt.Sprintf("SKIPPED: %s %s: %s", k.pkg, k.test, reason(output)))
	}
}

// flush prints what the unended tests of a package said: the process died in one.
func (r *report) flush(pkg string) {
	var ends []key
	for k := range r.pending {
		if k.pkg == pkg {
			ends = append(ends, k)
		}
	}
	slices.SortFunc(ends, func(a, b key) int { return strings.Compare(a.test, b.test) })
	for _, k := range ends {
		fmt.Fprint(r.out, strings.Join(r.pending[k], ""))
		delete(r.pending, k)
	}
}

// reason takes what t.Skip was given from the output of a skipped test.
func reason(output []string) string {
	var said []string
	for _, line := range output {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "=== ") || strings.HasPrefix(line, "--- ") {
			continue
		}
		said = append(said, line)
	}
	if len(said) == 0 {
		return "no reason given"
	}
	return strings.Join(said, " ")
}

// finish prints the skips and the totals and says whether all is well.
func (r *report) finish(strict bool) bool {
	slices.Sort(r.skipped)
	for _, line := range r.skipped {
		fmt.Fprintln(r.out, line)
	}
	fmt.Fprintf(r.out, "%d passed, %d failed, %d skipped\n", r.passed, r.failed, len(r.skipped))
	ok := r.failed == 0
	if strict && len(r.skipped) > 0 {
		fmt.Fprintln(r.out, "a skipped test is a failure here: bring what it names")
		ok = false
	}
	if strict && r.passed == 0 {
		fmt.Fprintln(r.out, "no test passed: the run proves nothing")
		ok = false
	}
	return ok
}
