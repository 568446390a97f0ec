package contract

import (
	"slices"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// lintResultSchema applies the rules for the schema of a payload, and checks what
// contract.yaml says about its places: agent_fields, text_fields, not_given and the
// pointers of checks. It answers nothing where there is no schema. Agent fields that
// have an extension below them are rewritten; see leaveOutExtensions.
//
// Faults' files are relative to the contract's folder.
func lintResultSchema(c *Contract) Faults {
	l := newSchemaLinter(c, c.Result.Schema)
	if l == nil {
		return nil
	}
	l.structure()
	l.leaveOutExtensions()
	fields := l.agentFields()
	l.textFields(fields)
	l.maxList(fields)
	l.command()
	l.given(fields)
	l.required(fields)
	l.notGiven(fields)
	l.checks()
	l.adapter()
	return l.done()
}

// fieldNode is one token of the tree of agent_fields. field and text are one more than
// the index of the entry that ends here.
type fieldNode struct {
	children map[string]*fieldNode
	field    int
	text     int
	below    int  // agent_fields that end below
	short    bool // a list that max_list bounds
}

func (n *fieldNode) child(token string) *fieldNode {
	if n == nil {
		return nil
	}
	return n.children[token]
}

func (n *fieldNode) grow(token string) *fieldNode {
	if n.children == nil {
		n.children = map[string]*fieldNode{}
	}
	if n.children[token] == nil {
		n.children[token] = &fieldNode{}
	}
	return n.children[token]
}

// agentFields resolves the fields and arranges them as a tree.
func (l *schemaLinter) agentFields() *fieldNode {
	tree := &fieldNode{}
	for i, p := range l.c.Result.AgentFields {
		key := l.fieldKey(i)
		if !l.known(key, p) {
			continue
		}
		n, above := tree, false
		for _, token := range p {
			above = above || n.field > 0
			n.below++
			n = n.grow(token)
		}
		switch {
		case n.field > 0:
			l.inContract(key, "the field "+shownPointer(p)+" is listed twice", "remove one of them")
		case above || n.below > 0:
			l.inContract(key, "the field "+shownPointer(p)+" overlaps with another one, which gives it already", "keep the one that is meant")
		}
		if n.field == 0 {
			n.field = i + 1
		}
	}
	return tree
}

// known reports whether the schema knows a place, and says so where it does not.
func (l *schemaLinter) known(key string, p strictjson.Pointer) bool {
	x, last, n := l.cx.find(p, false)
	if x != nil {
		return true
	}
	l.unknown(key, p, last, n, "the schema knows no member ")
	return false
}

func (l *schemaLinter) unknown(key string, p strictjson.Pointer, last *context, n int, what string) {
	if l.lost(last) {
		return
	}
	cure := "correct the pointer, or describe the member in the schema"
	k := l.cx.kindsAt(last)
	near := nearest(p[n], last.names)
	switch {
	case k&kindArray != 0 && k&kindObject == 0:
		cure = "a place inside an array is written with * for every element"
	case k&(kindArray|kindObject) == 0:
		cure = "what stands above it is neither an object nor an array"
	case near != "":
		cure = "did you mean " + shownPointer(p[:n].Append(near)) + "?"
	}
	l.inContract(key, what+shownPointer(p[:n+1]), cure)
}

// textFields checks that each text field may be a string, and marks it in the tree. One
// that reaches no agent is cleaned all the same, before the schema and the checks.
func (l *schemaLinter) textFields(tree *fieldNode) {
	for i, f := range l.c.Result.TextFields {
		key := element("result.text_fields", i)
		if !l.known(key, f.At) {
			continue
		}
		n := tree
		for _, token := range f.At {
			n = n.grow(token)
		}
		x, _, _ := l.cx.find(f.At, false)
		switch {
		case x != nil && l.cx.kindsAt(x)&kindString == 0:
			l.inContract(key, "the schema allows no string at "+shownPointer(f.At), "correct the pointer")
		case n.text > 0:
			l.inContract(key, "the text field "+shownPointer(f.At)+" is listed twice", "remove one of them")
		}
		n.text = i + 1
	}
}

// spot is a context at one node of the tree of fields. Below the tree's leaves the
// node is nil, so that the number of spots stays that of the contexts.
type spot struct {
	x    *context
	node *fieldNode
	at   *trail
}

// trail is the way to a place, last token first, so that going down one step costs
// the same at every depth.
type trail struct {
	up    *trail // nil at the root
	token string
}

func trailOf(p strictjson.Pointer) *trail {
	var t *trail
	for _, token := range p {
		t = &trail{t, token}
	}
	return t
}

func (t *trail) pointer() strictjson.Pointer {
	p := strictjson.Pointer{}
	for ; t != nil; t = t.up {
		p = append(p, t.token)
	}
	slices.Reverse(p)
	return p
}

// given walks every place that reaches the agent: strings and arrays have a bound, the
// arrays above a field too, and strings are machine values or declared text.
func (l *schemaLinter) given(tree *fieldNode) {
	type seenKey struct {
		id   int
		node *fieldNode
	}
	seen := map[seenKey]bool{}
	for i, p := range l.c.Result.AgentFields {
		x, _, _ := l.cx.find(p, false)
		if x == nil {
			continue
		}
		l.passed(p, tree)
		n := tree
		for _, token := range p {
			n = n.child(token)
		}
		queue := []spot{{x, n, trailOf(p)}}
		for len(queue) > 0 && !l.cx.exhausted {
			s := queue[0]
			queue = queue[1:]
			if k := (seenKey{s.x.id, s.node}); seen[k] {
				continue
			} else {
				seen[k] = true
			}
			l.givenHere(i, s)
			for _, name := range s.x.names {
				if y := l.cx.member(s.x, name); y != nil {
					queue = append(queue, spot{y, s.node.child(name), &trail{s.at, name}})
				}
			}
			if y := l.cx.element(s.x); y != nil {
				queue = append(queue, spot{y, s.node.child(strictjson.EveryElement), &trail{s.at, strictjson.EveryElement}})
			}
		}
	}
}

// passed looks at the arrays above a field: as many of it reach the agent as they have
// elements.
func (l *schemaLinter) passed(p strictjson.Pointer, tree *fieldNode) {
	for i, token := range p {
		if x, _, _ := l.cx.find(p[:i], false); x != nil && token == strictjson.EveryElement {
			l.boundedArray(spot{x, tree, trailOf(p[:i])})
		}
		tree = tree.child(token)
	}
}

func (l *schemaLinter) boundedArray(s spot) {
	limited := s.node != nil && s.node.short
	if !limited && !l.cx.holdsAt(s.x, shortArray) {
		l.unbounded(s, shortArray, "an array", "add maxItems, or bound it in max_list")
	}
}

func (l *schemaLinter) givenHere(field int, s spot) {
	if l.rep.full() || l.lost(s.x) {
		return
	}
	l.boundedArray(s)
	text := s.node != nil && s.node.text > 0
	cut := text && l.c.Result.TextFields[s.node.text-1].MaxChars > 0
	if !cut && !l.cx.holdsAt(s.x, shortText) {
		l.unbounded(s, shortText, "a string", "add maxLength, enum, const, a pattern anchored at both ends, or one of the formats date-time, date, time, uuid")
	}
	if !text && !l.cx.holdsAt(s.x, machine) {
		l.inContract(l.fieldKey(field),
			"the string at "+shownPointer(s.at.pointer())+" ("+l.places(l.culprits(s.x, machine))+") is neither a machine value nor a declared text field",
			"declare it in text_fields, or restrict it by enum, const, a format date-time, date, time or uuid, or a pattern ^…$ without white space of at most 64 characters")
	}
}

func (l *schemaLinter) unbounded(s spot, p predicate, what, cure string) {
	for _, id := range l.culprits(s.x, p) {
		rule := "array"
		if p == shortText {
			rule = "text"
		}
		l.inSchema(rule, id, l.g.locations[id].value, what+" that reaches the agent at "+shownPointer(s.at.pointer())+" has no bound", cure)
	}
}

// places names locations for a message about contract.yaml.
func (l *schemaLinter) places(ids []int) string {
	if len(ids) == 0 {
		return "in the schema"
	}
	loc := &l.g.locations[ids[0]]
	return loc.file + pointerText(loc.value)
}

// required refuses a required member that is neither given nor explained. It goes down
// where a part of an object is given.
func (l *schemaLinter) required(tree *fieldNode) {
	type part struct {
		x    *context
		node *fieldNode
		at   strictjson.Pointer
	}
	queue := []part{{l.cx.root(), tree, strictjson.Pointer{}}}
	for len(queue) > 0 && !l.cx.exhausted {
		p := queue[0]
		queue = queue[1:]
		if p.node.field > 0 {
			continue
		}
		for _, name := range l.requiredNames(p.x) {
			at := p.at.Append(name)
			n := p.node.child(name)
			if (n != nil && (n.field > 0 || n.below > 0)) || l.explained(at) {
				continue
			}
			l.inContract("result.agent_fields", "the required member "+shownPointer(at)+" is neither given to the agent nor in not_given",
				"add it to agent_fields, or to not_given with the reason")
		}
		for _, token := range sortedTokens(p.node) {
			n := p.node.children[token]
			if y := l.cx.step(p.x, token, false); y != nil && n.below > 0 {
				queue = append(queue, part{y, n, p.at.Append(token)})
			}
		}
	}
}

func (l *schemaLinter) explained(at strictjson.Pointer) bool {
	return l.c.Result.NotGiven[at.String()] != ""
}

func sortedTokens(n *fieldNode) []string {
	tokens := make([]string, 0, len(n.children))
	for t := range n.children {
		tokens = append(tokens, t)
	}
	slices.Sort(tokens)
	return tokens
}

// requiredNames returns the members that some subschema at x requires, each once.
func (l *schemaLinter) requiredNames(x *context) []string {
	var names []string
	seen := map[string]bool{}
	for _, a := range x.all {
		required := l.g.locations[a.to].words["required"]
		if a.level == tested || !l.cx.spend(required.Len()) {
			continue
		}
		for _, r := range required.Elements() {
			if name := r.Text(); r.Kind() == strictjson.String && !seen[name] {
				seen[name] = true
				names = append(names, name)
			}
		}
	}
	return names
}

// notGiven checks that what not_given explains exists and is indeed not given.
func (l *schemaLinter) notGiven(tree *fieldNode) {
	entries := make([]string, 0, len(l.c.Result.NotGiven))
	for text := range l.c.Result.NotGiven {
		entries = append(entries, text)
	}
	slices.Sort(entries)
	for _, text := range entries {
		key := "result.not_given." + text
		p, err := strictjson.ParsePointer(text)
		if err != nil {
			l.inContract(key, "this is no JSON Pointer", `write it as "/name"`)
			continue
		}
		if l.c.Result.NotGiven[text] == "" {
			l.inContract(key, "the reason is empty", "say why the agent does not get it")
		}
		if !l.known(key, p) {
			continue
		}
		n := tree
		for _, token := range p {
			if n == nil || n.field > 0 {
				break
			}
			n = n.child(token)
		}
		if n != nil && (n.field > 0 || n.below > 0) {
			l.inContract(key, shownPointer(p)+" is given by agent_fields, all of it or a part", "remove it here, or from agent_fields")
		}
	}
}
