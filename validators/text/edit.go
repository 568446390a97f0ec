package text

import "strings"

// edit builds a changed copy of src out of replacements made from left to
// right. As long as there are none it copies nothing.
type edit struct {
	src  string
	out  strings.Builder
	done int // src[:done] is already in out or replaced
}

// replace puts with in the place of src[from:to]. The range must not be empty
// nor begin before the end of the one before it, and with must not be longer
// than the range, so that the first allocation is the only one.
func (e *edit) replace(from, to int, with string) {
	if e.done == 0 {
		e.out.Grow(len(e.src))
	}
	e.out.WriteString(e.src[e.done:from])
	e.out.WriteString(with)
	e.done = to
}

// result returns the changed copy, or src itself where nothing was replaced.
func (e *edit) result() string {
	if e.done == 0 {
		return e.src
	}
	e.out.WriteString(e.src[e.done:])
	return e.out.String()
}
