package server

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/hallmark-gate/hallmark/audit/seal"
	"github.com/hallmark-gate/hallmark/gate"
	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
)

// drifted is a reply that review_status refuses, with what must not be found anywhere.
const drifted = `{"tool":"review_status","request_id":"req.J7q94MkP","outcome":"success","data":{"mail":"fake.person@example.test","key":"FAKE-SECRET"}}`

// operator is who opens originals: the identity, and the line of its recipient.
type operator struct {
	ids       *seal.Identities
	recipient string
	secret    string
}

func newOperator(t *testing.T) operator {
	t.Helper()
	identity, recipient, err := seal.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	ids, err := seal.ParseIdentities([]byte(identity))
	if err != nil {
		t.Fatal(err)
	}
	return operator{ids, recipient, identity}
}

// sealedTo runs the service with these operators' recipients; the file is returned.
func sealedTo(t *testing.T, operators ...operator) (file string, edit func(*setup)) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "recipients.txt")
	var content string
	for _, o := range operators {
		content += o.recipient
	}
	write(t, file, content)
	return file, func(s *setup) { s.cfg.Recipients = file }
}

// sealed returns the sealed original of a decision.
func (s *service) sealed(t *testing.T, id string) *hallmarkv1.GetOriginalResponse {
	t.Helper()
	reply, err := s.audit.GetOriginal(ctxFor(t), &hallmarkv1.GetOriginalRequest{DecisionId: id})
	if err != nil {
		t.Fatalf("GetOriginal: %v", err)
	}
	return reply
}

// noOriginal fails the test unless there is none for the caller.
func (s *service) noOriginal(t *testing.T, id string) {
	t.Helper()
	_, err := s.audit.GetOriginal(ctxFor(t), &hallmarkv1.GetOriginalRequest{DecisionId: id})
	wantCode(t, err, codes.NotFound)
}

func sha(raw string) string {
	sum := sha256.Sum256([]byte(raw))
	return hex.EncodeToString(sum[:])
}

// A21, B11: what is kept of a reply is what its contract says, and not more.
func TestRetention(t *testing.T) {
	const shippedRule = "retention: {accepted: hash, rejected: sealed, keep: 720h, redact: []}"
	const wary = "{accepted: sealed, rejected: sealed, keep: 48h, redact: [email, token]}"
	const mail = "fake.person@example.test"
	week := 7 * 24 * time.Hour
	for _, c := range []struct {
		line    string
		rule    string
		tool    string
		version uint32
		raw     string
		keep    time.Duration // 0: not kept
		digest  string        // sha, hmac or ""
		redacts bool
	}{
		{"rejected, sealed", "{accepted: hash, rejected: sealed, keep: 720h, redact: []}", "review_status", 0, drifted, 720 * time.Hour, "sha", false},
		{"accepted, a digest", "{accepted: hash, rejected: sealed, keep: 720h, redact: []}", "review_status", 0, accepted, 0, "sha", false},
		{"accepted, sealed", "{accepted: sealed, rejected: hash, keep: 1h, redact: []}", "review_status", 0, accepted, time.Hour, "sha", false},
		{"rejected, a digest", "{accepted: sealed, rejected: hash, keep: 1h, redact: []}", "review_status", 0, drifted, 0, "sha", false},
		{"nothing", "{accepted: none, rejected: none, keep: 1h, redact: []}", "review_status", 0, drifted, 0, "", false},
		{"redacted", wary, "review_status", 0, drifted, 48 * time.Hour, "hmac", true},
		{"empty", wary, "review_status", 0, "", 48 * time.Hour, "hmac", true},
		{"redacted, a digest", "{accepted: hash, rejected: hash, keep: 48h, redact: [email]}", "review_status", 0, drifted, 0, "hmac", false},
		{"no contract has the tool", wary, "no_such_tool", 0, drifted, week, "sha", false},
		{"no contract has the version", wary, "review_status", 99, drifted, 48 * time.Hour, "hmac", true},
		{"nor keeps anything", "{accepted: none, rejected: none, keep: 1h, redact: []}", "review_status", 99, drifted, 0, "", false},
	} {
		t.Run(c.line, func(t *testing.T) {
			dir := copyTree(t, shipped)
			replaceIn(t, filepath.Join(dir, "review_status/v1/contract.yaml"), shippedRule, "retention: "+c.rule)
			op := newOperator(t)
			_, sealing := sealedTo(t, op)
			s := start(t, sealing, func(s *setup) { s.cfg.Contracts = dir })
			req := call(c.tool, []byte(c.raw))
			req.Request.ContractVersion = c.version
			req.Request.ArgumentsJson = `{"note":"` + mail + `"}`
			reply, err := s.gate.Validate(ctxFor(t), req)
			if err != nil {
				t.Fatal(err)
			}
			e := s.event(t, reply.GetDecisionId())
			digest := map[bool]string{false: "", true: "hmac"}[len(e.GetRawDigest()) == 64]
			if e.GetRawDigest() == sha(c.raw) {
				digest = "sha"
			}
			if digest != c.digest || e.GetOriginalKept() != (c.keep > 0) {
				t.Errorf("digest %q (%s), kept %t", digest, e.GetRawDigest(), e.GetOriginalKept())
			}
			if c.keep == 0 {
				s.noOriginal(t, e.GetDecisionId())
				return
			}
			original := s.sealed(t, strings.ToUpper(e.GetDecisionId()))
			if until := original.GetKeptUntil().AsTime(); !until.Equal(e.GetAt().AsTime().Add(c.keep)) {
				t.Errorf("kept until %s", until)
			}
			h, raw, err := seal.Open(op.ids, original.GetSealed())
			if err != nil {
				t.Fatal(err)
			}
			if h.DecisionID != e.GetDecisionId() || h.Request.RequestID != requestID || h.OriginalBytes != uint64(len(c.raw)) || h.Caller.Tenant != "local" {
				t.Errorf("header %+v", h)
			}
			if (len(h.Redacted) > 0) != c.redacts {
				t.Errorf("redacted %v", h.Redacted)
			}
			if c.redacts && (bytes.Contains(raw, []byte(mail)) || strings.Contains(h.Request.ArgumentsJSON, mail)) {
				t.Errorf("not redacted: %s %s", raw, h.Request.ArgumentsJSON)
			}
			if !c.redacts && string(raw) != c.raw {
				t.Errorf("original %q", raw)
			}
			replayed, j := gate.Replay(h, raw)
			if replayed.Raw == nil || replayed.Request.Tool != c.tool || !j.Now.Equal(e.GetAt().AsTime()) {
				t.Errorf("replay %+v %+v", replayed, j)
			}
		})
	}
}

// A reply of JSON-RPC is bound to the framework's own id, so that judging it again needs
// that.
func TestReplayNeedsTheCallID(t *testing.T) {
	op := newOperator(t)
	_, sealing := sealedTo(t, op)
	s := start(t, sealing)
	req := call("no_such_tool", []byte(drifted))
	req.Request.CallId = "7"
	reply, err := s.gate.Validate(ctxFor(t), req)
	if err != nil {
		t.Fatal(err)
	}
	h, raw, err := seal.Open(op.ids, s.sealed(t, reply.GetDecisionId()).GetSealed())
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := gate.Replay(h, raw); again.Request.CallID != "7" {
		t.Errorf("call id %q", again.Request.CallID)
	}
}

// Another tenant's original does not exist, and only operators may ask at all.
func TestOriginalScope(t *testing.T) {
	a := newAuthority(t)
	_, tls := a.withTLS(t, listed)
	_, sealing := sealedTo(t, newOperator(t))
	s := start(t, tls, sealing)
	as := func(san string) *service {
		conn := s.as(t, a.client(t, a.issue(t, []string{san})))
		return &service{gate: hallmarkv1.NewGateServiceClient(conn), audit: hallmarkv1.NewAuditServiceClient(conn)}
	}
	web, blue := as("dns:adapter.example.test"), as("dns:blue-op.example.test")
	red := web.judged(t, "review_status", drifted)
	own := blue.judged(t, "review_status", drifted)
	s.sealed(t, red)
	blue.sealed(t, own)
	blue.noOriginal(t, red)
	s.noOriginal(t, own)
	for _, san := range []string{"dns:adapter.example.test", "spiffe://example.test/agent", "spiffe://example.test/runner"} {
		_, err := as(san).audit.GetOriginal(ctxFor(t), &hallmarkv1.GetOriginalRequest{DecisionId: red})
		wantCode(t, err, codes.PermissionDenied)
	}
	for id, want := range map[string]codes.Code{"": codes.InvalidArgument, "x": codes.InvalidArgument, record(9, "").DecisionID: codes.NotFound} {
		_, err := s.audit.GetOriginal(ctxFor(t), &hallmarkv1.GetOriginalRequest{DecisionId: id})
		wantCode(t, err, want)
	}
}

// An original ends with its time, for readers at once and on the disk with the purge.
func TestOriginalEnds(t *testing.T) {
	var now atomic.Int64
	now.Store(time.Now().UnixNano())
	data := t.TempDir()
	_, sealing := sealedTo(t, newOperator(t))
	run := func() *service {
		return start(t, sealing, func(s *setup) {
			s.cfg.Data = data
			s.deps.Clock = func() time.Time { return time.Unix(0, now.Load()) }
		})
	}
	s := run()
	id := s.judged(t, "review_status", drifted)
	until := s.sealed(t, id).GetKeptUntil().AsTime().UnixNano()
	began := now.Load()
	now.Store(until - 1)
	s.sealed(t, id)
	now.Store(until)
	s.noOriginal(t, id)
	now.Store(began)
	s.sealed(t, id) // not purged yet
	s.stop()
	<-s.ended
	now.Store(until + int64(time.Second))
	s = run() // a start purges
	eventually(t, "the purge", func() bool { return len(s.log.lines(t, "removed what is over from the audit store")) > 0 })
	now.Store(began)
	s.noOriginal(t, id)
	if e := s.event(t, id); e.GetRawDigest() != sha(drifted) || !e.GetOriginalKept() {
		t.Errorf("the record stays: %v", e)
	}
}

// One caller's share of a day is not more than its share.
func TestOriginalsPerDay(t *testing.T) {
	var now atomic.Int64
	now.Store(time.Date(2026, 1, 15, 23, 0, 0, 0, time.UTC).UnixNano())
	_, sealing := sealedTo(t, newOperator(t))
	s := start(t, sealing, func(s *setup) {
		s.cfg.OriginalsPerDay = 2*len(drifted) + 1
		s.deps.Clock = func() time.Time { return time.Unix(0, now.Load()) }
	})
	for i, want := range []bool{true, true, false, false} {
		e := s.event(t, s.judged(t, "review_status", drifted))
		if e.GetOriginalKept() != want || (e.GetSignals()["original_over_quota"] == 1) == want {
			t.Errorf("original %d: kept %t, %v", i, e.GetOriginalKept(), e.GetSignals())
		}
		if e.GetRawDigest() != sha(drifted) {
			t.Errorf("original %d: digest %q", i, e.GetRawDigest())
		}
	}
	now.Add(int64(2 * time.Hour))
	if e := s.event(t, s.judged(t, "review_status", drifted)); !e.GetOriginalKept() {
		t.Error("the next day has no share")
	}
}

// A21, D: nothing that the process has opens what it sealed, and nothing of a reply is
// readable in what it writes; the operator's identity opens it.
func TestNothingOfTheServiceOpens(t *testing.T) {
	op := newOperator(t)
	file, sealing := sealedTo(t, op)
	data := t.TempDir()
	s := start(t, sealing, func(s *setup) { s.cfg.Data = data })
	id := s.judged(t, "review_status", drifted)
	sealed := s.sealed(t, id).GetSealed()
	s.stop()
	<-s.ended

	files := []string{file}
	err := filepath.WalkDir(data, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, path)
		}
		return err
	})
	if err != nil || len(files) < 4 {
		t.Fatalf("files %v, %v", files, err)
	}
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(content, []byte("FAKE-SECRET")) || bytes.Contains(content, []byte("AGE-SECRET-KEY")) {
			t.Errorf("%s shows what is sealed, or opens it", name)
		}
		for line := range bytes.Lines(content) {
			if ids, err := seal.ParseIdentities(line); err == nil {
				if _, _, err := seal.Open(ids, sealed); !errors.Is(err, seal.ErrNoIdentity) {
					t.Errorf("a line of %s: %v", name, err)
				}
			}
		}
	}
	if log := s.log.String(); strings.Contains(log, "FAKE-SECRET") || strings.Contains(log, "fake.person") {
		t.Error("the log shows a reply")
	}
	if bytes.Contains(sealed, []byte("FAKE-SECRET")) {
		t.Error("it is not sealed")
	}
	if _, _, err := seal.Open(newOperator(t).ids, sealed); !errors.Is(err, seal.ErrNoIdentity) {
		t.Errorf("another identity: %v", err)
	}
	if _, raw, err := seal.Open(op.ids, sealed); err != nil || string(raw) != drifted {
		t.Errorf("the operator: %q, %v", raw, err)
	}
}

// Who is taken out of the file opens nothing that is sealed from then on; a file that
// cannot be used changes nothing but what operators see.
func TestRecipientsReload(t *testing.T) {
	first, second := newOperator(t), newOperator(t)
	file, sealing := sealedTo(t, first)
	s := start(t, sealing, func(s *setup) { s.cfg.ReloadEvery = 20 * time.Millisecond })
	opens := func() []bool {
		sealed := s.sealed(t, s.judged(t, "review_status", drifted)).GetSealed()
		_, _, err := seal.Open(first.ids, sealed)
		_, _, err2 := seal.Open(second.ids, sealed)
		return []bool{err == nil, err2 == nil}
	}
	if got := opens(); !slices.Equal(got, []bool{true, false}) {
		t.Errorf("at first %v", got)
	}
	exchange(t, file, []byte(first.recipient+second.recipient))
	eventually(t, "both", func() bool { return slices.Equal(opens(), []bool{true, true}) })
	exchange(t, file, []byte(second.recipient))
	eventually(t, "the second alone", func() bool { return slices.Equal(opens(), []bool{false, true}) })
	for _, broken := range []string{"", "age1nonsense\n", first.recipient + first.recipient, first.secret} {
		exchange(t, file, []byte(broken))
		body := follows(t, s, "reload refused")
		if !strings.Contains(body, "originals") || strings.Contains(body, "AGE-SECRET") {
			t.Errorf("readyz %s", body)
		}
		if got := opens(); !slices.Equal(got, []bool{false, true}) {
			t.Errorf("with %d bytes at fault: %v", len(broken), got)
		}
		exchange(t, file, []byte(second.recipient))
		eventually(t, "the end of the concern", func() bool {
			_, body := get(t, s.ops+"/readyz")
			return !strings.Contains(body, "reload refused")
		})
	}
	if strings.Contains(s.log.String(), "AGE-SECRET") {
		t.Error("a secret key is in the log")
	}
}

// Without recipients there are digests, and the start and readiness say so.
func TestNoRecipients(t *testing.T) {
	s := start(t)
	e := s.event(t, s.judged(t, "review_status", drifted))
	if e.GetOriginalKept() || e.GetRawDigest() != sha(drifted) {
		t.Errorf("%v", e)
	}
	s.noOriginal(t, e.GetDecisionId())
	if _, body := get(t, s.ops+"/readyz"); !strings.Contains(body, "digests only, no recipients") {
		t.Errorf("readyz %s", body)
	}
	if !strings.Contains(s.log.String(), "originals are not kept") {
		t.Error("the start does not say so")
	}
}
