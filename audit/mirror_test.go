package audit

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The record has a field for each of the wire's Event, in its order, and so have the
// parts of it and the filter; the package itself knows nothing of the wire.
func TestMirrorsWire(t *testing.T) {
	dir := filepath.Join("..", "proto", "hallmark", "v1")
	for _, c := range []struct {
		file, message string
		typ           reflect.Type
	}{
		{"audit.proto", "Event", reflect.TypeFor[Record]()},
		{"audit.proto", "Rejection", reflect.TypeFor[Rejection]()},
		{"audit.proto", "EventFilter", reflect.TypeFor[Filter]()},
		{"authorization.proto", "Reason", reflect.TypeFor[Reason]()},
	} {
		text, err := os.ReadFile(filepath.Join(dir, c.file))
		if err != nil {
			t.Fatal(err)
		}
		_, body, found := strings.Cut(string(text), "\nmessage "+c.message+" {\n")
		body, _, ended := strings.Cut(body, "\n}\n")
		if !found || !ended {
			t.Fatalf("%s has no message %s", c.file, c.message)
		}
		var want, got []string
		for _, m := range regexp.MustCompile(`(?m)^  [\w.<>, ]+ (\w+) = \d+`).FindAllStringSubmatch(body, -1) {
			want = append(want, strings.ReplaceAll(m[1], "_", ""))
		}
		for i := range c.typ.NumField() {
			if name := c.typ.Field(i).Name; name != "Delivered" { // it is for the gate alone
				got = append(got, strings.ToLower(name))
			}
		}
		if c.message == "EventFilter" { // grouped by kind, the order is free
			slices.Sort(want)
			slices.Sort(got)
		}
		if len(want) == 0 || !slices.Equal(got, want) {
			t.Errorf("%s:\n got %v\nwant %v", c.message, got, want)
		}
	}
}
