package server

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/hallmark-gate/hallmark/audit/notice"
)

// newNotices returns what tells the owners of connectors; nil where nobody is to be told.
func newNotices(cfg Config, deps Deps) (*notice.Notifier, error) {
	if cfg.NoticeURL == "" {
		return nil, nil
	}
	secret, err := readKeyFile(cfg.NoticeSecretFile)
	if err != nil {
		return nil, fmt.Errorf("notice-secret-file: %w", err)
	}
	secret = bytes.TrimSpace(secret)
	if len(secret) < notice.MinSecret {
		return nil, fmt.Errorf("notice-secret-file: %s holds %d bytes, and a secret has at least %d; make one with: openssl rand -hex 32", cfg.NoticeSecretFile, len(secret), notice.MinSecret)
	}
	n, err := notice.New(notice.Config{URL: cfg.NoticeURL, Secret: secret}, deps.Log, deps.Clock)
	if err != nil {
		return nil, fmt.Errorf("notice-url: %s", strings.TrimPrefix(err.Error(), "notice: url: "))
	}
	return n, nil
}
