package condition

import (
	"errors"
	"fmt"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/cost"
	"cel.dev/cel-go/common/types"
)

// Limits of an expression and of its evaluation. They bound what the author of a
// contract or a policy can ask for, and what data can make of it.
const (
	// MaxExpressionChars is the length of an expression in code points.
	MaxExpressionChars = 10_000
	// MaxCost bounds one evaluation. One unit is about one operation, one value that is
	// compared, or ten bytes of text that are looked at.
	MaxCost = 1_000_000

	maxExpressionDepth = 64
	maxExpressionNodes = 10_000
	maxPatternProgram  = 2_000 // instructions of a compiled pattern
	interruptEvery     = 64    // iterations between two looks at the context
)

// Variable is a name that an expression may use, with the shape of its value.
type Variable struct {
	Name  string
	Shape *Shape
}

// Fault is what is wrong with an expression, at load.
type Fault struct {
	Line, Column int // in the expression, from 1; 0 where the whole is meant
	Message      string
}

// Error returns place and message.
func (f *Fault) Error() string {
	if f.Line == 0 {
		return f.Message
	}
	return fmt.Sprintf("%d:%d: %s", f.Line, f.Column, f.Message)
}

// Program is a condition, compiled. It is immutable and safe for concurrent use.
type Program struct {
	program   cel.Program
	names     map[*Shape]string
	variables []Variable
}

// Compile checks an expression over variables. The error is a [*Fault]: bad syntax, a
// name or a member that is not declared, types that do not fit, a result that can be no
// bool, or one of the functions that are left out.
func Compile(expr string, variables ...Variable) (*Program, error) {
	env, provider, err := environment(variables)
	if err != nil {
		return nil, &Fault{Message: "the variables cannot be declared: " + err.Error()}
	}
	tree, issues := env.Compile(expr)
	if issues.Err() != nil {
		return nil, firstFault(issues)
	}
	if t := tree.OutputType(); !t.IsExactType(cel.BoolType) && !t.IsExactType(cel.DynType) {
		return nil, &Fault{Message: "the expression is no condition: its type is " + cel.FormatCELType(t) + ", expected is bool"}
	}
	if f := forbidden(tree.NativeRep()); f != nil {
		return nil, f
	}
	program, err := plan(env, tree)
	if err != nil {
		return nil, err
	}
	return &Program{program: program, names: provider.names, variables: variables}, nil
}

// plan makes a checked expression ready to run, within the limits of this package.
func plan(env *cel.Env, tree *cel.Ast) (cel.Program, error) {
	program, err := env.Program(tree,
		cel.EvalOptions(cel.OptOptimize),
		cel.CostTracking(prices{}),
		cel.CostLimit(MaxCost),
		cel.InterruptCheckFrequency(interruptEvery),
	)
	if err != nil {
		return nil, &Fault{Message: "the expression cannot be planned: " + err.Error()}
	}
	return program, nil
}

func environment(variables []Variable, more ...cel.EnvOption) (*cel.Env, *provider, error) {
	registry, err := types.NewRegistry()
	if err != nil {
		return nil, nil, err
	}
	p := newProvider(registry)
	// What more brings declares types of its own, which only the registry takes.
	options := append([]cel.EnvOption{cel.CustomTypeAdapter(registry), cel.CustomTypeProvider(registry)}, more...)
	options = append(options,
		cel.CustomTypeProvider(p),
		cel.CostSizingStrategy(cost.AggregateSizingStrategy(
			types.SizeCalculatorMaxDepth(maxExpressionDepth),
			types.SizeCalculatorMaxTraversal(MaxCost/10),
		)),
		cel.CrossTypeNumericComparisons(true),
		cel.EnableIdentifierEscapeSyntax(),
		cel.ParserExpressionSizeLimit(MaxExpressionChars),
		cel.ParserRecursionLimit(maxExpressionDepth),
		cel.ExpressionNodeLimit(maxExpressionNodes),
		cel.RegexProgramSizeLimit(maxPatternProgram),
		cel.ASTValidators(
			cel.ValidateRegexLiterals(), cel.ValidateDurationLiterals(), cel.ValidateTimestampLiterals(),
		),
	)
	seen := map[string]bool{}
	for _, v := range variables {
		if v.Name == "" || seen[v.Name] {
			return nil, nil, errors.New("a variable without a name of its own")
		}
		seen[v.Name] = true
		options = append(options, cel.Variable(v.Name, p.declare(v.Shape, v.Name)))
	}
	env, err := cel.NewEnv(options...)
	return env, p, err
}

func firstFault(issues *cel.Issues) *Fault {
	for _, e := range issues.Errors() {
		return &Fault{
			Line: e.Location.Line(), Column: e.Location.Column() + 1,
			Message: strings.TrimPrefix(e.Message, "Syntax error: "),
		}
	}
	return &Fault{Message: "the expression does not compile"}
}

// forbidden finds calls whose outcome would depend on more than their inputs, or whose
// program the data would choose.
func forbidden(tree *ast.AST) (fault *Fault) {
	ast.PreOrderVisit(tree.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.CallKind || fault != nil {
			return
		}
		call := e.AsCall()
		message := ""
		switch name := call.FunctionName(); {
		case name == "matches":
			args := call.Args()
			if len(args) == 0 || args[len(args)-1].Kind() != ast.LiteralKind {
				message = "the pattern of matches must be a literal string"
			}
		case strings.HasPrefix(name, "get") && len(call.Args()) > 0:
			message = name + " takes no time zone here: zones come from files of the machine; instants are in UTC"
		}
		if message != "" {
			at := tree.SourceInfo().GetStartLocation(e.ID())
			fault = &Fault{Line: at.Line(), Column: at.Column() + 1, Message: message}
		}
	}))
	return fault
}
