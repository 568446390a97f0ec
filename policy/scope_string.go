package policy

// stringKind serves enum too, whose values are checked against the schema's list where
// they are read: a grant's value that is equal to one of them is then listed as well.
var stringKind = kind[string, string]{
	value:   fromText(exact),
	pattern: exact,
	covers:  func(p, v *string) bool { return *p == *v },
}

// exact is the canonicaliser of type string: every text is its own form.
func exact(s string) (string, bool) { return s, true }
