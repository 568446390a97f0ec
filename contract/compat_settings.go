package contract

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// weigh says of what class a change of a setting is.
type weigh func(d *differ) Class

func breaks(*differ) Class   { return Breaking }
func adds(*differ) Class     { return Additive }
func harmless(*differ) Class { return Safe }

// repeats weighs more repetitions: of a read they are advice that callers now get; of
// a side effect they are further effects.
func repeats(d *differ) Class {
	if d.old.Effect == SideEffect || d.new.Effect == SideEffect {
		return Breaking
	}
	return Additive
}

// setting is one key of contract.yaml and what its changes mean. Exactly one of values
// and amount is set.
type setting struct {
	at string // the key
	// values returns what is set, by the part of the key: {"": VALUE} for a single
	// value, one entry for each element of a list or map. An entry that only one side
	// has was added or removed. It is nil where the contract does not have the part of
	// contract.yaml in which the key stands: that is reported once, as the part.
	values                  func(*Contract) map[string]string
	added, removed, changed weigh
	// amount returns a number that only grows and shrinks; unit renders it.
	amount      func(*Contract) int
	unit        func(int) string
	more, fewer weigh
}

// settings is every key of contract.yaml that is compared by its value alone, with the
// class of its changes; docs/contracts-compat.md gives the reasons. A key that is in
// neither this table nor elsewhere is compared too, and each change of it is breaking:
// see rest.
func settings() []setting {
	return slices.Concat(textSettings(), commandSettings(), []setting{
		single("tool", breaks, func(c *Contract) string { return c.Tool }),
		list("aliases", adds, breaks, func(c *Contract) []string { return c.Aliases }),
		single("owner", harmless, func(c *Contract) string { return c.Owner }),
		single("description", harmless, func(c *Contract) string { return c.Description }),
		single("effect", breaks, func(c *Contract) string { return string(c.Effect) }),
		single("egress", breaks, func(c *Contract) string { return string(cmp.Or(c.Egress, EgressNone)) }),
		single("idempotent", breaks, func(c *Contract) string { return strconv.FormatBool(c.Idempotent) }),
		single("trust", breaks, func(c *Contract) string { return trustWord(c.Trust) }),
		list("trusted_sources", breaks, breaks, func(c *Contract) []string { return c.Trust.Sources }),
		list("trusted_callers", breaks, breaks, func(c *Contract) []string { return c.Trust.Callers }),
		single("source_label", adds, func(c *Contract) string { return c.SourceLabel }),

		single("result.kind", breaks, func(c *Contract) string { return string(c.Result.Kind) }),
		single("result.framing", breaks, func(c *Contract) string { return string(c.Result.Framing) }),
		list("result.media_types", breaks, breaks, func(c *Contract) []string { return c.Result.MediaTypes }),
		limit("result.limits.max_bytes", harmless, func(l strictjson.Limits) int { return l.MaxBytes }),
		limit("result.limits.max_depth", harmless, func(l strictjson.Limits) int { return l.MaxDepth }),
		limit("result.limits.max_items", harmless, func(l strictjson.Limits) int { return l.MaxItems }),
		limit("result.limits.max_string_chars", adds, func(l strictjson.Limits) int { return l.MaxStringChars }),
		limit("result.limits.max_number_chars", adds, func(l strictjson.Limits) int { return l.MaxNumberChars }),
		mapping("result.max_list", breaks, adds, breaks, maxList),
		amount("result.max_list.items", adds, breaks, strconv.Itoa, maxListItems),
		mapping("result.adapter", breaks, breaks, harmless, func(c *Contract) map[string]string { return presence(c.Result.Adapter != nil) }),
		mapping("result.adapter.fields", breaks, breaks, breaks, adapterFields),
		mapping("result.adapter.watch", breaks, breaks, breaks, adapterWatch),
		mapping("result.not_given", harmless, harmless, harmless, func(c *Contract) map[string]string { return orEmpty(c.Result.NotGiven) }),
		list("result.not_found.http_status", breaks, breaks, func(c *Contract) []string { return texts(c.Result.NotFoundHTTP) }),
		amount("result.failure.display_text", adds, breaks, strconv.Itoa, func(c *Contract) int { return c.Result.DisplayText }),
		list("result.failure_codes", adds, breaks, func(c *Contract) []string { return texts(c.Result.FailureCodes) }),
		mapping("result.unbound", breaks, breaks, harmless, func(c *Contract) map[string]string { return present(c.Result.Unbound) }),

		mapping("retry", repeats, adds, harmless, func(c *Contract) map[string]string { return presence(c.Retry != nil) }),
		amount("retry.max_attempts", repeats, adds, strconv.Itoa, retried(func(r *Retry) int { return r.MaxAttempts })),
		amount("retry.budget", repeats, adds, span, retried(func(r *Retry) int { return int(r.Budget) })),
		amount("retry.delay", harmless, harmless, span, retried(func(r *Retry) int { return int(r.Delay) })),
		mapping("retry.on", repeats, adds, harmless, retriedOn),

		single("retention.accepted", harmless, func(c *Contract) string { return c.Retention.Accepted }),
		single("retention.rejected", harmless, func(c *Contract) string { return c.Retention.Rejected }),
		amount("retention.keep", harmless, harmless, span, func(c *Contract) int { return int(c.Retention.Keep) }),
		list("retention.redact", harmless, harmless, func(c *Contract) []string { return c.Retention.Redact }),

		mapping("receipt", adds, breaks, harmless, func(c *Contract) map[string]string { return presence(c.Receipt != nil) }),
		amount("receipt.ttl", adds, breaks, span, attestedFor),
		mapping("receipt.facts", adds, breaks, harmless, attested(func(r *Receipt) bool { return r.Facts })),
		mapping("receipt.signed", adds, breaks, harmless, attested(func(r *Receipt) bool { return r.Signed })),

		mapping("arguments", breaks, breaks, harmless, func(c *Contract) map[string]string { return presence(c.Arguments != nil) }),
		single("arguments.audience", breaks, argued(func(a *Arguments) string { return a.Audience })),
		mapping("arguments.big_integers", adds, breaks, harmless, allowed(func(a *Arguments) bool { return a.BigIntegers })),
		mapping("arguments.scopes", breaks, breaks, breaks, scopes),
		mapping("arguments.unscoped", harmless, harmless, harmless, unscoped),
		mapping("arguments.requires_grant", breaks, breaks, harmless, allowed(func(a *Arguments) bool { return a.RequiresGrant })),
		mapping("arguments.requires", breaks, breaks, breaks, requires),
	})
}

// elsewhere are the keys that are compared by code of their own, and the version, which
// is not a change but what excuses one.
func elsewhere() []string {
	return []string{
		"result.max_list.at", "result.max_list.over", // with result.max_list
		"version", "result.schema", "result.adapter.schema", "result.text_fields", "result.checks", "result.agent_fields", "arguments.schema",
	}
}

func single(at string, changed weigh, of func(*Contract) string) setting {
	return setting{at: at, changed: changed, values: func(c *Contract) map[string]string {
		return map[string]string{"": of(c)}
	}}
}

func list(at string, added, removed weigh, of func(*Contract) []string) setting {
	return setting{at: at, added: added, removed: removed, changed: harmless, values: func(c *Contract) map[string]string {
		return entriesOf(of(c))
	}}
}

func entriesOf(list []string) map[string]string {
	m := make(map[string]string, len(list))
	for _, s := range list {
		m[s] = s
	}
	return m
}

func mapping(at string, added, removed, changed weigh, of func(*Contract) map[string]string) setting {
	return setting{at: at, added: added, removed: removed, changed: changed, values: of}
}

func amount(at string, more, fewer weigh, unit func(int) string, of func(*Contract) int) setting {
	return setting{at: at, more: more, fewer: fewer, unit: unit, amount: of}
}

// limit is a bound of replies: a narrower one always refuses what passed.
func limit(at string, wider weigh, of func(strictjson.Limits) int) setting {
	return amount(at, wider, breaks, strconv.Itoa, func(c *Contract) int { return of(c.Result.Limits) })
}

// settings compares by the table.
func (d *differ) settings() {
	for _, s := range settings() {
		if s.amount != nil {
			d.amounts(s)
		} else {
			d.values(s)
		}
	}
}

// amounts compares numbers. A part that only one side has at all (retry, receipt,
// arguments) has the number notThere, and is reported as a whole.
func (d *differ) amounts(s setting) {
	old, now := s.amount(d.old), s.amount(d.new)
	c := Change{At: s.at, Kind: noun(s.at) + "-widened", Class: s.more(d), Detail: "more is allowed than before"}
	switch {
	case old == now, old == notThere, now == notThere:
		return
	case now < old:
		c.Kind, c.Class, c.Detail = noun(s.at)+"-narrowed", s.fewer(d), "less is allowed than before"
	}
	c.Old, c.New = s.unit(old), s.unit(now)
	d.add(c)
}

// values compares maps.
func (d *differ) values(s setting) {
	old, now := s.values(d.old), s.values(d.new)
	if old == nil || now == nil {
		return
	}
	at := func(key string) string {
		if key == "" {
			return s.at
		}
		return s.at + "[" + key + "]"
	}
	for key, was := range old {
		is, there := now[key]
		switch {
		case !there:
			d.add(Change{Class: s.removed(d), Kind: noun(s.at) + "-removed", At: at(key), Old: was, Detail: "it is gone"})
		case was != is:
			d.add(Change{Class: s.changed(d), Kind: noun(s.at) + "-changed", At: at(key), Old: was, New: is, Detail: "another value than before"})
		}
	}
	for key, is := range now {
		if _, there := old[key]; !there {
			d.add(Change{Class: s.added(d), Kind: noun(s.at) + "-added", At: at(key), New: is, Detail: "it is new"})
		}
	}
}

// noun is the noun of a change's kind: the last part of its key, in the singular
// where the key is a list.
func noun(at string) string {
	word := at[strings.LastIndexByte(at, '.')+1:]
	switch word {
	case "aliases":
		return "alias"
	case "scopes", "media_types", "failure_codes", "trusted_sources", "trusted_callers", "fields", "exit_codes":
		word = word[:len(word)-1]
	case "on":
		word = "retry-on"
	case "http_status":
		word = "not-found"
	case "requires":
		word = "requirement"
	}
	return strings.ReplaceAll(word, "_", "-")
}

// notThere is the amount of a key in a part that the contract does not have.
const notThere = -1

func retried(of func(*Retry) int) func(*Contract) int {
	return func(c *Contract) int {
		if c.Retry == nil {
			return notThere
		}
		return of(c.Retry)
	}
}

func attestedFor(c *Contract) int {
	if c.Receipt == nil {
		return notThere
	}
	return int(c.Receipt.TTL)
}

func attested(of func(*Receipt) bool) func(*Contract) map[string]string {
	return func(c *Contract) map[string]string {
		if c.Receipt == nil {
			return nil
		}
		return presence(of(c.Receipt))
	}
}

func argued(of func(*Arguments) string) func(*Contract) string {
	return func(c *Contract) string {
		if c.Arguments == nil || of(c.Arguments) == "" {
			return c.Tool
		}
		return of(c.Arguments)
	}
}

func allowed(of func(*Arguments) bool) func(*Contract) map[string]string {
	return func(c *Contract) map[string]string {
		if c.Arguments == nil {
			return nil
		}
		return presence(of(c.Arguments))
	}
}

func retriedOn(c *Contract) map[string]string {
	if c.Retry == nil {
		return nil
	}
	return entriesOf(texts(c.Retry.On))
}
