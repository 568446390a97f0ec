package receipt_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/receipt"
)

// Init makes what is missing and leaves what is there.
func TestInit(t *testing.T) {
	w := newWorld(t)
	before := w.secret(t, receipt.Permits)
	must(t, os.Remove(filepath.Join(string(w.dir), "challenge.json")))
	_, err := w.dir.Load()
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v is not ErrNotExist", err)
	}
	made, err := w.dir.Init(now)
	must(t, err)
	if len(made) != 1 || made[0] != receipt.Challenges || w.secret(t, receipt.Permits) != before {
		t.Errorf("made %v", made)
	}
	w.reload(t)
	must(t, w.keys.Ready(now))
	for _, set := range receipt.Sets() {
		mode(t, filepath.Join(string(w.dir), string(set)+".json"), 0o600)
	}
	mode(t, string(w.dir), 0o700)
	left, err := filepath.Glob(filepath.Join(string(w.dir), ".new-*"))
	must(t, err)
	if len(left) > 0 {
		t.Error(left)
	}
	_, err = receipt.Dir(filepath.Join(string(w.dir), "permit.json")).Init(now)
	if err == nil {
		t.Error("a file is a directory")
	}
}

func mode(t *testing.T, path string, want fs.FileMode) {
	t.Helper()
	info, err := os.Stat(path)
	must(t, err)
	if runtime.GOOS != "windows" && info.Mode().Perm() != want {
		t.Errorf("%s: %v, want %v", path, info.Mode().Perm(), want)
	}
}

// A rotation with a lead and an overlap, at each boundary. // D5
func TestRotate(t *testing.T) {
	w := newWorld(t)
	const lead, overlap = time.Minute, time.Hour
	at := func(d time.Duration) receipt.Permit {
		p := aPermit()
		p.IssuedAt, p.Expires = now.Add(d), now.Add(d+time.Minute)
		return p
	}
	old, err := w.keys.SignPermit(at(0), at(0).IssuedAt)
	must(t, err)
	oldKid := kidOf(t, old)
	newKid, err := w.dir.Rotate(receipt.Permits, now, lead, overlap)
	must(t, err)
	w.reload(t)
	for _, row := range []struct {
		at  time.Duration
		kid string
	}{{0, oldKid}, {lead - time.Second, oldKid}, {lead, newKid}, {lead + overlap + time.Hour, newKid}} {
		token, err := w.keys.SignPermit(at(row.at), at(row.at).IssuedAt)
		must(t, err)
		if got := kidOf(t, token); got != row.kid {
			t.Errorf("at %v the key %s signs", row.at, got)
		}
		_, err = w.keys.VerifyPermit(token, permitExpect(now.Add(row.at)))
		must(t, err)
	}
	end := lead + overlap
	secret := w.secret(t, receipt.Permits) // the old key
	header, claims, _ := parts(t, old)
	for _, row := range []struct {
		at     time.Duration
		reason receipt.Reason
	}{{end - time.Second, 0}, {end + receipt.Skew - 1, 0}, {end + receipt.Skew, receipt.ExpiredKey}} {
		iat := now.Add(row.at).Unix()
		late := forge(t, header, replaceNumber(replaceNumber(claims, "iat", iat), "exp", iat+60), secret)
		_, err := w.keys.VerifyPermit(late, permitExpect(now.Add(row.at)))
		if got := reasonOf(t, err); got != row.reason {
			t.Errorf("the old key at %v: %q, want %q", row.at, got, row.reason)
		}
	}
	for _, row := range []struct {
		at time.Duration
		n  int
	}{{0, 2}, {end, 2}, {end + receipt.Skew, 1}} {
		if got := strings.Count(string(w.keys.Public(now.Add(row.at))), `"permit"`); got != row.n {
			t.Errorf("at %v %d keys of permits are published", row.at, got)
		}
	}
	states(t, w, 0, map[string]receipt.KeyState{oldKid: receipt.Active, newKid: receipt.Waiting})
	states(t, w, lead, map[string]receipt.KeyState{oldKid: receipt.Verifying, newKid: receipt.Active})
	states(t, w, end, map[string]receipt.KeyState{oldKid: receipt.Retired, newKid: receipt.Active})

	// A key that was never good at a time is not good for it.
	_, err = w.keys.VerifyPermit(old, permitExpect(now.Add(-receipt.Skew-time.Second)))
	want(t, err, receipt.ExpiredKey)

	// Thirty days after its end the old key leaves the file.
	_, err = w.dir.Rotate(receipt.Permits, now.Add(end+30*24*time.Hour+time.Second), 0, overlap)
	must(t, err)
	w.reload(t)
	_, err = w.keys.VerifyPermit(old, permitExpect(now))
	want(t, err, receipt.UnknownKey)

	_, err = w.dir.Rotate("nothing", now, 0, 0)
	want(t, err, receipt.NoKey)
	_, err = w.dir.Rotate(receipt.Permits, now, -1, 0)
	want(t, err, receipt.LifeTooLong)
	if receipt.Permits.Overlap() != time.Minute+2*receipt.Skew || receipt.Set("nothing").Overlap() != 0 {
		t.Error(receipt.Permits.Overlap())
	}
}

func states(t *testing.T, w *world, at time.Duration, want map[string]receipt.KeyState) {
	t.Helper()
	keys, err := w.dir.List(now.Add(at))
	must(t, err)
	for _, k := range keys {
		if state, ok := want[k.ID]; ok && k.State != state {
			t.Errorf("at %v %s is %s, want %s", at, k.ID, k.State, state)
		}
	}
}

func kidOf(t testing.TB, token string) string {
	t.Helper()
	header, _, _ := parts(t, token)
	var h struct{ Kid string }
	must(t, json.Unmarshal([]byte(header), &h))
	return h.Kid
}

// Tokens made before a rotation with the default overlap live to their end, for every set.
func TestRotationLosesNoToken(t *testing.T) {
	w := newWorld(t)
	kinds := w.kinds(t)
	for _, set := range receipt.Sets() {
		_, err := w.dir.Rotate(set, now, 0, set.Overlap())
		must(t, err)
	}
	w.reload(t)
	for i, k := range w.kinds(t)[:4] {
		must(t, k.verify(kinds[i].token, now.Add(time.Minute)))
		if kidOf(t, k.token) == kidOf(t, kinds[i].token) {
			t.Errorf("%s: the old key signs", k.name)
		}
	}
}

// A shorter overlap later cuts a longer one before; a longer one does not prolong it.
func TestOverlapsOnlyShrink(t *testing.T) {
	w := newWorld(t)
	first := kidOf(t, w.kinds(t)[2].token)
	for _, row := range []struct{ overlap, end time.Duration }{{2 * time.Hour, 2 * time.Hour}, {3 * time.Hour, 2 * time.Hour}, {time.Hour, time.Hour}} {
		_, err := w.dir.Rotate(receipt.Permits, now, 0, row.overlap)
		must(t, err)
		keys, err := w.dir.List(now)
		must(t, err)
		for _, k := range keys {
			if k.ID == first && !k.NotAfter.Equal(now.Add(row.end)) {
				t.Errorf("after an overlap of %v the first key ends at %v", row.overlap, k.NotAfter)
			}
		}
	}
}

// A revoked key is worth nothing at any time, and is not published.
func TestRevoke(t *testing.T) {
	w := newWorld(t)
	for i, set := range receipt.Sets() {
		k := w.kinds(t)[i]
		in, err := w.dir.Revoke(kidOf(t, k.token), now.Add(time.Hour))
		must(t, err)
		if in != set {
			t.Errorf("%s is in %s", k.name, in)
		}
		w.reload(t)
		refusal := receipt.RevokedKey
		if set == receipt.Challenges { // an approver has the published keys alone
			refusal = receipt.UnknownKey
			_, err = w.keys.SignChallenge(kidOf(t, k.token), aChallenge())
			want(t, err, receipt.RevokedKey)
		}
		want(t, k.verify(k.token, now), refusal)
		want(t, w.keys.Ready(now), receipt.NoKey)
		again, err := w.dir.Revoke(kidOf(t, k.token), now)
		must(t, err)
		if again != set {
			t.Error(again)
		}
		_, err = w.dir.Rotate(set, now, 0, set.Overlap())
		must(t, err)
		w.reload(t)
		must(t, w.keys.Ready(now))
		want(t, k.verify(k.token, now), refusal)
		if strings.Contains(string(w.keys.Public(now)), kidOf(t, k.token)) {
			t.Errorf("%s: the revoked key is published", k.name)
		}
		states(t, w, 0, map[string]receipt.KeyState{kidOf(t, k.token): receipt.Revoked})
	}
	_, err := w.dir.Revoke("nobody", now)
	want(t, err, receipt.UnknownKey)
}

// Files that are not loaded. Not one byte of them is in the error.
func TestLoadRefuses(t *testing.T) {
	w := newWorld(t)
	path := filepath.Join(string(w.dir), "permit.json")
	good := string(must2(t)(os.ReadFile(path)).([]byte))
	challenge := string(must2(t)(os.ReadFile(filepath.Join(string(w.dir), "challenge.json"))).([]byte))
	mac := string(must2(t)(os.ReadFile(filepath.Join(string(w.dir), "receipt-mac.json"))).([]byte))
	one := strings.TrimSuffix(strings.TrimPrefix(good, `{"keys":[`), "]}\n")
	var key struct{ D, X, Kid string }
	must(t, json.Unmarshal([]byte(one), &key))
	for name, bad := range map[string]string{
		"empty":               "",
		"no set":              one,
		"unknown member":      strings.Replace(good, `"use"`, `"usage"`, 1),
		"member twice":        strings.Replace(good, `"use"`, `"alg":"EdDSA","use"`, 1),
		"unknown at the top":  strings.Replace(good, `]}`, `],"x":1}`, 1),
		"another set's":       strings.Replace(mac, `"x"`, `"x"`, 1),
		"public only":         strings.Replace(good, `"d":"`+key.D+`",`, "", 1),
		"short":               strings.Replace(good, key.D, key.D[:40], 1),
		"another d":           strings.Replace(good, key.D, key.X, 1),
		"another kid":         strings.Replace(good, key.Kid, "mine", 1),
		"owner":               strings.Replace(good, `"use"`, `"owner":"x","use"`, 1),
		"the same key twice":  `{"keys":[` + one + "," + one + `]}`,
		"padding":             strings.Replace(good, key.D, key.D+"=", 1),
		"local time":          strings.Replace(good, "T12:00:00Z", "T12:00:00+01:00", 1),
		"not_after is a date": strings.Replace(good, `"use"`, `"not_after":"2026-01-15","use"`, 1),
		"too large":           good + strings.Repeat(" ", 64<<10),
		"too many":            `{"keys":[` + strings.Repeat("{},", 64) + `{}]}`,
	} {
		must(t, os.WriteFile(path, []byte(bad), 0o600))
		_, err := w.dir.Load()
		var dir *receipt.DirError
		if !errors.As(err, &dir) || dir.Path != path {
			t.Errorf("%s: %v", name, err)
		} else if text := err.Error(); strings.Contains(text, key.D) || strings.Contains(text, key.Kid) {
			t.Errorf("%s: %v", name, err)
		}
		if name == "another set's" {
			want(t, err, receipt.BadKeys)
		}
	}
	// A key in two sets would make one kid two kinds': every set verifies its own only.
	must(t, os.WriteFile(path, []byte(challenge), 0o600))
	s, err := w.dir.Load()
	must(t, err)
	_, err = s.VerifyPermit(w.kinds(t)[2].token, permitExpect(now))
	want(t, err, receipt.UnknownKey)
	must(t, os.WriteFile(path, []byte(strings.Replace(good, `{"keys"`, " {\n\"keys\"", 1)), 0o600))
	_, err = w.dir.Load()
	must(t, err)
}

// Modes that are not loaded, and those that are.
func TestModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes mean nothing on Windows")
	}
	w := newWorld(t)
	path := filepath.Join(string(w.dir), "permit.json")
	for mode, ok := range map[fs.FileMode]bool{
		0o600: true, 0o400: true, 0o440: true, 0o640: true,
		0o604: false, 0o644: false, 0o602: false, 0o620: false, 0o660: false, 0o666: false, 0o601: false,
	} {
		must(t, os.Chmod(path, mode))
		if _, err := w.dir.Load(); errors.Is(err, receipt.ErrExposed) == ok {
			t.Errorf("%v: %v", mode, err)
		}
	}
	must(t, os.Chmod(path, 0o600))
	for mode, row := range map[fs.FileMode]struct{ load, write bool }{
		0o700: {true, true}, 0o755: {true, false}, 0o777: {false, false}, 0o777 | fs.ModeSticky: {true, true},
	} {
		must(t, os.Chmod(string(w.dir), mode))
		if _, err := w.dir.Load(); errors.Is(err, receipt.ErrExposed) == row.load {
			t.Errorf("load, %v: %v", mode, err)
		}
		if _, err := w.dir.Init(now); errors.Is(err, receipt.ErrExposed) == row.write {
			t.Errorf("init, %v: %v", mode, err)
		}
	}
}

// Writers exclude each other; readers meanwhile find whole files.
func TestConcurrentRotation(t *testing.T) {
	w := newWorld(t)
	var writers, readers sync.WaitGroup
	stop := make(chan struct{})
	for range 2 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if _, err := w.dir.Load(); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	var mu sync.Mutex
	made := make(map[string]bool)
	for range 4 {
		writers.Go(func() {
			for range 10 {
				kid, err := w.dir.Rotate(receipt.Permits, now, 0, time.Hour)
				if errors.Is(err, receipt.ErrLocked) {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				made[kid] = true
				mu.Unlock()
			}
		})
	}
	writers.Wait()
	close(stop)
	readers.Wait()
	keys, err := w.dir.List(now)
	must(t, err)
	found := 0
	for _, k := range keys {
		if made[k.ID] {
			found++
		}
	}
	if found != len(made) || found == 0 {
		t.Errorf("%d of %d rotations are in the file", found, len(made))
	}
}

// A set that is full refuses another key and stays as it is.
func TestFullSet(t *testing.T) {
	w := newWorld(t)
	for range 63 {
		_, err := w.dir.Rotate(receipt.Permits, now, 0, time.Hour)
		must(t, err)
	}
	_, err := w.dir.Rotate(receipt.Permits, now, 0, time.Hour)
	want(t, err, receipt.TooLarge)
	_, err = w.dir.Load()
	must(t, err)
}

// Tokens have whole seconds: keys made within one sign in it.
func TestInitSignsAtOnce(t *testing.T) {
	dir := receipt.Dir(filepath.Join(t.TempDir(), "keys"))
	made := now.Add(700 * time.Millisecond)
	if _, err := dir.Init(made); err != nil {
		t.Fatal(err)
	}
	keys, err := dir.Load()
	if err != nil {
		t.Fatal(err)
	}
	if err := keys.Ready(made.Truncate(time.Second)); err != nil {
		t.Error(err)
	}
	if _, err := dir.Rotate(receipt.Permits, made, 0, time.Hour); err != nil {
		t.Fatal(err)
	}
	if keys, err = dir.Load(); err != nil {
		t.Fatal(err)
	}
	if err := keys.Ready(made.Truncate(time.Second)); err != nil {
		t.Errorf("after a rotation: %v", err)
	}
}
