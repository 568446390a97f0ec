package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/validators/schema"
	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// This file holds what contract.Compare says about schemas against the engine that
// judges by them: random schemas, edited at random, over a vocabulary so small that
// random values meet their rules. It stands here because no other room may see both.

type object = map[string]any

// dice makes random schemas and values.
type dice struct{ *rand.Rand }

func (d dice) one(of ...any) any { return of[d.IntN(len(of))] }

func (d dice) scalar() any {
	return d.one(nil, true, false, 0, 1, 2, 3, 1.5, "", "a", "bb", "ccc")
}

// value is a random instance.
func (d dice) value(depth int) any {
	switch n := d.IntN(10); {
	case depth <= 0 || n < 4:
		return d.scalar()
	case n < 8:
		o := object{}
		for _, name := range []string{"a", "b", "c"} {
			if d.IntN(2) == 0 {
				o[name] = d.value(depth - 1)
			}
		}
		return o
	}
	list := make([]any, d.IntN(4))
	for i := range list {
		list[i] = d.value(depth - 1)
	}
	return list
}

func (d dice) list(depth, least, most int) []any {
	list := make([]any, least+d.IntN(most-least+1))
	for i := range list {
		list[i] = d.schema(depth)
	}
	return list
}

// schema is a random schema.
func (d dice) schema(depth int) any {
	if depth <= 0 {
		return d.leaf()
	}
	switch d.IntN(12) {
	case 0, 1, 2:
		return d.objects(depth - 1)
	case 3:
		s := object{"type": "array", "items": d.schema(depth - 1)}
		if d.IntN(2) == 0 {
			s["prefixItems"] = d.list(depth-1, 1, 2)
		}
		if d.IntN(3) == 0 {
			s["items"] = false
		}
		if d.IntN(3) == 0 {
			s["contains"] = d.schema(depth - 1)
		}
		return s
	case 4:
		return object{"allOf": d.list(depth-1, 1, 2)}
	case 5:
		return object{"anyOf": d.list(depth-1, 1, 3)}
	case 6:
		return object{"oneOf": d.list(depth-1, 1, 3)}
	case 7:
		return object{"not": d.schema(depth - 1)}
	case 8:
		return object{"if": d.schema(depth - 1), "then": d.schema(depth - 1), "else": d.schema(depth - 1)}
	case 9:
		return object{"$ref": d.one("#/$defs/d", "#/$defs/e")}
	}
	return d.leaf()
}

func (d dice) leaf() any {
	switch d.IntN(9) {
	case 0:
		return d.one(true, false, object{})
	case 1:
		return object{"const": d.scalar()}
	case 2:
		return object{"enum": []any{d.scalar(), d.scalar(), d.scalar()}}
	case 3:
		return object{"type": "string", "maxLength": d.IntN(4)}
	case 4:
		return object{"type": "string", "minLength": d.IntN(3), "pattern": d.one("^a", "b", "^[a-c]*$")}
	case 5:
		return object{"type": d.one("integer", "number"), d.one("minimum", "exclusiveMinimum").(string): d.IntN(3), "maximum": 2}
	case 6:
		return object{"multipleOf": d.one(1, 2, 0.5), "maximum": d.IntN(4)}
	}
	return object{"type": d.one("null", "boolean", "string", "integer", "object", "array", []any{"string", "null"}, []any{"object", "integer"})}
}

func (d dice) objects(depth int) any {
	s, properties := object{}, object{}
	if d.IntN(4) > 0 {
		s["type"] = "object"
	}
	required := []any{}
	for _, name := range []string{"a", "b", "c"} {
		if d.IntN(2) == 0 {
			properties[name] = d.schema(depth)
		}
		if d.IntN(4) == 0 {
			required = append(required, name)
		}
	}
	s["properties"], s["required"] = properties, required
	switch d.IntN(6) {
	case 0, 1:
		s["additionalProperties"] = false
	case 2:
		s["unevaluatedProperties"] = d.one(false, false, d.schema(depth))
		s[d.one("allOf", "anyOf", "oneOf").(string)] = d.list(depth, 1, 2)
	case 3:
		s["dependentRequired"] = object{"a": []any{"b"}}
	case 4:
		s["additionalProperties"] = d.schema(depth)
	}
	return s
}

func (d dice) document() object {
	return object{"allOf": []any{d.schema(3)}, "$defs": object{"d": d.leaf(), "e": d.objects(0)}}
}

// holders returns the places of a document where a schema stands, as functions that
// replace it.
func holders(s any, list []func(func(any) any)) []func(func(any) any) {
	o, ok := s.(object)
	if !ok {
		return list
	}
	names := make([]string, 0, len(o))
	for name := range o {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		switch name {
		case "allOf", "anyOf", "oneOf", "prefixItems":
			members := o[name].([]any)
			for i := range members {
				list = append(list, func(f func(any) any) { members[i] = f(members[i]) })
				list = holders(members[i], list)
			}
		case "properties", "$defs":
			members := o[name].(object)
			for _, key := range []string{"a", "b", "c", "d", "e"} {
				if _, ok := members[key]; ok {
					list = append(list, func(f func(any) any) { members[key] = f(members[key]) })
					list = holders(members[key], list)
				}
			}
		case "not", "if", "then", "else", "items", "contains", "additionalProperties", "unevaluatedProperties":
			list = append(list, func(f func(any) any) { o[name] = f(o[name]) })
			list = holders(o[name], list)
		}
	}
	return list
}

// edit changes one place of a document.
func (d dice) edit(s any) any {
	o, ok := s.(object)
	if !ok || len(o) == 0 || d.IntN(4) == 0 {
		return d.schema(1)
	}
	names := make([]string, 0, len(o))
	for name := range o {
		names = append(names, name)
	}
	slices.Sort(names)
	name := names[d.IntN(len(names))]
	switch v := o[name].(type) {
	case float64:
		o[name] = v + d.one(-1.0, 1.0).(float64)
		if name == "multipleOf" || o[name].(float64) < 0 {
			o[name] = 1
		}
	case []any:
		switch {
		case len(v) > 1:
			o[name] = slices.Delete(v, 0, 1)
		case name == "required":
			o[name] = []any{d.one("a", "b", "c")}
		case name == "allOf" || name == "anyOf" || name == "oneOf":
			o[name] = append(v, d.schema(1))
		}
	case object:
		if name == "properties" {
			v[d.one("a", "b", "c").(string)] = d.schema(1)
		}
	default:
		if name != "$ref" && name != "if" && name != "then" && name != "else" {
			delete(o, name)
		}
	}
	return o
}

func clone(t *testing.T, v any) object {
	t.Helper()
	var c object
	if err := json.Unmarshal(encode(t, v), &c); err != nil {
		t.Fatal(err)
	}
	return c
}

func encode(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// seed fixes the dice: a round that fails fails again.
const seed = 7

func rounds(t *testing.T) int {
	t.Helper()
	if testing.Short() {
		return 200
	}
	return 1000
}

// judged is one schema as the comparison and the engine know it.
type judged struct {
	contract *contract.Contract
	engine   *schema.Schema
	src      []byte
}

func judgedBy(t *testing.T, document object) (judged, bool) {
	t.Helper()
	src := encode(t, document)
	root, err := strictjson.Parse(src, strictjson.Ceilings())
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{"s.json": src}
	engine, err := schema.Compile(files, "s.json", schema.Options{Formats: schema.Assert})
	if err != nil {
		return judged{}, false
	}
	return judged{
		src: src, engine: engine,
		contract: &contract.Contract{Result: contract.Result{
			Schema:      &contract.Schema{File: "s.json", Files: files, Roots: map[string]strictjson.Value{"s.json": root}},
			AgentFields: []strictjson.Pointer{{}},
		}},
	}, true
}

func (j judged) accepts(t *testing.T, v strictjson.Value) bool {
	t.Helper()
	failures, err := j.engine.Validate(context.Background(), v)
	if err != nil {
		t.Fatal(err)
	}
	return len(failures) == 0
}

// says reports what the comparison claims: nothing differs, nothing is refused anew.
func says(old, now judged) (same, keeps bool) {
	same, keeps = true, true
	for _, c := range contract.Compare(old.contract, now.contract) {
		same = same && c.Kind == "annotation-changed"
		keeps = keeps && c.Class != contract.Breaking
	}
	return same, keeps
}

// A23 D7: what the comparison calls the same is judged the same; where it finds nothing
// breaking, whatever passed passes still.
func TestCompareIsSound(t *testing.T) {
	alike, kept, different := 0, 0, 0
	for round := range rounds(t) {
		d := dice{rand.New(rand.NewPCG(seed, uint64(round)))}
		document := clone(t, d.document())
		other := clone(t, document)
		for range 1 + d.IntN(2) {
			places := holders(other, nil)
			places[d.IntN(len(places))](d.edit)
		}
		if bytes.Contains(encode(t, other["$defs"]), []byte(`"$ref"`)) {
			continue // it may lead back to itself, which no contract's schema does
		}
		old, ok := judgedBy(t, document)
		now, ok2 := judgedBy(t, clone(t, other))
		if !ok || !ok2 {
			continue
		}
		same, keeps := says(old, now)
		switch {
		case same:
			alike++
		case keeps:
			kept++
		default:
			different++
			continue
		}
		for range 60 {
			src := encode(t, d.value(3))
			v, err := strictjson.Parse(src, strictjson.Ceilings())
			if err != nil {
				t.Fatal(err)
			}
			was, is := old.accepts(t, v), now.accepts(t, v)
			if (was && !is) || (same && was != is) {
				t.Fatalf("round %d: %s passed: %v, passes: %v\nold %s\nnew %s\n%v", round, src, was, is, old.src, now.src,
					contract.Compare(old.contract, now.contract))
			}
		}
	}
	t.Logf("%d called the same, %d not breaking, %d breaking", alike, kept, different)
	if alike == 0 || kept == 0 || different == 0 {
		t.Error("a kind of answer was never tried")
	}
}

// D7: a refactoring is no change.
func TestCompareIsBlindToRefactoring(t *testing.T) {
	for round := range rounds(t) {
		d := dice{rand.New(rand.NewPCG(seed, uint64(round)))}
		document := clone(t, d.document())
		other := clone(t, document)
		defs := other["$defs"].(object)
		for i := range 1 + d.IntN(3) {
			places := holders(other, nil)
			places[d.IntN(len(places))](func(s any) any {
				switch s := s.(type) {
				case bool:
					return s // false has a meaning of its own in additionalProperties
				default:
					if d.IntN(2) == 0 {
						return object{"allOf": []any{s}}
					}
					name := fmt.Sprintf("m%d", i)
					defs[name] = s
					return object{"$ref": "#/$defs/" + name}
				}
			})
		}
		old, ok := judgedBy(t, document)
		now, ok2 := judgedBy(t, other)
		if !ok || !ok2 {
			t.Fatalf("round %d: not a schema", round)
		}
		if same, _ := says(old, now); !same {
			t.Fatalf("round %d\nold %s\nnew %s\n%v", round, old.src, now.src, contract.Compare(old.contract, now.contract))
		}
	}
}
