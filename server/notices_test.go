package server

import (
	"path/filepath"
	"strings"
	"testing"
)

// A start that is refused names the setting that is wrong, and repeats no secret.
func TestNoticesNameTheSetting(t *testing.T) {
	file := filepath.Join(t.TempDir(), "secret")
	for _, c := range []struct{ url, secret, want string }{
		{"https://h.example.test/", "hunter2\n", "notice-secret-file: " + file + " holds 7 bytes, and a secret has at least 16"},
		{"nonsense", strings.Repeat("s", 32), "notice-url: is no absolute URL"},
		{"http://h.example.test/?token=hunter2", strings.Repeat("s", 32), "notice-url: must begin with https://"},
		{"https://u:hunter2@h.example.test/", strings.Repeat("s", 32), "notice-url: must have no user info"},
	} {
		write(t, file, c.secret)
		_, err := newNotices(Config{NoticeURL: c.url, NoticeSecretFile: file}, Deps{})
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v, want %q", c.url, err, c.want)
		}
	}
}
