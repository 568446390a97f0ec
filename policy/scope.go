package policy

import (
	"slices"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// MaxScopeValues is how many values the scopes of one call may hold together, arrays
// flattened. A call with more is out of scope: every value is compared with every value
// of every grant.
const MaxScopeValues = 256

// ScopeType is what stands in the arguments of a scope, by its name in contracts. The
// package doc defines the types; any other name makes every value malformed.
type ScopeType string

// The scope types.
const (
	String ScopeType = "string"
	Email  ScopeType = "email"
	Host   ScopeType = "host"
	URL    ScopeType = "url"
	Path   ScopeType = "path"
	Number ScopeType = "number"
	Time   ScopeType = "time"
	Enum   ScopeType = "enum"
)

// Scope declares arguments that a grant must cover. It is only read.
type Scope struct {
	Name string
	Type ScopeType
	// At are where the values stand; strictjson.EveryElement stands for every element of
	// an array. An array that is pointed to counts as its elements.
	At []strictjson.Pointer
	// Optional lets a call pass that has no value at any of At.
	Optional bool
	// Enum are the values that the schema lists, for type [Enum] only.
	Enum []string
}

// A kind is a scope type: V is an argument's value in canonical form, P is a grant's.
// Both come from one canonicaliser, or P holds what it made.
type kind[V, P any] struct {
	value   func(v strictjson.Value) (V, bool)
	pattern func(s string) (P, bool)
	covers  func(p *P, v *V) bool
	// differ reports, without reading it, that a grant's value does not cover v whatever
	// its canonical form is. It saves time and decides nothing; nil never does.
	differ func(s string, v *V) bool
	// text is the canonical form as conditions see it; nil means as it stands.
	text func(v *V) string
}

// subjects are the values of one scope in one call, in canonical form.
type subjects interface {
	// add takes one more value; false means that it is malformed.
	add(v strictjson.Value) bool
	// cover reports whether each value is covered by some value of a grant, and marks
	// in covered, which is as long as subjects and all false, those that are.
	cover(grant []string, covered []bool) bool
	// text is the canonical form of a value; ok is false where that is not a text.
	text(i int) (s string, ok bool)
}

type values[V, P any] struct {
	kind    *kind[V, P]
	list    []V
	room    [2]V // calls seldom have more
	pattern P    // the grant's value that is being compared; here, so that none is allocated
}

func collect[V, P any](k *kind[V, P]) subjects {
	s := &values[V, P]{kind: k}
	s.list = s.room[:0]
	return s
}

// newSubjects returns nil for a type that does not exist.
func newSubjects(t ScopeType) subjects {
	switch t {
	case String, Enum:
		return collect(&stringKind)
	case Email:
		return collect(&emailKind)
	case Host:
		return collect(&hostKind)
	case URL:
		return collect(&urlKind)
	case Path:
		return collect(&pathKind)
	case Number:
		return collect(&numberKind)
	case Time:
		return collect(&timeKind)
	}
	return nil
}

func (s *values[V, P]) add(v strictjson.Value) bool {
	c, ok := s.kind.value(v)
	if ok {
		s.list = append(s.list, c)
	}
	return ok
}

func (s *values[V, P]) cover(grant []string, covered []bool) bool {
	left := len(s.list)
	for _, g := range grant {
		if left == 0 {
			break
		}
		if s.kind.differ != nil && len(s.list) == 1 && s.kind.differ(g, &s.list[0]) {
			continue
		}
		var ok bool
		if s.pattern, ok = s.kind.pattern(g); !ok {
			continue
		}
		for i := range s.list {
			if !covered[i] && s.kind.covers(&s.pattern, &s.list[i]) {
				covered[i] = true
				left--
			}
		}
	}
	return left == 0
}

func (s *values[V, P]) text(i int) (string, bool) {
	if s.kind.text == nil {
		return "", false
	}
	return s.kind.text(&s.list[i]), true
}

// fromText makes the reader of an argument from the canonicaliser of a text.
func fromText[V any](parse func(s string) (V, bool)) func(strictjson.Value) (V, bool) {
	return func(v strictjson.Value) (V, bool) {
		if v.Kind() != strictjson.String {
			var none V
			return none, false
		}
		return parse(v.Text())
	}
}

// scoped is what a call has in one scope.
type scoped struct {
	scope *Scope
	subjects
	// Of each subject: its value, and which of scope.At led there.
	raw []strictjson.Value
	at  []int

	rawRoom [2]strictjson.Value
	atRoom  [2]int
	// Pointers, as indexes of scope.At, under which something is malformed.
	malformed []int
}

// read finds the values of a scope; room is how many more the call may have.
func (c *scoped) read(s *Scope, arguments strictjson.Value, room *int) {
	c.scope, c.subjects = s, newSubjects(s.Type)
	c.raw, c.at = c.rawRoom[:0], c.atRoom[:0]
	for i, p := range s.At {
		if slices.Contains(p, strictjson.EveryElement) {
			arguments.All(p, func(v strictjson.Value) bool { return c.take(i, v, room) })
		} else if v := arguments.At(p); v.Exists() {
			c.take(i, v, room)
		}
	}
}

// take adds a value, or the elements of an array. It returns false, which ends the walk
// over this pointer, where one is malformed or too many.
func (c *scoped) take(pointer int, v strictjson.Value, room *int) bool {
	if v.Kind() == strictjson.Array {
		for _, e := range v.Elements() {
			if !c.take(pointer, e, room) {
				return false
			}
		}
		return true
	}
	*room--
	if *room < 0 || c.subjects == nil ||
		c.scope.Type == Enum && !slices.Contains(c.scope.Enum, v.Text()) ||
		!c.add(v) {
		if !slices.Contains(c.malformed, pointer) {
			c.malformed = append(c.malformed, pointer)
		}
		return false
	}
	c.raw = append(c.raw, v)
	c.at = append(c.at, pointer)
	return true
}

// count is the number of well-formed values.
func (c *scoped) count() int { return len(c.raw) }
