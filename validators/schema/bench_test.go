package schema

import (
	"context"
	"regexp"
	"testing"
)

func BenchmarkValidate(b *testing.B) {
	const instance = `{"outcome":"success","data":{"n":1}}`
	b.Run("ours", func(b *testing.B) {
		s, v := mustCompile(b, envelope, Options{}), parse(b, instance)
		b.ReportAllocs()
		for b.Loop() {
			if got, err := s.Validate(context.Background(), v); err != nil || len(got) > 0 {
				b.Fatal(show(got))
			}
		}
	})
	b.Run("library", func(b *testing.B) {
		s, err := oracle([]byte(envelope), nil)
		if err != nil {
			b.Fatal(err)
		}
		v := plain(parse(b, instance))
		b.ReportAllocs()
		for b.Loop() {
			if err := s.Validate(v); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkPattern has package regexp beside it.
func BenchmarkPattern(b *testing.B) {
	for _, row := range []struct{ line, expr, text string }{
		{"literal", `^CR-[0-9]{1,10}$`, "CR-1042"},
		{"name", `^[a-z0-9][a-z0-9-]{2,62}$`, "orders-service-frontend-eu-west"},
		{"text", `^[^\x00-\x1f\x7f-\x9f\x{2028}\x{2029}]*$`, "First line, second line; a note of ä, ö, ü and some more."},
		{"path", `^(/[^/\x00-\x1f\x7f-\x9f\\]{1,255})+$`, "/srv/orders/2026/01/15/export.json"},
	} {
		ours, theirs := mustPattern(b, row.expr)
		b.Run(row.line+"/ours", func(b *testing.B) {
			for b.Loop() {
				ours.MatchString(row.text)
			}
		})
		b.Run(row.line+"/regexp", func(b *testing.B) {
			for b.Loop() {
				theirs.MatchString(row.text)
			}
		})
		b.Run(row.line+"/compile", func(b *testing.B) {
			for b.Loop() {
				_, _ = compilePattern(row.expr)
			}
		})
		b.Run(row.line+"/compile-regexp", func(b *testing.B) {
			for b.Loop() {
				_, _ = regexp.Compile(row.expr)
			}
		})
	}
}
