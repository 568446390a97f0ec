package contract

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"maps"
	"slices"
)

// digest returns the lowercase hex SHA-256 over the sorted paths and contents, each
// preceded by its length, so that no two sets of files have the same input.
func digest(files map[string][]byte) string {
	h := sha256.New()
	var length [8]byte
	put := func(b []byte) {
		binary.BigEndian.PutUint64(length[:], uint64(len(b)))
		h.Write(length[:])
		h.Write(b)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		put([]byte(name))
		put(files[name])
	}
	return hex.EncodeToString(h.Sum(nil))
}
