package receipt

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Set names the file of one key set in a directory of keys, without its extension.
type Set string

// The key sets of a service.
const (
	ReceiptMACs     Set = "receipt-mac" // HS256, for receipts that only replicas read
	SignedReceipts  Set = "receipt"     // Ed25519, for contracts that say signed
	Permits         Set = "permit"      // Ed25519
	Challenges      Set = "challenge"   // Ed25519
	fileExtension       = ".json"
	lockFile            = ".lock"
	keepRetiredKeys     = 30 * day // in the file, so that list tells what became of a key
)

// sets holds what each file is for.
var sets = [...]struct {
	name Set
	kind Kind
	alg  algorithm
}{
	{ReceiptMACs, ReceiptKind, hs256},
	{SignedReceipts, ReceiptKind, edDSA},
	{Permits, PermitKind, edDSA},
	{Challenges, ChallengeKind, edDSA},
}

// Sets returns the names of all key sets, in a fixed order.
func Sets() []Set {
	var names []Set
	for _, s := range sets {
		names = append(names, s.name)
	}
	return names
}

// Dir is a directory of keys: keys below a service's data directory. Each file in it is
// a JWK Set with the private keys of one [Set], and beside the members of RFC 7517 with
// created, not_before, not_after and revoked. Methods read the directory anew; those
// that write fail with [ErrLocked] while another process does. It is safe for
// concurrent use.
type Dir string

// kindOf is the kind of token that a set is for.
func (s Set) kindOf() (Kind, algorithm, error) {
	for _, known := range sets {
		if known.name == s {
			return known.kind, known.alg, nil
		}
	}
	return 0, "", Kind(0).fail(NoKey, "set")
}

// Overlap is how long a key of the set must go on verifying after it signed last, so
// that no token dies before its time: the longest life of its kind and twice [Skew].
func (s Set) Overlap() time.Duration {
	kind, _, err := s.kindOf()
	if err != nil {
		return 0
	}
	return kind.MaxLife() + 2*Skew
}

// DirError is what is wrong with a directory of keys or a file in it. It shows paths and
// causes of the operating system, nothing of what a file holds.
type DirError struct {
	Path string
	Err  error // an [*Error] where the content is at fault
}

// Error returns the path and the cause.
func (e *DirError) Error() string { return e.Path + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *DirError) Unwrap() error { return e.Err }

// Causes of a [DirError].
var (
	// ErrExposed: others than the owner (and, for reading, the group) have access.
	ErrExposed = errors.New("others can read or change it; chmod 0600 the files and 0700 the directory of keys")
	// ErrLocked: another process is changing the keys.
	ErrLocked = errors.New("another process is changing the keys; try again when it has ended")
)

// Load reads all key sets of a directory. It refuses files that others can read, unknown
// members, keys of wrong sizes or algorithms, a public half or a kid that does not fit
// its key, and a kid that stands twice. The error is a [*DirError]; a file that is not
// there is fs.ErrNotExist.
func (d Dir) Load() (*KeySet, error) {
	s, err := d.LoadOver(nil)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// LoadOver is [Dir.Load] over keys that were loaded before: a set that cannot be read
// keeps those, and keeps no other set from being read. The error joins one [*DirError] for
// each such set, or is one for a directory that is not there; the keys are valid beside it.
func (d Dir) LoadOver(before *KeySet) (*KeySet, error) {
	s := &KeySet{rings: make(map[Kind]*ring)}
	var faults []error
	for _, set := range sets {
		if s.rings[set.kind] == nil {
			s.rings[set.kind] = &ring{}
		}
		keys, err := d.loadSet(set.name, set.kind, set.alg)
		if err != nil {
			faults = append(faults, err)
			keys = before.ring(set.kind).of(set.alg)
		}
		for _, k := range keys {
			s.rings[set.kind].add(k) // algorithms differ within a kind, and so do kids
		}
	}
	if _, err := os.Stat(string(d)); errors.Is(err, fs.ErrNotExist) { // one fault, not one for each set
		return s, &DirError{string(d), fs.ErrNotExist}
	}
	return s, errors.Join(faults...)
}

// loadSet reads one set.
func (d Dir) loadSet(name Set, kind Kind, alg algorithm) ([]*key, error) {
	path := filepath.Join(string(d), string(name)+fileExtension)
	found, err := readFile(string(d), name)
	if err != nil {
		return nil, &DirError{path, err}
	}
	own := &ring{}
	for _, j := range found {
		k, fault := j.loadOwn(alg)
		if fault == "" && !own.add(k) {
			fault = "kid"
		}
		if fault != "" {
			return nil, &DirError{path, kind.fail(BadKeys, fault)}
		}
	}
	return own.keys, nil
}

// loadOwn is load for a key that this package made.
func (j *jwk) loadOwn(alg algorithm) (*key, string) {
	k, fault := j.load()
	switch {
	case fault != "":
		return nil, fault
	case k.alg != alg:
		return nil, "alg"
	case k.sign == nil:
		return nil, "d"
	case k.alg != hs256 && k.id != j.thumbprint():
		return nil, "kid"
	case k.owner != "" || j.kind != "":
		return nil, "owner"
	}
	return k, ""
}

// Init makes the directory and those key sets that it lacks, each with one key that is
// active from now on, and returns their names. Sets that are there stay as they are.
func (d Dir) Init(now time.Time) ([]Set, error) {
	dir := string(d)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, &DirError{dir, cause(err)}
	}
	var made []Set
	err := locked(dir, func() error {
		for _, set := range sets {
			path := filepath.Join(dir, string(set.name)+fileExtension)
			if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
				continue
			}
			j, err := generate(set.alg, now)
			if err != nil {
				return &DirError{path, err}
			}
			j.notBefore = now.Truncate(time.Second) // as the times of tokens are
			if err := writeFile(dir, set.name, []*jwk{j}); err != nil {
				return err
			}
			made = append(made, set.name)
		}
		return nil
	})
	return made, err
}

// Rotate adds a key to a set and returns its kid. The key signs from now + lead, so that
// replicas and executors can learn of it before it does; until then the key before goes
// on. The keys before verify for overlap after that and not longer; [Set.Overlap] is
// what loses no token. Keys that have been out of use for 30 days leave the file.
func (d Dir) Rotate(set Set, now time.Time, lead, overlap time.Duration) (string, error) {
	dir := string(d)
	kind, alg, err := set.kindOf()
	if err != nil {
		return "", err
	}
	if lead < 0 || overlap < 0 {
		return "", kind.fail(LifeTooLong, "overlap")
	}
	var kid string
	err = locked(dir, func() error {
		path := filepath.Join(dir, string(set)+fileExtension)
		found, err := readFile(dir, set)
		if err != nil {
			return &DirError{path, err}
		}
		j, err := generate(alg, now)
		if err != nil {
			return &DirError{path, err}
		}
		j.notBefore = now.Add(lead).Truncate(time.Second)
		end := j.notBefore.Add(overlap)
		var keys []*jwk
		for _, old := range found {
			if gone(old.notAfter, now) || gone(old.revoked, now) {
				continue
			}
			if old.notAfter.IsZero() || end.Before(old.notAfter) {
				old.notAfter = end
			}
			keys = append(keys, old)
		}
		kid = string(j.kid)
		return writeFile(dir, set, append(keys, j))
	})
	if err != nil {
		return "", err
	}
	return kid, nil
}

// gone reports whether a key that ended then is to be forgotten.
func gone(end, now time.Time) bool { return !end.IsZero() && end.Before(now.Add(-keepRetiredKeys)) }

// Revoke makes every token of a key worthless from the next [Dir.Load] on, and returns
// the key's set. It does not put another key in its place: [KeySet.Ready] tells where
// none is left. Sets that cannot be read stand in the way of no other. The error has the
// reason [UnknownKey] where no set has the kid, and is that of the sets that cannot be
// read where one of those may have it.
func (d Dir) Revoke(kid string, now time.Time) (Set, error) {
	dir := string(d)
	var in Set
	err := locked(dir, func() error {
		var faults []error
		for _, set := range sets {
			found, err := readFile(dir, set.name)
			if err != nil {
				faults = append(faults, &DirError{filepath.Join(dir, string(set.name)+fileExtension), err})
				continue
			}
			for _, j := range found {
				if string(j.kid) != kid {
					continue
				}
				in = set.name
				if !j.revoked.IsZero() {
					return nil // the first time counts
				}
				j.revoked = now
				return writeFile(dir, set.name, found)
			}
		}
		if len(faults) > 0 {
			return errors.Join(faults...)
		}
		return &DirError{dir, Kind(0).fail(UnknownKey, "kid")}
	})
	if err != nil {
		return "", err
	}
	return in, nil
}
