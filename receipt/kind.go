package receipt

import "time"

// Kind is what a token is for. The zero value is no kind: it verifies nothing.
type Kind uint8

// The kinds of tokens.
const (
	ReceiptKind Kind = iota + 1
	PermitKind
	ChallengeKind
	ApprovalKind
	GrantKind
)

// Skew is how far two clocks may be apart: a token is taken until Skew after its exp,
// and from Skew before its iat. Executors record a permit's id until exp + Skew.
const Skew = 5 * time.Second

// MaxFacts is the largest data of a receipt, in bytes.
const MaxFacts = 32 << 10

// What a challenge shows at most. It has room for every call that the API takes, since
// nobody can approve what is not shown; an approval holds its digest and stays small.
const (
	// MaxArguments is in bytes: 1 MiB of arguments, and what their canonical form may add.
	MaxArguments = 3 << 19
	// maxDisclosed is a number of sources.
	maxDisclosed = 1000
)

const day = 24 * time.Hour

// kinds holds what the specification fixes for each kind: its typ, the largest token in
// bytes, the longest exp - iat.
var kinds = [...]struct {
	name, typ string
	bytes     int
	life      time.Duration
}{
	0:             {"token", "", 0, 0},
	ReceiptKind:   {"receipt", "hallmark-receipt+jwt", 64 << 10, 30 * day},
	PermitKind:    {"permit", "hallmark-permit+jwt", 8 << 10, time.Minute},
	ChallengeKind: {"challenge", "hallmark-challenge+jwt", 3 << 20, day},
	ApprovalKind:  {"approval", "hallmark-approval+jwt", 8 << 10, 10 * time.Minute},
	GrantKind:     {"grant", "hallmark-grant+jwt", 8 << 10, 31 * day},
}

// String returns the name of the kind, for logs.
func (k Kind) String() string {
	if int(k) < len(kinds) {
		return kinds[k].name
	}
	return kinds[0].name
}

// Type is the typ of the kind's header, "" for no kind.
func (k Kind) Type() string {
	if int(k) < len(kinds) {
		return kinds[k].typ
	}
	return ""
}

// MaxBytes is the length of the longest token of the kind, 0 for no kind.
func (k Kind) MaxBytes() int {
	if int(k) < len(kinds) {
		return kinds[k].bytes
	}
	return 0
}

// MaxLife is the longest exp - iat that a token of the kind may have, 0 for no kind.
func (k Kind) MaxLife() time.Duration {
	if int(k) < len(kinds) {
		return kinds[k].life
	}
	return 0
}

func (k Kind) fail(r Reason, place string) error { return &Error{Kind: k, Reason: r, Place: place} }
