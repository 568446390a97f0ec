package scaffold

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// maxSampleDepth bounds a made-up value; what must be deeper cannot be made up.
const maxSampleDepth = 24

// sampler makes up values that conform to a schema of ours, as far as it can tell.
// Variant 0 is the plain one; others differ from it where the schema leaves a choice.
type sampler struct {
	root    *object
	variant int
	steps   int
}

func (s *sampler) value(v any, deep int) (any, bool) {
	o := asObject(v)
	if s.steps++; o == nil || deep > maxSampleDepth || s.steps > maxSubschemas {
		return nil, false
	}
	if c := o.get("const"); c != nil {
		return c, true
	}
	if l := list(o.get("enum")); len(l) > 0 {
		return s.listed(l), true
	}
	if ref := text(o.get("$ref")); ref != "" {
		return s.value(target(s.root, ref), deep+1)
	}
	made := s.branch(o, deep)
	base := asObject(made)
	if made != nil && base == nil {
		return made, true
	}
	var kinds []string
	if t := text(o.get("type")); t != "" {
		kinds = []string{t}
	}
	kinds = append(kinds, texts(list(o.get("type")))...)
	if len(kinds) == 0 && (base != nil || o.has("properties") || o.has("required")) {
		kinds = []string{"object"}
	}
	slices.SortStableFunc(kinds, func(a, b string) int { return strings.Compare(rank(a), rank(b)) })
	for _, k := range kinds {
		if made, ok := s.kind(o, k, base, deep); ok {
			return made, true
		}
	}
	return nil, false
}

// rank puts null last.
func rank(kind string) string {
	if kind == "null" {
		return "1"
	}
	return "0"
}

// listed chooses one of an enum that is not null.
func (s *sampler) listed(l []any) any {
	plain := slices.DeleteFunc(slices.Clone(l), func(v any) bool { return v == any(null{}) })
	if len(plain) == 0 {
		return l[0]
	}
	return plain[s.variant%len(plain)]
}

// branch makes up what the branches of o ask for: an object to be completed, a whole
// value where they are not about objects, or nil where there are none.
func (s *sampler) branch(o *object, deep int) any {
	var made any
	for _, name := range []string{"anyOf", "oneOf"} {
		for _, b := range list(o.get(name)) {
			if v, ok := s.value(b, deep+1); ok && v != any(null{}) {
				made = v
				break
			}
		}
	}
	for _, b := range list(o.get("allOf")) {
		v, ok := s.value(b, deep+1)
		if !ok {
			continue
		}
		old, new := asObject(made), asObject(v)
		if old == nil || new == nil {
			made = v
			continue
		}
		joined := old.copied()
		for _, name := range new.names {
			joined.set(name, new.at[name])
		}
		made = joined
	}
	return made
}

func (s *sampler) kind(o *object, kind string, base *object, deep int) (any, bool) {
	switch kind {
	case "null":
		return null{}, true
	case "boolean":
		return s.variant%2 == 0, true
	case "integer", "number":
		return s.number(o, kind == "integer")
	case "string":
		return s.text(o)
	case "array":
		return s.array(o, deep)
	case "object":
		return s.object(o, base, deep)
	}
	return nil, false
}

// object makes up the required members, or all where none is required.
func (s *sampler) object(o, base *object, deep int) (any, bool) {
	out := newObject()
	if base != nil {
		out = base.copied()
	}
	properties := asObject(o.get("properties"))
	required := texts(list(o.get("required")))
	wanted := required
	if len(required) == 0 {
		wanted = properties.members()
	}
	for _, name := range wanted {
		if out.has(name) {
			continue
		}
		v, ok := s.value(properties.get(name), deep+1)
		switch {
		case ok:
			out.set(name, v)
		case len(required) > 0 && properties.has(name):
			return nil, false
		case len(required) > 0 && base == nil && !inPlace(o):
			out.set(name, "example")
		}
	}
	return out, true
}

func (s *sampler) array(o *object, deep int) (any, bool) {
	out := []any{}
	for _, e := range list(o.get("prefixItems")) {
		v, ok := s.value(e, deep+1)
		if !ok {
			return nil, false
		}
		out = append(out, v)
	}
	least, _ := count(o.get("minItems"))
	most, bounded := count(o.get("maxItems"))
	if len(out) == 0 && least == 0 && (!bounded || most > 0) {
		least = 1
	}
	for i := len(out); i < min(least, 1000); i++ {
		other := &sampler{root: s.root, variant: s.variant + i, steps: s.steps}
		v, ok := other.value(o.get("items"), deep+1)
		s.steps = other.steps
		if !ok {
			if i == 0 && !o.has("minItems") {
				break
			}
			return nil, false
		}
		out = append(out, v)
	}
	return out, true
}

// number makes up a number within the bounds.
func (s *sampler) number(o *object, whole bool) (any, bool) {
	bound := func(name string, otherwise float64) float64 {
		if n, ok := o.get(name).(number); ok {
			if f, err := strconv.ParseFloat(string(n), 64); err == nil {
				return f
			}
		}
		return otherwise
	}
	least, most := bound("minimum", math.Inf(-1)), bound("maximum", math.Inf(1))
	above, under := bound("exclusiveMinimum", math.Inf(-1)), bound("exclusiveMaximum", math.Inf(1))
	step := bound("multipleOf", 0)
	fits := func(f float64) bool {
		if whole && f != math.Trunc(f) || step != 0 && math.Abs(math.Remainder(f, step)) > 1e-12 {
			return false
		}
		return f >= least && f <= most && f > above && f < under && math.Abs(f) <= 1<<53
	}
	skip := s.variant
	for _, start := range []float64{1, 0, math.Ceil(least), math.Floor(above) + 1, math.Floor(most), least, most, (above + under) / 2, (least + most) / 2} {
		unit := max(step, 1)
		for i := range 40 {
			f := start + float64(i)*unit
			if step != 0 {
				f = math.Round(start/step)*step + float64(i)*step
			}
			if !fits(f) {
				continue
			}
			if skip == 0 {
				return number(strconv.FormatFloat(f, 'f', -1, 64)), true
			}
			skip--
		}
	}
	return nil, false
}

// formatted returns two made-up values of a format.
func formatted(name string) ([2]string, bool) {
	made, ok := map[string][2]string{
		"date-time": {"2026-01-15T11:59:00Z", "2026-01-15T11:58:00Z"}, "date": {"2026-01-15", "2026-01-14"},
		"time": {"11:59:00Z", "11:58:00Z"}, "duration": {"P1D", "P2D"}, "email": {"a@example.test", "b@example.test"},
		"idn-email": {"a@example.test", "b@example.test"}, "hostname": {"a.example.test", "b.example.test"},
		"idn-hostname": {"a.example.test", "b.example.test"}, "ipv4": {"192.0.2.1", "192.0.2.2"}, "ipv6": {"2001:db8::1", "2001:db8::2"},
		"uri": {"https://example.test/a", "https://example.test/b"}, "uri-reference": {"https://example.test/a", "https://example.test/b"},
		"iri": {"https://example.test/a", "https://example.test/b"}, "iri-reference": {"https://example.test/a", "https://example.test/b"},
		"uri-template": {"https://example.test/{a}", "https://example.test/{b}"},
		"uuid":         {"123e4567-e89b-42d3-a456-426614174000", "123e4567-e89b-42d3-a456-426614174001"},
		"json-pointer": {"/a", "/b"}, "relative-json-pointer": {"0/a", "0/b"}, "regex": {"^a$", "^b$"},
	}[name]
	return made, ok
}

func (s *sampler) text(o *object) (any, bool) {
	if f, ok := formatted(text(o.get("format"))); ok {
		return f[s.variant%2], true
	}
	least, _ := count(o.get("minLength"))
	most, bounded := count(o.get("maxLength"))
	if p := text(o.get("pattern")); p != "" {
		made, ok := matching(p, s.variant, least)
		return made, ok && (!bounded || len([]rune(made)) <= most)
	}
	word := "example"
	if s.variant > 0 {
		word = "other" + strconv.Itoa(s.variant)
	}
	if len(word) < least {
		if least > 10_000 {
			return nil, false
		}
		word += strings.Repeat("x", least-len(word))
	}
	if bounded && len(word) > most {
		word = word[:most]
	}
	return word, true
}
