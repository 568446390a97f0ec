package semantic

import "github.com/hallmark-gate/hallmark/validators"

// Builtins returns every kind of check of this package. The slice is the caller's.
func Builtins() []validators.CheckKind {
	return []validators.CheckKind{
		{Use: "equals", Compile: compileEquals},
		{Use: "fresh", Compile: compileFresh},
		{Use: "listed", Compile: compileListed},
		{Use: "signature", Compile: compileSignature},
		{Use: "after", Compile: compileAfter},
		{Use: "cel", Compile: compileCEL},
	}
}
