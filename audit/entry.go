package audit

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"time"
)

// Entry is what one call leaves in a store: whole, in one transaction, or not at all.
// The store keeps nothing that an entry points to after [Store.Append] has returned.
type Entry struct {
	Record Record
	// Uses are what the call uses up; the zero value is nothing.
	Uses Uses
	// Original is the judged bytes, sealed; nil where none are kept.
	Original *Original
}

// Uses is what a call may use only so often: the uses of a grant, a receipt, an approval,
// a permit. All of it is used, together with the record, or nothing is.
type Uses struct {
	// Request names the request that was decided, so that a repeat of it gets Memo and
	// uses nothing again. "" means that repeats are not known, and Memo and Until must
	// then be zero.
	Request Key
	// Memo is what repeats get, at most [MaxMemoBytes].
	Memo []byte
	// Until is when Request is forgotten, exclusive.
	Until time.Time
	// Claims must all have room.
	Claims []Claim
}

// Claim is one use of something that may be used Limit times in all.
type Claim struct {
	Key   Key
	Limit uint32 // from 1; 0 is never satisfied
	// Until is from when on the thing itself is over, so that its uses need no longer be
	// known. A later Until of another claim on the same key prolongs it.
	Until time.Time
}

// Bounds of an entry.
const (
	// MaxMemoBytes bounds [Uses.Memo].
	MaxMemoBytes = 32 << 10
	// MaxClaims bounds [Uses.Claims].
	MaxClaims = 64
	// MaxOriginalBytes bounds [Original.Sealed].
	MaxOriginalBytes = 6 << 20
)

// Key names something in a store: lowercase hex SHA-256. Make one with [KeyOf].
type Key string

// KeyOf returns the key of a thing of this kind with these names. Two lists of names give
// the same key only where they are equal, name by name.
func KeyOf(kind string, names ...string) Key {
	h := sha256.New()
	var size [8]byte
	for _, s := range append([]string{kind}, names...) {
		binary.BigEndian.PutUint64(size[:], uint64(len(s)))
		h.Write(size[:])
		h.Write([]byte(s))
	}
	return Key(hex.EncodeToString(h.Sum(nil)))
}

// Outcome is what became of an entry. The zero Outcome says that it was written.
type Outcome struct {
	// Repeated says that Uses.Request was decided before and is remembered. Nothing was
	// written; Memo is that of the first decision.
	Repeated bool
	Memo     []byte
	// Short are the indexes of the claims that have no room, ascending. Nothing was
	// written where there is one.
	Short []int
}

// Written reports whether the entry is in the store.
func (o Outcome) Written() bool { return !o.Repeated && len(o.Short) == 0 }

// Original is the bytes of one judged reply, sealed so that the service cannot open them.
type Original struct {
	// Sealed is an age file (age-encryption.org/v1), at most [MaxOriginalBytes].
	Sealed []byte
	// KeepUntil is when [Store.Purge] removes it, exclusive; [Store.Original] does not
	// find it from then on.
	KeepUntil time.Time
}

// Judged names the judgements of Validate that are about the same thing.
type Judged struct {
	Tenant, SessionID, Tool string
	// ArgumentsDigest is that of the request; "" is the request without arguments.
	ArgumentsDigest string
}

// Sanitized returns j with the changes that [Record.Sanitize] makes to a record, so that
// the two still meet. Stores apply it; it bounds every string.
func (j Judged) Sanitized() Judged {
	r := Record{Tenant: j.Tenant, SessionID: j.SessionID, Tool: j.Tool, ArgumentsDigest: j.ArgumentsDigest}
	r.Sanitize()
	return Judged{Tenant: r.Tenant, SessionID: r.SessionID, Tool: r.Tool, ArgumentsDigest: r.ArgumentsDigest}
}

// Newest names a judgement and what it attests. The whole record is found by its id.
type Newest struct {
	// DecisionID is the id of the record.
	DecisionID string
	// ReceiptID is the id of the receipt that was issued; "" where none was.
	ReceiptID string
}

// Delivery is a tool whose results were delivered to a session.
type Delivery struct {
	Tool string
	// Trust is "trusted" or "untrusted".
	Trust string
}

// MaxDeliveries bounds the answer of [Store.Delivered].
const MaxDeliveries = 1000

// Purge says what is over.
type Purge struct {
	// Now is the time by which originals, claims and memos are over. Claims and memos are
	// kept [ClaimGrace] longer, since the clocks of replicas differ.
	Now time.Time
	// EventsBefore removes the records made before it; the zero time removes none. What
	// belongs to an event that is removed goes with it.
	EventsBefore time.Time
}

// ClaimGrace is how much longer than its Until a claim is kept.
const ClaimGrace = time.Hour

// Purged counts what a purge removed.
type Purged struct{ Events, Originals, Claims, Memos int64 }

// Check says whether a store can keep the entry. Entries are made by the service itself,
// so a failure is our own fault and no input causes it. The error matches
// [ErrInvalidRecord].
func (e *Entry) Check() error {
	if err := e.Record.Check(); err != nil {
		return err
	}
	u := &e.Uses
	switch {
	case u.Request == "" && (len(u.Memo) > 0 || !u.Until.IsZero()):
		return fmt.Errorf("%w: a memo without a request", ErrInvalidRecord)
	case u.Request != "" && (!u.Request.valid() || !storable(u.Until)):
		return fmt.Errorf("%w: the request's key or its end", ErrInvalidRecord)
	case len(u.Memo) > MaxMemoBytes:
		return fmt.Errorf("%w: the memo is too large", ErrInvalidRecord)
	case len(u.Claims) > MaxClaims:
		return fmt.Errorf("%w: too many claims", ErrInvalidRecord)
	case e.Original != nil && (len(e.Original.Sealed) > MaxOriginalBytes || !storable(e.Original.KeepUntil)):
		return fmt.Errorf("%w: the original's size or its end", ErrInvalidRecord)
	}
	seen := make(map[Key]bool, len(u.Claims))
	for _, c := range u.Claims {
		if !c.Key.valid() || !storable(c.Until) || seen[c.Key] {
			return fmt.Errorf("%w: a claim's key or its end", ErrInvalidRecord)
		}
		seen[c.Key] = true
	}
	return nil
}

// valid reports whether k is 64 lowercase hex digits.
func (k Key) valid() bool {
	if len(k) != sha256.Size*2 {
		return false
	}
	for i := range len(k) {
		if c := k[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
