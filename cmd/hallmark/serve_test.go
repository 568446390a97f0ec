package main

import (
	"context"
	"errors"
	"testing"

	"github.com/hallmark-gate/hallmark/server"
)

// A stop does not wait for contracts that are still being loaded; without one, what was
// loaded or what failed is what comes.
func TestLoaded(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	app, failed := new(server.App), errors.New("refused")
	if got, err := loaded(ctx, func() (*server.App, error) { return app, nil }); got != app || err != nil {
		t.Errorf("%p, %v", got, err)
	}
	if got, err := loaded(ctx, func() (*server.App, error) { return nil, failed }); got != nil || !errors.Is(err, failed) {
		t.Errorf("%p, %v", got, err)
	}
	begun, never := make(chan struct{}), make(chan struct{})
	defer close(never)
	go func() {
		<-begun
		stop()
	}()
	got, err := loaded(ctx, func() (*server.App, error) {
		close(begun)
		<-never
		return app, nil
	})
	if got != nil || err != nil || ctx.Err() == nil {
		t.Errorf("%p, %v", got, err)
	}
}
