//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package receipt

import (
	"errors"
	"io/fs"
	"os"
)

// lock makes a file that must not be there. A crash leaves it: remove it by hand.
func lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, ErrLocked
	}
	if err != nil {
		return nil, err
	}
	f.Close()
	return func() { os.Remove(path) }, nil
}
