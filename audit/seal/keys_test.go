package seal_test

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/hallmark-gate/hallmark/audit/seal"
)

func TestParseRecipients(t *testing.T) {
	a, b := newPair(t), newPair(t)
	first, second := strings.TrimSpace(a.recipient), strings.TrimSpace(b.recipient)
	secret := a.identity[strings.Index(a.identity, "AGE-SECRET-KEY-1"):]
	many := func(n int) string {
		var text strings.Builder
		for range n {
			text.WriteString(newPair(t).recipient)
		}
		return text.String()
	}
	r, err := seal.ParseRecipients([]byte("# a\n" + first + "\n\n" + second))
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := r.Seal(seal.Header{}, []byte("original"))
	if err != nil {
		t.Fatal(err)
	}
	for _, who := range []pair{a, b} {
		if _, original, err := seal.Open(who.ids, sealed); err != nil || string(original) != "original" {
			t.Errorf("%q, %v", original, err)
		}
	}
	if _, err := seal.ParseRecipients([]byte(many(seal.MaxKeys))); err != nil {
		t.Error(err)
	}
	for _, tt := range []struct{ line, text, want string }{
		{"empty", "", "lists none"},
		{"comments", "# " + first + "\n", "lists none"},
		{"an identity", secret, "line 1 holds a secret key"},
		{"an identity beside", first + "\n" + secret, "line 2 holds a secret key"},
		{"an identity in a comment", first + "\n# was " + secret, "line 2 holds a secret key"},
		{"an identity in lower case", strings.ToLower(secret), "line 1 holds a secret key"},
		{"a post-quantum identity", "AGE-SECRET-KEY-PQ-1AAAA", "line 1 holds a secret key"},
		{"a plugin's identity", "age-plugin-yubikey-1aaaa", "line 1 is no recipient"},
		{"SSH", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI", "line 1 is a recipient of another kind"},
		{"plugin", "age1yubikey1qwt50d05nh5vutpdzmlg5wn80xq5negm4uj9ghv0snvdd3yysf5yw3rhl3t", "line 1 is a recipient of another kind"},
		{"post-quantum", "age1pq1aaaa", "line 1 is a recipient of another kind"},
		{"mistyped", first[:20] + "b" + first[21:], "line 1 is no valid recipient"},
		{"cut", first[:50], "line 1 is no valid recipient"},
		{"upper case", strings.ToUpper(first), "line 1 is no recipient"},
		{"low order", "age1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq5cu47z", "line 1 is a recipient that nothing can be sealed to"},
		{"two on a line", first + " " + second, "line 1 is"},
		{"a comment behind", first + " # a", "line 1 is no valid recipient"},
		{"twice", first + "\n\n" + first, "line 3 repeats"},
		{"a word", "operator@example.test", "line 1 is no recipient"},
		{"byte order mark", "\ufeff" + first, "line 1 is no recipient"},
		{"too many", many(seal.MaxKeys + 1), "line 33 is one too many"},
		{"too large", strings.Repeat("#", 65<<10), "larger than"},
	} {
		t.Run(tt.line, func(t *testing.T) {
			_, err := seal.ParseRecipients([]byte(tt.text))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatal(err)
			}
			for _, word := range strings.Fields(tt.text) {
				if len(word) > 12 && strings.Contains(strings.ToLower(err.Error()), strings.ToLower(word[12:])) {
					t.Errorf("%v repeats the file", err)
				}
			}
		})
	}
}

func TestParseIdentities(t *testing.T) {
	a, b := newPair(t), newPair(t)
	secret := strings.TrimSpace(a.identity[strings.Index(a.identity, "AGE-SECRET-KEY-1"):])
	for _, tt := range []struct{ line, text, want string }{
		{"empty", "# nothing\n", "holds none"},
		{"a recipient", a.recipient, "line 1 is a public key"},
		{"mistyped", secret[:30] + "Q" + secret[31:], "no valid identity"},
		{"cut", secret[:40], "line 1 is no valid identity"},
		{"another kind", "AGE-SECRET-KEY-PQ-1AAAA", "line 1 is no identity"},
		{"a word", "hunter2", "line 1 is no identity"},
		{"too many", strings.Repeat(secret+"\n", seal.MaxKeys+1), "line 33 is one too many"},
		{"too large", strings.Repeat("#", 65<<10), "larger than"},
	} {
		t.Run(tt.line, func(t *testing.T) {
			if secret[30] == 'Q' && tt.line == "mistyped" {
				t.Skip("the key holds the letter by chance")
			}
			_, err := seal.ParseIdentities([]byte(tt.text))
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), secret[20:]) {
				t.Fatal(err)
			}
		})
	}
	// A file of several opens what any of them can.
	ids, err := seal.ParseIdentities([]byte(a.identity + "\n" + b.identity))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []pair{a, b} {
		sealed, err := recipients(t, p).Seal(header(), []byte("x"))
		if err != nil {
			t.Fatal(err)
		}
		if _, original, err := seal.Open(ids, sealed); err != nil || string(original) != "x" {
			t.Error(err)
		}
	}
}

// RFC 4231, 4.3.
func TestHMAC(t *testing.T) {
	if got := seal.HMAC([]byte("Jefe"), []byte("what do ya want for nothing?")); got != "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843" {
		t.Error(got)
	}
}

func TestLoadOrCreateKey(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "audit.key")
	var wg sync.WaitGroup
	keys := make([][]byte, 16)
	for i := range keys { // replicas that start at once
		wg.Go(func() {
			key, err := seal.LoadOrCreateKey(path)
			if err != nil {
				t.Error(err)
			}
			keys[i] = key
		})
	}
	wg.Wait()
	for _, key := range keys {
		if len(key) != seal.KeySize || !bytes.Equal(key, keys[0]) || bytes.Equal(key, make([]byte, seal.KeySize)) {
			t.Error("different keys")
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Error(entries, err)
	}
	if info, err := os.Stat(path); err != nil || (runtime.GOOS != "windows" && info.Mode().Perm() != 0o600) {
		t.Error(info, err)
	}
	other, err := seal.LoadOrCreateKey(filepath.Join(dir, "other.key"))
	if err != nil || bytes.Equal(other, keys[0]) {
		t.Error(err)
	}
	for _, tt := range []struct {
		line    string
		content []byte
		mode    os.FileMode
		want    string
	}{
		{"short", []byte("secret"), 0o600, "not 32 bytes"},
		{"long", make([]byte, seal.KeySize+1), 0o600, "not 32 bytes"},
		{"empty", nil, 0o600, "not 32 bytes"},
		{"others read", keys[0], 0o604, "chmod 0600"},
		{"the group writes", keys[0], 0o620, "chmod 0600"},
		{"the group reads", keys[0], 0o640, ""},
	} {
		t.Run(tt.line, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "audit.key")
			if err := os.WriteFile(path, tt.content, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, tt.mode); err != nil {
				t.Fatal(err)
			}
			_, err := seal.LoadOrCreateKey(path)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Error(err)
			}
			if err != nil && (!strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "secret")) {
				t.Error(err)
			}
		})
	}
	for _, path := range []string{dir, filepath.Join(dir, "none", "audit.key")} {
		if _, err := seal.LoadOrCreateKey(path); err == nil || strings.Count(err.Error(), path) != 1 {
			t.Error(err)
		}
	}
}
