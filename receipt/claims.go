package receipt

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"
)

// Receipt says that a caller reported bytes which passed a contract. Times of all claims
// are whole seconds; texts are at most 2048 bytes without control characters.
type Receipt struct {
	Issuer          string          // iss: this service, as it is configured
	IssuedAt        time.Time       // iat
	Expires         time.Time       // exp
	ID              string          // jti
	Tenant          string          // ten
	Caller          string          // sub: who called Validate
	Session         string          // sid; "": made without a session, no evidence for anything
	Tool            string          // tool
	Version         uint32          // ver, from 1
	ContractDigest  string          // cdg, lowercase hex SHA-256 like every digest here
	Request         string          // req
	ArgumentsDigest string          // areq, of the canonical arguments of the request; "": it had none
	Source          string          // src; "": not named
	Trust           string          // trust
	Digest          string          // dig, of what was delivered
	Observed        time.Time       // obs, RFC 3339 in the token, to the nanosecond; zero: there is none
	Facts           json.RawMessage // data, exactly these bytes, at most MaxFacts; nil: none
	Signed          bool            // not a claim: signed rather than MACed; set by verifiers, read by signers
	KeyID           string          // not a claim: kid, set by verifiers
}

func (c *Receipt) fields() []field {
	return append(common(&c.Issuer, &c.IssuedAt, &c.Expires, 19),
		field{"jti", (*text)(&c.ID), needed},
		field{"ten", (*text)(&c.Tenant), needed},
		field{"sub", (*text)(&c.Caller), needed},
		field{"sid", (*text)(&c.Session), always},
		field{"tool", (*text)(&c.Tool), needed},
		field{"ver", (*count)(&c.Version), needed},
		field{"cdg", (*digest)(&c.ContractDigest), needed},
		field{"req", (*text)(&c.Request), needed},
		field{"areq", (*digest)(&c.ArgumentsDigest), maybe},
		field{"src", (*text)(&c.Source), maybe},
		field{"trust", (*text)(&c.Trust), needed},
		field{"dig", (*digest)(&c.Digest), needed},
		field{"obs", (*instant)(&c.Observed), maybe},
		field{"data", exact{&c.Facts, MaxFacts}, maybe},
	)
}

// Permit says that one call may be executed once, within a minute, with exactly the
// arguments that have this digest.
type Permit struct {
	Issuer          string    // iss
	IssuedAt        time.Time // iat
	Expires         time.Time // exp, at most a minute after IssuedAt
	ID              string    // jti: good for one execution
	Tenant          string    // ten
	Session         string    // sid; may be ""
	Tool            string    // tool
	Version         uint32    // ver, from 1
	Request         string    // req
	Principal       string    // principal: the user for whom the call is made; may be ""
	Decision        string    // dec: the decision's id in the audit record
	ArgumentsDigest string    // args_sha256, of the bytes to execute
	Audience        string    // aud: who may execute
	Obligations     []string  // obl, at most 16: an executor that does not know one does not execute
}

func (c *Permit) fields() []field {
	return append(common(&c.Issuer, &c.IssuedAt, &c.Expires, 14),
		field{"jti", (*text)(&c.ID), needed},
		field{"ten", (*text)(&c.Tenant), needed},
		field{"sid", (*text)(&c.Session), always},
		field{"tool", (*text)(&c.Tool), needed},
		field{"ver", (*count)(&c.Version), needed},
		field{"req", (*text)(&c.Request), needed},
		field{"principal", (*text)(&c.Principal), always},
		field{"dec", (*text)(&c.Decision), needed},
		field{"args_sha256", (*digest)(&c.ArgumentsDigest), needed},
		field{"aud", (*text)(&c.Audience), needed},
		field{"obl", list[string]{&c.Obligations, 16, func(s *string) value { return (*text)(s) }}, always},
	)
}

// Challenge holds all that a person must see before a call that needs approval.
type Challenge struct {
	Issuer    string          // iss
	IssuedAt  time.Time       // iat
	Expires   time.Time       // exp, at most a day after IssuedAt
	ID        string          // jti
	Tenant    string          // ten
	Session   string          // sid; may be ""
	Caller    string          // sub: who called Authorize, and may not approve
	Principal string          // principal; may be ""
	Tool      string          // tool
	Version   uint32          // ver, from 1
	Arguments json.RawMessage // args: the canonical arguments themselves, exactly these bytes, at most MaxArguments
	Disclosed []Source        // disclosed: what was delivered to the session, at most maxDisclosed
}

// Source is something whose results were delivered to a session.
type Source struct {
	Tool  string // tool
	Trust string // trust
}

func (c *Challenge) fields() []field {
	return append(common(&c.Issuer, &c.IssuedAt, &c.Expires, 12),
		field{"jti", (*text)(&c.ID), needed},
		field{"ten", (*text)(&c.Tenant), needed},
		field{"sid", (*text)(&c.Session), always},
		field{"sub", (*text)(&c.Caller), needed},
		field{"principal", (*text)(&c.Principal), always},
		field{"tool", (*text)(&c.Tool), needed},
		field{"ver", (*count)(&c.Version), needed},
		field{"args", exact{&c.Arguments, MaxArguments}, needed},
		field{"disclosed", list[Source]{&c.Disclosed, maxDisclosed, func(s *Source) value {
			return object{
				{"tool", (*text)(&s.Tool), needed},
				{"trust", (*text)(&s.Trust), needed},
			}
		}}, always},
	)
}

// Approval is a person's answer to a challenge. It has no id of its own: it is used up
// with its challenge.
type Approval struct {
	Approver  string    // sub, and iss too: the owner of the key
	IssuedAt  time.Time // iat
	Expires   time.Time // exp, at most ten minutes after IssuedAt
	Audience  string    // aud: the issuer of the challenge
	Challenge string    // challenge: Digest of the challenge as it was received
	Approved  bool      // decision: approve or reject
}

func (c *Approval) fields(issuer *string) []field {
	return append(common(issuer, &c.IssuedAt, &c.Expires, 7),
		field{"sub", (*text)(&c.Approver), needed},
		field{"aud", (*text)(&c.Audience), needed},
		field{"challenge", (*digest)(&c.Challenge), needed},
		field{"decision", (*answer)(&c.Approved), needed},
	)
}

// answer is the decision of an approval.
type answer bool

func (v *answer) empty() bool { return false }

func (v *answer) append(dst []byte) ([]byte, bool) {
	if *v {
		return append(dst, `"approve"`...), true
	}
	return append(dst, `"reject"`...), true
}

func (v *answer) read(raw []byte) bool {
	s, ok := readText(raw)
	*v = s == "approve"
	return ok && (s == "approve" || s == "reject")
}

// GrantToken is a set of grants, signed by an issuer that the operator configured.
type GrantToken struct {
	Issuer    string    // iss: the owner of the key
	IssuedAt  time.Time // iat
	Expires   time.Time // exp, at most 31 days after IssuedAt
	ID        string    // jti
	Audience  string    // aud: this service
	Tenant    string    // ten
	Session   string    // sid
	Principal string    // principal
	Grants    []Grant   // grants: 1 to 64
}

// Grant is one permission of a user's task: the API's message Grant in its JSON form
// (ProtoJSON), as issuers in other languages have it, with names as in the .proto file or
// in lowerCamelCase. What its scopes mean is for the policy to say.
type Grant struct {
	ID        string    // id
	Tool      string    // tool
	Scopes    []Scope   // scopes, at most 32
	NotAfter  time.Time // not_after, RFC 3339 with Z, exclusive
	MaxUses   uint32    // max_uses; 0 where Unlimited
	Unlimited bool      // unlimited_uses
}

// Scope is what one scope of a contract may contain: Values, or Any.
type Scope struct {
	Name   string   // name
	Values []string // values.values, or values alone; at most 256; none: it covers nothing
	Any    bool     // any
}

func (c *GrantToken) fields() []field {
	return append(common(&c.Issuer, &c.IssuedAt, &c.Expires, 9),
		field{"jti", (*text)(&c.ID), needed},
		field{"aud", (*text)(&c.Audience), needed},
		field{"ten", (*text)(&c.Tenant), needed},
		field{"sid", (*text)(&c.Session), needed},
		field{"principal", (*text)(&c.Principal), needed},
		field{"grants", list[Grant]{&c.Grants, 64, func(g *Grant) value { return (*grant)(g) }}, needed},
	)
}

// grant adds to an object that exactly one of two members is there.
type grant Grant

func (g *grant) fields() object {
	return object{
		{"id", (*text)(&g.ID), needed},
		{"tool", (*text)(&g.Tool), needed},
		{"scopes", list[Scope]{&g.Scopes, 32, func(s *Scope) value { return (*scope)(s) }}, optional},
		{"not_after", (*timestamp)(&g.NotAfter), needed},
		{"max_uses", (*count)(&g.MaxUses), maybe},
		{"unlimited_uses", (*truth)(&g.Unlimited), maybe},
	}
}

func (g *grant) empty() bool { return false }

func (g *grant) append(dst []byte) ([]byte, bool) {
	dst, ok := g.fields().append(dst)
	return dst, ok && (g.MaxUses > 0) != g.Unlimited
}

func (g *grant) read(raw []byte) bool {
	if !g.fields().read(raw) {
		*g = grant{}
		if !g.fields().inCamelCase().read(raw) {
			return false
		}
	}
	return (g.MaxUses > 0) != g.Unlimited
}

// scope likewise. Values that are not there and values that are none are two things on
// the wire and one here: both cover nothing.
type scope Scope

func (s *scope) fields() object {
	return object{
		{"name", (*text)(&s.Name), needed},
		{"values", (*scopeValues)(&s.Values), optional},
		{"any", (*truth)(&s.Any), maybe},
	}
}

func (s *scope) empty() bool { return false }

func (s *scope) append(dst []byte) ([]byte, bool) {
	dst, ok := s.fields().append(dst)
	return dst, ok && !(s.Any && len(s.Values) > 0)
}

func (s *scope) read(raw []byte) bool { return s.fields().read(raw) && !(s.Any && len(s.Values) > 0) }

// scopeValues is the API's message Values, an object with a list, and on reading also the
// list alone.
type scopeValues []string

func (v *scopeValues) list() list[string] {
	return list[string]{(*[]string)(v), 256, func(s *string) value { return (*text)(s) }}
}

func (v *scopeValues) empty() bool { return len(*v) == 0 }

func (v *scopeValues) append(dst []byte) ([]byte, bool) {
	return object{{"values", v.list(), optional}}.append(dst)
}

func (v *scopeValues) read(raw []byte) bool {
	if len(raw) > 0 && raw[0] == '[' {
		return v.list().read(raw)
	}
	return object{{"values", v.list(), optional}}.read(raw)
}

// common starts the claims of a kind with those that all kinds have.
func common(iss *string, iat, exp *time.Time, room int) []field {
	fields := make([]field, 0, room)
	return append(fields,
		field{"iss", (*text)(iss), needed},
		field{"iat", (*date)(iat), needed},
		field{"exp", (*date)(exp), needed},
	)
}

// Digest is the lowercase hex SHA-256 of b: of argument bytes for a permit, of a
// challenge as it was received for an approval.
func Digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
