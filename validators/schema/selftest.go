package schema

import (
	"context"
	"errors"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// SelfTest proves at start that this build judges as contracts assume: the dialect is
// 2020-12 (a member behind $ref counts as evaluated, an unexpected one is refused),
// siblings of $ref count, another dialect is refused, and format is asserted.
func SelfTest() error {
	const closed = `{"$defs":{"b":{"properties":{"a":{"$ref":"#/$defs/t","maxLength":10}}},"t":{"type":"string","format":"date"}},
		"type":"object","$ref":"#/$defs/b","unevaluatedProperties":false}`
	s, err := Compile(map[string][]byte{"self.json": []byte(closed)}, "self.json", Options{})
	if err != nil {
		return err
	}
	for _, c := range []struct{ instance, keyword, what string }{
		{`{"a":"2026-01-15"}`, "", "a conforming value is accepted"},
		{`{"a":"2026-01-15","x":1}`, "unevaluatedProperties", "an unexpected member is refused"},
		{`{"a":"not-a-date"}`, "format", "format is asserted"},
		{`{"a":"2026-01-15T00:00:00Z"}`, "maxLength", "what stands beside a reference counts"},
		{`{"a":12}`, "type", "a reference is followed"},
	} {
		v, err := strictjson.Parse([]byte(c.instance), strictjson.Ceilings())
		if err != nil {
			return err
		}
		failures, err := s.Validate(context.Background(), v)
		if err != nil {
			return err
		}
		got := ""
		if len(failures) > 0 {
			got = failures[0].Keyword
		}
		if got != c.keyword {
			return errors.New("schema: self-test: it does not hold that " + c.what)
		}
	}
	old := map[string][]byte{"old.json": []byte(`{"$schema":"http://json-schema.org/draft-07/schema#"}`)}
	if _, err := Compile(old, "old.json", Options{}); err == nil {
		return errors.New("schema: self-test: it does not hold that another dialect is refused")
	}
	return nil
}
