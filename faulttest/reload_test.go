package faulttest

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
	"github.com/hallmark-gate/hallmark/internal/outside"
)

// published is one set of contracts, and what it makes of the reply deployed.
type published struct {
	dir    string
	digest string
	code   hallmarkv1.FailureCode // what the agent is told; 0 where the reply is accepted
}

// deployed is a reply that one set accepts and the other refuses.
const deployed = `{"environment":"staging","revision":"a83f19c","state":"healthy"}`

// sets makes the two sets; their digests are for the service to say.
func sets(t *testing.T) []published {
	t.Helper()
	accepting := outside.Shipped(t, "deploy_status")
	refusing := outside.Shipped(t, "deploy_status")
	err := filepath.WalkDir(refusing, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text := strings.ReplaceAll(string(readFile(t, name)), "healthy", "serving")
		return os.WriteFile(name, []byte(text), 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
	return []published{{dir: accepting}, {dir: refusing, code: hallmarkv1.FailureCode_FAILURE_CODE_INVALID_RESPONSE}}
}

// digest is that of the set that serves.
func (p *process) digest(t *testing.T) string {
	t.Helper()
	ctx, cancel := outside.Guard()
	defer cancel()
	list, err := p.set.ListContracts(ctx, &hallmarkv1.ListContractsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	return list.GetContractsDigest()
}

// point makes a link lead to a directory, at once.
func point(link, dir string) error {
	next := link + ".next"
	if err := os.Symlink(dir, next); err != nil {
		return err
	}
	return os.Rename(next, link)
}

// D12, D4: contracts are exchanged under load while the store fails again and again. Every
// reply was judged by exactly the set that it names, and is on record as such.
func TestReloadDuringFaults(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		data := filepath.Join(t.TempDir(), "data")
		move := func(from, to string) {
			if err := os.Rename(from, to); err != nil {
				t.Error(err)
			}
		}
		reloadDuring(t, place{data: data}, either(3*time.Second, 15*time.Second), func() {
			move(data, data+".away") // what is written there may be gone: nothing is confirmed
			time.Sleep(200 * time.Millisecond)
			move(data+".away", data)
		})
	})
	t.Run("postgres", func(t *testing.T) {
		if !full() {
			t.Skip("skipped: in the full form only (make faults)")
		}
		c := newCluster(t)
		reloadDuring(t, inPostgres(t, c.script(t, "dsn")), 15*time.Second, func() {
			c.signal(t, syscall.SIGQUIT)
			outside.Within(t, noticed, "down", func() bool { _, up := c.postmaster(t); return !up })
			c.script(t, "up")
		})
	})
}

// reloadDuring exchanges contracts and lets the store fail for so long.
func reloadDuring(t *testing.T, s place, d time.Duration, fault func()) {
	t.Helper()
	all := sets(t)
	link := filepath.Join(t.TempDir(), "contracts")
	if err := point(link, all[0].dir); err != nil {
		t.Fatal(err)
	}
	p := start(t, s, "--contracts", link, "--reload-every", "20ms")
	all[0].digest = p.digest(t)
	if err := point(link, all[1].dir); err != nil {
		t.Fatal(err)
	}
	outside.Within(t, time.Minute, "serving the other set", func() bool { return p.digest(t) != all[0].digest })
	all[1].digest = p.digest(t)
	since := time.Now().Add(-time.Second)
	ctx, stop := context.WithTimeout(context.Background(), d)
	defer stop()
	j := &judged{byDigest: map[string]published{}, replies: map[string]string{}, seen: map[string]int{}}
	var wg sync.WaitGroup
	for _, one := range all {
		j.byDigest[one.digest] = one
	}
	for w := range callers {
		wg.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				j.call(t, p, fmt.Sprintf("req.reload.%d.%d", w, i))
				time.Sleep(5 * time.Millisecond) // leaves some of the processor to the rest
			}
		})
	}
	wg.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			if err := point(link, all[i%len(all)].dir); err != nil {
				t.Error(err)
			}
			time.Sleep(150 * time.Millisecond)
		}
	})
	for ctx.Err() == nil {
		time.Sleep(300 * time.Millisecond)
		fault()
	}
	wg.Wait()
	outside.Within(t, recovery, "whole again", func() bool { code, _ := p.get(t, "/readyz"); return code == 200 })
	j.check(t, recorded(t, p, since))
	p.stop(t)
}

// judged is what callers were told by which set.
type judged struct {
	byDigest map[string]published

	mu      sync.Mutex
	replies map[string]string // by decision id: digest and code
	seen    map[string]int    // by digest
	refused int
}

// call sends the reply once and holds the answer to the digest that it names.
func (j *judged) call(t *testing.T, p *process, request string) {
	t.Helper()
	ctx, cancel := outside.Guard()
	defer cancel()
	reply, err := p.gate.Validate(ctx, &hallmarkv1.ValidateRequest{
		Request: &hallmarkv1.OutstandingRequest{
			Tool: "deploy_status", RequestId: request, SessionId: session, ArgumentsJson: `{"environment":"staging"}`,
			IssuedAt: timestamppb.Now(),
		},
		Payload: &hallmarkv1.ValidateRequest_RawText{RawText: deployed},
	})
	j.mu.Lock()
	defer j.mu.Unlock()
	if err != nil {
		if status.Code(err) != codes.Unavailable {
			t.Errorf("%s: %v", request, err)
		}
		j.refused++
		return
	}
	digest, code := reply.GetContractsDigest(), reply.GetResult().GetFailure().GetCode()
	set, known := j.byDigest[digest]
	if !known || code != set.code || (code == 0) != (reply.GetResult().GetData() != nil) {
		t.Errorf("%s was judged by %q, known %t: %v", request, digest, known, reply.GetResult())
	}
	j.seen[digest]++
	j.replies[reply.GetDecisionId()] = fmt.Sprint(digest, " ", code)
}

// check holds the record to the answers.
func (j *judged) check(t *testing.T, r record) {
	t.Helper()
	t.Logf("%d replies by %d sets, %d calls refused", len(j.replies), len(j.seen), j.refused)
	if len(j.seen) != len(j.byDigest) || j.refused == 0 {
		t.Error("not every set judged, or no call was refused: nothing was proved")
	}
	for id, what := range j.replies {
		e := r.events[id]
		if got := fmt.Sprint(e.GetContractsDigest(), " ", e.GetFailureCode()); got != what {
			t.Errorf("%s was told %s, on record is %s", id, what, got)
		}
	}
}
