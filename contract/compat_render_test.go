package contract

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// dumped finds what fmt makes of maps, structs, pointers and nil.
var dumped = regexp.MustCompile(`map\[|\{[A-Z][A-Za-z]*:|[( ]0x[0-9a-f]+|<nil>|%!`)

// full is a contract in which every setting has a value.
func full(t *testing.T) *Contract {
	t.Helper()
	read := func(dir string) *Contract {
		files := map[string][]byte{}
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if !e.IsDir() {
				if files[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
					t.Fatal(err)
				}
			}
		}
		return readOne(t, files)
	}
	c := read("testdata/good/job_status/v1")
	restart, sweep, vendor := read("testdata/compat/base/restart"), read("testdata/compat/base/sweep"), read("testdata/compat/base/vendor")
	c.Trust = Trust{Trusted: true, Sources: []string{"https://ci.example.test"}, Callers: []string{"ci"}}
	c.Arguments.Requires = restart.Arguments.Requires
	c.Arguments.Requires[0].Versions, c.Arguments.Requires[0].From, c.Arguments.Requires[0].Reusable = []int{1, 2}, []string{"ci"}, true
	c.Arguments.RequiresGrant, c.Arguments.BigIntegers = true, true
	c.Result.MaxList, c.Result.Adapter, c.Result.Unbound = sweep.Result.MaxList, vendor.Result.Adapter, sweep.Result.Unbound
	c.Result.Command = &Command{Pattern: "(?P<runs>[0-9]+)", JSON: true, ExitCodes: []int{0, 3}, Convert: map[string]string{"runs": ConvertInteger}}
	c.Receipt.Signed = true
	c.Result.Text = &TextRules{Profile: "prose", KeepLinks: true, MaxRedirects: 3, Drop: []string{"nav"}, Within: []string{"main"}, MaxResponseBytes: 1000, MaxOutputChars: 100, RawSource: true}
	return c
}

// What people read is never how Go prints a value.
func TestSettingsAreReadable(t *testing.T) {
	c := full(t)
	for _, s := range settings() {
		if s.amount != nil {
			n := s.amount(c)
			if n == notThere {
				t.Errorf("%s is not there", s.at)
			}
			if text := s.unit(n); text == "" || dumped.MatchString(text) {
				t.Errorf("%s: %q", s.at, text)
			}
			continue
		}
		values := s.values(c)
		if len(values) == 0 {
			t.Errorf("%s has no value to look at", s.at)
		}
		for key, text := range values {
			if text == "" || dumped.MatchString(key+" "+text) {
				t.Errorf("%s[%s]: %q", s.at, key, text)
			}
		}
	}
	without := &Contract{Tool: "t", Files: c.Files}
	for _, changes := range [][]Change{Compare(c, without), Compare(without, c)} {
		if len(changes) < 20 {
			t.Errorf("only %d changes", len(changes))
		}
		for _, change := range changes {
			if text := change.String() + " " + change.Detail; dumped.MatchString(text) {
				t.Error(text)
			}
		}
	}
	eachPair(t, func(t *testing.T, _ compatPair, old, now *Contract) {
		for _, change := range Compare(old, now) {
			if text := change.String() + " " + change.Detail; dumped.MatchString(text) {
				t.Error(text)
			}
		}
	})
}

// A text field has no member that a comparison does not look at.
func TestTextFieldsAreComparedWhole(t *testing.T) {
	plain := TextField{At: strictjson.Pointer{"a"}, As: AsPlain, MaxChars: 5, Profile: "prose"}
	for i := range reflect.TypeFor[TextField]().NumField() {
		other := plain
		switch v := reflect.ValueOf(&other).Elem().Field(i); v.Kind() {
		case reflect.String:
			v.SetString("other")
		case reflect.Int:
			v.SetInt(6)
		default:
			other.At = strictjson.Pointer{"b"}
		}
		if len(Compare(&Contract{Result: Result{TextFields: []TextField{plain}}}, &Contract{Result: Result{TextFields: []TextField{other}}})) == 0 {
			t.Errorf("%s is not compared", reflect.TypeFor[TextField]().Field(i).Name)
		}
	}
}

// Long values that differ are shown where they do.
func TestLongValuesAreShownApart(t *testing.T) {
	of := func(pattern string) *Contract {
		return &Contract{Result: Result{Command: &Command{Pattern: pattern}}}
	}
	long := strings.Repeat("é", 150)
	got := changeLines(Compare(of(long+"1"), of(long+"2")))
	want := "breaking pattern-changed result.command.pattern: …éééééééééé1 -> …éééééééééé2"
	if len(got) != 1 || got[0] != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
