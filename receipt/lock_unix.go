//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package receipt

import (
	"errors"
	"os"
	"syscall"
)

// lock takes an advisory lock that ends with the process, so that a crash leaves none.
func lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, ErrLocked
		}
		return nil, err
	}
	return func() { f.Close() }, nil
}
