package contract

import (
	"slices"

	yaml "go.yaml.in/yaml/v4"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// Adapter says how a vendor's wide reply becomes the closed payload (A10): the vendor's
// changes stop here. Nothing of the reply goes on but what the fields make of it.
type Adapter struct {
	// Schema says what is relied on in the vendor's reply. It may be open: the rules
	// that every place is closed and bounded, and against free maps, are not for it.
	Schema *Schema
	Fields []AdapterField // in the order of the contract, which is that of the new object
	Watch  Watch
}

// AdapterField makes one member of the new object.
type AdapterField struct {
	Member string
	Expr   string // CEL over upstream and request
	// Line and Column are the place of the expression in contract.yaml, from 1.
	Line, Column int
}

// Watch says what becomes of members that the vendor's schema does not name.
type Watch string

// The ways of watching.
const (
	WatchDrop   Watch = "drop_and_alert" // they are dropped, and the owner is told
	WatchRefuse Watch = "refuse"         // the reply is refused
)

// adapter reads result.adapter. What to do about unnamed members has no default:
// whoever adapts says whether a vendor's addition is an alert or an outage.
func (d *draft) adapter(n *yaml.Node, path string) {
	a := &Adapter{}
	d.object(n, path,
		need("schema", d.schema(&a.Schema)),
		need("fields", d.adapterFields(&a.Fields)),
		need("watch", word(d.source, &a.Watch, WatchDrop, WatchRefuse)),
	)
	d.contract.Result.Adapter = a
}

func (d *draft) adapterFields(dst *[]AdapterField) read {
	entries := d.entries(func(key, value *yaml.Node, path string) {
		f := AdapterField{Member: key.Value}
		before := d.wrong
		d.text(&f.Expr, maxSentence)(value, path)
		if d.wrong > before {
			return
		}
		at := keyPlace(key, value)
		f.Line, f.Column = at.line, at.column
		*dst = append(*dst, f)
	})
	return func(n *yaml.Node, path string) {
		entries(n, path)
		if jsonKind(n) == strictjson.Object && len(n.Content) == 0 {
			d.fault(n, "", "%s is empty; expected at least 1", path)
		}
	}
}

// lintAdapter applies the rules that need contract.yaml alone.
func (d *draft) lintAdapter() {
	if r := &d.contract.Result; r.Adapter != nil && r.Kind != KindJSON {
		d.faultOn("result.adapter", "remove it, or say kind: json", "an adapter of a result of kind %s; only JSON is adapted", r.Kind)
	}
}

// adapter sees that the fields make what the payload's schema describes, no member
// more and no required one less.
func (l *schemaLinter) adapter() {
	a := l.c.Result.Adapter
	if a == nil {
		return
	}
	root := l.cx.root()
	if l.cx.kindsAt(root)&kindObject == 0 {
		l.inContract("result.adapter", "an adapter makes an object, and the payload's schema allows none", "correct the schema, or remove the adapter")
		return
	}
	for _, f := range a.Fields {
		if _, known := root.children[f.Member]; known {
			continue
		}
		cure := "correct the name, or describe the member in the schema"
		if near := nearest(f.Member, root.names); near != "" {
			cure = "did you mean " + printable(near) + "?"
		}
		l.inContract("result.adapter.fields["+f.Member+"]", "the payload's schema knows no member "+shown(f.Member), cure)
	}
	for _, name := range l.requiredNames(root) {
		if !slices.ContainsFunc(a.Fields, func(f AdapterField) bool { return f.Member == name }) {
			l.inContract("result.adapter.fields", "the required member "+shown(name)+" is made by no field", "add it")
		}
	}
}

// lintVendorSchema applies what is left of the rules for schemas where a schema may be
// open. Dialect, keywords, formats, patterns, references and cost have been seen to
// when it was read.
func lintVendorSchema(c *Contract) Faults {
	l := newSchemaLinter(c, c.Result.Adapter.Schema)
	if l == nil {
		return nil
	}
	root := l.cx.root()
	if len(root.names) == 0 && !root.open && len(root.elements) == 0 {
		loc := &l.g.locations[l.g.root]
		l.rep.at(loc.file, loc.value, "the vendor's schema names no member, so nothing is relied on and nothing is watched",
			"describe in properties what the adapter reads")
	}
	return l.done()
}
