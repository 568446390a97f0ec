package main

import (
	"io"

	"github.com/hallmark-gate/hallmark/casetest"
	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/gate"
)

// What check found, for programs. The names of the members are promised.
type (
	checkReport struct {
		// Faults are why the directory is refused; then nothing else is set.
		Faults    []checkFault     `json:"faults"`
		Contracts int              `json:"contracts"`
		Digest    string           `json:"digest,omitempty"`
		Cases     int              `json:"cases"`
		Failed    int              `json:"failed"`
		Results   []checkResult    `json:"results"`
		Unreached []checkUnreached `json:"unreached"`
	}
	checkFault struct {
		File    string `json:"file"`
		Line    int    `json:"line"`   // from 1; 0: the whole file
		Column  int    `json:"column"` // from 1; 0: not known
		Message string `json:"message"`
		Cure    string `json:"cure"`
	}
	checkResult struct {
		Tool    string        `json:"tool"`
		Version int           `json:"version"`
		File    string        `json:"file"`
		Line    int           `json:"line"`
		Why     string        `json:"why"`
		Passed  bool          `json:"passed"`
		Wrong   []checkMember `json:"wrong"` // members of the verdict that are not as wanted
	}
	checkMember struct {
		Member string `json:"member"`
		Want   string `json:"want"` // "" where got only explains
		Got    string `json:"got"`
	}
	checkUnreached struct {
		Tool    string `json:"tool"`
		Version int    `json:"version"`
		Kind    string `json:"kind"`
		Name    string `json:"name"`
	}
)

// jsonReport writes one object for programs.
type jsonReport struct{ w io.Writer }

func (r jsonReport) refused(faults contract.Faults) error {
	out := checkReport{Faults: []checkFault{}, Results: []checkResult{}, Unreached: []checkUnreached{}}
	for _, f := range faults {
		out.Faults = append(out.Faults, checkFault(f))
	}
	return printObject(r.w, out)
}

func (r jsonReport) ran(report casetest.Report, set *gate.Set) error {
	out := checkReport{
		Faults: []checkFault{}, Contracts: len(set.Tools()), Digest: set.Digest(),
		Cases: len(report.Results), Failed: len(report.Failed()),
		Results: []checkResult{}, Unreached: []checkUnreached{},
	}
	for _, c := range report.Results {
		one := checkResult{
			Tool: c.Tool, Version: c.Version, File: c.File, Line: c.Line, Why: c.Why,
			Passed: c.Passed(), Wrong: []checkMember{},
		}
		for _, f := range c.Faults {
			one.Wrong = append(one.Wrong, checkMember(f))
		}
		out.Results = append(out.Results, one)
	}
	for _, u := range report.Unreached {
		out.Unreached = append(out.Unreached, checkUnreached(u))
	}
	return printObject(r.w, out)
}
