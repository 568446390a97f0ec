package schema

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/hallmark-gate/hallmark/internal/interleave"
	"github.com/hallmark-gate/hallmark/validators/projection"
	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// The inputs of the ratios: an envelope of 160 bytes and a list of 1 MB, each with its
// schema and what an agent gets of it.
const (
	reviewSchema = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","additionalProperties":false,
		"required":["tool","request_id","outcome","data"],"properties":{
		"tool":{"const":"review_status"},"request_id":{"type":"string","maxLength":64},"outcome":{"enum":["success","failure"]},
		"data":{"type":"object","additionalProperties":false,"required":["change_id","decision","reviewed_by"],"properties":{
			"change_id":{"type":"string","pattern":"^CR-[0-9]{1,10}$"},
			"decision":{"enum":["approved","rejected","pending"]},
			"reviewed_by":{"type":"string","minLength":1,"maxLength":128}}}}}`
	review = `{"tool":"review_status","request_id":"req.J7q94MkP","outcome":"success","data":{"change_id":"CR-1042","decision":"approved","reviewed_by":"Ana Petrova Lee"}}`

	listSchema = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","additionalProperties":false,
		"required":["items"],"properties":{"items":{"type":"array","maxItems":20000,"items":{
		"type":"object","additionalProperties":false,"required":["id","name","price","tags","active","note"],"properties":{
			"id":{"type":"integer","minimum":0},"name":{"type":"string","minLength":1,"maxLength":80},
			"price":{"type":"number","minimum":0},"active":{"type":"boolean"},
			"tags":{"type":"array","maxItems":8,"items":{"enum":["red","green","small","large"]}},
			"note":{"type":"string","maxLength":400}}}}}}`
)

func list() string {
	var b strings.Builder
	b.WriteString(`{"items":[`)
	for n := 0; b.Len() < 1_000_000; n++ {
		if n > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":%d,"name":"A name of some length","price":19.99,"tags":["red","small"],"active":true,"note":"first line\nsecond \u00e9"}`, n)
	}
	return b.String() + "]}"
}

// BenchmarkRatio compares reading, judging and projecting with the library alone, which
// reads, lets duplicate names and bad UTF-8 pass, and projects nothing; and with
// encoding/json, which only reads.
func BenchmarkRatio(b *testing.B) {
	for _, input := range []struct {
		name, schema, text string
		goal               float64
		gives              []strictjson.Pointer
	}{
		{"160B", reviewSchema, review, 0.35, []strictjson.Pointer{{"data", "change_id"}, {"data", "decision"}, {"data", "reviewed_by"}}},
		{"1MB", listSchema, list(), 0.15, []strictjson.Pointer{{"items", strictjson.EveryElement, "id"}, {"items", strictjson.EveryElement, "name"}, {"items", strictjson.EveryElement, "price"}}},
	} {
		ours, plan, raw := mustCompile(b, input.schema, Options{}), projection.New(input.gives, nil), []byte(input.text)
		theirs, err := oracle([]byte(input.schema), nil)
		if err != nil {
			b.Fatal(err)
		}
		judge := func() {
			v, err := strictjson.Parse(raw, strictjson.Ceilings())
			if err != nil {
				b.Fatal(err)
			}
			if failures, err := ours.Validate(context.Background(), v); err != nil || failures != nil {
				b.Fatal(show(failures), err)
			}
			if _, _, ok := plan.Project(nil, v); !ok {
				b.Fatal("nothing is given")
			}
		}
		library := func() {
			v, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
			if err == nil {
				err = theirs.Validate(v)
			}
			if err != nil {
				b.Fatal(err)
			}
		}
		read := func() {
			var v any
			if err := json.Unmarshal(raw, &v); err != nil {
				b.Fatal(err)
			}
		}
		b.Run("library/"+input.name, func(b *testing.B) {
			r := interleave.Compare(15, 20*time.Millisecond, judge, library, read)
			b.ReportMetric(r.Ratio(0, 1), "value")
			b.ReportMetric(input.goal, "goal")
			b.ReportMetric(r.Ratio(0, 2), "encoding-json-ratio")
			b.ReportMetric(r.Time(0), "cpu-ns")
			b.ReportMetric(r.Time(1), "library-cpu-ns")
			b.ReportMetric(testing.AllocsPerRun(10, judge), "allocations")
			b.ReportMetric(0, "ns/op")
		})
		b.Run("alone/"+input.name, func(b *testing.B) { // for profiles
			b.ReportAllocs()
			for b.Loop() {
				judge()
			}
		})
	}
}
