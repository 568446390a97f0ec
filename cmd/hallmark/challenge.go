package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"

	"github.com/hallmark-gate/hallmark/internal/base64url"
	"github.com/hallmark-gate/hallmark/receipt"
	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// showChallenge prints all of a challenge for the person who is to answer it.
func showChallenge(w io.Writer, c receipt.Challenge, now time.Time) error {
	arguments, err := strictjson.Parse(c.Arguments, strictjson.Ceilings())
	if err != nil {
		return fmt.Errorf("the arguments of the challenge cannot be shown, so do not approve it: %w", err)
	}
	b := &strings.Builder{}
	member := func(name, value string) {
		if value == "" {
			value = "(none)"
		}
		fmt.Fprintf(b, "%-10s %s\n", name, cell(value))
	}
	member("service", c.Issuer)
	member("tenant", c.Tenant)
	member("session", c.Session)
	member("caller", c.Caller)
	member("principal", c.Principal)
	member("tool", fmt.Sprintf("%s v%d", c.Tool, c.Version))
	b.WriteString("arguments\n  ")
	writeValue(b, arguments, "  ")
	b.WriteString("\n")
	switch {
	case len(c.Disclosed) > 0:
	case c.Session == "":
		member("seen", "unknown: the call has no session, so nobody knows what came before it")
	default:
		member("seen", "nothing: no tool has delivered anything to the session")
	}
	for i, s := range c.Disclosed {
		name := "seen"
		if i > 0 {
			name = ""
		}
		member(name, s.Tool+" ("+s.Trust+")")
	}
	member("issued", moment(c.IssuedAt))
	member("expires", fmt.Sprintf("%s, in %s", moment(c.Expires), c.Expires.Sub(now).Round(time.Second)))
	member("challenge", c.ID)
	_, err = io.WriteString(w, b.String())
	return err
}

// writeValue writes a value over several lines, which begin with indent but for the
// first. Nothing of it can move the cursor, hide, or pass for the writing around it.
func writeValue(b *strings.Builder, v strictjson.Value, indent string) {
	const step = "  "
	switch v.Kind() {
	case strictjson.Object:
		if v.Len() == 0 {
			b.WriteString("{}")
			return
		}
		comma := "{\n"
		for name, m := range v.Members() {
			b.WriteString(comma + indent + step + quoted(name) + ": ")
			writeValue(b, m, indent+step)
			comma = ",\n"
		}
		b.WriteString("\n" + indent + "}")
	case strictjson.Array:
		if v.Len() == 0 {
			b.WriteString("[]")
			return
		}
		comma := "[\n"
		for _, e := range v.Elements() {
			b.WriteString(comma + indent + step)
			writeValue(b, e, indent+step)
			comma = ",\n"
		}
		b.WriteString("\n" + indent + "]")
	case strictjson.String:
		b.WriteString(quoted(v.Text()))
	default:
		b.Write(strictjson.AppendJSON(nil, v)) // a number, true, false or null
	}
}

// maxMarks is how many marks may stand on one letter. More draw over the lines above.
const maxMarks = 3

// quoted writes a string between quotes, so that it has one reading: what is hidden, and
// marks that stand on nothing or in heaps, as \u{XXXX}; quotes and backslashes escaped, so
// that none of this can be written by the string itself.
func quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	marks := maxMarks // a first mark would stand on the quote
	for _, r := range s {
		if unicode.Is(unicode.M, r) {
			marks++
		} else {
			marks = 0
		}
		switch {
		case r == '"' || r == '\\':
			b.WriteRune('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case marks > maxMarks || hidden(r):
			fmt.Fprintf(&b, `\u{%04X}`, r)
			marks = maxMarks
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

var errNoChallenge = errors.New("this is not a challenge; give one as hallmark authorize prints it")

// readChallenge reads a challenge that nobody verifies. It takes no more than what it can
// show, and says nothing of what it refuses.
func readChallenge(token string) (receipt.Challenge, error) {
	var c receipt.Challenge
	header, claims, err := openToken(token)
	if err != nil || header.Member("typ").Text() != receipt.ChallengeKind.Type() {
		return c, errNoChallenge
	}
	texts := map[string]*string{
		"iss": &c.Issuer, "jti": &c.ID, "ten": &c.Tenant, "sid": &c.Session, "sub": &c.Caller,
		"principal": &c.Principal, "tool": &c.Tool,
	}
	for name, v := range claims.Members() {
		ok := true
		switch name {
		case "iat":
			c.IssuedAt, ok = dateOf(v)
		case "exp":
			c.Expires, ok = dateOf(v)
		case "ver":
			var n int64
			n, ok = v.Decimal().Int64()
			c.Version, ok = uint32(n), ok && n > 0 && n < 1<<32
		case "args":
			c.Arguments = strictjson.AppendJSON(nil, v)
		case "disclosed":
			c.Disclosed, ok = sourcesOf(v)
		default:
			var to *string
			if to, ok = texts[name]; ok && v.Kind() == strictjson.String {
				*to = v.Text()
			} else {
				ok = false
			}
		}
		if !ok {
			return receipt.Challenge{}, errNoChallenge
		}
	}
	if c.Issuer == "" || c.ID == "" || c.Tool == "" || c.Version == 0 || c.Arguments == nil ||
		c.IssuedAt.IsZero() || c.Expires.IsZero() {
		return receipt.Challenge{}, errNoChallenge
	}
	return c, nil
}

// openToken decodes header and claims of a compact JWS without any check of who made it.
func openToken(token string) (header, claims strictjson.Value, err error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return header, claims, errNoChallenge
	}
	for i, to := range []*strictjson.Value{&header, &claims} {
		raw, ok := base64url.Decode(parts[i])
		if !ok {
			return header, claims, errNoChallenge
		}
		if *to, err = strictjson.Parse(raw, strictjson.Ceilings()); err != nil || to.Kind() != strictjson.Object {
			return header, claims, errNoChallenge
		}
	}
	return header, claims, nil
}

// dateOf reads a NumericDate in whole seconds.
func dateOf(v strictjson.Value) (time.Time, bool) {
	const last = 253402300799 // of the year 9999
	if v.Kind() != strictjson.Number {
		return time.Time{}, false
	}
	s, ok := v.Decimal().Int64()
	return time.Unix(s, 0).UTC(), ok && s > 0 && s <= last
}

func sourcesOf(v strictjson.Value) ([]receipt.Source, bool) {
	var out []receipt.Source
	if v.Kind() != strictjson.Array {
		return nil, false
	}
	for _, e := range v.Elements() {
		tool, trust := e.Member("tool"), e.Member("trust")
		if e.Kind() != strictjson.Object || e.Len() != 2 || tool.Kind() != strictjson.String || trust.Kind() != strictjson.String {
			return nil, false
		}
		out = append(out, receipt.Source{Tool: tool.Text(), Trust: trust.Text()})
	}
	return out, true
}
