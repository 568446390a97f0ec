package notice

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// SignatureHeader is the name of the header that holds the signature.
const SignatureHeader = "Hallmark-Signature"

// MinSecret is the smallest size of a shared secret in bytes.
const MinSecret = 16

// Bounds of a signature header: its bytes, and how many signatures it may hold.
const (
	maxHeader     = 1024
	maxSignatures = 4
)

// Errors of [Verify], to be told apart with errors.Is.
var (
	// ErrSignature says that the header is malformed or was not made over this body with
	// this secret.
	ErrSignature = errors.New("notice: the signature does not fit")
	// ErrTooOld says that the signature is genuine and its time outside the tolerance.
	ErrTooOld = errors.New("notice: the signature is too old, or of the future")
)

// sign returns the header's value for a body that is sent at now.
func sign(secret, body []byte, now time.Time) string {
	t := strconv.FormatInt(now.Unix(), 10)
	return fmt.Sprintf("t=%s,v1=%s", t, hex.EncodeToString(mac(secret, t, body)))
}

func mac(secret []byte, t string, body []byte) []byte {
	m := hmac.New(sha256.New, secret)
	m.Write([]byte(t))
	m.Write([]byte{'.'})
	m.Write(body)
	return m.Sum(nil)
}

// Verify is for receivers: it returns nil where header is the value of [SignatureHeader]
// for exactly these bytes under secret, and its time is at most tolerance away from now.
// Five minutes are a usual tolerance; 0 or less means that. A header may hold several
// signatures, so that a secret can be changed; members of schemes other than v1 do not
// count. A secret shorter than [MinSecret] fits nothing.
func Verify(secret []byte, header string, body []byte, now time.Time, tolerance time.Duration) error {
	if len(secret) < MinSecret || len(header) > maxHeader {
		return ErrSignature
	}
	t, signatures := "", 0
	fits := false
	var found [][]byte
	for member := range strings.SplitSeq(header, ",") {
		name, value, _ := strings.Cut(member, "=")
		switch name {
		case "t":
			if t != "" {
				return ErrSignature
			}
			t = value
		case "v1":
			sum, err := hex.DecodeString(value)
			if signatures++; err != nil || signatures > maxSignatures {
				return ErrSignature
			}
			found = append(found, sum)
		}
	}
	at, err := strconv.ParseInt(t, 10, 64)
	if err != nil {
		return ErrSignature
	}
	want := mac(secret, t, body)
	for _, sum := range found {
		fits = hmac.Equal(sum, want) || fits
	}
	if !fits {
		return ErrSignature
	}
	if tolerance <= 0 {
		tolerance = 5 * time.Minute
	}
	// Compared in seconds: the difference of far times does not fit into a Duration.
	if s := now.Unix(); at < s-int64(tolerance/time.Second) || at > s+int64(tolerance/time.Second) {
		return ErrTooOld
	}
	return nil
}
