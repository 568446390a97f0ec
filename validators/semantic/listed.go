package semantic

import (
	"time"

	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/validators"
	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// listed asks that a member of the payload is in a list: one that the request gave, or
// one that an earlier result gave for the same subject.
type listed struct {
	result   strictjson.Pointer
	argument strictjson.Pointer
	evidence *evidenceList // nil: the list is the argument
}

// evidenceList finds a list in evidence.
type evidenceList struct {
	tool  string
	items strictjson.Pointer // to an array in the evidence's data
	field strictjson.Pointer // inside each element; empty means the element
	match []pair
}

// A pair says that a member of the evidence equals an argument of this request.
type pair struct{ evidence, argument strictjson.Pointer }

func compileListed(c validators.CheckContext) (validators.Check, error) {
	p := read(c.With)
	l := listed{result: p.pointer("result", c.Result)}
	if p.oneOf("argument", "evidence") == "argument" {
		l.argument = p.pointer("argument", c.Arguments)
	} else {
		s := p.sub("evidence")
		l.evidence = &evidenceList{
			tool:  s.text("tool"),
			items: s.pointer("items", nil),
			field: s.pointer("field", nil),
			match: s.pairs("match", c),
		}
		p.join(s)
	}
	if err := p.done(); err != nil {
		return nil, err
	}
	return l, nil
}

// pairs reads a required object of pointers to pointers. Without one, evidence about
// any other subject would do.
func (p *parameters) pairs(name string, c validators.CheckContext) []pair {
	object := p.typed(name, strictjson.Object)
	var pairs []pair
	for from, to := range object.Members() {
		if to.Kind() != strictjson.String {
			p.fail(name, "a value is no string", "map pointers into the evidence to pointers into the arguments")
			return nil
		}
		pairs = append(pairs, pair{
			evidence: p.parsePointer(name, from, nil),
			argument: p.parsePointer(name, to.Text(), c.Arguments),
		})
	}
	if len(pairs) == 0 {
		p.fail(name, "nothing is matched", "say which member of the evidence equals which argument")
	}
	return pairs
}

// Check implements [validators.Check].
func (l listed) Check(f validators.Facts) *validators.CheckFailure {
	want := f.Result.At(l.result)
	if !want.Exists() {
		return refuse(contract.ReasonBinding, l.result, "the result lacks the member that binds it")
	}
	if l.evidence != nil {
		if problem := l.evidence.check(f, want); problem != "" {
			return refuse(contract.ReasonBinding, l.result, problem)
		}
		return nil
	}
	if !contains(f.Request.Arguments.At(l.argument), nil, want) {
		return refuse(contract.ReasonBinding, l.result, "the member is not in the argument's list")
	}
	return nil
}

// contains reports whether an element of an array, or the member at field inside one,
// equals want in type and value. What is no array contains nothing.
func contains(list strictjson.Value, field strictjson.Pointer, want strictjson.Value) bool {
	for _, e := range list.Elements() {
		if v := e.At(field); v.Exists() && strictjson.Equal(v, want) {
			return true
		}
	}
	return false
}

// check looks at the newest evidence for this request; an older list that still has the
// member does not count against a newer one that lost it. Where several are equally
// new, none of them may lack it.
func (l *evidenceList) check(f validators.Facts, want strictjson.Value) (problem string) {
	var newest time.Time
	found := false
	for _, e := range f.Evidence {
		if l.matches(e, f.Request) && (!found || e.ObservedAt.After(newest)) {
			found, newest = true, e.ObservedAt
		}
	}
	if !found {
		return "there is no evidence for this request with a list to look in"
	}
	for _, e := range f.Evidence {
		if e.ObservedAt.Equal(newest) && l.matches(e, f.Request) && !contains(e.Data.At(l.items), l.field, want) {
			return "the member is not in the list of the newest evidence"
		}
	}
	return ""
}

// matches reports whether evidence is about the subject of this request. Each pair must
// be found in the data or in the arguments of the evidence, and wherever it is found it
// must agree: evidence that contradicts itself is about nothing.
func (l *evidenceList) matches(e validators.Evidence, r validators.Request) bool {
	if e.Tool != l.tool {
		return false
	}
	for _, p := range l.match {
		want := r.Arguments.At(p.argument)
		data, argument := e.Data.At(p.evidence), e.Arguments.At(p.evidence)
		if !want.Exists() || !data.Exists() && !argument.Exists() {
			return false
		}
		if data.Exists() && !strictjson.Equal(data, want) || argument.Exists() && !strictjson.Equal(argument, want) {
			return false
		}
	}
	return len(l.match) > 0
}
