package schema

import (
	"slices"
	"strings"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// MaxFailures is the number of failures that one evaluation reports at most.
const MaxFailures = 5

// Failure is one way in which a value does not conform. It holds places and keywords,
// no value; the names in At are the instance's and may be anything.
type Failure struct {
	// At points into the value that was judged. A missing member and a member that
	// must not be there have their own pointers.
	At strictjson.Pointer
	// Keyword is the keyword that failed. A schema false has the keyword that holds
	// it (additionalProperties, unevaluatedProperties, properties, …), and "false" as
	// the root.
	Keyword string
	// SchemaPath is the JSON Pointer of the failing keyword where it really stands,
	// after references. In another file than the root it is "file#pointer".
	SchemaPath string
}

// found is a failure before its pointer is made.
type found struct {
	value   strictjson.Value
	missing string // name of a missing member of value
	absent  bool   // missing says something
	order   int    // among failures of one keyword at one place
	keyword string
	path    string
}

// place is where in the input the failure shows: a missing member where its object
// ends without it.
func (f *found) place() int {
	if f.absent {
		return f.value.End()
	}
	return f.value.Offset()
}

func (f *found) compare(g *found) int {
	if d := f.place() - g.place(); d != 0 {
		return d
	}
	if d := strings.Compare(f.path, g.path); d != 0 {
		return d
	}
	return f.order - g.order
}

// sink keeps the first failures in order. A nil sink keeps nothing: then only the
// verdict matters, and evaluation ends at the first failure.
type sink struct{ first []found }

// add keeps f where it is among the first. A failure that two ways through the schema
// find is kept once.
func (s *sink) add(f found) {
	if s == nil {
		return
	}
	i, same := slices.BinarySearchFunc(s.first, f, func(a, b found) int { return a.compare(&b) })
	if same || i == MaxFailures {
		return
	}
	if len(s.first) == MaxFailures {
		s.first = s.first[:MaxFailures-1]
	}
	s.first = slices.Insert(s.first, i, f)
}

// done reports whether no failure in v or behind it can be among the first any more.
func (s *sink) done(v strictjson.Value) bool {
	return s == nil || (len(s.first) == MaxFailures && s.first[MaxFailures-1].place() < v.Offset())
}

// failures makes the pointers, relative to v.
func (s *sink) failures(v strictjson.Value) []Failure {
	base := len(v.Path())
	out := make([]Failure, 0, len(s.first))
	for _, f := range s.first {
		at := f.value.Path()[base:]
		if f.absent {
			at = at.Append(f.missing)
		}
		out = append(out, Failure{At: at, Keyword: f.keyword, SchemaPath: f.path})
	}
	return out
}

// fail notes that a keyword of l failed at v. It returns false, the verdict.
func (s *sink) fail(l *location, keyword string, v strictjson.Value) bool {
	if s != nil {
		s.add(found{value: v, keyword: keyword, path: l.place + "/" + keyword})
	}
	return false
}

// refuse notes that l is the schema false.
func (s *sink) refuse(l *location, v strictjson.Value) bool {
	if s != nil {
		keyword := l.via
		if keyword == "" {
			keyword = "false"
		}
		s.add(found{value: v, keyword: keyword, path: l.place})
	}
	return false
}
