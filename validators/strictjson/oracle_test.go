package strictjson_test

import (
	"encoding/json"
	"io"
	"math/big"
	"regexp"
	"strings"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// The second opinion on what Parse refuses, beyond the grammar and UTF-8: a walk over
// the tokens of encoding/json that looks for duplicate names, and one over the source
// for lone surrogates. It is slow and recursive, as an oracle may be.

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
