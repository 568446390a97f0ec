package schema

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// appendKey appends bytes that are equal for two values exactly where the values are
// equal by JSON Schema Core section 4.2.2. Every part is tagged and every length is
// written, so that no two different values share a key: a hash over parts without
// lengths can be made to collide at will.
func appendKey(dst []byte, v strictjson.Value) []byte {
	dst = append(dst, byte(v.Kind()))
	switch v.Kind() {
	case strictjson.Bool:
		if v.IsTrue() {
			return append(dst, 1)
		}
		return append(dst, 0)
	case strictjson.Number:
		return appendNumberKey(dst, v.Digits())
	case strictjson.String:
		return appendTextKey(dst, v.Text())
	case strictjson.Array:
		dst = binary.AppendUvarint(dst, uint64(v.Len()))
		for _, e := range v.Elements() {
			dst = appendKey(dst, e)
		}
	case strictjson.Object:
		type member struct {
			name  string
			value strictjson.Value
		}
		members := make([]member, 0, v.Len())
		for name, m := range v.Members() {
			members = append(members, member{name, m})
		}
		slices.SortFunc(members, func(a, b member) int { return strings.Compare(a.name, b.name) })
		dst = binary.AppendUvarint(dst, uint64(len(members)))
		for _, m := range members {
			dst = appendKey(appendTextKey(dst, m.name), m.value)
		}
	}
	return dst
}

func appendTextKey(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

// appendNumberKey writes a number token as sign, digits without zeros at either end,
// and the power of ten of the last digit: 1, 1.0 and 10e-1 are one.
func appendNumberKey(dst []byte, token string) []byte {
	mantissa, exponent := token, int64(0)
	if e := strings.IndexAny(token, "eE"); e >= 0 {
		mantissa, exponent = token[:e], smallExponent(token[e+1:])
	}
	mantissa, negative := strings.CutPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	exponent -= int64(len(fraction))
	trimmed := strings.TrimRight(digits, "0")
	exponent += int64(len(digits) - len(trimmed))
	if trimmed == "" {
		negative, exponent = false, 0
	}
	sign := byte(0)
	if negative {
		sign = 1
	}
	return appendTextKey(binary.AppendVarint(append(dst, sign), exponent), trimmed)
}

// smallExponent reads an exponent that the reader let pass.
func smallExponent(s string) int64 {
	n := int64(0)
	digits := strings.TrimLeft(s, "+-")
	for i := range len(digits) {
		n = n*10 + int64(digits[i]-'0')
	}
	if s[0] == '-' {
		return -n
	}
	return n
}
