// Package base64url reads and writes base64url without padding (RFC 4648 section 5, RFC
// 7515 section 2) with one spelling for each value: what [Decode] takes is exactly what
// [Encode] writes. The standard decoder, also a strict one, skips line breaks; a token
// with some would be another name of the same thing.
package base64url

import "encoding/base64"

// strict refuses stray bits in the last character.
var strict = base64.RawURLEncoding.Strict()

// Encode returns the text of b.
func Encode(b []byte) string { return strict.EncodeToString(b) }

// AppendEncode appends the text of b to dst.
func AppendEncode(dst, b []byte) []byte { return strict.AppendEncode(dst, b) }

// EncodedLen is the length of the text of n bytes.
func EncodedLen(n int) int { return strict.EncodedLen(n) }

// Decode returns the bytes whose text is s, and whether there are any such: the empty
// text is that of no bytes.
func Decode(s string) ([]byte, bool) {
	for i := range len(s) {
		c := s[i]
		if !('A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '_') {
			return nil, false
		}
	}
	b, err := strict.DecodeString(s)
	return b, err == nil
}
