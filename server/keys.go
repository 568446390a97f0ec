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
// to time. What cannot be used stops the start. Later each part counts by itself: each set of
// its own keys, those of approvers, those of issuers. A part that cannot be read leaves what was
// read of it before in use, until keys that live no longer refuse by themselves; one that
// can be read counts whatever the others are, so that nothing stands in the way of a
// revocation. Safe for concurrent use.
type keyring struct {
	cfg     Config
	log     *slog.Logger
	clock   func() time.Time
	current atomic.Pointer[gate.Tokens]
	// status has the fault of the last reading, and the number of faults that were told.
	status atomic.Pointer[followed]
}

// newKeyring reads all keys. Where the configuration names no directory of keys the data
// directory has one, and it is made if absent: a single service needs nobody to make its
// keys, while replicas must share theirs and so are told where they are.
func newKeyring(cfg Config, log *slog.Logger, clock func() time.Time) (*keyring, error) {
	k := &keyring{cfg: cfg, log: log, clock: clock}
	k.status.Store(&followed{})
	if cfg.Keys == "" {
		made, err := k.dir().Init(clock())
		if err != nil {
			return nil, fmt.Errorf("keys: %w", err)
		}
		if len(made) > 0 {
			log.Info("made new keys below the data directory", "sets", made)
		}
	}
	tokens, err := k.read(gate.Tokens{})
	if err != nil {
		return nil, err
	}
	if err := k.ready(tokens); err != nil {
		return nil, fmt.Errorf("keys: %w", err)
	}
	k.current.Store(&tokens)
	return k, nil
}

// dir is the directory of the service's own keys.
func (k *keyring) dir() receipt.Dir {
	if k.cfg.Keys != "" {
		return receipt.Dir(k.cfg.Keys)
	}
	return receipt.Dir(filepath.Join(k.cfg.Data, "keys"))
}

// read reads everything anew into what was before, which keeps the parts that cannot be
// read; the error says why.
func (k *keyring) read(before gate.Tokens) (gate.Tokens, error) {
	t := before
	t.Issuer = k.cfg.Issuer
	var faults []error
	var err error
	if t.Keys, err = k.dir().LoadOver(before.Keys); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%w; make them with: hallmark keys init", err)
		}
		faults = append(faults, fmt.Errorf("keys: %w", err))
	}
	if approvers, err := readApprovers(k.cfg.Approvers); err == nil {
		t.Approvers = approvers
	} else {
		faults = append(faults, err)
	}
	if issuers, err := readIssuers(k.cfg.GrantIssuers); err == nil {
		t.Issuers = issuers
	} else {
		faults = append(faults, err)
	}
	return t, oneSentence(faults)
}

// oneSentence joins faults on one line; nil where there are none.
func oneSentence(faults []error) error {
	var said []string
	for _, err := range faults {
		said = append(said, strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	if said == nil {
		return nil
	}
	return errors.New(strings.Join(said, "; "))
}

// ready refuses where some kind of token cannot be signed now.
func (k *keyring) ready(t gate.Tokens) error {
	if err := t.Keys.Ready(k.clock()); err != nil {
		return fmt.Errorf("%s: %w; see hallmark keys list, and hallmark keys rotate SET --lead 0s", k.dir(), err)
	}
	return nil
}

// readApprovers reads the keys of those who may approve; "" is nobody.
func readApprovers(file string) (*receipt.Approvers, error) {
	if file == "" {
		return nil, nil
	}
	jwks, err := readKeyFile(file)
	if err != nil {
		return nil, fmt.Errorf("approvers: %s: %w", file, err)
	}
	approvers, err := receipt.ParseApprovers(jwks)
	if err != nil {
		return nil, fmt.Errorf("approvers: %s: %w", file, err)
	}
	return approvers, nil
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
	return beside(func(ctx context.Context) {
		for sleep(ctx, every) == nil {
			k.reload()
		}
	}, "keys are still being read")
}

// reload takes what can be read; a fault is said once. Keys of which none signs any more
// are taken too: a key that was revoked must not live on because nothing stands in its
// place.
func (k *keyring) reload() {
	t, err := k.read(k.tokens())
	k.current.Store(&t)
	if err == nil {
		err = k.ready(t)
	}
	was := *k.status.Load()
	if err == nil {
		if was.fault != "" {
			k.status.Store(&followed{refused: was.refused})
			k.log.Info("keys are whole again")
		}
		return
	}
	if text := oneLine(err.Error()); was.fault != text {
		since := was.refusedSince
		if since.IsZero() {
			since = k.clock()
		}
		k.status.Store(&followed{refused: was.refused + 1, refusedSince: since, fault: text})
		k.log.Error("keys are not whole; what cannot be read stays as it was read before", "cause", text)
	}
}

// subsystem is the keys' part of readiness.
func (k *keyring) subsystem() subsystem {
	s := subsystem{name: "keys", detail: "issuer " + k.cfg.Issuer}
	if err := k.ready(k.tokens()); err != nil {
		s.err = err
	} else {
		s.concern = k.status.Load().concern()
	}
	return s
}
