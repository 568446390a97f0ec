package contract

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Class says what a change means for those who rely on a contract.
type Class string

// The classes of changes.
const (
	// Breaking: what agents, callers or connectors relied on no longer holds, what was
	// accepted is refused, or something reaches the boundary that never did. It needs a
	// new version, and a plan for those who use the old one.
	Breaking Class = "breaking"
	// Additive: the agent may get, or give, what it could not before (A23). It needs a
	// new version.
	Additive Class = "contract"
	// Safe: invisible to agents and callers.
	Safe Class = "safe"
)

// rank orders classes, the gravest first.
func (c Class) rank() int {
	switch c {
	case Breaking:
		return 0
	case Additive:
		return 1
	}
	return 2
}

// Change is one difference between two versions of a contract. The wording of Detail
// is not promised; the other members are.
type Change struct {
	Class Class
	// Kind is a stable short word: "member-added", "enum-narrowed", "bound-widened".
	Kind string
	// At is where: a file of the contract's folder with a JSON Pointer as the fragment
	// ("result.schema.json#/properties/state/enum"), or a key of contract.yaml
	// ("result.limits.max_bytes"). It is a place of the new contract, or of the old one
	// where the new has none.
	At string
	// Old and New are what stood and stands there, shortened to a line of at most 100
	// characters; "" where there is nothing.
	Old, New string
	// Detail says what follows from it.
	Detail string
}

// String returns "class kind at: old -> new".
func (c Change) String() string {
	var b strings.Builder
	b.WriteString(string(c.Class) + " " + c.Kind + " " + c.At)
	if c.Old != "" || c.New != "" {
		b.WriteString(": " + orNothing(c.Old) + " -> " + orNothing(c.New))
	}
	return b.String()
}

func orNothing(s string) string {
	if s == "" {
		return "nothing"
	}
	return s
}

// Compare lists what differs between two contracts, the gravest first, then by place.
// It answers nothing for contracts that mean the same, however they are written: the
// order of members, a $ref for what it refers to, an allOf for its parts, a const for an
// enum of one, defaults spelt out. Versions, cases and files for people are not looked
// at. Where two schemas cannot be compared exactly the change is [Breaking]: no change
// that narrows or widens is missed, some that do neither are reported.
//
// Both contracts were loaded without faults and are only read. It is pure and takes
// bounded time; schemas that are too tangled to be compared are one [Breaking] change.
func Compare(old, new *Contract) []Change { //nolint:predeclared // the pair has no better names
	d := &differ{old: old, new: new}
	d.settings()
	d.agentFields()
	d.textFields()
	d.checks()
	d.rest()
	d.schemas()
	slices.SortStableFunc(d.changes, func(a, b Change) int {
		return cmp.Or(
			cmp.Compare(a.Class.rank(), b.Class.rank()), strings.Compare(a.At, b.At),
			strings.Compare(a.Kind, b.Kind), strings.Compare(a.Old, b.Old), strings.Compare(a.New, b.New),
		)
	})
	return slices.Compact(d.changes)
}

// differ is one run of Compare.
type differ struct {
	old, new *Contract
	changes  []Change
}

func (d *differ) add(c Change) {
	c.Old, c.New = unalike(c.Old, c.New)
	c.At, c.Old, c.New = line(c.At), line(c.Old), line(c.New)
	d.changes = append(d.changes, c)
}

// schemas compares what the two contracts say about payloads, arguments and a vendor's
// replies. A schema that comes or goes is a change of kind, which is reported as such.
func (d *differ) schemas() {
	for _, r := range roles() {
		if old, now := r.schema(d.old), r.schema(d.new); old != nil && now != nil {
			newWalk(d, r, old, now).run()
		}
	}
}

// maxLine is the number of characters of a value that are shown.
const maxLine = 100

// unalike leaves away most of the beginning that two values share where they would
// otherwise be cut before they differ.
func unalike(old, now string) (string, string) {
	if old == now || line(old) != line(now) {
		return old, now
	}
	const kept = 10 // shared characters before the first that is another one
	a, b := []rune(old), []rune(now)
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	i = max(0, i-kept)
	return "…" + string(a[i:]), "…" + string(b[i:])
}

// line is s on one line and not endless.
func line(s string) string {
	for _, c := range s {
		if !strconv.IsPrint(c) {
			s = strconv.Quote(s)
			break
		}
	}
	if r := []rune(s); len(r) > maxLine {
		return string(r[:maxLine-1]) + "…"
	}
	return s
}
