package contract

import (
	"regexp"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// extensionForm is the name of a named, versioned extension (A13): a part of a payload
// that is described and judged, and that no agent gets until somebody decides so.
var extensionForm = regexp.MustCompile(`^ext_v[0-9]+$`)

// leaveOutExtensions rewrites the agent fields of the contract so that an extension is
// given only where a field names it: a field that has one below is replaced by the
// members beside it. A field without extensions stays as it is.
func (l *schemaLinter) leaveOutExtensions() {
	fields := l.c.Result.AgentFields
	l.fieldKeys = make([]int, 0, len(fields))
	var all []strictjson.Pointer
	for i, p := range fields {
		x, _, _ := l.cx.find(p, false)
		w := extensionWalk{l: l, open: map[int]bool{}}
		if x == nil || !w.hasExtension(x) {
			all = append(all, p)
		} else {
			w.expand(i, x, p, &all)
		}
		for len(l.fieldKeys) < len(all) {
			l.fieldKeys = append(l.fieldKeys, i)
		}
	}
	l.c.Result.AgentFields = all
}

// fieldKey is the place in contract.yaml of an agent field.
func (l *schemaLinter) fieldKey(i int) string {
	return element("result.agent_fields", l.fieldKeys[i])
}

// extensionWalk goes through what lies below one field.
type extensionWalk struct {
	l    *schemaLinter
	open map[int]bool // contexts that the walk is in
}

// hasExtension reports whether an extension lies below x, recursion included.
func (w *extensionWalk) hasExtension(x *context) bool {
	seen := map[int]bool{x.id: true}
	queue := []*context{x}
	found := false
	for len(queue) > 0 && !found {
		next := queue[0]
		queue = queue[1:]
		w.each(next, func(token string, y *context) {
			found = found || extensionForm.MatchString(token)
			if !seen[y.id] {
				seen[y.id] = true
				queue = append(queue, y)
			}
		})
	}
	return found
}

// each visits the members and the element of x.
func (w *extensionWalk) each(x *context, visit func(token string, y *context)) {
	for _, name := range x.names {
		if y := w.l.cx.member(x, name); y != nil {
			visit(name, y)
		}
	}
	if y := w.l.cx.element(x); y != nil {
		visit(strictjson.EveryElement, y)
	}
}

// expand appends the places below p that are no extensions.
func (w *extensionWalk) expand(field int, x *context, p strictjson.Pointer, all *[]strictjson.Pointer) {
	if !w.hasExtension(x) {
		*all = append(*all, p)
		return
	}
	if w.open[x.id] {
		w.l.inContract(element("result.agent_fields", field),
			"the recursive part "+shownPointer(p)+" holds an extension, which agents do not get",
			"name the members that are given")
		return
	}
	w.open[x.id] = true
	w.each(x, func(token string, y *context) {
		if !extensionForm.MatchString(token) {
			w.expand(field, y, p.Append(token), all)
		}
	})
	delete(w.open, x.id)
}
