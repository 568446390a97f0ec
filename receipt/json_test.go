package receipt

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"
)

// What encoding/json refuses is refused, and of what it takes only what I-JSON does not.
func TestWellFormed(t *testing.T) {
	many := func(last string) string {
		var b strings.Builder
		for i := range 200 {
			fmt.Fprintf(&b, `"n%d":%d,`, i, i)
		}
		return "{" + b.String() + `"` + last + `":0}`
	}
	for _, row := range []struct {
		src          string
		here, others bool
	}{
		{`{}`, true, true},
		{`[]`, true, true},
		{`""`, true, true},
		{`0`, true, true},
		{`-0.0E+00`, true, true},
		{`{"a":[1, 2 ,{"b":null}],"c":"\"\\\/\b\f\n\r\t\u00e9\uD83D\uDE00"}`, true, true},
		{many("new"), true, true},
		{many("n0"), false, true},   // a duplicate across the change from list to map
		{many("n23"), false, true},  // the last of the list
		{many("n24"), false, true},  // the first of the map alone
		{many("n199"), false, true}, // the one before
		{many(`\u006e7`), false, true},
		{`{"a":1,"a":1}`, false, true},
		{`[{"a":{"":1,"":2}}]`, false, true},
		{"\"\xff\"", false, true},
		{"\"\xed\xa0\x80\"", false, true},
		{`"\ud800"`, false, true},
		{`"\udc00\ud800"`, false, true},
		{`"\ud800\u0061"`, false, true},
		{`"\ud800x12345"`, false, true},
		{" 1", false, true},
		{"1 ", false, true},
		{strings.Repeat("[", 100) + strings.Repeat("]", 100), true, true},
		{strings.Repeat("[", 101) + strings.Repeat("]", 101), false, true},
		{strings.Repeat(`{"a":`, 101) + "1" + strings.Repeat("}", 101), false, true},
		{``, false, false},
		{`"`, false, false},
		{`"\`, false, false},
		{`"\u`, false, false},
		{`"\u12`, false, false},
		{`"\ud800\`, false, false},
		{`"\x"`, false, false},
		{"\"\x1f\"", false, false},
		{`{`, false, false},
		{`{"a"`, false, false},
		{`{"a":`, false, false},
		{`{"a":1`, false, false},
		{`{"a":1,`, false, false},
		{`{a:1}`, false, false},
		{`[`, false, false},
		{`[1`, false, false},
		{`[1,`, false, false},
		{`[1]]`, false, false},
		{`+1`, false, false},
		{`1e+`, false, false},
		{`0x1`, false, false},
		{`nulL`, false, false},
		{`truefalse`, false, false},
	} {
		if got := wellFormed([]byte(row.src)); got != row.here {
			t.Errorf("%.60q: %v", row.src, got)
		}
		if got := json.Valid([]byte(row.src)); got != row.others {
			t.Errorf("%.60q: encoding/json says %v", row.src, got)
		}
	}
}

// Every prefix of a value is none, and none makes the reader run over its end.
func TestPrefixes(t *testing.T) {
	const src = `{"a":[1.5e-7,true,null],"c":"\"\\\/\b\f\n\r\t\u00e9\uD83D\uDE00","d":{"e":""}}`
	for i := range len(src) {
		if wellFormed([]byte(src[:i])) {
			t.Errorf("%q", src[:i])
		}
	}
}

// What we escape, others read; and so do we.
func TestAppendText(t *testing.T) {
	var all strings.Builder
	for r := range rune(0x300) {
		all.WriteRune(r)
	}
	all.WriteString("\u2028\U0001F600\uffff</script>")
	quoted := appendText(nil, all.String())
	var other string
	if err := json.Unmarshal(quoted, &other); err != nil || other != all.String() {
		t.Errorf("encoding/json reads %q, %v", other, err)
	}
	if own, ok := readText(quoted); !ok || own != all.String() {
		t.Errorf("we read %q", own)
	}
	if got, want := string(appendText(nil, "\"\\/\b\f\n\r\t\x00\x1fé<")), `"\"\\/\b\f\n\r\t\u0000\u001fé<"`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A secret has one face.
func TestSecretType(t *testing.T) {
	s := secret("canary")
	text, _ := s.MarshalText()
	j, _ := json.Marshal(struct{ S secret }{s})
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "s", s)
	for _, shown := range []string{
		s.String(), s.GoString(), string(text), string(j), log.String(), s.LogValue().String(),
		fmt.Sprintf("%v %+v %#v %s %q %x %d", s, s, s, s, s, s, s), fmt.Sprintf("%#v", []secret{s}),
	} {
		if strings.Contains(shown, "canary") || strings.Contains(shown, "63616e617279") || strings.Contains(shown, "99 97") || !strings.Contains(shown, "secret") {
			t.Errorf("%s", shown)
		}
	}
}

// Every reason and every kind has words; what is none says so.
func TestNames(t *testing.T) {
	seen := make(map[string]bool)
	for r := TooLarge; r <= BadKeys; r++ {
		if text := r.String(); text == "no reason" || seen[text] {
			t.Errorf("reason %d is %q", r, text)
		}
		seen[r.String()] = true
	}
	none := Kind(len(kinds))
	if Reason(0).String() != "no reason" || (BadKeys+1).String() != "no reason" ||
		none.String() != "token" || none.Type() != "" || none.MaxBytes() != 0 || none.MaxLife() != 0 {
		t.Error("something is what it is not")
	}
	err := PermitKind.fail(Expired, "exp")
	for target, is := range map[Error]bool{
		{Reason: Expired}: true, {Kind: PermitKind, Reason: Expired}: true,
		{Kind: GrantKind, Reason: Expired}: false, {Reason: NotYet}: false,
	} {
		if errors.Is(err, &target) != is {
			t.Errorf("%v is %v: %v", err, &target, !is)
		}
	}
}

// testTime is any time.
var testTime = time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)

// Who holds the lock keeps others out, and leaves nothing that would.
func TestLock(t *testing.T) {
	dir := Dir(t.TempDir())
	if err := os.Chmod(string(dir), 0o700); err != nil {
		t.Fatal(err)
	}
	err := locked(string(dir), func() error {
		_, err := dir.Init(testTime)
		if !errors.Is(err, ErrLocked) {
			t.Errorf("a second writer: %v", err)
		}
		return err
	})
	if !errors.Is(err, ErrLocked) {
		t.Error(err)
	}
	if made, err := dir.Init(testTime); err != nil || len(made) != len(sets) {
		t.Error(made, err)
	}
}
