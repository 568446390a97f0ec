package fleettest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"text/tabwriter"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
	"github.com/hallmark-gate/hallmark/internal/outside"
)

// soakVariable says how long the soak takes, as a duration.
const soakVariable = "HALLMARK_SOAK"

// Sizes of the soak.
const (
	soakCallers = 4
	soakBreath  = 15 * time.Millisecond
	sampleEvery = 10 * time.Second
	leastSoak   = time.Minute // less tells nothing
	warmUp      = 2           // samples that are shown and not judged
)

// C: under a mix of all kinds of calls nothing grows: goroutines, memory, open files. On
// SQLite, and on PostgreSQL too where there is one.
func TestSoak(t *testing.T) {
	text := os.Getenv(soakVariable)
	if text == "" {
		t.Skipf("skipped: %s does not say how long; run: make soak", soakVariable)
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < leastSoak {
		t.Fatalf("%s=%q: a duration of at least %s, such as 10m", soakVariable, text, leastSoak)
	}
	onLinux(t)
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		soak(t, d, nil, "--data", t.TempDir())
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		dsn := outside.Database(t)
		data := t.TempDir()
		outside.Run(t, nil, "keys", "init", "--data", data)
		soak(t, d, []string{"HALLMARK_AUDIT_DSN=" + outside.Schema(t, dsn)},
			"--data", data, "--audit-store", "postgres", "--keys", filepath.Join(data, "keys"))
	})
}

func soak(t *testing.T, d time.Duration, env []string, flags ...string) {
	a := newAuthority(t)
	flags = append(append(flags, "--contracts", outside.Shipped(t), "--max-connection-age", "30s"), a.flags()...)
	r := launch(t, env, flags...).await(t)
	client := hallmarkv1.NewGateServiceClient(r.dial(t, a, "assistant"))
	auditor := hallmarkv1.NewAuditServiceClient(r.dial(t, a, "operator"))

	ctx, stop := context.WithCancel(context.Background())
	var calls atomic.Int64
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stop()
	for w := range soakCallers {
		wg.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				if err := mixed(client, fmt.Sprintf("req.s%d.%07d", w, i), i); err != nil {
					t.Errorf("call %d of caller %d: %v", i, w, err)
					return
				}
				calls.Add(1)
				time.Sleep(soakBreath)
			}
		})
	}
	wg.Go(func() { // an operator who looks at the record
		for ctx.Err() == nil {
			ctx, cancel := outside.Guard()
			_, err := auditor.ListEvents(ctx, &hallmarkv1.ListEventsRequest{PageSize: 50, Filter: &hallmarkv1.EventFilter{Tenant: "north"}})
			cancel()
			if err != nil {
				t.Errorf("ListEvents: %v", err)
				return
			}
			time.Sleep(time.Second)
		}
	})

	began := time.Now()
	var samples []sample
	for time.Since(began) < d && !t.Failed() {
		time.Sleep(sampleEvery)
		samples = append(samples, sample{
			time.Since(began), calls.Load(), r.metric(t, "go_goroutines"),
			float64(r.memory(t)) / (1 << 20), live(t, r), float64(r.handles(t)),
		})
	}
	t.Logf("the soak:\n%s", table(samples))
	faults, said := flat(samples)
	t.Log(said)
	for _, f := range faults {
		t.Error(f)
	}
}

// sample is what a replica takes at one time.
type sample struct {
	at                    time.Duration
	calls                 int64
	goroutines            float64
	mebibytes, live, open float64
}

// live is what the last collection of garbage left of the heap, in MiB: the next one is
// due when the heap has twice of that.
func live(t *testing.T, r *replica) float64 {
	t.Helper()
	return r.metric(t, "go_memstats_next_gc_bytes") / 2 / (1 << 20)
}

func table(samples []sample) string {
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "after\tcalls\tgoroutines\tRSS MiB\tlive heap MiB\topen files\t")
	for _, s := range samples {
		fmt.Fprintf(w, "%s\t%d\t%.0f\t%.1f\t%.1f\t%.0f\t\n", s.at.Round(time.Second), s.calls, s.goroutines, s.mebibytes, s.live, s.open)
	}
	_ = w.Flush() // into memory
	return out.String()
}

// What the service keeps of requests on purpose: the attempts of the last ones that were
// validated, so many at most. It takes about so many bytes for each in the heap, measured
// with ids as long as those here, and until the next collection again as much.
const (
	remembered      = 2 << 16
	rememberedBytes = 137
	validatedOf3    = 2 // of three calls of a mix
)

// memo is how much of that there is after so many calls, in MiB.
func memo(calls int64) float64 {
	return float64(min(calls*validatedOf3/3, remembered)) * rememberedBytes / (1 << 20)
}

// flat holds the mean of the last third to that of the first: a tenth more, and a
// constant for what comes and goes. What is kept on purpose, and bounded, is left out.
func flat(samples []sample) (faults []string, said string) {
	samples = samples[min(warmUp, len(samples)):]
	third := len(samples) / 3
	if third == 0 {
		return []string{"there are too few samples"}, ""
	}
	for _, c := range []struct {
		line  string
		of    func(sample) float64
		slack float64
	}{
		{"goroutines", func(s sample) float64 { return s.goroutines }, 8},
		{"MiB in memory", func(s sample) float64 { return s.mebibytes - 2*memo(s.calls) }, 6},
		{"MiB of live heap", func(s sample) float64 { return s.live - memo(s.calls) }, 1},
		{"open files", func(s sample) float64 { return s.open }, 4},
	} {
		mean := func(part []sample) float64 {
			sum := 0.0
			for _, s := range part {
				sum += c.of(s)
			}
			return sum / float64(len(part))
		}
		first, last := mean(samples[:third]), mean(samples[len(samples)-third:])
		text := fmt.Sprintf("%s: %.1f in the first third, %.1f in the last; ", c.line, first, last)
		if last > first*1.1+c.slack {
			faults = append(faults, text+"it grows")
		}
		said += text
	}
	return faults, said
}

// What grows is found, what comes and goes is not.
func TestFlat(t *testing.T) {
	for _, c := range []struct {
		line string
		of   func(i int) sample
		want int
	}{
		{"nothing changes", func(int) sample { return sample{goroutines: 30, mebibytes: 60, open: 20} }, 0},
		{"it comes and goes", func(i int) sample {
			return sample{goroutines: 30 + float64(i%5), mebibytes: 60 + float64(i%9), open: 20}
		}, 0},
		{"a goroutine a sample", func(i int) sample { return sample{goroutines: 30 + float64(i), mebibytes: 60, open: 20} }, 1},
		{"half a MiB a sample", func(i int) sample { return sample{goroutines: 30, mebibytes: 60 + float64(i)/2, open: 20} }, 1},
		{"a quarter MiB of heap a sample", func(i int) sample { return sample{goroutines: 30, mebibytes: 60, live: 12 + float64(i)/4, open: 20} }, 1},
		{"what is kept on purpose", func(i int) sample {
			calls := int64(i * 1000)
			return sample{goroutines: 30, calls: calls, mebibytes: 60 + 2*memo(calls), live: 12 + memo(calls), open: 20}
		}, 0},
		{"beyond what is kept on purpose", func(i int) sample {
			return sample{goroutines: 30, calls: 1 << 20, mebibytes: 60, live: 12 + memo(int64(i*1000)), open: 20}
		}, 1},
		{"a file every third", func(i int) sample { return sample{goroutines: 30, mebibytes: 60, open: 20 + float64(i)/3} }, 1},
		{"only the start", func(i int) sample {
			return sample{goroutines: 30, mebibytes: 60 - float64(max(0, warmUp-i))*20, open: 20}
		}, 0},
	} {
		samples := make([]sample, 60)
		for i := range samples {
			samples[i] = c.of(i)
		}
		if faults, _ := flat(samples); len(faults) != c.want {
			t.Errorf("%s: %q", c.line, faults)
		}
	}
	if faults, _ := flat(nil); len(faults) != 1 {
		t.Error("nothing was measured, and that is taken for flat")
	}
}

// accepted is a good reply of a tool.
type accepted struct {
	tool, arguments, source, mediaType string
	raw                                func(request string) string
	status                             func(*hallmarkv1.Upstream)
}

func verbatim(raw string) func(string) string { return func(string) string { return raw } }

// kinds has a row for each kind of result: an envelope, a state with a time, a list, a
// page, a document, a line of a command, a result of MCP, a vendor's reply by adapter.
var kinds = []accepted{
	{"review_status", "", "https://reviews.example.test/1042", "application/json", func(request string) string {
		return fmt.Sprintf(`{"tool":"review_status","request_id":%q,"outcome":"success","data":{"change_id":"CR-1042","decision":"approved","reviewed_by":"Ana Petrova"}}`, request)
	}, nil},
	{"job_status", `{"project_id":"bluebird","run_id":"run_A1b2C3d4E5f6"}`, "https://ci.example.test/runs/1", "application/json", func(string) string {
		return fmt.Sprintf(`{"project_id":"bluebird","run_id":"run_A1b2C3d4E5f6","state":"failed","observed_at":%q}`, time.Now().UTC().Format(time.RFC3339))
	}, nil},
	{"list_runs", `{"project_id":"bluebird"}`, "https://ci.example.test/projects/bluebird/runs", "application/json", verbatim(`{"project_id":"bluebird","runs":[]}`), nil},
	{
		"web_read", `{"url":"https://assay.example.test/marks"}`, "https://assay.example.test/marks", "text/html; charset=utf-8",
		verbatim(`<!doctype html><title>Marks</title><h1>Marks</h1><p>A lion means <a href="/sterling">sterling</a>.</p><p style="display:none">hidden</p>` + strings.Repeat("<p>More of it.</p>", 200)), nil,
	},
	{"document_read", `{"path":"marks.csv"}`, "marks.csv", "text/csv; charset=utf-8", verbatim("mark,note\r\n1,\"a, b\"\r\n"), func(u *hallmarkv1.Upstream) { u.Status = nil }},
	{
		"deployed_revision", `{"environment":"staging"}`, "deployctl revision staging", "", verbatim("revision=4f2a9c1d state=healthy\n"),
		func(u *hallmarkv1.Upstream) { u.Status = &hallmarkv1.Upstream_ExitCode{} },
	},
	{
		"mcp_search", `{"query":"hallmarks of silver"}`, "https://mcp.example.test/mcp", "application/json",
		verbatim(`{"content":[{"type":"text","text":"1 result"}],"structuredContent":{"results":[{"title":"Marks 1","url":"https://silver.example.test/marks/1","snippet":"A lion for sterling."}]},"isError":false}`), nil,
	},
	{
		"vendor_review", `{"change_id":"CR-1042"}`, "https://vendor.example.test/api/changes/1042/reviews/7", "application/json",
		verbatim(`{"number":1042,"title":"Rotate keys","labels":[{"name":"security","color":"red"}],"review":{"id":7,"state":"APPROVED","user":{"id":7,"login":"ana-petrova"}}}`), nil,
	},
}

// mixed makes call i of a caller: each kind in turn, good and broken, and proposals
// allowed and denied between them. The error says that the answer is not the one due.
func mixed(client hallmarkv1.GateServiceClient, request string, i int) error {
	ctx, cancel := outside.Guard()
	defer cancel()
	if i%3 == 2 {
		call := deploy(request)
		want := hallmarkv1.Decision_DECISION_ALLOW
		if i%2 == 0 {
			call.Grants, want = nil, hallmarkv1.Decision_DECISION_DENY
		}
		reply, err := client.Authorize(ctx, call)
		if err == nil && reply.GetDecision() != want {
			err = fmt.Errorf("deploy: %v %v", reply.GetDecision(), reply.GetReasons())
		}
		return err
	}
	k := kinds[i%len(kinds)]
	good := i%5 != 0
	raw := k.raw(request)
	if !good {
		raw = "\x00" + raw[:len(raw)/2]
	}
	upstream := &hallmarkv1.Upstream{Source: k.source, MediaType: k.mediaType, Status: &hallmarkv1.Upstream_HttpStatus{HttpStatus: 200}}
	if k.status != nil {
		k.status(upstream)
	}
	reply, err := client.Validate(ctx, &hallmarkv1.ValidateRequest{
		Request:  &hallmarkv1.OutstandingRequest{Tool: k.tool, RequestId: request, SessionId: "soak", ArgumentsJson: k.arguments, IssuedAt: timestamppb.Now()},
		Payload:  &hallmarkv1.ValidateRequest_Raw{Raw: []byte(raw)},
		Upstream: upstream,
	})
	if refused := reply.GetResult().GetFailure() != nil; err == nil && good && refused {
		err = fmt.Errorf("%s: a good reply is refused: %v", k.tool, reply.GetRejection())
	}
	return err
}
