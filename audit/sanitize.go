package audit

import (
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// MaxRecordBytes bounds a sanitized record: the bytes of its JSON form, escapes counted,
// and of the strings that a store keeps in columns. The message Event of the same record
// is smaller still.
const MaxRecordBytes = 64 << 10

// SignalCut is the signal under which [Record.Sanitize] counts the strings that it cut
// and the list items that it left out.
const SignalCut = "audit_cut"

// Limits of strings, in bytes of their JSON form. Each is at least twice what the wire
// accepts of a caller for that field, so that only hostile escapes are ever cut.
const (
	maxWord    = 128  // enum names, digests, keywords: words of our own
	maxName    = 512  // ids and names that a caller chose
	maxCaller  = 1024 // a SPIFFE URI or a DNS name
	maxPointer = 2048
	maxDetail  = 512
	maxSource  = 4096
)

// Limits of lists, in items. The wire accepts 64 grants and 16 receipts.
const (
	maxMoreRejections = 32
	maxReasons        = 128
	maxIDs            = 64
	maxSignals        = 128
)

// What JSON adds around the strings, in bytes: names, quotes, commas and the widest
// numbers. The first also holds the fixed columns and the signal [SignalCut].
const (
	baseOverhead      = 2048
	rejectionOverhead = 192
	reasonOverhead    = 128
	idOverhead        = 4
	signalOverhead    = 28
)

// ellipsis ends a string that was cut.
const ellipsis = "…"

// Sanitize makes the record fit to be written anywhere, and never fails: invalid UTF-8
// and NUL become U+FFFD, strings that are too long are cut and end with an ellipsis,
// lists are cut at their end, and the whole stays within [MaxRecordBytes]. What was cut
// is counted under [SignalCut]. DecisionID is left alone; [Record.Check] judges it.
//
// Sanitize is idempotent, takes time in proportion to what it keeps and to the number of
// list items, and writes to no slice or map that r had before.
func (r *Record) Sanitize() {
	s := sanitizer{left: MaxRecordBytes - baseOverhead}
	for _, f := range [...]struct {
		p     *string
		limit int
	}{
		{&r.RPC, maxWord},
		{&r.Tenant, maxName},
		{&r.Caller, maxCaller},
		{&r.Tool, maxName},
		{&r.ContractDigest, maxWord},
		{&r.ContractsDigest, maxWord},
		{&r.Owner, maxName},
		{&r.RequestID, maxName},
		{&r.SessionID, maxName},
		{&r.CallIDDigest, maxWord},
		{&r.Principal, maxName},
		{&r.ArgumentsDigest, maxWord},
		{&r.Source, maxSource},
		{&r.Adapter, maxName},
		{&r.MediaType, maxName},
		{&r.UpstreamStatus, maxName},
		{&r.RawDigest, maxWord},
		{&r.FailureCode, maxWord},
		{&r.Decision, maxWord},
		{&r.Delivered, maxWord},
		{&r.ReceiptID, maxWord},
		{&r.PermitID, maxWord},
		{&r.GrantIssuer, maxName},
		{&r.Approver, maxName},
		{&r.ChallengeID, maxWord},
	} {
		s.left -= s.text(f.p, f.limit)
	}
	s.left -= s.rejection(&r.Rejection)
	r.Signals = s.signals(r.Signals)
	r.Reasons = list(&s, r.Reasons, maxReasons, s.reason)
	r.GrantIDs = list(&s, r.GrantIDs, maxIDs, s.id)
	r.EvidenceIDs = list(&s, r.EvidenceIDs, maxIDs, s.id)
	r.MoreRejections = list(&s, r.MoreRejections, maxMoreRejections, s.rejection)
	if s.cut > 0 {
		r.Signals = maps.Clone(r.Signals) // it may be the one that r had before
		if r.Signals == nil {
			r.Signals = make(map[string]uint64, 1)
		}
		r.Signals[SignalCut] = addCapped(r.Signals[SignalCut], s.cut)
	}
}

// sanitizer carries what is left of the record's bytes and counts what was cut.
type sanitizer struct {
	left int
	cut  uint64
}

// text bounds *p and returns its size in JSON.
func (s *sanitizer) text(p *string, limit int) int {
	out, size, cut := boundString(*p, limit)
	if cut {
		s.cut++
	}
	*p = out
	return size
}

func (s *sanitizer) rejection(r *Rejection) int {
	return rejectionOverhead +
		s.text(&r.Layer, maxWord) +
		s.text(&r.Reason, maxWord) +
		s.text(&r.InstancePath, maxPointer) +
		s.text(&r.SchemaPath, maxPointer) +
		s.text(&r.Keyword, maxWord) +
		s.text(&r.Check, maxWord) +
		s.text(&r.Detail, maxDetail)
}

func (s *sanitizer) reason(r *Reason) int {
	return reasonOverhead +
		s.text(&r.Code, maxWord) +
		s.text(&r.GrantID, maxWord) +
		s.text(&r.Scope, maxWord) +
		s.text(&r.Argument, maxPointer) +
		s.text(&r.RequiredTool, maxName) +
		s.text(&r.Keyword, maxWord)
}

func (s *sanitizer) id(p *string) int { return idOverhead + s.text(p, maxWord) }

// signals returns the map itself where nothing of it has to change, which is nearly always.
func (s *sanitizer) signals(in map[string]uint64) map[string]uint64 {
	if len(in) == 0 {
		return nil
	}
	if len(in) > maxSignals {
		return s.boundSignals(in)
	}
	size := 0
	for name := range in {
		if len(name) > maxWord || !allPlain(name) {
			return s.boundSignals(in)
		}
		if name != SignalCut { // its room is in baseOverhead
			size += signalOverhead + len(name)
		}
	}
	s.left -= size
	return in
}

// boundSignals keeps the first maxSignals names in byte order, so that what is left out
// does not depend on the order of the map. Names that become equal are added up.
func (s *sanitizer) boundSignals(in map[string]uint64) map[string]uint64 {
	out := make(map[string]uint64, len(in))
	for name, n := range in {
		s.text(&name, maxWord)
		out[name] = addCapped(out[name], n)
	}
	kept := 0
	for _, name := range slices.Sorted(maps.Keys(out)) {
		switch {
		case name == SignalCut: // its room is in baseOverhead
		case kept == maxSignals:
			delete(out, name)
			s.cut++
		default:
			kept++
			_, size, _ := boundString(name, maxWord)
			s.left -= signalOverhead + size
		}
	}
	return out
}

// list bounds a copy of in: at most limit items, and only while the record has room. The
// first item that finds none ends the list, so that what is kept is always its beginning.
func list[T any](s *sanitizer, in []T, limit int, bound func(*T) int) []T {
	if len(in) == 0 {
		return nil
	}
	out := make([]T, 0, min(len(in), limit))
	for _, item := range in[:min(len(in), limit)] {
		size := bound(&item)
		if size > s.left {
			break
		}
		s.left -= size
		out = append(out, item)
	}
	s.cut += uint64(len(in) - len(out))
	if len(out) == 0 {
		return nil
	}
	return out
}

// boundString returns s without invalid UTF-8 and NUL and with at most limit bytes in
// JSON, its size there, and whether it was cut. It reads no more of s than it keeps.
func boundString(s string, limit int) (out string, size int, cut bool) {
	if len(s) <= limit && allPlain(s) { // nearly always
		return s, len(s), false
	}
	return boundRunes(s, limit)
}

// boundRunes is boundString, rune by rune.
func boundRunes(s string, limit int) (out string, size int, cut bool) {
	dirty := false
	end, endSize := 0, 0 // the longest beginning that leaves room for the ellipsis
	for i := 0; i < len(s); {
		r, width := utf8.DecodeRuneInString(s[i:])
		n := jsonSize(r)
		if size+n > limit {
			out = s[:end] + ellipsis
			size, cut = endSize+len(ellipsis), true
			break
		}
		if r == 0 || (r == utf8.RuneError && width == 1) {
			dirty = true
		}
		size += n
		i += width
		if size <= limit-len(ellipsis) {
			end, endSize = i, size
		}
	}
	if !cut {
		out = s
	}
	if dirty {
		out = strings.Map(func(r rune) rune {
			if r == 0 {
				return utf8.RuneError
			}
			return r // an invalid byte arrives as U+FFFD and is written as such
		}, out)
	}
	return out, size, cut
}

// jsonSize is the size in bytes of r, after NUL became U+FFFD, in a string that
// encoding/json writes with its HTML escapes.
func jsonSize(r rune) int {
	switch {
	case r == 0:
		return utf8.RuneLen(utf8.RuneError)
	case r == '"', r == '\\', r == '\b', r == '\f', r == '\n', r == '\r', r == '\t':
		return 2
	case r < 0x20, r == '<', r == '>', r == '&', r == '\u2028', r == '\u2029':
		return len(`\u0000`)
	default:
		return utf8.RuneLen(r)
	}
}

// addCapped adds without wrapping around.
func addCapped(a, b uint64) uint64 {
	if a > math.MaxUint64-b {
		return math.MaxUint64
	}
	return a + b
}
