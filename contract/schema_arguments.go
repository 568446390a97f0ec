package contract

import (
	"slices"
	"strings"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// lintArgumentSchema applies the rules for the schema of a tool's arguments, and
// checks scopes, unscoped and egress against it. Bounds are not asked of arguments:
// they do not reach the agent, and the service's limits hold for them. It answers
// nothing where there is no schema.
//
// Faults' files are relative to the contract's folder.
func lintArgumentSchema(c *Contract) Faults {
	if c.Arguments == nil {
		return nil
	}
	s := newSchemaLinter(c, c.Arguments.Schema)
	if s == nil {
		return nil
	}
	s.structure()
	if root := &s.g.locations[s.g.root]; s.cx.kindsAt(s.cx.root()) != kindObject {
		s.inSchema("root", s.g.root, root.value, "arguments are always an object, and this schema allows something else or nothing", `write "type": "object"`)
	}
	l := &argumentLint{schemaLinter: s, scoped: map[string]string{}, exempt: map[string]bool{}}
	l.scopes()
	l.unscoped()
	l.leaves()
	if c.Effect == ReadOnly && c.Egress == "" {
		l.egress()
	}
	return s.done()
}

type argumentLint struct {
	*schemaLinter
	scoped  map[string]string // pointer: name of its scope
	exempt  map[string]bool   // pointers of unscoped that exist
	outside string            // an argument that names an outside destination, "" where none does
}

// scopes checks that each pointer of a scope is a place that the scope can judge.
func (l *argumentLint) scopes() {
	for i, s := range l.c.Arguments.Scopes {
		for j, p := range s.At {
			key := element(element("arguments.scopes", i)+".at", j)
			if !l.known(key, p) {
				continue
			}
			x, _, _ := l.cx.find(p, false)
			if x == nil {
				continue
			}
			text := p.String()
			if other, ok := l.scoped[text]; ok && other == s.Name {
				l.inContract(key, "the argument "+shownPointer(p)+" is listed twice in this scope", "remove one of them")
			}
			l.scoped[text] = s.Name
			l.scopeFits(key, s, p, x)
		}
	}
}

// scopeFits checks that what can stand at p are strings, numbers and the like, alone or in
// arrays, also where the schema leaves the choice.
func (l *argumentLint) scopeFits(key string, s Scope, p strictjson.Pointer, x *context) {
	for {
		k := l.cx.kindsAt(x)
		y := l.cx.element(x)
		if k&kindObject != 0 || k&kindArray != 0 && (y == nil || y == x) {
			l.inContract(key, "the scope "+printable(s.Name)+" points to an object or to arrays in objects at "+shownPointer(p)+", which no grant can cover",
				"point to the strings and numbers in it")
			break
		}
		if s.Type == "enum" && k&scalarSet != 0 && !l.cx.holdsAt(x, finite) {
			l.inContract(key, "the scope "+printable(s.Name)+" is an enum, but the schema lists no values at "+shownPointer(p),
				"write enum or const there, or give the scope another type")
		}
		if k&kindArray == 0 {
			break
		}
		x = y
	}
	switch s.Type {
	case "url", "host", "email":
		l.leadsOutside(p)
	}
}

// unscoped checks that what needs no scope exists and has none.
func (l *argumentLint) unscoped() {
	entries := make([]string, 0, len(l.c.Arguments.Unscoped))
	for text := range l.c.Arguments.Unscoped {
		entries = append(entries, text)
	}
	slices.Sort(entries)
	for _, text := range entries {
		key := "arguments.unscoped." + text
		p, err := strictjson.ParsePointer(text)
		if err != nil {
			l.inContract(key, "this is no JSON Pointer", `write it as "/name"`)
			continue
		}
		if l.c.Arguments.Unscoped[text] == "" {
			l.inContract(key, "the reason is empty", "say why this argument needs no scope")
		}
		if !l.known(key, p) {
			continue
		}
		l.exempt[text] = true
		if name := l.scopeBelow(p); name != "" {
			l.inContract(key, shownPointer(p)+" is also in the scope "+printable(name), "remove it here, or from the scope")
		}
	}
}

// scopeBelow returns the scope that holds p or a part of it.
func (l *argumentLint) scopeBelow(p strictjson.Pointer) string {
	prefix := p.String()
	var found []string
	for text, name := range l.scoped {
		if text == prefix || strings.HasPrefix(text, prefix+"/") {
			found = append(found, name)
		}
	}
	if len(found) == 0 {
		return ""
	}
	return slices.Min(found)
}

// leaf is a place in the arguments on the way down; up holds the contexts above it, by
// which a recursive place is recognised.
type leaf struct {
	x    *context
	at   *trail
	up   *leaf
	deep int
}

func (f *leaf) recursive() bool {
	for u := f.up; u != nil; u = u.up {
		if u.x == f.x {
			return true
		}
	}
	return false
}

// leaves walks every argument. Those of a side effect need a scope or a reason for
// having none.
func (l *argumentLint) leaves() {
	const deepest = 256 // beyond it no value can go: strictjson allows 64
	queue := []*leaf{{x: l.cx.root()}}
	for steps := 0; len(queue) > 0 && !l.cx.exhausted; steps++ {
		f := queue[0]
		queue = queue[1:]
		if steps > maxExpansion || f.deep > deepest {
			l.inSchema("leaves", l.g.root, l.g.locations[l.g.root].value, "there are too many arguments to be linted", "simplify the schema")
			return
		}
		at := f.at.pointer()
		l.named(f, at)
		if l.c.Effect == SideEffect && l.exempt[at.String()] {
			continue // with all that is below
		}
		k := l.cx.kindsAt(f.x)
		if l.c.Effect == SideEffect && (k&scalarSet != 0) && !l.covered(at) {
			l.inContract("arguments", "the argument "+shownPointer(at)+" ("+l.placesOf(f.x)+") is in no scope and not in unscoped",
				"add it to a scope's at, or to unscoped with the reason")
		}
		if f.recursive() {
			if l.c.Effect == SideEffect {
				l.inContract("arguments", "the argument "+shownPointer(at)+" contains itself, so no scope can name all its parts",
					"name it in unscoped with the reason, or describe it without recursion")
			}
			continue
		}
		for _, name := range f.x.names {
			if y := l.cx.member(f.x, name); y != nil && k&kindObject != 0 {
				queue = append(queue, &leaf{y, &trail{f.at, name}, f, f.deep + 1})
			}
		}
		if y := l.cx.element(f.x); y != nil && k&kindArray != 0 {
			queue = append(queue, &leaf{y, &trail{f.at, strictjson.EveryElement}, f, f.deep + 1})
		}
	}
}

func (l *argumentLint) placesOf(x *context) string {
	ids := make([]int, len(x.entries))
	for i, e := range x.entries {
		ids[i] = e.to
	}
	return l.places(ids)
}

// covered reports whether a scope names the leaf, or the array of which it is an
// element.
func (l *argumentLint) covered(at strictjson.Pointer) bool {
	for {
		if _, ok := l.scoped[at.String()]; ok {
			return true
		}
		if len(at) == 0 || at[len(at)-1] != strictjson.EveryElement {
			return false
		}
		at = at[:len(at)-1]
	}
}

// named notes an argument whose format, pattern or name says that it is an outside
// destination.
func (l *argumentLint) named(f *leaf, at strictjson.Pointer) {
	if l.outside != "" || l.cx.kindsAt(f.x)&kindString == 0 {
		return
	}
	for _, a := range f.x.all {
		switch l.g.locations[a.to].words["format"].Text() {
		case "uri", "uri-reference", "uri-template", "iri", "iri-reference", "hostname",
			"idn-hostname", "ipv4", "ipv6", "email", "idn-email":
			l.leadsOutside(at)
			return
		}
		if strings.Contains(l.g.locations[a.to].words["pattern"].Text(), "://") {
			l.leadsOutside(at)
			return
		}
	}
	name := ""
	for t := f.at; t != nil && name == ""; t = t.up {
		if t.token != strictjson.EveryElement {
			name = t.token
		}
	}
	name = strings.ToLower(name)
	if cut := strings.LastIndexAny(name, "_-"); cut >= 0 {
		name = name[cut+1:]
	}
	switch name {
	case "url", "urls", "uri", "uris", "iri", "href", "webhook",
		"host", "hosts", "hostname", "hostnames", "domain", "ip",
		"address", "addresses", "email", "emails":
		if !l.cx.holdsAt(f.x, finite) {
			l.leadsOutside(at)
		}
	}
}

func (l *argumentLint) leadsOutside(p strictjson.Pointer) {
	if l.outside == "" {
		l.outside = shownPointer(p)
	}
}

// egress wants an explicit word where a read-only tool's arguments choose an outside
// destination: reading from there can carry data out.
func (l *argumentLint) egress() {
	if l.outside == "" {
		return
	}
	l.inContract("egress", "the argument "+l.outside+" is a url, host or address, and the contract does not say whether it leads outside",
		"write egress: none, open or granted")
}
