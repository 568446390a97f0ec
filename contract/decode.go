package contract

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	yaml "go.yaml.in/yaml/v4"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// maxEntries bounds the lists and free maps of a contract.
const maxEntries = 1000

// A read takes the value of one key; path is the key's full name for messages.
type read func(n *yaml.Node, path string)

// A field is a key that a mapping may or must have.
type field struct {
	name     string
	required bool
	read     read
}

func need(name string, r read) field { return field{name, true, r} }
func may(name string, r read) field  { return field{name, false, r} }

// said reports whether a key stands in the file.
func (s *source) said(key string) bool {
	_, ok := s.places[key]
	return ok
}

// object reads a mapping with exactly these keys, in the order of the file.
func (s *source) object(n *yaml.Node, path string, fields ...field) {
	if !s.isKind(n, path, strictjson.Object) {
		return
	}
	seen := make(map[string]bool, len(fields))
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		f := slices.IndexFunc(fields, func(f field) bool { return f.name == key.Value })
		if f < 0 {
			s.fault(key, "known here: "+fieldNames(fields), "unknown key %s", quote(key.Value))
			continue
		}
		seen[key.Value] = true
		p := joinPath(path, key.Value)
		s.places[p] = keyPlace(key, value)
		before := s.wrong
		fields[f].read(value, p)
		s.good[p] = s.wrong == before
	}
	for _, f := range fields {
		if f.required && !seen[f.name] {
			s.fault(n, "", "%s is missing", joinPath(path, f.name))
		}
	}
}

func fieldNames(fields []field) string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
	}
	return strings.Join(names, ", ")
}

func joinPath(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// keyPlace is where a reader looks for a value: the value itself, or its key where the
// value begins on a later line.
func keyPlace(key, value *yaml.Node) place {
	if key.Line != value.Line {
		return place{key.Line, key.Column}
	}
	return place{value.Line, value.Column}
}

// list reads a list of at least least elements.
func (s *source) list(least int, element read) read {
	return func(n *yaml.Node, path string) {
		if !s.isKind(n, path, strictjson.Array) {
			return
		}
		if len(n.Content) < least {
			s.fault(n, "", "%s is empty; expected at least %d", path, least)
		}
		if len(n.Content) > maxEntries {
			s.fault(n, "", "%s has more than %d elements", path, maxEntries)
			return
		}
		for i, c := range n.Content {
			p := fmt.Sprintf("%s[%d]", path, i)
			s.places[p] = place{c.Line, c.Column}
			element(c, p)
		}
	}
}

// reasons reads a map from JSON Pointers to sentences that say why.
func (s *source) reasons(dst *map[string]string) read {
	return s.entries(func(key, value *yaml.Node, path string) {
		var why string
		if s.isPointer(key, path) {
			s.text(&why, maxSentence)(value, path)
			set(dst, key.Value, why)
		}
	})
}

// entries reads a mapping whose keys are free.
func (s *source) entries(entry func(key, value *yaml.Node, path string)) read {
	return func(n *yaml.Node, path string) {
		if !s.isKind(n, path, strictjson.Object) {
			return
		}
		if len(n.Content)/2 > maxEntries {
			s.fault(n, "", "%s has more than %d members", path, maxEntries)
			return
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			s.places[path+"["+key.Value+"]"] = place{key.Line, key.Column}
			p := cut(key.Value)
			if path != "" {
				p = path + "[" + p + "]"
			}
			entry(key, n.Content[i+1], p)
		}
	}
}

func set(dst *map[string]string, key, value string) {
	if *dst == nil {
		*dst = make(map[string]string)
	}
	(*dst)[key] = value
}

// kindNames are the words of messages.
var kindNames = map[strictjson.Kind]string{
	strictjson.Null: "nothing", strictjson.Bool: "true or false", strictjson.Number: "a number",
	strictjson.String: "a string", strictjson.Array: "a list", strictjson.Object: "a mapping",
}

// isKind reports whether a node has the kind that is wanted, and notes a fault if not.
func (s *source) isKind(n *yaml.Node, path string, want strictjson.Kind) bool {
	got := jsonKind(n)
	if got == want {
		return true
	}
	cure := ""
	if want == strictjson.String && (got == strictjson.Number || got == strictjson.Bool) {
		cure = "quote it"
	}
	if path == "" {
		path = "the file"
	}
	s.fault(n, cure, "%s: expected %s, found %s", path, kindNames[want], kindNames[got])
	return false
}

// text reads a string that is not empty, of at most most bytes.
func (s *source) text(dst *string, most int) read {
	return func(n *yaml.Node, path string) {
		switch {
		case !s.isKind(n, path, strictjson.String):
		case strings.TrimSpace(n.Value) == "":
			s.fault(n, "", "%s is empty", path)
		case len(n.Value) > most:
			s.fault(n, "", "%s is longer than %d bytes", path, most)
		default:
			*dst = n.Value
		}
	}
}

// matching reads a string of a given form.
func (s *source) matching(dst *string, form *regexp.Regexp, what string) read {
	return func(n *yaml.Node, path string) {
		if !s.isKind(n, path, strictjson.String) {
			return
		}
		if !form.MatchString(n.Value) {
			s.fault(n, "", "%s: %s is not %s", path, quote(n.Value), what)
			return
		}
		*dst = n.Value
	}
}

// word reads one of a few strings.
func word[T ~string](s *source, dst *T, words ...T) read {
	return func(n *yaml.Node, path string) {
		if !s.isKind(n, path, strictjson.String) {
			return
		}
		if !slices.Contains(words, T(n.Value)) {
			s.fault(n, "", "%s: %s is not one of %s", path, quote(n.Value), joinWords(words))
			return
		}
		*dst = T(n.Value)
	}
}

func joinWords[T ~string](words []T) string {
	names := make([]string, len(words))
	for i, w := range words {
		names[i] = string(w)
	}
	return strings.Join(names, ", ")
}

// collect reads one element with r and appends it, refusing a repetition.
func collect[T comparable](s *source, list *[]T, r func(*T) read) read {
	return func(n *yaml.Node, path string) {
		var v T
		before := s.wrong
		r(&v)(n, path)
		if s.wrong > before {
			return
		}
		if slices.Contains(*list, v) {
			s.fault(n, "", "%s is given twice", path)
			return
		}
		*list = append(*list, v)
	}
}

func (s *source) boolean(dst *bool) read {
	return func(n *yaml.Node, path string) {
		if s.isKind(n, path, strictjson.Bool) {
			*dst = n.Value == "true"
		}
	}
}

// integer reads a whole number in decimal digits.
func (s *source) integer(dst *int, least, most int) read {
	return func(n *yaml.Node, path string) {
		if !s.isKind(n, path, strictjson.Number) {
			return
		}
		i, err := strconv.Atoi(n.Value)
		if err != nil || i < least || i > most {
			s.fault(n, "", "%s: %s is not a whole number from %d to %d", path, quote(n.Value), least, most)
			return
		}
		*dst = i
	}
}

// duration reads a span of time in Go's syntax.
func (s *source) duration(dst *time.Duration, least, most time.Duration) read {
	return func(n *yaml.Node, path string) {
		const cure = "write a number and a unit: 500ms, 30s, 5m, 720h"
		if got := jsonKind(n); got != strictjson.String {
			s.fault(n, cure, "%s: expected a duration, found %s", path, kindNames[got])
			return
		}
		d, err := time.ParseDuration(n.Value)
		switch {
		case err != nil:
			s.fault(n, cure, "%s: %s is not a duration", path, quote(n.Value))
		case d < least || d > most:
			s.fault(n, "", "%s: %s is not from %s to %s", path, n.Value, least, most)
		default:
			*dst = d
		}
	}
}

// pointer reads a JSON Pointer.
func (s *source) pointer(dst *strictjson.Pointer) read {
	return func(n *yaml.Node, path string) {
		if s.isPointer(n, path) {
			*dst, _ = strictjson.ParsePointer(n.Value)
		}
	}
}

func (s *source) isPointer(n *yaml.Node, path string) bool {
	if !s.isKind(n, path, strictjson.String) {
		return false
	}
	if _, err := strictjson.ParsePointer(n.Value); err != nil {
		s.fault(n, `write it as in "/members/0/name"`, "%s: %s is not a JSON Pointer", path, quote(n.Value))
		return false
	}
	return true
}

// pointers reads a list of distinct JSON Pointers.
func (s *source) pointers(dst *[]strictjson.Pointer, least int) read {
	return s.list(least, func(n *yaml.Node, path string) {
		var p strictjson.Pointer
		s.pointer(&p)(n, path)
		if p == nil {
			return
		}
		if slices.ContainsFunc(*dst, func(q strictjson.Pointer) bool { return slices.Equal(p, q) }) {
			s.fault(n, "", "%s is given twice", path)
			return
		}
		*dst = append(*dst, p)
	})
}

// smallNumber reads a decimal number without leading zeros, up to 999,999.
func smallNumber(text string) (int, bool) {
	if text == "" || len(text) > 6 || (len(text) > 1 && text[0] == '0') {
		return 0, false
	}
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return 0, false
		}
	}
	n, err := strconv.Atoi(text)
	return n, err == nil
}
