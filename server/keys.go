package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hallmark-gate/hallmark/gate"
	"github.com/hallmark-gate/hallmark/receipt"
)

// maxKeyFile bounds a file of public keys in bytes.
const maxKeyFile = 1 << 20

// keyring holds what the service signs and verifies with, and reads it again from time
// to time. What cannot be read stops the start; later it leaves what was read before in
// use, until keys that live no longer refuse by themselves. Safe for concurrent use.
type keyring struct {
	cfg     Config
	log     *slog.Logger
	clock   func() time.Time
	current atomic.Pointer[gate.Tokens]
	fault   atomic.Pointer[string] // of the last reading; nil after a good one
}

// newKeyring reads all keys. Where the configuration names no directory of keys the data
// directory has one, and it is made if absent: a single service needs nobody to make its
// keys, while replicas must share theirs and so are told where they are.
func newKeyring(cfg Config, log *slog.Logger, clock func() time.Time) (*keyring, error) {
	k := &keyring{cfg: cfg, log: log, clock: clock}
	if cfg.Keys == "" {
		made, err := k.dir().Init(clock())
		if err != nil {
			return nil, fmt.Errorf("keys: %w", err)
		}
		if len(made) > 0 {
			log.Info("made new keys below the data directory", "sets", made)
		}
	}
	tokens, err := k.read()
	if err != nil {
		return nil, err
	}
	k.current.Store(tokens)
	return k, nil
}

// dir is the directory of the service's own keys.
func (k *keyring) dir() receipt.Dir {
	if k.cfg.Keys != "" {
		return receipt.Dir(k.cfg.Keys)
	}
	return receipt.Dir(filepath.Join(k.cfg.Data, "keys"))
}

// read reads everything anew.
func (k *keyring) read() (*gate.Tokens, error) {
	t := &gate.Tokens{Issuer: k.cfg.Issuer}
	var err error
	if t.Keys, err = k.dir().Load(); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("keys: %w; make them with: hallmark keys init", err)
		}
		return nil, fmt.Errorf("keys: %w", err)
	}
	if err := t.Keys.Ready(k.clock()); err != nil {
		return nil, fmt.Errorf("keys: %s: %w; see hallmark keys list", k.dir(), err)
	}
	if k.cfg.Approvers != "" {
		jwks, err := readKeyFile(k.cfg.Approvers)
		if err == nil {
			t.Approvers, err = receipt.ParseApprovers(jwks)
		}
		if err != nil {
			return nil, fmt.Errorf("approvers: %s: %w", k.cfg.Approvers, err)
		}
	}
	t.Issuers, err = readIssuers(k.cfg.GrantIssuers)
	return t, err
}

// readIssuers reads "issuer=FILE,issuer=FILE"; "" is nobody.
func readIssuers(list string) (*receipt.Issuers, error) {
	if list == "" {
		return nil, nil
	}
	sets := map[string][]byte{}
	for entry := range strings.SplitSeq(list, ",") {
		issuer, file, ok := strings.Cut(strings.TrimSpace(entry), "=")
		if _, twice := sets[issuer]; !ok || issuer == "" || file == "" || twice {
			return nil, errors.New("grant-issuers: write issuer=FILE for each issuer once, separated by commas")
		}
		jwks, err := readKeyFile(file)
		if err != nil {
			return nil, fmt.Errorf("grant-issuers: %s: %w", file, err)
		}
		sets[issuer] = jwks
	}
	issuers, err := receipt.ParseIssuers(sets)
	if err != nil {
		return nil, fmt.Errorf("grant-issuers: %w", err)
	}
	return issuers, nil
}

func readKeyFile(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxKeyFile {
		return nil, errors.New("is no file of at most 1 MiB")
	}
	return os.ReadFile(name)
}

// tokens is what calls use now.
func (k *keyring) tokens() gate.Tokens { return *k.current.Load() }

// start reads the keys again and again until the returned function is called.
func (k *keyring) start(every time.Duration) (stop func(context.Context) error) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for sleep(ctx, every) == nil {
			k.reload()
		}
	}()
	return func(context.Context) error {
		cancel()
		<-ended
		return nil
	}
}

// reload takes what can be read; a fault is said once.
func (k *keyring) reload() {
	t, err := k.read()
	if err == nil {
		k.current.Store(t)
		if k.fault.Swap(nil) != nil {
			k.log.Info("keys can be read again")
		}
		return
	}
	text := oneLine(err.Error())
	if was := k.fault.Swap(&text); was == nil || *was != text {
		k.log.Error("keys cannot be read again; those that were read before stay in use", "cause", text)
	}
}

// subsystem is the keys' part of readiness.
func (k *keyring) subsystem() subsystem {
	s := subsystem{name: "keys", detail: "issuer " + k.cfg.Issuer}
	if err := k.tokens().Keys.Ready(k.clock()); err != nil {
		s.err = err
	} else if fault := k.fault.Load(); fault != nil {
		s.concern = *fault
	}
	return s
}
