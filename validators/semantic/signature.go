package semantic

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/internal/base64url"
	"github.com/hallmark-gate/hallmark/validators"
	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// signature asks that a member is a signed statement, of a known issuer, about other
// members of the same payload: who says "approved" is then not the tool.
//
// The key decides the algorithm: kid finds it in the contract's own file, its type
// allows one algorithm, and a header that names another is refused. Whatever a header
// could bring along to choose a key or to change the meaning of the bytes (jku, jwk,
// x5u, x5c, crit, b64, zip and all else but alg, kid and typ) is refused unread.
type signature struct {
	field   strictjson.Pointer
	keys    map[string]signingKey // by kid
	issuers []string
	claims  []claim
	maxAge  time.Duration
	maxSkew time.Duration // 0 where not given
}

// A claim is bound to a member of the payload.
type claim struct {
	name   string
	member strictjson.Pointer
}

// maxToken bounds a compact JWS in bytes.
const maxToken = 16 << 10

// tokenLimits bound the JSON inside of a token.
func tokenLimits() strictjson.Limits {
	return strictjson.Limits{
		MaxBytes: maxToken, MaxDepth: 8, MaxItems: 256,
		MaxStringChars: maxToken, MaxNameChars: 256, MaxNumberChars: 32,
	}
}

func compileSignature(c validators.CheckContext) (validators.Check, error) {
	p := read(c.With)
	s := signature{field: p.pointer("field", c.Result)}
	file := p.text("keys")
	s.issuers = p.texts("issuers")
	algorithms := p.texts("algorithms")
	for _, a := range algorithms {
		if a != string(jose.EdDSA) && a != string(jose.ES256) {
			p.fail("algorithms", "an algorithm is unknown", "list EdDSA, ES256 or both")
		}
	}
	object := p.typed("claims", strictjson.Object)
	for name, to := range object.Members() {
		if to.Kind() != strictjson.String {
			p.fail("claims", "a value is no string", "map names of claims to pointers into the payload")
			break
		}
		s.claims = append(s.claims, claim{name, p.parsePointer("claims", to.Text(), c.Result)})
	}
	if len(s.claims) == 0 {
		p.fail("claims", "no claim is bound", "say which claim equals which member; a signature about something else proves nothing")
	}
	s.maxAge = p.duration("max_age")
	if p.has("max_skew") {
		s.maxSkew = p.allowance("max_skew")
	}
	if p.fault == nil {
		content, ok := c.Files[file]
		if !ok {
			p.fail("keys", "there is no such file in the contract's folder", "add the JWK set of the issuers' public keys")
		} else if keys, fault := readKeys(content, algorithms); fault != "" {
			p.fail("keys", fault, "give a JWK set (RFC 7517) of public keys, each with a kid of its own")
		} else {
			s.keys = keys
		}
	}
	if err := p.done(); err != nil {
		return nil, err
	}
	return s, nil
}

// signingKey is a public key with the one algorithm that it is for.
type signingKey struct {
	public    any // ed25519.PublicKey or *ecdsa.PublicKey
	algorithm jose.SignatureAlgorithm
}

// keyMembers are what a public key of our two types may say.
var keyMembers = []string{"kty", "crv", "x", "y", "kid", "alg", "use"}

// readKeys reads a JWK set strictly, or says what is wrong with it.
func readKeys(content []byte, algorithms []string) (keys map[string]signingKey, fault string) {
	limits := tokenLimits()
	limits.MaxBytes, limits.MaxItems = 1<<20, 10_000
	root, err := strictjson.Parse(content, limits)
	if err != nil {
		return nil, "the file is no strict JSON"
	}
	list := root.Member("keys")
	if root.Len() != 1 || list.Kind() != strictjson.Array || list.Len() == 0 {
		return nil, `the file is no object with "keys" alone, or has no keys`
	}
	keys = make(map[string]signingKey, list.Len())
	for _, e := range list.Elements() {
		kid := e.Member("kid").Text()
		if _, repeated := keys[kid]; repeated || kid == "" {
			return nil, "a key has no kid, or one that another key has"
		}
		key, fault := readKey(e)
		if fault != "" {
			return nil, fault
		}
		if !slices.Contains(algorithms, string(key.algorithm)) {
			return nil, "a key is for an algorithm that algorithms does not list"
		}
		keys[kid] = key
	}
	return keys, ""
}

func readKey(e strictjson.Value) (signingKey, string) {
	for name, v := range e.Members() {
		if !slices.Contains(keyMembers, name) || v.Kind() != strictjson.String {
			return signingKey{}, "a key has a member other than kty, crv, x, y, kid, alg and use, such as a private part"
		}
	}
	var jwk jose.JSONWebKey
	if err := jwk.UnmarshalJSON(strictjson.AppendJSON(nil, e)); err != nil || !jwk.Valid() {
		return signingKey{}, "a key is not valid"
	}
	key := signingKey{public: jwk.Key}
	switch public := jwk.Key.(type) {
	case ed25519.PublicKey:
		key.algorithm = jose.EdDSA
	case *ecdsa.PublicKey:
		if public.Curve != elliptic.P256() {
			return signingKey{}, "a key is on another curve than P-256"
		}
		key.algorithm = jose.ES256
	default:
		return signingKey{}, "a key is neither Ed25519 nor P-256"
	}
	if alg := e.Member("alg"); alg.Exists() && alg.Text() != string(key.algorithm) {
		return signingKey{}, "a key names an algorithm that is not its own"
	}
	if use := e.Member("use"); use.Exists() && use.Text() != "sig" {
		return signingKey{}, "a key is not for signatures"
	}
	return key, ""
}

// Check implements [validators.Check].
func (s signature) Check(f validators.Facts) *validators.CheckFailure {
	token := f.Result.At(s.field)
	problem := "the signed statement is missing or no string"
	if token.Kind() == strictjson.String {
		var claims strictjson.Value
		if claims, problem = s.verify(token.Text()); problem == "" {
			problem = s.judge(claims, f)
		}
	}
	if problem != "" {
		return refuse(contract.ReasonSignature, s.field, problem)
	}
	return nil
}

// verify returns the claims of a token whose signature holds, or what is wrong.
func (s signature) verify(token string) (claims strictjson.Value, problem string) {
	header, payload, problem := split(token)
	if problem != "" {
		return claims, problem
	}
	key, ok := s.keys[header.Member("kid").Text()]
	if !ok {
		return claims, "the statement names no key of the contract"
	}
	if header.Member("alg").Text() != string(key.algorithm) {
		return claims, "the statement names another algorithm than its key's"
	}
	jws, err := jose.ParseSignedCompact(token, []jose.SignatureAlgorithm{key.algorithm})
	if err != nil {
		return claims, "the statement is no compact JWS"
	}
	verified, err := jws.Verify(key.public)
	if err != nil || string(verified) != string(payload) {
		return claims, "the signature does not hold"
	}
	claims, err = strictjson.Parse(verified, tokenLimits())
	if err != nil || claims.Kind() != strictjson.Object {
		return strictjson.Value{}, "the claims are no strict JSON object"
	}
	return claims, ""
}

// split takes a token apart and reads its header strictly.
func split(token string) (header strictjson.Value, payload []byte, problem string) {
	if len(token) > maxToken {
		return header, nil, "the statement is too long"
	}
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return header, nil, "the statement is no compact JWS"
	}
	var decoded [3][]byte
	for i, part := range parts {
		b, ok := base64url.Decode(part)
		if !ok || len(b) == 0 {
			return header, nil, "a part of the statement is empty or no base64url"
		}
		decoded[i] = b
	}
	header, err := strictjson.Parse(decoded[0], tokenLimits())
	if err != nil || header.Kind() != strictjson.Object {
		return header, nil, "the header is no strict JSON object"
	}
	for name, v := range header.Members() {
		if name != "alg" && name != "kid" && name != "typ" || v.Kind() != strictjson.String {
			return header, nil, "the header has a member other than the strings alg, kid and typ"
		}
	}
	return header, decoded[1], ""
}

// judge compares verified claims with the clock, the issuers and the payload.
func (s signature) judge(claims strictjson.Value, f validators.Facts) (problem string) {
	iss := claims.Member("iss")
	if iss.Kind() != strictjson.String || !slices.Contains(s.issuers, iss.Text()) {
		return "the statement is of no permitted issuer"
	}
	if f.Now.IsZero() {
		return "there is no clock to compare with"
	}
	if problem := s.inTime(claims, f.Now); problem != "" {
		return problem
	}
	for _, c := range s.claims {
		said, member := claims.Member(c.name), f.Result.At(c.member)
		if !said.Exists() || !member.Exists() || !strictjson.Equal(said, member) {
			return "a claim is missing or is not what the payload says"
		}
	}
	return ""
}

// inTime checks iat, which must be there, and exp and nbf where they are. Allowed is
// now-max_age ≤ iat ≤ now+max_skew, nbf ≤ now+max_skew and now < exp (RFC 7519 section
// 4.1.4: on or after exp is too late).
func (s signature) inTime(claims strictjson.Value, now time.Time) (problem string) {
	iat, present, ok := numericDate(claims.Member("iat"))
	switch {
	case !present || !ok:
		return "the statement does not say when it was issued"
	case iat.Before(now.Add(-s.maxAge)):
		return "the statement is older than allowed"
	case iat.After(now.Add(s.maxSkew)):
		return "the statement was issued in the future"
	}
	if exp, present, ok := numericDate(claims.Member("exp")); present && (!ok || !now.Before(exp)) {
		return "the statement has expired"
	}
	if nbf, present, ok := numericDate(claims.Member("nbf")); present && (!ok || nbf.After(now.Add(s.maxSkew))) {
		return "the statement is not valid yet"
	}
	return ""
}

// maxNumericDate is the year 9999; an instant beyond it is no date that anyone issued.
const maxNumericDate = 253_402_300_799

// numericDate reads a NumericDate (RFC 7519 section 2) of whole seconds.
func numericDate(v strictjson.Value) (at time.Time, present, ok bool) {
	if !v.Exists() {
		return time.Time{}, false, false
	}
	seconds, ok := v.Decimal().Int64()
	if !ok || v.Kind() != strictjson.Number || seconds < 0 || seconds > maxNumericDate {
		return time.Time{}, true, false
	}
	return time.Unix(seconds, 0), true, true
}
