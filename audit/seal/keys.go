package seal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"filippo.io/age"
)

// Bounds of the files that name keys.
const (
	// MaxKeys is the largest number of recipients, or of identities, in a file.
	MaxKeys = 32
	// maxKeyFile bounds such a file in bytes, comments included.
	maxKeyFile = 64 << 10
)

// secretPrefix begins an age identity of any kind, in its usual case.
const secretPrefix = "AGE-SECRET-KEY-"

// Recipients are the public keys that originals are sealed to; each of them opens all.
// They are immutable and safe for concurrent use. The zero value and nil are no
// recipients, and [Recipients.Seal] fails on them.
type Recipients struct{ keys []age.Recipient }

// ParseRecipients reads a file of recipients: one age1… key a line, empty lines and lines
// that begin with # apart; white space around a line, CR included, does not count. Text
// stays the caller's.
//
// It refuses what is no native X25519 recipient (SSH keys, plugins, post-quantum keys), a
// key that stands twice or that nothing can be sealed to, more than [MaxKeys] keys and a
// file without any. A secret key anywhere in it, in a comment too, is refused: it must
// not lie where the service reads. Errors are sentences with the line's number, and
// repeat nothing of the file.
func ParseRecipients(text []byte) (*Recipients, error) {
	if len(text) > maxKeyFile {
		return nil, fmt.Errorf("seal: recipients: the file is larger than %d bytes", maxKeyFile)
	}
	r := &Recipients{}
	seen := make(map[string]bool)
	for n, line := range lines(text) {
		if strings.Contains(strings.ToUpper(line), secretPrefix) {
			return nil, fmt.Errorf("seal: recipients: line %d holds a secret key; the service needs public keys (age1…) only: remove it, and make a new one if others could read this file", n)
		}
		if line == "" || line[0] == '#' {
			continue
		}
		key, why := parseRecipient(line)
		switch {
		case why != "":
			return nil, fmt.Errorf("seal: recipients: line %d %s", n, why)
		case seen[line]:
			return nil, fmt.Errorf("seal: recipients: line %d repeats a recipient", n)
		case len(r.keys) == MaxKeys:
			return nil, fmt.Errorf("seal: recipients: line %d is one too many; at most %d recipients are possible", n, MaxKeys)
		}
		seen[line] = true
		r.keys = append(r.keys, key)
	}
	if len(r.keys) == 0 {
		return nil, errors.New("seal: recipients: the file lists none; write one age1… public key a line")
	}
	return r, nil
}

// parseRecipient returns a recipient, or what is wrong with a line.
func parseRecipient(line string) (key age.Recipient, why string) {
	switch {
	case strings.HasPrefix(line, "age1pq1"), strings.HasPrefix(line, "age1tag"), strings.HasPrefix(line, "ssh-"),
		strings.HasPrefix(line, "age1") && strings.Count(line, "1") > 1: // 1 ends a plugin's name and is no digit of bech32
		return nil, "is a recipient of another kind; only native X25519 recipients (age1… of 62 characters) are possible"
	case !strings.HasPrefix(line, "age1"):
		return nil, "is no recipient; expected age1…, the public key that age-keygen prints"
	}
	k, err := age.ParseX25519Recipient(line)
	if err != nil {
		return nil, "is no valid recipient; it was mistyped or cut"
	}
	// A point of low order parses and refuses to be used: better now than with the first
	// original.
	if _, err := k.Wrap(make([]byte, 16)); err != nil {
		return nil, "is a recipient that nothing can be sealed to"
	}
	return k, ""
}

// lines yields the lines of a text, without the white space around them, by their number
// from 1.
func lines(text []byte) func(func(int, string) bool) {
	return func(yield func(int, string) bool) {
		n := 0
		for line := range bytes.Lines(text) {
			if n++; !yield(n, string(bytes.TrimSpace(line))) {
				return
			}
		}
	}
}

// Identities are the secret keys that open originals. They print nothing of themselves,
// are immutable and safe for concurrent use. The zero value and nil open nothing.
type Identities struct{ keys []age.Identity }

// ParseIdentities reads a file of identities, as age-keygen and [NewIdentity] write them:
// one AGE-SECRET-KEY-1… a line, empty lines and lines that begin with # apart. It refuses
// other kinds of keys, more than [MaxKeys] and a file without any. Errors are sentences
// with the line's number, and repeat nothing of the file.
func ParseIdentities(text []byte) (*Identities, error) {
	if len(text) > maxKeyFile {
		return nil, fmt.Errorf("seal: identities: the file is larger than %d bytes", maxKeyFile)
	}
	ids := &Identities{}
	for n, line := range lines(text) {
		if line == "" || line[0] == '#' {
			continue
		}
		if strings.HasPrefix(line, "age1") {
			return nil, fmt.Errorf("seal: identities: line %d is a public key; originals are opened by the secret key (%s1…) that belongs to it", n, secretPrefix)
		}
		if !strings.HasPrefix(line, secretPrefix+"1") {
			return nil, fmt.Errorf("seal: identities: line %d is no identity; expected %s1…", n, secretPrefix)
		}
		key, err := age.ParseX25519Identity(line)
		if err != nil { // its text may quote the key
			return nil, fmt.Errorf("seal: identities: line %d is no valid identity; it was mistyped or cut", n)
		}
		if len(ids.keys) == MaxKeys {
			return nil, fmt.Errorf("seal: identities: line %d is one too many; at most %d identities are possible", n, MaxKeys)
		}
		ids.keys = append(ids.keys, key)
	}
	if len(ids.keys) == 0 {
		return nil, errors.New("seal: identities: the file holds none; expected a line " + secretPrefix + "1…")
	}
	return ids, nil
}

// Format implements [fmt.Formatter]: whatever the verb, no key is shown.
func (Identities) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "seal.Identities") }

// NewIdentity makes a key pair: identity is the text of a file for [ParseIdentities],
// which an operator keeps apart from the service with mode 0600; recipient is the line
// for the file of recipients. Both end with LF. The error is that of the system's source
// of randomness.
func NewIdentity() (identity, recipient string, err error) {
	key, err := age.GenerateX25519Identity()
	if err != nil {
		return "", "", fmt.Errorf("seal: making an identity: %w", err)
	}
	recipient = key.Recipient().String() + "\n"
	return "# public key: " + recipient + key.String() + "\n", recipient, nil
}
