package schema

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/validators/format"
	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// parse reads an instance under the service's ceilings.
func parse(t testing.TB, source string) strictjson.Value {
	t.Helper()
	v, err := strictjson.Parse([]byte(source), strictjson.Ceilings())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// show writes failures as "pointer keyword path", one a line.
func show(failures []Failure) string {
	var lines []string
	for _, f := range failures {
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s %s", f.At, f.Keyword, f.SchemaPath)))
	}
	return strings.Join(lines, "\n")
}

const envelope = `{"oneOf":[
	{"type":"object","properties":{"outcome":{"const":"success"},"data":{"type":"object","properties":{"n":{"type":"integer"}}}},"required":["outcome","data"],"additionalProperties":false},
	{"$ref":"#/$defs/failure"}],
	"$defs":{"failure":{"type":"object","properties":{"outcome":{"$ref":"#/$defs/failed"},"error":{"type":"string"}},"required":["outcome","error"],"additionalProperties":false},
	"failed":{"enum":["failure","refused"]}}}`

// failureTable says which failures are reported, where, and in which order.
var failureTable = []struct{ name, schema, instance, want string }{
	{"conforming", `{"type":"object"}`, `{}`, ``},
	{"root type", `{"type":"object"}`, `[]`, `type /type`},
	{"missing member has its own pointer", `{"required":["b","a"]}`, `{}`, "/b required /required\n/a required /required"},
	{"missing name is escaped", `{"required":["a/b~c"]}`, `{}`, "/a~1b~0c required /required"},
	{"unexpected member", `{"properties":{"a":true},"additionalProperties":false}`, `{"a":1,"x":2}`, "/x additionalProperties /additionalProperties"},
	{
		"unexpected members in the order of the input", `{"additionalProperties":false}`, `{"z":1,"a":2,"m":3}`,
		"/z additionalProperties /additionalProperties\n/a additionalProperties /additionalProperties\n/m additionalProperties /additionalProperties",
	},
	{
		"unevaluated member behind a reference", `{"$defs":{"b":{"properties":{"a":true}}},"$ref":"#/$defs/b","unevaluatedProperties":false}`, `{"a":1,"x":2}`,
		"/x unevaluatedProperties /unevaluatedProperties",
	},
	{
		"a failing base does not make its members unexpected", `{"allOf":[{"properties":{"a":true,"b":{"type":"string"}}}],"unevaluatedProperties":false}`, `{"x":0,"a":1,"b":2}`,
		"/x unevaluatedProperties /unevaluatedProperties\n/b type /allOf/0/properties/b/type",
	},
	{"member that is false", `{"properties":{"a":false}}`, `{"a":1}`, "/a properties /properties/a"},
	{"root false", `false`, `1`, "false"},
	{"false behind a reference", `{"$defs":{"n":false},"properties":{"a":{"$ref":"#/$defs/n"}}}`, `{"a":1}`, "/a $ref /$defs/n"},
	{"unevaluated items", `{"prefixItems":[true],"unevaluatedItems":false}`, `[1,2]`, "/1 unevaluatedItems /unevaluatedItems"},
	{"items behind the prefix", `{"prefixItems":[true],"items":{"type":"string"}}`, `[1,2]`, "/1 type /items/type"},
	{
		"in the order of the input, not of the schema", `{"properties":{"a":{"type":"string"},"b":{"type":"string"}}}`, `{"b":1,"a":1}`,
		"/b type /properties/b/type\n/a type /properties/a/type",
	},
	{
		"same place by schema path", `{"minLength":5,"pattern":"^b","allOf":[{"pattern":"^c"}]}`, `"a"`,
		"pattern /allOf/0/pattern\nminLength /minLength\npattern /pattern",
	},
	{"the path after references, once", `{"$defs":{"s":{"type":"string"}},"allOf":[{"$ref":"#/$defs/s"},{"$ref":"#/$defs/s"}]}`, `1`, "type /$defs/s/type"},
	{"missing where its object ends", `{"required":["z"],"properties":{"a":{"type":"string"}}}`, `{"a":1}`, "/a type /properties/a/type\n/z required /required"},
	{"no pattern over what is too long", `{"maxLength":1,"pattern":"^b"}`, `"aa"`, "maxLength /maxLength"},
	{
		"at most five, the first ones", `{"properties":{"late":{"items":{"type":"string"}}},"additionalProperties":{"type":"string"}}`, `{"late":[1,2,3,4,5,6],"x":1}`,
		"/late/0 type /properties/late/items/type\n/late/1 type /properties/late/items/type\n/late/2 type /properties/late/items/type\n/late/3 type /properties/late/items/type\n/late/4 type /properties/late/items/type",
	},
	{
		"an early one found late", `{"properties":{"late":{"items":{"type":"string"}}},"unevaluatedProperties":false}`, `{"x":1,"late":[1,2,3,4,5,6],"y":1}`,
		"/x unevaluatedProperties /unevaluatedProperties\n/late/0 type /properties/late/items/type\n/late/1 type /properties/late/items/type\n/late/2 type /properties/late/items/type\n/late/3 type /properties/late/items/type",
	},
	{
		"earlier ones found when there are five already", `{"allOf":[{"prefixItems":[true,true,true],"items":{"type":"string"}},{"prefixItems":[{"minimum":2},{"minimum":2},{"minimum":2}]}]}`, `[1,1,1,1,1,1,1,1]`,
		"/0 minimum /allOf/1/prefixItems/0/minimum\n/1 minimum /allOf/1/prefixItems/1/minimum\n/2 minimum /allOf/1/prefixItems/2/minimum\n/3 type /allOf/0/items/type\n/4 type /allOf/0/items/type",
	},
	{"a union that fails leaves no member unexpected", `{"anyOf":[{"required":["x"],"properties":{"a":true}}],"unevaluatedProperties":false}`, `{"a":1}`, "anyOf /anyOf"},
	{"property names", `{"propertyNames":{"pattern":"^[a-z]+$"}}`, `{"ok":1,"NO":2}`, "/NO propertyNames /propertyNames"},
	{"property names of the right item", `{"items":{"propertyNames":{"maxLength":1}}}`, `[{"bad":1},{"o":1}]`, "/0/bad propertyNames /items/propertyNames"},
	{"dependent required", `{"dependentRequired":{"a":["b"]}}`, `{"a":1}`, "/b dependentRequired /dependentRequired/a"},
	{"dependent schemas", `{"dependentSchemas":{"a":{"required":["b"]}}}`, `{"a":1}`, "/b required /dependentSchemas/a/required"},
	{"not", `{"not":{"type":"string"}}`, `"a"`, "not /not"},
	{"contains", `{"contains":{"type":"string"}}`, `[1]`, "contains /contains"},
	{"min and max contains", `{"contains":{"type":"string"},"minContains":2,"maxContains":0}`, `["a"]`, "maxContains /maxContains\nminContains /minContains"},
	{"unique items", `{"properties":{"a":{"uniqueItems":true}}}`, `{"a":[1,1.0]}`, "/a uniqueItems /properties/a/uniqueItems"},
	{"then", `{"if":{"required":["a"]},"then":{"required":["b"]},"else":{"required":["c"]}}`, `{"a":1}`, "/b required /then/required"},
	{"else", `{"if":{"required":["a"]},"then":{"required":["b"]},"else":{"required":["c"]}}`, `{}`, "/c required /else/required"},
	{
		"numbers", `{"items":{"minimum":2,"exclusiveMaximum":4,"multipleOf":2}}`, `[1,4,2.0]`,
		"/0 minimum /items/minimum\n/0 multipleOf /items/multipleOf\n/1 exclusiveMaximum /items/exclusiveMaximum",
	},
	{
		"counts", `{"minItems":2,"prefixItems":[{"minProperties":2},{"maxProperties":0}],"maxItems":2}`, `[{"a":1},{"a":1},1]`,
		"maxItems /maxItems\n/0 minProperties /prefixItems/0/minProperties\n/1 maxProperties /prefixItems/1/maxProperties",
	},
	{"type alone, not what follows from it", `{"type":"string","minimum":5,"enum":["a"]}`, `1`, "type /type"},
	{"pattern properties", `{"patternProperties":{"^x/":{"type":"string"}}}`, `{"x/1":1}`, "/x~11 type /patternProperties/^x~1/type"},

	{"union: the branch of a const", envelope, `{"outcome":"success","data":{"n":"x"}}`, "/data/n type /oneOf/0/properties/data/properties/n/type"},
	{"union: success that carries an error", envelope, `{"outcome":"success","data":{},"error":"e"}`, "/error additionalProperties /oneOf/0/additionalProperties"},
	{"union: the branch of an enum behind references", envelope, `{"outcome":"refused"}`, "/error required /$defs/failure/required"},
	{"union: a value that no branch has", envelope, `{"outcome":"maybe"}`, "oneOf /oneOf"},
	{"union: no discriminator there", envelope, `{"data":{}}`, "oneOf /oneOf"},
	{"union: wrong type", envelope, `[]`, "oneOf /oneOf"},
	{"union without discriminator", `{"properties":{"u":{"anyOf":[{"type":"string"},{"required":["a"],"type":"object"}]}}}`, `{"u":{}}`, "/u anyOf /properties/u/anyOf"},
	{
		"union beside null", `{"anyOf":[{"properties":{"k":{"const":1}},"required":["k","a"],"type":"object"},{"properties":{"k":{"const":2}},"required":["k"],"type":"object"},{"type":"null"}]}`,
		`{"k":1.0}`, "/a required /anyOf/0/required",
	},
	{
		"union with a branch that anything may choose", `{"anyOf":[{"properties":{"k":{"const":1},"a":{"type":"string"}},"required":["k"]},{"properties":{"k":{"const":2}},"required":["k"]},{"required":["never"]}]}`,
		`{"k":1,"a":1}`, "/a type /anyOf/0/properties/a/type",
	},
	{"union: two match", `{"oneOf":[{"type":"integer"},{"minimum":1}]}`, `2`, "oneOf /oneOf"},
	{
		"union: a member that all branches share does not choose", `{"oneOf":[{"properties":{"v":{"const":1},"z":{"const":"a"},"x":{"type":"string"}},"required":["z","v"]},{"properties":{"v":{"const":1}},"required":["v","never"]}]}`,
		`{"v":1,"z":"a","x":1}`, "oneOf /oneOf",
	},
	{
		"union: the best member chooses, another is wrong", `{"oneOf":[{"properties":{"v":{"const":1},"k":{"const":"a"}},"required":["k","v"]},{"properties":{"v":{"const":1},"k":{"const":"b"}},"required":["k","v"]}]}`,
		`{"v":2,"k":"b"}`, "/v const /oneOf/1/properties/v/const",
	},
}

// A17
func TestFailures(t *testing.T) {
	for _, c := range failureTable {
		t.Run(c.name, func(t *testing.T) {
			s := mustCompile(t, c.schema, Options{Formats: Annotate})
			got, err := s.Validate(context.Background(), parse(t, c.instance))
			if err != nil || show(got) != c.want {
				t.Errorf("%v, got\n%s\nwant\n%s", err, show(got), c.want)
			}
		})
	}
}

// Pointers are relative to the value that was given.
func TestFailuresOfAPart(t *testing.T) {
	whole := parse(t, `{"data":{"n":"x"}}`)
	s := mustCompile(t, `{"properties":{"n":{"type":"integer"}},"required":["m"]}`, Options{})
	got, err := s.Validate(context.Background(), whole.Member("data"))
	if want := "/n type /properties/n/type\n/m required /required"; err != nil || show(got) != want {
		t.Errorf("%v, got\n%s", err, show(got))
	}
}

func TestFailuresInOtherFiles(t *testing.T) {
	files := map[string][]byte{
		"a b/root.json":       []byte(`{"properties":{"x":{"$ref":"parts/p%C3%A4rt.json#/$defs/n"},"y":{"$ref":"#/$defs/%25"}},"$defs":{"%":{"type":"string"}}}`),
		"a b/parts/pärt.json": []byte(`{"$defs":{"n":{"maximum":3,"$ref":"../../top.json"}}}`),
		"top.json":            []byte(`{"type":"integer"}`),
	}
	s, err := Compile(files, "a b/root.json", Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Validate(context.Background(), parse(t, `{"x":4.5,"y":1}`))
	want := "/x maximum a b/parts/pärt.json#/$defs/n/maximum\n/x type top.json#/type\n/y type /$defs/%/type"
	if err != nil || show(got) != want {
		t.Errorf("%v, got\n%s\nwant\n%s", err, show(got), want)
	}
}

// verdictTable holds the cases of public bug reports by number, and near relatives.
var verdictTable = []struct {
	name, schema, instance string
	valid                  bool
}{
	{"035 integers beyond 2^53", `{"properties":{"id":{"type":"integer"}}}`, `{"id":9007199254740993}`, true},
	{"035 told apart", `{"const":9007199254740993}`, `9007199254740992`, false},
	{"041 an integer with a fraction of zeros", `{"type":"integer"}`, `1.0`, true},
	{"an integer by exponent", `{"type":"integer"}`, `12e-1`, false},
	{"minus zero", `{"const":0}`, `-0.0`, true},
	{"053 dollar before a newline", `{"pattern":"^[a-z]+$"}`, `"incidents\n"`, false},
	{"056 unevaluated sees a reference", `{"$defs":{"b":{"properties":{"a":{"type":"integer"}}}},"$ref":"#/$defs/b","unevaluatedProperties":false}`, `{"a":1}`, true},
	{"056 additional does not", `{"$defs":{"b":{"properties":{"a":{"type":"integer"}}}},"$ref":"#/$defs/b","additionalProperties":false}`, `{"a":1}`, false},
	{"059 reference to itself", `{"$defs":{"a":{"$ref":"#/$defs/a"}},"$ref":"#/$defs/a"}`, `1`, false},
	{"059 in a branch that is not needed", `{"$defs":{"a":{"anyOf":[{"type":"integer"},{"$ref":"#/$defs/a"}]}},"$ref":"#/$defs/a"}`, `1`, true},
	{"059 in a branch that is", `{"$defs":{"a":{"anyOf":[{"type":"integer"},{"$ref":"#/$defs/a"}]}},"$ref":"#/$defs/a"}`, `"x"`, false},
	{"060 both branches descend", recursive60, strings.Repeat(`{"c":`, 20) + "1" + strings.Repeat("}", 20), false},
	{"062 code points", `{"maxLength":2}`, `"😀😀"`, true},
	{"062 not graphemes", `{"maxLength":1}`, `"e\u0301"`, false},
	{"063 exact decimals", `{"items":{"multipleOf":0.01}}`, `[19.99,1.11,0.07]`, true},
	{"063 and not nearly", `{"multipleOf":0.01}`, `19.999`, false},
	{"065 const without order", `{"const":{"a":1,"b":[2]}}`, `{"b":[2.0],"a":1e0}`, true},
	{"065 false is not 0", `{"enum":[0]}`, `false`, false},
	{"065 unique by value", `{"uniqueItems":true}`, `[{"a":1,"b":2},{"b":2.0,"a":10e-1}]`, false},
	{"065 unique kinds", `{"uniqueItems":true}`, `[0,false,null,"","0",[],{},"false",[0]]`, true},
	{"unique: parts that run together", `{"uniqueItems":true}`, `[["a","b"],["ab"],["a\u0004b"],["a",["b"]],[["a"],"b"]]`, true},
	{"unique: parts that run together, evenly", `{"uniqueItems":true}`, `[["a\u0004b","c"],["a","b\u0004c"]]`, true},
	{"unique: zeros", `{"uniqueItems":true}`, `[0,-0.0]`, false},
	{"unique: zeros with exponents", `{"uniqueItems":true}`, `[0e5,0]`, false},
	{"unique: sign and scale", `{"uniqueItems":true}`, `[1,-1,10,0.1,1e10,1e-10,100]`, true},
	{"069 siblings of a reference count", `{"$defs":{"s":{"type":"string"}},"properties":{"a":{"$ref":"#/$defs/s","maxLength":2}}}`, `{"a":"abcd"}`, false},
	{"bounds beyond an int", `{"maxLength":18446744073709551616,"minLength":0}`, `"abc"`, true},
	{"bounds beyond an int, below", `{"minItems":18446744073709551617}`, `[1]`, false},
	{"bounds written otherwise", `{"maxLength":2.0}`, `"abc"`, false},
	{"own metaschema", `{"$ref":"https://json-schema.org/draft/2020-12/schema"}`, `{"type":"nonsense"}`, false},
	{"own metaschema, deep", `{"$ref":"https://json-schema.org/draft/2020-12/schema"}`, `{"items":{"items":{"properties":{"a":{"minLength":-1}}}}}`, false},
	{"dynamic anchor from outside", `{"$id":"https://example.test/strict","$dynamicAnchor":"n","$ref":"tree","unevaluatedProperties":false,
		"$defs":{"t":{"$id":"tree","$dynamicAnchor":"n","properties":{"c":{"items":{"$dynamicRef":"#n"}}}}}}`, `{"c":[{"x":1}]}`, false},
	{"null for absent", `{"properties":{"next":{"type":"string"}}}`, `{"next":null}`, false},
	{"a number as a string", `{"type":"number"}`, `"5"`, false},
}

const recursive60 = `{"$defs":{"n":{"anyOf":[{"type":"object","properties":{"c":{"$ref":"#/$defs/n"}},"required":["c","x"]},
	{"type":"object","properties":{"c":{"$ref":"#/$defs/n"}},"required":["c","y"]},{"type":"null"}]}},"$ref":"#/$defs/n"}`

// A9, A12, D1
func TestVerdicts(t *testing.T) {
	for _, c := range verdictTable {
		t.Run(c.name, func(t *testing.T) {
			s := mustCompile(t, c.schema, Options{Formats: Annotate})
			got, err := s.Validate(context.Background(), parse(t, c.instance))
			if err != nil || (len(got) == 0) != c.valid {
				t.Errorf("%v, failures:\n%s", err, show(got))
			}
			agree(t, c.schema, parse(t, c.instance), c.valid)
		})
	}
}

// A12. Formats are our own, asserted, and refused where there is no check.
func TestFormats(t *testing.T) {
	if _, known := format.Lookup("date-time"); !known {
		t.Skip("package format is not linked in: formats_standin.go stands for it")
	}
	if err := SelfTest(); err != nil {
		t.Error(err)
	}
	for _, c := range []struct{ format, value string }{
		{"date-time", "someinvalid datetime"},              // 043
		{"date-time", "2009-05-31T14:53:60Z"},              // 046
		{"date-time", "2026-03-01T10:00:00,5Z"},            // 048
		{"date-time", "2026-03-01T10:00:00+24:00"},         // 048
		{"email", "@example.com"},                          // 050
		{"uuid", "2eb8aa08-aa98-11ea-b4aa-73b441d16380\n"}, // 052
		{"ipv4", "+1.2.3.4"},
		{"time", "T+1:00:00Z"},
	} {
		v := parse(t, string(strictjson.AppendString(nil, c.value)))
		source := fmt.Sprintf(`{"format":%q}`, c.format)
		got, err := mustCompile(t, source, Options{}).Validate(context.Background(), v)
		if err != nil || show(got) != "format /format" {
			t.Errorf("%s %q: %v %s", c.format, c.value, err, show(got))
		}
		if got, _ := mustCompile(t, source, Options{Formats: Annotate}).Validate(context.Background(), v); len(got) != 0 {
			t.Errorf("%s as an annotation: %s", c.format, show(got))
		}
	}
	for _, name := range []string{"semver", "period", "int32", "Date", "date-time "} {
		source := fmt.Sprintf(`{"properties":{"a":{"format":%q}}}`, name)
		_, err := Compile(map[string][]byte{"s.json": []byte(source)}, "s.json", Options{})
		if e, ok := errors.AsType[*CompileError](err); !ok || e.Pointer != "/properties/a/format" {
			t.Errorf("%q: %v", name, err)
		}
		mustCompile(t, source, Options{Formats: AssertKnown})
	}
}

// 152: nothing of the instance's values in what is reported. B11
func TestNoValueIsReported(t *testing.T) {
	s := mustCompile(t, `{"properties":{"token":{"pattern":"^tok_[a-z]+$","enum":["x"],"const":"y"}},"not":{"required":["token"]}}`, Options{})
	got, _ := s.Validate(context.Background(), parse(t, `{"token":"FAKE-SECRET-123"}`))
	if text := fmt.Sprintf("%+v", got); len(got) == 0 || strings.Contains(text, "FAKE-SECRET-123") {
		t.Error(text)
	}
}

// The answers do not depend on who else asks. Run with -race.
func TestConcurrentUse(t *testing.T) {
	s := mustCompile(t, envelope, Options{})
	v := parse(t, `{"outcome":"success","data":{"n":"x"},"extra":1}`)
	want, _ := s.Validate(context.Background(), v)
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range 200 {
				if got, err := s.Validate(context.Background(), v); err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("%v %s", err, show(got))
					return
				}
			}
		})
	}
	wait.Wait()
}

func TestAbsentValue(t *testing.T) {
	s := mustCompile(t, `true`, Options{})
	if got, err := s.Validate(context.Background(), strictjson.Value{}); err != nil || len(got) != 1 {
		t.Errorf("%v %s", err, show(got))
	}
}

// within fails the test where f takes more of the processor than limit. What else the
// machine does does not count; what the race detector costs is in the limits.
func within(t *testing.T, limit time.Duration, f func()) {
	t.Helper()
	before := processorTime(t)
	f()
	if took := processorTime(t) - before; took > limit {
		t.Errorf("took %v of the processor, allowed are %v", took, limit)
	}
}

// processorTime is what this process has used so far, in all its threads.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
