package contract

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// good returns a fresh copy of testdata/good.
func good(t testing.TB) fstest.MapFS {
	t.Helper()
	files, faults, err := readFiles(os.DirFS("testdata/good"))
	if err != nil || len(faults) > 0 {
		t.Fatal(err, faults)
	}
	m := make(fstest.MapFS, len(files))
	for name, b := range files {
		m[name] = &fstest.MapFile{Data: slices.Clone(b)}
	}
	return m
}

// mustLoad loads what has to be free of faults.
func mustLoad(t testing.TB, fsys fs.FS) *Tree {
	t.Helper()
	tree, err := Load(fsys)
	if err != nil {
		t.Fatalf("Load:\n%v", err)
	}
	return tree
}

// A19, A22: everything that a good contract says is read as it is meant.
func TestLoadGood(t *testing.T) {
	tree := mustLoad(t, os.DirFS("testdata/good"))
	if len(tree.Contracts) != 1 {
		t.Fatalf("%d contracts", len(tree.Contracts))
	}
	c := tree.Contracts[0]
	checks := c.Result.Checks
	schema, arguments := c.Result.Schema, c.Arguments.Schema
	got := *c
	got.Result.Checks, got.Result.Schema, got.Cases, got.places, got.Digest = nil, nil, nil, nil, ""
	a := *c.Arguments
	a.Schema = nil
	got.Arguments = &a
	limits := strictjson.Ceilings()
	limits.MaxBytes, limits.MaxDepth, limits.MaxItems, limits.MaxStringChars, limits.MaxNumberChars = 65536, 16, 1000, 4096, 64
	want := Contract{
		Dir: "job_status/v1", Tool: "job_status", Aliases: []string{"mcp__ci__job_status", "état du travail"},
		Version: 1, Owner: "build-platform", Description: "State of one CI run, evidence for a restart.",
		Effect: ReadOnly, Egress: EgressNone, SourceLabel: "ci",
		Result: Result{
			Kind: KindJSON, Framing: FramingPayload, MediaTypes: []string{"application/json"}, Limits: limits,
			TextFields:   []TextField{{At: strictjson.Pointer{"message"}, As: "text/plain", MaxChars: 500, Profile: "prose"}},
			AgentFields:  []strictjson.Pointer{{"project_id"}, {"run_id"}, {"state"}, {"observed_at"}, {"message"}},
			NotGiven:     map[string]string{"/trace": "kept for operators"},
			NotFoundHTTP: []int{404, 410},
			FailureCodes: []FailureCode{NotFound, UpstreamUnavailable, InvalidResponse},
		},
		Retry:     &Retry{MaxAttempts: 3, Budget: 30 * time.Second, Delay: 500 * time.Millisecond, On: []FailureCode{UpstreamUnavailable}},
		Retention: Retention{Accepted: "hash", Rejected: "sealed", Keep: 720 * time.Hour, Redact: []string{"email", "token"}},
		Receipt:   &Receipt{TTL: 10 * time.Minute, Facts: true},
		Arguments: &Arguments{
			Audience: "job_status",
			Scopes:   []Scope{{Name: "project", Type: "string", At: []strictjson.Pointer{{"project_id"}}}},
			Unscoped: map[string]string{"/run_id": "bound by the evidence"},
		},
	}
	got.Files = nil // TestTreeFiles looks at the files
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if schema.File != "result.schema.json" || arguments.File != "arguments.schema.json" {
		t.Errorf("schemas %q, %q", schema.File, arguments.File)
	}
	wantChecks := []struct{ use, name, with string }{
		{"equals", "equals", `{"result":"/project_id","argument":"/project_id"}`},
		{"equals", "same-run", `{"result":"/run_id","argument":"/run_id"}`},
		{"fresh", "fresh", `{"field":"/observed_at","max_age":"5m","max_skew":"30s"}`},
		{"cel", "run-id-form", `{"expr":"result.run_id.startsWith(\"run_\")"}`},
	}
	for i, w := range wantChecks {
		k := checks[i]
		if k.Use != w.use || k.Name != w.name || string(strictjson.AppendJSON(nil, k.With)) != w.with || k.Line != 22+i || k.Column != 7 {
			t.Errorf("check %d: %+v %s", i, k, strictjson.AppendJSON(nil, k.With))
		}
	}
	if line, column := c.Place("result.agent_fields[2]"); line != 26 || column != 40 {
		t.Errorf("agent_fields[2] at %d:%d", line, column)
	}
	if line, column := c.Place("result.checks[1].with.result"); line != 23 || column != 27 {
		t.Errorf("a place without an entry of its own: %d:%d", line, column)
	}
	if line, column := (&Contract{}).Place("result.schema"); line != 0 || column != 0 {
		t.Errorf("a contract without places: %d:%d", line, column)
	}
	if tree.Current["job_status"] != 1 || len(tree.Drain) != 0 {
		t.Errorf("serving %v %v", tree.Current, tree.Drain)
	}
}

func TestLoadGoodCases(t *testing.T) {
	c := mustLoad(t, os.DirFS("testdata/good")).Contracts[0]
	if len(c.Cases) != 12 || !slices.IsSortedFunc(c.Cases, func(a, b Case) int { return strings.Compare(a.File, b.File) }) {
		t.Fatalf("%d cases", len(c.Cases))
	}
	accepted, down := c.Cases[0], c.Cases[len(c.Cases)-1]
	if accepted.File != "cases/accepted-failed-run.yaml" || !accepted.Now.Equal(time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)) ||
		accepted.Request.RequestID != "req.A1b2C3d4" || accepted.Request.SessionID != "s1" ||
		accepted.Request.Arguments != `{"project_id":"bluebird","run_id":"run_A1b2C3d4E5f6"}` ||
		*accepted.Upstream.HTTPStatus != 200 || accepted.Upstream.MediaType != "application/json" ||
		!strings.HasSuffix(string(accepted.Raw), "\"exit 1\"}\n") {
		t.Errorf("%+v", accepted)
	}
	const data = `{"project_id":"bluebird","run_id":"run_A1b2C3d4E5f6","state":"failed","observed_at":"2026-01-15T11:59:00Z","message":"exit 1"}`
	w := accepted.Want
	if w.Failure != "" || string(strictjson.AppendJSON(nil, w.Data)) != data ||
		!slices.Equal(w.UntrustedText, []string{"/message"}) || w.Truncated == nil || *w.Truncated || w.Line != 7 || w.Column != 1 {
		t.Errorf("%+v", w)
	}
	if down.Raw != nil || *down.Upstream.HTTPStatus != 503 || down.Upstream.RetryAfter != 2*time.Second {
		t.Errorf("%+v", down)
	}
	w = down.Want
	if w.Failure != UpstreamUnavailable || !*w.Retryable || w.Layer != LayerTransport || w.Reason != ReasonUpstreamStatus || w.Data.Exists() || w.At != nil {
		t.Errorf("%+v", w)
	}
}

// What a minimal contract leaves out has the documented meaning.
func TestLoadDefaults(t *testing.T) {
	m := good(t)
	edit(t, m, yamlOf, "  limits: {max_bytes: 65536, max_depth: 16, max_items: 1000, max_string_chars: 4096, max_number_chars: 64}\n", "")
	edit(t, m, yamlOf, "  media_types: [application/json]\n", "")
	edit(t, m, yamlOf, "  framing: payload\n", "")
	edit(t, m, yamlOf, "  failure_codes: [NOT_FOUND, UPSTREAM_UNAVAILABLE, INVALID_RESPONSE]\n", "")
	edit(t, m, yamlOf, "retention: {accepted: hash, rejected: sealed, keep: 720h, redact: [email, token]}\n", "")
	edit(t, m, yamlOf, "retry: {max_attempts: 3, budget: 30s, delay: 500ms, on: [UPSTREAM_UNAVAILABLE]}\n", "")
	edit(t, m, yamlOf, "receipt: {ttl: 10m, facts: true, signed: false}\n", "")
	c := mustLoad(t, m).Contracts[0]
	r := c.Result
	if r.Limits != strictjson.Ceilings() || r.Framing != FramingPayload || !slices.Equal(r.MediaTypes, []string{"application/json"}) || r.FailureCodes != nil {
		t.Errorf("%+v", r)
	}
	if c.Retry != nil || c.Receipt != nil || !reflect.DeepEqual(c.Retention, Retention{"hash", "sealed", 720 * time.Hour, nil}) {
		t.Errorf("%+v", c)
	}
}

// A mounted ConfigMap is links into a hidden directory; the names that count are the
// links'.
func TestLoadConfigMap(t *testing.T) {
	dir := t.TempDir()
	hidden := filepath.Join(dir, "..2026_01_15")
	if err := os.CopyFS(hidden, os.DirFS("testdata/good")); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"..data": "..2026_01_15", "job_status": "..data/job_status"} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Skip("symbolic links are not available: ", err)
		}
	}
	tree := mustLoad(t, os.DirFS(dir))
	if plain := mustLoad(t, os.DirFS("testdata/good")); tree.Digest != plain.Digest || tree.Contracts[0].Digest != plain.Contracts[0].Digest {
		t.Error("the links changed the digest")
	}
}

func TestLoadLinkCycle(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink(".", filepath.Join(dir, "again")); err != nil {
		t.Skip("symbolic links are not available: ", err)
	}
	_, err := Load(os.DirFS(dir))
	if err == nil || !strings.Contains(err.Error(), "deeper than 16") {
		t.Error(err)
	}
}

func TestLoadReadError(t *testing.T) {
	_, err := Load(os.DirFS(filepath.Join(t.TempDir(), "absent")))
	var faults Faults
	if !errors.Is(err, fs.ErrNotExist) || errors.As(err, &faults) {
		t.Error(err)
	}
	dir := t.TempDir()
	if err := os.Symlink("nowhere", filepath.Join(dir, "dangling")); err != nil {
		t.Skip("symbolic links are not available: ", err)
	}
	if _, err := Load(os.DirFS(dir)); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

func TestLoadBounds(t *testing.T) {
	m := good(t)
	m["big.txt"] = &fstest.MapFile{Data: make([]byte, maxFileBytes)}
	mustLoad(t, m)
	m["big.txt"] = &fstest.MapFile{Data: make([]byte, maxFileBytes+1)}
	if _, err := Load(m); err == nil || err.Error() != "big.txt: the file is larger than 1048576 bytes" {
		t.Error(err)
	}
	m = good(t)
	m["pipe"] = &fstest.MapFile{Mode: fs.ModeNamedPipe}
	if _, err := Load(m); err == nil || err.Error() != "pipe: not a regular file" {
		t.Error(err)
	}
	if _, err := Load(manyFiles{}); err == nil || err.Error() != ".: the directory holds more than 1000000 entries" {
		t.Error(err)
	}
}

// manyFiles is a directory of one entry too many.
type manyFiles struct{}

func (manyFiles) Open(name string) (fs.File, error) {
	return (&memFS{files: map[string][]byte{name: nil}}).Open(name)
}

func (manyFiles) ReadDir(string) ([]fs.DirEntry, error) {
	return slices.Repeat([]fs.DirEntry{memInfo{name: "a.txt"}}, maxEntryCount+1), nil
}

// The files of a tree are a complete file system, apart from the one that was read,
// and the digests cover them.
func TestTreeFiles(t *testing.T) {
	m := good(t)
	m[".git/config"] = &fstest.MapFile{Data: []byte("x")}
	tree := mustLoad(t, m)
	delete(m, ".git/config")
	if err := fstest.TestFS(tree.Files, "job_status/v1/contract.yaml", "job_status/v1/README.md", "job_status/v1/cases/other-run.yaml"); err != nil {
		t.Error(err)
	}
	again := mustLoad(t, tree.Files)
	if again.Digest != tree.Digest || len(tree.Digest) != 64 {
		t.Errorf("digests %s, %s", again.Digest, tree.Digest)
	}
	m["README.md"] = &fstest.MapFile{Data: []byte("x")}
	other := mustLoad(t, m)
	if other.Digest == tree.Digest || other.Contracts[0].Digest != tree.Contracts[0].Digest {
		t.Error("a file outside the contract's folder is in the tree's digest and not in the contract's")
	}
	m["job_status/v1/README.md"].Data = []byte("y")
	if c := mustLoad(t, m).Contracts[0]; c.Digest == tree.Contracts[0].Digest {
		t.Error("the contract's digest does not cover its folder")
	}
	m["job_status/v1/contract.yaml"].Data[0] = '?'
	if b, _ := fs.ReadFile(tree.Files, yamlOf); b[0] != 't' {
		t.Error("the tree's files share memory with the directory")
	}
}

// No two sets of files have the same digest because of where one name ends.
func TestDigestFrames(t *testing.T) {
	sets := []map[string][]byte{
		{},
		{"a": []byte("b")},
		{"ab": nil},
		{"a": nil, "b": nil},
		{"a": []byte("b\x00")},
		{"": []byte("ab")},
		{"a\x00\x00\x00\x00\x00\x00\x00\x00b": nil},
	}
	seen := make(map[string]int)
	for i, set := range sets {
		if j, ok := seen[digest(set)]; ok {
			t.Errorf("sets %d and %d have one digest", i, j)
		}
		seen[digest(set)] = i
	}
}
