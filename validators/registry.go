package validators

import (
	"errors"
	"fmt"
	"path"

	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/validators/condition"
	"github.com/hallmark-gate/hallmark/validators/projection"
	"github.com/hallmark-gate/hallmark/validators/schema"
	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// Reader turns received bytes into one value, for a tool whose replies the strict JSON
// reader cannot read. It refuses whatever it does not wholly understand, stays within
// the limits, keeps neither raw nor any state, and is safe for concurrent use. What it
// returns still goes through the contract's framing, schema, checks and projection.
type Reader interface {
	// Read returns the value, or a rejection; the value then does not count. raw is nil
	// where there was no payload at all, though the reply counts as one.
	Read(raw []byte, limits strictjson.Limits) (strictjson.Value, *Rejection)
}

// Registry knows how contracts are judged: the kinds of semantic checks, and readers
// coded in Go. Fill it before the first Compile; it is then safe for concurrent use.
type Registry struct {
	kinds   map[string]CheckKind
	readers map[toolVersion]Reader
}

type toolVersion struct {
	tool    string
	version int
}

// NewRegistry returns a registry that knows the given kinds of checks. A name given
// twice is an error: nothing is ever overwritten in silence. So is a schema engine that
// does not prove, on fixtures of its own, that it closes objects and asserts formats
// (A9, A12): a build that judges wrongly does not start.
func NewRegistry(kinds []CheckKind) (*Registry, error) {
	if err := schema.SelfTest(); err != nil {
		return nil, err
	}
	r := &Registry{kinds: make(map[string]CheckKind, len(kinds)), readers: map[toolVersion]Reader{}}
	for _, k := range kinds {
		if _, taken := r.kinds[k.Use]; taken || k.Use == "" || k.Compile == nil {
			return nil, fmt.Errorf("validators: check %q is registered twice, or without a name or a compiler", k.Use)
		}
		r.kinds[k.Use] = k
	}
	return r, nil
}

// RegisterReader makes reader read the replies of one version of a tool. The contract
// must be there when the set is compiled.
func (r *Registry) RegisterReader(tool string, version int, reader Reader) error {
	key := toolVersion{tool, version}
	if _, taken := r.readers[key]; taken || reader == nil {
		return fmt.Errorf("validators: the reader of %s v%d is registered twice, or nil", tool, version)
	}
	r.readers[key] = reader
	return nil
}

// Compile compiles every contract of a tree. The error is a [contract.Faults] with all
// faults at once; there is then no set at all.
func (r *Registry) Compile(tree *contract.Tree) (*Set, error) {
	set := &Set{digest: tree.Digest, byName: map[string]*served{}}
	var faults contract.Faults
	unread := make(map[toolVersion]bool, len(r.readers))
	for key := range r.readers {
		unread[key] = true
	}
	for _, c := range tree.Contracts {
		delete(unread, toolVersion{c.Tool, c.Version})
		t, f := r.compile(c)
		faults = append(faults, f...)
		if len(f) == 0 {
			set.add(t, tree)
		}
	}
	for key := range unread {
		faults = append(faults, contract.Fault{
			File:    ".",
			Message: fmt.Sprintf("a reader is registered for %s v%d, which has no contract", key.tool, key.version),
			Cure:    "add the contract, or take the reader out of the composition root",
		})
	}
	if len(faults) > 0 {
		return nil, faults.Sort()
	}
	set.describe()
	return set, nil
}

// compile compiles one contract.
func (r *Registry) compile(c *contract.Contract) (*Tool, contract.Faults) {
	t := &Tool{
		Contract: c, read: r.readers[toolVersion{c.Tool, c.Version}],
		framing: framingOf(c), links: linksOf(&c.Result), plan: planOf(&c.Result),
	}
	var faults contract.Faults
	var fault *contract.Fault
	if t.read == nil {
		if t.read, fault = readerOf(c); fault != nil {
			faults = append(faults, *fault)
		}
	}
	if _, coded := r.readers[toolVersion{c.Tool, c.Version}]; coded && c.Result.Text != nil {
		faults = append(faults, contract.Fault{
			File: path.Join(c.Dir, "contract.yaml"), Message: "a reader is registered for a result of kind text, which makes no value",
			Cure: "take the reader out of the composition root, or say kind: json",
		})
	}
	if t.payload, fault = compileSchema(c, c.Result.Schema); fault != nil {
		faults = append(faults, *fault)
	}
	var wrong contract.Faults
	t.adapter, wrong = compileAdapter(c)
	faults = append(faults, wrong...)
	if c.Arguments != nil {
		if t.arguments, fault = compileSchema(c, c.Arguments.Schema); fault != nil {
			faults = append(faults, *fault)
		}
		t.argumentShape = shapeOf(c.Arguments.Schema)
	}
	for _, spec := range c.Result.Checks {
		check, err := r.compileCheck(c, t.argumentShape, spec)
		if err != nil {
			faults = append(faults, contract.Fault{
				File: path.Join(c.Dir, "contract.yaml"), Line: spec.Line, Column: spec.Column,
				Message: fmt.Sprintf("check %s: %v", spec.Name, err),
			})
			continue
		}
		t.checks = append(t.checks, namedCheck{spec.Name, check})
	}
	return t, faults
}

// planOf compiles what the agent gets of a payload.
func planOf(r *contract.Result) *projection.Plan {
	texts := make([]projection.TextField, len(r.TextFields))
	for i, f := range r.TextFields {
		texts[i] = projection.TextField{
			At: f.At, MaxChars: f.MaxChars, Profile: profileOf(f.Profile),
			HTML: f.As == contract.AsHTML, Link: f.As == contract.AsURL,
		}
	}
	return projection.New(r.AgentFields, texts)
}

func (r *Registry) compileCheck(c *contract.Contract, arguments *condition.Shape, spec contract.Check) (Check, error) {
	kind, known := r.kinds[spec.Use]
	if !known {
		return nil, errors.New("no check has this name")
	}
	context := CheckContext{With: spec.With, Files: c.Files}
	context.Result = shapeOf(c.Result.Schema)
	context.Arguments = arguments
	return kind.Compile(context)
}

// compileSchema compiles a schema of the contract's folder; a nil schema gives nil.
func compileSchema(c *contract.Contract, s *contract.Schema) (*schema.Schema, *contract.Fault) {
	if s == nil {
		return nil, nil
	}
	compiled, err := schema.Compile(s.Files, s.File, schema.Options{Formats: schema.Assert})
	if err == nil {
		return compiled, nil
	}
	fault := &contract.Fault{File: path.Join(c.Dir, s.File), Message: err.Error()}
	var at *schema.CompileError
	if errors.As(err, &at) {
		fault.File = path.Join(c.Dir, at.File)
		fault.Message = fmt.Sprintf("at %q: %s", at.Pointer, at.Detail)
	}
	return nil, fault
}
