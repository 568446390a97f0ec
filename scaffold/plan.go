package scaffold

import (
	"slices"
	"strconv"
	"strings"
)

// Proposed bounds. They are asked about at each place.
const (
	proposedChars  = 256
	proposedURL    = 2048
	proposedItems  = 100
	proposedLength = 4096 // limits.max_string_chars
)

// What is proposed of a payload at most: beyond this nobody reads a proposal.
const (
	maxVisits    = 2000
	maxPlanDepth = 12
)

// plan is what the agent is proposed to get of a payload.
type plan struct {
	root   *object
	fields []string // JSON Pointers with *
	texts  []string
	// notGiven are required members that are not given, with the reason, in order.
	notGiven [][2]string
	// optional are members that nothing requires and that are not given.
	optional []string
	// loose are objects in which nothing is required, so that all of them is proposed.
	loose []string
	// mixed says that nothing could be chosen, so that the whole payload is proposed.
	mixed  bool
	trail  []*object
	visits int
}

// newPlan chooses the required members, down to their leaves, and bounds what is given.
func newPlan(root *object) *plan {
	p := &plan{root: root}
	if !p.visit("", placeOf(root, root)) {
		p.notGiven, p.optional, p.visits = nil, nil, 0
		p.mixed = true
		p.fields = append(p.fields, "")
		p.whole("", placeOf(root, root))
	}
	return p
}

// whole bounds everything at and below a place that is given whole, and declares its
// texts. What it cannot follow to the end is left for the lint to refuse.
func (p *plan) whole(at string, here place) {
	if p.visits++; p.visits > maxVisits || strings.Count(at, "/") > maxPlanDepth || len(here.parts) == 0 {
		return
	}
	p.bound(here, leafName(at))
	if here.free() {
		p.texts = append(p.texts, at)
	}
	if here.may("array") {
		p.whole(at+"/*", here.element(p.root))
	}
	for _, name := range here.names() {
		p.whole(at+"/"+escape(name), here.member(p.root, name))
	}
}

// visit proposes what is given at and below a place, and reports whether anything is.
func (p *plan) visit(at string, here place) bool {
	if p.visits++; p.visits > maxVisits || strings.Count(at, "/") > maxPlanDepth {
		p.withhold(at, "it is too deep or too wide to be proposed; does the agent need it?")
		return false
	}
	object, array := here.may("object"), here.may("array")
	scalar := slices.ContainsFunc(here.types(), func(t string) bool { return t != "object" && t != "array" && t != "null" })
	switch {
	case object && (array || scalar), array && scalar:
		p.withhold(at, "the source has values of several kinds here; which does the agent need?")
		return false
	case object:
		return p.members(at, here)
	case array:
		return p.elements(at, here)
	case len(here.types()) == 0:
		p.withhold(at, "the draft cannot tell what stands here; does the agent need it?")
		return false
	}
	p.leaf(at, here)
	return true
}

func (p *plan) members(at string, here place) bool {
	if slices.ContainsFunc(here.parts, func(o *object) bool {
		return o.has("properties") && slices.Contains(p.trail, o)
	}) {
		p.withhold(at, "it contains itself; how much of it does the agent need?")
		return false
	}
	depth := len(p.trail)
	p.trail = append(p.trail, here.parts...)
	defer func() { p.trail = p.trail[:depth] }()
	before, given := len(p.notGiven), false
	names, required := here.names(), here.required()
	loose := len(names) > 0 && !slices.ContainsFunc(names, func(n string) bool { return required[n] })
	for _, name := range names {
		below := at + "/" + escape(name)
		if name == "*" { // in a pointer it would mean every element
			if required[name] {
				p.withhold(below, "its name is that of every element of a list; can the vendor rename it?")
			}
			continue
		}
		if required[name] {
			given = p.visit(below, here.member(p.root, name)) || given
			continue
		}
		kept := len(p.notGiven)
		if loose && p.visit(below, here.member(p.root, name)) {
			given = true
			continue
		}
		p.notGiven = p.notGiven[:kept]
		p.optional = append(p.optional, below)
	}
	if loose && given {
		p.loose = append(p.loose, at)
	}
	if !given {
		p.notGiven = p.notGiven[:before]
		p.withhold(at, "nothing in it is both required and plain; what of it does the agent need?")
	}
	return given
}

func (p *plan) elements(at string, here place) bool {
	e := here.element(p.root)
	if e.may("object") || e.may("array") {
		if !p.visit(at+"/*", e) {
			p.notGiven = slices.DeleteFunc(p.notGiven, func(n [2]string) bool { return strings.HasPrefix(n[0], at+"/*") })
			p.withhold(at, "the draft cannot choose from its elements; what of them does the agent need?")
			return false
		}
		p.bound(here, leafName(at))
		return true
	}
	p.leaf(at, here)
	return true
}

// leaf gives a place with everything below it, which is an array at most.
func (p *plan) leaf(at string, here place) {
	p.fields = append(p.fields, at)
	name := leafName(at)
	if at == "" {
		name = "id" // the reply itself: a contract has to show that an empty one is refused
	}
	p.bound(here, name)
	if here.free() {
		p.texts = append(p.texts, at)
	}
	if e := here.element(p.root); len(e.parts) > 0 {
		p.bound(e, leafName(at))
		if e.free() {
			p.texts = append(p.texts, at+"/*")
		}
	}
}

func (p *plan) withhold(at, why string) {
	if at != "" {
		p.notGiven = append(p.notGiven, [2]string{at, questionMark + ": " + why})
	}
}

// bound puts a proposal at each part of a given place that has no bound.
func (p *plan) bound(here place, name string) {
	for _, o := range here.parts {
		if isArray(o) && !o.has("maxItems") && !o.has("enum") && !o.has("const") {
			least, _ := count(o.get("minItems"))
			o.set("maxItems", number(strconv.Itoa(max(proposedItems, least))))
			ask(o, "Proposed bound: the source gives none. At most how many elements?")
		}
		if !isString(o) || o.has("enum") || o.has("const") {
			continue
		}
		if identifies(name) && !o.has("minLength") && !o.has("format") && !o.has("pattern") {
			o.set("minLength", number("1"))
			ask(o, "Proposed: an identifier is not empty. Is that right?")
		}
		if !o.has("maxLength") && !machine(o) {
			most := proposedChars
			if f := text(o.get("format")); strings.HasPrefix(f, "uri") || strings.HasPrefix(f, "iri") {
				most = proposedURL
			}
			least, _ := count(o.get("minLength"))
			o.set("maxLength", number(strconv.Itoa(max(most, least))))
			ask(o, "Proposed bound: the source gives none. At most how many characters?")
		}
	}
}

// identifies reports whether a member's name says that it names something.
func identifies(name string) bool {
	lower := strings.ToLower(name)
	switch lower {
	case "id", "name", "sha", "key", "slug", "login", "path", "ref", "number", "code":
		return true
	}
	return strings.HasSuffix(lower, "_id") || strings.HasSuffix(name, "Id") || strings.HasSuffix(name, "ID") || strings.HasSuffix(lower, "_name")
}

// leafName is the last name of a pointer, unescaped.
func leafName(at string) string {
	parts := strings.Split(at, "/")
	for i := len(parts) - 1; i > 0; i-- {
		if parts[i] != "*" {
			return unescape(parts[i])
		}
	}
	return ""
}

func escape(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}

func unescape(token string) string {
	return strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
}
