package contract

import (
	"strings"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// checks verifies that the pointers in the parameters of checks name places that the
// schemas know. Whether the parameters are complete is for the check itself to say;
// what is absent or no string is left to it.
func (l *schemaLinter) checks() {
	var args *contexts
	if a := l.c.Arguments; a != nil && a.Schema != nil {
		if g := graphOf(a.Schema); g != nil {
			args = newContexts(g)
		}
	}
	for i := range l.c.Result.Checks {
		k := checkLint{l: l, args: args, check: &l.c.Result.Checks[i]}
		k.pointers()
	}
}

// checkLint looks at one check. args is nil where the contract has no schema of
// arguments.
type checkLint struct {
	l     *schemaLinter
	args  *contexts
	check *Check
}

func (k *checkLint) pointers() {
	with := k.check.With
	switch k.check.Use {
	case "equals":
		k.result("result", with.Member("result"))
		k.argument("argument", with.Member("argument"))
	case "fresh":
		k.moment("field", with.Member("field"))
	case "listed":
		k.result("result", with.Member("result"))
		k.argument("argument", with.Member("argument"))
		for _, m := range with.Member("evidence").Member("match").Members() {
			k.argument("evidence.match", m)
		}
	case "signature":
		k.result("field", with.Member("field"))
		for name, m := range with.Member("claims").Members() {
			k.result("claims."+printable(name), m)
		}
	case "after":
		k.moment("field", with.Member("field"))
		k.moment("than.field", with.Member("than").Member("field"))
		if x := k.argument("than.argument", with.Member("than").Member("argument")); x != nil {
			k.dated("than.argument", k.args, x)
		}
	}
}

func (k *checkLint) fault(parameter, message, cure string) {
	name := k.check.Name
	if name == "" {
		name = k.check.Use
	}
	if k.l.rep.full() {
		return
	}
	k.l.rep.faults = append(k.l.rep.faults, Fault{
		File: contractFile, Line: k.check.Line, Column: k.check.Column,
		Message: "check " + printable(name) + ", " + parameter + ": " + message, Cure: cure,
	})
}

func (k *checkLint) result(parameter string, v strictjson.Value) *context {
	return k.find(parameter, v, k.l.cx, "the payload's schema")
}

func (k *checkLint) argument(parameter string, v strictjson.Value) *context {
	if k.args == nil {
		return nil
	}
	return k.find(parameter, v, k.args, "the schema of the arguments")
}

func (k *checkLint) find(parameter string, v strictjson.Value, cx *contexts, schema string) *context {
	if v.Kind() != strictjson.String {
		return nil
	}
	p, err := strictjson.ParsePointer(v.Text())
	if err != nil {
		k.fault(parameter, shown(v.Text())+" is no JSON Pointer", `write it as "/name"`)
		return nil
	}
	x, last, n := cx.find(p, true)
	if x == nil && !cx.exhausted {
		cure := "correct the pointer, or describe the member in the schema"
		if near := nearest(p[n], last.names); near != "" {
			cure = "did you mean " + shownPointer(p[:n].Append(near)) + "?"
		}
		k.fault(parameter, schema+" knows no member "+shownPointer(p[:n+1]), cure)
	}
	return x
}

// moment is a place of the payload that must hold a date-time.
func (k *checkLint) moment(parameter string, v strictjson.Value) {
	if x := k.result(parameter, v); x != nil {
		k.dated(parameter, k.l.cx, x)
	}
}

func (k *checkLint) dated(parameter string, cx *contexts, x *context) {
	if cx.kindsAt(x)&kindString != 0 && cx.holdsAt(x, dateTime) {
		return
	}
	places := make([]string, len(x.entries))
	for i, e := range x.entries {
		loc := &cx.g.locations[e.to]
		places[i] = loc.file + pointerText(loc.value)
	}
	k.fault(parameter, "the schema does not say that this is a date-time ("+clipped(strings.Join(places, ", "))+")",
		`write "type": "string", "format": "date-time" there`)
}
