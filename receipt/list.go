package receipt

import "time"

// KeyState is what a key does at a time. The zero value is not a state.
type KeyState string

// The states, in the order of a key's life.
const (
	Waiting   KeyState = "waiting"   // published, not signing yet
	Active    KeyState = "active"    // signs and verifies
	Verifying KeyState = "verifying" // another signs; its tokens are still good
	Retired   KeyState = "retired"   // past its overlap
	Revoked   KeyState = "revoked"
)

// KeyInfo describes a key without its secret.
type KeyInfo struct {
	Set       Set
	ID        string // kid
	Algorithm string // alg
	State     KeyState
	Created   time.Time
	NotBefore time.Time // signs from then on
	NotAfter  time.Time // verifies until then; zero: until it is rotated
	Revoked   time.Time // zero: it is not
}

// List describes all keys of a directory at a time, set by set, oldest first. It loads
// the directory first: the error is that of [Dir.LoadOver], and the keys of the sets that
// can be read are valid beside it.
func (d Dir) List(now time.Time) ([]KeyInfo, error) {
	loaded, err := d.LoadOver(nil)
	var all []KeyInfo
	for _, set := range sets {
		active := loaded.ring(set.kind).active(set.alg, now)
		for _, k := range loaded.ring(set.kind).keys {
			if k.alg != set.alg {
				continue
			}
			info := KeyInfo{
				Set: set.name, ID: k.id, Algorithm: string(k.alg), State: Verifying,
				Created: k.life.created, NotBefore: k.life.notBefore,
				NotAfter: k.life.notAfter, Revoked: k.life.revoked,
			}
			switch {
			case !k.life.revoked.IsZero():
				info.State = Revoked
			case k == active:
				info.State = Active
			case now.Before(k.life.notBefore):
				info.State = Waiting
			case !k.life.notAfter.IsZero() && !now.Before(k.life.notAfter):
				info.State = Retired
			}
			all = append(all, info)
		}
	}
	return all, err
}
