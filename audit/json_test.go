package audit

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"
)

// checkJSON fails unless AppendJSON writes what encoding/json does, behind what was there.
func checkJSON(t testing.TB, name string, r *Record) {
	t.Helper()
	want, err := json.Marshal(r)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if got := r.AppendJSON([]byte("before")); string(got) != "before"+string(want) {
		t.Errorf("%s:\n got %.2000q\nwant %.2000q", name, got[len("before"):], want)
	}
}

// hostileTexts are strings that are escaped, cut or repaired somewhere.
var hostileTexts = []string{
	"", "plain", `"`, `\`, "/", "<", ">", "&", "<script>&amp;", "\x00", "\x01", "\x1f", " ", "\x7f", "\u0080",
	"\b\f\n\r\t\v", "\u2027", "\u2028", "\u2029", "\u202a", "a\u2028b\u2029", "\ufffd", "\xff", "\xff\xfe", "a\xc3", "\xed\xa0\x80",
	"\xf0\x9f\x98", "😀", "é", "caf\xe9", "?", "@", "_", "`", "~", "9", "\\u0041", `a"b\c`, "\xc0\x80", "\xf4\x90\x80\x80",
	strings.Repeat("x", maxName), strings.Repeat("x", maxName) + "\xff", strings.Repeat("😀", 300),
}

// Every single byte, and what outside systems send, in each field.
func TestAppendJSONTexts(t *testing.T) {
	texts := hostileTexts
	for c := range 256 {
		texts = append(texts, string([]byte{byte(c)}), string([]byte{'a', byte(c), 'b'}))
	}
	for _, text := range texts {
		for _, n := range []int{0, 1, 3} {
			var r Record
			fill(reflect.ValueOf(&r).Elem(), text, n)
			checkJSON(t, fmt.Sprintf("%q, %d items", text, n), &r)
		}
	}
}

// One field at a time, so that one that is forgotten, or written under another name or
// where it should be left out, is named.
func TestAppendJSONFields(t *testing.T) {
	checkJSON(t, "zero", &Record{})
	for i := range reflect.TypeFor[Record]().NumField() {
		var r Record
		field := reflect.ValueOf(&r).Elem().Field(i)
		name := reflect.TypeFor[Record]().Field(i).Name
		fill(field, "x", 2)
		checkJSON(t, name, &r)
		fill(field, "x", 0)
		checkJSON(t, name+", empty lists", &r)
	}
	for i := range reflect.TypeFor[Rejection]().NumField() {
		var one Rejection
		fill(reflect.ValueOf(&one).Elem().Field(i), "x", 1)
		checkJSON(t, "Rejection."+reflect.TypeFor[Rejection]().Field(i).Name, &Record{Rejection: one, MoreRejections: []Rejection{{}, one}})
	}
	for i := range reflect.TypeFor[Reason]().NumField() {
		var one Reason
		fill(reflect.ValueOf(&one).Elem().Field(i), "x", 1)
		checkJSON(t, "Reason."+reflect.TypeFor[Reason]().Field(i).Name, &Record{Reasons: []Reason{{}, one}})
	}
	for _, d := range []time.Duration{1, -1, math.MaxInt64, math.MinInt64} {
		checkJSON(t, d.String(), &Record{Duration: d})
	}
}

// scatter sets about two of three fields, each to something else.
func scatter(v reflect.Value, rnd *rand.Rand) {
	if rnd.IntN(3) == 0 {
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(hostileTexts[rnd.IntN(len(hostileTexts))] + hostileTexts[rnd.IntN(len(hostileTexts))])
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Uint32, reflect.Uint64:
		v.SetUint(rnd.Uint64() >> rnd.IntN(64) >> (64 - v.Type().Bits()))
	case reflect.Int64:
		v.SetInt(int64(rnd.Uint64()) >> rnd.IntN(64))
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				scatter(v.Field(i), rnd)
			}
		}
	case reflect.Slice:
		n := rnd.IntN(4)
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			scatter(v.Index(i), rnd)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range rnd.IntN(6) {
			key := reflect.New(v.Type().Key()).Elem()
			scatter(key, rnd)
			v.SetMapIndex(key, reflect.ValueOf(rnd.Uint64()))
		}
	}
}

func TestAppendJSONRandom(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		var r Record
		scatter(reflect.ValueOf(&r).Elem(), rnd)
		checkJSON(t, "random", &r)
		r.Sanitize()
		checkJSON(t, "random, sanitized", &r)
		n := Newest{DecisionID: "id"}
		if err := n.ReadJSON(string(r.AppendJSON(nil))); err != nil || n != (Newest{DecisionID: "id", ReceiptID: r.ReceiptID}) {
			t.Errorf("ReadJSON = %+v, %v; want %q", n, err, r.ReceiptID)
		}
		if t.Failed() {
			return
		}
	}
}

// What is damaged gives no receipt, and what a later version adds does not matter.
func TestReadJSON(t *testing.T) {
	for _, c := range []struct {
		name, stored, want string
		bad                bool
	}{
		{"nothing in it", `{}`, "", false},
		{"a receipt", `{"caller":"c","receipt_id":"r1","attempt":1}`, "r1", false},
		{"escapes and spaces", " \n{\t\"receipt_id\" : \"r\\u003c1\" }", "r<1", false},
		{"a name that only ends so", `{"signals":{"\"receipt_id\":\"x":1}}`, "", false},
		{"one further in", `{"later":{"receipt_id":"r1"}}`, "", false},
		{"null", `{"receipt_id":null}`, "", false},
		{"other fields of other kinds", `{"caller":7,"receipt_id":"r1","later":[1]}`, "r1", false},
		{"no string", `{"receipt_id":7}`, "", true},
		{"cut short", `{"receipt_id":"r1"`, "", true},
		{"followed by more", `{"receipt_id":"r1"}{}`, "", true},
		{"no object", `["receipt_id"]`, "", true},
		{"null alone", `null`, "", true},
		{"empty", ``, "", true},
	} {
		n := Newest{DecisionID: "id"}
		if err := n.ReadJSON(c.stored); (err != nil) != c.bad || n.ReceiptID != c.want || n.DecisionID != "id" {
			t.Errorf("%s: %+v, %v", c.name, n, err)
		}
	}
}

// The short way of boundString gives what the long one does.
func TestBoundString(t *testing.T) {
	check := func(s string, limit int) {
		t.Helper()
		out, size, cut := boundString(s, limit)
		wantOut, wantSize, wantCut := boundRunes(s, limit)
		if out != wantOut || size != wantSize || cut != wantCut {
			t.Errorf("%.80q, %d: %.80q, %d, %t; want %.80q, %d, %t", s, limit, out, size, cut, wantOut, wantSize, wantCut)
		}
		if written := len(appendString(nil, out)) - len(`""`); written != size {
			t.Errorf("%.80q, %d: written it has %d bytes, not %d", s, limit, written, size)
		}
	}
	for _, a := range hostileTexts {
		for _, b := range hostileTexts {
			for _, limit := range []int{3, 4, 8, maxWord, maxName, len(a) + len(b), max(3, len(a)+len(b)-1)} {
				check(a+b, max(3, limit))
			}
		}
	}
	for c := range 256 {
		for limit := 3; limit < 9; limit++ {
			check("a"+string([]byte{byte(c)})+"b", limit)
		}
	}
}

// The short way of signals gives what the long one does, and leaves the same room.
func TestSignalsUnchanged(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		in := map[string]uint64{}
		for range rnd.IntN(2 * maxSignals) {
			name := strings.Repeat("s", rnd.IntN(3)*rnd.IntN(maxWord)) + strconv.Itoa(rnd.IntN(1000))
			if rnd.IntN(300) == 0 {
				name += hostileTexts[rnd.IntN(len(hostileTexts))]
			}
			in[name] = rnd.Uint64()
		}
		if rnd.IntN(2) == 0 {
			in[SignalCut] = 7
		}
		if len(in) == 0 {
			continue
		}
		short, long := sanitizer{left: 1 << 20}, sanitizer{left: 1 << 20}
		if got, want := short.signals(in), long.boundSignals(in); !reflect.DeepEqual(got, want) || short != long {
			t.Fatalf("%d signals: %v, %+v; want %v, %+v", len(in), got, short, want, long)
		}
	}
	before := map[string]uint64{"plain": 1}
	r := Record{Signals: before, Tool: strings.Repeat("x", maxName+1)}
	if r.Sanitize(); len(before) != 1 || r.Signals[SignalCut] != 1 || r.Signals["plain"] != 1 {
		t.Errorf("Sanitize made %v and left %v", r.Signals, before)
	}
}

func FuzzAppendJSON(f *testing.F) {
	for i, s := range hostileTexts {
		f.Add(s, hostileTexts[len(hostileTexts)-1-i], uint64(i), uint8(i))
	}
	f.Fuzz(func(t *testing.T, a, b string, seed uint64, n uint8) {
		var r Record
		scatter(reflect.ValueOf(&r).Elem(), rand.New(rand.NewPCG(seed, 0)))
		checkJSON(t, "scattered", &r)
		fill(reflect.ValueOf(&r).Elem(), a, int(n%4))
		r.Tool, r.Rejection.Detail, r.Source = b, b, b+a
		r.Signals = map[string]uint64{a: seed, b: 1}
		checkJSON(t, "filled", &r)
		out, size, cut := boundString(a, int(n)+len(ellipsis))
		if wantOut, wantSize, wantCut := boundRunes(a, int(n)+len(ellipsis)); out != wantOut || size != wantSize || cut != wantCut {
			t.Errorf("boundString of %q", a)
		}
	})
}

func BenchmarkSanitize(b *testing.B) {
	r := ordinary()
	b.ReportAllocs()
	for b.Loop() {
		r := r
		r.Sanitize()
	}
}

func BenchmarkAppendJSON(b *testing.B) {
	r := ordinary()
	b.ReportAllocs()
	var buf []byte
	for b.Loop() {
		buf = r.AppendJSON(buf[:0])
	}
}

// ordinary is what a judgement of Validate leaves.
func ordinary() Record {
	digest := strings.Repeat("0123456789abcdef", 4)
	return Record{
		DecisionID: "0195000a-0001-7000-8000-00000000000a", At: time.Unix(1, 2), RPC: "validate", Tenant: "acme",
		Caller: "spiffe://example.test/agent", Tool: "review_status", ContractVersion: 1, ContractDigest: digest,
		ContractsDigest: digest, Owner: "team-reviews", RequestID: "req.D1e2P3l4", SessionID: "session-1",
		ArgumentsDigest: digest, Source: "https://api.example.test/v1/reviews", MediaType: "application/json",
		UpstreamStatus: "http 200", RawBytes: 160, RawDigest: digest, OutputBytes: 140, Delivered: "trusted", Duration: 12345,
	}
}
