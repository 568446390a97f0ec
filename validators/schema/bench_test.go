package schema

import (
	"context"
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
