package condition

import (
	"context"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"
)

// Formulas compiles expressions that make JSON values, all over the same variables. It
// is immutable and safe for concurrent use.
type Formulas struct {
	env       *cel.Env
	provider  *provider
	variables []Variable
}

// Formula is one expression that makes a JSON value, compiled. It is immutable and safe
// for concurrent use; it runs over a [Binding] of the [Formulas] that compiled it.
type Formula struct {
	path    *route // of a pure path, which copies what stands in the input; else nil
	program cel.Program
}

// NewFormulas declares the variables. The error is a [*Fault].
func NewFormulas(variables ...Variable) (*Formulas, error) {
	env, p, err := environment(variables,
		cel.OptionalTypes(cel.OptionalTypesVersion(optionalVersion)),
		// upstream.?a of something that has no members is an error, not an absent member.
		cel.EnableErrorOnBadPresenceTest(true),
	)
	if err != nil {
		return nil, &Fault{Message: "the variables cannot be declared: " + err.Error()}
	}
	return &Formulas{env: env, provider: p, variables: variables}, nil
}

// optionalVersion has optional.of, optional.none, or, orValue, optMap and optFlatMap,
// and none of the functions of later versions that walk a whole list at a fixed price.
const optionalVersion = 1

// optionalName is what the library calls the type of optional values.
var optionalName = types.NewOptionalType(types.DynType).TypeName()

// Compile checks an expression whose value is to have the shape want; a nil want takes
// anything that JSON can hold. The error is a [*Fault]: what [Compile] refuses, a type
// that JSON or want does not have, or an outcome that depends on the order of a map.
func (f *Formulas) Compile(expr string, want *Shape) (*Formula, error) {
	tree, issues := f.env.Compile(expr)
	if issues.Err() != nil {
		return nil, firstFault(issues)
	}
	native := tree.NativeRep()
	if fault := forbidden(native); fault != nil {
		return nil, fault
	}
	if fault := unordered(native); fault != nil {
		return nil, fault
	}
	made := tree.OutputType()
	if made.Kind() == types.OpaqueKind && made.TypeName() == optionalName {
		made = made.Parameters()[0]
	}
	if !writable(made) {
		return nil, &Fault{Message: "the expression gives " + cel.FormatCELType(made) + ", which is no JSON value"}
	}
	if !fits(made, want) {
		return nil, &Fault{Message: "the expression gives " + cel.FormatCELType(made) + ", but the schema wants " + want.name() + " here"}
	}
	if p, ok := f.pathOf(native.Expr()); ok {
		return &Formula{path: p}, nil
	}
	program, err := plan(f.env, tree)
	if err != nil {
		return nil, err
	}
	return &Formula{program: program}, nil
}

// unordered finds a loop over something that may be a map written in the expression:
// such a map has no order, and two runs could disagree. Members of the inputs have the
// order of the input.
func unordered(tree *ast.AST) (fault *Fault) {
	literal := false
	var loops []ast.Expr
	ast.PreOrderVisit(tree.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		switch e.Kind() {
		case ast.MapKind:
			literal = true
		case ast.ComprehensionKind:
			switch tree.GetType(e.AsComprehension().IterRange().ID()).Kind() {
			case types.ListKind:
			default:
				loops = append(loops, e)
			}
		}
	}))
	if !literal || len(loops) == 0 {
		return nil
	}
	at := tree.SourceInfo().GetStartLocation(loops[0].ID())
	return &Fault{
		Line: at.Line(), Column: at.Column() + 1,
		Message: "a loop over what may be a map, beside a map that is written out: such a map has no order; loop over a list",
	}
}

// Binding is one set of inputs and what has been made of them. It belongs to one
// goroutine.
type Binding struct {
	arena  *arena
	inputs map[string]Input
	vars   map[string]any
	// spent is the cost of every evaluation so far; together they have one MaxCost.
	spent uint64
}

// Bind prepares one input for every variable, by name. It keeps inputs, which the
// caller must not change afterwards. Inputs that do not name every variable make every
// evaluation fail.
func (f *Formulas) Bind(inputs map[string]Input) *Binding {
	b := &Binding{arena: newArena(f.provider.names), inputs: inputs}
	if len(inputs) != len(f.variables) {
		return b
	}
	vars := make(map[string]any, len(inputs))
	for _, v := range f.variables {
		in, ok := inputs[v.Name]
		if !ok {
			return b
		}
		if in.kind != inputAbsent {
			vars[v.Name] = b.arena.value(in, v.Shape)
		}
	}
	b.vars = vars
	return b
}

// Append appends the value as compact JSON to dst, which does not grow beyond limit
// bytes in length. present is false where the expression gave optional.none(). With an
// error, an [*Error], dst has its old length.
//
// A pure path (upstream.a.b[0], upstream.?a.b) copies what stands in the input byte for
// byte, numbers of any size included. Everything else is computed and then written: an
// int as its digits, a double as the shortest decimal that is the same double, members
// of a map in byte order of their names; an array or object of an input that a
// computation handed through stands as it came.
//
// The evaluations over one binding together cost at most [MaxCost] and the last of
// them; the caller bounds their time by ctx.
func (f *Formula) Append(ctx context.Context, dst []byte, limit int, b *Binding) (out []byte, present bool, err error) {
	if f == nil || b == nil || b.vars == nil || (f.path == nil && f.program == nil) {
		return dst, false, &Error{NoProgram}
	}
	if ctx.Err() != nil {
		return dst, false, &Error{Interrupted}
	}
	if f.path != nil {
		return f.path.append(dst, limit, b)
	}
	b.arena.unfaithful = false
	value, details, err := f.program.ContextEval(ctx, b.vars)
	if err != nil {
		return dst, false, &Error{b.arena.cause(ctx, err)}
	}
	if cost := details.ActualCost(); cost != nil {
		b.spent += *cost
	}
	if b.spent > MaxCost {
		return dst, false, &Error{CostLimit}
	}
	if o, is := value.(*types.Optional); is {
		if !o.HasValue() && !b.arena.unfaithful {
			return dst, false, nil
		}
		value = o.GetValue()
	}
	w := writer{arena: b.arena, dst: dst, limit: limit}
	w.value(value, 0)
	switch {
	case b.arena.unfaithful:
		return dst, false, &Error{Unfaithful}
	case w.cause != 0:
		return dst, false, &Error{w.cause}
	}
	return w.dst, true, nil
}
