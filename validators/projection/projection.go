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
	"strconv"

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
type Plan struct{ root place }

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
}

// New compiles the pointers of a contract. The contract's lint has made sure that they
// are known to the schema and that no agent field contains another.
func New(agentFields []strictjson.Pointer, texts []TextField) *Plan {
	p := &Plan{}
	for _, at := range agentFields {
		p.root.open(at).given = true
	}
	p.root.markWanted()
	for _, t := range texts {
		at := p.root.open(t.At)
		if at.text = &t; !slices.Contains(t.At, strictjson.EveryElement) {
			at.fixed = t.At.String()
		}
	}
	return p
}

// open returns the place at a pointer and makes it where it is missing.
func (p *place) open(at strictjson.Pointer) *place {
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
	}
	return p
}

func (p *place) child(token string) *place {
	if token == strictjson.EveryElement {
		return p.every
	}
	return p.member(token)
}

func (p *place) markWanted() {
	p.wanted = len(p.names)
	for _, b := range p.below {
		b.markWanted()
	}
	if p.every != nil {
		p.every.markWanted()
	}
}

// member returns what is said about a member; nil is a valid place that says nothing.
func (p *place) member(name string) *place {
	if p == nil {
		return nil
	}
	for i, n := range p.names {
		if n == name {
			return p.below[i]
		}
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
	eachString(v, &p.root, p.root.given, func(s strictjson.Value, at *place, _ bool) bool {
		if at == nil || at.text == nil {
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
	eachString(v, &p.root, p.root.given, func(s strictjson.Value, at *place, given bool) bool {
		if !given || (at != nil && at.text != nil) || text.FirstRemovable(s.Text()) < 0 {
			return true
		}
		found = s
		return false
	})
	return found
}

// eachString visits the strings of v in the order of the input, until visit returns
// false, and reports whether it never did.
func eachString(v strictjson.Value, at *place, given bool, visit func(strictjson.Value, *place, bool) bool) bool {
	given = given || (at != nil && at.given)
	switch v.Kind() {
	case strictjson.String:
		return visit(v, at, given)
	case strictjson.Array:
		for _, e := range v.Elements() {
			if !eachString(e, at.element(), given, visit) {
				return false
			}
		}
	case strictjson.Object:
		for name, m := range v.Members() {
			if !eachString(m, at.member(name), given, visit) {
				return false
			}
		}
	}
	return true
}

// Project appends the new value to dst as compact JSON and returns with it the JSON
// Pointers, into that value, of every string that is outside text. ok is false where v
// has nothing that the plan gives at its root.
func (p *Plan) Project(dst []byte, v strictjson.Value) (out []byte, untrusted []string, ok bool) {
	if !p.root.given && p.root.wanted == 0 && p.root.every == nil {
		return dst, nil, false
	}
	if !v.Exists() {
		return dst, nil, false
	}
	if dst == nil {
		dst = make([]byte, 0, min(v.End()-v.Offset(), firstRoom))
	}
	w := writer{dst: dst}
	var way [usualDepth]step
	w.value(v, &p.root, way[:0])
	return w.dst, w.untrusted, true
}

const (
	firstRoom  = 64 << 10 // bytes that are reserved at once for a projection
	usualDepth = 8
)

// writer writes the projection of one value. The way to where it is goes along beside
// it, so that it can stand on the stack.
type writer struct {
	dst       []byte
	untrusted []string
}

// step is one token of a pointer that is seldom needed.
type step struct {
	name  string
	index int // of an element; -1 where name counts
}

// note records that the string at the end of a way is outside text.
func (w *writer) note(at *place, way []step) {
	if at.fixed != "" {
		w.untrusted = append(w.untrusted, at.fixed)
		return
	}
	var usual [128]byte
	pointer := usual[:0]
	for _, s := range way {
		if s.index >= 0 {
			pointer = strconv.AppendInt(append(pointer, '/'), int64(s.index), 10)
		} else {
			pointer = strictjson.AppendToken(pointer, s.name)
		}
	}
	w.untrusted = append(w.untrusted, string(pointer))
}

// value writes what the place gives of v: all of it, or the members and elements that
// lead to given places.
func (w *writer) value(v strictjson.Value, at *place, way []step) {
	if at.given {
		w.dst = strictjson.AppendJSON(w.dst, v)
		w.noteTexts(v, at, way)
		return
	}
	switch v.Kind() {
	case strictjson.Object:
		w.object(v, at, way)
	case strictjson.Array:
		w.array(v, at, way)
	default:
		// The schema lets a scalar stand where the agent fields name members: only that
		// it is there can be told.
		w.dst = append(w.dst, "null"...)
	}
}

func (w *writer) object(v strictjson.Value, at *place, way []step) {
	var usual [16]strictjson.Value
	found := usual[:]
	if at.wanted > len(usual) {
		found = make([]strictjson.Value, at.wanted)
	}
	for name, m := range v.Members() {
		for i := range at.wanted {
			if at.names[i] == name {
				found[i] = m
				break
			}
		}
	}
	w.dst = append(w.dst, '{')
	first := true
	for i, m := range found[:at.wanted] {
		if !m.Exists() {
			continue
		}
		if !first {
			w.dst = append(w.dst, ',')
		}
		first = false
		w.dst = append(w.dst, at.quoted[i]...)
		w.value(m, at.below[i], append(way, step{at.names[i], -1}))
	}
	w.dst = append(w.dst, '}')
}

func (w *writer) array(v strictjson.Value, at *place, way []step) {
	w.dst = append(w.dst, '[')
	if at.every != nil {
		for i, e := range v.Elements() {
			if i > 0 {
				w.dst = append(w.dst, ',')
			}
			w.value(e, at.every, append(way, step{"", i}))
		}
	}
	w.dst = append(w.dst, ']')
}

// noteTexts records the text fields inside a value that is given whole.
func (w *writer) noteTexts(v strictjson.Value, at *place, way []step) {
	if at == nil {
		return
	}
	switch v.Kind() {
	case strictjson.String:
		if at.text != nil {
			w.note(at, way)
		}
	case strictjson.Array:
		if at.every == nil {
			return
		}
		for i, e := range v.Elements() {
			w.noteTexts(e, at.every, append(way, step{"", i}))
		}
	case strictjson.Object:
		for name, m := range v.Members() {
			w.noteTexts(m, at.member(name), append(way, step{name, -1}))
		}
	}
}
