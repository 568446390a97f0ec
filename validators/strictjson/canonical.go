package strictjson

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// BigNumbers says what [AppendCanonical] does with a number that no IEEE 754 double
// stands for: an integer beyond ±(2^53−1), or a fraction other than the shortest one
// that its nearest double is written with, such as 0.10000000000000000001.
type BigNumbers bool

// The two ways. RFC 8785 knows only the first.
const (
	RefuseBigNumbers BigNumbers = false
	KeepBigNumbers   BigNumbers = true // the digits stay as they were written; equal numbers may have two forms
)

// AppendCanonical appends the canonical form of v (RFC 8785): members sorted by the
// UTF-16 code units of their names, strings escaped and numbers written as ECMAScript
// does, no white space. Text is not normalised. The error is an [*Error] with reason
// [NumberLimit]; the bytes are then nil. An absent value appends nothing. It recurses
// once for each level of nesting.
func AppendCanonical(dst []byte, v Value, big BigNumbers) ([]byte, error) {
	switch v.Kind() {
	case Absent:
		return dst, nil
	case Number:
		return appendCanonicalNumber(dst, v, big)
	case String:
		return AppendString(dst, v.Text()), nil
	case Array:
		dst = append(dst, '[')
		for i, e := range v.Elements() {
			if i > 0 {
				dst = append(dst, ',')
			}
			var err error
			if dst, err = AppendCanonical(dst, e, big); err != nil {
				return nil, err
			}
		}
		return append(dst, ']'), nil
	case Object:
		return appendCanonicalObject(dst, v, big)
	}
	return AppendJSON(dst, v), nil
}

func appendCanonicalObject(dst []byte, v Value, big BigNumbers) ([]byte, error) {
	type member struct {
		name  string
		value Value
	}
	var few [8]member
	members := few[:0]
	if v.Len() > len(few) {
		members = make([]member, 0, v.Len())
	}
	for name, m := range v.Members() {
		members = append(members, member{name, m})
	}
	slices.SortFunc(members, func(a, b member) int { return compareUTF16(a.name, b.name) })
	dst = append(dst, '{')
	for i, m := range members {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(AppendString(dst, m.name), ':')
		var err error
		if dst, err = AppendCanonical(dst, m.value, big); err != nil {
			return nil, err
		}
	}
	return append(dst, '}'), nil
}

// compareUTF16 orders by UTF-16 code units (RFC 8785 section 3.2.3). That is the order
// of code points but for U+E000 to U+FFFF, which stand behind the surrogates of all
// code points beyond them.
func compareUTF16(a, b string) int {
	for a != "" && b != "" {
		c, size := utf8.DecodeRuneInString(a)
		d, other := utf8.DecodeRuneInString(b)
		if c != d {
			return cmp.Compare(placeUTF16(c), placeUTF16(d))
		}
		a, b = a[size:], b[other:]
	}
	return cmp.Compare(len(a), len(b))
}

func placeUTF16(c rune) rune {
	if c >= 0xE000 && c <= 0xFFFF {
		return c + utf8.MaxRune
	}
	return c
}

// maxSafeInteger is 2^53−1 (RFC 7493 section 2.2).
const maxSafeInteger = 1<<53 - 1

func appendCanonicalNumber(dst []byte, v Value, big BigNumbers) ([]byte, error) {
	d := v.Decimal()
	if text, ok := asDouble(v.Digits(), d); ok {
		return append(dst, text...), nil
	}
	if big == KeepBigNumbers {
		return append(dst, v.Digits()...), nil
	}
	return nil, &Error{
		Reason: NumberLimit, Offset: v.Offset(), Pointer: v.Path().String(),
		Detail: "no IEEE 754 double stands for this number",
	}
}

// asDouble writes a number as ECMAScript's Number::toString does (RFC 8785 section
// 3.2.2.3); ok is false where that would change its value or where it is an integer
// that other readers round.
func asDouble(digits string, d Decimal) (text string, ok bool) {
	if d.IsZero() {
		return "0", true
	}
	f, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return "", false
	}
	if d.IsInteger() && (f > maxSafeInteger || f < -maxSafeInteger) {
		return "", false
	}
	shortest := strconv.FormatFloat(f, 'e', -1, 64)
	back, ok := ParseDecimal(shortest)
	if !ok || back.Cmp(d) != 0 {
		return "", false
	}
	if d.exp > -6 && d.exp <= 21 {
		return strconv.FormatFloat(f, 'f', -1, 64), true
	}
	mantissa, exponent, _ := strings.Cut(shortest, "e")
	sign := exponent[:1]
	return mantissa + "e" + sign + strings.TrimLeft(exponent[1:], "0"), true
}
