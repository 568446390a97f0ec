package receipt

import (
	"strings"
	"time"

	"github.com/hallmark-gate/hallmark/internal/base64url"
)

// maxHeader is the longest header segment; ours take about 130 bytes.
const maxHeader = 1024

// sign writes a token: the header of the key, the claims, and the signature over both
// (RFC 7515 section 5.1).
func sign(kind Kind, k *key, fields []field) (string, error) {
	if k == nil || k.sign == nil {
		return "", kind.fail(NoKey, "")
	}
	claims, reason, place := appendObject(nil, fields)
	if reason != 0 {
		return "", kind.fail(reason, place)
	}
	header := k.header(kind)
	token := make([]byte, 0, 96+base64url.EncodedLen(len(header)+len(claims)))
	token = base64url.AppendEncode(token, header)
	token = base64url.AppendEncode(append(token, '.'), claims)
	signature, err := k.sign(token)
	if err != nil {
		return "", kind.fail(NoKey, "")
	}
	token = base64url.AppendEncode(append(token, '.'), signature)
	if len(token) > kind.MaxBytes() {
		return "", kind.fail(TooLarge, "")
	}
	return string(token), nil
}

// header is the text of the header of the key's tokens.
func (k *key) header(kind Kind) []byte {
	h := appendText([]byte(`{"alg":`), string(k.alg))
	h = appendText(append(h, `,"typ":`...), kind.Type())
	return append(appendText(append(h, `,"kid":`...), k.id), '}')
}

// open checks everything of a token but its claims, which it returns undecoded together
// with the key that signed them.
func open(kind Kind, keys *ring, token string, now time.Time) ([]byte, *key, error) {
	if len(token) > kind.MaxBytes() {
		return nil, nil, kind.fail(TooLarge, "")
	}
	if now.IsZero() {
		return nil, nil, kind.fail(Unbound, "now")
	}
	head, rest, _ := strings.Cut(token, ".")
	body, tail, ok := strings.Cut(rest, ".")
	if !ok || len(head) > maxHeader {
		return nil, nil, kind.fail(Malformed, "")
	}
	header, ok1 := base64url.Decode(head)
	claims, ok2 := base64url.Decode(body)
	signature, ok3 := base64url.Decode(tail)
	if !ok1 || !ok2 || !ok3 {
		return nil, nil, kind.fail(Malformed, "")
	}
	k, err := keys.find(kind, header)
	if err != nil {
		return nil, nil, err
	}
	if err := k.usable(kind, now); err != nil {
		return nil, nil, err
	}
	if !k.verify([]byte(token[:len(head)+1+len(body)]), signature) {
		return nil, nil, kind.fail(BadSignature, "")
	}
	return claims, k, nil
}

// find reads a header and returns the key that it names. It takes the three members
// that tokens have and refuses every other, so nothing that a header could ask for
// (a key from elsewhere, another algorithm, an extension) has a place to stand.
func (r *ring) find(kind Kind, header []byte) (*key, error) {
	var alg, typ, kid text
	var refused bool
	ok := members(header, func(name, raw []byte) bool {
		switch string(name) {
		case "alg":
			return alg.read(raw)
		case "typ":
			return typ.read(raw)
		case "kid":
			return kid.read(raw)
		}
		refused = true
		return false
	})
	switch {
	case refused:
		return nil, kind.fail(HeaderRefused, "")
	case !ok:
		return nil, kind.fail(Malformed, "header")
	case string(typ) != kind.Type():
		return nil, kind.fail(WrongType, "typ")
	}
	k := r.byID(string(kid))
	switch {
	case k == nil:
		return nil, kind.fail(UnknownKey, "kid")
	case string(alg) != string(k.alg):
		return nil, kind.fail(WrongAlgorithm, "alg")
	}
	return k, nil
}

// decode reads the claims of a token that open let pass, and checks its times.
func decode(kind Kind, claims []byte, fields []field, now time.Time) error {
	if reason, place := readObject(claims, fields); reason != 0 {
		return kind.fail(reason, place)
	}
	iat, exp := times(fields)
	switch {
	case !lives(kind, iat, exp):
		return kind.fail(LifeTooLong, "exp")
	case iat.After(now.Add(Skew)):
		return kind.fail(NotYet, "iat")
	case !now.Before(exp.Add(Skew)):
		return kind.fail(Expired, "exp")
	}
	return nil
}

// times returns iat and exp, which common puts second and third.
func times(fields []field) (iat, exp time.Time) {
	return time.Time(*fields[1].value.(*date)), time.Time(*fields[2].value.(*date))
}

func lives(kind Kind, iat, exp time.Time) bool {
	return exp.After(iat) && exp.Sub(iat) <= kind.MaxLife()
}

// seal is sign after the checks that decode makes, so that nothing is issued that no
// verifier would take.
func seal(kind Kind, k *key, fields []field) (string, error) {
	if iat, exp := times(fields); !lives(kind, iat, exp) {
		return "", kind.fail(LifeTooLong, "exp")
	}
	return sign(kind, k, fields)
}

// expectation is one value that a verifier compares with a claim.
type expectation struct {
	field     string // of the struct with what is expected
	claim     string
	got, want string
}

// compare refuses where an expected value is missing or a claim differs from it.
func compare(kind Kind, list []expectation) error {
	for _, e := range list {
		if e.want == "" {
			return kind.fail(Unbound, e.field)
		}
	}
	for _, e := range list {
		if e.got != e.want {
			return kind.fail(Mismatch, e.claim)
		}
	}
	return nil
}
