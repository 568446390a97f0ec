package server

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/gate"
	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
)

// subsystem is one thing that calls need, and why it is not there; a nil err means
// that it is.
type subsystem struct {
	name   string
	detail string // where it is there
	// concern is what an operator should look at though calls can be answered; it then
	// stands in place of the detail.
	concern string
	err     error
}

// errDraining says that the service is about to stop.
var errDraining = errors.New("the service is stopping")

// health says whether calls can be answered. It answers grpc.health.v1 by itself:
// grpc's own implementation leaves watchers open at the end, and then the drain hangs.
// It is safe for concurrent use.
type health struct {
	healthv1.UnimplementedHealthServer
	gate    *gate.Gate
	store   audit.Store
	reloads func() Reloads
	keys    func() subsystem

	mu       sync.Mutex
	draining bool
	ended    bool
	changed  chan struct{} // closed and replaced whenever a watcher should look again
}

func newHealth(g *gate.Gate, store audit.Store, reloads func() Reloads, keys func() subsystem) *health {
	return &health{gate: g, store: store, reloads: reloads, keys: keys, changed: make(chan struct{})}
}

// watchEvery is how often watchers look at the store, which tells nobody by itself.
const watchEvery = 250 * time.Millisecond

// subsystems reports everything that calls need.
func (h *health) subsystems(ctx context.Context) []subsystem {
	h.mu.Lock()
	draining := h.draining
	h.mu.Unlock()
	contracts := subsystem{name: "contracts", err: gate.ErrNoContracts}
	if set := h.gate.Set(); set != nil {
		contracts.err, contracts.detail = nil, "digest "+set.Digest()
		if r := h.reloads(); !r.RefusedSince.IsZero() {
			contracts.concern = fmt.Sprintf("reload refused since %s, serving %s: %s",
				r.RefusedSince.UTC().Format(time.RFC3339), set.Digest(), r.Fault)
		}
	}
	serving := subsystem{name: "serving"}
	if draining {
		serving.err = errDraining
	}
	return []subsystem{serving, contracts, {name: "audit", err: h.store.Ready(ctx)}, h.keys()}
}

// current is the status of the whole. Every service needs the same things.
func (h *health) current(ctx context.Context) healthv1.HealthCheckResponse_ServingStatus {
	for _, s := range h.subsystems(ctx) {
		if s.err != nil {
			return healthv1.HealthCheckResponse_NOT_SERVING
		}
	}
	return healthv1.HealthCheckResponse_SERVING
}

// services returns the names that have a health; "" is the whole.
func (h *health) services() []string {
	return []string{
		"", hallmarkv1.GateService_ServiceDesc.ServiceName,
		hallmarkv1.ContractService_ServiceDesc.ServiceName, hallmarkv1.AuditService_ServiceDesc.ServiceName,
	}
}

func (h *health) has(service string) bool {
	for _, name := range h.services() {
		if name == service {
			return true
		}
	}
	return false
}

// Check answers once.
func (h *health) Check(ctx context.Context, req *healthv1.HealthCheckRequest) (*healthv1.HealthCheckResponse, error) {
	if !h.has(req.GetService()) {
		return nil, status.Error(codes.NotFound, "no service has this name")
	}
	return &healthv1.HealthCheckResponse{Status: h.current(ctx)}, nil
}

// List answers for every name.
func (h *health) List(ctx context.Context, _ *healthv1.HealthListRequest) (*healthv1.HealthListResponse, error) {
	now := &healthv1.HealthCheckResponse{Status: h.current(ctx)}
	out := &healthv1.HealthListResponse{Statuses: map[string]*healthv1.HealthCheckResponse{}}
	for _, name := range h.services() {
		out.Statuses[name] = now
	}
	return out, nil
}

// Watch answers at once and on every change, until the caller leaves or the service
// stops; then it says NOT_SERVING and ends.
func (h *health) Watch(req *healthv1.HealthCheckRequest, stream grpc.ServerStreamingServer[healthv1.HealthCheckResponse]) error {
	ctx := stream.Context()
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	last := healthv1.HealthCheckResponse_UNKNOWN
	for {
		h.mu.Lock()
		ended, changed := h.ended, h.changed
		h.mu.Unlock()
		now := healthv1.HealthCheckResponse_SERVICE_UNKNOWN
		if h.has(req.GetService()) {
			now = h.current(ctx)
		}
		if now != last {
			if err := stream.Send(&healthv1.HealthCheckResponse{Status: now}); err != nil {
				return err
			}
			last = now
		}
		if ended {
			return errDraining
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		case <-tick.C:
		}
	}
}

// drain makes the service NOT_SERVING for good.
func (h *health) drain() { h.set(&h.draining) }

// end ends every watcher, after it was told.
func (h *health) end() { h.set(&h.ended) }

func (h *health) set(flag *bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if *flag {
		return
	}
	*flag = true
	close(h.changed)
	h.changed = make(chan struct{})
}
