package base64url

import (
	"bytes"
	"testing"
)

func TestDecode(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []byte
		ok         bool
	}{
		{"nothing", "", []byte{}, true},
		{"one byte", "_w", []byte{0xff}, true},
		{"two bytes", "-_8", []byte{0xfb, 0xff}, true},
		{"three bytes", "AAEC", []byte{0, 1, 2}, true},
		{"half a byte", "A", nil, false},
		{"stray bits", "_x", nil, false},
		{"padding", "_w==", nil, false},
		{"the other alphabet", "+/8", nil, false},
		{"a line feed", "AA\nEC", nil, false},
		{"a carriage return", "AAEC\r", nil, false},
		{"line breaks alone", "\r\n", nil, false},
		{"a space", "AA EC", nil, false},
		{"a wide letter", "AAEС", nil, false},
		{"a NUL", "AAE\x00", nil, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := Decode(tt.text)
			if ok != tt.ok || !bytes.Equal(got, tt.want) {
				t.Errorf("Decode(%q) = %x, %v; want %x, %v", tt.text, got, ok, tt.want, tt.ok)
			}
		})
	}
}

// FuzzDecode holds the one spelling: what is taken is what is written, and the other way.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{"", "_w", "_x", "_w==", "AAEC", "AA\nEC", "AQAAAA\rAAAAAA"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		b, ok := Decode(s)
		if ok && (Encode(b) != s || EncodedLen(len(b)) != len(s)) {
			t.Errorf("%q is taken, and %q is written", s, Encode(b))
		}
		if again, ok := Decode(Encode([]byte(s))); !ok || string(again) != s {
			t.Errorf("the text of %q gives %q, %v", s, again, ok)
		}
	})
}
