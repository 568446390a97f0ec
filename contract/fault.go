package contract

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Fault is one thing that is wrong in a contracts directory, or in a policies directory.
type Fault struct {
	// File is slash-separated, below the contracts directory; of a file of the policies
	// directory it is policies/ and its path there.
	File   string
	Line   int // from 1; 0 where the whole file is meant
	Column int // from 1, in code points; 0 where unknown
	// Message says what is wrong, and Cure what to do about it; both are sentences
	// without the payload of any case.
	Message string
	Cure    string
}

// String returns "file:line:column: message (cure)".
func (f Fault) String() string {
	var b strings.Builder
	b.WriteString(f.File)
	if f.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", f.Line, max(f.Column, 1))
	}
	b.WriteString(": ")
	b.WriteString(f.Message)
	if f.Cure != "" {
		fmt.Fprintf(&b, " (%s)", f.Cure)
	}
	return b.String()
}

// Faults is every fault of a directory at once, sorted by file and place. As an error
// it means that nothing of the directory may be served.
type Faults []Fault

// below reports whether a fault lies in a folder.
func (f Faults) below(dir string) bool {
	return slices.ContainsFunc(f, func(x Fault) bool {
		return x.File == dir || strings.HasPrefix(x.File, dir+"/")
	})
}

// Error lists the faults, one a line.
func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i := range f {
		lines[i] = f[i].String()
	}
	return strings.Join(lines, "\n")
}

// Sort orders faults by file, line and column and drops repetitions.
func (f Faults) Sort() Faults {
	slices.SortStableFunc(f, func(a, b Fault) int {
		return cmp.Or(
			strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Column, b.Column), strings.Compare(a.Message, b.Message),
		)
	})
	return slices.Compact(f)
}
