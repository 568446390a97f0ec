// Package condition compiles and evaluates conditions written in the Common Expression
// Language (CEL). It is the only package that knows cel.dev/cel-go.
//
// # Terms
//
// A [Shape] is the type of a value as far as CEL needs to know it. [ShapeOf] derives one
// from a JSON Schema; [Record] and the scalar shapes describe what comes from elsewhere.
// [Compile] checks an expression against the shapes of its variables and returns a
// [Program]; [Program.Test] evaluates it over [Input]s and answers yes, no, or an error,
// which every caller takes as a refusal.
//
// # Types
//
// integer is int, number is double, string, boolean and null are themselves, an array is
// a list, an object whose members a schema names is a type of its own, so that a
// misspelt member is a fault at load and not a condition that never holds. An object
// that names none is a map; everything else is dyn. A member whose name is no
// identifier is written between backticks.
//
// # Exactness
//
// Values are read from the strict tree as they are needed, never through float64 maps:
// 1.0 under an integer schema is the int 1. An integer beyond int64, or a number that is
// not the shortest decimal of any double, has no faithful CEL value; the evaluation that
// meets one fails, even where && or || would have absorbed the error. A member that is
// absent is an error too, unless has() asks for it.
//
// A formula that only says where something stands (upstream.a.b[0]) never makes a CEL
// value: it copies the bytes of the input, so that numbers of any size keep their
// digits. What a formula computes goes through CEL's int and double, and is refused
// where these do not hold it exactly.
//
// # What it defends against
//
// An evaluation ends by a cost limit that counts text and nested values by their size,
// and by a clock as a second line. Conditions are pure: functions that would read the
// machine's time zone files are refused at load, and so are patterns that are no
// literals, since the data could then choose the program. Error texts hold no part of
// any value.
//
// Left out on purpose: the strings extension, whose replace can make a value many times
// the size of its inputs in one step, before any cost is counted.
package condition
