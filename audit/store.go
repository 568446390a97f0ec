package audit

import (
	"context"
	"errors"
	"slices"
	"time"
)

// Errors of a [Store], to be told apart with errors.Is. Errors carry the place and the
// cause of a failure for the operator's log; they are not for callers of the service.
var (
	// ErrFull says that the bounded queue of the store has no room now; nothing was
	// written. The caller may try again a little later.
	ErrFull = errors.New("audit: queue is full")
	// ErrUnavailable says that the store cannot write or read now; its cause is wrapped.
	// After [Store.Append] the record may be found all the same once the store works
	// again: a disk that fails while it confirms may have kept the bytes.
	ErrUnavailable = errors.New("audit: store is unavailable")
	// ErrClosed is a cause of ErrUnavailable: the store was closed.
	ErrClosed = errors.New("audit: store is closed")
	// ErrNotFound says that no record in the reader's scope has the id.
	ErrNotFound = errors.New("audit: no such record")
	// ErrBadPageToken says that a page token is malformed or belongs to another filter
	// or scope.
	ErrBadPageToken = errors.New("audit: bad page token")
	// ErrInvalidRecord says that [Record.Check] refused a record: our own fault.
	ErrInvalidRecord = errors.New("audit: invalid record")
	// ErrDamaged says that stored records cannot be read; it names them.
	ErrDamaged = errors.New("audit: damaged record")
)

// Sizes of pages and page tokens.
const (
	// DefaultPageSize is the number of records in a page when the reader names none.
	DefaultPageSize = 50
	// MaxPageSize is the largest number of records in a page.
	MaxPageSize = 500
	// MaxPageBytes bounds the records of a page, in bytes as [MaxRecordBytes] counts
	// them, so that a page fits into one reply of the wire; a page that would be larger
	// holds fewer records and has a next one.
	MaxPageBytes = 2 << 20
	// MaxPageToken is the largest size of a page token in bytes.
	MaxPageToken = 256
)

// Store keeps records. All methods are safe for concurrent use. Every method stops
// waiting when its context ends and then returns an error that matches the context's.
type Store interface {
	// Append keeps an entry and returns nil only after it is durable. Records are
	// sanitized ([Record.Sanitize]) and keyed by DecisionID: appending an id again is a
	// no-op that succeeds, whatever the rest of the entry says, and the first one stays.
	//
	// The outcome says whether the entry was written. It is not where Uses.Request is
	// remembered (the claims are then not looked at), and where a claim has no room: uses
	// that were counted before, by whichever replica, reach its limit. Of entries that
	// come together for the last use exactly one is written. What is over by Record.At is
	// not remembered.
	//
	// Append fails at once with ErrFull when the bounded queue has no room, with
	// ErrUnavailable when the store cannot write, and with ErrInvalidRecord when
	// [Entry.Check] refuses the entry. When ctx ends while Append waits, the entry may or
	// may not become durable.
	Append(ctx context.Context, e Entry) (Outcome, error)
	// Recall returns the memo of a request that is remembered at the time now, else
	// ErrNotFound; ErrUnavailable.
	Recall(ctx context.Context, request Key, now time.Time) ([]byte, error)
	// Latest names the newest record of a Validate of this tool with these arguments in
	// the session, by At, then by DecisionID, whatever it came to; ErrNotFound where there
	// is none or where the session is "", ErrUnavailable, ErrDamaged.
	Latest(ctx context.Context, j Judged) (Newest, error)
	// Delivered returns every tool whose results were delivered to a session, and how far
	// they were trusted: sorted, without repeats, none for the session "". The error
	// matches ErrUnavailable where the store cannot say, which includes more than
	// MaxDeliveries of them.
	Delivered(ctx context.Context, tenant, sessionID string) ([]Delivery, error)
	// Get returns the record with this id, ErrNotFound if there is none within scope,
	// ErrDamaged if it cannot be read, ErrUnavailable.
	Get(ctx context.Context, scope Scope, decisionID string) (Record, error)
	// List returns a page of the records within scope that pass filter, newest first:
	// by At, then by DecisionID, both descending. pageSize is a number of records; 0 or
	// less means DefaultPageSize, more than MaxPageSize means MaxPageSize. The empty
	// pageToken asks for the first page, a next for the one after; an empty next says
	// that there are no more. A walk over all pages meets every record that was durable
	// when it began exactly once, whatever is written meanwhile.
	//
	// Errors: ErrBadPageToken, ErrUnavailable, and ErrDamaged: only with the last are
	// records and next valid too, without the damaged ones, which the error names, so
	// that damage hides no other record.
	List(ctx context.Context, scope Scope, filter Filter, pageSize int, pageToken string) (records []Record, next string, err error)
	// Mark returns a place in the order of writing: after the record with this id, which
	// must be within scope (else ErrNotFound), or, for "", after all that is durable now.
	// ErrUnavailable.
	Mark(ctx context.Context, scope Scope, decisionID string) (mark string, err error)
	// Tail returns up to limit records within scope that pass filter and became durable
	// after mark, in the order of writing, and the mark after the last one that was looked
	// at. A record is met exactly once by whoever goes on from mark to mark, whatever its
	// At. limit is 1 to MaxPageSize; MaxPageBytes holds. ErrBadPageToken, ErrUnavailable;
	// damaged records are left out.
	Tail(ctx context.Context, scope Scope, filter Filter, mark string, limit int) (records []Record, next string, err error)
	// Original returns the sealed original of a record within scope whose KeepUntil lies
	// after now, else ErrNotFound; ErrUnavailable. The caller owns it.
	Original(ctx context.Context, scope Scope, decisionID string, now time.Time) (Original, error)
	// Purge removes what is over, in steps that hold nobody up, and returns what it
	// removed so far with any error. ErrUnavailable, or ctx's.
	Purge(ctx context.Context, p Purge) (Purged, error)
	// Ready returns nil while records can be written, and an error that matches
	// ErrUnavailable and says why while they cannot. A store becomes ready again by
	// itself when the cause is gone.
	Ready(ctx context.Context) error
	// Close refuses new calls, writes what is queued, and releases the store. Closing
	// again waits for the same end and returns the same error. When ctx ends first the
	// work goes on, and another Close can wait for it.
	Close(ctx context.Context) error
}

// Filter selects records. A zero field selects all; the fields that are set must all
// hold. Strings are compared byte for byte, after the changes that [Record.Sanitize]
// makes to that field of a record.
type Filter struct {
	// Since and Until bound At: Since is inclusive, Until is exclusive.
	Since, Until time.Time
	// Tool is the name that the caller gave.
	Tool string
	// RequestID and SessionID are the caller's ids.
	RequestID, SessionID string
	// RPC is "validate", "authorize" or "redeem".
	RPC string
	// FailureCode is a name such as "INVALID_RESPONSE".
	FailureCode string
	// Reason is the reason of the first rejection, a name such as "DUPLICATE_NAME".
	Reason string
	// Decision is "DENY", "ALLOW" or "NEEDS_APPROVAL".
	Decision string
	// Tenant narrows the scope to one tenant; it never widens it.
	Tenant string
}

// Sanitized returns the filter with the changes that [Record.Sanitize] makes to a record,
// so that the two still meet. Stores apply it; it bounds every string.
func (f Filter) Sanitized() Filter {
	r := Record{
		RPC: f.RPC, Tenant: f.Tenant, Tool: f.Tool, RequestID: f.RequestID, SessionID: f.SessionID,
		FailureCode: f.FailureCode, Decision: f.Decision, Rejection: Rejection{Reason: f.Reason},
	}
	r.Sanitize()
	return Filter{
		Since: f.Since, Until: f.Until, Tool: r.Tool, RequestID: r.RequestID, SessionID: r.SessionID,
		RPC: r.RPC, FailureCode: r.FailureCode, Reason: r.Rejection.Reason, Decision: r.Decision, Tenant: r.Tenant,
	}
}

// Scope is the set of tenants whose records a reader may see. It is immutable. The zero
// value sees nothing.
type Scope struct {
	all     bool
	tenants []string // sorted, without repeats, none empty
}

// AllTenants is the scope that sees every record, those without a tenant included.
func AllTenants() Scope { return Scope{all: true} }

// OnlyTenants is the scope that sees the records of these tenants, compared byte for
// byte. Names that no stored record can have are left out: those that [Record.Sanitize]
// would change, and the empty one, for records without a tenant are for [AllTenants]
// only.
func OnlyTenants(names ...string) Scope {
	tenants := slices.DeleteFunc(slices.Clone(names), func(s string) bool {
		kept, _, _ := boundString(s, maxName)
		return s == "" || kept != s
	})
	slices.Sort(tenants)
	return Scope{tenants: slices.Compact(tenants)}
}

// All reports whether the scope is that of [AllTenants].
func (s Scope) All() bool { return s.all }

// Tenants returns the names that the scope lists, sorted, in a slice that belongs to the
// caller; none for [AllTenants] and for the zero value.
func (s Scope) Tenants() []string { return slices.Clone(s.tenants) }

// Sees reports whether the scope holds records of this tenant.
func (s Scope) Sees(tenant string) bool {
	if s.all {
		return true
	}
	_, found := slices.BinarySearch(s.tenants, tenant)
	return found
}
