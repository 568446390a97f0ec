package contract

import (
	"errors"
	"regexp"

	yaml "go.yaml.in/yaml/v4"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// numberToken is the grammar of RFC 8259 section 6.
var numberToken = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// jsonKind says which JSON value a YAML node stands for.
//
// Only what JSON itself would read as a literal or a number is one: the plain scalars
// true, false and null, and plain scalars in the grammar of a JSON number, which keep
// their digits. Nothing at all (`key:`) is null. Every other scalar is a string, the
// spellings that YAML gives another meaning included: 010, 0x1f, 1_000, .5, ~, yes,
// True, NULL, 2026-01-15. Quoted and block scalars are always strings.
func jsonKind(n *yaml.Node) strictjson.Kind {
	switch n.Kind {
	case yaml.MappingNode:
		return strictjson.Object
	case yaml.SequenceNode:
		return strictjson.Array
	case yaml.ScalarNode:
	default:
		return strictjson.Absent
	}
	if !isPlain(n) {
		return strictjson.String
	}
	switch n.Value {
	case "", "null":
		return strictjson.Null
	case "true", "false":
		return strictjson.Bool
	}
	if numberToken.MatchString(n.Value) {
		return strictjson.Number
	}
	return strictjson.String
}

// appendJSON appends the JSON text of a checked node. Depth is bounded by readYAML.
func appendJSON(dst []byte, n *yaml.Node) []byte {
	switch jsonKind(n) {
	case strictjson.Object:
		dst = append(dst, '{')
		for i := 0; i+1 < len(n.Content); i += 2 {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = strictjson.AppendString(dst, n.Content[i].Value)
			dst = append(dst, ':')
			dst = appendJSON(dst, n.Content[i+1])
		}
		return append(dst, '}')
	case strictjson.Array:
		dst = append(dst, '[')
		for i, c := range n.Content {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendJSON(dst, c)
		}
		return append(dst, ']')
	case strictjson.String:
		return strictjson.AppendString(dst, n.Value)
	case strictjson.Null:
		return append(dst, "null"...)
	}
	return append(dst, n.Value...)
}

// json turns a node into the JSON value that it stands for, under the service's
// ceilings. It returns the absent value after noting a fault.
func (s *source) json(n *yaml.Node, path string) strictjson.Value {
	v, err := strictjson.Parse(appendJSON(nil, n), strictjson.Ceilings())
	if err == nil {
		return v
	}
	at, detail := n, "not a JSON value"
	var refused *strictjson.Error
	if errors.As(err, &refused) {
		detail = refused.Detail
		if p, err := strictjson.ParsePointer(refused.Pointer); err == nil {
			at = nodeAt(n, p)
		}
	}
	s.fault(at, "", "%s is beyond the service's limits: %s", path, detail)
	return strictjson.Value{}
}

// nodeAt follows a pointer through a node as far as it goes.
func nodeAt(n *yaml.Node, p strictjson.Pointer) *yaml.Node {
	for _, token := range p {
		next := (*yaml.Node)(nil)
		switch n.Kind {
		case yaml.MappingNode:
			for i := 0; i+1 < len(n.Content); i += 2 {
				if n.Content[i].Value == token {
					next = n.Content[i+1]
				}
			}
		case yaml.SequenceNode:
			if i, ok := smallNumber(token); ok && i < len(n.Content) {
				next = n.Content[i]
			}
		}
		if next == nil {
			return n
		}
		n = next
	}
	return n
}
