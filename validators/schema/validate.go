package schema

import (
	"context"
	"errors"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// ErrBudget says that evaluation was ended before it had an answer. It becomes the
// refusal EVALUATION_BUDGET.
var ErrBudget = errors.New("schema: evaluation was ended before it had an answer")

// BudgetError is the only error of [Schema.Validate]. It matches [ErrBudget], and the
// error of the context where that ended the evaluation.
type BudgetError struct {
	Cause error // the context's error; nil where the budget was spent
}

// Error returns a fixed sentence.
func (e *BudgetError) Error() string { return ErrBudget.Error() }

// Unwrap returns ErrBudget and the cause.
func (e *BudgetError) Unwrap() []error {
	if e.Cause == nil {
		return []error{ErrBudget}
	}
	return []error{ErrBudget, e.Cause}
}

// The default budget: what any value may cost, and what each of its values and each
// code point of its strings adds. A visit takes some tens of nanoseconds.
const (
	baseBudget  = 300_000
	nodeBudget  = 200
	charBudget  = 64
	mostBudget  = 20_000_000
	pollContext = 1 << 12 // visits between two looks at the context
)

// maxNesting bounds the recursion of one evaluation, which is at most the depth of
// the instance times the length of the longest chain of locations in place.
const maxNesting = 20_000

// Validate judges v. No failures and no error: v conforms. The failures are ordered
// by their place in the input, then by schema path; there are at most [MaxFailures]
// of them, the first ones. The error is a [*BudgetError] or nil; with an error there
// is no verdict.
//
// Without [Options.Budget] the budget grows with the size of v, to a ceiling of about
// a second. An absent v conforms to nothing.
func (s *Schema) Validate(ctx context.Context, v strictjson.Value) ([]Failure, error) {
	if !v.Exists() {
		return []Failure{{At: strictjson.Pointer{}, Keyword: "type", SchemaPath: s.root.place}}, nil
	}
	r := s.newRun(ctx, v)
	if err := ctx.Err(); err != nil {
		return nil, &BudgetError{Cause: err}
	}
	out := &r.out
	valid := r.eval(s.root, v, nil, nil, out)
	if r.stopped != nil {
		return nil, r.stopped
	}
	if valid {
		return nil, nil
	}
	return r.out.failures(v), nil
}

// newRun begins an evaluation of v with a fresh budget.
func (s *Schema) newRun(ctx context.Context, v strictjson.Value) run {
	r := run{ctx: ctx, left: s.budget, value: v, poll: pollContext}
	if s.budget == 0 {
		r.grows = true
		r.left = min(baseBudget+nodeBudget*int64(v.Size()), mostBudget)
		r.granted = r.left
	}
	return r
}

// run is the state of one evaluation.
type run struct {
	ctx     context.Context // ends with the evaluation, never kept
	value   strictjson.Value
	left    int64 // of the budget
	granted int64
	grows   bool // the allowance for strings has not been added yet
	poll    int64
	nesting int
	stopped *BudgetError
	out     sink
	active  map[visit]struct{} // visits of cyclic locations that are going on
	orders  [orderSlots]order
}

// visit is one application of a location.
type visit struct {
	location *location
	value    strictjson.Value
}

// spend takes work from the budget and reports whether evaluation may go on.
func (r *run) spend(work int64) bool {
	if r.stopped == nil && work <= r.left && work <= r.poll {
		r.left -= work
		r.poll -= work
		return true
	}
	return r.spendLast(work)
}

// spendLast is spend where something ends: the budget, or the work until the context is
// looked at again.
func (r *run) spendLast(work int64) bool {
	if r.stopped != nil {
		return false
	}
	r.left -= work
	if r.left < 0 && !r.grow() {
		r.stopped = &BudgetError{}
		return false
	}
	if r.poll -= work; r.poll < 0 {
		r.poll = pollContext
		if err := r.ctx.Err(); err != nil {
			r.stopped = &BudgetError{Cause: err}
			return false
		}
	}
	return true
}

// grow adds the allowance for the text in the value, once. It is put off because
// counting the text costs a walk that most evaluations do not need.
func (r *run) grow() bool {
	if !r.grows {
		return false
	}
	r.grows = false
	more := min(r.granted+charBudget*textOf(r.value), mostBudget) - r.granted
	r.left += more
	return r.left >= 0
}

// textOf counts the code points of all strings in v, names left out.
func textOf(v strictjson.Value) int64 {
	n := int64(v.Chars())
	if v.Len() == 0 {
		return n
	}
	for _, e := range v.Elements() {
		n += textOf(e)
	}
	for _, m := range v.Members() {
		n += textOf(m)
	}
	return n
}
