package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hallmark-gate/hallmark/contract"
)

// place is what the name of a directory leads to. Whoever exchanges a directory by
// renaming a link, the directory's own or the ..data inside it that a mounted ConfigMap
// reaches every file through, makes it lead somewhere else.
type place struct {
	root, data           string // without links; data is "" where there is no ..data
	rootInfo, behindData fs.FileInfo
}

// dataLink is the link that a kubelet exchanges.
const dataLink = "..data"

// whereIs follows a directory's name. The error is one of the file system.
func whereIs(dir string) (p place, err error) {
	if p.root, err = filepath.EvalSymlinks(dir); err != nil {
		return place{}, err
	}
	if p.rootInfo, err = os.Stat(p.root); err != nil {
		return place{}, err
	}
	data, err := filepath.EvalSymlinks(filepath.Join(p.root, dataLink))
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return place{}, err
	}
	p.data = data
	p.behindData, err = os.Stat(data)
	return p, err
}

// is reports whether q is the same place. A name that is used again, for another
// directory, is another place.
func (p place) is(q place) bool {
	return p.root == q.root && p.data == q.data &&
		sameDirectory(p.rootInfo, q.rootInfo) && sameDirectory(p.behindData, q.behindData)
}

func sameDirectory(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b)
}

// sources are the directories of what a deployment declares. They are read together:
// policies that name a tool are wrong beside contracts that do not have it yet.
type sources struct {
	contracts string
	policies  string // "" where there are none
}

// String names the directories for people.
func (s sources) String() string {
	if s.policies == "" {
		return s.contracts
	}
	return s.contracts + " and the policies in " + s.policies
}

// NamePolicies returns faults in which files of policies have the name of their directory
// as it was given, where [contract.Fault] has policies/ for it. Without policies, and where
// a folder of contracts has that name, they stay as they are. The faults that are given
// are not changed.
func NamePolicies(faults contract.Faults, contracts, policies string) contract.Faults {
	named := slices.Clone(faults)
	for i, f := range named {
		below, of := strings.CutPrefix(f.File, "policies")
		if policies == "" || !of || below != "" && below[0] != '/' {
			continue
		}
		if _, err := os.Stat(filepath.Join(contracts, filepath.FromSlash(f.File))); err != nil {
			named[i].File = filepath.Join(policies, filepath.FromSlash(below))
		}
	}
	return named
}

// places are what the names of both lead to; that of policies is zero without them.
type places struct{ contracts, policies place }

// where follows both names. The error is one of the file system.
func (s sources) where() (p places, err error) {
	if p.contracts, err = whereIs(s.contracts); err == nil && s.policies != "" {
		p.policies, err = whereIs(s.policies)
	}
	return p, err
}

func (p places) is(q places) bool { return p.contracts.is(q.contracts) && p.policies.is(q.policies) }

// reading is one reading of a deployment's directories.
type reading struct {
	places   places
	snapshot contract.Snapshot
	err      error // of reading; then there is no snapshot
}

// errUnsettled says that no two readings of a directory agreed.
var errUnsettled = errors.New("the directory changes while it is read")

// readOnce reads the directories.
func readOnce(s sources) reading { return readBy(contract.SnapshotOf, s) }

// readBy reads the directories. A reading during which one was exchanged may hold files
// of both and is an error.
func readBy(take func(contracts, policies string) (contract.Snapshot, error), s sources) reading {
	before, err := s.where()
	if err != nil {
		return reading{err: err}
	}
	snapshot, err := take(before.contracts.root, before.policies.root)
	after, gone := s.where()
	switch {
	case gone != nil:
		return reading{err: gone}
	case !before.is(after):
		return reading{err: errUnsettled}
	case err != nil:
		return reading{places: before, err: err}
	}
	return reading{before, snapshot, nil}
}

// agrees reports whether two readings found the same at the same place: the same
// content, or the same fault.
func (r reading) agrees(with reading) bool {
	if r.err != nil || with.err != nil {
		return r.err != nil && with.err != nil && r.err.Error() == with.err.Error() && !errors.Is(r.err, errUnsettled)
	}
	return r.places.is(with.places) && r.snapshot.Digest() == with.snapshot.Digest()
}

// maxReadings bounds how often directories are read until two readings agree.
const maxReadings = 8

// settled reads the directories until a reading agrees with the one before it; first is one
// that was made just now. pause lies between readings. The error is ctx's, errUnsettled,
// a [contract.Faults] where they exceed their bounds, or one of reading.
func settled(ctx context.Context, from sources, first reading, pause time.Duration) (contract.Snapshot, error) {
	last := first
	for range maxReadings {
		if err := sleep(ctx, pause); err != nil {
			return contract.Snapshot{}, err
		}
		next := readOnce(from)
		if next.agrees(last) {
			return next.snapshot, next.err
		}
		last = next
	}
	return contract.Snapshot{}, fmt.Errorf("%w; nothing of it is used", errUnsettled)
}

// sleep returns after d, or with ctx's error when that ends.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
