package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// shipped is the repository's own contracts directory.
const shipped = "../../contracts"

// hallmark runs one command line.
func hallmark(t *testing.T, args ...string) (code int, out, errOut string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = run(context.Background(), args, strings.NewReader(""), &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

// copyOf copies a directory into a new one of the same name.
func copyOf(t *testing.T, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), filepath.Base(dir))
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

// plain is a copy of the shipped contracts in which job_status has one version, as most
// tools do.
func plain(t *testing.T) string {
	t.Helper()
	dir := copyOf(t, shipped)
	for _, name := range []string{"job_status/v2", "job_restart", "serving.yaml"} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// swap replaces a text of a file that occurs in it once.
func swap(t *testing.T, file, old, now string) {
	t.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(src, []byte(old)); n != 1 {
		t.Fatalf("%s holds %q %d times", file, old, n)
	}
	if err := os.WriteFile(file, bytes.Replace(src, []byte(old), []byte(now), 1), 0o600); err != nil {
		t.Fatal(err)
	}
}

// raise copies v1 of a tool to v2.
func raise(t *testing.T, tool string) (v2 string) {
	t.Helper()
	v2 = filepath.Join(tool, "v2")
	if err := os.CopyFS(v2, os.DirFS(filepath.Join(tool, "v1"))); err != nil {
		t.Fatal(err)
	}
	swap(t, filepath.Join(v2, "contract.yaml"), "version: 1", "version: 2")
	return v2
}

// A23 D7: the three exit codes, for each form of a folder.
func TestCompat(t *testing.T) {
	const weaker, fresh = "max_age: 10m", "max_age: 5m"
	for _, c := range []struct {
		name string
		// prepare changes dir, a copy of shipped, and says what is compared.
		prepare func(t *testing.T, shipped, dir string) (old, now string)
		code    int
		want    []string // each in the output, or in the message of a refusal
		never   []string
	}{
		{
			"nothing differs", func(_ *testing.T, shipped, dir string) (string, string) { return shipped, dir },
			0,
			[]string{"0 breaking, 0 contract, 0 safe\n"},
			[]string{"replay"},
		},
		{"a check is weaker", func(t *testing.T, shipped, dir string) (string, string) {
			swap(t, dir+"/job_status/v1/contract.yaml", fresh, weaker)
			return shipped, dir
		}, 1, []string{
			"job_status v1 -> v1", "breaking  result.checks[fresh]", "weaker", "stale-observation.yaml:7", "failure INVALID_RESPONSE → data ",
			"1 breaking, 0 contract, 0 safe; old cases are judged otherwise in 2 points; 1 change without a higher version",
		}, []string{"deploy_status"}},
		{"the same, one version's folders", func(t *testing.T, shipped, dir string) (string, string) {
			swap(t, dir+"/job_status/v1/contract.yaml", fresh, weaker)
			return shipped + "/job_status/v1", dir + "/job_status/v1/"
		}, 1, []string{"1 breaking, 0 contract, 0 safe; old cases are judged otherwise in 2 points"}, nil},
		{"the same in a new version", func(t *testing.T, shipped, dir string) (string, string) {
			swap(t, raise(t, dir+"/job_status")+"/contract.yaml", fresh, weaker)
			return shipped, dir
		}, 0, []string{"job_status v1 -> v2", "current-changed  1 → 2", "1 breaking, 0 contract, 1 safe; old cases"}, []string{"without a higher version", "v1 -> v1"}},
		{"a new version beside an old one that changed too", func(t *testing.T, shipped, dir string) (string, string) {
			raise(t, dir+"/job_status")
			swap(t, dir+"/job_status/v1/contract.yaml", fresh, weaker)
			return shipped + "/job_status", dir + "/job_status"
		}, 1, []string{"job_status v1 -> v1"}, nil},
		{"two versions' folders", func(t *testing.T, shipped, dir string) (string, string) {
			v2 := raise(t, dir+"/job_status")
			swap(t, v2+"/contract.yaml", "/state, /observed_at]", "/state]\n  not_given: {/observed_at: of no use}")
			return dir + "/job_status/v1", v2
		}, 0, []string{"job_status v1 -> v2", "agent-field-removed"}, nil},
		{"only the owner is another", func(t *testing.T, shipped, dir string) (string, string) {
			swap(t, dir+"/job_status/v1/contract.yaml", "owner: build-platform", "owner: ci-platform")
			return shipped, dir
		}, 0, []string{"safe  owner  owner-changed  build-platform → ci-platform", "0 breaking, 0 contract, 1 safe"}, nil},
		{"a tool is gone, another is new", func(t *testing.T, shipped, dir string) (string, string) {
			if err := os.Rename(dir+"/list_runs", dir+"/ls_runs"); err != nil {
				t.Fatal(err)
			}
			swap(t, dir+"/ls_runs/v1/contract.yaml", "tool: list_runs", "tool: ls_runs")
			return shipped, dir
		}, 1, []string{"list_runs v1 -> none", "tool-removed", "ls_runs none -> v1", "tool-added", "1 breaking, 1 contract, 0 safe; 1 change without"}, nil},
		{"a version is no longer served", func(t *testing.T, shipped, dir string) (string, string) {
			old := copyOf(t, dir)
			raise(t, old+"/job_status")
			raise(t, dir+"/job_status")
			if err := os.RemoveAll(dir + "/job_status/v1"); err != nil {
				t.Fatal(err)
			}
			return old, dir
		}, 0, []string{"version-removed", "1 breaking"}, nil},
		{"one side is refused", func(t *testing.T, shipped, dir string) (string, string) {
			swap(t, dir+"/job_status/v1/contract.yaml", "effect: read_only", "efect: read_only")
			return shipped, dir
		}, 2, []string{"job_status/v1/contract.yaml:", "unknown key", "refused"}, nil},
		{"a check that does not compile", func(t *testing.T, shipped, dir string) (string, string) {
			swap(t, dir+"/job_status/v1/contract.yaml", fresh, "max_aeg: 5m")
			return shipped + "/job_status/v1", dir + "/job_status/v1"
		}, 2, []string{"job_status/v1/contract.yaml:", "refused"}, nil},
		{
			"no directory", func(_ *testing.T, shipped, dir string) (string, string) { return shipped, dir + "/nowhere" },
			2,
			[]string{"is not a directory"},
			nil,
		},
		{"a contract in a folder without a version", func(t *testing.T, shipped, dir string) (string, string) {
			if err := os.Rename(dir+"/job_status/v1", dir+"/job_status/new"); err != nil {
				t.Fatal(err)
			}
			return shipped, dir + "/job_status/new"
		}, 2, []string{"its name is no version"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			old, now := c.prepare(t, plain(t), plain(t))
			code, out, errOut := hallmark(t, "compat", old, now)
			if code != c.code {
				t.Errorf("exit code %d, want %d\n%s%s", code, c.code, out, errOut)
			}
			for _, want := range c.want {
				if !strings.Contains(out+errOut, want) {
					t.Errorf("no %q in\n%s%s", want, out, errOut)
				}
			}
			for _, never := range c.never {
				if strings.Contains(out, never) {
					t.Errorf("%q in\n%s", never, out)
				}
			}
			if (code == 2) != (errOut != "") || (code == 2 && out != "") {
				t.Errorf("exit code %d with %q on stdout and %q on stderr", code, out, errOut)
			}
		})
	}
}

// The names of the members are promised to programs.
func TestCompatJSON(t *testing.T) {
	shipped, dir := plain(t), plain(t)
	swap(t, dir+"/job_status/v1/contract.yaml", "max_age: 5m", "max_age: 10m")
	code, out, _ := hallmark(t, "compat", shipped, dir, "--output", "json")
	var rows []map[string]any
	if err := json.Unmarshal([]byte(out), &rows); err != nil || code != 1 || len(rows) != 3 {
		t.Fatalf("exit code %d, %d rows, %v\n%s", code, len(rows), err, out)
	}
	var names []string
	for name := range rows[0] {
		names = append(names, name)
	}
	slices.Sort(names)
	want := []string{"at", "class", "detail", "kind", "new", "new_version", "old", "old_version", "tool", "version_raised"}
	if !slices.Equal(names, want) {
		t.Errorf("%q", names)
	}
	if r := rows[0]; r["class"] != "breaking" || r["kind"] != "check-changed" || r["old_version"] != 1.0 || r["version_raised"] != false {
		t.Errorf("%v", r)
	}
	if r := rows[1]; r["class"] != "replay" || r["kind"] != "case-differs" || r["detail"] != "outcome" {
		t.Errorf("%v", r)
	}
	if code, out, _ := hallmark(t, "compat", shipped, shipped, "--output", "json"); code != 0 || strings.TrimSpace(out) != "[]" {
		t.Errorf("nothing: exit code %d, %s", code, out)
	}
	if code, _, errOut := hallmark(t, "compat", shipped, shipped, "--output", "xml"); code != 2 || !strings.Contains(errOut, "text or json") {
		t.Errorf("xml: exit code %d, %s", code, errOut)
	}
	if code, _, _ := hallmark(t, "compat", shipped); code != 2 {
		t.Errorf("one argument: exit code %d", code)
	}
}

// No contract that is shipped differs from itself, each loaded alone.
func TestCompatOfEachShippedContract(t *testing.T) {
	versions, err := fs.Glob(os.DirFS(shipped), "*/v*")
	if err != nil || len(versions) == 0 {
		t.Fatal(versions, err)
	}
	for _, v := range versions {
		dir := filepath.Join(shipped, v)
		if code, out, errOut := hallmark(t, "compat", dir, dir); code != 0 || out != "0 breaking, 0 contract, 0 safe\n" {
			t.Errorf("%s: exit code %d\n%s%s", v, code, out, errOut)
		}
	}
}
