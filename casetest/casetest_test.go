package casetest

import (
	"context"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/hallmark-gate/hallmark/gate"
	"github.com/hallmark-gate/hallmark/validators"
	"github.com/hallmark-gate/hallmark/validators/semantic"
)

func load(t *testing.T, fsys fs.FS) *gate.Set {
	t.Helper()
	registry, err := validators.NewRegistry(semantic.Builtins())
	if err != nil {
		t.Fatal(err)
	}
	set, err := gate.NewLoader(registry).Load(fsys)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// shipped is an in-memory copy of the shipped contracts, for tests to spoil.
func shipped(t *testing.T) fstest.MapFS {
	t.Helper()
	files := fstest.MapFS{}
	dir := os.DirFS("../contracts")
	err := fs.WalkDir(dir, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(dir, name)
		files[name] = &fstest.MapFile{Data: data}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func spoil(t *testing.T, files fstest.MapFS, name, old, with string) {
	t.Helper()
	before := string(files[name].Data)
	if !strings.Contains(before, old) {
		t.Fatalf("%s has no %q", name, old)
	}
	files[name] = &fstest.MapFile{Data: []byte(strings.Replace(before, old, with, 1))}
}

// The shipped contracts pass every case, and their cases reach every promise. A22, A24
func TestShippedContracts(t *testing.T) {
	report := Run(context.Background(), load(t, os.DirFS("../contracts")))
	if len(report.Results) == 0 {
		t.Fatal("no case ran")
	}
	if failed := report.Failed(); len(failed) > 0 {
		t.Errorf("%s", report)
	}
	for _, u := range report.Unreached {
		t.Errorf("%s v%d: no case reaches %s %s", u.Tool, u.Version, u.Kind, u.Name)
	}
}

// A case that wants the wrong thing fails, and says what came instead.
func TestFailingCases(t *testing.T) {
	const stale = "job_status/v1/cases/stale-observation.yaml"
	const reported = "mcp_search/v1/cases/is-error-with-structured.yaml"
	const accepted = "deploy_status/v1/cases/accepted-healthy.yaml"
	const page = "web_read/v1/cases/accepted-page.yaml"
	for _, row := range []struct {
		line, file, old, with string
		fragments             []string
	}{
		{"another place", stale, "at: /observed_at", "at: /state", []string{"stale-observation.yaml:7", "at", `expected "/state"`, `got      "/observed_at"`}},
		{"another retry", stale, "retryable: false", "retryable: true", []string{"retryable", "expected true", "got      false"}},
		{"accepted after all", stale, "11:50:00", "11:59:00", []string{"outcome", "expected failure INVALID_RESPONSE", "got      data"}},
		{"refused after all", accepted, `"state":"healthy"}`, `"state":"broken"}`, []string{"outcome", "expected data", "SCHEMA SCHEMA at \"/state\""}},
		{"other display text", reported, `display_text: ""`, "display_text: no such index", []string{"display", `expected "no such index"`, `got      ""`}},
		{"other data", accepted, `want: {data: {"environment":"staging","revision":"a83f19c"`, `want: {data: {"environment":"staging","revision":"b83f19c"`, []string{"data", "b83f19c", "a83f19c"}},
		{"another text", page, `text: "Marks\nA lion`, `text: "Marks\nA hare`, []string{"text", `expected "Marks\nA hare means sterling."`, `got      "Marks\nA lion means sterling."`}},
		{"another title", page, "title: Marks of silver", "title: Marks of gold", []string{"title", `expected "Marks of gold"`}},
		{"another link", page, "{text: sterling, href", "{text: gold, href", []string{"links", "gold"}},
		{"another normalization", page, "normalization: NFKC", "normalization: NFC", []string{"normalization", "expected NFC"}},
		{"a text that is not cut", page, "truncated: false", "truncated: true", []string{"truncated", "expected true"}},
		{"a text after all", page, `want: {text: "Marks\nA lion means sterling.", truncated: false, title: Marks of silver, links: [{text: sterling, href: "https://assay.example.test/sterling"}], normalization: NFKC}`, "want: {failure: INVALID_RESPONSE}", []string{"outcome", `got      text "Marks`}},
		{"a refused text", page, "media_type: \"text/html", "media_type: \"image/png", []string{"outcome", "expected text", "MEDIA_TYPE"}},
	} {
		t.Run(row.line, func(t *testing.T) {
			files := shipped(t)
			spoil(t, files, row.file, row.old, row.with)
			report := Run(context.Background(), load(t, files))
			if len(report.Failed()) != 1 {
				t.Fatalf("%d cases failed:\n%s", len(report.Failed()), report)
			}
			for _, fragment := range row.fragments {
				if !strings.Contains(report.String(), fragment) {
					t.Errorf("%q is not in\n%s", fragment, report)
				}
			}
		})
	}
}

// What people are shown of a failure can be wanted by a case. A7
func TestDisplayTextOfACase(t *testing.T) {
	files := shipped(t)
	spoil(t, files, "mcp_search/v1/contract.yaml", "display_text: 0", "display_text: 5")
	spoil(t, files, "mcp_search/v1/cases/is-error-with-structured.yaml", `display_text: ""`, "display_text: 1 res")
	if report := Run(context.Background(), load(t, files)); len(report.Failed()) > 0 {
		t.Errorf("%s", report)
	}
}

// What no case reaches is named.
func TestUnreached(t *testing.T) {
	files := shipped(t)
	delete(files, "deploy_status/v1/cases/upstream-not-found.yaml")
	got := Run(context.Background(), load(t, files)).Unreached
	want := Unreached{"deploy_status", 1, "failure code", "NOT_FOUND"}
	if len(got) != 1 || got[0] != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// Checks that share a name are told apart: one that a case reaches does not hide the
// other one. A22
func TestUnreachedOfOneName(t *testing.T) {
	const contractFile, cases = "job_status/v1/contract.yaml", "job_status/v1/cases/"
	for _, row := range []struct {
		line    string
		refused []string // states that a case wants refused
		want    []string // names of checks
	}{
		{"both are reached", []string{"running", "cancelled"}, nil},
		{"only the first", []string{"running"}, []string{"cel (contract.yaml:21:7)"}},
		{"only the second", []string{"cancelled"}, []string{"cel (contract.yaml:20:7)"}},
		{"neither", nil, []string{"cel (contract.yaml:20:7)", "cel (contract.yaml:21:7)"}},
	} {
		t.Run(row.line, func(t *testing.T) {
			files := shipped(t)
			spoil(t, files, contractFile, "  agent_fields:",
				"    - {cel: 'result.state != \"running\"'}\n    - {cel: 'result.state != \"cancelled\"'}\n  agent_fields:")
			for _, state := range row.refused {
				name := cases + "refused-" + state + ".yaml"
				files[name] = &fstest.MapFile{Data: files[cases+"other-run.yaml"].Data}
				spoil(t, files, name, "run_Z9y8X7w6V5u4", "run_A1b2C3d4E5f6")
				spoil(t, files, name, `"failed"`, `"`+state+`"`)
				spoil(t, files, name, "reason: BINDING, at: /run_id, check: run-asked-for", "reason: CHECK, check: cel")
			}
			report := Run(context.Background(), load(t, files))
			if len(report.Failed()) > 0 {
				t.Fatalf("%s", report)
			}
			var got []string
			for _, u := range report.Unreached {
				got = append(got, u.Kind+" "+u.Name)
			}
			want := slices.Clone(row.want)
			for i := range want {
				want[i] = "check " + want[i]
			}
			if !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestTwoRunsAgree(t *testing.T) {
	set := load(t, os.DirFS("../contracts"))
	first, second := Run(context.Background(), set), Run(context.Background(), set)
	if first.String() != second.String() {
		t.Error("two runs differ")
	}
}
