package server

import (
	"context"
	"time"

	"google.golang.org/grpc/credentials"
)

// access is everything that stands between a connection and a service: certificates,
// identities, and room.
type access struct {
	guard *guard
	lanes *lanes
	// With TLS only:
	certificates *certificates
	tls          *follower
	identities   *follower
}

// newAccess reads certificates and identities. The error says what cannot be used.
func newAccess(cfg Config, deps Deps) (access, error) {
	rights := methodRights()
	a := access{
		guard: &guard{rights: rights, clock: deps.Clock, log: deps.Log},
		lanes: newLanes(cfg, rights),
	}
	if !cfg.tls() {
		a.guard.local = local(cfg.MaxInFlight)
		return a, nil
	}
	a.certificates = &certificates{clock: deps.Clock}
	var err error
	a.tls, err = follow("tls", []string{cfg.TLSCert, cfg.TLSKey, cfg.TLSClientCA}, deps, a.certificates.take)
	if err != nil {
		return access{}, err
	}
	a.identities, err = follow("identities", []string{cfg.Identities}, deps, a.guard.take(cfg.Identities))
	return a, err
}

// credentials returns what grpc makes connections with; nil is plaintext.
func (a access) credentials() credentials.TransportCredentials {
	if a.certificates == nil {
		return nil
	}
	return a.certificates.credentials()
}

// followers returns what is kept equal to files.
func (a access) followers() []*follower {
	if a.certificates == nil {
		return nil
	}
	return []*follower{a.tls, a.identities}
}

// start follows the files beside the calls until the returned function is called.
func (a access) start(every time.Duration) (stop func(context.Context) error) {
	return startFollowing(every, a.followers()...)
}

// subsystems reports what calls need of this.
func (a access) subsystems() []subsystem {
	if a.certificates == nil {
		return nil
	}
	return []subsystem{
		{
			name: "tls", err: a.certificates.ready(), concern: a.tls.concern(),
			detail: "certificate until " + a.certificates.expires().UTC().Format(time.RFC3339),
		},
		{name: "identities", concern: a.identities.concern()},
	}
}
