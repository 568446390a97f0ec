package contract

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

var mentionsNow = regexp.MustCompile(`\bnow\b`)

// looksAtTime reports whether a verdict can depend on the clock.
func (r *Result) looksAtTime() bool {
	return slices.ContainsFunc(r.Checks, func(c Check) bool {
		switch c.Use {
		case useFresh, useSignature, useAfter:
			return true
		case useCEL:
			return mentionsNow.MatchString(c.With.Member("expr").Text())
		}
		return false
	})
}

// lint holds a case against its contract.
func (d *caseDraft) lint(c *Contract) {
	if d.Now.IsZero() && c.Result.looksAtTime() {
		d.faultAt(place{1, 1}, "", "now is missing; the contract has a check that looks at time")
	}
	if d.accepted {
		d.lintAccepted(c.Result.Kind)
	}
	check := d.Want.Check
	known := func(k Check) bool { return k.Name == check }
	if check != "" && check != c.Result.Framing.binding() && check != CheckRawSource && !slices.ContainsFunc(c.Result.Checks, known) {
		at := d.places["want.check"]
		d.faultAt(at, "", "want.check: the contract has no check named %s", quote(check))
	}
}

// lintAccepted sees that what is wanted is of the contract's kind.
func (d *caseDraft) lintAccepted(kind Kind) {
	switch {
	case kind == KindText && d.Want.Data.Exists():
		d.faultAt(d.places["want.data"], "write text: …", "want.data of a result of kind text")
	case kind != KindText && d.Want.Text != nil:
		d.faultAt(d.places["want.text"], "write data: …", "want.text of a result of kind %s", kind)
	}
}

// An obligation is a case that a contract must have (A22).
type obligation struct {
	prefix string
	// except is a longer prefix that belongs to another obligation.
	except string
	must   string // what want has to be
	proves func(Want) bool
	// times is how many cases are needed.
	times int
}

// refusedBy returns an obligation to show a refusal for one of the reasons.
func refusedBy(prefix string, reasons ...Reason) obligation {
	return obligation{
		prefix: prefix, must: "want.reason: " + strings.ReplaceAll(joinWords(reasons), ", ", " or "), times: 1,
		proves: func(w Want) bool { return slices.Contains(reasons, w.Reason) },
	}
}

// obligations returns what this contract's cases must show.
//
// The output of a command that a pattern reads has neither objects nor members: cases
// of another property, a duplicate member, null or an array for an object cannot exist
// and are not asked for. What is too long or empty may be refused by the pattern
// there. Every other kind and framing owes the whole list; what an envelope adds is
// not asked of the framings of MCP. Where an adapter stands before the schema, it may
// be the one that refuses a wrong shape. A text has no shape at all: nothing but a reply
// that passes and the lack of one can be shown of every tool.
func (c *Contract) obligations() []obligation {
	if c.Result.Kind == KindText {
		return []obligation{
			{
				prefix: "accepted-", must: "want.text", times: 1,
				proves: func(w Want) bool { return w.Text != nil },
			},
			c.upstreamDown(),
		}
	}
	list := []obligation{{
		prefix: "accepted-", must: "want.data", times: 1,
		proves: func(w Want) bool { return w.Data.Exists() },
	}}
	if command := c.Result.Command; command != nil && !command.JSON {
		list = append(list,
			refusedBy("empty-id-", ReasonCommandOutput, ReasonSchema, ReasonBinding),
			refusedBy("too-long-", ReasonCommandOutput, ReasonSchema, ReasonStringLimit, ReasonByteLimit))
	} else {
		shape := []Reason{ReasonSchema}
		if c.Result.Adapter != nil {
			shape = []Reason{ReasonAdapter, ReasonSchema}
		}
		list = append(list,
			c.extraProperty(),
			refusedBy("null-for-object-", shape...),
			refusedBy("empty-id-", append(slices.Clip(shape), ReasonBinding)...),
			refusedBy("duplicate-member-", ReasonDuplicateName),
			refusedBy("array-for-object-", shape...),
			refusedBy("too-long-", append(slices.Clip(shape), ReasonStringLimit, ReasonByteLimit)...))
	}
	list = append(list, c.upstreamDown())
	if c.Result.Framing == FramingEnvelope {
		list = append(list,
			refusedBy("success-with-error-", ReasonSchema),
			refusedBy("other-request-", ReasonBinding))
	}
	if slices.ContainsFunc(c.Result.Checks, func(k Check) bool { return k.Use == useFresh }) {
		list = append(list, refusedBy("stale-", ReasonFreshness), refusedBy("future-", ReasonFreshness))
	}
	return append(list, c.otherValues()...)
}

// extraProperty returns the obligation to show that a member which nobody promised
// reaches no agent (A24): it is refused, or, where an adapter drops what its vendor adds,
// absent from the data, which a case compares whole.
func (c *Contract) extraProperty() obligation {
	const prefix = "extra-property-"
	switch a := c.Result.Adapter; {
	case a == nil:
		return refusedBy(prefix, ReasonSchema)
	case a.Watch == WatchRefuse:
		return refusedBy(prefix, ReasonAdapter)
	}
	return obligation{
		prefix: prefix, must: "want.data, without the member", times: 1,
		proves: func(w Want) bool { return w.Data.Exists() },
	}
}

// upstreamDown returns the obligation to show that the lack of a reply is no result.
// Where the call may have done something and cannot be repeated, what came of it is not
// known.
func (c *Contract) upstreamDown() obligation {
	codes := []FailureCode{UpstreamUnavailable}
	if c.Effect == SideEffect && !c.Idempotent {
		codes = append(codes, OutcomeUnknown)
	}
	return obligation{
		prefix: "upstream-down-", times: 1,
		must: "want.failure: " + strings.ReplaceAll(joinWords(codes), ", ", " or ") + ", for what the transport or the status shows",
		proves: func(w Want) bool {
			switch w.Reason {
			case "", ReasonUpstreamStatus, ReasonUpstreamTransport:
				return slices.Contains(codes, w.Failure)
			}
			return false
		},
	}
}

// otherValues returns the obligation to show, for each equals check, a result that
// belongs to another request, refused at the place that the check looks at.
func (c *Contract) otherValues() []obligation {
	var list []obligation
	except := ""
	if c.Result.Framing == FramingEnvelope {
		except = "other-request-"
	}
	for _, k := range c.Result.Checks {
		if k.Use != useEquals {
			continue
		}
		at := c.Result.Framing.Payload().String() + k.With.Member("result").Text()
		must := fmt.Sprintf("want.reason: %s and want.at: %s", ReasonBinding, quote(at))
		same := slices.IndexFunc(list, func(o obligation) bool { return o.must == must })
		if same >= 0 {
			list[same].times++
			continue
		}
		list = append(list, obligation{
			prefix: "other-", except: except, must: must, times: 1,
			proves: func(w Want) bool { return w.Reason == ReasonBinding && w.At != nil && *w.At == at },
		})
	}
	return list
}

// lintObligations sees that every obligatory case is there and wants what its name
// promises. A case file that could not be read counts as the best it could be, so
// that one mistake is reported once.
func (d *draft) lintObligations(cases []*caseDraft) {
	dir := d.contract.Dir + "/" + casesDir
	for _, o := range d.contract.obligations() {
		proofs, named := 0, (*caseDraft)(nil)
		for _, k := range cases {
			name := path.Base(k.File)
			if k.inCall || !strings.HasPrefix(name, o.prefix) || o.except != "" && strings.HasPrefix(name, o.except) {
				continue
			}
			if len(k.faults) > 0 || o.proves(k.Want) {
				proofs++
			} else if named == nil {
				named = k
			}
		}
		switch {
		case proofs >= o.times:
		case named != nil && o.prefix != "other-":
			d.faults = append(d.faults, Fault{
				File: d.contract.Dir + "/" + named.File, Line: named.Want.Line, Column: named.Want.Column,
				Message: fmt.Sprintf("the case does not show what %s promises; expected %s", o.prefix, o.must),
			})
		default:
			d.faults = append(d.faults, Fault{
				File: dir, Message: fmt.Sprintf("there is no case %s*.yaml with %s", o.prefix, o.must) + ofTimes(proofs, o.times),
				Cure: fmt.Sprintf("create %s/%s….yaml with it", dir, o.prefix),
			})
		}
	}
}

func ofTimes(proofs, times int) string {
	if times == 1 {
		return ""
	}
	return fmt.Sprintf(" (%d of %d)", proofs, times)
}
