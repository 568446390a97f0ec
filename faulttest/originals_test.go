package faulttest

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hallmark-gate/hallmark/audit/seal"
	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
	"github.com/hallmark-gate/hallmark/internal/outside"
)

// A17, A21: the operator's identity opens every original that was kept, and finds what the
// tool returned; nothing that the service has opens one.
func (s *secrets) openOriginals(t *testing.T, r record, store place) {
	t.Helper()
	own := serviceKeys(t, store)
	opened := 0
	for _, p := range s.planted {
		if e := r.events[p.id]; !p.kept || !e.GetOriginalKept() {
			if p.kept {
				t.Errorf("%s: no original is kept", p.where)
			}
			continue
		}
		ctx, cancel := outside.Guard()
		reply, err := s.p.audit.GetOriginal(ctx, &hallmarkv1.GetOriginalRequest{DecisionId: p.id})
		cancel()
		if err != nil {
			t.Errorf("%s: %v", p.where, err)
			continue
		}
		header, original, err := seal.Open(s.identity, reply.GetSealed())
		if err != nil || header.DecisionID != p.id || !bytes.Contains(original, []byte(p.marker)) {
			t.Errorf("%s: the operator opens %d bytes of %q: %v", p.where, len(original), header.DecisionID, err)
		}
		if opened == 0 { // all are sealed to the same
			for name, ids := range own {
				if _, _, err := seal.Open(ids, reply.GetSealed()); err == nil {
					t.Errorf("%s: %s opens the original", p.where, name)
				}
			}
		}
		s.add(inReply, reply.GetSealed()) // what is sealed shows nothing
		opened++
	}
	if opened == 0 {
		t.Error("no original was kept: nothing was proved")
	}
	t.Logf("%d originals opened, %d keys of the service tried", opened, len(own))
}

// serviceKeys makes an identity of everything in the data directory that can be one in any
// way: whole files, their lines, and every 32 bytes that a key could be.
func serviceKeys(t *testing.T, store place) map[string]*seal.Identities {
	t.Helper()
	out := map[string]*seal.Identities{}
	try := func(name string, text []byte) {
		if ids, err := seal.ParseIdentities(text); err == nil {
			out[name] = ids
		}
	}
	files := 0
	err := filepath.WalkDir(store.data, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(name) //nolint:gosec // below the test's own directory
		if err != nil {
			return err
		}
		files++
		try(name, text)
		for line := range bytes.Lines(text) {
			try(name+", a line", line)
		}
		if strings.Contains(strings.ToUpper(string(text)), "AGE-SECRET-KEY-") {
			t.Errorf("%s holds an identity", name)
		}
		for at, secret := range secretsIn(text) {
			try(name+", "+at, []byte(identityOf(secret)))
		}
		return nil
	})
	if err != nil || files == 0 {
		t.Fatalf("%d files of the service: %v", files, err)
	}
	return out
}

var keyLike = regexp.MustCompile(`[A-Za-z0-9_-]{43}`)

// secretsIn are the 32 bytes that a file is, and those that its text encodes.
func secretsIn(text []byte) map[string][]byte {
	out := map[string][]byte{}
	if len(text) == 32 {
		out["its bytes"] = text
	}
	for n, word := range keyLike.FindAll(text, 1000) {
		if secret, err := base64.RawURLEncoding.DecodeString(string(word)); err == nil {
			out[fmt.Sprint("key ", n)] = secret
		}
	}
	return out
}

// identityOf writes 32 bytes as an age identity: Bech32 (BIP 173) in capitals.
func identityOf(secret []byte) string {
	const prefix, letters = "age-secret-key-", "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
	var words []byte // of 5 bits
	var held, bits uint
	for _, b := range secret {
		held, bits = held<<8|uint(b), bits+8
		for bits >= 5 {
			bits -= 5
			words = append(words, byte(held>>bits&31))
		}
	}
	if bits > 0 {
		words = append(words, byte(held<<(5-bits)&31))
	}
	sum := uint32(1)
	add := func(word byte) {
		top := sum >> 25
		sum = (sum&0x1ffffff)<<5 ^ uint32(word)
		for i, g := range [...]uint32{0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3} {
			if top>>i&1 == 1 {
				sum ^= g
			}
		}
	}
	for _, c := range []byte(prefix) {
		add(c >> 5)
	}
	add(0)
	for _, c := range []byte(prefix) {
		add(c & 31)
	}
	for _, w := range words {
		add(w)
	}
	for range 6 {
		add(0)
	}
	for i := range 6 {
		words = append(words, byte((sum^1)>>(5*(5-i))&31))
	}
	out := []byte(prefix + "1")
	for _, w := range words {
		out = append(out, letters[w])
	}
	return strings.ToUpper(string(out)) + "\n"
}

// Bytes become an identity that is one.
func TestIdentityOf(t *testing.T) {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret)
	if _, err := seal.ParseIdentities([]byte(identityOf(secret))); err != nil {
		t.Error(err)
	}
}
