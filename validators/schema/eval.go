package schema

import "github.com/hallmark-gate/hallmark/validators/strictjson"

// scope is the dynamic scope (JSON Schema Core section 7.1): the resources that
// evaluation has entered, innermost first.
type scope struct {
	resource *resource
	outer    *scope
}

// enter returns the scope inside l.
func (s *scope) enter(l *location) *scope {
	if l.resource == nil || (s != nil && s.resource == l.resource) {
		return s
	}
	return &scope{l.resource, s}
}

// resolve returns where a dynamic reference leads: to the anchor of the outermost
// resource that has it (section 8.2.3.2).
func (d *dynamicRef) resolve(s *scope) *location {
	target := d.target
	for ; d.anchor != "" && s != nil; s = s.outer {
		if l := s.resource.dynamic[d.anchor]; l != nil {
			target = l
		}
	}
	return target
}

// eval applies l to v. m takes the children that were evaluated; nil where nobody
// asks. The verdict means nothing once the run is stopped.
func (r *run) eval(l *location, v strictjson.Value, dyn *scope, m *marks, out *sink) bool {
	if !r.spend(1) {
		return false
	}
	if l.verdict != keywords {
		return l.verdict == always || out.refuse(l, v)
	}
	if l.cyclic {
		return r.evalCyclic(l, v, dyn, m, out)
	}
	return r.enter(l, v, dyn, m, out)
}

// evalCyclic is eval of a location that can reach itself in place: doing so says no.
func (r *run) evalCyclic(l *location, v strictjson.Value, dyn *scope, m *marks, out *sink) bool {
	key := visit{l, v}
	if _, again := r.active[key]; again {
		m.setPartial()
		return out.fail(l, "$ref", v)
	}
	if r.active == nil {
		r.active = make(map[visit]struct{})
	}
	r.active[key] = struct{}{}
	defer delete(r.active, key)
	return r.enter(l, v, dyn, m, out)
}

// enter applies l one level deeper.
func (r *run) enter(l *location, v strictjson.Value, dyn *scope, m *marks, out *sink) bool {
	if r.nesting++; r.nesting > maxNesting {
		r.stopped = &BudgetError{}
	}
	ok := r.apply(l, v, dyn.enter(l), m, out)
	r.nesting--
	return ok
}

// apply runs the keywords of l. Those of assertion that come first end it: where the
// type or the constant is wrong, further complaints about the same value say nothing.
func (r *run) apply(l *location, v strictjson.Value, dyn *scope, m *marks, out *sink) bool {
	if keyword := r.mismatch(l, v); keyword != "" {
		m.setPartial()
		return out.fail(l, keyword, v)
	}
	need := m
	if m == nil && (l.unevaluatedProps != nil || l.unevaluatedItems != nil) && v.Len() > 0 {
		need = r.marks(v)
	}
	ok := true
	switch v.Kind() {
	case strictjson.Number:
		ok = l.number == nil || r.numberFits(l, v, out)
	case strictjson.String:
		ok = r.textFits(l, v, out)
	case strictjson.Object:
		ok = l.object == nil || r.objectFits(l, v, dyn, need, out)
	case strictjson.Array:
		ok = l.array == nil || r.arrayFits(l, v, dyn, need, out)
	}
	if !ok && out == nil {
		return false
	}
	if l.composed && !r.inPlaceFits(l, v, dyn, need, out) {
		ok = false
	}
	if !ok && (out == nil || (need != nil && need.partial)) {
		return false
	}
	if l.unevaluatedProps == nil && l.unevaluatedItems == nil {
		return ok
	}
	return r.unevaluatedFits(l, v, dyn, need, out) && ok
}

// mismatch returns the keyword among type, const, enum and format that v breaks.
func (r *run) mismatch(l *location, v strictjson.Value) string {
	if l.types != 0 && !l.types.allow(v) {
		return "type"
	}
	if c := l.constant; c.Exists() {
		if c.Kind() != v.Kind() || c.Size() != v.Size() {
			return "const"
		}
		r.spend(int64(v.Size()) + textOf(v)/64)
		if !strictjson.Equal(c, v) {
			return "const"
		}
	}
	if e := l.enum; e != nil {
		if e.kinds&(1<<v.Kind()) == 0 || v.Size() > e.maxSize {
			return "enum"
		}
		r.spend(int64(v.Size()) + textOf(v)/64)
		if !e.holds(v) {
			return "enum"
		}
	}
	if l.format != nil && v.Kind() == strictjson.String {
		r.spend(1 + int64(v.Chars())/8)
		if l.format(v.Text()) != nil {
			return "format"
		}
	}
	return ""
}

// holds reports whether v equals a member.
func (e *enumeration) holds(v strictjson.Value) bool {
	if v.Kind() != strictjson.String {
		_, ok := e.keys[string(appendKey(nil, v))]
		return ok
	}
	text := v.Text()
	for _, t := range e.few {
		if t == text {
			return true
		}
	}
	_, ok := e.texts[text]
	return ok
}

// under applies a location in place. Marks are taken over from one that matches, and
// from one that must match and does not: the verdict is false already, and members
// that the failing location does name are no unexpected ones.
func (r *run) under(l *location, v strictjson.Value, dyn *scope, m *marks, out *sink) bool {
	if l == nil {
		return true
	}
	if m == nil {
		return r.eval(l, v, dyn, nil, out)
	}
	own := r.marks(v)
	ok := r.eval(l, v, dyn, own, out)
	if ok || out != nil {
		m.merge(own)
	}
	return ok
}

// inPlaceFits applies everything that judges the same value.
func (r *run) inPlaceFits(l *location, v strictjson.Value, dyn *scope, m *marks, out *sink) bool {
	ok := r.under(l.ref, v, dyn, m, out)
	if d := l.dynamicRef; d != nil && (ok || out != nil) {
		ok = r.under(d.resolve(dyn), v, dyn, m, out) && ok
	}
	for _, s := range l.allOf {
		if !ok && out == nil {
			return false
		}
		ok = r.under(s, v, dyn, m, out) && ok
	}
	for _, u := range [...]*union{l.anyOf, l.oneOf} {
		if u != nil && (ok || out != nil) {
			ok = r.unionFits(l, u, v, dyn, m, out) && ok
		}
	}
	if l.not != nil && (ok || out != nil) && r.eval(l.not, v, dyn, nil, nil) {
		ok = out.fail(l, "not", v)
	}
	if c := l.ifThen; c != nil && (ok || out != nil) {
		branch := c.otherwise
		if r.under(c.test, v, dyn, m, nil) {
			branch = c.then
		}
		ok = r.under(branch, v, dyn, m, out) && ok
	}
	return ok
}

// unionFits applies anyOf and oneOf.
func (r *run) unionFits(l *location, u *union, v strictjson.Value, dyn *scope, m *marks, out *sink) bool {
	r.spend(int64(len(u.branches)))
	c := u.choose(v)
	if out != nil && len(c.possible) == 1 && c.possible[0] == c.chosen {
		return r.under(u.branches[c.chosen], v, dyn, m, out)
	}
	matched := 0
	for _, i := range c.possible {
		if !r.under(u.branches[i], v, dyn, m, nil) {
			continue
		}
		matched++
		if (u.keyword == "anyOf" && m == nil) || (u.keyword == "oneOf" && matched > 1) {
			break
		}
	}
	if matched == 1 || (matched > 1 && u.keyword == "anyOf") {
		return true
	}
	if out != nil && matched == 0 && c.chosen >= 0 {
		return r.under(u.branches[c.chosen], v, dyn, m, out)
	}
	m.setPartial()
	return out.fail(l, u.keyword, v)
}

// unevaluatedFits applies unevaluatedItems and unevaluatedProperties.
func (r *run) unevaluatedFits(l *location, v strictjson.Value, dyn *scope, m *marks, out *sink) bool {
	sub := l.unevaluatedProps
	if v.Kind() == strictjson.Array {
		sub = l.unevaluatedItems
	}
	if sub == nil || v.Len() == 0 {
		return true
	}
	ok := true
	each := func(i int, child strictjson.Value) bool {
		if !m.has(i) && !r.eval(sub, child, dyn, nil, out) {
			ok = false
			return !out.done(child)
		}
		return r.stopped == nil
	}
	if v.Kind() == strictjson.Array {
		for i, e := range v.Elements() {
			if !each(i, e) {
				break
			}
		}
	} else if v.Kind() == strictjson.Object {
		i := 0
		for _, e := range v.Members() {
			if !each(i, e) {
				break
			}
			i++
		}
	}
	m.setAll()
	return ok
}
