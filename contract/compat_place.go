package contract

import (
	"strings"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// placeOf is one place in both schemas.
type placeOf struct {
	w    *walk
	a, b *shape // old and new
	v    view
	t    *trail
}

func (p placeOf) report(e effect, kind string, at site, old, now string) {
	p.w.report(e, kind, at, old, now, p.v, p.t)
}

func (p placeOf) notes() {
	for _, name := range keysOf(union(p.a.notes, p.b.notes)) {
		if was, is := p.a.notes[name], p.b.notes[name]; was != is {
			at := p.b.first
			p.report(noted, "annotation-changed", at, join2(name, was), join2(name, is))
		}
	}
}

func join2(name, text string) string {
	if text == "" {
		return ""
	}
	return name + " " + text
}

func (p placeOf) types() {
	old, now := p.a.types, p.b.types
	if old == now || (p.a.listed && p.b.listed) {
		return
	}
	e, kind := unproven, "type-changed"
	switch {
	case old&^now == 0:
		e, kind = loosens, "type-widened"
	case now&^old == 0:
		e, kind = narrows, "type-narrowed"
	}
	p.report(e, kind, p.b.first, old.String(), now.String())
}

// values compares the values that are listed.
func (p placeOf) values() {
	switch {
	case !p.a.listed:
		p.report(narrows, "enum-added", p.b.first, "", p.b.String())
		for _, key := range p.b.beyond(p.a) {
			p.report(widens, "enum-widened", p.b.values[key], "", key)
		}
		return
	case !p.b.listed:
		p.report(loosens, "enum-removed", p.b.first, p.a.String(), "")
		for _, key := range p.a.beyond(p.b) {
			p.report(narrows, "enum-narrowed", p.b.first, key, "")
		}
		return
	}
	for _, key := range keysOf(p.a.values) {
		if _, kept := p.b.values[key]; !kept {
			p.report(narrows, "enum-narrowed", p.b.first, key, "")
		}
	}
	for _, key := range keysOf(p.b.values) {
		if at, known := p.b.values[key], p.a.values[key]; known.file == "" {
			e := widens
			if typeOf(at.v)&^p.a.types != 0 {
				e = loosens // another type than any before
			}
			p.report(e, "enum-widened", at, "", key)
		}
	}
}

// beyond returns the listed values that another shape, which lists none, refuses, though
// it knows their type: that of another type is said by the types.
func (s *shape) beyond(other *shape) []string {
	var keys []string
	for _, key := range keysOf(s.values) {
		if v := s.values[key].v; typeOf(v)&other.types != 0 && !other.admits(v) {
			keys = append(keys, key)
		}
	}
	return keys
}

// scalars compares bounds, patterns, formats and steps of the types that both know. Where
// one side lists its values, each string and number of them was held against what the
// other side says; whether a bound came or went beside them is nothing of its own.
func (p placeOf) scalars() {
	both := p.a.types & p.b.types
	if p.a.listed || p.b.listed {
		both &^= typeSet(kindString) | typeNumber
	}
	for i, word := range boundWords {
		if word.of&both != 0 && (i == 0 || boundWords[i-1].kind != word.kind) {
			p.bound(word.kind, word.least)
		}
	}
	for _, word := range setWords {
		if word.of&both != 0 {
			p.words(word.word)
		}
	}
	if both&typeSet(kindArray) != 0 && p.a.unique != p.b.unique {
		if p.b.unique {
			p.report(narrows, "unique-added", p.b.uniqueAt, "", "true")
		} else {
			p.report(loosens, "unique-removed", p.a.uniqueAt, "true", "")
		}
	}
}

func (p placeOf) bound(kind string, least bool) {
	old, now := p.a.bounds[kind], p.b.bounds[kind]
	order := 0 // of how much passes: negative for less
	switch {
	case old.set && now.set:
		order = now.at.Cmp(old.at)
		if least {
			order = -order
		}
		if order == 0 {
			order = number(old.open) - number(now.open)
		}
	case old.set:
		order = 1
	case now.set:
		order = -1
	}
	at := now.site
	if !now.set {
		at = old.site
	}
	switch {
	case order < 0:
		p.report(narrows, "bound-narrowed", at, old.text, now.text)
	case order > 0:
		p.report(widens, "bound-widened", at, old.text, now.text)
	}
}

// words compares conditions that each stand for themselves.
func (p placeOf) words(word string) {
	var gone, came []string
	for _, key := range keysOf(p.a.words[word]) {
		if _, kept := p.b.words[word][key]; !kept {
			gone = append(gone, key)
		}
	}
	for _, key := range keysOf(p.b.words[word]) {
		if _, known := p.a.words[word][key]; !known {
			came = append(came, key)
		}
	}
	name := strings.ToLower(word)
	if len(gone) == 1 && len(came) == 1 {
		old, now := p.a.words[word][gone[0]], p.b.words[word][came[0]]
		e, kind := unproven, name+"-changed"
		if word == "multipleOf" {
			switch {
			case now.v.Decimal().MultipleOf(old.v.Decimal()):
				e, kind = narrows, name+"-narrowed"
			case old.v.Decimal().MultipleOf(now.v.Decimal()):
				e, kind = widens, name+"-widened"
			}
		}
		p.report(e, kind, now, plainOf(old.v), plainOf(now.v))
		return
	}
	for _, key := range gone {
		at := p.a.words[word][key]
		e := widens
		if word == "format" {
			e = loosens // who reads a date takes it apart
		}
		p.report(e, name+"-removed", at, plainOf(at.v), "")
	}
	for _, key := range came {
		at := p.b.words[word][key]
		p.report(narrows, name+"-added", at, "", plainOf(at.v))
	}
}

// plainOf shows a value of a schema: a string without quotes.
func plainOf(v strictjson.Value) string {
	if v.Kind() == strictjson.String {
		return v.Text()
	}
	return plainText(v)
}
