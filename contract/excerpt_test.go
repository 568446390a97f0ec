package contract

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// wide is a schema of n members that refer to one large definition, and agent fields
// that give a part of each.
func wide(n, size int) (schema string, fields []string) {
	var properties []string
	for i := range n {
		properties = append(properties, fmt.Sprintf(`"p%d":{"$ref":"#/$defs/x"}`, i))
		fields = append(fields, fmt.Sprintf("/p%d/a", i))
	}
	return `{"type":"object","additionalProperties":false,"properties":{` + strings.Join(properties, ",") +
		`},"$defs":{"x":{"type":"object","additionalProperties":false,"properties":{"a":{"type":"null","description":"` +
		strings.Repeat("x", size) + `"},"b":{"type":"null"}}}}}`, fields
}

// A schema in one document is bounded, and so is the work that goes into it.
func TestExcerptIsBounded(t *testing.T) {
	for _, row := range []struct {
		n, size int
		fits    bool
	}{{3, 100_000, true}, {200, 100_000, false}, {5000, 100_000, false}} {
		text, fields := wide(row.n, row.size)
		s := schemaOf(t, here(), text)
		c := &Contract{Result: Result{Schema: s, AgentFields: pointersOf(t, fields...)}}
		got, err := c.AgentSchema()
		if (err == nil) != row.fits || len(got) > maxExcerpt || errors.Is(err, errExcerptTooLarge) == row.fits {
			t.Errorf("%d times %d bytes: %d bytes, %v", row.n, row.size, len(got), err)
		}
		if faults := lintExcerpts(c); (len(faults) == 0) != row.fits || !row.fits && !strings.HasPrefix(faults[0].Message, "result.agent_fields: ") {
			t.Errorf("%d times: %v", row.n, faults)
		}
	}
}

// What is in one document is asked for of a loaded contract; kind text has none.
func TestExcerptsOfLoaded(t *testing.T) {
	c := mustLoad(t, good(t)).Contracts[0]
	for name, f := range map[string]func() ([]byte, error){"agent": c.AgentSchema, "arguments": c.ArgumentsSchema} {
		b, err := f()
		if err != nil || !bytes.HasPrefix(b, []byte(`{"$schema":"`+dialect+`","type":"object"`)) {
			t.Errorf("%s: %s, %v", name, b, err)
		}
		if bytes.Contains(b, []byte("trace")) {
			t.Errorf("%s: what is not given is described: %s", name, b)
		}
	}
	none := &Contract{Arguments: &Arguments{}}
	if a, err := none.AgentSchema(); a != nil || err != nil {
		t.Errorf("%s, %v", a, err)
	}
	if a, err := none.ArgumentsSchema(); a != nil || err != nil {
		t.Errorf("%s, %v", a, err)
	}
}

// Definitions in several files get names of their own, in the order in which they are
// met, whatever the files call them.
func TestExcerptOfFiles(t *testing.T) {
	files := map[string][]byte{
		"s.json":       []byte(`{"type":"array","maxItems":1,"prefixItems":[{"$ref":"a/x.json"},{"$ref":"b/x.json"},{"$ref":"b/x.json#/$defs/x"},{"$ref":"#/$defs/a~1 b"}],"items":false,"$defs":{"a/ b":{"type":"null"}}}`),
		"a/x.json":     []byte(`{"type":"string","maxLength":1}`),
		"b/x.json":     []byte(`{"$ref":"#here","$defs":{"x":{"$anchor":"here","type":"boolean"}}}`),
		"unread.json":  []byte(`{}`),
		"b/other.json": []byte(`{`),
	}
	s, faults := readSchema(files, "s.json")
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	c := &Contract{Arguments: &Arguments{Schema: s}}
	got, err := c.ArgumentsSchema()
	const want = `{"$schema":"` + dialect + `","type":"array","maxItems":1,"prefixItems":[{"$ref":"#/$defs/x"},{"$ref":"#/$defs/x-2"},{"$ref":"#/$defs/x-3"},{"$ref":"#/$defs/a__b"}],"items":false,` +
		`"$defs":{"x":{"type":"string","maxLength":1},"x-2":{"$ref":"#/$defs/x-3"},"x-3":{"type":"boolean"},"a__b":{"type":"null"}}}`
	if err != nil || string(got) != want {
		t.Errorf("%s, %v", got, err)
	}
}

// A snapshot is what was read: what happens to the files afterwards is no part of it.
func TestSnapshot(t *testing.T) {
	fsys := good(t)
	s, err := TakeSnapshot(fsys, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := mustLoad(t, fsys)
	delete(fsys, "job_status/v1/contract.yaml")
	tree, err := s.Load()
	if err != nil || tree.Digest != want.Digest || s.Digest() != want.Digest {
		t.Errorf("%v, %s, want %s", err, s.Digest(), want.Digest)
	}
	if again, err := TakeSnapshot(tree.Files, nil); err != nil || again.Digest() != s.Digest() {
		t.Errorf("its own files have the digest %s, %v", again.Digest(), err)
	}
	large := fstest.MapFS{"a.md": {Data: make([]byte, maxFileBytes+1)}}
	var faults Faults
	if _, err := TakeSnapshot(large, nil); !errors.As(err, &faults) || len(faults) != 1 || faults[0].File != "a.md" {
		t.Errorf("too large: %v", err)
	}
	if _, err := (Snapshot{}).Load(); !errors.As(err, &faults) {
		t.Errorf("the zero snapshot: %v", err)
	}
}

// FuzzAgentSchema proves that whatever schema can be read gives one JSON document, the
// same each time.
func FuzzAgentSchema(f *testing.F) {
	text, _ := wide(2, 1)
	for _, s := range []string{text, `true`, `{"$ref":"#"}`, `{"items":{"$ref":"#"},"then":false,"else":true,"oneOf":[{},{"not":false}]}`} {
		f.Add(s, "/p0/a", "/*")
	}
	f.Fuzz(func(t *testing.T, text, first, second string) {
		s, _ := readSchema(map[string][]byte{"s.json": []byte(text)}, "s.json")
		if s == nil {
			return
		}
		c := &Contract{Result: Result{Schema: s}}
		for _, at := range []string{first, second} {
			p, err := strictjson.ParsePointer(at)
			if err != nil || !utf8.ValidString(at) {
				return // no contract file holds it
			}
			c.Result.AgentFields = append(c.Result.AgentFields, p)
		}
		a, err := c.AgentSchema()
		if err != nil {
			return
		}
		if b, _ := c.AgentSchema(); !bytes.Equal(a, b) {
			t.Errorf("%s, then %s", a, b)
		}
		limits := strictjson.Ceilings() // pointers may name longer members than schemas do
		limits.MaxNameChars, limits.MaxDepth = len(a), 200
		if _, err := strictjson.Parse(a, limits); err != nil {
			t.Errorf("%s: %v", a, err)
		}
	})
}
