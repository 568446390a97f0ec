package gate

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/validators"
	"github.com/hallmark-gate/hallmark/validators/semantic"
	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// sharedFile reads a file of the shared test material, or skips the test where it is
// not there.
func sharedFile(t *testing.T, elem ...string) []byte {
	t.Helper()
	root := os.Getenv("HALLMARK_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "shared")
	}
	data, err := os.ReadFile(filepath.Join(append([]string{root}, elem...)...))
	if os.IsNotExist(err) {
		t.Skipf("the shared cases are not at %s; set HALLMARK_SHARED", root)
	}
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// oneTool compiles a set of one tool that promises whatever its schema allows, without
// a contract's lint: what is tested is the judge.
func oneTool(t testing.TB, schema string, change func(*contract.Contract)) *Set {
	t.Helper()
	c := &contract.Contract{
		Dir: "t/v1", Tool: "t", Version: 1, Effect: contract.ReadOnly,
		Result: contract.Result{
			Kind: contract.KindJSON, Framing: contract.FramingPayload, MediaTypes: []string{"application/json"},
			Limits:      strictjson.Ceilings(),
			Schema:      &contract.Schema{File: "s.json", Files: map[string][]byte{"s.json": []byte(schema)}},
			AgentFields: []strictjson.Pointer{{}},
		},
	}
	if change != nil {
		change(c)
	}
	registry, err := validators.NewRegistry(semantic.Builtins())
	if err != nil {
		t.Fatal(err)
	}
	set, err := NewLoader(registry).CompileTree(&contract.Tree{
		Contracts: []*contract.Contract{c}, Current: map[string]int{"t": 1}, Digest: "d",
	})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func judgeRaw(t testing.TB, set *Set, raw string) Outcome {
	t.Helper()
	o, err := Judge(context.Background(), set, Call{
		Request: Request{Tool: "t", RequestID: "req.A1b2C3d4"}, Raw: []byte(raw),
	}, Judgement{Now: noon})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// caseWant is the right outcome of one public case, as the design decides it.
type caseWant struct {
	id, file, schema string               // schema "": true
	raw              string               // in place of a file, where the case is generated
	data             string               // accepted with this
	code             contract.FailureCode // "": INVALID_RESPONSE
	reason           contract.Reason
	at               string // "-": not looked at
	shown            string // display text
	signals          map[string]uint64
	change           func(*contract.Contract)
}

func asText(c *contract.Contract) {
	c.Result.TextFields = []contract.TextField{{At: strictjson.Pointer{"s"}}}
}

func freshAt(c *contract.Contract) {
	with, _ := strictjson.Parse([]byte(`{"field":"/observed_at","max_age":"5m","max_skew":"30s"}`), strictjson.Ceilings())
	c.Result.Checks = []contract.Check{{Use: "fresh", Name: "fresh", With: with}}
}

func envelopeOf(c *contract.Contract) { c.Result.Framing = contract.FramingEnvelope }

func mcpOf(c *contract.Contract) { c.Result.Framing = contract.FramingMCP }

func mcpShowing(c *contract.Contract) { mcpOf(c); c.Result.DisplayText = 100 }

const closedDate = `{"type":"object","additionalProperties":false,"properties":{"observed_at":{"type":"string","format":"date-time"}}}`

var publicCases = []caseWant{
	{id: "001", file: "001-null-for-optional.json", schema: "001-null-for-optional.schema.json", reason: contract.ReasonSchema, at: "/next_page"},
	{
		id: "003", file: "003-iserror-with-structured.json", schema: "003-iserror-with-structured.schema.json", code: contract.ToolFailed, reason: contract.ReasonToolReported, at: "/isError", change: mcpOf,
		signals: map[string]uint64{"dropped_blocks.text": 1, "dropped_members": 1},
	},
	{
		id: "003", file: "003-iserror-with-structured.json", schema: "003-iserror-with-structured.schema.json", code: contract.ToolFailed, reason: contract.ReasonToolReported, at: "/isError", shown: "backend unavailable", change: mcpShowing,
		signals: map[string]uint64{"dropped_members": 1},
	},
	{id: "004", file: "004-schema-declared-no-structured.json", reason: contract.ReasonSchema, at: "/structuredContent", change: mcpOf},
	{
		id: "006", file: "006-content-vs-structured-disagree.json", schema: "006-content-vs-structured-disagree.schema.json", data: `{"balance":1}`, change: mcpOf,
		signals: map[string]uint64{"dropped_blocks.text": 1},
	},
	{id: "007", file: "007-extra-field-closed.json", schema: "007-extra-field-closed.schema.json", reason: contract.ReasonSchema, at: "/backtestCount"},
	{id: "009", file: "009-resource-link-block.json", reason: contract.ReasonSchema, at: "/structuredContent", change: mcpOf},
	{
		id: "009", raw: `{"content":[{"type":"text","text":"Found 1 report"},{"type":"resource_link","uri":"reports://quarterly/q3","name":"q3"}],"isError":false,"structuredContent":{"found":1}}`, data: `{"found":1}`, change: mcpOf,
		signals: map[string]uint64{"dropped_blocks.text": 1, "dropped_blocks.resource_link": 1},
	},
	{id: "011", raw: `{"content":[{"type":"image","mimeType":"image/png","data":"` + strings.Repeat("A", 2000000) + `"}],"isError":false}`, reason: contract.ReasonStringLimit, at: "/content/0/data", change: mcpOf},
	{id: "012", file: "012-union-root-both-branches.json", schema: "012-union-root-both-branches.schema.json", reason: contract.ReasonSchema, at: "-"},
	{id: "015", raw: `{"request_id":"1","tool":"t","outcome":"success","data":{}}`, reason: contract.ReasonSchema, at: "/request_id", change: envelopeOf},
	{id: "015", raw: `{"tool":"t","outcome":"success","data":{}}`, reason: contract.ReasonSchema, at: "/request_id", change: envelopeOf},
	{id: "015", raw: `{"request_id":"req.A1b2C3d5","tool":"t","outcome":"success","data":{}}`, reason: contract.ReasonBinding, at: "/request_id", change: envelopeOf},
	{id: "017", file: "017-binding-case-smuggle.json", schema: `{"type":"object","additionalProperties":false,"properties":{"name":{},"arguments":{}}}`, reason: contract.ReasonSchema, at: "/Name"},
	{id: "018", file: "018-dup-plain.json", reason: contract.ReasonDuplicateName, at: "/to"},
	{id: "019", file: "019-dup-escaped.json", reason: contract.ReasonDuplicateName, at: "/name"},
	{id: "021", file: "021-fold-long-s-kelvin.json", schema: `{"type":"object","additionalProperties":false,"properties":{"params":{},"task":{}}}`, reason: contract.ReasonSchema, at: "/paramſ"},
	{id: "023", file: "023-lone-surrogate-value.json", reason: contract.ReasonEncoding, at: "/note"},
	{id: "025", file: "025-invalid-utf8.json", reason: contract.ReasonEncoding, at: "/n"},
	{id: "025", file: "025-invalid-utf8.cesu.json", reason: contract.ReasonEncoding, at: "/n"},
	{id: "025", file: "025-invalid-utf8.overlong.json", reason: contract.ReasonEncoding, at: "/n"},
	{id: "026", file: "026-bom.json", reason: contract.ReasonJSONSyntax, at: ""},
	{id: "027", file: "027-nan-infinity.json", reason: contract.ReasonJSONSyntax, at: "/score"},
	{id: "028", file: "028-trailing-data.json", reason: contract.ReasonJSONSyntax, at: ""},
	{id: "028", file: "028-trailing-data.ws.json", data: `{"ok":true}`},
	{id: "030", file: "030-invalid-escape-name-merge.json", reason: contract.ReasonJSONSyntax, at: "-"},
	{id: "031", raw: strings.Repeat("[", 64) + strings.Repeat("]", 64), data: strings.Repeat("[", 64) + strings.Repeat("]", 64)},
	{id: "031", raw: strings.Repeat("[", 65) + strings.Repeat("]", 65), reason: contract.ReasonDepthLimit, at: "-"},
	{id: "031", raw: strings.Repeat(`{"a":`, 65) + "1" + strings.Repeat("}", 65), reason: contract.ReasonDepthLimit, at: "-"},
	{id: "031", raw: strings.Repeat("[", 100000), reason: contract.ReasonDepthLimit, at: "-"},
	{id: "032", file: "032-exponent-panic.json", schema: "032-exponent-panic.schema.json", reason: contract.ReasonNumberLimit, at: "/v"},
	{id: "032", file: "032-exponent-panic.min.json", schema: "032-exponent-panic.schema.json", reason: contract.ReasonNumberLimit, at: "/v"},
	{id: "032", file: "032-exponent-panic.neg.json", schema: "032-exponent-panic.schema.json", reason: contract.ReasonNumberLimit, at: "/v"},
	{id: "034", raw: `{"v":0.` + strings.Repeat("1", 262144) + `}`, reason: contract.ReasonNumberLimit, at: "/v"},
	{id: "034", raw: `{"v":` + strings.Repeat("9", 262144) + `}`, reason: contract.ReasonNumberLimit, at: "/v"},
	{id: "035", file: "035-bigint-preserved.json", schema: "035-bigint-preserved.schema.json", data: `{"id":725653563933458432,"next":9007199254740993}`},
	{id: "037", file: "037-double-overflow.json", schema: "037-double-overflow.schema.json", reason: contract.ReasonNumberLimit, at: "/n"},
	{id: "039", file: "039-nul-in-string.json", data: `{"s":"ab"}`, change: asText},
	{id: "039", file: "039-nul-in-string.json", reason: contract.ReasonCharacter, at: "/s"},
	{id: "040", file: "040-u2028-in-string.json", data: `{"s":"a\nb\nc"}`, change: asText},
	{id: "041", raw: manyKeys(200000), reason: contract.ReasonItemLimit, at: "-"},
	{id: "043", file: "043-format-not-asserted.json", schema: "043-format-not-asserted.schema.json", reason: contract.ReasonSchema, at: "/event_time"},
	{id: "045", file: "045-leap-second-real.json", schema: closedDate, data: `{"observed_at":"1990-12-31T23:59:60Z"}`},
	{id: "045", file: "045-leap-second-real.json", schema: closedDate, reason: contract.ReasonFreshness, at: "/observed_at", change: freshAt},
	{id: "046", file: "046-leap-second-impossible.json", schema: closedDate, reason: contract.ReasonSchema, at: "/observed_at"},
	{id: "050", file: "050-email-quoted-newline.json", schema: "050-email-quoted-newline.schema.json", reason: contract.ReasonSchema, at: "/a"},
	{id: "050", raw: `{"b":"\"x\nBcc: y\"@example.com"}`, schema: "050-email-quoted-newline.schema.json", reason: contract.ReasonSchema, at: "/b"},
	{id: "050", raw: `{"c":"a@b"}`, schema: "050-email-quoted-newline.schema.json", data: `{"c":"a@b"}`},
	{id: "052", file: "052-uuid-trailing-newline.json", schema: `{"properties":{"id":{"format":"uuid"}}}`, reason: contract.ReasonSchema, at: "/id"},
	{id: "053", file: "053-pattern-dollar-newline.json", schema: "053-pattern-dollar-newline.schema.json", reason: contract.ReasonSchema, at: "/channel"},
	{id: "056", file: "056-unevaluated-ref.json", schema: "056-unevaluated-ref.schema.json", data: `{"a":1}`},
	{id: "056", file: "056-unevaluated-ref.json", schema: "056-unevaluated-ref.additional.schema.json", reason: contract.ReasonSchema, at: "/a"},
	{id: "060", file: "060-recursive-anyof-exponential.json", schema: "060-recursive-anyof-exponential.schema.json", reason: contract.ReasonSchema, at: ""},
	{id: "062", file: "062-maxlength-codepoints.json", schema: "062-maxlength-codepoints.schema.json", reason: contract.ReasonSchema, at: "/b"},
	{id: "063", file: "063-multipleof-decimal.json", schema: "063-multipleof-decimal.schema.json", data: `{"price":19.99,"p2":1.11}`},
	{id: "065", file: "065-const-enum-deep.json", schema: "065-const-enum-deep.schema.json", reason: contract.ReasonSchema, at: "/e"},
	{id: "069", file: "069-ref-siblings.json", schema: "069-ref-siblings.schema.json", reason: contract.ReasonSchema, at: "/a"},
	{id: "152", file: "152-error-leaks-value.json", schema: "152-error-leaks-value.schema.json", reason: contract.ReasonSchema, at: "/token"},
}

func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(`,"k` + itoa(i) + `":0`)
	}
	return "{" + b.String()[1:] + "}"
}

func itoa(i int) string { b, _ := json.Marshal(i); return string(b) }

// TestConformanceCases judges inputs from public bug reports. A2, A3, A8, A9, A12, A14,
// D2, D3
func TestConformanceCases(t *testing.T) {
	sharedFile(t, "cases", "index.json")
	for _, row := range publicCases {
		t.Run(row.id+" "+row.file, func(t *testing.T) {
			raw, schema := row.raw, row.schema
			if row.file != "" {
				raw = string(sharedFile(t, "cases", "files", row.file))
			}
			if strings.HasSuffix(schema, ".json") {
				schema = string(sharedFile(t, "cases", "files", schema))
			}
			if schema == "" {
				schema = "true"
			}
			row.check(t, judgeRaw(t, oneTool(t, schema, row.change), raw))
		})
	}
}

func (row caseWant) check(t *testing.T, o Outcome) {
	t.Helper()
	if row.signals != nil && !maps.Equal(o.Verdict.Signals, row.signals) {
		t.Errorf("signals %v, want %v", o.Verdict.Signals, row.signals)
	}
	if row.data != "" {
		if o.Result.Data == nil {
			t.Fatalf("refused: %+v", o.Verdict.Rejections)
		}
		if o.Result.Data.JSON != row.data {
			t.Errorf("got %s, want %s", o.Result.Data.JSON, row.data)
		}
		return
	}
	if o.Result.Data != nil || o.Result.Failure.Code != cmp.Or(row.code, contract.InvalidResponse) {
		t.Fatalf("not refused: %+v", o.Result)
	}
	if shown := o.Result.Failure.DisplayText; (shown != nil) != (row.shown != "") || (shown != nil && shown.Content != row.shown) {
		t.Errorf("shown is %+v, want %q", shown, row.shown)
	}
	first := o.Verdict.Rejections[0]
	if first.Reason != row.reason || (row.at != "-" && first.At != row.at) {
		t.Errorf("got %s at %q (%s), want %s at %q", first.Reason, first.At, first.Detail, row.reason, row.at)
	}
	if shown := ModelPayload(o.Result); strings.Contains(shown, "FAKE-SECRET") || strings.Contains(first.Detail+first.At, "FAKE-SECRET") {
		t.Errorf("the value leaks")
	}
	if row.id == "026" && !strings.Contains(first.Detail, "BOM") {
		t.Errorf("the detail does not say BOM: %s", first.Detail)
	}
}

// Each element of case 048 is refused as a date-time. A12
func TestConformanceLenientTimes(t *testing.T) {
	var times []string
	if err := json.Unmarshal(sharedFile(t, "cases", "files", "048-timeparse-lenient.json"), &times); err != nil {
		t.Fatal(err)
	}
	set := oneTool(t, closedDate, nil)
	for _, s := range times {
		if o := judgeRaw(t, set, string(strictjson.AppendString([]byte(`{"observed_at":`), s))+"}"); o.Result.Data != nil {
			t.Errorf("%q was accepted", s)
		}
	}
}

// A missing validator is not a validator that always agrees (case 013).
func TestUnknownToolAndVersion(t *testing.T) { // A5, B8
	set := oneTool(t, "true", nil)
	for _, row := range []struct {
		line    string
		tool    string
		version int
		name    string
		reason  contract.Reason
	}{
		{"no such tool", "weather.now", 0, UnknownTool, contract.ReasonUnknownTool},
		{"no such version", "t", 9, "t", contract.ReasonUnknownVersion},
		{"names are compared byte for byte", "T", 0, UnknownTool, contract.ReasonUnknownTool},
		{"no name", "", 0, UnknownTool, contract.ReasonUnknownTool},
	} {
		t.Run(row.line, func(t *testing.T) {
			o, err := Judge(context.Background(), set, Call{
				Request: Request{Tool: row.tool, ContractVersion: row.version, RequestID: "req.A1b2C3d4"}, Raw: []byte(`{"temp":20}`),
			}, Judgement{Now: noon})
			if err != nil || o.Result.Failure == nil || o.Result.Failure.Code != contract.UnknownTool || o.Result.Failure.Retryable {
				t.Fatalf("%+v %v", o.Result, err)
			}
			if o.Result.Tool != row.name || o.Result.ContractVersion != 0 || o.Verdict.Rejections[0].Reason != row.reason {
				t.Errorf("%+v %+v", o.Result, o.Verdict.Rejections)
			}
		})
	}
}
