package schema

import (
	"context"
	"errors"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// seeds are pairs of a schema and an instance, from the tables of this package.
func seeds() [][2]string {
	var out [][2]string
	for _, c := range failureTable {
		out = append(out, [2]string{c.schema, c.instance})
	}
	for _, c := range verdictTable {
		out = append(out, [2]string{c.schema, c.instance})
	}
	return out
}

// FuzzSchema: no panic, the same answer twice, an end within the budget, failures in
// order, within the cap and without the instance's text, and the library's verdict.
func FuzzSchema(f *testing.F) {
	for _, s := range seeds() {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, source, instance string) {
		if len(source) > 4<<10 || len(instance) > 64<<10 {
			return
		}
		opts := Options{Formats: Annotate, Budget: 300_000}
		s, err := Compile(map[string][]byte{"schema.json": []byte(source)}, "schema.json", opts)
		if err != nil {
			if _, ok := errors.AsType[*CompileError](err); !ok || len(err.Error()) > 6000 {
				t.Fatalf("%T, %d bytes", err, len(err.Error()))
			}
			return
		}
		v, err := strictjson.Parse([]byte(instance), strictjson.Ceilings())
		if err != nil {
			return
		}
		start := time.Now()
		failures, err := s.Validate(context.Background(), v)
		if took := time.Since(start); took > 3*time.Minute {
			t.Fatalf("took %v", took)
		}
		again, errAgain := s.Validate(context.Background(), v)
		if !reflect.DeepEqual(failures, again) || (err == nil) != (errAgain == nil) {
			t.Fatal("a second run answers otherwise")
		}
		if len(failures) > MaxFailures {
			t.Fatalf("%d failures", len(failures))
		}
		offsets := make([]int, len(failures))
		for i, x := range failures {
			at := v.At(x.At)
			offsets[i] = at.Offset()
			if !at.Exists() && len(x.At) > 0 { // a missing member
				at = v.At(x.At[:len(x.At)-1])
				offsets[i] = at.End()
			}
			if !at.Exists() || x.Keyword == "" {
				t.Fatalf("%+v is nowhere", x)
			}
		}
		if !slices.IsSorted(offsets) {
			t.Fatalf("out of order: %+v", failures)
		}
		if err == nil {
			agree(t, source, v, len(failures) == 0)
		}
	})
}

// wraps finds schemas that hold a number which the library does not read exactly: it
// cuts bounds such as maxLength to 64 bits.
var wraps = regexp.MustCompile(`[0-9]{17}|[eE][+]?[0-9]{2}`)

// agree asks the library about inputs that cannot make it run for long.
func agree(t *testing.T, source string, v strictjson.Value, valid bool) {
	t.Helper()
	if v.Size() > 14 || len(source) > 500 || strings.Count(source, "ef\"") > 6 || wraps.MatchString(source) {
		return
	}
	theirs, err := oracle([]byte(source), nil)
	if err != nil {
		return
	}
	answer, ok := ask(theirs, plain(v))
	if ok && answer != valid {
		t.Fatalf("the library says %v", answer)
	}
}

// ask shields the tests from the library's panics; ok is false where it has one.
func ask(s *jsonschema.Schema, instance any) (valid, ok bool) {
	defer func() {
		if recover() != nil {
			valid, ok = false, false
		}
	}()
	return s.Validate(instance) == nil, true
}
