package receipt

// Reason says why a token, or a set of keys, is refused. The zero value is no reason.
type Reason uint8

// The reasons. Those up to BadSignature are found before anything of the claims is
// known to be true.
const (
	TooLarge       Reason = iota + 1 // over the bytes of its kind
	Malformed                        // not a compact JWS of strict base64url, or not strict JSON, or a claim of a wrong type
	HeaderRefused                    // a header member other than alg, typ and kid
	WrongType                        // typ is not that of the kind
	WrongAlgorithm                   // alg is not the one of the key
	UnknownKey                       // no key of the kind has this kid
	RevokedKey                       // the key was revoked
	ExpiredKey                       // the key is past its overlap, or not yet in use
	BadSignature                     // the signature does not fit
	MissingClaim                     // a claim that the kind must have
	Expired                          // exp has passed
	NotYet                           // iat lies in the future
	LifeTooLong                      // exp - iat is not positive, or over the longest life of the kind
	Mismatch                         // a claim is not what the verifier expects
	Unbound                          // the verifier has not said what it expects
	Refused                          // a valid approval that says no
	NoKey                            // nothing to sign or verify with
	BadKeys                          // keys that cannot be used
)

var reasons = [...]string{
	TooLarge: "too large", Malformed: "malformed", HeaderRefused: "header member refused",
	WrongType: "wrong typ", WrongAlgorithm: "wrong algorithm", UnknownKey: "unknown key",
	RevokedKey: "revoked key", ExpiredKey: "key out of its time", BadSignature: "bad signature",
	MissingClaim: "missing claim", Expired: "expired", NotYet: "issued in the future",
	LifeTooLong: "wrong lifetime", Mismatch: "mismatch", Unbound: "nothing to compare with",
	Refused: "refused by the approver", NoKey: "no key", BadKeys: "unusable keys",
}

// String returns the reason in words, for logs.
func (r Reason) String() string {
	if int(r) < len(reasons) && reasons[r] != "" {
		return reasons[r]
	}
	return "no reason"
}

// Error is why a token is refused or could not be made. It holds no byte of any token
// or key, so it may be logged and shown.
type Error struct {
	Kind   Kind
	Reason Reason
	// Place names the claim, the header member, the field of what was expected, or the
	// member of a key; "" where there is none or where its name is the sender's word.
	Place string
}

// Error returns kind, reason and place, and nothing of the token.
func (e *Error) Error() string {
	text := e.Kind.String() + ": " + e.Reason.String()
	if e.Place != "" {
		text += ": " + e.Place
	}
	return text
}

// Is makes errors.Is(err, &Error{Reason: Expired}) true of every error with that reason;
// a Kind in the target must be equal too.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Reason == e.Reason && (t.Kind == 0 || t.Kind == e.Kind)
}
