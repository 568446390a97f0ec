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
			SessionID: "s", CallID: "7", Attempt: 2, IssuedAt: at, FirstAttemptAt: at.Add(-time.Second),
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
