package server

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/contract"
	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
)

// variant is one version of the contracts, and what it makes of the same reply.
type variant struct {
	name   string
	files  map[string]string // by slash-separated path
	digest string
	data   string // what the agent gets; "" where the reply is refused
}

// deployed is the reply that the variants judge differently.
const deployed = `{"environment":"staging","revision":"a83f19c","state":"healthy"}`

// variants returns contracts of one tool that accept deployed, refuse it, and give less
// of it.
func variants(t *testing.T) []variant {
	t.Helper()
	plain := treeOf(t, filepath.Join(shipped, "deploy_status"), "deploy_status")
	refusing, narrow := maps.Clone(plain), maps.Clone(plain)
	for name, text := range plain {
		refusing[name] = strings.ReplaceAll(text, "healthy", "serving")
	}
	edit(t, narrow, "deploy_status/v1/contract.yaml", "agent_fields: [/environment, /revision, /state]",
		"agent_fields: [/environment, /state]\n  not_given: {/revision: \"kept for operators\"}")
	edit(t, narrow, "deploy_status/v1/cases/accepted-healthy.yaml", `want: {data: {"environment":"staging","revision":"a83f19c",`,
		`want: {data: {"environment":"staging",`)
	out := []variant{
		{name: "plain", files: plain, data: deployed},
		{name: "refusing", files: refusing},
		{name: "narrow", files: narrow, data: `{"environment":"staging","state":"healthy"}`},
	}
	for i, v := range out {
		dir := t.TempDir()
		writeTree(t, dir, v.files)
		s, err := contract.TakeSnapshot(os.DirFS(dir), nil)
		if err != nil {
			t.Fatal(err)
		}
		out[i].digest = s.Digest()
	}
	return out
}

// treeOf reads the files below a directory, by path below as.
func treeOf(t *testing.T, dir, as string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(name)
		below, _ := filepath.Rel(dir, name)
		files[as+"/"+filepath.ToSlash(below)] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func writeTree(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		write(t, filepath.Join(dir, filepath.FromSlash(name)), text)
	}
}

func edit(t *testing.T, files map[string]string, name, old, new string) {
	t.Helper()
	if !strings.Contains(files[name], old) {
		t.Fatalf("%s holds no %q", name, old)
	}
	files[name] = strings.Replace(files[name], old, new, 1)
}

// mount is a directory laid out and updated as a kubelet does it: its entries are links
// through ..data, which is exchanged by renaming.
type mount struct {
	dir string
	n   int
}

func newMount(t *testing.T, files map[string]string) *mount {
	t.Helper()
	m := &mount{dir: filepath.Join(t.TempDir(), "contracts")}
	if err := os.Mkdir(m.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	m.swap(t, files)
	var entries []string
	for name := range files {
		top, _, _ := strings.Cut(name, "/")
		entries = append(entries, top)
	}
	slices.Sort(entries)
	for _, top := range slices.Compact(entries) {
		if err := os.Symlink(filepath.Join(dataLink, top), filepath.Join(m.dir, top)); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

// swap makes a new directory, lets ..data lead to it, and deletes the old one.
func (m *mount) swap(t *testing.T, files map[string]string) {
	t.Helper()
	old := fmt.Sprintf("..v%d", m.n)
	m.n++
	now := fmt.Sprintf("..v%d", m.n)
	writeTree(t, filepath.Join(m.dir, now), files)
	next := filepath.Join(m.dir, dataLink+"_tmp")
	if err := os.Symlink(now, next); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(next, filepath.Join(m.dir, dataLink)); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(m.dir, old)); err != nil {
		t.Fatal(err)
	}
}

// eventually fails the test unless what becomes true in time.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for !is() {
		if time.Now().After(deadline) {
			t.Fatalf("not in time: %s", what)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// callers call without end and hold every outcome to the digest that the reply names.
type callers struct {
	byDigest map[string]variant
	seen     map[string]*atomic.Int64
	wg       sync.WaitGroup
	stop     context.CancelFunc
}

func startCallers(t *testing.T, s *service, n int, all []variant) *callers {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	c := &callers{byDigest: map[string]variant{}, seen: map[string]*atomic.Int64{}, stop: stop}
	for _, v := range all {
		c.byDigest[v.digest] = v
		c.seen[v.digest] = &atomic.Int64{}
	}
	for range n {
		c.wg.Go(func() {
			for ctx.Err() == nil && !t.Failed() {
				reply, err := s.gate.Validate(ctx, deployCall())
				if ctx.Err() != nil {
					return
				}
				if err != nil {
					t.Errorf("Validate: %v", err)
					return
				}
				c.judge(t, reply)
				time.Sleep(2 * time.Millisecond) // leaves some of the processor to the rest
			}
		})
	}
	return c
}

func deployCall() *hallmarkv1.ValidateRequest {
	req := call("deploy_status", []byte(deployed))
	req.Request.ArgumentsJson = `{"environment":"staging"}`
	return req
}

func (c *callers) judge(t *testing.T, reply *hallmarkv1.ValidateResponse) {
	t.Helper()
	v, known := c.byDigest[reply.GetContractsDigest()]
	if !known {
		t.Errorf("a reply was judged by %s, which was never published whole", reply.GetContractsDigest())
		return
	}
	c.seen[v.digest].Add(1)
	got := reply.GetResult().GetData().GetJson()
	refused := reply.GetResult().GetFailure().GetCode() == hallmarkv1.FailureCode_FAILURE_CODE_INVALID_RESPONSE
	if got != v.data || refused != (v.data == "") {
		t.Errorf("by %s: %v", v.name, reply.GetResult())
	}
}

func (c *callers) end() {
	c.stop()
	c.wg.Wait()
}

// D12, case 147: the contracts are exchanged 200 times as a kubelet does it, with
// broken ones in between, while 32 callers call. Every reply was judged by exactly the
// set that it names, nothing broken is ever published, the log never calls old contracts
// new, and in the end the service reports the last ones.
func TestReloadUnderLoad(t *testing.T) {
	all := variants(t)
	broken := maps.Clone(all[0].files)
	edit(t, broken, "deploy_status/v1/contract.yaml", "effect:", "affect:")
	m := newMount(t, all[0].files)
	s := start(t, withStore(&brokenStore{}), func(s *setup) {
		s.cfg.Contracts, s.cfg.ReloadEvery = m.dir, 5*time.Millisecond
	})
	c := startCallers(t, s, 32, all)
	defer c.end()
	digest := func() string {
		reply, err := s.contracts.ListContracts(ctxFor(t), &hallmarkv1.ListContractsRequest{})
		if err != nil {
			t.Fatal(err)
		}
		return reply.GetContractsDigest()
	}
	refusals := 0
	for i := range 200 {
		v := all[(i+1)%len(all)]
		m.swap(t, v.files)
		if i%5 == 4 {
			eventually(t, "the new digest is reported", func() bool { return digest() == v.digest })
		}
		if i%40 == 39 {
			// Three variants come round again and again: what is reported may be an earlier
			// publication, with a later one still being loaded. Nothing is left to load once
			// the digest stays.
			since := time.Now()
			eventually(t, "the new digest stays", func() bool {
				if digest() != v.digest {
					since = time.Now()
				}
				return time.Since(since) > 500*time.Millisecond
			})
			m.swap(t, broken)
			refusals++
			eventually(t, "the refusal is reported", func() bool { return !s.app.Reloads().RefusedSince.IsZero() })
			code, body := get(t, s.ops+"/readyz")
			if code != http.StatusOK || !strings.Contains(body, "contracts: reload refused since ") ||
				!strings.Contains(body, "serving "+v.digest+": deploy_status/v1/contract.yaml:") {
				t.Errorf("readyz %d %q", code, body)
			}
			if got := digest(); got != v.digest {
				t.Errorf("after a broken set the service reports %s, not %s", got, v.digest)
			}
		}
	}
	last := all[200%len(all)]
	m.swap(t, all[0].files)
	m.swap(t, last.files)
	eventually(t, "the last digest is reported", func() bool { return digest() == last.digest })
	eventually(t, "no refusal is left", func() bool { return s.app.Reloads().RefusedSince.IsZero() })
	time.Sleep(50 * time.Millisecond)
	c.end()

	for digest, n := range c.seen {
		t.Logf("%s: %d replies", c.byDigest[digest].name, n.Load())
		if n.Load() == 0 {
			t.Errorf("no reply was judged by %s", c.byDigest[digest].name)
		}
	}
	before := all[0].digest
	lines := s.log.lines(t, "contracts reloaded")
	for _, line := range lines {
		if line["old_digest"] != before || line["new_digest"] == before {
			t.Errorf("reloaded from %v to %v, and %s served", line["old_digest"], line["new_digest"], before)
		}
		before, _ = line["new_digest"].(string)
	}
	if code, body := get(t, s.ops+"/metrics"); code != http.StatusOK || !strings.Contains(body, `hallmark_contracts_serving_info{digest="`+last.digest+`"} 1`) ||
		!strings.Contains(body, fmt.Sprintf("hallmark_contracts_reloads_total{result=\"refused\"} %d", s.app.Reloads().Refused)) ||
		!strings.Contains(body, "hallmark_contracts_refused_since_timestamp_seconds 0") {
		t.Errorf("metrics %d\n%s", code, body)
	}
	r := s.app.Reloads()
	if before != last.digest || r.Serving != last.digest || int(r.Done) != len(lines) || r.Done < 20 {
		t.Errorf("%d lines, the last names %s; %+v", len(lines), before, r)
	}
	if refused := s.log.lines(t, "contracts reload refused"); len(refused) != refusals || int(r.Refused) != refusals {
		t.Errorf("%d refusals in the log, %d counted, want %d: %v", len(refused), r.Refused, refusals, refused)
	}
	t.Logf("%d of 200 exchanges were published", r.Done)
}
