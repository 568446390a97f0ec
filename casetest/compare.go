package casetest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/gate"
)

// comparison collects what is not as wanted.
type comparison []Fault

func (c *comparison) member(name string, asWanted bool, want, got any) {
	if !asWanted {
		*c = append(*c, Fault{name, fmt.Sprint(want), fmt.Sprint(got)})
	}
}

// compare holds an outcome against what the case wants.
func compare(want contract.Want, o gate.Outcome) []Fault {
	var c comparison
	switch {
	case want.Failure != "":
		c.failure(want, o)
	case o.Result.Failure != nil:
		first := o.Verdict.Rejections[0]
		wanted := "data"
		if want.Text != nil {
			wanted = "text"
		}
		c.member("outcome", false, wanted, fmt.Sprintf("failure %s: %s %s at %s: %s",
			o.Result.Failure.Code, first.Layer, first.Reason, quote(first.At), first.Detail))
	case want.Text != nil:
		c.text(want, o.Result.Text)
	default:
		c.data(want, o.Result.Data)
	}
	return c
}

func (c *comparison) failure(want contract.Want, o gate.Outcome) {
	if o.Result.Failure == nil {
		got := "nothing"
		switch {
		case o.Result.Data != nil:
			got = "data " + o.Result.Data.JSON
		case o.Result.Text != nil:
			got = "text " + quote(o.Result.Text.Content)
		}
		c.member("outcome", false, "failure "+string(want.Failure), got)
		return
	}
	got := o.Result.Failure
	c.member("failure", got.Code == want.Failure, want.Failure, got.Code)
	if want.Retryable != nil {
		c.member("retryable", got.Retryable == *want.Retryable, *want.Retryable, got.Retryable)
	}
	first := o.Verdict.Rejections[0]
	if want.Layer != "" {
		c.member("layer", first.Layer == want.Layer, want.Layer, first.Layer)
	}
	if want.Reason != "" {
		c.member("reason", first.Reason == want.Reason, want.Reason, first.Reason)
	}
	if want.At != nil {
		c.member("at", first.At == *want.At, quote(*want.At), quote(first.At))
	}
	if want.Check != "" {
		c.member("check", first.Check == want.Check, want.Check, quote(first.Check))
	}
	if want.DisplayText != nil {
		shown := ""
		if got.DisplayText != nil {
			shown = got.DisplayText.Content
		}
		c.member("display", shown == *want.DisplayText, quote(*want.DisplayText), quote(shown))
	}
	if len(*c) > 0 {
		*c = append(*c, Fault{Member: "detail", Got: first.Detail})
	}
}

func (c *comparison) text(want contract.Want, got *gate.Text) {
	if got == nil {
		c.member("outcome", false, "text", "data")
		return
	}
	c.member("text", got.Content == *want.Text, quote(*want.Text), quote(got.Content))
	if want.Truncated != nil {
		c.member("truncated", got.Truncated == *want.Truncated, *want.Truncated, got.Truncated)
	}
	if want.Title != nil {
		c.member("title", got.Title == *want.Title, quote(*want.Title), quote(got.Title))
	}
	if want.Links != nil {
		same := slices.EqualFunc(got.Links, want.Links, func(l gate.Link, w contract.WantLink) bool {
			return l.Text == w.Text && l.Href == w.Href
		})
		c.member("links", same, fmt.Sprintf("%q", want.Links), fmt.Sprintf("%q", got.Links))
	}
	if want.Normalization != "" {
		c.member("normalization", got.Normalization == want.Normalization, want.Normalization, got.Normalization)
	}
}

func (c *comparison) data(want contract.Want, got *gate.Data) {
	if got == nil {
		c.member("outcome", false, "data", "text")
		return
	}
	c.member("data", want.SameData([]byte(got.JSON)), want.DataText(), got.JSON)
	if want.UntrustedText != nil {
		c.member("untrusted", slices.Equal(got.UntrustedText, want.UntrustedText),
			strings.Join(want.UntrustedText, " "), strings.Join(got.UntrustedText, " "))
	}
	if want.Truncated != nil {
		c.member("truncated", got.Truncated == *want.Truncated, *want.Truncated, got.Truncated)
	}
}

func quote(s string) string { return fmt.Sprintf("%q", s) }
