package casetest

import (
	"context"
	"fmt"
	"path"

	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/gate"
)

// Difference is one member of a verdict that a case wanted of its own contract and that
// another contract gives otherwise.
type Difference struct {
	File   string // of the case, slash-separated, below the old contracts directory
	Line   int    // of the case's want, from 1
	Member string // "outcome", "data", "reason" …, as in [Fault]
	// Want is what the old contract's case expects, Got what the new contract gives. They
	// may quote data of the case's own file, never a live reply.
	Want, Got string
}

// String returns "file:line: member: expected WANT, got GOT".
func (d Difference) String() string {
	return fmt.Sprintf("%s:%d: %s: expected %s, got %s", d.File, d.Line, d.Member, d.Want, d.Got)
}

// Replay judges the cases of one contract by another one, which must be of set, and
// lists where the verdict is not what the case wants (D7). What follows from another
// member that differs (the sentence about a refusal) is left out. An error means that
// set holds no such contract.
func Replay(ctx context.Context, old, next *contract.Contract, set *gate.Set) ([]Difference, error) {
	for _, tool := range set.Tools() {
		if tool.Contract != next {
			continue
		}
		var list []Difference
		for _, c := range old.Cases {
			if c.Call != nil {
				continue // as in Run
			}
			file := path.Join(old.Dir, c.File)
			outcome, err := gate.JudgeBy(ctx, tool, call(next, c), gate.Judgement{
				Caller: caller, Now: now(c), Evidence: gate.CaseEvidence(c.Evidence),
			})
			if err != nil {
				list = append(list, Difference{file, c.Want.Line, "call", "a well-formed one", err.Error()})
				continue
			}
			for _, f := range compare(c.Want, outcome) {
				if f.Member != "detail" {
					list = append(list, Difference{file, c.Want.Line, f.Member, f.Want, f.Got})
				}
			}
		}
		return list, nil
	}
	return nil, fmt.Errorf("casetest: the set holds no contract of %s v%d to replay cases against", next.Tool, next.Version)
}
