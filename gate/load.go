package gate

import (
	"io/fs"

	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/validators"
)

// Set is every tool of one contracts directory, compiled and immutable. The name
// stands here for the rooms that stand before the gate and know no validators.
type Set = validators.Set

// Loader makes sets from directories. It is safe for concurrent use.
type Loader struct{ registry *validators.Registry }

// NewLoader returns a loader that compiles by registry.
func NewLoader(registry *validators.Registry) *Loader { return &Loader{registry} }

// Load reads, lints and compiles every contract below fsys. The error is a
// [contract.Faults] where the contracts are at fault: all faults at once, and no set.
func (l *Loader) Load(fsys fs.FS) (*Set, error) {
	s, err := contract.TakeSnapshot(fsys)
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
	if err != nil {
		return nil, err
	}
	return l.registry.Compile(tree)
}
