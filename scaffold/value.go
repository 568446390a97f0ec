package scaffold

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// A value that is being built is nil (absent), null, bool, number, string, []any or
// *object.
type (
	null   struct{}
	number string // the digits of a JSON number
)

// object is a JSON object that keeps the order of its members.
type object struct {
	names []string
	at    map[string]any
}

func newObject() *object { return &object{at: map[string]any{}} }

// get returns a member, nil where there is none; o may be nil.
func (o *object) get(name string) any {
	if o == nil {
		return nil
	}
	return o.at[name]
}

func (o *object) has(name string) bool { return o.get(name) != nil }

// set adds or replaces a member; a nil value leaves it out.
func (o *object) set(name string, v any) *object {
	if v == nil {
		return o
	}
	if _, ok := o.at[name]; !ok {
		o.names = append(o.names, name)
	}
	o.at[name] = v
	return o
}

// without returns a copy that lacks some members.
func (o *object) without(names ...string) *object {
	out := newObject()
	for _, name := range o.names {
		drop := false
		for _, n := range names {
			drop = drop || n == name
		}
		if !drop {
			out.set(name, o.at[name])
		}
	}
	return out
}

// copied is a copy whose members are shared.
func (o *object) copied() *object { return o.without() }

func text(v any) string      { s, _ := v.(string); return s }
func list(v any) []any       { l, _ := v.([]any); return l }
func asObject(v any) *object { o, _ := v.(*object); return o }
func isTrue(v any) bool      { b, ok := v.(bool); return ok && b }
func isFalse(v any) bool     { b, ok := v.(bool); return ok && !b }

// texts returns the strings of a list, each once.
func texts(l []any) []string {
	var out []string
	seen := map[string]bool{}
	for _, e := range l {
		if s, ok := e.(string); ok && !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

func anys(l []string) []any {
	out := make([]any, len(l))
	for i, s := range l {
		out[i] = s
	}
	return out
}

// parse reads bytes as one strict JSON value.
func parse(src []byte) (any, error) {
	v, err := strictjson.Parse(src, strictjson.Ceilings())
	if err != nil {
		return nil, err
	}
	return built(v), nil
}

// built copies a read value; depth is bounded by the reader.
func built(v strictjson.Value) any {
	switch v.Kind() {
	case strictjson.Null:
		return null{}
	case strictjson.Bool:
		return v.IsTrue()
	case strictjson.Number:
		return number(v.Digits())
	case strictjson.String:
		return v.Text()
	case strictjson.Array:
		l := make([]any, 0, v.Len())
		for _, e := range v.Elements() {
			l = append(l, built(e))
		}
		return l
	case strictjson.Object:
		o := newObject()
		for name, m := range v.Members() {
			o.set(name, built(m))
		}
		return o
	}
	return nil
}

// compact returns the JSON text of a value on one line, in characters that print.
func compact(v any) string { return string(appendValue(nil, v, -1)) }

// pretty returns the JSON text of a value in lines of at most about 100 characters,
// with every x-question on a line that can be deleted alone.
func pretty(v any) []byte { return append(appendValue(nil, v, 0), '\n') }

// appendValue writes a value; indent is the number of spaces before its lines, and
// negative for one line.
func appendValue(dst []byte, v any, indent int) []byte {
	switch v := v.(type) {
	case null:
		return append(dst, "null"...)
	case bool:
		return fmt.Append(dst, v)
	case number:
		return append(dst, v...)
	case string:
		return appendText(dst, v)
	case []any:
		return appendList(dst, v, indent)
	case *object:
		return appendObject(dst, v, indent)
	}
	return dst
}

func appendList(dst []byte, l []any, indent int) []byte {
	if indent >= 0 && fits(l, indent) {
		indent = -1
	}
	dst = append(dst, '[')
	for i, e := range l {
		dst = appendBreak(dst, i, indent)
		dst = appendValue(dst, e, deeper(indent))
	}
	if indent >= 0 && len(l) > 0 {
		dst = append(append(dst, '\n'), strings.Repeat(" ", indent)...)
	}
	return append(dst, ']')
}

func appendObject(dst []byte, o *object, indent int) []byte {
	if indent > 0 && fits(o, indent) {
		indent = -1
	}
	dst = append(dst, '{')
	for i, name := range o.names {
		dst = appendBreak(dst, i, indent)
		dst = appendText(dst, name)
		dst = append(dst, ':', ' ')
		dst = appendValue(dst, o.at[name], deeper(indent))
	}
	if indent >= 0 && len(o.names) > 0 {
		dst = append(append(dst, '\n'), strings.Repeat(" ", indent)...)
	}
	return append(dst, '}')
}

func deeper(indent int) int {
	if indent < 0 {
		return indent
	}
	return indent + 2
}

// appendBreak writes what stands before the i-th part.
func appendBreak(dst []byte, i, indent int) []byte {
	if i > 0 {
		dst = append(dst, ',')
	}
	if indent < 0 {
		if i > 0 {
			dst = append(dst, ' ')
		}
		return dst
	}
	dst = append(dst, '\n')
	return append(dst, strings.Repeat(" ", indent+2)...)
}

// fits reports whether a value may stand on one line: it is short and asks nothing.
func fits(v any, indent int) bool {
	one := appendValue(nil, v, -1)
	return len(one)+indent <= 100 && !strings.Contains(string(one), `"`+questionKeyword+`":`)
}

// appendText writes a JSON string; what does not print is escaped, so that a draft
// holds nothing that an editor would hide.
func appendText(dst []byte, s string) []byte {
	for _, r := range string(strictjson.AppendString(nil, s)) {
		switch {
		case unicode.IsPrint(r):
			dst = append(dst, string(r)...)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			dst = fmt.Appendf(dst, `\u%04x\u%04x`, high, low)
		default:
			dst = fmt.Appendf(dst, `\u%04x`, r)
		}
	}
	return dst
}

// equal reports whether two values are written alike.
func equal(a, b any) bool { return compact(a) == compact(b) }
