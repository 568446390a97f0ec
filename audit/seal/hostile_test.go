package seal_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"filippo.io/age"

	"github.com/hallmark-gate/hallmark/audit/seal"
)

// A byte changed, taken away or added anywhere is found, and nothing is given out.
func TestTampering(t *testing.T) {
	a, b := newPair(t), newPair(t)
	sealed, err := recipients(t, a, b).Seal(header(), []byte(`{"state":"done"}`))
	if err != nil {
		t.Fatal(err)
	}
	refused := func(what string, changed []byte) {
		t.Helper()
		h, original, err := seal.Open(b.ids, changed)
		if err == nil || original != nil || h.Format != "" {
			t.Errorf("%s: %v %+v %q", what, err, h, original)
		}
		if err != nil && !errors.Is(err, seal.ErrDamaged) && !errors.Is(err, seal.ErrFormat) && !errors.Is(err, seal.ErrNoIdentity) {
			t.Errorf("%s: %v is of no kind", what, err)
		}
	}
	for i := range sealed {
		for _, bit := range []byte{1, 0x20, 0x80} {
			changed := bytes.Clone(sealed)
			changed[i] ^= bit
			refused(fmt.Sprintf("bit %x of byte %d", bit, i), changed)
		}
		refused(fmt.Sprintf("cut at %d", i), sealed[:i])
	}
	refused("one byte more", append(bytes.Clone(sealed), 0))
	refused("twice", append(bytes.Clone(sealed), sealed...))
	refused("too long", make([]byte, seal.MaxSealed+1))
	refused("many recipients", []byte("age-encryption.org/v1\n"+strings.Repeat("-> X25519 a\n\n", 10_000)))
}

// wrap seals any plaintext, as somebody else could.
func wrap(t testing.TB, p pair, parts ...[]byte) []byte {
	t.Helper()
	key, err := age.ParseX25519Recipient(strings.TrimSpace(p.recipient))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w, err := age.Encrypt(&out, key)
	for _, part := range parts {
		if err == nil {
			_, err = w.Write(part)
		}
	}
	if err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

const minimal = `{"format":"hallmark-original/1","decision_id":"d","at":"2026-01-15T11:00:00Z","tool":"t","request":{"tool":"t","request_id":"r"},"original_bytes":2,"bytes":2}`

// A header has one spelling.
func TestStrictHeader(t *testing.T) {
	p := newPair(t)
	if h, original, err := seal.Open(p.ids, wrap(t, p, []byte(minimal+"\n{}"))); err != nil || string(original) != "{}" || h.Tool != "t" {
		t.Fatal(h, original, err)
	}
	for _, tt := range []struct{ line, old, new string }{
		{"another version", "original/1", "original/2"},
		{"unknown member", `"bytes":2}`, `"bytes":2,"x":1}`},
		{"repeated member", `"tool":"t",`, `"tool":"u","tool":"t",`},
		{"another case", `"bytes"`, `"Bytes"`},
		{"white space", `,"bytes"`, `, "bytes"`},
		{"an escape", `"tool":"t"`, `"tool":"\u0074"`},
		{"another order", `"original_bytes":2,"bytes":2`, `"bytes":2,"original_bytes":2`},
		{"null", `"decision_id":"d"`, `"decision_id":null`},
		{"another zone", `11:00:00Z`, `12:00:00+01:00`},
		{"a time that is none", `11:00:00Z`, `25:00:00Z`},
		{"unknown kind", `"original_bytes"`, `"redacted":["address"],"original_bytes"`},
		{"kinds in another order", `"original_bytes"`, `"redacted":["token","email"],"original_bytes"`},
		{"a kind twice", `"original_bytes"`, `"redacted":["email","email"],"original_bytes"`},
		{"unknown status", `"original_bytes"`, `"upstream":{"status":{"kind":"smtp"}},"original_bytes"`},
		{"an empty member", `"original_bytes"`, `"upstream":{},"original_bytes"`},
		{"more than it says", `"bytes":2}`, `"bytes":1}`},
		{"less than it says", `"bytes":2}`, `"bytes":3}`},
		{"negative", `"bytes":2}`, `"bytes":-2}`},
		{"CRLF", `2}`, "2}\r"},
		{"two values", `2}`, "2}{}"},
		{"an array", minimal, `[]`},
	} {
		t.Run(tt.line, func(t *testing.T) {
			changed := strings.Replace(minimal, tt.old, tt.new, 1)
			if changed == minimal {
				t.Fatal("nothing was changed")
			}
			if _, original, err := seal.Open(p.ids, wrap(t, p, []byte(changed+"\n{}"))); !errors.Is(err, seal.ErrFormat) || original != nil {
				t.Error(err)
			}
		})
	}
	for _, tt := range []struct {
		line  string
		parts [][]byte
	}{
		{"empty", nil},
		{"no line feed", [][]byte{[]byte(minimal)}},
		{"a long line", [][]byte{bytes.Repeat([]byte(" "), seal.MaxHeader), []byte(minimal + "\n{}")}},
		{"too much", [][]byte{[]byte(minimal + "\n"), make([]byte, seal.MaxOpened)}},
	} {
		t.Run(tt.line, func(t *testing.T) {
			if _, original, err := seal.Open(p.ids, wrap(t, p, tt.parts...)); !errors.Is(err, seal.ErrFormat) || original != nil {
				t.Error(err)
			}
		})
	}
}

func FuzzOpen(f *testing.F) {
	p := newPair(f)
	f.Add([]byte(minimal+"\n{}"), true)
	f.Add([]byte("{}\n"), true)
	f.Add(wrap(f, p, []byte(minimal+"\n{}")), false)
	f.Add([]byte("age-encryption.org/v1\n-> X25519 a\n\n--- a\n"), false)
	f.Fuzz(func(t *testing.T, in []byte, sealIt bool) {
		if sealIt {
			in = wrap(t, p, in)
		}
		h, original, err := seal.Open(p.ids, in)
		if err != nil {
			if original != nil || h.Format != "" {
				t.Error("an error and a result")
			}
			return
		}
		if uint64(len(original)) != h.Bytes || h.Format != seal.Format {
			t.Errorf("%+v", h)
		}
	})
}
