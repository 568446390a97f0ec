package policy

import (
	"strconv"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/internal/interleave"
)

// mailUnder is a call with one recipient under n grants, only the last of which covers it.
func mailUnder(t testing.TB, n int) Request {
	r := Request{
		Tool:      Tool{Name: "mail_send", Scopes: recipients(t)},
		Arguments: parse(t, `{"to":["ana@example.test"],"subject":"s","body":"b"}`),
		Principal: "u1", MayGrant: true, Now: now,
	}
	for i := range n {
		g := grant("g"+strconv.Itoa(i), "mail_send", "recipient", "u"+strconv.Itoa(i)+"@example.test")
		g.NotAfter = now.Add(time.Duration(n-i) * time.Minute)
		r.Grants = append(r.Grants, g)
	}
	r.Grants[n-1].Scopes[0].Values[0] = "@example.test"
	return r
}

func BenchmarkDecide(b *testing.B) {
	set := compile(b, nil)
	for _, n := range []int{1, 10, 100} {
		b.Run("grants="+strconv.Itoa(n), func(b *testing.B) {
			r := mailUnder(b, n)
			b.ReportAllocs()
			for b.Loop() {
				if Decide(set, r).Effect != Allow {
					b.Fatal("not allowed")
				}
			}
		})
		b.Run("all-fit="+strconv.Itoa(n), func(b *testing.B) {
			r := mailUnder(b, n)
			for i := range r.Grants {
				r.Grants[i].Scopes[0].Values[0] = "@example.test"
			}
			b.ReportAllocs()
			for b.Loop() {
				if Decide(set, r).Effect != Allow {
					b.Fatal("not allowed")
				}
			}
		})
		b.Run("denied="+strconv.Itoa(n), func(b *testing.B) {
			r := mailUnder(b, n)
			r.Grants[n-1].Scopes[0].Values[0] = "@evil.test"
			b.ReportAllocs()
			for b.Loop() {
				if Decide(set, r).Effect != Deny {
					b.Fatal("allowed")
				}
			}
		})
	}
	b.Run("url,grants=10", func(b *testing.B) {
		r := mailUnder(b, 10)
		r.Tool.Scopes = []Scope{{Name: "recipient", Type: URL, At: at(b, "/url")}}
		r.Arguments = parse(b, `{"url":"https://docs.example.test/a/b/c"}`)
		for i := range r.Grants {
			r.Grants[i].Scopes[0].Values[0] = "https://docs" + strconv.Itoa(i) + ".example.test/a/"
		}
		r.Grants[9].Scopes[0].Values[0] = "https://docs.example.test/a/"
		b.ReportAllocs()
		for b.Loop() {
			if Decide(set, r).Effect != Allow {
				b.Fatal("not allowed")
			}
		}
	})
	b.Run("forbid-by-CEL,grants=10", func(b *testing.B) {
		set := compile(b, []Rule{{Name: "web", Tools: []string{"mail_send"}, Forbid: true, When: `session.sources.exists(s, s.tool == "web_read")`}}, "mail_send")
		r := mailUnder(b, 10)
		r.Sources = Sources{Known: true, List: []Source{{"mail_read", "untrusted"}}}
		b.ReportAllocs()
		for b.Loop() {
			if Decide(set, r).Effect != Allow {
				b.Fatal("not allowed")
			}
		}
	})
	// The most that a request can ask for: as many values as a call may have, under as
	// many grants with as many values as a request may have, only the last of which
	// covers them.
	b.Run("worst", func(b *testing.B) {
		r := worst(b)
		for b.Loop() {
			if Decide(set, r).Effect != Deny {
				b.Fatal("allowed")
			}
		}
	})
}

// BenchmarkRatio measures the goal of a decision: value and goal are microseconds.
func BenchmarkRatio(b *testing.B) {
	set := compile(b, nil)
	for _, n := range []int{1, 10, 100} {
		b.Run("decide/grants="+strconv.Itoa(n), func(b *testing.B) {
			r := mailUnder(b, n)
			took := interleave.Compare(15, 20*time.Millisecond, func() {
				if Decide(set, r).Effect != Allow {
					b.Fatal("not allowed")
				}
			})
			b.ReportMetric(took.Time(0)/1000, "value")
			if n == 10 {
				b.ReportMetric(1, "goal")
			}
		})
	}
}

func worst(t testing.TB) Request {
	r := mailUnder(t, 80)
	list := ""
	for i := range MaxScopeValues {
		if i > 0 {
			list += ","
		}
		list += `"u` + strconv.Itoa(i) + `@example.test"`
	}
	r.Arguments = parse(t, `{"to":[`+list+`]}`)
	var values []string
	for i := range 255 {
		values = append(values, "v"+strconv.Itoa(i)+"@example.test")
	}
	values = append(values, "u1@example.test")
	for i := range r.Grants {
		r.Grants[i].Scopes[0].Values = values
	}
	return r
}
