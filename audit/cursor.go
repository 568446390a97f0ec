package audit

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/hallmark-gate/hallmark/internal/base64url"
)

// Cursor is a place in a list: after the record with this time and id. Stores turn it
// into a page token and back. A token gives no right to anything and is not secret; it is
// bound to its filter and scope only so that a mistaken reader is told.
type Cursor struct {
	// At is the time of the last record of the page.
	At time.Time
	// DecisionID is its id.
	DecisionID string
}

// cursorVersion is the first byte of a token. A token of another version is refused and
// the reader begins anew.
const cursorVersion = 1

// cursorSize is a version, a time in nanoseconds, an id and the beginning of a digest.
const cursorSize = 1 + 8 + 16 + 8

// Token writes the cursor as an opaque token of less than [MaxPageToken] bytes in the
// URL-safe base64 alphabet.
func (c Cursor) Token(scope Scope, filter Filter) string {
	buf := make([]byte, 0, cursorSize)
	buf = append(buf, cursorVersion)
	buf = binary.BigEndian.AppendUint64(buf, uint64(c.At.UnixNano())) //nolint:gosec // the bits, not the number
	id, err := hex.DecodeString(strings.ReplaceAll(c.DecisionID, "-", ""))
	if err != nil || len(id) != 16 {
		id = make([]byte, 16) // no stored record has such an id: Check refuses it
	}
	buf = append(buf, id...)
	buf = append(buf, binding(scope, filter)...)
	return base64url.Encode(buf)
}

// ParseCursor reads a token that [Cursor.Token] wrote for the same scope and filter. The
// error matches [ErrBadPageToken] and repeats nothing of the token.
func ParseCursor(token string, scope Scope, filter Filter) (Cursor, error) {
	if len(token) > MaxPageToken {
		return Cursor{}, fmt.Errorf("%w: it is longer than %d bytes", ErrBadPageToken, MaxPageToken)
	}
	buf, ok := base64url.Decode(token)
	if !ok || len(buf) != cursorSize || buf[0] != cursorVersion {
		return Cursor{}, fmt.Errorf("%w: it is not one of this service", ErrBadPageToken)
	}
	if string(buf[25:]) != string(binding(scope, filter)) {
		return Cursor{}, fmt.Errorf("%w: it belongs to another filter", ErrBadPageToken)
	}
	nanos := int64(binary.BigEndian.Uint64(buf[1:9])) //nolint:gosec // the bits, not the number
	id := hex.EncodeToString(buf[9:25])
	return Cursor{
		At:         time.Unix(0, nanos).UTC(),
		DecisionID: id[:8] + "-" + id[8:12] + "-" + id[12:16] + "-" + id[16:20] + "-" + id[20:],
	}, nil
}

// binding is the beginning of a digest of all that a walk over pages must keep.
func binding(scope Scope, filter Filter) []byte {
	h := sha256.New()
	word := func(s string) {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(s)))
		h.Write(size[:])
		h.Write([]byte(s))
	}
	for _, t := range [...]time.Time{filter.Since, filter.Until} {
		word(t.UTC().Format(time.RFC3339Nano))
	}
	for _, s := range [...]string{
		filter.Tool, filter.RequestID, filter.SessionID, filter.RPC,
		filter.FailureCode, filter.Reason, filter.Decision, filter.Tenant,
	} {
		word(s)
	}
	word(strconv.FormatBool(scope.all))
	for _, t := range scope.tenants {
		word(t)
	}
	return h.Sum(nil)[:8]
}
