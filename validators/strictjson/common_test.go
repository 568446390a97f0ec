package strictjson_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// mustParse reads under the ceilings.
func mustParse(t testing.TB, src string) strictjson.Value {
	t.Helper()
	v, err := strictjson.Parse([]byte(src), strictjson.Ceilings())
	if err != nil {
		t.Fatalf("refused: %v", err)
	}
	return v
}

// refusal returns the fault of an input that must not be read.
func refusal(t testing.TB, src string, limits strictjson.Limits) *strictjson.Error {
	t.Helper()
	v, err := strictjson.Parse([]byte(src), limits)
	var fault *strictjson.Error
	if !errors.As(err, &fault) {
		t.Fatalf("error %v, want an *Error", err)
	}
	if v != (strictjson.Value{}) {
		t.Error("a refused input left a value behind")
	}
	checkFault(t, []byte(src), fault)
	return fault
}

// checkFault holds for every refusal of every input.
func checkFault(t testing.TB, src []byte, fault *strictjson.Error) {
	t.Helper()
	if fault.Offset < 0 || fault.Offset > len(src) {
		t.Errorf("offset %d, the input has %d bytes", fault.Offset, len(src))
	}
	if fault.Reason.String() == "UNSPECIFIED" {
		t.Errorf("reason %d has no name", fault.Reason)
	}
	if _, err := strictjson.ParsePointer(fault.Pointer); err != nil {
		t.Errorf("pointer %q: %v", fault.Pointer, err)
	}
	if !utf8.ValidString(fault.Pointer) {
		t.Errorf("pointer %q is not UTF-8", fault.Pointer)
	}
	if fault.Detail == "" {
		t.Error("no detail")
	}
}

// everyValue calls f with v and all values inside it.
func everyValue(v strictjson.Value, f func(strictjson.Value)) {
	f(v)
	for _, e := range v.Elements() {
		everyValue(e, f)
	}
	for _, m := range v.Members() {
		everyValue(m, f)
	}
}

// checkTree holds for every value that Parse returns.
func checkTree(t testing.TB, src []byte, v strictjson.Value) {
	t.Helper()
	if !utf8.Valid(src) || !json.Valid(src) {
		t.Fatal("accepted what is no JSON or no UTF-8")
	}
	again, err := strictjson.Parse(src, strictjson.Ceilings())
	if err != nil || !strictjson.Equal(v, again) || again.Size() != v.Size() {
		t.Fatalf("reading twice: %v", err)
	}
	written := strictjson.AppendJSON(nil, v)
	back, err := strictjson.Parse(written, strictjson.Ceilings())
	if err != nil || !strictjson.Equal(v, back) || !strictjson.Equal(back, v) {
		t.Fatalf("written and read again: %v", err)
	}
	if twice := strictjson.AppendJSON(nil, back); !bytes.Equal(written, twice) {
		t.Fatal("written twice, two texts")
	}
	checkScalars(t, src, v, back)
	checkCanonical(t, v)
}

// checkScalars compares the values of a tree with their bytes in the input, and with
// what a second tree of the same shape says.
func checkScalars(t testing.TB, src []byte, v, back strictjson.Value) {
	t.Helper()
	var others []strictjson.Value
	everyValue(back, func(x strictjson.Value) { others = append(others, x) })
	if len(others) != v.Size() {
		t.Fatalf("%d values, Size says %d", len(others), v.Size())
	}
	i := 0
	everyValue(v, func(x strictjson.Value) {
		other := others[i]
		i++
		if x.Kind() != other.Kind() || x.Text() != other.Text() || x.Digits() != other.Digits() || x.Len() != other.Len() || x.IsTrue() != other.IsTrue() {
			t.Fatalf("value %d changed by being written", i-1)
		}
		if x.Chars() != utf8.RuneCountInString(x.Text()) {
			t.Fatalf("value %d: Chars %d", i-1, x.Chars())
		}
		if x.Len() > 0 || x.Kind() == strictjson.Array || x.Kind() == strictjson.Object {
			return
		}
		token := strictjson.AppendJSON(nil, x)
		if !bytes.HasPrefix(src[x.Offset():], token) {
			t.Fatalf("value %d is not written as it came", i-1)
		}
	})
}

// checkCanonical proves that the canonical form is its own canonical form.
func checkCanonical(t testing.TB, v strictjson.Value) {
	t.Helper()
	for _, big := range []strictjson.BigNumbers{strictjson.RefuseBigNumbers, strictjson.KeepBigNumbers} {
		once, err := strictjson.AppendCanonical(nil, v, big)
		if err != nil {
			var fault *strictjson.Error
			if big == strictjson.KeepBigNumbers || !errors.As(err, &fault) || fault.Reason != strictjson.NumberLimit || once != nil {
				t.Fatalf("canonical: %v", err)
			}
			continue
		}
		back, err := strictjson.Parse(once, strictjson.Ceilings())
		if err != nil {
			t.Fatalf("canonical form refused: %v", err)
		}
		if !strictjson.Equal(v, back) {
			t.Fatal("canonical form has another value")
		}
		twice, err := strictjson.AppendCanonical(nil, back, big)
		if err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("canonical form of the canonical form differs: %v", err)
		}
	}
}

// writer makes random JSON with white space, escapes and awkward numbers.
type writer struct {
	*rand.Rand
	b strings.Builder
}

func newWriter(seed uint64) *writer { return &writer{Rand: rand.New(rand.NewPCG(seed, 7))} }

func (w *writer) pick(choices ...string) string { return choices[w.IntN(len(choices))] }

func (w *writer) space() { w.b.WriteString(w.pick("", "", "", "", " ", "\n", "\t", "\r\n", "  ")) }

// value writes one value with at most depth levels inside.
func (w *writer) value(depth int) {
	w.space()
	kind := w.IntN(8)
	if depth == 0 {
		kind = w.IntN(4)
	}
	switch {
	case kind == 0:
		w.b.WriteString(w.pick("true", "false", "null"))
	case kind <= 2:
		w.b.WriteString(w.number())
	case kind == 3:
		w.str("")
	case kind <= 5:
		w.b.WriteByte('[')
		for i := range w.IntN(5) {
			if i > 0 {
				w.b.WriteByte(',')
			}
			w.value(depth - 1)
		}
		w.space()
		w.b.WriteByte(']')
	default:
		w.object(depth)
	}
	w.space()
}

func (w *writer) object(depth int) {
	w.b.WriteByte('{')
	members := w.IntN(5)
	if w.IntN(5) == 0 {
		members = 10 + w.IntN(6) // around the size from which names are kept in a map
	}
	for i := range members {
		if i > 0 {
			w.b.WriteByte(',')
		}
		w.space()
		w.str(strconv.Itoa(i)) // the end makes it unique
		w.space()
		w.b.WriteByte(':')
		w.value(depth - 1)
	}
	w.space()
	w.b.WriteByte('}')
}

func (w *writer) str(end string) {
	w.b.WriteByte('"')
	for range w.IntN(6) {
		w.b.WriteString(w.pick("a", "b", "~", "/", "*", "é", "€", "😀", "\u2028", "\uffff", `\"`, `\\`, `\/`, `\n`,
			`\u0000`, `\u0061`, `\u00e9`, `\uD83D\uDE00`, `\uffff`, `\u007f`, "\u007f", "<&>"))
	}
	w.b.WriteString(end)
	w.b.WriteByte('"')
}

func (w *writer) number() string {
	digits := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteByte(byte('0' + w.IntN(10)))
		}
		return b.String()
	}
	s := w.pick("", "", "-") + w.pick("0", strconv.Itoa(1+w.IntN(9)), strconv.Itoa(1+w.IntN(9))+digits(w.IntN(25)))
	if w.IntN(2) == 0 {
		s += "." + w.pick("0", "00", "5", "25", digits(1+w.IntN(20)))
	}
	if w.IntN(3) == 0 {
		s += w.pick("e", "E") + w.pick("", "+", "-") + w.pick("0", "00", "007", "21", strconv.Itoa(w.IntN(280)))
	}
	return s
}

// randomJSON returns a random text that Parse has to accept.
func randomJSON(seed uint64) string {
	w := newWriter(seed)
	w.value(5)
	return w.b.String()
}

// shared returns a folder of the public suites, and skips where they are absent.
func shared(t testing.TB, elem ...string) string {
	t.Helper()
	root := os.Getenv("HALLMARK_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared")
	}
	path := filepath.Join(append([]string{root}, elem...)...)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("SKIPPED: %s is absent; HALLMARK_SHARED names the folder that holds it", filepath.Join(elem...))
	}
	return path
}

// brief names a long input in a failure.
func brief(src string) string {
	if len(src) > 80 {
		return fmt.Sprintf("%q… (%d bytes)", src[:60], len(src))
	}
	return strconv.Quote(src)
}
