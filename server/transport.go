package server

import (
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"
	"google.golang.org/grpc/stats"

	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
)

// Sizes of messages, in bytes.
const (
	// MaxReceiveBytes is the largest request; one above is RESOURCE_EXHAUSTED before it
	// is read. Payloads have lower limits, which refuse in band and on the record.
	MaxReceiveBytes = 6 << 20
	// MaxSendBytes is the largest reply. All stay below 4 MiB, what clients take by default,
	// but for sealed originals.
	MaxSendBytes = 7 << 20
)

// Bounds of connections. grpc's own defaults are mostly "without end".
const (
	maxStreams     = 256      // calls at the same time on one connection
	maxHeaderBytes = 16 << 10 // metadata of one call
	connectTimeout = 10 * time.Second
	idleFor        = 15 * time.Minute
	streamWindow   = 64 << 10 // bytes of one call that arrive before anything asks for them
	connWindow     = 1 << 20
	pingEvery      = time.Minute
	pingTimeout    = 20 * time.Second
	mostWorkers    = 256
	minPing        = 10 * time.Second // a client that pings more often is sent away
)

// services are what the transport serves; each is needed.
type services struct {
	gate      hallmarkv1.GateServiceServer
	contracts hallmarkv1.ContractServiceServer
	audit     hallmarkv1.AuditServiceServer
	health    healthv1.HealthServer
}

// newTransport returns a grpc server with every service registered inside the chain.
// creds nil is plaintext, spans nil traces nothing. The error says that nobody has said who may call a method.
func newTransport(c chain, of services, cfg Config, creds credentials.TransportCredentials, spans stats.Handler) (*grpc.Server, error) {
	if creds == nil {
		creds = insecure.NewCredentials()
	}
	options := []grpc.ServerOption{
		grpc.Creds(creds),
		grpc.InTapHandle(cuttable),
		grpc.StatsHandler(wireStats{}),
		grpc.ForceServerCodecV2(newWireCodec()),
		grpc.MaxRecvMsgSize(MaxReceiveBytes),
		grpc.MaxSendMsgSize(MaxSendBytes),
		grpc.MaxConcurrentStreams(maxStreams),
		grpc.MaxHeaderListSize(maxHeaderBytes),
		grpc.ConnectionTimeout(connectTimeout),
		grpc.KeepaliveParams(keepalive.ServerParameters{
			MaxConnectionIdle: idleFor, MaxConnectionAge: cfg.MaxConnectionAge, MaxConnectionAgeGrace: cfg.MaxConnectionAgeGrace,
			Time: pingEvery, Timeout: pingTimeout,
		}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: minPing, PermitWithoutStream: true}),
		// By themselves windows grow to 16 MiB for each call, read or not.
		grpc.StaticStreamWindowSize(streamWindow),
		grpc.StaticConnWindowSize(connWindow),
		// A call waits for its record, so that workers are needed for as many as there may
		// be; a goroutine of its own would grow its stack anew for each.
		grpc.NumStreamWorkers(uint32(min(cfg.MaxInFlight, mostWorkers))), //nolint:gosec // positive
		grpc.UnknownServiceHandler(c.stream(unknownMethod, refuseUnknownMethod)),
	}
	if spans != nil {
		options = append(options, grpc.StatsHandler(spans))
	}
	s := grpc.NewServer(options...)
	r := registrar{s, c}
	hallmarkv1.RegisterGateServiceServer(r, of.gate)
	hallmarkv1.RegisterContractServiceServer(r, of.contracts)
	hallmarkv1.RegisterAuditServiceServer(r, of.audit)
	healthv1.RegisterHealthServer(r, of.health)
	if cfg.Reflection {
		reflection.Register(r)
	}
	return s, checkRights(s.GetServiceInfo(), methodRights())
}
