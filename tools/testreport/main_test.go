package main

import (
	"strings"
	"testing"
)

func TestReport(t *testing.T) {
	const (
		pass = `{"Action":"run","Package":"p","Test":"A"}
{"Action":"output","Package":"p","Test":"A","Output":"=== RUN   A\n"}
{"Action":"output","Package":"p","Test":"A","Output":"    a_test.go:1: quiet\n"}
{"Action":"pass","Package":"p","Test":"A"}
{"Action":"output","Package":"p","Output":"PASS\n"}
{"Action":"output","Package":"p","Output":"ok  \tp\t0.1s\n"}
{"Action":"pass","Package":"p"}
`
		skip = `{"Action":"output","Package":"p","Test":"B","Output":"=== RUN   B\n"}
{"Action":"output","Package":"p","Test":"B","Output":"    b_test.go:7: corpora absent\n"}
{"Action":"output","Package":"p","Test":"B","Output":"--- SKIP: B (0.00s)\n"}
{"Action":"skip","Package":"p","Test":"B"}
`
		fail = `{"Action":"output","Package":"p","Test":"C","Output":"    c_test.go:9: got 1\n"}
{"Action":"fail","Package":"p","Test":"C"}
{"Action":"fail","Package":"p"}
`
		died = `{"Action":"output","Package":"p","Test":"D","Output":"panic: oh\n"}
{"Action":"fail","Package":"p"}
`
		build = `{"ImportPath":"p [p.test]","Action":"build-output","Output":"x.go:1: undefined: y\n"}
{"ImportPath":"p [p.test]","Action":"build-fail"}
{"Action":"fail","Package":"p","FailedBuild":"p [p.test]"}
`
	)
	for _, tt := range []struct {
		name   string
		in     string
		strict bool
		ok     bool
		want   string // must be in the output
		not    string // must not
	}{
		{name: "pass is quiet", in: pass, ok: true, want: "ok  \tp", not: "quiet"},
		{name: "skip is said", in: pass + skip, ok: true, want: "SKIPPED: p B: b_test.go:7: corpora absent\n"},
		{name: "strict refuses a skip", in: pass + skip, strict: true, want: "bring what it names"},
		{name: "strict refuses an empty run", in: "", strict: true, want: "proves nothing"},
		{name: "strict takes a pass", in: pass, strict: true, ok: true, want: "1 passed, 0 failed, 0 skipped"},
		{name: "failure shows its output", in: fail, want: "c_test.go:9: got 1\n0 passed, 1 failed"},
		{name: "a dead process shows its last words", in: died, want: "panic: oh\n0 passed, 1 failed"},
		{name: "a broken build fails", in: build, want: "undefined: y\n0 passed, 1 failed"},
		{name: "other text is passed on", in: "go: no such module\n", ok: true, want: "go: no such module\n"},
		{name: "the last line may lack its end", in: strings.TrimSuffix(fail, "\n"), want: "got 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out strings.Builder
			r := newReport(&out)
			if err := r.read(strings.NewReader(tt.in)); err != nil {
				t.Fatal(err)
			}
			if ok := r.finish(tt.strict); ok != tt.ok {
				t.Errorf("ok = %v, want %v", ok, tt.ok)
			}
			if !strings.Contains(out.String(), tt.want) {
				t.Errorf("output lacks %q:\n%s", tt.want, out.String())
			}
			if tt.not != "" && strings.Contains(out.String(), tt.not) {
				t.Errorf("output holds %q:\n%s", tt.not, out.String())
			}
		})
	}
}
