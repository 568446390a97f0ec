// Package permit is for executors: it checks, just before an executor acts, that
// Hallmark allowed exactly this call.
//
//	keys, err := permit.ParseKeys(jwks) // from GetKeys or /.well-known/jwks.json
//	…
//	claims, err := permit.Verify(token, keys, permit.Expect{
//		Issuer: "hallmark.example.test", Tenant: "acme", Audience: "mailer.example.test",
//		Tool: "mail_send", Version: 3, Principal: "ada@example.test", Now: time.Now(),
//	}, arguments)
//	if err != nil || !seen.First(claims, time.Now()) {
//		return errRefused // and act on nothing
//	}
//
// # The executor's duties
//
// It hashes and parses the argument bytes as it received them; it never writes them
// anew before it checks. It fulfils every obligation of the permit. It records the
// permit's id, until exp + [receipt.Skew], before it acts; replicas of an executor
// share that record, or call Redeem of the service, which does all of this once. It
// fetches the keys again when a permit names an unknown one, and every few minutes,
// because revoked keys vanish from them.
//
// # What a permit does not prove
//
// That the world is still as it was: a path may have become a link, a host may resolve
// elsewhere. That is what obligations such as open-beneath and public-address are for.
//
// Besides the standard library the package needs package receipt alone.
package permit

import (
	"slices"
	"time"

	"github.com/hallmark-gate/hallmark/receipt"
)

// Keys are the published keys of a service. They are immutable and safe for concurrent
// use; a nil Keys refuses every permit.
type Keys = receipt.PermitKeys

// Claims are what a permit says.
type Claims = receipt.Permit

// ParseKeys reads the JWK Set that the service publishes.
func ParseKeys(jwks []byte) (*Keys, error) { return receipt.ParsePermitKeys(jwks) }

// Expect is what the executor knows of the call that it is asked to execute, from its
// configuration and from the request, never from the permit. A field that is empty
// refuses, but for two: an empty Principal is expected of the permit too, and
// KnownObligations may be none.
type Expect struct {
	Issuer    string // the service, as its configuration names it
	Tenant    string
	Audience  string // this executor, as the contract names it
	Tool      string
	Version   uint32
	Principal string
	Now       time.Time
	// KnownObligations are those that this executor fulfils, always. A permit with
	// another is refused.
	KnownObligations []string
}

// Verify checks a permit for the arguments that are about to be executed: signature,
// typ, audience, time, tool, version, principal, the SHA-256 of exactly these bytes, and
// that every obligation is known. The error is a [*receipt.Error]; the claims are then
// zero. The bytes are not kept. It is safe for concurrent use.
func Verify(token string, keys *Keys, want Expect, arguments []byte) (Claims, error) {
	c, err := keys.Verify(token, receipt.PermitExpect{
		Issuer: want.Issuer, Tenant: want.Tenant, Audience: want.Audience,
		Arguments: arguments, Now: want.Now,
	})
	switch {
	case err != nil:
		return Claims{}, err
	case want.Tool == "":
		return refuse(receipt.Unbound, "Tool")
	case want.Version == 0:
		return refuse(receipt.Unbound, "Version")
	case c.Tool != want.Tool:
		return refuse(receipt.Mismatch, "tool")
	case c.Version != want.Version:
		return refuse(receipt.Mismatch, "ver")
	case c.Principal != want.Principal:
		return refuse(receipt.Mismatch, "principal")
	}
	for _, o := range c.Obligations {
		if !slices.Contains(want.KnownObligations, o) {
			return refuse(receipt.Mismatch, "obl")
		}
	}
	return c, nil
}

func refuse(r receipt.Reason, place string) (Claims, error) {
	return Claims{}, &receipt.Error{Kind: receipt.PermitKind, Reason: r, Place: place}
}
