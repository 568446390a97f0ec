package scaffold_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/scaffold"
)

// Sources that are small and mean much are refused or bounded, in seconds.
func TestHostileSources(t *testing.T) {
	chain := func(levels, width int, word, leaf string) string {
		var b strings.Builder
		b.WriteString(`{"$ref":"#/$defs/a0","$defs":{`)
		for i := range levels {
			refs := strings.TrimSuffix(strings.Repeat(fmt.Sprintf(`{"$ref":"#/$defs/a%d"},`, i+1), width), ",")
			fmt.Fprintf(&b, `"a%d":{"%s":[%s]},`, i, word, refs)
		}
		fmt.Fprintf(&b, `"a%d":%s}}`, levels, leaf)
		return b.String()
	}
	many := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, format, i, i)
		}
		return b.String()
	}
	object := `{"type":"object","required":["a"],"properties":{"a":{"type":"integer"}}}`
	for _, c := range []struct{ line, schema string }{
		{"a $ref to false", `{"$ref":"#/$defs/f","$defs":{"f":false}}`},
		{"a $ref to a list", `{"$ref":"#/$defs/f","$defs":{"f":[1]}}`},
		{"false", `{"type":"object","required":["a"],"properties":{"a":false}}`},
		{"allOf doubles at each level", chain(30, 2, "allOf", object)},
		{"wide allOf at each level", chain(8, 40, "allOf", object)},
		{"anyOf doubles at each level", chain(30, 2, "anyOf", object)},
		{"a $ref to itself", `{"$ref":"#"}`},
		{"two that lead to each other", `{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`},
		{"allOf of itself", `{"allOf":[{"$ref":"#"},{"$ref":"#"}]}`},
		{"a list of itself", `{"type":"array","items":{"$ref":"#"}}`},
		{"required of itself", `{"type":"object","required":["a"],"properties":{"a":{"$ref":"#"}}}`},
		{"deep", strings.Repeat(`{"type":"object","required":["a"],"properties":{"a":`, 20) + `{"type":"integer"}` + strings.Repeat("}}", 20)},
		{"many members", `{"type":"object","required":["m1"],"properties":{` + many(9000, `"m%d":{"type":"string","maxLength":%d}`) + `}}`},
		{"many required", `{"type":"object","required":[` + many(9000, `"m%d","n%d"`) + `],"properties":{"a":{"type":"integer"}}}`},
		{"many definitions of one name", `{"type":"array","prefixItems":[` + many(9000, `{"$ref":"#/properties/%d/x%d"}`) + `]}`},
		{"a pattern that repeats", `{"type":"object","required":["a"],"properties":{"a":{"type":"string","pattern":"^((a{1,30}){1,30}){1,1}$"}}}`},
		{"a long least length", `{"type":"object","required":["a"],"properties":{"a":{"type":"string","minLength":999999999}}}`},
		{"many least items", `{"type":"array","minItems":999999999,"items":{"type":"array","minItems":99999,"items":{"type":"integer"}}}`},
		{"huge numbers", `{"type":"object","required":["a"],"properties":{"a":{"type":"integer","minimum":1e300,"maximum":1e308,"multipleOf":1e-300}}}`},
	} {
		t.Run(c.line, func(t *testing.T) {
			start := time.Now()
			d, err := scaffold.FromSchema([]byte(c.schema), scaffold.Options{Tool: "t", Compile: engine})
			took := time.Since(start)
			t.Log(took.Round(time.Millisecond), err)
			if took > 3*time.Minute { // generous for a busy machine; most take milliseconds
				t.Errorf("took %v", took)
			}
			if tooLarge := strings.Contains(c.line, "allOf") && strings.Contains(c.line, "level"); errors.Is(err, scaffold.ErrTooLarge) != tooLarge || err != nil && !tooLarge {
				t.Errorf("too large: %v, want %v", err, tooLarge)
			}
			size := 0
			if d != nil {
				for _, content := range d.Files {
					size += len(content)
				}
			}
			if size > 64<<20 {
				t.Errorf("the draft has %d bytes", size)
			}
		})
	}
}
