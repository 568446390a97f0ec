package receipt

import (
	"slices"
	"time"
)

// maxKeys is the most keys of one set, and maxSet the largest text of one, in bytes.
const (
	maxKeys = 64
	maxSet  = 64 << 10
)

// ring holds the keys of one kind, immutable once made. A nil ring has no keys.
type ring struct {
	keys []*key
	ids  map[string]*key
}

func (r *ring) byID(id string) *key {
	if r == nil {
		return nil
	}
	return r.ids[id]
}

// add puts a key in; false where its kid is taken, so that no kid means two keys.
func (r *ring) add(k *key) bool {
	if r.ids == nil {
		r.ids = make(map[string]*key)
	}
	if r.ids[k.id] != nil {
		return false
	}
	r.ids[k.id] = k
	r.keys = append(r.keys, k)
	return true
}

// of returns the keys of an algorithm.
func (r *ring) of(alg algorithm) []*key {
	var keys []*key
	for _, k := range r.keys {
		if k.alg == alg {
			keys = append(keys, k)
		}
	}
	return keys
}

// active is the key of the algorithm that signs at a time: the one that came into use last.
// Where that is over or revoked none does: a key that another took over from never signs
// again.
func (r *ring) active(alg algorithm, now time.Time) *key {
	var best *key
	for _, k := range r.keys {
		if k.alg != alg || k.sign == nil || now.Before(k.life.notBefore) {
			continue
		}
		if best == nil || !k.life.notBefore.Before(best.life.notBefore) {
			best = k
		}
	}
	if best == nil || !best.life.revoked.IsZero() || !best.life.notAfter.IsZero() && !now.Before(best.life.notAfter) {
		return nil
	}
	return best
}

// readSet reads a JWK Set (RFC 7517 section 5) with keys of the members that we know;
// where the set is open they may have others besides. No error quotes it.
func readSet(kind Kind, set []byte, open bool) ([]*jwk, error) {
	if len(set) > maxSet {
		return nil, kind.fail(TooLarge, "keys")
	}
	var keys []*jwk
	reason, place := readObject(set, []field{{"keys", list[*jwk]{&keys, maxKeys, func(j **jwk) value {
		*j = new(jwk)
		fields := (*j).fields()
		if open {
			fields = append(fields, field{anyOther, nil, maybe})
		}
		return fields
	}}, always}})
	if reason != 0 {
		return nil, kind.fail(BadKeys, place)
	}
	return keys, nil
}

func appendSet(dst []byte, keys []*jwk) ([]byte, bool) {
	dst, reason, _ := appendObject(dst, []field{{"keys", list[*jwk]{&keys, maxKeys, func(j **jwk) value {
		return (*j).fields()
	}}, always}})
	return dst, reason == 0
}

// readPublic reads keys that others keep: public halves only, of these algorithms. The
// kid may be the keeper's choice; without one it is the thumbprint.
func readPublic(kind Kind, set []byte, algs ...algorithm) ([]*key, error) {
	found, err := readSet(kind, set, false)
	if err != nil {
		return nil, err
	}
	var keys []*key
	for _, j := range found {
		k, fault := j.loadPublic(algs...)
		if fault != "" {
			return nil, kind.fail(BadKeys, fault)
		}
		keys = append(keys, k)
	}
	return keys, nil
}

// readPublished reads what [KeySet.Public] writes and keeps the keys of one kind. Keys
// that this version cannot use are passed over (RFC 7517 section 5), so that a service
// may publish newer ones beside.
func readPublished(kind Kind, set []byte) (*ring, error) {
	found, err := readSet(kind, set, true)
	if err != nil {
		return nil, err
	}
	r := &ring{}
	for _, j := range found {
		if string(j.kind) != kind.String() || j.kty != "OKP" || j.crv != "Ed25519" {
			continue
		}
		k, fault := j.loadPublic(edDSA)
		if fault != "" {
			return nil, kind.fail(BadKeys, fault)
		}
		if !r.add(k) {
			return nil, kind.fail(BadKeys, "kid")
		}
	}
	return r, nil
}

// loadPublic is load for a key that must have no secret.
func (j *jwk) loadPublic(algs ...algorithm) (*key, string) {
	if len(j.d) > 0 {
		return nil, "d" // a private key where only public ones belong has leaked: say so
	}
	if j.kid == "" {
		j.kid = text(j.thumbprint())
	}
	k, fault := j.load()
	if fault == "" && !slices.Contains(algs, k.alg) {
		fault = "alg"
	}
	return k, fault
}
