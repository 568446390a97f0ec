package schema

import (
	"strings"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// numberFits compares exactly, on decimal digits.
func (r *run) numberFits(l *location, v strictjson.Value, out *sink) bool {
	n := l.number
	if n.whole.hold(v.Digits()) {
		return true
	}
	d, ok := v.Decimal(), true
	if n.minimum != nil && d.Cmp(*n.minimum) < 0 {
		ok = out.fail(l, "minimum", v)
	}
	if n.maximum != nil && d.Cmp(*n.maximum) > 0 {
		ok = out.fail(l, "maximum", v)
	}
	if n.above != nil && d.Cmp(*n.above) <= 0 {
		ok = out.fail(l, "exclusiveMinimum", v)
	}
	if n.below != nil && d.Cmp(*n.below) >= 0 {
		ok = out.fail(l, "exclusiveMaximum", v)
	}
	if n.multipleOf != nil {
		r.spend(multipleCost)
		if !d.MultipleOf(*n.multipleOf) {
			ok = out.fail(l, "multipleOf", v)
		}
	}
	return ok
}

// What a step costs, in visits.
const (
	multipleCost = 32 // division of numbers of up to 600 digits
	nameCost     = 8  // a member name made into a value of its own

	// stepsPerVisit is how many steps of a pattern's program, for one byte of a string,
	// cost as much as a visit: an anchored pattern with a bounded repeat of 500 takes
	// about a quarter of a nanosecond for each.
	stepsPerVisit = 128
	// maxMatch bounds steps × bytes of one string, because RE2 cannot be interrupted and
	// an ambiguous pattern needs some nanoseconds for each.
	maxMatch = 1 << 28
)

// matches runs a pattern and pays for it by the size of its program and of the string.
func (r *run) matches(p *pattern, s string) bool {
	work := int64(len(s)) * p.steps
	if work > maxMatch {
		r.stopped = &BudgetError{}
		return false
	}
	return r.spend(1+work/stepsPerVisit) && p.MatchString(s)
}

func (r *run) textFits(l *location, v strictjson.Value, out *sink) bool {
	ok := true
	if n := int64(v.Chars()); n < l.minLength {
		ok = out.fail(l, "minLength", v)
	} else if l.maxLength >= 0 && n > l.maxLength {
		return out.fail(l, "maxLength", v) // and no pattern is run over what is too long
	}
	if l.pattern != nil && (ok || out != nil) && !r.matches(l.pattern, v.Text()) {
		ok = out.fail(l, "pattern", v)
	}
	return ok
}

func (r *run) objectFits(l *location, v strictjson.Value, dyn *scope, m *marks, out *sink) bool {
	o := l.object
	ok := true
	if n := int64(v.Len()); n < o.minProperties {
		ok = out.fail(l, "minProperties", v)
	} else if o.maxProperties >= 0 && n > o.maxProperties {
		ok = out.fail(l, "maxProperties", v)
	}
	r.spend(int64((v.Len() + len(o.required)) / 4))
	together := out != nil && o.descends && o.requiredNamed
	if !together {
		ok = r.requiredFit(l, v, out) && ok
	}
	for _, d := range o.dependentRequired {
		r.spend(int64(v.Len() / 4))
		if !v.Member(d.member).Exists() {
			continue
		}
		for i, name := range d.required {
			if r.spend(int64(v.Len()/4)) && !v.Member(name).Exists() {
				ok = out.lacks(l, d.keyword+strictjson.Pointer{d.member}.String(), v, name, i)
			}
		}
	}
	if !ok && out == nil {
		return false
	}
	if o.descends {
		ok = r.membersFit(l, v, dyn, m, out, together) && ok
	}
	for _, d := range o.dependentSchemas {
		r.spend(int64(v.Len() / 4))
		if (ok || out != nil) && v.Member(d.member).Exists() {
			ok = r.under(d.schema, v, dyn, m, out) && ok
		}
	}
	return ok
}

// requiredFit looks at the names alone, before anything is descended into, in time
// linear in the members and the required names together.
func (r *run) requiredFit(l *location, v strictjson.Value, out *sink) bool {
	o := l.object
	if len(o.required) == 0 {
		return true
	}
	if v.Len() < len(o.requiredIndex) && out == nil {
		return false
	}
	have, at, order := 0, 0, r.order(o)
	for name := range v.Members() {
		if !o.requiredNamed {
			if _, ok := o.requiredIndex[name]; ok {
				have++
			}
		} else if p := o.find(name, order, &at); p != nil && p.required {
			have++
		}
	}
	if have == len(o.requiredIndex) {
		return true
	}
	if out != nil {
		l.missing(v, out)
	}
	return false
}

// missing notes every required member that v does not have.
func (l *location) missing(v strictjson.Value, out *sink) {
	o := l.object
	seen := make([]bool, len(o.required))
	for name := range v.Members() {
		if i, ok := o.requiredIndex[name]; ok {
			seen[i] = true
		}
	}
	for i, name := range o.required {
		if !seen[i] {
			out.lacks(l, "required", v, name, i)
		}
	}
}

// lacks notes a missing member of v.
func (s *sink) lacks(l *location, keyword string, v strictjson.Value, name string, order int) bool {
	if s != nil {
		short, _, _ := strings.Cut(keyword, "/")
		s.add(found{
			value: v, missing: name, absent: true, order: order,
			keyword: short, path: l.place + "/" + keyword,
		})
	}
	return false
}

// membersFit applies properties, patternProperties, additionalProperties and
// propertyNames, member by member in the order of the input, and where asked to also
// required. Where it ends early, what is missing would not be among the first failures:
// it shows at the end of v.
func (r *run) membersFit(l *location, v strictjson.Value, dyn *scope, m *marks, out *sink, required bool) bool {
	o := l.object
	ok, i, have := true, -1, 0
	at, order := 0, r.order(o)
	for name, child := range v.Members() {
		i++
		if !ok && out.done(child) {
			return false
		}
		if o.names != nil && !r.nameFits(o.names, name, dyn) {
			ok = out.fail(l, "propertyNames", child)
		}
		evaluated := false
		if p := o.find(name, order, &at); p != nil {
			evaluated = true
			if p.required {
				have++
			}
			ok = r.eval(p.schema, child, dyn, nil, out) && ok
		}
		for _, p := range o.patterns {
			if r.matches(p.pattern, name) {
				evaluated = true
				ok = r.eval(p.schema, child, dyn, nil, out) && ok
			}
		}
		if !evaluated && o.additional != nil {
			evaluated = true
			ok = r.eval(o.additional, child, dyn, nil, out) && ok
		}
		if evaluated {
			m.set(i)
		}
		if r.stopped != nil {
			return false
		}
	}
	if required && have < len(o.requiredIndex) {
		l.missing(v, out)
		return false
	}
	return ok
}

// nameFits applies a location to a member's name, as a string of its own.
func (r *run) nameFits(l *location, name string, dyn *scope) bool {
	if l.verdict != keywords {
		return r.spend(1) && l.verdict == always
	}
	if !r.spend(nameCost + int64(len(name))/8) {
		return false
	}
	v, err := strictjson.Parse(strictjson.AppendString(nil, name), strictjson.Limits{
		MaxBytes: 8*len(name) + 2, MaxStringChars: len(name),
	})
	return err == nil && r.eval(l, v, dyn, nil, nil)
}

func (r *run) arrayFits(l *location, v strictjson.Value, dyn *scope, m *marks, out *sink) bool {
	a := l.array
	ok := true
	if n := int64(v.Len()); n < a.minItems {
		ok = out.fail(l, "minItems", v)
	} else if a.maxItems >= 0 && n > a.maxItems {
		ok = out.fail(l, "maxItems", v)
	}
	if !ok && out == nil {
		return false
	}
	if a.unique && v.Len() > 1 && !r.distinct(v) {
		ok = out.fail(l, "uniqueItems", v)
	}
	if a.prefix != nil || a.items != nil {
		ok = r.itemsFit(a, v, dyn, m, out, ok)
	}
	if a.contains != nil && (ok || out != nil) {
		ok = r.containsFits(l, v, dyn, m, out) && ok
	}
	return ok
}

func (r *run) itemsFit(a *arrayRules, v strictjson.Value, dyn *scope, m *marks, out *sink, ok bool) bool {
	for i, e := range v.Elements() {
		if !ok && out.done(e) {
			return false
		}
		switch {
		case i < len(a.prefix):
			ok = r.eval(a.prefix[i], e, dyn, nil, out) && ok
		case a.items == nil:
			return ok
		default:
			ok = r.eval(a.items, e, dyn, nil, out) && ok
		}
		m.set(i)
		if r.stopped != nil {
			return false
		}
	}
	return ok
}

// containsFits counts the elements that match; those are evaluated.
func (r *run) containsFits(l *location, v strictjson.Value, dyn *scope, m *marks, out *sink) bool {
	a := l.array
	matched := int64(0)
	for i, e := range v.Elements() {
		if r.eval(a.contains, e, dyn, nil, nil) {
			matched++
			m.set(i)
		}
		if r.stopped != nil {
			return false
		}
	}
	ok := true
	if a.minContains >= 0 {
		if matched < a.minContains {
			ok = out.fail(l, "minContains", v)
		}
	} else if matched == 0 {
		ok = out.fail(l, "contains", v)
	}
	if a.maxContains >= 0 && matched > a.maxContains {
		ok = out.fail(l, "maxContains", v)
	}
	return ok
}

// distinct reports whether no two elements are equal, in time linear in the array.
func (r *run) distinct(v strictjson.Value) bool {
	if !r.spend(2*int64(v.Size()) + textOf(v)/32) {
		return false
	}
	seen := make(map[string]struct{}, v.Len())
	var key []byte
	for _, e := range v.Elements() {
		key = appendKey(key[:0], e)
		if _, again := seen[string(key)]; again {
			return false
		}
		seen[string(key)] = struct{}{}
	}
	return true
}
