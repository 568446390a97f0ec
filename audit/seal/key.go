package seal

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"

	"github.com/hallmark-gate/hallmark/internal/durable"
)

// KeySize is the size of an audit key in bytes.
const KeySize = 32

// HMAC returns the digest of an original where its contract redacts: HMAC-SHA-256 (RFC
// 2104) under the audit key, in lowercase hex. Two equal originals are seen to be equal,
// and a redacted value that was guessed cannot be proved by whoever lacks the key.
func HMAC(key, original []byte) string {
	mac := hmac.New(sha256.New, key)
	mac.Write(original)
	return hex.EncodeToString(mac.Sum(nil))
}

// LoadOrCreateKey returns the audit key in a file of [KeySize] bytes, and makes it, with
// mode 0600 in a directory that exists, where there is none. Of several processes that
// start at once all get the same key. Replicas share the file, or their digests differ;
// a new key makes new digests of old originals.
//
// It refuses a file of another size, one that is no regular file, and one that others
// than the owner can read or change (a group may read, as a mounted secret is read). The
// error names the path and the cause, and nothing of the content.
func LoadOrCreateKey(path string) ([]byte, error) {
	key, err := loadKey(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err = createKey(path); err == nil || errors.Is(err, fs.ErrExist) {
			key, err = loadKey(path) // ours, or that of whoever was first
		}
	}
	if err != nil {
		var at *fs.PathError
		var link *os.LinkError
		switch {
		case errors.As(err, &at):
			err = at.Err
		case errors.As(err, &link):
			err = link.Err
		}
		return nil, fmt.Errorf("seal: audit key %s: %w", path, err)
	}
	return key, nil
}

func loadKey(path string) ([]byte, error) {
	// Looked at before it is opened: opening a named pipe would wait for a writer.
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("is no regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return nil, err
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o027 != 0 {
		return nil, errors.New("others can read or change it; chmod 0600 it")
	}
	content, err := io.ReadAll(io.LimitReader(f, KeySize+1))
	if err != nil {
		return nil, err
	}
	if len(content) != KeySize {
		return nil, fmt.Errorf("is not %d bytes; restore it from a backup, or remove it to have a new one made", KeySize)
	}
	return content, nil
}

// createKey makes the file. The error is fs.ErrExist where another was first.
func createKey(path string) error {
	key := make([]byte, KeySize)
	if _, err := rand.Read(key); err != nil {
		return err
	}
	return durable.Create(path, key)
}
