// Package casetest runs the cases of contracts through the gate, the same way that a
// live reply goes (A22). The command line, the tests and the start of the service all
// use it: a contract whose own cases fail is not served.
//
// A case passes when the verdict is the wanted one in every member that the case
// names. The package is pure: no clock but the case's, no I/O.
package casetest

import (
	"context"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/gate"
)

// Result is what one case came to.
type Result struct {
	Tool    string
	Version int
	File    string // slash-separated, below the contracts directory
	Line    int    // of the case's want, from 1
	Why     string // the case's own sentence
	// Faults say what was expected and what came instead; empty where the case passed.
	// They may quote data that the contract's own case file holds, never a live reply.
	Faults []Fault
}

// Unwanted names the members of the verdict that are not as wanted, without any value;
// empty where the case passed.
func (r Result) Unwanted() []string {
	var names []string
	for _, f := range r.Faults {
		if f.Member != "detail" { // it explains the others
			names = append(names, f.Member)
		}
	}
	return names
}

// Fault is one member of a verdict that is not as wanted.
type Fault struct {
	Member string
	Want   string // "" where Got only explains
	Got    string
}

// Passed reports whether the verdict was the wanted one.
func (r Result) Passed() bool { return len(r.Faults) == 0 }

// String describes a case that failed in one block, and one that passed in one line.
func (r Result) String() string {
	if r.Passed() {
		return fmt.Sprintf("ok   %s", r.File)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "FAIL %s:%d (%s v%d)\n", r.File, r.Line, r.Tool, r.Version)
	if r.Why != "" {
		fmt.Fprintf(&b, "     why       %s\n", r.Why)
	}
	for _, f := range r.Faults {
		if f.Want != "" {
			fmt.Fprintf(&b, "     %-9s expected %s\n     %-9s got      %s\n", f.Member, f.Want, "", f.Got)
		} else {
			fmt.Fprintf(&b, "     %-9s %s\n", f.Member, f.Got)
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Report is what all cases of a set came to, and what no case reaches.
type Report struct {
	Results []Result
	// Unreached names what no case of a contract reaches: its checks, its failure
	// codes, its agent fields.
	Unreached []Unreached
}

// Unreached is a promise of a contract that none of its cases looks at.
type Unreached struct {
	Tool    string
	Version int
	Kind    string // "check", "failure code" or "agent field"
	// Name is the promise's own; of a check whose name another one has too, followed by
	// its place: "equals (contract.yaml:24:7)".
	Name string
}

// Failed returns the cases that failed.
func (r Report) Failed() []Result {
	var failed []Result
	for _, c := range r.Results {
		if !c.Passed() {
			failed = append(failed, c)
		}
	}
	return failed
}

// String lists every case that failed, what no case reaches, and a summary.
func (r Report) String() string {
	var b strings.Builder
	for _, c := range r.Failed() {
		fmt.Fprintln(&b, c)
	}
	for _, u := range r.Unreached {
		fmt.Fprintf(&b, "note %s v%d: no case reaches %s %s\n", u.Tool, u.Version, u.Kind, u.Name)
	}
	fmt.Fprintf(&b, "%d cases, %d failed", len(r.Results), len(r.Failed()))
	return b.String()
}

// Run runs every case of every contract of a set, live or not.
func Run(ctx context.Context, set *gate.Set) Report {
	var report Report
	for _, tool := range set.Tools() {
		seen := newReach(tool.Contract)
		for _, c := range tool.Contract.Cases {
			r := Result{
				Tool: tool.Contract.Tool, Version: tool.Contract.Version,
				File: path.Join(tool.Contract.Dir, c.File), Line: c.Want.Line, Why: c.Why,
			}
			if c.Call != nil {
				r.Faults = decided(ctx, set, tool, c)
			} else {
				r.Faults = judged(ctx, tool, c, seen)
			}
			report.Results = append(report.Results, r)
		}
		report.Unreached = append(report.Unreached, seen.missing()...)
	}
	return report
}

// judged runs a case about a reply.
func judged(ctx context.Context, tool *gate.Tool, c contract.Case, seen *reach) []Fault {
	outcome, err := gate.JudgeBy(ctx, tool, call(tool.Contract, c), gate.Judgement{
		Caller: caller, Now: now(c), Evidence: gate.CaseEvidence(c.Evidence),
	})
	if err != nil {
		return []Fault{{"call", "a well-formed one", err.Error()}}
	}
	seen.note(outcome)
	return compare(c.Want, outcome)
}

// caller is who reports the replies of cases. It may ask for sources, so that a case can
// show what the contract says to that.
var caller = gate.Caller{Tenant: "case", Name: "case", Operator: true, RawReader: true}

// noTime is the clock of cases that look at no time; any instant does.
var noTime = time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)

func now(c contract.Case) time.Time {
	if c.Now.IsZero() {
		return noTime
	}
	return c.Now
}

// madeUpID is the request id of cases that name none.
const madeUpID = "case-request-0001"

func call(c *contract.Contract, k contract.Case) gate.Call {
	id := k.Request.RequestID
	if id == "" {
		id = madeUpID
	}
	return gate.Call{
		Raw: k.Raw,
		Request: gate.Request{
			Tool: c.Tool, ContractVersion: c.Version, RequestID: id,
			ArgumentsJSON: k.Request.Arguments, SessionID: k.Request.SessionID, CallID: k.Request.CallID,
			Attempt: k.Request.Attempt, IssuedAt: k.Request.IssuedAt, FirstAttemptAt: k.Request.FirstAttemptAt,
		},
		Upstream: gate.Upstream{
			Source: k.Upstream.Source, MediaType: k.Upstream.MediaType, Adapter: k.Upstream.Adapter,
			Redirects: k.Upstream.Redirects, RetryAfter: k.Upstream.RetryAfter, Status: status(k.Upstream),
			RawSource: k.Upstream.RawSource,
		},
	}
}

func status(u contract.CaseUpstream) gate.Status {
	switch {
	case u.HTTPStatus != nil:
		return gate.Status{Kind: gate.StatusHTTP, Code: *u.HTTPStatus}
	case u.ExitCode != nil:
		return gate.Status{Kind: gate.StatusExit, Code: *u.ExitCode}
	case u.GRPCStatus != nil:
		return gate.Status{Kind: gate.StatusGRPC, Code: *u.GRPCStatus}
	case u.JSONRPCError != nil:
		return gate.Status{Kind: gate.StatusJSONRPC, Code: *u.JSONRPCError}
	case u.TransportError != "":
		return gate.Status{Kind: gate.StatusTransport, Transport: u.TransportError}
	case u.ToolRaised:
		return gate.Status{Kind: gate.StatusRaised}
	}
	return gate.Status{}
}
