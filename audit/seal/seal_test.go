package seal_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"filippo.io/age"

	"github.com/hallmark-gate/hallmark/audit/seal"
)

// pair is one operator's keys.
type pair struct {
	identity, recipient string
	ids                 *seal.Identities
}

func newPair(t testing.TB) pair {
	t.Helper()
	identity, recipient, err := seal.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	ids, err := seal.ParseIdentities([]byte(identity))
	if err != nil {
		t.Fatal(err)
	}
	return pair{identity, recipient, ids}
}

func recipients(t testing.TB, pairs ...pair) *seal.Recipients {
	t.Helper()
	text := "# who may open originals\n\n"
	for _, p := range pairs {
		text += "  " + strings.TrimSuffix(p.recipient, "\n") + "\r\n"
	}
	r, err := seal.ParseRecipients([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var at = time.Date(2026, 1, 15, 12, 0, 0, 123456789, time.FixedZone("", 3600))

func header() seal.Header {
	return seal.Header{
		DecisionID: "0198c3a4-7b21-7c3d-8e4f-0123456789ab", At: at,
		Tool: "job_status", ContractVersion: 2, ContractDigest: "c0ffee",
		Caller: seal.Caller{Tenant: "t", Name: "spiffe://example.test/a", RawReader: true},
		Request: seal.Request{
			Tool: "job_status", ContractVersion: 2, RequestID: "req.00000001", ArgumentsJSON: `{"project_id":"p<1>","note":"\n\"\u2028"}`,
			SessionID: "s", Attempt: 2, IssuedAt: at, FirstAttemptAt: at.Add(-time.Second),
		},
		Upstream: seal.Upstream{
			Source: "https://api.example.test/jobs", MediaType: "application/json", Adapter: "a@1",
			Status: seal.Status{Kind: seal.StatusHTTP, Code: 200}, Redirects: 1, Reserialized: true,
			RetryAfter: time.Second, RawSource: true,
		},
		Evidence: []seal.Evidence{{Tool: "review_status", Version: 1, ArgumentsJSON: `{}`, DataJSON: `{"n":1.0}`, ObservedAt: at}},
	}
}

// A17, A21: every recipient gets back the bytes and what a replay needs; nobody else does.
func TestRoundTrip(t *testing.T) {
	a, b, c := newPair(t), newPair(t), newPair(t)
	r := recipients(t, a, b)
	for _, tt := range []struct {
		line     string
		original []byte
	}{
		{"JSON", []byte(`{"state":"done"}`)},
		{"empty", nil},
		{"lines", []byte("\n\n{}\n")},
		{"no text", []byte{0, 0xFF, '\n', 0xFE}},
		{"a full chunk of age", bytes.Repeat([]byte("x"), 64<<10)},
		{"the longest", bytes.Repeat([]byte("x"), seal.MaxOriginal)},
	} {
		t.Run(tt.line, func(t *testing.T) {
			sealed, err := r.Seal(header(), tt.original)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range []pair{a, b} {
				h, original, err := seal.Open(p.ids, sealed)
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(original, tt.original) {
					t.Error("other bytes came back")
				}
				want := header()
				want.Format, want.Bytes, want.OriginalBytes = seal.Format, uint64(len(tt.original)), uint64(len(tt.original))
				if got, want := text(t, h), text(t, utc(want)); got != want {
					t.Errorf("got  %s\nwant %s", got, want)
				}
			}
			if _, _, err := seal.Open(c.ids, sealed); !errors.Is(err, seal.ErrNoIdentity) {
				t.Error(err)
			}
		})
	}
}

func utc(h seal.Header) seal.Header {
	h.At, h.Request.IssuedAt, h.Request.FirstAttemptAt = h.At.UTC(), h.Request.IssuedAt.UTC(), h.Request.FirstAttemptAt.UTC()
	h.Evidence[0].ObservedAt = h.Evidence[0].ObservedAt.UTC()
	return h
}

func text(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// The format is a promise to files that lie on disks: this is what age opens.
func TestFormat(t *testing.T) {
	p := newPair(t)
	h := seal.Header{
		DecisionID: "d", At: at, Tool: "t", Request: seal.Request{Tool: "t", RequestID: "r", ArgumentsJSON: `{"a":"<&>"}`},
		Upstream: seal.Upstream{Status: seal.Status{Kind: seal.StatusExit, Code: -1}, RetryAfter: time.Second},
	}
	sealed, err := recipients(t, p).Seal(h, []byte("{}"))
	if err != nil {
		t.Fatal(err)
	}
	key, err := age.ParseIdentities(strings.NewReader(p.identity))
	if err != nil {
		t.Fatal(err)
	}
	r, err := age.Decrypt(bytes.NewReader(sealed), key...)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"format":"hallmark-original/1","decision_id":"d","at":"2026-01-15T11:00:00.123456789Z","tool":"t",` +
		`"request":{"tool":"t","request_id":"r","arguments_json":"{\"a\":\"<&>\"}"},"upstream":{"status":{"kind":"exit","code":-1},` +
		`"retry_after_ns":1000000000},"original_bytes":2,"bytes":2}` + "\n{}"
	if got, err := io.ReadAll(r); err != nil || string(got) != want {
		t.Errorf("%v\n%s\n%s", err, got, want)
	}
}

// Every field of the header comes back, those of tomorrow too: each is set to something
// and compared by reflection.
func TestEveryFieldComesBack(t *testing.T) {
	h := header()
	h.Upstream.Status.Transport, h.Redacted = "TIMEOUT", []seal.Kind{seal.Email, seal.Token}
	h.Cut, h.RequestLeftOut, h.OriginalBytes, h.Bytes, h.Format = true, true, 9, 2, seal.Format
	h = utc(h)
	var empty func(path string, v reflect.Value)
	empty = func(path string, v reflect.Value) {
		if v.IsZero() {
			t.Errorf("%s is not set: set it in this test", path)
		}
		if _, isTime := v.Interface().(time.Time); v.Kind() == reflect.Struct && !isTime {
			for i := range v.NumField() {
				empty(path+"."+v.Type().Field(i).Name, v.Field(i))
			}
		}
		if v.Kind() == reflect.Slice && v.Len() > 0 {
			empty(path, v.Index(0))
		}
	}
	empty("Header", reflect.ValueOf(h))
	p := newPair(t)
	sealed, err := recipients(t, p).Seal(h, []byte("{}"))
	if err != nil {
		t.Fatal(err)
	}
	if got, _, err := seal.Open(p.ids, sealed); err != nil || !reflect.DeepEqual(got, h) {
		t.Errorf("%v\n%+v\n%+v", err, got, h)
	}
}

// All that the service has are recipients: nothing that parses from its file opens.
func TestTheServiceCannotOpen(t *testing.T) {
	p := newPair(t)
	r := recipients(t, p)
	sealed, err := r.Seal(header(), []byte("secret payload"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := seal.ParseIdentities([]byte(p.recipient)); err == nil {
		t.Error("a recipient is an identity")
	}
	for name, ids := range map[string]*seal.Identities{"nil": nil, "zero": {}} {
		if _, _, err := seal.Open(ids, sealed); !errors.Is(err, seal.ErrNoIdentity) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, marker := range []string{"secret payload", "job_status", "req.00000001", "project_id", "hallmark"} {
		if bytes.Contains(sealed, []byte(marker)) {
			t.Errorf("%q can be read", marker)
		}
	}
	// Nothing prints an identity.
	secret := strings.TrimSpace(p.identity[strings.Index(p.identity, "AGE-SECRET"):])
	for _, v := range []any{p.ids, *p.ids, struct{ K *seal.Identities }{p.ids}, []any{p.ids}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			if strings.Contains(fmt.Sprintf(verb, v), secret) {
				t.Errorf("%s prints an identity", verb)
			}
		}
	}
}

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

// What is too large is kept as far as it goes, and said.
func TestBounds(t *testing.T) {
	p := newPair(t)
	r := recipients(t, p)
	open := func(h seal.Header, original []byte) (seal.Header, []byte) {
		t.Helper()
		sealed, err := r.Seal(h, original)
		if err != nil {
			t.Fatal(err)
		}
		if len(sealed) > seal.MaxSealed {
			t.Errorf("%d bytes", len(sealed))
		}
		h, original, err = seal.Open(p.ids, sealed)
		if err != nil {
			t.Fatal(err)
		}
		return h, original
	}
	h, original := open(header(), bytes.Repeat([]byte("x"), seal.MaxOriginal+1))
	if !h.Cut || len(original) != seal.MaxOriginal || h.OriginalBytes != seal.MaxOriginal+1 {
		t.Errorf("%v %d", h.Cut, len(original))
	}
	for _, arguments := range []string{strings.Repeat("x", 8<<20), strings.Repeat("\n", seal.MaxHeader*2/3)} {
		long := header()
		long.Request.ArgumentsJSON = arguments
		if h, _ = open(long, nil); !h.RequestLeftOut || h.Request.ArgumentsJSON != "" || h.Evidence != nil || h.Request.RequestID == "" {
			t.Errorf("%+v", h)
		}
	}
	bad := header()
	bad.Request.ArgumentsJSON = "\xff\x00\ufffd" + `\ufffd`
	if h, _ = open(bad, nil); h.Request.ArgumentsJSON != "\ufffd\x00\ufffd"+`\ufffd` {
		t.Errorf("%q", h.Request.ArgumentsJSON)
	}
	for name, change := range map[string]func(*seal.Header){
		"year":   func(h *seal.Header) { h.At = time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC) },
		"kind":   func(h *seal.Header) { h.Redacted = []seal.Kind{"address"} },
		"status": func(h *seal.Header) { h.Upstream.Status.Kind = "smtp" },
		"name":   func(h *seal.Header) { h.Tool = strings.Repeat("x", seal.MaxHeader) },
	} {
		h := header()
		change(&h)
		if _, err := r.Seal(h, nil); err == nil || strings.Contains(err.Error(), "smtp") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, none := range map[string]*seal.Recipients{"nil": nil, "zero": {}} {
		if _, err := none.Seal(header(), nil); err == nil {
			t.Errorf("%s: sealed to nobody", name)
		}
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

func BenchmarkSeal(b *testing.B) {
	r := recipients(b, newPair(b), newPair(b))
	for _, size := range []int{64 << 10, 4 << 20} {
		original := bytes.Repeat([]byte("x"), size)
		b.Run(fmt.Sprintf("%dKiB", size>>10), func(b *testing.B) {
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.Seal(header(), original); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
