// Package projection makes the object that an agent gets.
//
// A vendor's wide reply first becomes a closed object of ours: an [Adapter] makes each
// member by an expression and copies nothing else (A10).
//
// The judged value is never serialised whole (A15). A [Plan], compiled once from a
// contract's agent fields and text fields, picks the promised members into a new
// value, in the order in which the contract names them. A string of it is either
// outside text, which is cleaned before anything judges it ([Plan.Clean]), or a machine
// value, which is refused where it holds a character that a reader would not see
// ([Plan.Hidden]) and otherwise comes out byte for byte as it came in.
//
// All other steps take time linear in the value. Recursion is bounded by the depth limit of
// the reader that made the value.
package projection

import (
	"context"
	"slices"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
	"github.com/hallmark-gate/hallmark/validators/text"
)

// TextField says which strings hold outside text.
type TextField struct {
	At strictjson.Pointer // with strictjson.EveryElement for array elements
	// MaxChars is the number of code points at which cleaned text is cut; 0 means that
	// it is not, but for the million that no string may have.
	MaxChars int
	Profile  text.Profile
	// HTML is true where the string is a page or a part of one, of which the visible
	// text is wanted.
	HTML bool
	// Link is true where the string is an address, which is neither normalised nor cut:
	// it would lead elsewhere.
	Link bool
}

// Plan is a compiled selection. It is immutable and safe for concurrent use. The zero
// Plan gives nothing.
type Plan struct {
	root place
	most int // of members that are wanted on one way down, all objects on it together
}

// A place is what the contract says about one location and the locations below it.
type place struct {
	given  bool       // the agent gets the location whole
	text   *TextField // the location is outside text
	fixed  string     // its pointer, where no array is on the way
	names  []string   // members with places of their own, agent fields first
	quoted []string   // names as JSON writes them, with their colon
	below  []*place   // of names
	every  *place     // of array elements
	wanted int        // how many of names lead to given locations
	gives  bool       // it or a place below is given
	texts  bool       // it or a place below is outside text
}

// New compiles the pointers of a contract. The contract's lint has made sure that they
// are known to the schema and that no agent field contains another.
func New(agentFields []strictjson.Pointer, texts []TextField) *Plan {
	p := &Plan{}
	for _, at := range agentFields {
		p.root.open(at, func(on *place) { on.gives = true }).given = true
	}
	p.most = p.root.markWanted()
	for _, t := range texts {
		at := p.root.open(t.At, func(on *place) { on.texts = true })
		if at.text = &t; !slices.Contains(t.At, strictjson.EveryElement) {
			at.fixed = t.At.String()
		}
	}
	return p
}

// open returns the place at a pointer and makes it where it is missing. It calls mark
// with every place on the way and with that one.
func (p *place) open(at strictjson.Pointer, mark func(*place)) *place {
	mark(p)
	for _, token := range at {
		switch next := p.child(token); {
		case next != nil:
			p = next
		case token == strictjson.EveryElement:
			p.every = &place{}
			p = p.every
		default:
			next = &place{}
			p.names = append(p.names, token)
			p.quoted = append(p.quoted, string(strictjson.AppendString(nil, token))+":")
			p.below = append(p.below, next)
			p = next
		}
		mark(p)
	}
	return p
}

func (p *place) child(token string) *place {
	if token == strictjson.EveryElement {
		return p.every
	}
	for i, name := range p.names {
		if name == token {
			return p.below[i]
		}
	}
	return nil
}

// markWanted counts the names that lead to given places, and returns how many of them are
// on the longest way down.
func (p *place) markWanted() (most int) {
	p.wanted = len(p.names)
	for _, b := range p.below {
		most = max(most, b.markWanted())
	}
	if p.every != nil {
		most = max(most, p.every.markWanted())
	}
	return most + p.wanted
}

// find returns which of the first most names this is, or -1. next is the one that is
// expected, since members mostly come in the order of the names; find moves it on.
func (p *place) find(name string, most int, next *int) int {
	if *next < most && p.names[*next] == name {
		*next++
		return *next - 1
	}
	for i, n := range p.names[:most] {
		if n == name {
			*next = i + 1
			return i
		}
	}
	return -1
}

// member returns what is said about a member; nil is a valid place that says nothing.
func (p *place) member(name string, next *int) *place {
	if p == nil {
		return nil
	}
	if i := p.find(name, len(p.names), next); i >= 0 {
		return p.below[i]
	}
	return nil
}

func (p *place) element() *place {
	if p == nil {
		return nil
	}
	return p.every
}

// Cleaned is a value with its outside text cleaned.
type Cleaned struct {
	Value     strictjson.Value
	Truncated bool        // some text was cut
	Removed   text.Counts // what was taken out, by kind
	Noticed   text.Noticed
}

// TextError says which text field cannot be cleaned. It holds no value.
type TextError struct {
	At  strictjson.Pointer
	Err error // a [*text.Error]
}

// Error returns the cause's sentence, without the place, whose names may be the reply's.
func (e *TextError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *TextError) Unwrap() error { return e.Err }

// maxChars bounds a cleaned text that the contract does not cut, in code points.
const maxChars = 1_000_000

// clean cleans one text.
func (f *TextField) clean(ctx context.Context, s string, out *Cleaned) (string, error) {
	limit := f.MaxChars
	if limit == 0 {
		limit = maxChars
	}
	switch {
	case f.Link:
		clean, removed := text.CleanMember(s)
		out.Removed.Add(removed)
		return clean, nil
	case f.HTML:
		r, err := text.Process(ctx, []byte(s), "text/html; charset=utf-8", text.Options{
			Profile: f.Profile, MaxBytes: len(s) + 1, MaxOutputChars: limit,
		})
		out.Truncated = out.Truncated || r.Truncated
		out.Removed.Add(r.Removed)
		out.Noticed.Add(r.Noticed)
		return r.Content, err
	}
	clean, cut, removed := text.CleanText(s, f.Profile, limit)
	out.Truncated = out.Truncated || cut
	out.Removed.Add(removed)
	out.Noticed.Add(text.Notice(clean))
	return clean, nil
}

// Clean returns v with every text field cleaned and cut. v stays as it is. The error,
// of a page that cannot be read within its budget, is a [*TextError].
func (p *Plan) Clean(ctx context.Context, v strictjson.Value) (Cleaned, error) {
	out := Cleaned{Value: v}
	var failed error
	var edits []strictjson.Edit
	eachString(v, &p.root, false, (*place).hasTexts, func(s strictjson.Value, at *place, _ bool) bool {
		if at.text == nil {
			return true
		}
		clean, err := at.text.clean(ctx, s.Text(), &out)
		if err != nil {
			failed = &TextError{s.Path(), err}
			return false
		}
		if clean != s.Text() {
			edits = append(edits, strictjson.Edit{At: s, Text: clean})
		}
		return true
	})
	if failed != nil {
		return Cleaned{}, failed
	}
	out.Value = strictjson.Replace(v, edits)
	return out, nil
}

// Hidden returns the first machine value, in the order of the input, that holds a
// removable character and would reach the agent; the zero Value where there is none.
// Member names are not looked at: a closed schema has fixed them.
func (p *Plan) Hidden(v strictjson.Value) strictjson.Value {
	var found strictjson.Value
	eachString(v, &p.root, false, (*place).hasGiven, func(s strictjson.Value, at *place, given bool) bool {
		if !given || (at != nil && at.text != nil) || text.FirstRemovable(s.Text()) < 0 {
			return true
		}
		found = s
		return false
	})
	return found
}

// hasTexts reports whether there may be outside text in a place.
func (p *place) hasTexts(_ bool) bool { return p != nil && p.texts }

// hasGiven reports whether the agent gets anything of a place, given or inside of one
// that is.
func (p *place) hasGiven(given bool) bool { return given || (p != nil && p.gives) }

// eachString visits the strings of v in the order of the input, until visit returns
// false, and reports whether it never did. It looks into what has something only.
func eachString(v strictjson.Value, at *place, given bool, has func(*place, bool) bool, visit func(strictjson.Value, *place, bool) bool) bool {
	given = given || (at != nil && at.given)
	if !has(at, given) {
		return true
	}
	switch v.Kind() {
	case strictjson.String:
		return visit(v, at, given)
	case strictjson.Array:
		for _, e := range v.Elements() {
			if !eachString(e, at.element(), given, has, visit) {
				return false
			}
		}
	case strictjson.Object:
		next := 0
		for name, m := range v.Members() {
			if !eachString(m, at.member(name, &next), given, has, visit) {
				return false
			}
		}
	}
	return true
}
