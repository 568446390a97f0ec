package server

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/audit/seal"
	"github.com/hallmark-gate/hallmark/gate"
	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
	"github.com/hallmark-gate/hallmark/receipt"
)

// AuditKeyFile is the file, beside the keys of tokens, of the key that makes digests of
// originals where their contract redacts.
const AuditKeyFile = "audit.key"

// originals says how originals are kept, and follows the file of recipients: who is
// taken out of it opens nothing that is sealed from then on. Safe for concurrent use.
type originals struct {
	current    atomic.Pointer[gate.Originals]
	recipients *follower // nil where none are configured
}

// newOriginals reads the audit key, which is made if absent, and the recipients.
func newOriginals(cfg Config, keys receipt.Dir, deps Deps) (*originals, error) {
	file := filepath.Join(string(keys), AuditKeyFile)
	_, absent := os.Stat(file)
	key, err := seal.LoadOrCreateKey(file)
	if err != nil {
		return nil, err
	}
	if errors.Is(absent, fs.ErrNotExist) {
		deps.Log.Info("made a new audit key beside the keys of tokens; digests of redacted originals under another key are not comparable", "file", AuditKeyFile)
	}
	o := &originals{}
	base := gate.Originals{Key: key, PerDay: int64(cfg.OriginalsPerDay)}
	o.current.Store(&base)
	if cfg.Recipients == "" {
		return o, nil
	}
	o.recipients, err = follow("recipients", []string{cfg.Recipients}, deps, func(contents [][]byte) error {
		r, err := seal.ParseRecipients(contents[0])
		if err != nil { // the follower names the file's setting
			return errors.New(cfg.Recipients + ": " + strings.TrimPrefix(err.Error(), "seal: recipients: "))
		}
		o.current.Store(&gate.Originals{Key: key, PerDay: base.PerDay, Recipients: r})
		return nil
	})
	return o, err
}

// rules is what calls go by now.
func (o *originals) rules() gate.Originals { return *o.current.Load() }

// start follows the file until the returned function is called.
func (o *originals) start(every time.Duration) (stop func(context.Context) error) {
	if o.recipients == nil {
		return startFollowing(every)
	}
	return startFollowing(every, o.recipients)
}

// subsystem is the recipients' part of readiness.
func (o *originals) subsystem() subsystem {
	s := subsystem{name: "originals", detail: "digests only, no recipients"}
	if o.recipients != nil {
		s.detail, s.concern = "sealed", o.recipients.concern()
	}
	return s
}

// errNoOriginal says that a record has no original any more, or never had one, or that
// there is no such record for the caller: which of these is not told.
var errNoOriginal = errors.New("server: no original")

// GetOriginal returns the sealed original of a reply; only an operator's identity opens
// it.
func (s *auditService) GetOriginal(ctx context.Context, req *hallmarkv1.GetOriginalRequest) (*hallmarkv1.GetOriginalResponse, error) {
	scope, err := s.scope(ctx)
	if err != nil {
		return nil, err
	}
	original, err := s.store.Original(ctx, scope, strings.ToLower(req.GetDecisionId()), s.clock())
	if errors.Is(err, audit.ErrNotFound) {
		return nil, errNoOriginal
	}
	if err != nil {
		return nil, err
	}
	return &hallmarkv1.GetOriginalResponse{Sealed: original.Sealed, KeptUntil: timeToWire(original.KeepUntil)}, nil
}
