package strictjson

// Equal reports whether a and b are equal as JSON Schema Core section 4.2.2 defines
// it: numbers by exact value, strings code point by code point, objects without
// regard to order. An absent value equals only an absent one. Kinds never mix: false
// is not 0. Time is linear in the sizes; it recurses once for each level of nesting.
func Equal(a, b Value) bool {
	kind := a.Kind()
	if kind != b.Kind() {
		return false
	}
	switch kind {
	case Bool:
		return a.IsTrue() == b.IsTrue()
	case Number:
		return a.Digits() == b.Digits() || a.Decimal().Cmp(b.Decimal()) == 0
	case String:
		return a.Text() == b.Text()
	case Array:
		return equalElements(a, b)
	case Object:
		return equalMembers(a, b)
	}
	return true
}

func equalElements(a, b Value) bool {
	if a.Len() != b.Len() {
		return false
	}
	i, j := a.i+1, b.i+1
	for range a.Len() {
		if !Equal(Value{a.d, i}, Value{b.d, j}) {
			return false
		}
		i, j = a.d.nodes[i].next, b.d.nodes[j].next
	}
	return true
}

func equalMembers(a, b Value) bool {
	if a.Len() != b.Len() {
		return false
	}
	find := b.Member
	if b.Len() > manyMembers {
		index := make(map[string]Value, b.Len())
		for name, m := range b.Members() {
			index[name] = m
		}
		find = func(name string) Value { return index[name] }
	}
	for name, m := range a.Members() {
		if other := find(name); !other.Exists() || !Equal(m, other) {
			return false
		}
	}
	return true
}
