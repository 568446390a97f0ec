package server

import (
	"bytes"
	"fmt"

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
	n, err := notice.New(notice.Config{URL: cfg.NoticeURL, Secret: bytes.TrimSpace(secret)}, deps.Log, deps.Clock)
	if err != nil {
		return nil, fmt.Errorf("notice-url: %w", err)
	}
	return n, nil
}
