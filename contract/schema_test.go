package contract

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// here is the line of the table row that calls it, so that a failure names its row.
func here() int {
	_, _, line, _ := runtime.Caller(1)
	return line
}

// wantFaults compares faults with what each of them must contain, in order.
func wantFaults(t *testing.T, line int, got Faults, want []string) {
	t.Helper()
	ok := len(got) == len(want)
	for i := 0; ok && i < len(want); i++ {
		ok = strings.Contains(got[i].String(), want[i])
	}
	if !ok {
		t.Errorf("row of line %d: got %d faults:\n%s\nwant %d:\n%s", line, len(got), got.Error(), len(want), strings.Join(want, "\n"))
	}
	for _, f := range got {
		if f.File == "" || f.Message == "" || f.Cure == "" {
			t.Errorf("row of line %d: a fault lacks file, message or cure: %+v", line, f)
		}
	}
}

func fileMap(files map[string]string) map[string][]byte {
	m := map[string][]byte{}
	for name, text := range files {
		m[name] = []byte(text)
	}
	return m
}

// TestReadSchema proves the rules that hold for every schema. // B7, A5
func TestReadSchema(t *testing.T) {
	for _, row := range []struct {
		line   int
		schema string
		want   []string
	}{
		// Dialect and identity.
		{here(), `{"type":"string"}`, nil},
		{here(), `true`, nil},
		{here(), `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"string"}`, nil},
		{here(), `{"$schema":"https://json-schema.org/draft/2020-12/schema#"}`, []string{"s.json:1:12: #/$schema: another dialect"}},
		{here(), `{"$schema":"http://json-schema.org/draft-07/schema#"}`, []string{"another dialect"}},
		{here(), `{"$schema":2020}`, []string{"another dialect"}},
		{here(), `{"$defs":{"a":{"$schema":"http://json-schema.org/draft-04/schema#"}}}`, []string{"#/$defs/a/$schema: another dialect"}},
		{here(), `{"$id":"https://example.test/s.json","$defs":{"a":{}},"$ref":"#/$defs/a"}`, nil},
		{here(), `{"$id":"https://example.test/s.json","$ref":"other.json"}`, []string{"from a file with an $id"}},
		{here(), `{"$id":"https://example.test/s.json#x"}`, []string{"without a fragment"}},
		{here(), `{"$id":7}`, []string{"without a fragment"}},
		{here(), `{"$defs":{"a":{"$id":"b/"}}}`, []string{"#/$defs/a/$id: an $id inside a file"}},
		{here(), `{"$anchor":"a","$defs":{"b":{"$ref":"#c"},"c":{"$anchor":"c"}}}`, nil},
		{here(), `{"$anchor":"a","$defs":{"b":{"$anchor":"a"}}}`, []string{"has the $anchor \"a\" twice"}},
		{here(), `{"$anchor":"1a"}`, []string{"the value of $anchor must be a name"}},
		{here(), `{"$dynamicRef":"#a"}`, []string{"$dynamicRef is not supported"}},
		{here(), `{"$dynamicAnchor":"a","$recursiveRef":"#"}`, []string{"$dynamicAnchor is not", "$recursiveRef is not"}},
		{here(), `{"$vocabulary":{}}`, []string{"$vocabulary is not supported"}},
		// Keywords.
		{here(), `{"requierd":["a"]}`, []string{`s.json:1:13: #/requierd: unknown keyword "requierd", which JSON Schema would ignore (did you mean required?`}},
		{here(), `{"properties":{"a":{"maxlength":3}}}`, []string{"#/properties/a/maxlength: unknown keyword \"maxlength\""}},
		{here(), `{"definitions":{}}`, []string{"(write $defs)"}},
		{here(), `{"nullable":true}`, []string{`(write "type": [TYPE, "null"])`}},
		{here(), `{"zzzzzzzz":true}`, []string{"(remove it; an annotation of your own begins with x-)"}},
		{here(), `{"x-owner":{"requierd":1},"const":{"requierd":1},"enum":[{"requierd":1}],"default":{"requierd":1},"examples":[{"requierd":1}]}`, nil},
		{here(), `{"properties":{"requierd":{"type":"string"},"$ref":{"type":"string"}}}`, nil},
		{here(), "{\n  \"allOf\": [\n    {\"tpye\": 1}]}", []string{"s.json:3:14: #/allOf/0/tpye"}},
		{here(), "{\"title\":\"é\",\"tpye\":1}", []string{"s.json:1:21: #/tpye"}},
		// Values of keywords.
		{here(), `{"type":"strng"}`, []string{"#/type: the value of type must be one of"}},
		{here(), `{"type":[]}`, []string{"the value of type"}},
		{here(), `{"type":["string","string"]}`, []string{"the value of type"}},
		{here(), `{"type":["string","null"]}`, nil},
		{here(), `{"required":"a"}`, []string{"the value of required must be an array of strings, each once"}},
		{here(), `{"required":["a","a"]}`, []string{"the value of required"}},
		{here(), `{"required":[]}`, nil},
		{here(), `{"properties":[]}`, []string{"the value of properties must be an object of schemas"}},
		{here(), `{"properties":{"a":1}}`, []string{"#/properties/a: a schema must stand here"}},
		{here(), `{"items":[{}]}`, []string{"#/items: a schema must stand here"}},
		{here(), `{"prefixItems":[]}`, []string{"the value of prefixItems must be an array of schemas"}},
		{here(), `{"anyOf":{}}`, []string{"the value of anyOf"}},
		{here(), `{"enum":[]}`, []string{"the value of enum must be an array that is not empty"}},
		{here(), `{"enum":1}`, []string{"the value of enum"}},
		{here(), `{"maxLength":-1}`, []string{"the value of maxLength must be an integer that is not negative"}},
		{here(), `{"maxLength":1.5,"minItems":"3","maxItems":1e30}`, []string{"maxLength", "minItems", "maxItems"}},
		{here(), `{"maxLength":2.0}`, nil},
		{here(), `{"minimum":"1","multipleOf":0}`, []string{"the value of minimum must be a number", "the value of multipleOf must be a number greater"}},
		{here(), `{"uniqueItems":1,"title":2,"examples":3,"dependentRequired":{"a":"b"}}`, []string{"uniqueItems", "title", "examples", "dependentRequired"}},
		{here(), `{"pattern":1,"format":1,"$ref":1}`, []string{"pattern", "format", "$ref"}},
		{here(), `{"then":{},"minContains":1}`, []string{"then without if has no effect", "minContains without contains"}},
		{here(), `{"if":{}}`, []string{"if without then or else"}},
		{here(), `1`, []string{"#: a schema must stand here"}},
		// Formats.
		{here(), `{"format":"date-time"}`, nil},
		{here(), `{"format":"int64"}`, []string{`#/format: unknown format "int64"`}},
		{here(), `{"format":"Date-Time"}`, []string{"unknown format"}},
		// Patterns.
		{here(), `{"pattern":"^[a-z]+$"}`, nil},
		{here(), `{"pattern":"^(?!x)[a-z]*$"}`, []string{`#/pattern: the pattern "^(?!x)[a-z]*$" is no RE2 expression: look-around (?!…)`}},
		{here(), `{"pattern":"(?<=a)b"}`, []string{"look-around (?<=…)"}},
		{here(), `{"pattern":"(a)\\1"}`, []string{"back-references do not exist"}},
		{here(), `{"pattern":"a{2000}"}`, []string{"invalid repeat count"}},
		{here(), `{"pattern":"("}`, []string{"missing closing )"}},
		{here(), `{"pattern":"^\\S+$"}`, []string{`uses \S, which means less`}},
		{here(), `{"pattern":"\\w\\s\\W\\b"}`, []string{`uses \w`}},
		{here(), `{"pattern":"\\b","x-re2":true}`, nil},
		{here(), `{"pattern":"\\b","x-re2":"true"}`, []string{`uses \b`}},
		{here(), `{"pattern":"\\\\s\\d"}`, nil},
		{here(), `{"patternProperties":{"^(?=a)":{}}}`, []string{"#/patternProperties/^(?=a): the pattern"}},
		{here(), `{"patternProperties":{"\\w":{}}}`, []string{`uses \w`}},
		{here(), `{"pattern":"` + strings.Repeat("a", maxPattern+1) + `"}`, []string{"a pattern of more than"}},
		// References.
		{here(), `{"$ref":"#/$defs/a","$defs":{"a":{}}}`, nil},
		{here(), `{"$ref":"#/%24defs/a~1b","$defs":{"a/b":{}}}`, nil},
		{here(), `{"$ref":"other.json"}`, nil},
		{here(), `{"$ref":"./other.json#/$defs/t"}`, nil},
		{here(), `{"$ref":"sub/back.json"}`, nil},
		{here(), `{"$ref":"#/$defs/b","$defs":{"a":{}}}`, []string{`s.json:1:9: #/$ref: no schema stands where this $ref points: "#/$defs/b"`}},
		{here(), `{"$ref":"#/const","const":{"type":"string"}}`, []string{"no schema stands where"}},
		{here(), `{"$ref":"#/properties","properties":{}}`, []string{"no schema stands where"}},
		{here(), `{"$ref":"#nowhere"}`, []string{"no schema stands where"}},
		{here(), `{"$ref":"#/%zz"}`, []string{"no schema stands where"}},
		{here(), `{"$ref":"missing.json"}`, []string{"has no file for this $ref"}},
		{here(), `{"$ref":"http://192.0.2.1/latest/"}`, []string{"absolute URL; nothing is ever fetched"}},
		{here(), `{"$ref":"https://json-schema.org/draft/2020-12/schema"}`, []string{"absolute URL"}},
		{here(), `{"$ref":"file:///etc/hostname"}`, []string{"absolute URL"}},
		{here(), `{"$ref":"urn:x:y"}`, []string{"absolute URL"}},
		{here(), `{"$ref":"//example.test/s.json"}`, []string{"leaves the contract's folder"}},
		{here(), `{"$ref":"/etc/s.json"}`, []string{"leaves the contract's folder"}},
		{here(), `{"$ref":"../up.json"}`, []string{"leaves the contract's folder"}},
		{here(), `{"$ref":"sub/../../up.json"}`, []string{"leaves the contract's folder"}},
		{here(), `{"$ref":"..\\up.json"}`, []string{"leaves the contract's folder"}},
		{here(), `{"$ref":"%2e%2e/up.json"}`, []string{"not written plainly"}},
		{here(), `{"$ref":"other.json?x"}`, []string{"not written plainly"}},
		{here(), `{"$ref":"contract.yaml"}`, []string{"no .json file"}},
		{here(), `{"$ref":"secret.json"}`, []string{"secret.json:1:1: JSON_SYNTAX"}},
		// Cycles and cost.
		{here(), `{"$ref":"#"}`, []string{"leads back to itself"}},
		{here(), `{"$defs":{"a":{"$ref":"#/$defs/a"}}}`, []string{"#/$defs/a/$ref: this $ref leads back"}},
		{here(), `{"$defs":{"a":{"allOf":[{"$ref":"#/$defs/b"}]},"b":{"not":{"$ref":"#/$defs/a"}}}}`, []string{"leads back"}},
		{here(), `{"if":{"$ref":"#"},"then":{}}`, []string{"leads back"}},
		{here(), `{"properties":{"next":{"$ref":"#"}}}`, nil},
		{here(), `{"properties":{"children":{"type":"array","items":{"$ref":"#"}},"left":{"$ref":"#"},"right":{"$ref":"#"}}}`, nil},
		{here(), `{"anyOf":[{"properties":{"c":{"$ref":"#"}}},{"properties":{"c":{"$ref":"#"}}}]}`, []string{"#: two recursive branches descend"}},
		{here(), `{"anyOf":[{"properties":{"c":{"$ref":"#"}}},{"properties":{"d":{"$ref":"#"}}}]}`, nil},
		{here(), `{"anyOf":[{"properties":{"c":{"$ref":"#"}}},{"items":{"$ref":"#"}}]}`, nil},
		{here(), `{"properties":{"c":{"$ref":"#"}},"allOf":[{"additionalProperties":{"$ref":"#"}}]}`, []string{"two recursive"}},
		{here(), `{"properties":{"c":{"$ref":"#"}},"additionalProperties":{"$ref":"#"}}`, nil},
		{here(), `{"properties":{"c":{"$ref":"#"}},"patternProperties":{"c":{"$ref":"#"}}}`, []string{"two recursive"}},
		{here(), `{"items":{"$ref":"#"},"contains":{"$ref":"#"}}`, []string{"two recursive"}},
		{here(), `{"prefixItems":[{"$ref":"#"}],"items":{"$ref":"#"}}`, nil},
		{here(), `{"allOf":[{"$ref":"#/$defs/x"},{"$ref":"#/$defs/x"}],"$defs":{"x":{"properties":{"c":{"$ref":"#"}}}}}`, []string{"two recursive"}},
		{here(), `{"oneOf":[{"required":["k","c"],"properties":{"k":{"const":"a"},"c":{"$ref":"#"}}},{"required":["k","c"],"properties":{"k":{"const":"b"},"c":{"$ref":"#"}}}]}`, nil},
		{here(), `{"oneOf":[{"required":["c"],"properties":{"k":{"const":"a"},"c":{"$ref":"#"}}},{"required":["k","c"],"properties":{"k":{"const":"b"},"c":{"$ref":"#"}}}]}`, []string{"two recursive"}},
		{here(), `{"oneOf":[{"required":["k"],"properties":{"k":{"enum":["a","b"]},"c":{"$ref":"#"}}},{"required":["k"],"properties":{"k":{"enum":["b","c"]},"c":{"$ref":"#"}}}]}`, []string{"two recursive"}},
		{here(), `{"oneOf":[{"required":["k"],"properties":{"k":{"const":1},"c":{"$ref":"#"}}},{"required":["k"],"properties":{"k":{"const":1.0},"c":{"$ref":"#"}}}]}`, []string{"two recursive"}},
		{here(), `{"oneOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/b"},{"type":"string"}],"$defs":{"a":{"type":"object","required":["k"],"properties":{"k":{"const":"a"},"c":{"$ref":"#"}}},"b":{"type":"object","required":["k"],"properties":{"k":{"$ref":"#/$defs/kb"},"c":{"$ref":"#"}}},"kb":{"const":"b"}}}`, nil},
		{here(), `{"anyOf":[{"type":"object","properties":{"c":{"$ref":"#"}}},{"type":"array","items":{"$ref":"#"}},{"type":"string"}]}`, nil},
		{here(), `{"anyOf":[{"type":["object","null"],"properties":{"c":{"$ref":"#"}}},{"type":"object","properties":{"c":{"$ref":"#"}}}]}`, []string{"two recursive"}},
		{here(), `{"anyOf":[{"type":"array","items":{"$ref":"#"}},{"type":["array","null"],"items":{"$ref":"#"}}]}`, []string{"two recursive"}},
		{here(), `{"if":{"properties":{"k":{"const":"a"}},"required":["k"]},"then":{"properties":{"c":{"$ref":"#"}}},"else":{"properties":{"c":{"$ref":"#"}}}}`, nil},
		{here(), `{"if":{"properties":{"c":{"$ref":"#"}}},"then":{"properties":{"c":{"$ref":"#"}}}}`, []string{"two recursive"}},
		{here(), `{"properties":{"c":{"$ref":"#/$defs/a"}},"$defs":{"a":{"properties":{"c":{"$ref":"#/$defs/b"}}},"b":{"properties":{"c":{"$ref":"#/$defs/a"}}}}}`, nil},
		{here(), doubling(20), []string{"more than 50000 subschemas"}},
		{here(), doubling(10), nil},
		{here(), `{"prefixItems":[` + strings.Repeat("{},", maxLocations) + `{}]}`, []string{"more than 20000 subschemas"}},
		// Bytes.
		{here(), `{"type":"string","type":"object"}`, []string{"DUPLICATE_NAME"}},
		{here(), ``, []string{"JSON_SYNTAX"}},
		{here(), strings.Repeat(`{"items":`, 70) + `{}` + strings.Repeat(`}`, 70), []string{"DEPTH_LIMIT"}},
	} {
		files := fileMap(map[string]string{
			"s.json": row.schema, "other.json": `{"type":"string","$defs":{"t":{"type":"null"}}}`,
			"sub/back.json": `{"$ref":"../other.json"}`, "secret.json": `TOPSECRET`, "contract.yaml": `tool: x`,
		})
		s, got := readSchema(files, "s.json")
		wantFaults(t, row.line, got, row.want)
		if strings.Contains(got.Error(), "TOPSECRET") {
			t.Errorf("row of line %d: a fault quotes the target", row.line)
		}
		if len(got) == 0 && (s == nil || s.File != "s.json" || !s.Roots["s.json"].Exists()) {
			t.Errorf("row of line %d: no schema", row.line)
		}
	}
}

// doubling is a schema that refers to each of n definitions twice from the one before.
func doubling(n int) string {
	var b strings.Builder
	b.WriteString(`{"$ref":"#/$defs/d0","$defs":{`)
	for i := range n {
		fmt.Fprintf(&b, `"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]},`, i, i+1, i+1)
	}
	fmt.Fprintf(&b, `"d%d":{"type":"string"}}}`, n)
	return b.String()
}

func TestReadSchemaFiles(t *testing.T) {
	files := fileMap(map[string]string{
		"a.json": `{"$ref":"sub/b.json#/$defs/x"}`, "sub/b.json": `{"$defs":{"x":{"$ref":"../c.json"}}}`,
		"c.json": `{"type":"string"}`, "unreached.json": `{`,
	})
	s, faults := readSchema(files, "a.json")
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	if got := slices.Sorted(maps.Keys(s.Files)); !slices.Equal(got, []string{"a.json", "c.json", "sub/b.json"}) {
		t.Errorf("files %v", got)
	}
	for _, root := range []string{"none.json", "../a.json", ""} {
		s, faults := readSchema(files, root)
		if s != nil || len(faults) != 1 || !strings.Contains(faults[0].Message, "no such file") {
			t.Errorf("%q: %v %v", root, s, faults)
		}
	}
	chain := map[string][]byte{}
	for i := range maxSchemaFiles + 1 {
		chain[fmt.Sprintf("f%d.json", i)] = fmt.Appendf(nil, `{"$ref":"f%d.json"}`, i+1)
	}
	chain[fmt.Sprintf("f%d.json", maxSchemaFiles+1)] = []byte(`{}`)
	_, faults = readSchema(chain, "f0.json")
	wantFaults(t, here(), faults, []string{"more than 64 files"})
}

// TestReadSchemaMany proves that the number of faults, and the work for them, is
// bounded.
func TestReadSchemaMany(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"properties":{`)
	for i := range 15_000 {
		fmt.Fprintf(&b, `"m%d":{"tpye":1},`, i)
	}
	b.WriteString(`"z":{}}}`)
	_, faults := readSchema(map[string][]byte{"s.json": []byte(b.String())}, "s.json")
	if len(faults) != maxFaults {
		t.Errorf("%d faults", len(faults))
	}
}

func TestMatchesOf(t *testing.T) {
	for _, row := range []struct {
		line    int
		expr    string
		longest int
		machine bool
	}{
		{here(), `^[a-z]{1,64}$`, 64, true},
		{here(), `^[a-z]{1,65}$`, 65, false},
		{here(), `^CR-[0-9]{1,10}$`, 13, true},
		{here(), `^run_[A-Za-z0-9]{12,48}$`, 52, true},
		{here(), `^[a-z]+$`, unbounded, false},
		{here(), `^[a-z]*$`, unbounded, false},
		{here(), `[a-z]{3}$`, unbounded, false},
		{here(), `^[a-z]{3}`, unbounded, false},
		{here(), `^a|b$`, unbounded, false},
		{here(), `^(a|bc)$`, 2, true},
		{here(), `^a$|^bcd$`, 3, true},
		{here(), `(^a$)`, 1, true},
		{here(), `^(?:)a$`, 1, true},
		{here(), `^a b$`, 3, false},
		{here(), `^[^x]{3}$`, 3, false},
		{here(), `^.{3}$`, 3, false},
		{here(), `^[a-z\n]{3}$`, 3, false},
		{here(), `^[!-~]{3}$`, 3, true},
		{here(), `^[ -~]{3}$`, 3, false},
		{here(), `^[\x{2000}-\x{200b}]$`, 1, false},
		{here(), `^\d{4}-\d{2}$`, 7, true},
		{here(), `(?m)^a$`, unbounded, false},
		{here(), `^(a{100}){10}$`, 1000, false},
		{here(), `^(a{10,}){0}$`, 0, true},
		{here(), `^a?$`, 1, true},
		{here(), `^$`, 0, true},
		{here(), `(^a$)*`, unbounded, false},
		{here(), `(^a$)+`, unbounded, false},
		{here(), `\Aab\z`, 2, true},
		{here(), `x^a$`, unbounded, false},
		{here(), `(`, unbounded, false},
		{here(), ``, unbounded, false},
	} {
		m := matchesOf(row.expr)
		if m.longest != row.longest || m.machine() != row.machine {
			t.Errorf("row of line %d: %q: %+v machine %v", row.line, row.expr, m, m.machine())
		}
	}
}
