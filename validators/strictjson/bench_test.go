package strictjson_test

import (
	"encoding/json"
	"testing"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// The texts of the benchmarks: a reply of 160 bytes and a list of 1 MB.
const small = `{"id":"ord_000123","status":"shipped","total":{"amount":1999,"currency":"EUR"},"items":[{"sku":"A-1","qty":2},{"sku":"B-7","qty":1}],"note":"left at the door."}`

func large() string {
	return fill(1_000_000, "[", `{"id":%d,"name":"A name of some length","price":19.99,"tags":["red","small"],"active":true,"note":"first line\nsecond \u00e9"},`, "null]")
}

// BenchmarkParse has encoding/json beside it, which reads into any and checks less.
func BenchmarkParse(b *testing.B) {
	for _, input := range []struct{ name, src string }{{"160B", small}, {"1MB", large()}} {
		src := []byte(input.src)
		b.Run(input.name+"/strictjson", func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := strictjson.Parse(src, strictjson.Ceilings()); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(input.name+"/encoding-json", func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				var v any
				if err := json.Unmarshal(src, &v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAppendCanonical(b *testing.B) {
	v := mustParse(b, large())
	b.SetBytes(int64(len(large())))
	b.ReportAllocs()
	var dst []byte
	for b.Loop() {
		var err error
		if dst, err = strictjson.AppendCanonical(dst[:0], v, strictjson.RefuseBigNumbers); err != nil {
			b.Fatal(err)
		}
	}
}
