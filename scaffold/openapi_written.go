package scaffold

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"net/url"
	"strconv"
	"strings"

	yaml "go.yaml.in/yaml/v4"
)

// written is an OpenAPI document as it was written. The library's model keeps numbers
// as float64, in which 9007199254740993 and 9007199254740992 are one: their digits are
// taken from here.
type written struct {
	root any // map[string]any, []any, json.Number (its text) and string
	// unseen says that a number of the model was not found here.
	unseen bool
}

// readWritten reads a document that the library has read; what it cannot read has no
// digits.
func readWritten(src []byte) *written {
	if trimmed := bytes.TrimLeft(src, " \t\r\n"); len(trimmed) > 0 && trimmed[0] == '{' {
		var root any
		d := json.NewDecoder(bytes.NewReader(trimmed))
		d.UseNumber()
		if d.Decode(&root) == nil {
			return &written{root: root}
		}
	}
	var node yaml.Node
	if err := yaml.Unmarshal(src, &node); err != nil {
		return &written{}
	}
	return &written{root: (&nodes{seen: map[*yaml.Node]any{}}).value(&node)}
}

// nodes reads YAML nodes, each anchor once.
type nodes struct{ seen map[*yaml.Node]any }

func (r *nodes) value(n *yaml.Node) any {
	switch n.Kind {
	case yaml.DocumentNode:
		if len(n.Content) > 0 {
			return r.value(n.Content[0])
		}
	case yaml.AliasNode:
		if v, ok := r.seen[n.Alias]; ok || n.Alias == nil {
			return v
		}
		r.seen[n.Alias] = nil // an anchor that holds itself
		v := r.value(n.Alias)
		r.seen[n.Alias] = v
		return v
	case yaml.SequenceNode:
		l := make([]any, len(n.Content))
		for i, e := range n.Content {
			l[i] = r.value(e)
		}
		return l
	case yaml.MappingNode:
		return r.mapping(n)
	case yaml.ScalarNode:
		if tag := n.ShortTag(); tag == "!!int" || tag == "!!float" {
			return json.Number(n.Value)
		}
		return n.Value
	}
	return nil
}

func (r *nodes) mapping(n *yaml.Node) any {
	m := map[string]any{}
	var merged []any
	for i := 0; i+1 < len(n.Content); i += 2 {
		v := r.value(n.Content[i+1])
		if n.Content[i].ShortTag() != "!!merge" {
			m[n.Content[i].Value] = v
		} else if l, ok := v.([]any); ok {
			merged = append(merged, l...)
		} else {
			merged = append(merged, v)
		}
	}
	for _, from := range merged {
		from, _ := from.(map[string]any)
		for name, v := range from {
			if _, own := m[name]; !own {
				m[name] = v
			}
		}
	}
	return m
}

// at walks from a value by members and indexes, through $refs on the way but not at
// its end. It returns nil where nothing is there.
func (w *written) at(v any, tokens ...string) any {
	for _, token := range tokens {
		v = step(w.target(v), token)
	}
	return v
}

func step(v any, token string) any {
	switch v := v.(type) {
	case map[string]any:
		return v[token]
	case []any:
		if i, err := strconv.Atoi(token); err == nil && i >= 0 && i < len(v) {
			return v[i]
		}
	}
	return nil
}

// target follows the $refs of a value within the document.
func (w *written) target(v any) any {
	for range 8 {
		m, _ := v.(map[string]any)
		ref, isRef := m["$ref"].(string)
		pointer, here := strings.CutPrefix(ref, "#/")
		if !isRef || !here {
			return v
		}
		v = w.root
		for token := range strings.SplitSeq(pointer, "/") {
			if plain, err := url.PathUnescape(token); err == nil {
				token = plain
			}
			v = step(v, unescape(token))
		}
	}
	return nil
}

// fragment returns a part of the library's model as a value with the digits of what
// was written there.
func (w *written) fragment(part, there any) (any, error) {
	b, err := json.Marshal(part)
	if err != nil {
		return nil, fmt.Errorf("the document cannot be read: %s", oneLine(err.Error()))
	}
	v, err := parse(b)
	if err != nil {
		return nil, fmt.Errorf("a part of the document cannot be read: %w", err)
	}
	return w.restored(v, there), nil
}

// restored puts the digits of a written value into v, in place.
func (w *written) restored(v, there any) any {
	switch v := v.(type) {
	case number:
		n, ok := there.(json.Number)
		if !ok {
			w.unseen = true
			return v
		}
		return digits(v, string(n))
	case []any:
		for i, e := range v {
			v[i] = w.restored(e, step(there, strconv.Itoa(i)))
		}
	case *object:
		for _, name := range v.names {
			v.at[name] = w.restored(v.at[name], step(there, name))
		}
	}
	return v
}

// unsure reports whether a number may have lost digits that nobody saw; w may be nil.
func (w *written) unsure() bool { return w != nil && w.unseen }

// digits returns the number that was written, in JSON's notation, where the model's
// lost something of it, and the model's otherwise.
func digits(model number, text string) number {
	text = notation(text)
	near, err := strconv.ParseFloat(text, 64)
	if kept, err2 := strconv.ParseFloat(string(model), 64); text == "" || err != nil || err2 != nil || near != kept {
		return model // another number: the library reads a notation of its own
	}
	mantissa, _, _ := strings.Cut(strings.ToLower(text), "e")
	if near == 0 {
		if strings.ContainsAny(mantissa, "123456789") {
			return number(text) // too small for a float64
		}
		return model
	}
	if len(text) > 128 { // more digits than anything here reads, which then says so
		return number(text)
	}
	a, okA := new(big.Rat).SetString(text) // its exponent is bounded by near and the length
	b, okB := new(big.Rat).SetString(string(model))
	if okA && okB && a.Cmp(b) == 0 {
		return model
	}
	return number(text)
}

// notation returns YAML's notation of a number as JSON has it, "" where that is not
// known.
func notation(text string) string {
	if json.Valid([]byte(text)) {
		return text
	}
	plain := strings.TrimPrefix(strings.ReplaceAll(text, "_", ""), "+")
	if json.Valid([]byte(plain)) {
		return plain
	}
	if i, ok := new(big.Int).SetString(plain, 0); ok && len(plain) <= 128 {
		return i.String()
	}
	sign := ""
	if rest, ok := strings.CutPrefix(plain, "-"); ok {
		sign, plain = "-", rest
	}
	mantissa, exponent, _ := strings.Cut(strings.ToLower(plain), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	out := sign + firstOf(whole, "0") + "." + firstOf(fraction, "0")
	if exponent != "" {
		out += "e" + exponent
	}
	if json.Valid([]byte(out)) {
		return out
	}
	return ""
}
