package gate

import (
	"errors"
	"io/fs"
	"slices"

	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/validators"
)

// Loader makes sets from directories. It is safe for concurrent use.
type Loader struct{ registry *validators.Registry }

// NewLoader returns a loader that compiles by registry.
func NewLoader(registry *validators.Registry) *Loader { return &Loader{registry} }

// Load reads, lints and compiles every contract below fsys, without policies. The error is a
// [contract.Faults] where the contracts are at fault: all faults at once, and no set.
func (l *Loader) Load(fsys fs.FS) (*Set, error) {
	s, err := contract.TakeSnapshot(fsys, nil)
	if err != nil {
		return nil, err
	}
	return l.Compile(s)
}

// LoadDir is [Loader.Load] of a directory of this machine, with the policies of another;
// "" means that there are none. Links that lead out of either are an error.
func (l *Loader) LoadDir(contracts, policies string) (*Set, error) {
	s, err := contract.SnapshotOf(contracts, policies)
	if err != nil {
		return nil, err
	}
	return l.Compile(s)
}

// Compile lints and compiles what was read of a directory. The error is that of Load.
// It knows no deadline; the bounds of a snapshot and of the schemas in it bound what
// it takes.
func (l *Loader) Compile(s contract.Snapshot) (*Set, error) {
	tree, err := s.Load()
	if err == nil {
		return l.CompileTree(tree)
	}
	// Contracts beside the faulty ones may have faults that only their engines see.
	var faults, more contract.Faults
	if !errors.As(err, &faults) {
		return nil, err
	}
	if _, err := l.registry.Compile(s.Sound()); errors.As(err, &more) {
		missing := func(f contract.Fault) bool { return f.File == "." } // a contract that is among the faulty ones
		faults = append(faults, slices.DeleteFunc(more, missing)...).Sort()
	}
	return nil, faults
}

// CompileTree compiles what was linted, tools and policies together. The error is that of
// Load.
func (l *Loader) CompileTree(tree *contract.Tree) (*Set, error) {
	tools, err := l.registry.Compile(tree)
	if err != nil {
		return nil, err
	}
	return newSet(tools, tree.Policies)
}
