package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
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
		return nil, fmt.Errorf("the contracts in %s are refused, nothing of them is served:\n%w", from,
			NamePolicies(faults, from.contracts, from.policies))
	}
	if err != nil {
		return nil, fmt.Errorf("contracts: %w", err)
	}
	if report := casetest.Run(context.Background(), set); len(report.Failed()) > 0 {
		return nil, fmt.Errorf("the contracts in %s fail their own cases, nothing of them is served:\n%s", from, report)
	}
	return set, nil
}

// running is a service that answers calls.
type running struct {
	health *health
	rpc    *grpc.Server
	broken chan error // gets what ended a listener
}

// Run serves until ctx ends, then drains and releases everything; nil is a clean end, and
// so is one that ctx asked for during the start. The error is that of the start, of a
// listener that broke, or of the store's end. Run may be called once.
func (a *App) Run(ctx context.Context) (err error) {
	opened := &releases{log: a.deps.Log}
	defer func() { err = errors.Join(err, opened.release()) }()
	s, err := a.start(ctx, opened)
	if err != nil && ctx.Err() != nil { // what was under way ended with ctx, and is at no fault
		a.deps.Log.Info("told to stop before anything was served", "during", err)
		return nil
	}
	if err != nil {
		return err
	}
	select {
	case err := <-s.broken:
		s.health.drain()
		s.health.end()
		return fmt.Errorf("a listener broke: %w", err)
	case <-ctx.Done():
	}
	a.drain(s.rpc, s.health)
	return nil
}

// start opens everything and says ready. What it opened is in opened, also after an error.
func (a *App) start(ctx context.Context, opened *releases) (*running, error) {
	log := a.deps.Log
	if a.notices != nil {
		opened.aside = append(opened.aside, cleanup{"notices", a.notices.Close})
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	bare, err := a.deps.OpenStore(ctx, a.cfg.Data)
	if err != nil {
		return nil, fmt.Errorf("the audit store cannot be opened, and without it nothing is answered: %w", err)
	}
	store := newMeasuredStore(bare)
	opened.store = cleanup{"audit store", store.Close}

	calls := newCallMetrics()
	g := gate.New(store, a.deps.Clock, gate.WithTokens(a.keys.tokens), gate.WithOriginals(a.originals.rules),
		gate.WithAlerts(alertLog(log)), gate.WithObserver(a.observer(calls)))
	g.Publish(a.set)
	h := newHealth(g, store, a.Reloads, a.subsystems)
	bound, err := listen(ctx, a.cfg.Listen, a.cfg.InsecurePlaintext || a.cfg.tls())
	if err != nil {
		return nil, bindFault("listen", a.cfg.Listen, err)
	}
	rpcListener := &boundedListener{Listener: bound, most: int64(a.cfg.MaxConnections), leave: a.access.lanes.departures, log: log}
	measured := newMetrics(a.Reloads, calls, servingCollector{a.access, rpcListener, a.keys, a.originals.recipients}, store)
	told, err := newTelemetry(ctx, a.deps.Getenv, measured, log)
	if err != nil {
		return nil, errors.Join(err, closed(rpcListener))
	}
	opened.aside = append(opened.aside, cleanup{"telemetry", told.stop})
	rpc, err := newTransport(a.chain, services{
		gate:      &gateService{gate: g, who: a.who, guard: a.access.guard},
		contracts: &contractService{gate: g},
		audit:     &auditService{store: store, who: a.who, guard: a.access.guard, log: log, clock: a.deps.Clock, watchers: a.watching},
		health:    h,
	}, a.cfg, a.access.credentials(), told.handler)
	if err != nil {
		return nil, errors.Join(err, closed(rpcListener))
	}
	ops := newOps(h, metricsPage(measured), jwks(g), log)
	opened.serving = append(opened.serving, cleanup{"gRPC", func(context.Context) error { rpc.Stop(); return closed(rpcListener) }})
	bound, err = listen(ctx, a.cfg.OpsListen, true)
	if err != nil {
		return nil, bindFault("ops-listen", a.cfg.OpsListen, err)
	}
	opsListener := &boundedListener{Listener: bound, most: maxOpsConnections}
	opened.serving = append(opened.serving, cleanup{"probes", func(ctx context.Context) error {
		if err := ops.Shutdown(ctx); err != nil { // somebody reads slowly
			return errors.Join(err, ops.Close())
		}
		return closed(opsListener)
	}})
	opened.serving = append(opened.serving, a.follow(g)...)
	if a.cfg.AutoMemoryLimit {
		opened.serving = append(opened.serving, cleanup{"memory limit", limitMemory(log)})
	}
	opened.serving = append(opened.serving, cleanup{"look at the store", startStoreLog(store, storeEvery, a.deps.Clock, log)})
	opened.serving = append(opened.serving, cleanup{"purge", startPurge(store, a.cfg.KeepEvents, a.deps.Clock, log)})
	broken := make(chan error, 2)
	go func() { broken <- rpc.Serve(rpcListener) }()
	go func() { broken <- ops.Serve(opsListener) }()
	a.announce(rpcListener.Addr().String(), opsListener.Addr().String())
	if _, err := fmt.Fprintf(a.deps.Ready, "ready grpc=%s ops=%s\n", rpcListener.Addr(), opsListener.Addr()); err != nil {
		return nil, fmt.Errorf("saying ready: %w", err)
	}
	return &running{health: h, rpc: rpc, broken: broken}, nil
}

// follow keeps what is read from files equal to them, until what it returns is undone.
func (a *App) follow(g *gate.Gate) []cleanup {
	if a.cfg.ReloadEvery <= 0 {
		return nil
	}
	return []cleanup{
		{"reload of contracts", a.startReload(g)},
		{"reload of keys", a.keys.start(a.cfg.ReloadEvery)},
		{"reload of recipients", a.originals.start(a.cfg.ReloadEvery)},
		{"reload of certificates and identities", a.access.start(a.cfg.ReloadEvery)},
	}
}

// announce logs how calls are served.
func (a *App) announce(rpc, ops string) {
	log := a.deps.Log
	if a.cfg.InsecurePlaintext {
		log.Warn("plaintext without identity: whoever reaches the port may call", "listen", rpc)
	}
	if a.cfg.Recipients == "" {
		log.Info("originals are not kept, since there are no recipients: records hold sizes and digests, whatever retention says")
	}
	log.Info("serving", "tls", a.cfg.tls(), "grpc", rpc, "ops", ops, "contracts_digest", a.set.Digest())
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
	var hints chan struct{}
	h, err := newHinter(a.cfg.Contracts)
	if err != nil {
		a.deps.Log.Warn("no events of the contracts directory; it is looked at in intervals only", "every", a.cfg.ReloadEvery, "cause", err)
	} else {
		hints = h.hints
	}
	stopLooking := beside(func(ctx context.Context) { a.reload.run(ctx, hints) }, "a set of contracts is still being loaded")
	return func(stopping context.Context) error {
		err := stopLooking(stopping)
		if h != nil {
			err = errors.Join(err, h.close())
		}
		return err
	}
}

// drain says NOT_SERVING, waits until load balancers have looked, lets running calls
// end, and cuts off those that do not.
func (a *App) drain(rpc *grpc.Server, h *health) {
	log := a.deps.Log
	log.Info("draining", "wait", a.cfg.DrainWait.String(), "timeout", a.cfg.DrainTimeout.String())
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
