package strictjson_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// The y_ files that a reader which refuses duplicate names must refuse; no others.
var refusedOfY = map[string]bool{
	"y_object_duplicated_key.json":           true,
	"y_object_duplicated_key_and_value.json": true,
}

const accepted = strictjson.Reason(0)

// The i_ files, which RFC 8259 leaves to the reader, and why each has its verdict.
var verdictsOfI = map[string]struct {
	reason strictjson.Reason
	why    string
}{
	"i_number_double_huge_neg_exp.json":                   {strictjson.NumberLimit, "exponent -787; zero as a double"},
	"i_number_huge_exp.json":                              {strictjson.NumberLimit, "an exponent of 63 digits; infinite as a double"},
	"i_number_neg_int_huge_exp.json":                      {strictjson.NumberLimit, "exponent 9999; infinite as a double"},
	"i_number_pos_double_huge_exp.json":                   {strictjson.NumberLimit, "exponent 9999; infinite as a double"},
	"i_number_real_neg_overflow.json":                     {strictjson.NumberLimit, "exponent 100005; infinite as a double"},
	"i_number_real_pos_overflow.json":                     {strictjson.NumberLimit, "exponent 100005; infinite as a double"},
	"i_number_real_underflow.json":                        {strictjson.NumberLimit, "exponent -9999998; zero as a double"},
	"i_number_too_big_neg_int.json":                       {accepted, "30 digits are kept as they are; no double is made of them"},
	"i_number_too_big_pos_int.json":                       {accepted, "21 digits are kept as they are"},
	"i_number_very_big_negative_int.json":                 {accepted, "48 digits are kept as they are"},
	"i_object_key_lone_2nd_surrogate.json":                {strictjson.Encoding, "a lone low surrogate in a name (RFC 7493 section 2.1)"},
	"i_string_1st_surrogate_but_2nd_missing.json":         {strictjson.Encoding, "a lone high surrogate"},
	"i_string_1st_valid_surrogate_2nd_invalid.json":       {strictjson.Encoding, "a high surrogate before another character"},
	"i_string_UTF-16LE_with_BOM.json":                     {strictjson.Encoding, "UTF-16; its mark is no UTF-8"},
	"i_string_UTF-8_invalid_sequence.json":                {strictjson.Encoding, "not UTF-8 (RFC 3629)"},
	"i_string_UTF8_surrogate_U+D800.json":                 {strictjson.Encoding, "an encoded surrogate is not UTF-8"},
	"i_string_incomplete_surrogate_and_escape_valid.json": {strictjson.Encoding, "a high surrogate before another escape"},
	"i_string_incomplete_surrogate_pair.json":             {strictjson.Encoding, "a low surrogate before a letter"},
	"i_string_incomplete_surrogates_escape_valid.json":    {strictjson.Encoding, "two high surrogates"},
	"i_string_invalid_lonely_surrogate.json":              {strictjson.Encoding, "a lone high surrogate"},
	"i_string_invalid_surrogate.json":                     {strictjson.Encoding, "a high surrogate before letters"},
	"i_string_invalid_utf-8.json":                         {strictjson.Encoding, "byte FF never stands in UTF-8"},
	"i_string_inverted_surrogates_U+1D11E.json":           {strictjson.Encoding, "a pair in the wrong order"},
	"i_string_iso_latin_1.json":                           {strictjson.Encoding, "Latin-1 is not UTF-8"},
	"i_string_lone_second_surrogate.json":                 {strictjson.Encoding, "a lone low surrogate"},
	"i_string_lone_utf8_continuation_byte.json":           {strictjson.Encoding, "a continuation byte that continues nothing"},
	"i_string_not_in_unicode_range.json":                  {strictjson.Encoding, "beyond U+10FFFF"},
	"i_string_overlong_sequence_2_bytes.json":             {strictjson.Encoding, "an overlong solidus"},
	"i_string_overlong_sequence_6_bytes.json":             {strictjson.Encoding, "six bytes for one character"},
	"i_string_overlong_sequence_6_bytes_null.json":        {strictjson.Encoding, "six bytes for NUL"},
	"i_string_truncated-utf-8.json":                       {strictjson.Encoding, "a sequence that breaks off"},
	"i_string_utf16BE_no_BOM.json":                        {strictjson.Syntax, "UTF-16 begins with NUL, which is UTF-8 and no JSON"},
	"i_string_utf16LE_no_BOM.json":                        {strictjson.Syntax, "UTF-16 has NUL after the bracket, which is UTF-8 and no JSON"},
	"i_structure_500_nested_arrays.json":                  {strictjson.DepthLimit, "depth 500, allowed are 64"},
	"i_structure_UTF-8_BOM_empty_object.json":             {strictjson.Syntax, "a byte order mark is refused and named, never skipped"},
}

// A1, A3, D1: the suite's parsing half, whole, under the service's ceilings.
func TestConformanceJSONTestSuite(t *testing.T) {
	folder := shared(t, "corpora", "json-test-suite", "test_parsing")
	files, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	count := make(map[string]int)
	for _, file := range files {
		name := file.Name()
		src, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		count[name[:2]]++
		got := verdict(t, src)
		switch name[:2] {
		case "y_":
			want := accepted
			if refusedOfY[name] {
				want = strictjson.DuplicateName
			}
			if got != want {
				t.Errorf("%s: %v, want %v", name, got, want)
			}
		case "n_":
			if got == accepted || got == strictjson.DuplicateName {
				t.Errorf("%s: %v, want a fault of the grammar", name, got)
			}
		case "i_":
			want, listed := verdictsOfI[name]
			if !listed || want.why == "" || got != want.reason {
				t.Errorf("%s: %v, want %v (%s)", name, got, want.reason, want.why)
			}
		}
	}
	for prefix, want := range map[string]int{"y_": 95, "n_": 188, "i_": len(verdictsOfI)} {
		if count[prefix] != want {
			t.Errorf("%d files %s*, want %d", count[prefix], prefix, want)
		}
	}
	if len(files) != 318 || len(verdictsOfI) != 35 {
		t.Errorf("%d files and %d verdicts of i_, want 318 and 35", len(files), len(verdictsOfI))
	}
}

// verdict is the reason of a refusal, or accepted; either way all invariants hold.
func verdict(t *testing.T, src []byte) strictjson.Reason {
	t.Helper()
	v, err := strictjson.Parse(src, strictjson.Ceilings())
	if err == nil {
		checkTree(t, src, v)
		return accepted
	}
	fault := refusal(t, string(src), strictjson.Ceilings())
	return fault.Reason
}

// What becomes of the texts about which readers differ: the reason of the refusal, or
// the text that is written, which is the one that was read, and its canonical form,
// empty where it has none.
var transforms = map[string]struct {
	reason    strictjson.Reason
	text      string
	canonical string
}{
	"number_-9223372036854775808.json":         {text: "[-9223372036854775808]"},
	"number_-9223372036854775809.json":         {text: "[-9223372036854775809]"},
	"number_1.0.json":                          {text: "[1.0]", canonical: "[1]"},
	"number_1.000000000000000005.json":         {text: "[1.000000000000000005]"},
	"number_1000000000000000.json":             {text: "[1000000000000000]", canonical: "[1000000000000000]"},
	"number_10000000000000000999.json":         {text: "[10000000000000000999]"},
	"number_1e-999.json":                       {reason: strictjson.NumberLimit},
	"number_1e6.json":                          {text: "[1E6]", canonical: "[1000000]"},
	"number_9223372036854775807.json":          {text: "[9223372036854775807]"},
	"number_9223372036854775808.json":          {text: "[9223372036854775808]"},
	"object_key_nfc_nfd.json":                  {text: "{\"\u00e9\":\"NFC\",\"e\u0301\":\"NFD\"}", canonical: "{\"e\u0301\":\"NFD\",\"\u00e9\":\"NFC\"}"},
	"object_key_nfd_nfc.json":                  {text: "{\"e\u0301\":\"NFD\",\"\u00e9\":\"NFC\"}", canonical: "{\"e\u0301\":\"NFD\",\"\u00e9\":\"NFC\"}"},
	"object_same_key_different_values.json":    {reason: strictjson.DuplicateName},
	"object_same_key_same_value.json":          {reason: strictjson.DuplicateName},
	"object_same_key_unclear_values.json":      {reason: strictjson.DuplicateName},
	"string_1_escaped_invalid_codepoint.json":  {reason: strictjson.Encoding},
	"string_1_invalid_codepoint.json":          {reason: strictjson.Encoding},
	"string_2_escaped_invalid_codepoints.json": {reason: strictjson.Encoding},
	"string_2_invalid_codepoints.json":         {reason: strictjson.Encoding},
	"string_3_escaped_invalid_codepoints.json": {reason: strictjson.Encoding},
	"string_3_invalid_codepoints.json":         {reason: strictjson.Encoding},
	"string_with_escaped_NULL.json":            {text: `["A\u0000B"]`, canonical: `["A\u0000B"]`},
}

// D1: the suite's other half.
func TestConformanceJSONTestSuiteTransform(t *testing.T) {
	folder := shared(t, "corpora", "json-test-suite", "test_transform")
	files, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 22 || len(transforms) != 22 {
		t.Errorf("%d files and %d rows, want 22", len(files), len(transforms))
	}
	for _, file := range files {
		src, err := os.ReadFile(filepath.Join(folder, file.Name()))
		if err != nil {
			t.Fatal(err)
		}
		want, listed := transforms[file.Name()]
		got := verdict(t, src)
		if !listed || got != want.reason {
			t.Errorf("%s: %v, want %v", file.Name(), got, want.reason)
		}
		if got != accepted {
			continue
		}
		v := mustParse(t, string(src))
		if text := string(strictjson.AppendJSON(nil, v)); text != want.text {
			t.Errorf("%s: written as %s", file.Name(), text)
		}
		if text := canonical(t, string(src), strictjson.RefuseBigNumbers); text != want.canonical {
			t.Errorf("%s: canonical form %s", file.Name(), text)
		}
	}
}

// D1: real replies of an API come out as they went in, digit by digit and name by name.
func TestConformanceStripe(t *testing.T) {
	data, err := os.ReadFile(shared(t, "corpora", "api-payloads", "stripe-fixtures.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	objects := 0
	for line := range strings.Lines(string(data)) {
		row := mustParse(t, line)
		instance := row.Member("instance")
		if instance.Kind() != strictjson.Object {
			t.Fatalf("line %d has no object", objects+1)
		}
		objects++
		checkTree(t, []byte(line), row)
		written := strictjson.AppendJSON(nil, instance)
		back := mustParse(t, string(written))
		if !strictjson.Equal(instance, back) {
			t.Errorf("line %d: another value", objects)
		}
		// The judge is another reader: same tokens in the same order.
		var raw struct {
			Instance json.RawMessage `json:"instance"`
		}
		if err := json.Unmarshal([]byte(line), &raw); err != nil {
			t.Fatal(err)
		}
		if a, b := tokens(t, raw.Instance), tokens(t, written); a != b {
			t.Errorf("line %d: other tokens", objects)
		}
	}
	if objects != 176 {
		t.Errorf("%d objects, want 176", objects)
	}
}

// tokens lists names, digits and texts as encoding/json reads them.
func tokens(t *testing.T, src []byte) string {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(src))
	decoder.UseNumber()
	var b strings.Builder
	for {
		token, err := decoder.Token()
		if err != nil {
			return b.String()
		}
		switch token := token.(type) {
		case json.Number:
			b.WriteString(token.String())
		default:
			text, err := json.Marshal(token)
			if err != nil {
				t.Fatal(err)
			}
			b.Write(text)
		}
		b.WriteByte('\n')
	}
}

// The inputs of public bug reports about JSON (cases 018 to 041), and the reason of
// each refusal; the accepted ones are judged further on, by schema and text rules.
var verdictsOfCases = map[string]strictjson.Reason{
	"018-dup-plain.json":                 strictjson.DuplicateName,
	"019-dup-escaped.json":               strictjson.DuplicateName,
	"021-fold-long-s-kelvin.json":        accepted,
	"023-lone-surrogate-value.json":      strictjson.Encoding,
	"025-invalid-utf8.json":              strictjson.Encoding,
	"025-invalid-utf8.cesu.json":         strictjson.Encoding,
	"025-invalid-utf8.overlong.json":     strictjson.Encoding,
	"026-bom.json":                       strictjson.Syntax,
	"027-nan-infinity.json":              strictjson.Syntax,
	"028-trailing-data.json":             strictjson.Syntax,
	"028-trailing-data.ws.json":          accepted,
	"030-invalid-escape-name-merge.json": strictjson.Syntax,
	"032-exponent-panic.json":            strictjson.NumberLimit,
	"032-exponent-panic.neg.json":        strictjson.NumberLimit,
	"032-exponent-panic.min.json":        strictjson.NumberLimit,
	"035-bigint-preserved.json":          accepted,
	"037-double-overflow.json":           strictjson.NumberLimit,
	"039-nul-in-string.json":             accepted,
	"040-u2028-in-string.json":           accepted,
}

// A3, D1: every file of the JSON area; a new one without a row here is a failure.
func TestConformanceCases(t *testing.T) {
	folder := shared(t, "cases", "files")
	for name, want := range verdictsOfCases {
		src, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		if got := verdict(t, src); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	files, err := filepath.Glob(filepath.Join(folder, "0[1-4][0-9]-*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		if _, listed := verdictsOfCases[name]; !listed && name >= "018" && name < "042" && !strings.HasSuffix(name, ".schema.json") {
			t.Errorf("%s has no verdict", name)
		}
	}
}
