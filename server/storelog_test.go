package server

import (
	"errors"
	"log/slog"
	"testing"
	"time"
)

// D4: a store that is lost is told once, and once more when it is back, without a call.
func TestStoreLostIsLogged(t *testing.T) {
	log, store := &lockedBuffer{}, &brokenStore{}
	stop := startStoreLog(store, time.Millisecond, time.Now, slog.New(slog.NewJSONHandler(log, nil)))
	store.fail(errors.New("the disk is full"))
	const lost, back = "records cannot be made durable, and nothing is answered until they can", "records are durable again"
	said := func(msg string, times int) func() error {
		return func() error {
			if n := len(log.lines(t, msg)); n != times {
				return errors.New(msg + " is not said so often")
			}
			return nil
		}
	}
	inTime(t, "the loss", said(lost, 1))
	time.Sleep(20 * time.Millisecond)
	store.fail(nil)
	inTime(t, "the return", said(back, 1))
	store.fail(errors.New("the disk is full"))
	inTime(t, "the second loss", said(lost, 2))
	if err := stop(t.Context()); err != nil {
		t.Error(err)
	}
	if lines := log.lines(t, lost); len(lines) != 2 || lines[0]["cause"] != "the disk is full" {
		t.Errorf("%v", lines)
	}
}
