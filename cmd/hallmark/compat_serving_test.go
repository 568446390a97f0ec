package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// served is a copy of the shipped contracts in which job_status has the versions 1 to
// versions, all alike, and serving.yaml says of it what serving says; "" for no file.
func served(t *testing.T, versions int, serving string) string {
	t.Helper()
	dir := plain(t)
	tool := filepath.Join(dir, "job_status")
	for v := 2; v <= versions; v++ {
		folder := filepath.Join(tool, fmt.Sprintf("v%d", v))
		if err := os.CopyFS(folder, os.DirFS(filepath.Join(tool, "v1"))); err != nil {
			t.Fatal(err)
		}
		swap(t, filepath.Join(folder, "contract.yaml"), "version: 1", fmt.Sprintf("version: %d", v))
	}
	if serving != "" {
		if err := os.WriteFile(filepath.Join(dir, "serving.yaml"), []byte("job_status: "+serving+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// without removes a folder of job_status.
func without(t *testing.T, dir, version string) string {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(dir, "job_status", version)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A23 D7: what is served is a part of the promise, whatever folders there are.
func TestCompatOfServing(t *testing.T) {
	for _, c := range []struct {
		name     string
		old, now func(t *testing.T) string
		code     int
		want     []string // "class kind old_version->new_version raised"
	}{
		{"the same, said and not said", trees(2, ""), trees(2, "{current: 2, drain: [1]}"), 0, nil},
		{
			"a drained version with its folder is served no more", trees(2, "{current: 2, drain: [1]}"), trees(2, "{current: 2}"), 0,
			[]string{"breaking version-removed 1->2 true"},
		},
		{"a drained version goes with its folder", trees(2, "{current: 2, drain: [1]}"), func(t *testing.T) string {
			return without(t, served(t, 2, "{current: 2}"), "v1")
		}, 0, []string{"breaking version-removed 1->2 true"}},
		{
			"the current one goes back, and is served no more", trees(2, "{current: 2, drain: [1]}"), trees(2, "{current: 1}"), 1,
			[]string{"breaking current-changed 2->1 false", "breaking version-removed 2->1 false"},
		},
		{
			"the current one goes back, and both are served", trees(2, ""), trees(2, "{current: 1, drain: [2]}"), 1,
			[]string{"breaking current-changed 2->1 false"},
		},
		{
			"the current one goes back beside a new version", trees(2, ""), trees(3, "{current: 1, drain: [2, 3]}"), 1,
			[]string{"breaking current-changed 2->1 false"},
		},
		{"the current one goes back to one that was not there", func(t *testing.T) string {
			return without(t, served(t, 3, ""), "v2")
		}, trees(3, "{current: 2, drain: [1, 3]}"), 1, []string{"breaking current-changed 3->2 false", "contract version-added 0->2 true"}},
		{"the highest folder goes, nothing said", trees(2, ""), trees(1, ""), 1, []string{
			"breaking current-changed 2->1 false", "breaking version-removed 2->1 false",
		}},
		{
			"a new version is current", trees(1, "{current: 1}"), trees(2, "{current: 2, drain: [1]}"), 0,
			[]string{"safe current-changed 1->2 true"},
		},
		{
			"a new version is current at once, the old one served no more", trees(1, ""), trees(2, "{current: 2}"), 0,
			[]string{"safe current-changed 1->2 true", "breaking version-removed 1->2 true"},
		},
		{"a new version waits", trees(1, "{current: 1}"), trees(2, "{current: 1}"), 0, nil},
		{
			"a version that waited is current", trees(2, "{current: 1}"), trees(2, "{current: 2, drain: [1]}"), 0,
			[]string{"safe current-changed 1->2 true"},
		},
		{
			"a version that waited is drained", trees(3, "{current: 3}"), trees(3, "{current: 3, drain: [2]}"), 0,
			[]string{"contract version-added 0->2 true"},
		},
		{"a version that waited goes", trees(2, "{current: 1}"), trees(1, "{current: 1}"), 0, []string{"safe version-removed 2->1 false"}},
		{
			"one that is higher only by its folder excuses nothing", trees(3, "{current: 2, drain: [1]}"), trees(3, "{current: 1}"), 1,
			[]string{"breaking current-changed 2->1 false", "breaking version-removed 2->1 false"},
		},
		{"a tool's folder knows nothing of serving", func(t *testing.T) string {
			return served(t, 2, "{current: 1}") + "/job_status"
		}, func(t *testing.T) string { return served(t, 2, "") + "/job_status" }, 0, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, out, errOut := hallmark(t, "compat", c.old(t), c.now(t), "--output", "json")
			var rows []compatRow
			if err := json.Unmarshal([]byte(out), &rows); err != nil || code != c.code {
				t.Errorf("exit code %d, want %d, %v\n%s%s", code, c.code, err, out, errOut)
			}
			var got []string
			for _, r := range rows {
				got = append(got, fmt.Sprintf("%s %s %d->%d %t", r.Class, r.Kind, r.OldVersion, r.NewVersion, r.Raised))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func trees(versions int, serving string) func(*testing.T) string {
	return func(t *testing.T) string { return served(t, versions, serving) }
}

// What a version that waited says is compared when it becomes current, though both sides
// have its folder.
func TestCompatOfAVersionThatWaited(t *testing.T) {
	changed := func(serving string) string {
		dir := served(t, 2, serving)
		swap(t, filepath.Join(dir, "job_status/v2/contract.yaml"), "max_age: 5m", "max_age: 10m")
		return dir
	}
	code, out, errOut := hallmark(t, "compat", changed("{current: 1}"), changed("{current: 2, drain: [1]}"), "--output", "json")
	var rows []compatRow
	if err := json.Unmarshal([]byte(out), &rows); err != nil || code != 0 || errOut != "" {
		t.Fatalf("exit code %d, %v\n%s%s", code, err, out, errOut)
	}
	found := slices.ContainsFunc(rows, func(r compatRow) bool {
		return r.Kind == "check-changed" && r.OldVersion == 1 && r.NewVersion == 2 && r.Raised
	})
	if !found {
		t.Errorf("%+v", rows)
	}
}

// People are told why a version that still has a folder counts as gone.
func TestCompatSaysWhyAVersionIsGone(t *testing.T) {
	const why = "it has a folder, and serving.yaml does not serve it"
	old, now := served(t, 2, "{current: 2, drain: [1]}"), served(t, 2, "{current: 2}")
	if _, out, _ := hallmark(t, "compat", old, now); !strings.Contains(out, why) {
		t.Errorf("no %q in\n%s", why, out)
	}
	if _, out, _ := hallmark(t, "compat", old, without(t, now, "v1")); strings.Contains(out, why) {
		t.Errorf("%q in\n%s", why, out)
	}
}
