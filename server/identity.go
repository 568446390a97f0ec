package server

import (
	"context"
	"crypto/x509"
	"encoding/asn1"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"

	"github.com/hallmark-gate/hallmark/gate"
)

// ForwardedIdentityHeader is the metadata in which a listed proxy names the identity
// that it calls for, by its SAN as it stands in the identities file. From anyone else it
// is refused.
const ForwardedIdentityHeader = "hallmark-forwarded-identity"

// accessError says that a caller may not do what it asks for.
type accessError uint8

// The reasons of refusals, which are also a label in the metrics.
const (
	accessNoCertificate accessError = iota // the zero value: nothing is known of the peer
	accessExpired
	accessUnlisted
	accessAmbiguous
	accessForwarded
	accessForwardedUnlisted
	accessRole
	accessTool
	accessGranted // nothing is wrong; last, so that the zero value refuses
)

// accessWords are the labels and the fixed sentences of the reasons.
func accessWords() [accessGranted]struct{ label, sentence string } {
	return [...]struct{ label, sentence string }{
		accessNoCertificate:     {"no_certificate", "the client has shown no certificate"},
		accessExpired:           {"expired", "the client's certificate has expired"},
		accessUnlisted:          {"unlisted", "the client is none of the service's identities"},
		accessAmbiguous:         {"ambiguous", "the client's certificate names more than one identity"},
		accessForwarded:         {"forwarded", "the client may not call for another identity"},
		accessForwardedUnlisted: {"forwarded_unlisted", "the forwarded identity is none of the service's"},
		accessRole:              {"role", "the identity has no role that may call this method"},
		accessTool:              {"tool", "the identity may not use this tool"},
	}
}

// Error returns the fixed sentence.
func (e accessError) Error() string { return accessWords()[e].sentence }

// unauthenticated reports whether it is not known who calls, which another certificate
// can cure.
func (e accessError) unauthenticated() bool { return e == accessNoCertificate || e == accessExpired }

// guard finds out who calls and whether that identity may. It is safe for concurrent
// use.
type guard struct {
	rights map[string]right
	local  *identity // who calls in plaintext; nil with TLS
	listed atomic.Pointer[directory]
	clock  func() time.Time
	log    *slog.Logger
	denied [accessGranted]atomic.Uint64
}

// take makes an identities file effective for every call that begins from now on.
func (g *guard) take(file string) func([][]byte) error {
	return func(contents [][]byte) error {
		d, err := readDirectory(file, contents[0])
		if err == nil {
			g.listed.Store(d)
		}
		return err
	}
}

type identityKey struct{}

// whoOf returns the identity that the guard found; one that may nothing where it found
// none.
func whoOf(ctx context.Context) *identity {
	if id, ok := ctx.Value(identityKey{}).(*identity); ok {
		return id
	}
	return &identity{}
}

// around is the interceptor.
func (g *guard) around(ctx context.Context, method string, next func(context.Context) error) error {
	id, err := g.admit(ctx, method)
	if err != nil {
		return err
	}
	return next(context.WithValue(ctx, identityKey{}, id))
}

// admit returns who calls. The error is an [accessError]; it is counted and logged.
func (g *guard) admit(ctx context.Context, method string) (*identity, error) {
	id, sans, fault := g.identify(ctx)
	open := g.rights[method].roles&roleAnyone != 0
	if fault == accessUnlisted && open {
		return &identity{}, nil
	}
	if fault == accessGranted && !open && id.roles&g.rights[method].roles == 0 {
		fault = accessRole
	}
	if fault == accessGranted {
		return id, nil
	}
	return nil, g.deny(ctx, method, id, sans, fault)
}

// deny counts and logs a refusal.
func (g *guard) deny(ctx context.Context, method string, id *identity, sans []string, fault accessError) error {
	g.denied[fault].Add(1)
	name := ""
	if id != nil {
		name = id.Name
	}
	g.log.LogAttrs(ctx, slog.LevelWarn, "access denied",
		slog.String("method", method), slog.String("decision_id", decisionID(ctx)),
		slog.String("reason", accessWords()[fault].label), slog.String("identity", name), slog.Any("sans", sans))
	return fault
}

// identify returns who calls and the names in the certificate, for the log. The fault is
// accessGranted where there is none.
func (g *guard) identify(ctx context.Context) (id *identity, sans []string, fault accessError) {
	md, _ := metadata.FromIncomingContext(ctx)
	forwarded := md.Get(ForwardedIdentityHeader)
	if g.local != nil {
		if len(forwarded) > 0 {
			return nil, nil, accessForwarded
		}
		return g.local, nil, accessGranted
	}
	leaf := verifiedLeaf(ctx)
	if leaf == nil {
		return nil, nil, accessNoCertificate
	}
	sans = sansOf(leaf)
	// A connection may outlast the certificate that it began with.
	if g.clock().After(leaf.NotAfter) {
		return nil, sans, accessExpired
	}
	id, fault = g.listed.Load().find(sans, forwarded)
	return id, sans[:min(len(sans), maxLoggedSANs)], fault
}

// maxLoggedSANs bounds what a log line says of a certificate.
const maxLoggedSANs = 4

// verifiedLeaf returns the certificate of the peer, which the handshake has verified;
// nil where there is none.
func verifiedLeaf(ctx context.Context) *x509.Certificate {
	p, _ := peer.FromContext(ctx)
	if p == nil {
		return nil
	}
	info, ok := p.AuthInfo.(credentials.TLSInfo)
	if !ok || len(info.State.VerifiedChains) == 0 || len(info.State.VerifiedChains[0]) == 0 {
		return nil
	}
	return info.State.VerifiedChains[0][0]
}

// sansOf returns the names of a certificate as an identities file spells them. They are
// read from the certificate's own bytes: a URI that was parsed and written again may be
// another one (spiffe://example.test/agent# loses its end).
func sansOf(leaf *x509.Certificate) []string {
	var sans []string
	for _, extension := range leaf.Extensions {
		if !extension.Id.Equal(asn1.ObjectIdentifier{2, 5, 29, 17}) { // RFC 5280, 4.2.1.6
			continue
		}
		var names []asn1.RawValue
		if rest, err := asn1.Unmarshal(extension.Value, &names); err != nil || len(rest) > 0 {
			return nil
		}
		for _, name := range names {
			switch {
			case name.Class != asn1.ClassContextSpecific:
			case name.Tag == 6 && isSPIFFE(string(name.Bytes)): // uniformResourceIdentifier
				sans = append(sans, string(name.Bytes))
			case name.Tag == 6: // dns:x is a URI too
				sans = append(sans, "uri:"+string(name.Bytes))
			case name.Tag == 2: // dNSName
				sans = append(sans, "dns:"+strings.ToLower(string(name.Bytes)))
			}
		}
	}
	return sans
}

// isSPIFFE reports a URI whose scheme is that of SPIFFE, however it is written.
func isSPIFFE(uri string) bool {
	const scheme = "spiffe:"
	return len(uri) >= len(scheme) && strings.EqualFold(uri[:len(scheme)], scheme)
}

// find returns the one identity that a client with these names has. The fault is
// accessGranted where there is none.
func (d *directory) find(sans, forwarded []string) (*identity, accessError) {
	var id *identity
	matches, proxy, spiffe := 0, false, 0
	for _, san := range slices.Compact(slices.Sorted(slices.Values(sans))) {
		if isSPIFFE(san) {
			spiffe++
		}
		if listed := d.bySAN[san]; listed != nil {
			id = listed
			matches++
		}
		if d.proxies[san] {
			proxy = true
			matches++
		}
	}
	switch {
	// A SPIFFE certificate has one ID; whoever issues more means none of them.
	case matches > 1, matches == 1 && spiffe > 1:
		return nil, accessAmbiguous
	case len(forwarded) > 0 && !proxy:
		return id, accessForwarded
	case len(forwarded) == 0 && id == nil:
		return nil, accessUnlisted
	case len(forwarded) == 0:
		return id, accessGranted
	case len(forwarded) > 1 || d.bySAN[forwarded[0]] == nil:
		return nil, accessForwardedUnlisted
	}
	return d.bySAN[forwarded[0]], accessGranted
}

// mayUse reports whether an identity may use the tool of this name or alias. What counts
// is the contract's own name. A name that no contract has is everyone's: what a model
// invents is answered with UNKNOWN_TOOL, not with a status.
func (id *identity) mayUse(set *gate.Set, name string) bool {
	if id.Tools == nil || set == nil {
		return true
	}
	tool := set.Name(name)
	return tool == "" || slices.Contains(id.Tools, tool)
}

// permit returns the accessError of a tool that the caller may not use; nil otherwise.
func (g *guard) permit(ctx context.Context, method string, id *identity, set *gate.Set, tool string) error {
	if id.mayUse(set, tool) {
		return nil
	}
	return g.deny(ctx, method, id, nil, accessTool)
}

// String is the label of the reason.
func (e accessError) String() string { return accessWords()[e].label }
