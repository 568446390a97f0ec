package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"time"

	"google.golang.org/grpc"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/audit/notice"
	"github.com/hallmark-gate/hallmark/casetest"
	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/gate"
	"github.com/hallmark-gate/hallmark/internal/stages"
)

// Deps are what the service is composed of besides its settings.
type Deps struct {
	// Loader compiles the contracts; needed.
	Loader *gate.Loader
	// OpenStore opens the audit store below a directory; needed. The App closes it.
	OpenStore func(ctx context.Context, dataDir string) (audit.Store, error)
	// Log takes the service's log; nil discards it.
	Log *slog.Logger
	// Clock says what time it is; nil means the system's clock.
	Clock func() time.Time
	// Getenv reads the environment for OpenTelemetry's variables; nil: nothing is sent.
	Getenv func(string) string
	// Ready gets the line "ready grpc=ADDR ops=ADDR" once calls are answered; nil
	// discards it.
	Ready io.Writer
}

// App is the service, composed and not yet running. Make one with [New].
type App struct {
	cfg    Config
	deps   Deps
	set    *gate.Set
	reload *reloader
	keys   *keyring
	access access

	originals *originals
	notices   *notice.Notifier // nil where nobody is told
	watching  *watchers
	chain     chain
	who       func(context.Context) *identity
}

// closeTimeout is how long the store may take to write what is queued at the end.
const closeTimeout = 15 * time.Second

// New checks the settings, loads the contracts and runs their cases. The error says
// what stops the start, and where; it may quote case files, never a live reply.
func New(cfg Config, deps Deps) (*App, error) {
	if deps.Loader == nil || deps.OpenStore == nil {
		return nil, errors.New("server: Deps needs a Loader and an OpenStore")
	}
	if deps.Log == nil {
		deps.Log = slog.New(slog.DiscardHandler)
	}
	if deps.Clock == nil {
		deps.Clock = time.Now
	}
	if deps.Getenv == nil {
		deps.Getenv = func(string) string { return "" }
	}
	if deps.Ready == nil {
		deps.Ready = io.Discard
	}
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	set, err := loadContracts(deps.Loader, cfg.sources())
	if err != nil {
		return nil, err
	}
	f, err := newForm()
	if err != nil {
		return nil, err
	}
	a, err := newAccess(cfg, deps)
	if err != nil {
		return nil, err
	}
	c, err := newChain(deps.Log, a.guard, a.lanes, f)
	if err != nil {
		return nil, err
	}
	keys, err := newKeyring(cfg, deps.Log, deps.Clock)
	if err != nil {
		return nil, err
	}
	kept, err := newOriginals(cfg, keys.dir(), deps)
	if err != nil {
		return nil, err
	}
	told, err := newNotices(cfg, deps)
	if err != nil {
		return nil, err
	}
	return &App{
		cfg: cfg, deps: deps, set: set, reload: newReloader(cfg, deps, set), keys: keys, originals: kept, notices: told,
		watching: newWatchers(), access: a, chain: c, who: whoOf,
	}, nil
}

// startPause lies between the readings of the start that must agree.
const startPause = 10 * time.Millisecond

// loadContracts loads a directory whole and holds its contracts to their own cases.
func loadContracts(loader *gate.Loader, from sources) (*gate.Set, error) {
	var set *gate.Set
	snapshot, err := settled(context.Background(), from, readOnce(from), startPause)
	if err == nil {
		set, err = loader.Compile(snapshot)
	}
	var faults contract.Faults
	if errors.As(err, &faults) {
		return nil, fmt.Errorf("the contracts in %s are refused, nothing of them is served:\n%w", from, faults)
	}
	if err != nil {
		return nil, fmt.Errorf("contracts: %w", err)
	}
	if report := casetest.Run(context.Background(), set); len(report.Failed()) > 0 {
		return nil, fmt.Errorf("the contracts in %s fail their own cases, nothing of them is served:\n%s", from, report)
	}
	return set, nil
}

// cleanup is one thing to undo.
type cleanup struct {
	name string
	undo func(context.Context) error
}

// Run serves until ctx ends, then drains and releases everything; nil is a clean end.
// The error is that of the start, of a listener that broke, or of a release. Run may be
// called once.
func (a *App) Run(ctx context.Context) (err error) {
	log := a.deps.Log
	var cleanups []cleanup
	defer func() { err = errors.Join(err, a.release(cleanups)) }()

	opened, err := a.deps.OpenStore(ctx, a.cfg.Data)
	if err != nil {
		return fmt.Errorf("the audit store cannot be opened, and without it nothing is answered: %w", err)
	}
	store := newMeasuredStore(opened)
	cleanups = append(cleanups, cleanup{"audit store", store.Close})
	if a.notices != nil {
		cleanups = append(cleanups, cleanup{"notices", a.notices.Close})
	}

	calls := newCallMetrics()
	g := gate.New(store, a.deps.Clock, gate.WithTokens(a.keys.tokens), gate.WithOriginals(a.originals.rules),
		gate.WithAlerts(alertLog(log)), gate.WithObserver(a.observer(calls)))
	g.Publish(a.set)
	h := newHealth(g, store, a.Reloads, a.subsystems)
	bound, err := listen(ctx, a.cfg.Listen, a.cfg.InsecurePlaintext || a.cfg.tls())
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	rpcListener := &boundedListener{Listener: bound, most: int64(a.cfg.MaxConnections)}
	measured := newMetrics(a.Reloads, calls, servingCollector{a.access, rpcListener}, store)
	told, err := newTelemetry(ctx, a.deps.Getenv, measured)
	if err != nil {
		return errors.Join(err, closed(rpcListener))
	}
	cleanups = append(cleanups, cleanup{"telemetry", told.stop})
	rpc, err := newTransport(a.chain, services{
		gate:      &gateService{gate: g, who: a.who, guard: a.access.guard},
		contracts: &contractService{gate: g},
		audit:     &auditService{store: store, who: a.who, guard: a.access.guard, log: log, clock: a.deps.Clock, watchers: a.watching},
		health:    h,
	}, a.cfg, a.access.credentials(), told.handler)
	if err != nil {
		return errors.Join(err, closed(rpcListener))
	}
	ops := newOps(h, metricsPage(measured), jwks(g), log)
	cleanups = append(cleanups, cleanup{"gRPC", func(context.Context) error { rpc.Stop(); return closed(rpcListener) }})
	bound, err = listen(ctx, a.cfg.OpsListen, true)
	if err != nil {
		return fmt.Errorf("ops-listen: %w", err)
	}
	opsListener := &boundedListener{Listener: bound, most: maxOpsConnections}
	cleanups = append(cleanups, cleanup{"probes", func(ctx context.Context) error {
		return errors.Join(ops.Shutdown(ctx), closed(opsListener))
	}})

	if a.cfg.ReloadEvery > 0 {
		cleanups = append(cleanups,
			cleanup{"reload of contracts", a.startReload(g)},
			cleanup{"reload of keys", a.keys.start(a.cfg.ReloadEvery)},
			cleanup{"reload of recipients", a.originals.start(a.cfg.ReloadEvery)},
			cleanup{"reload of certificates and identities", a.access.start(a.cfg.ReloadEvery)})
	}
	if a.cfg.AutoMemoryLimit {
		cleanups = append(cleanups, cleanup{"memory limit", limitMemory(log)})
	}
	cleanups = append(cleanups, cleanup{"purge", startPurge(store, a.cfg.KeepEvents, a.deps.Clock, log)})
	broken := make(chan error, 2)
	go func() { broken <- rpc.Serve(rpcListener) }()
	go func() { broken <- ops.Serve(opsListener) }()
	if a.cfg.InsecurePlaintext {
		log.Warn("plaintext without identity: whoever reaches the port may call", "listen", rpcListener.Addr().String())
	}
	if a.cfg.Recipients == "" {
		log.Info("originals are not kept, since there are no recipients: records hold sizes and digests, whatever retention says")
	}
	log.Info("serving", "tls", a.cfg.tls(), "grpc", rpcListener.Addr().String(), "ops", opsListener.Addr().String(), "contracts_digest", a.set.Digest())
	if _, err := fmt.Fprintf(a.deps.Ready, "ready grpc=%s ops=%s\n", rpcListener.Addr(), opsListener.Addr()); err != nil {
		return fmt.Errorf("saying ready: %w", err)
	}

	select {
	case err := <-broken:
		h.drain()
		h.end()
		return fmt.Errorf("a listener broke: %w", err)
	case <-ctx.Done():
	}
	a.drain(rpc, h)
	return nil
}

// subsystems is what calls need besides contracts and store.
func (a *App) subsystems() []subsystem {
	return append(a.access.subsystems(), a.keys.subsystem(), a.originals.subsystem())
}

// observer tells of every record that is durable, without waiting.
func (a *App) observer(calls callMetrics) func(audit.Record, stages.Times) {
	return func(r audit.Record, took stages.Times) {
		calls.observe(r, took)
		if a.notices != nil {
			a.notices.Observe(r)
		}
	}
}

// Reloads says what became of the contracts directory since the start. It is safe for
// concurrent use, before, during and after Run.
func (a *App) Reloads() Reloads { return *a.reload.status.Load() }

// startReload keeps what g judges by equal to the contracts directory, beside the calls,
// until the returned function is called.
func (a *App) startReload(g *gate.Gate) (stop func(context.Context) error) {
	a.reload.publish = g.Publish
	ctx, cancel := context.WithCancel(context.Background())
	var hints chan struct{}
	h, err := newHinter(a.cfg.Contracts)
	if err != nil {
		a.deps.Log.Warn("no events of the contracts directory; it is looked at in intervals only", "every", a.cfg.ReloadEvery, "cause", err)
	} else {
		hints = h.hints
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		a.reload.run(ctx, hints)
	}()
	return func(stopping context.Context) error {
		cancel()
		var err error
		if h != nil {
			err = h.close()
		}
		select {
		case <-ended:
			return err
		case <-stopping.Done():
			return errors.Join(err, errors.New("a set of contracts is still being loaded"))
		}
	}
}

// drain says NOT_SERVING, waits until load balancers have looked, lets running calls
// end, and cuts off those that do not.
func (a *App) drain(rpc *grpc.Server, h *health) {
	log := a.deps.Log
	log.Info("draining", "wait", a.cfg.DrainWait, "timeout", a.cfg.DrainTimeout)
	h.drain()
	time.Sleep(a.cfg.DrainWait)
	h.end()
	a.watching.end()
	drained := make(chan struct{})
	go func() {
		rpc.GracefulStop()
		close(drained)
	}()
	select {
	case <-drained:
		log.Info("drained")
	case <-time.After(a.cfg.DrainTimeout):
		log.Warn("calls did not end in time and are cut off")
		rpc.Stop()
	}
}

// release undoes everything in reverse order.
func (a *App) release(cleanups []cleanup) error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	var errs []error
	for _, c := range slices.Backward(cleanups) {
		if err := c.undo(ctx); err != nil {
			a.deps.Log.Error("not released", "what", c.name, "cause", err)
			errs = append(errs, fmt.Errorf("releasing %s: %w", c.name, err))
		}
	}
	return errors.Join(errs...)
}
