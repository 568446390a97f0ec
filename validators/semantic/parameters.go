package semantic

import (
	"slices"
	"time"

	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/validators"
	"github.com/hallmark-gate/hallmark/validators/condition"
	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// maxDuration bounds max_age and max_skew: ten years of 365 days. Instants minus it stay
// far inside what a time.Time holds.
const maxDuration = 10 * 365 * 24 * time.Hour

// parameters reads one object of parameters. The first fault is kept, and what is read
// after it is worth nothing.
type parameters struct {
	path   string // "" or the parameter that this object is the value of, with a dot
	object strictjson.Value
	known  []string
	fault  *validators.ParameterError
}

func read(with strictjson.Value) *parameters {
	p := &parameters{object: with}
	if with.Kind() != strictjson.Object {
		p.fail("", "no parameters", "give an object")
	}
	return p
}

func (p *parameters) fail(name, message, cure string) {
	if p.fault == nil {
		p.fault = &validators.ParameterError{Parameter: p.path + name, Message: message, Cure: cure}
	}
}

// get returns a parameter and notes that it is known.
func (p *parameters) get(name string) strictjson.Value {
	p.known = append(p.known, name)
	return p.object.Member(name)
}

func (p *parameters) has(name string) bool { return p.object.Member(name).Exists() }

// typed returns a required parameter of one kind.
func (p *parameters) typed(name string, kind strictjson.Kind) strictjson.Value {
	v := p.get(name)
	switch {
	case !v.Exists():
		p.fail(name, "the parameter is missing", "add it")
	case v.Kind() != kind:
		p.fail(name, "the parameter is of type "+v.Kind().String(), "give "+article(kind)+kind.String())
	default:
		return v
	}
	return strictjson.Value{}
}

func article(k strictjson.Kind) string {
	if k == strictjson.Array || k == strictjson.Object {
		return "an "
	}
	return "a "
}

// text returns a required string that is not empty.
func (p *parameters) text(name string) string {
	s := p.typed(name, strictjson.String).Text()
	if s == "" {
		p.fail(name, "the parameter is empty", "give a value")
	}
	return s
}

// pointer returns a required JSON Pointer to something that shape may have.
func (p *parameters) pointer(name string, shape *condition.Shape) strictjson.Pointer {
	v := p.typed(name, strictjson.String)
	if !v.Exists() {
		return nil
	}
	return p.parsePointer(name, v.Text(), shape)
}

func (p *parameters) parsePointer(name, text string, shape *condition.Shape) strictjson.Pointer {
	pointer, err := strictjson.ParsePointer(text)
	if err != nil {
		p.fail(name, "the parameter is no JSON Pointer", `write it like "/project_id"`)
		return nil
	}
	if !shape.Allows(pointer) {
		p.fail(name, "the schema has nothing at this pointer", "point to a member that the schema names; an array element is named by its index")
		return nil
	}
	return pointer
}

// duration returns a required duration greater than zero.
func (p *parameters) duration(name string) time.Duration {
	d := p.allowance(name)
	if d == 0 && p.has(name) {
		p.fail(name, "the duration is not greater than zero", "give a positive duration")
	}
	return d
}

// allowance returns a required duration of zero or more.
func (p *parameters) allowance(name string) time.Duration {
	v := p.typed(name, strictjson.String)
	if !v.Exists() {
		return 0
	}
	d, err := time.ParseDuration(v.Text())
	switch {
	case err != nil:
		p.fail(name, "the parameter is no duration", `write it like "5m" or "1h30m"`)
	case d < 0:
		p.fail(name, "the duration is negative", "give a duration from 0s on")
	case d > maxDuration:
		p.fail(name, "the duration is longer than ten years", "give at most 87600h")
	default:
		return d
	}
	return 0
}

// texts returns a required list of different strings, none empty, at least one.
func (p *parameters) texts(name string) []string {
	list := p.typed(name, strictjson.Array)
	if !list.Exists() {
		return nil
	}
	texts := make([]string, 0, list.Len())
	for _, e := range list.Elements() {
		if e.Kind() != strictjson.String || e.Text() == "" || slices.Contains(texts, e.Text()) {
			p.fail(name, "an element is no string, empty or repeated", "list different strings")
			return nil
		}
		texts = append(texts, e.Text())
	}
	if len(texts) == 0 {
		p.fail(name, "the list is empty", "list at least one")
	}
	return texts
}

// sub returns the reader of a required parameter that is an object itself.
func (p *parameters) sub(name string) *parameters {
	s := &parameters{path: p.path + name + ".", object: p.typed(name, strictjson.Object), fault: p.fault}
	return s
}

// join takes over the fault of a sub-object, unknown members included.
func (p *parameters) join(s *parameters) {
	if err := s.done(); err != nil && p.fault == nil {
		p.fault = s.fault
	}
}

// oneOf fails unless exactly one of the names is given, and returns it.
func (p *parameters) oneOf(a, b string) string {
	p.known = append(p.known, a, b)
	switch {
	case p.has(a) && p.has(b):
		p.fail(b, "the parameter excludes "+a, "keep one of the two")
	case !p.has(a) && !p.has(b):
		p.fail(a, "the parameter is missing", "give "+a+" or "+b)
	case p.has(a):
		return a
	}
	return b
}

// done returns the first fault; a parameter that nobody asked for is one.
func (p *parameters) done() error {
	for name := range p.object.Members() {
		if !slices.Contains(p.known, name) {
			p.fail(name, "no such parameter", "remove it")
		}
	}
	if p.fault != nil {
		return p.fault
	}
	return nil
}

// refuse makes a failure.
func refuse(reason contract.Reason, at strictjson.Pointer, detail string) *validators.CheckFailure {
	return &validators.CheckFailure{Reason: reason, At: at, Detail: detail}
}
