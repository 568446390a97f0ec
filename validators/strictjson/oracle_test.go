package strictjson_test

import (
	"bytes"
	"encoding/json"
	"io"
	"math/big"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// The second opinion on what Parse refuses, beyond the grammar and UTF-8: a walk over
// the tokens of encoding/json that looks for duplicate names, and one over the source
// for lone surrogates. It is slow and recursive, as an oracle may be.

// accepts says what Parse does, computed another way: by encoding/json's scanner and
// the strictness that is documented. sure is false where a limit may decide.
func accepts(src []byte) (yes, sure bool) {
	if !utf8.Valid(src) || !json.Valid(src) {
		return false, true
	}
	decoder := json.NewDecoder(bytes.NewReader(src))
	decoder.UseNumber()
	return walk(decoder, src)
}

// walk reads the whole value; sure is false where a limit or the magnitude of a number
// may decide.
func walk(d *json.Decoder, src []byte) (yes, sure bool) {
	if loneSurrogate(string(src)) {
		return false, !nearLimits(src)
	}
	unique, err := uniqueNames(d)
	if err != nil {
		return false, false
	}
	return unique, !nearLimits(src)
}

func uniqueNames(d *json.Decoder) (bool, error) {
	token, err := d.Token()
	if err != nil {
		return false, err
	}
	open, ok := token.(json.Delim)
	if !ok {
		return true, nil
	}
	unique := true
	names := make(map[string]bool)
	for d.More() {
		if open == '{' {
			name, err := d.Token()
			if err != nil {
				return false, err
			}
			if names[name.(string)] {
				unique = false
			}
			names[name.(string)] = true
		}
		inner, err := uniqueNames(d)
		if err != nil {
			return false, err
		}
		unique = unique && inner
	}
	if _, err := d.Token(); err != nil && err != io.EOF {
		return false, err
	}
	return unique, nil
}

var (
	escapes = regexp.MustCompile(`\\(u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)`)
	numbers = regexp.MustCompile(`-?[0-9][0-9.eE+-]*`)
)

func loneSurrogate(src string) bool {
	for _, e := range escapes.FindAllString(src, -1) {
		if len(e) == 6 && strings.ContainsAny(e[2:3], "dD") && strings.ContainsAny(e[3:4], "89abcdefABCDEF") {
			return true
		}
	}
	return false
}

// nearLimits is true where an exponent has three digits or a text is long.
func nearLimits(src []byte) bool {
	limits := strictjson.Ceilings()
	if len(src) > 100_000 || strings.Count(string(src), "[")+strings.Count(string(src), "{") > limits.MaxDepth {
		return true
	}
	for _, n := range numbers.FindAllString(string(src), -1) {
		_, exponent, _ := strings.Cut(strings.ToLower(n), "e")
		if len(n) > limits.MaxNumberChars || len(strings.TrimLeft(exponent, "+-0")) > 2 {
			return true
		}
	}
	return longString(string(src), limits.MaxNameChars)
}

func longString(src string, most int) bool {
	for _, piece := range strings.Split(src, `"`) {
		if len(piece) > most {
			return true
		}
	}
	return false
}

// rat is the exact value of a number token, by math/big.
func rat(token string) *big.Rat {
	r, ok := new(big.Rat).SetString(token)
	if !ok {
		panic("no number: " + token)
	}
	return r
}

// A1, A3, D1: accept or refuse as encoding/json does, but for the documented strictness.
func TestAgainstEncodingJSON(t *testing.T) {
	const junk = "\"\"\\{}[]:,,0123456789eE+-.truefalsn \n\x00\x1f\x7f\x80\xc3\xff\xed\xa0/u"
	accepted, refused := 0, 0
	for seed := range uint64(300) {
		w := newWriter(seed)
		w.value(3)
		plain := w.b.String()
		for range 40 {
			src := []byte(plain)
			for range 1 + w.IntN(2) {
				at := w.IntN(len(src))
				switch w.IntN(4) {
				case 0:
					src[at] = junk[w.IntN(len(junk))]
				case 1:
					src = append(src[:at], src[at+1:]...)
				case 2:
					src = append(src[:at], append([]byte{junk[w.IntN(len(junk))]}, src[at:]...)...)
				case 3:
					from := w.IntN(len(src))
					src = append(src[:at:at], src[min(from, at):]...)
				}
				if len(src) == 0 {
					break
				}
			}
			if compareWithOracle(t, src) {
				accepted++
			} else {
				refused++
			}
		}
	}
	if accepted < 500 || refused < 500 {
		t.Errorf("%d accepted, %d refused: the mutations prove too little", accepted, refused)
	}
}

func compareWithOracle(t *testing.T, src []byte) bool {
	t.Helper()
	v, err := strictjson.Parse(src, strictjson.Ceilings())
	yes, sure := accepts(src)
	if sure && yes != (err == nil) {
		t.Errorf("%s: %v, the oracle says %v", brief(string(src)), err, yes)
	}
	if err != nil {
		var fault *strictjson.Error
		if fault, _ = err.(*strictjson.Error); fault == nil {
			t.Fatalf("error %T", err)
		}
		checkFault(t, src, fault)
		return false
	}
	checkTree(t, src, v)
	return true
}

func FuzzParse(f *testing.F) {
	for _, src := range []string{
		`{"a":1,"a":2}`, `{"n\u0061me":"\ud83d\ude00","b":[1.50,-0,1e308,true,false,null]}`, "\ufeff{}", "\"\xff\"", `"\ud800"`, `[1,]`, `[[[]]]`, `{"":{"~":[{}]}}`,
		`{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"i":9,"j":10,"k":11,"l":12,"m":13,"\u006d":14}`, " 1e309 ", "1e", `"`, `{"a":1 "b"}`, "01", "-", `{"a":[{"b":[`,
	} {
		f.Add([]byte(src))
	}
	narrow := strictjson.Limits{MaxBytes: 1 << 10, MaxDepth: 3, MaxItems: 5, MaxStringChars: 4, MaxNameChars: 3, MaxNumberChars: 5}
	f.Fuzz(func(t *testing.T, src []byte) {
		if len(src) > 64<<10 {
			t.Skip("long texts are slow to judge twice")
		}
		before := string(src)
		ok := compareWithOracle(t, src)
		if before != string(src) {
			t.Error("the input was written to")
		}
		v, err := strictjson.Parse(src, narrow)
		if err != nil {
			fault, _ := err.(*strictjson.Error)
			checkFault(t, src, fault)
			if ok && !fault.Reason.IsLimit() {
				t.Errorf("with narrow limits: %v", fault)
			}
			return
		}
		if !ok {
			t.Error("narrow limits let pass what the ceilings refuse")
		}
		everyValue(v, func(x strictjson.Value) { checkPath(t, v, x) })
	})
}
