package condition

import (
	"time"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// Input is one value handed to an evaluation. The zero Input is an absent one: an
// expression that reads it fails, and has() of such a member is false. Inputs are
// immutable and safe for concurrent use.
type Input struct {
	kind   inputKind
	json   strictjson.Value
	text   string
	number int64
	time   time.Time
	fields map[string]Input
	items  []Input
}

type inputKind uint8

const (
	inputAbsent inputKind = iota
	inputJSON
	inputText
	inputInt
	inputTime
	inputFields
	inputItems
)

// JSON is a JSON value; an absent one is an absent Input.
func JSON(v strictjson.Value) Input {
	if !v.Exists() {
		return Input{}
	}
	return Input{kind: inputJSON, json: v}
}

// String is a text; it is valid UTF-8.
func String(s string) Input { return Input{kind: inputText, text: s} }

// Integer is a whole number.
func Integer(n int64) Input { return Input{kind: inputInt, number: n} }

// Instant is a point in time; the zero Time is an absent Input.
func Instant(t time.Time) Input {
	if t.IsZero() {
		return Input{}
	}
	return Input{kind: inputTime, time: t}
}

// Fields is an object for a [Record] shape. It keeps fields, which the caller must not
// change afterwards.
func Fields(fields map[string]Input) Input { return Input{kind: inputFields, fields: fields} }

// Items is a list for a [List] shape. It keeps items, which the caller must not change
// afterwards.
func Items(items []Input) Input { return Input{kind: inputItems, items: items} }

// value makes the CEL value of an input under its declared shape.
func (a *arena) value(in Input, s *Shape) ref.Val {
	s = s.known()
	switch in.kind {
	case inputJSON:
		return a.wrap(in.json, s)
	case inputText:
		if s.kind == kindString || s.kind == kindDyn {
			return types.String(in.text)
		}
	case inputInt:
		if s.kind == kindInt || s.kind == kindDyn {
			return types.Int(in.number)
		}
	case inputTime:
		if s.kind == kindTime || s.kind == kindDyn {
			return types.Timestamp{Time: in.time.UTC()}
		}
	case inputFields:
		if s.kind == kindObject {
			return &object{arena: a, shape: s, fields: in.fields}
		}
	case inputItems:
		if s.kind == kindList {
			return &list{arena: a, size: len(in.items), at: func(i int) ref.Val { return a.value(in.items[i], s.elem) }}
		}
	}
	return a.fail()
}
