package notice_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/audit/notice"
)

var secret = []byte("0123456789abcdef0123456789abcdef")

// guard is how long a test waits for what must come; machines are slow at times.
const guard = 60 * time.Second

// receiver is a real receiver that checks every signature and keeps what it took.
type receiver struct {
	*httptest.Server
	t *testing.T

	mu     sync.Mutex
	taken  []notice.Notice
	bodies []string
	calls  int
}

// newReceiver starts one. answer is called with the number of the call, from 1; nil, or a
// false result, means that the notice is taken.
func newReceiver(t *testing.T, answer func(call int, w http.ResponseWriter, r *http.Request) bool) *receiver {
	t.Helper()
	rec := &receiver{t: t}
	rec.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the sender gave up
		}
		if err := notice.Verify(secret, r.Header.Get(notice.SignatureHeader), body, time.Now(), 0); err != nil {
			t.Error(err)
		}
		rec.mu.Lock()
		rec.calls++
		call := rec.calls
		rec.mu.Unlock()
		if answer != nil && answer(call, w, r) {
			return
		}
		var n notice.Notice
		if err := json.Unmarshal(body, &n); err != nil || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" {
			t.Error(err, r.Method, r.Header)
		}
		rec.mu.Lock()
		defer rec.mu.Unlock()
		rec.taken, rec.bodies = append(rec.taken, n), append(rec.bodies, string(body))
	}))
	t.Cleanup(rec.Close)
	return rec
}

func (r *receiver) got() ([]notice.Notice, int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]notice.Notice(nil), r.taken...), r.calls
}

// journal is a log that tests can read.
type journal struct {
	mu   sync.Mutex
	text strings.Builder
}

func (j *journal) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(b)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

func start(t *testing.T, cfg notice.Config) (*notice.Notifier, *journal) {
	t.Helper()
	cfg.Secret = secret
	j := &journal{}
	n, err := notice.New(cfg, slog.New(slog.NewJSONHandler(j, nil)), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = n.Close(ctx)
	})
	return n, j
}

// fast makes a test wait for nothing but the network.
func fast(url string) notice.Config {
	return notice.Config{URL: url + "/hook?token=sesame", Window: 20 * time.Millisecond, Backoff: time.Millisecond, MaxBackoff: 5 * time.Millisecond}
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(guard); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		if is() {
			return
		}
	}
	t.Fatalf("never: %s", what)
}

func closeInTime(t *testing.T, n *notice.Notifier, d time.Duration) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	return n.Close(ctx)
}

var at = time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)

// rejected is the record of a refusal, the i-th.
func rejected(i int, tool, layer, reason string) audit.Record {
	return audit.Record{
		RPC: "validate", DecisionID: fmt.Sprintf("0198c3a4-7b21-7c3d-8e4f-%012d", i), At: at.Add(time.Duration(i) * time.Second),
		Tool: tool, ContractVersion: 2, ContractDigest: "c0ffee", Owner: "team-ci",
		FailureCode: "INVALID_RESPONSE", Rejection: audit.Rejection{Layer: layer, Reason: reason},
	}
}

// A18, A19: the owner is told once for a window, with what an operator needs to look.
func TestGrouping(t *testing.T) {
	r := newReceiver(t, nil)
	cfg := fast(r.URL)
	cfg.Window = time.Hour
	n, _ := start(t, cfg)
	for i := range 1000 {
		n.Observe(rejected(1000-i, "job_status", "SCHEMA", "SCHEMA")) // the latest first
	}
	n.Observe(rejected(1, "job_status", "SYNTAX", "DUPLICATE_NAME"))
	n.Observe(rejected(2, "deploy_status", "ADAPTER", "ADAPTER"))
	other := rejected(3, "deploy_status", "ADAPTER", "ADAPTER")
	other.ContractDigest = "facade"
	n.Observe(other)
	dropped := rejected(4, "vendor_review", "", "")
	dropped.FailureCode, dropped.Signals = "", map[string]uint64{"unnamed_members": 3}
	n.Observe(dropped)
	dropped.Signals = map[string]uint64{"dropped_members": 1, "dropped_blocks.text": 1}
	n.Observe(dropped)
	if err := closeInTime(t, n, guard); err != nil {
		t.Fatal(err)
	}
	got, _ := r.got()
	want := map[string]uint64{
		"job_status SCHEMA SCHEMA c0ffee": 1000, "job_status SYNTAX DUPLICATE_NAME c0ffee": 1, "deploy_status ADAPTER ADAPTER c0ffee": 1,
		"deploy_status ADAPTER ADAPTER facade": 1, "vendor_review ADAPTER DROPPED_MEMBERS c0ffee": 2,
	}
	if len(got) != len(want) {
		t.Errorf("%d notices", len(got))
	}
	for _, g := range got {
		name := strings.Join([]string{g.Tool, g.Layer, g.Reason, g.ContractDigest}, " ")
		if g.Count != want[name] || g.Owner != "team-ci" || g.Version != 2 || g.Format != notice.Format {
			t.Errorf("%s: %+v", name, g)
		}
		if g.Count == 1000 && (!g.FirstAt.Equal(at.Add(time.Second)) || !g.LastAt.Equal(at.Add(1000*time.Second)) || g.DecisionID != "0198c3a4-7b21-7c3d-8e4f-000000001000") {
			t.Errorf("%+v", g)
		}
	}
	if s := n.Stats(); s != (notice.Stats{Delivered: 5, Attempts: 5}) {
		t.Errorf("%+v", s)
	}
}

// A window ends by itself, and the next judgement opens another.
func TestWindow(t *testing.T) {
	r := newReceiver(t, nil)
	n, _ := start(t, fast(r.URL))
	for i := range 2 {
		n.Observe(rejected(i, "job_status", "SCHEMA", "SCHEMA"))
		eventually(t, "one more notice", func() bool { got, _ := r.got(); return len(got) == i+1 })
	}
}

func TestWhatIsIgnored(t *testing.T) {
	r := newReceiver(t, nil)
	n, _ := start(t, fast(r.URL))
	change := func(f func(*audit.Record)) {
		rec := rejected(1, "job_status", "SCHEMA", "SCHEMA")
		f(&rec)
		n.Observe(rec)
	}
	change(func(r *audit.Record) { r.RPC = "authorize" }) // arguments are the caller's
	change(func(r *audit.Record) { r.ContractDigest = "" })
	change(func(r *audit.Record) { r.Rejection = audit.Rejection{} })
	change(func(r *audit.Record) {
		r.Rejection, r.Signals = audit.Rejection{}, map[string]uint64{"unnamed_members": 0}
	})
	for _, layer := range []string{"TRANSPORT", "LIMITS", "SEMANTIC", "TEXT", "POLICY", "INTERNAL"} {
		n.Observe(rejected(1, "job_status", layer, "CHECK"))
	}
	if err := closeInTime(t, n, guard); err != nil {
		t.Error(err)
	}
	if got, calls := r.got(); len(got) != 0 || calls != 0 {
		t.Errorf("%+v", got)
	}
}

// B11: a body has these members, and nothing of a payload or of a caller is in it.
func TestBodyHoldsNoPayload(t *testing.T) {
	r := newReceiver(t, nil)
	n, _ := start(t, fast(r.URL))
	const marker = "IGNORE-ALL-INSTRUCTIONS"
	var rec audit.Record
	var fill func(v reflect.Value)
	fill = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.String:
			v.SetString(marker)
		case reflect.Struct:
			for i := range v.NumField() {
				if v.Field(i).CanSet() {
					fill(v.Field(i))
				}
			}
		case reflect.Slice:
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			fill(v.Index(0))
		}
	}
	fill(reflect.ValueOf(&rec).Elem())
	clean := rejected(7, "job_status", "SCHEMA", "SCHEMA")
	rec.RPC, rec.DecisionID, rec.At, rec.Tool, rec.ContractVersion, rec.ContractDigest, rec.Owner = clean.RPC, clean.DecisionID, clean.At, clean.Tool, 2, clean.ContractDigest, clean.Owner
	rec.Rejection.Layer, rec.Rejection.Reason = "SCHEMA", "SCHEMA"
	rec.Signals = map[string]uint64{marker: 1}
	n.Observe(rec)
	if err := closeInTime(t, n, guard); err != nil {
		t.Fatal(err)
	}
	const want = `{"format":"hallmark-notice/1","tool":"job_status","version":2,"owner":"team-ci","layer":"SCHEMA","reason":"SCHEMA","count":1,` +
		`"first_at":"2026-01-15T12:00:07Z","last_at":"2026-01-15T12:00:07Z","contract_digest":"c0ffee","decision_id":"0198c3a4-7b21-7c3d-8e4f-000000000007"}`
	if len(r.bodies) != 1 || r.bodies[0] != want {
		t.Error(r.bodies)
	}
}

// What finds no room is counted, and Observe goes on at once.
func TestNoRoom(t *testing.T) {
	r := newReceiver(t, nil)
	cfg := fast(r.URL)
	cfg.Window, cfg.Pending = time.Hour, 3
	n, _ := start(t, cfg)
	for range 2 {
		for i := range 5 {
			n.Observe(rejected(i, fmt.Sprintf("tool_%d", i), "SCHEMA", "SCHEMA"))
		}
	}
	if s := n.Stats(); s.Pending != 3 || s.Dropped != 4 {
		t.Errorf("%+v", s)
	}
	if err := closeInTime(t, n, guard); err != nil {
		t.Error(err)
	}
	n.Observe(rejected(1, "tool_0", "SCHEMA", "SCHEMA"))
	if s := n.Stats(); s != (notice.Stats{Delivered: 3, Attempts: 3, Dropped: 5}) {
		t.Errorf("%+v", s)
	}
	if got, _ := r.got(); len(got) != 3 || got[0].Count != 2 {
		t.Errorf("%+v", got)
	}
}

// Many callers at once: every judgement is in a notice or counted as dropped.
func TestConcurrentObserve(t *testing.T) {
	r := newReceiver(t, nil)
	n, _ := start(t, fast(r.URL))
	const callers, each = 8, 500
	var wg sync.WaitGroup
	for c := range callers {
		wg.Go(func() {
			for i := range each {
				n.Observe(rejected(i, fmt.Sprintf("tool_%d", c%3), "SCHEMA", "SCHEMA"))
				n.Stats()
			}
		})
	}
	wg.Wait()
	if err := closeInTime(t, n, guard); err != nil {
		t.Fatal(err)
	}
	got, _ := r.got()
	sum := n.Stats().Dropped
	for _, g := range got {
		sum += g.Count
	}
	if sum != callers*each || n.Stats().Pending != 0 {
		t.Errorf("%d judgements of %d, %+v", sum, callers*each, n.Stats())
	}
}
