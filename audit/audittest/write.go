package audittest

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/hallmark-gate/hallmark/audit"
)

func (s *suite) testEmpty(t *testing.T) {
	store := s.fresh(t)
	if err := store.Ready(t.Context()); err != nil {
		t.Errorf("Ready of a new store: %v", err)
	}
	for _, id := range []string{ID(1), "", "no id", "'; DROP TABLE events; --", "\x00\xff"} {
		if _, err := store.Get(t.Context(), audit.AllTenants(), id); !errors.Is(err, audit.ErrNotFound) {
			t.Errorf("Get(%q) = %v, want ErrNotFound", id, err)
		}
	}
	records, next, err := store.List(t.Context(), audit.AllTenants(), audit.Filter{}, 0, "")
	if len(records) != 0 || next != "" || err != nil {
		t.Errorf("List = %d records, %q, %v; want nothing", len(records), next, err)
	}
}

// Full returns a record with every field set, so that a field that a store forgets is
// seen.
func Full(n int) audit.Record {
	return audit.Record{
		DecisionID: ID(n), At: epoch.Add(123456789), RPC: "authorize", Tenant: "acme",
		Caller: "spiffe://example.test/agent", Tool: "job_restart", ContractVersion: 3,
		ContractDigest: "c1", ContractsDigest: "c2", Owner: "team-jobs", RequestID: "req.12345678",
		SessionID: "session-1", CallIDDigest: "c3", Principal: "user@example.test", ArgumentsDigest: "a1",
		Source: "https://api.example.test/v1/jobs", Adapter: "http/1", MediaType: "application/json",
		UpstreamStatus: "http 503", Reserialized: true, RawBytes: math.MaxUint64, RawDigest: "r1",
		OutputBytes: 17, Truncated: true, OriginalKept: true, FailureCode: "INVALID_RESPONSE",
		Rejection: audit.Rejection{
			Layer: "SYNTAX", Reason: "DUPLICATE_NAME", InstancePath: "/a/b", SchemaPath: "/properties/a",
			Keyword: "type", Check: "binding", Detail: "the name occurs twice", Offset: math.MaxUint64,
		},
		MoreRejections: []audit.Rejection{{Layer: "SCHEMA", Reason: "SCHEMA"}, {Layer: "SEMANTIC", Offset: 9}},
		Decision:       "DENY", Delivered: "untrusted",
		Reasons: []audit.Reason{{
			Code: "OUT_OF_SCOPE", GrantID: "g1", Scope: "jobs", Argument: "/job", RequiredTool: "job_status", Keyword: "enum",
		}},
		GrantIDs: []string{"g1", "g2"}, EvidenceIDs: []string{"e1"}, ReceiptID: "rc1", PermitID: "p1",
		Signals: map[string]uint64{"bidi": 2, "hidden_text": math.MaxUint64},
		Attempt: 2, Duration: 1234567 * time.Nanosecond,
	}
}

func (s *suite) testRoundTrip(t *testing.T) {
	store := s.fresh(t)
	for _, want := range []audit.Record{Full(1), {DecisionID: ID(2), At: epoch}} {
		mustAppend(t, store, want)
		got, err := store.Get(t.Context(), audit.AllTenants(), want.DecisionID)
		if err != nil {
			t.Fatalf("Get: %v", err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("Get:\n got %+v\nwant %+v", got, want)
		}
		listed, _, err := store.List(t.Context(), audit.AllTenants(), audit.Filter{RPC: want.RPC}, 1, "")
		if want.RPC != "" && (err != nil || len(listed) != 1 || !reflect.DeepEqual(listed[0], want)) {
			t.Errorf("List: %v\n got %+v\nwant %+v", err, listed, want)
		}
	}
	// A local time comes back as the same moment in UTC.
	local := Record(3, func(r *audit.Record) { r.At = r.At.In(time.FixedZone("x", 3600)) })
	mustAppend(t, store, local)
	got, err := store.Get(t.Context(), audit.AllTenants(), ID(3))
	if err != nil || !got.At.Equal(local.At) || got.At.Location() != time.UTC {
		t.Errorf("Get of a local time = %v, %v", got.At, err)
	}
}

func (s *suite) testIdempotent(t *testing.T) {
	store := s.fresh(t)
	mustAppend(t, store, Record(1), Record(1), Record(1, func(r *audit.Record) { r.Tool = "other" }))
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			if err := appendRecord(t.Context(), store, Record(2)); err != nil {
				t.Errorf("Append at the same time: %v", err)
			}
		})
	}
	wg.Wait()
	if got := walk(t, store, audit.AllTenants(), audit.Filter{}, 10); !reflect.DeepEqual(got, ids(2, 1)) {
		t.Errorf("List = %v, want one record of each id", got)
	}
	if got, err := store.Get(t.Context(), audit.AllTenants(), ID(1)); err != nil || got.Tool != "review_status" {
		t.Errorf("Get = %q, %v; want the first record to stay", got.Tool, err)
	}
}

func (s *suite) testInvalid(t *testing.T) {
	store := s.fresh(t)
	for name, edit := range map[string]func(*audit.Record){
		"no id":          func(r *audit.Record) { r.DecisionID = "" },
		"uppercase id":   func(r *audit.Record) { r.DecisionID = strings.ToUpper("0195000a-0001-7000-8000-00000000000a") },
		"id is no UUID":  func(r *audit.Record) { r.DecisionID = "../../../etc/passwd-aaaaaaaaaaaaaaaa" },
		"no time":        func(r *audit.Record) { r.At = time.Time{} },
		"time too late":  func(r *audit.Record) { r.At = time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC) },
		"time too early": func(r *audit.Record) { r.At = time.Date(1969, 1, 1, 0, 0, 0, 0, time.UTC) },
	} {
		if err := appendRecord(t.Context(), store, Record(1, edit)); !errors.Is(err, audit.ErrInvalidRecord) {
			t.Errorf("%s: Append = %v, want ErrInvalidRecord", name, err)
		}
	}
	if got := walk(t, store, audit.AllTenants(), audit.Filter{}, 10); len(got) != 0 {
		t.Errorf("List = %v after invalid records", got)
	}
	if err := store.Ready(t.Context()); err != nil {
		t.Errorf("Ready after invalid records: %v", err)
	}
}

// hostile are strings that have broken writers of logs. Cases 039, 040, 154.
var hostile = map[string]string{
	"NUL":            "a\x00b",
	"only NUL":       "\x00",
	"invalid UTF-8":  "caf\xe9",
	"cut rune":       "a\xf0\x9f\x98",
	"surrogate":      "\xed\xa0\x80",
	"U+2028, U+2029": "a\u2028b\u2029c",
	"controls":       "a\x1b[31m\r\nb\x7f",
	"escapes":        `\u0000 \\ " ' </script>`,
	"SQL":            `'; DROP TABLE events; --`,
	"large":          strings.Repeat("x", 1<<20),
	"large NUL":      strings.Repeat("\x00", 1<<20),
	"large invalid":  strings.Repeat("\xff", 1<<20),
	"noncharacter":   "\ufffe\uffff\U0010ffff",
	"text":           "zażółć 日本語 👩‍👩‍👧 \u202e",
}

func (s *suite) testHostile(t *testing.T) {
	store := s.fresh(t)
	n := 0
	for name, text := range hostile {
		n++
		rec := Full(n)
		everyString(reflect.ValueOf(&rec).Elem(), func(v reflect.Value) { v.SetString(text) })
		rec.DecisionID = ID(n)
		rec.Signals = map[string]uint64{text: 7}
		mustAppend(t, store, rec)

		want := rec
		want.Sanitize()
		got, err := store.Get(t.Context(), audit.AllTenants(), ID(n))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: Get: %v\n got %.300q\nwant %.300q", name, err, got.Tool, want.Tool)
			continue
		}
		everyString(reflect.ValueOf(&got).Elem(), func(v reflect.Value) {
			if text := v.String(); !utf8.ValidString(text) || strings.Contains(text, "\x00") {
				t.Errorf("%s: stored %.100q", name, text)
			}
		})
		line, err := json.Marshal(got)
		if err != nil || strings.ContainsAny(string(line), "\r\n\x00\u2028\u2029") || len(line) > audit.MaxRecordBytes {
			t.Errorf("%s: as JSON: %v, %d bytes: %.300q", name, err, len(line), line)
		}
		// What was stored can be asked for by what was sent.
		filter := audit.Filter{Tool: text, RequestID: text, SessionID: text, Reason: text, Tenant: text}
		if got := walk(t, store, audit.AllTenants(), filter, 10); len(got) == 0 {
			t.Errorf("%s: no record found by the text itself", name)
		}
	}
}

// everyString calls f for each string within v, map keys excepted.
func everyString(v reflect.Value, f func(reflect.Value)) {
	switch v.Kind() {
	case reflect.String:
		f(v)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			everyString(v.Field(i), f)
		}
	case reflect.Slice:
		for i := range v.Len() {
			everyString(v.Index(i), f)
		}
	}
}

// A caller may use its slices and maps again once Append has returned, for whatever
// reason; the race detector sees the rest.
func (s *suite) testOwnership(t *testing.T) {
	store := s.fresh(t)
	for n := range 50 {
		rec := Full(n)
		rec.Signals["\xff"], rec.GrantIDs[0] = 1, "\xff"
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(n)*20*time.Microsecond)
		err := appendRecord(ctx, store, rec)
		cancel()
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Append: %v", err)
		}
		if rec.GrantIDs[0] != "\xff" || rec.Signals["\xff"] != 1 {
			t.Error("Append wrote to the caller's record")
		}
		rec.GrantIDs[0], rec.Reasons[0].Code, rec.MoreRejections[0].Layer = "x", "x", "x"
		rec.Signals["bidi"] = 99
	}
	records, _, err := store.List(t.Context(), audit.AllTenants(), audit.Filter{}, 100, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if r.GrantIDs[0] != "\ufffd" || r.Signals["bidi"] != 2 {
			t.Errorf("the store kept what the caller wrote after Append: %q, %v", r.GrantIDs, r.Signals)
		}
	}
}
