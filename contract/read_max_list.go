package contract

import (
	"slices"

	yaml "go.yaml.in/yaml/v4"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// maxList reads the limit of one list (B4).
func (d *draft) maxList(n *yaml.Node, path string) {
	m := &ListLimit{}
	over := ""
	before := d.wrong
	d.object(n, path,
		need("at", d.pointer(&m.At)),
		need("items", d.integer(&m.Items, 1, strictjson.Ceilings().MaxItems)),
		need("over", word(d.source, &over, "refuse", "cut")),
	)
	if d.wrong > before {
		return
	}
	if slices.Contains(m.At, strictjson.EveryElement) {
		d.faultOn(path+".at", "bound lists inside of lists by maxItems in the schema",
			"%s.at: %s stands for many lists; the limit is that of one", path, quote(m.At.String()))
		return
	}
	m.Cut = over == "cut"
	d.contract.Result.MaxList = m
}

// maxList checks that the limit is that of a list which the schema knows, and marks it
// in the tree of fields.
func (l *schemaLinter) maxList(tree *fieldNode) {
	m := l.c.Result.MaxList
	const key = "result.max_list.at"
	if m == nil || !l.known(key, m.At) {
		return
	}
	x, _, _ := l.cx.find(m.At, false)
	if x != nil && l.cx.kindsAt(x)&kindArray == 0 {
		l.inContract(key, "the schema allows no array at "+shownPointer(m.At), "correct the pointer")
		return
	}
	for _, token := range m.At {
		tree = tree.grow(token)
	}
	tree.short = true
}
