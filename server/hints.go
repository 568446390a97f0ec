package server

import (
	"errors"
	"path/filepath"

	"github.com/fsnotify/fsnotify"
)

// hinter tells when something happened in a directory or to its name. Events get lost,
// come early, and come for the link instead of the file, so they are hints to look and
// nothing else.
type hinter struct {
	hints   chan struct{}
	watcher *fsnotify.Watcher
	ended   chan struct{}
}

// newHinter watches the directory and its parent, where the directory's own name
// changes its meaning. The error says that there will be no hints.
func newHinter(dir string) (*hinter, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	if err := errors.Join(watcher.Add(filepath.Dir(dir)), watcher.Add(dir)); err != nil {
		return nil, errors.Join(err, watcher.Close())
	}
	h := &hinter{hints: make(chan struct{}, 1), watcher: watcher, ended: make(chan struct{})}
	go h.pass(dir)
	return h, nil
}

// pass passes events on as hints; many are one until somebody looks.
func (h *hinter) pass(dir string) {
	defer close(h.ended)
	for {
		select {
		case e, open := <-h.watcher.Events:
			if !open {
				return
			}
			// The parent may be a busy place; only what concerns the directory counts.
			if e.Name != dir && filepath.Dir(e.Name) != dir {
				continue
			}
		case _, open := <-h.watcher.Errors:
			if !open {
				return
			} // events were lost: look
		}
		select {
		case h.hints <- struct{}{}:
		default:
		}
	}
}

// close ends the hints; after it nothing of the hinter runs any more.
func (h *hinter) close() error {
	err := h.watcher.Close()
	<-h.ended
	return err
}
