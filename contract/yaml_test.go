package contract

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// YAML that stands for JSON keeps its digits, and nothing is guessed.
func TestYAMLToJSON(t *testing.T) {
	type row struct {
		line       int
		yaml, json string
	}
	r := func(yaml, json string) row {
		_, _, line, _ := runtime.Caller(1)
		return row{line, yaml, json}
	}
	for _, row := range []row{
		r("true", "true"),
		r("false", "false"),
		r("null", "null"),
		r("", "null"),
		r("'null'", `"null"`),
		r("~", `"~"`),
		r("Null", `"Null"`),
		r("NULL", `"NULL"`),
		r("True", `"True"`),
		r("yes", `"yes"`),
		r("off", `"off"`),
		r("0", "0"),
		r("-0", "-0"),
		r("10", "10"),
		r("1.50", "1.50"),
		r("1e2", "1e2"),
		r("1E+02", "1E+02"),
		r("123456789012345678901234567890", "123456789012345678901234567890"),
		r("0.1234567890123456789", "0.1234567890123456789"),
		r("010", `"010"`),
		r("-01", `"-01"`),
		r("+1", `"+1"`),
		r(".5", `".5"`),
		r("1.", `"1."`),
		r("0x1f", `"0x1f"`),
		r("0o17", `"0o17"`),
		r("1_000", `"1_000"`),
		r("12:30:45", `"12:30:45"`),
		r(".inf", `".inf"`),
		r(".nan", `".nan"`),
		r("2026-01-15", `"2026-01-15"`),
		r("2026-01-15T12:00:00Z", `"2026-01-15T12:00:00Z"`),
		r("'10'", `"10"`),
		r(`"true"`, `"true"`),
		r("|\n  10\n", `"10\n"`),
		r(">-\n  a\n  b\n", `"a b"`),
		r("a b", `"a b"`),
		r(`"\u00e9\t\x01\""`, `"é\t\u0001\""`),
		r("[1, [], {}, a]", `[1,[],{},"a"]`),
		r("{a: 1, 2: b, 'c d': ~, null: x}", `{"a":1,"2":"b","c d":"~","null":"x"}`),
		r("{a: , b: [ ]}", `{"a":null,"b":[]}`),
		r("{z: 1, a: 2}", `{"z":1,"a":2}`),
		r("'<<': 1", `{"<<":1}`),
		r("'': 1", `{"":1}`),
	} {
		root, s := readYAML("f", []byte("v: "+row.yaml+"\n"))
		if strings.HasPrefix(row.yaml, "'") && strings.HasSuffix(row.yaml, ": 1") {
			root, s = readYAML("f", []byte("v:\n  "+row.yaml+"\n"))
		}
		if root == nil {
			t.Errorf("line %d: %v", row.line, s.faults)
			continue
		}
		v := s.json(root.Content[1], "v")
		if got := string(strictjson.AppendJSON(nil, v)); got != row.json {
			t.Errorf("line %d: %s is %s, want %s (%v)", row.line, row.yaml, got, row.json, s.faults)
		}
	}
}

// Hostile files cost little: what a parser could take quadratic or recursive steps
// over, at a quarter of the largest size that is read; quadratic time would show as
// minutes.
func TestYAMLHostile(t *testing.T) {
	fill := func(piece string) []byte { return bytes.Repeat([]byte(piece), maxFileBytes/4/len(piece)) }
	for name, b := range map[string][]byte{
		"open lists":       fill("["),
		"open mappings":    fill("{"),
		"nested keys":      fill("{a: "),
		"nested dashes":    fill("- "),
		"question marks":   fill("? "),
		"anchors":          fill("&a "),
		"tags":             fill("!a "),
		"colons":           fill(": "),
		"many keys":        []byte("x: {" + numbered(20_000, "k%d: 1, ") + "}"),
		"one key":          fill("a: 1\n"),
		"quotes":           fill("'"),
		"block text":       append([]byte("a: |\n"), fill("  x\n")...),
		"comments":         fill("# a\n"),
		"a long key":       append(fill("a"), ": 1"...),
		"flow commas":      append([]byte("["), fill("a,")...),
		"documents":        fill("---\n"),
		"carriage returns": fill("\r"),
		"indentation":      []byte(stairs(1400)),
	} {
		start := time.Now()
		root, s := readYAML("f", b)
		if took := time.Since(start); took > 3*time.Minute {
			t.Errorf("%s: %v", name, took)
		} else if testing.Verbose() {
			t.Logf("%s: %v, %d faults", name, took, len(s.faults))
		}
		if root == nil && len(s.faults) == 0 {
			t.Errorf("%s: neither a root nor a fault", name)
		}
	}
}

func numbered(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// stairs is a mapping in a mapping, n deep, in block style.
func stairs(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

// A strict date-time of RFC 3339.
func TestParseTime(t *testing.T) {
	for s, ok := range map[string]bool{
		"2026-01-15T12:00:00Z": true, "2026-01-15T12:00:00.123456789Z": true, "2026-01-15T12:00:00-23:59": true,
		"2026-01-15T12:00:00": false, "2026-01-15 12:00:00Z": false, "2026-01-15T24:00:00Z": false, "2026-13-15T12:00:00Z": false,
		"2026-01-15T12:00:00+24:00": false, "2026-01-15T12:00:00,5Z": false, "2026-01-15T12:00Z": false, "": false, "2026-01-15T12:00:00Z\n": false,
	} {
		if _, got := parseTime(s); got != ok {
			t.Errorf("%q: %v", s, got)
		}
	}
}
