package schema

// inPlace calls f with every location that l applies in place. Of a $dynamicRef that
// depends on the scope it names the fixed target only; see markCycles.
func (l *location) inPlace(f func(*location)) {
	each := func(ls ...*location) {
		for _, s := range ls {
			if s != nil {
				f(s)
			}
		}
	}
	each(l.ref, l.not)
	each(l.allOf...)
	if l.dynamicRef != nil {
		each(l.dynamicRef.target)
	}
	for _, u := range []*union{l.anyOf, l.oneOf} {
		if u != nil {
			each(u.branches...)
		}
	}
	if l.ifThen != nil {
		each(l.ifThen.test, l.ifThen.then, l.ifThen.otherwise)
	}
	if l.object != nil {
		for _, d := range l.object.dependentSchemas {
			each(d.schema)
		}
	}
}

// markCycles marks the locations that can reach themselves without consuming any of
// the instance (Tarjan's strongly connected components). Evaluation watches only
// these. A $dynamicRef may lead anywhere, so where there is one that depends on the
// scope every location is watched.
func markCycles(all []*location) {
	for _, l := range all {
		if l.dynamicRef != nil && l.dynamicRef.anchor != "" {
			for _, m := range all {
				m.cyclic = true
			}
			return
		}
	}
	t := tarjan{index: make(map[*location]int), low: make(map[*location]int), on: make(map[*location]bool)}
	for _, l := range all {
		if _, seen := t.index[l]; !seen {
			t.visit(l)
		}
	}
}

type tarjan struct {
	index, low map[*location]int
	on         map[*location]bool
	stack      []*location
}

func (t *tarjan) visit(l *location) {
	n := len(t.index)
	t.index[l], t.low[l] = n, n
	t.stack = append(t.stack, l)
	t.on[l] = true
	l.inPlace(func(next *location) {
		if next == l {
			l.cyclic = true
		}
		if _, seen := t.index[next]; !seen {
			t.visit(next)
			t.low[l] = min(t.low[l], t.low[next])
		} else if t.on[next] {
			t.low[l] = min(t.low[l], t.index[next])
		}
	})
	if t.low[l] != n {
		return
	}
	for i := len(t.stack) - 1; ; i-- {
		t.on[t.stack[i]] = false
		if t.stack[i] == l {
			component := t.stack[i:]
			for _, m := range component {
				m.cyclic = m.cyclic || len(component) > 1
			}
			t.stack = t.stack[:i]
			return
		}
	}
}
