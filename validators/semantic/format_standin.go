package semantic

import (
	"errors"
	"time"
)

// TO BE REMOVED when validators/format is merged: formatDateTime becomes
// format.DateTime, which has this signature.

var errDateTime = errors.New("no RFC 3339 date-time")

// formatDateTime reads an RFC 3339 date-time (section 5.6). A leap second is reported
// with the instant before it.
func formatDateTime(s string) (t time.Time, leap bool, err error) {
	const shape = "0000-00-00T00:00:00"
	if len(s) < len(shape)+1 || len(s) > 64 {
		return t, false, errDateTime
	}
	for i := range len(shape) {
		if digit := s[i] >= '0' && s[i] <= '9'; digit != (shape[i] == '0') || !digit && s[i]|0x20 != shape[i]|0x20 {
			return t, false, errDateTime
		}
	}
	rest := s[len(shape):]
	fraction := ""
	if rest[0] == '.' {
		n := 1
		for n < len(rest) && rest[n] >= '0' && rest[n] <= '9' {
			n++
		}
		if n == 1 || n == len(rest) {
			return t, false, errDateTime
		}
		fraction, rest = rest[:n], rest[n:]
	}
	switch {
	case rest == "Z" || rest == "z":
		rest = "Z"
	case len(rest) == 6 && rest[3] == ':' && rest[1:3] <= "23" && rest[4:] <= "59":
	default:
		return t, false, errDateTime
	}
	body := s[:10] + "T" + s[11:19]
	if leap = body[17:] == "60"; leap {
		body = body[:17] + "59"
	}
	t, err = time.Parse(time.RFC3339Nano, body+fraction+rest)
	if err != nil || leap && t.UTC().Format("15:04:05") != "23:59:59" {
		return time.Time{}, false, errDateTime
	}
	return t, leap, nil
}
