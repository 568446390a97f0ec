package audit

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// AppendJSON appends the stored form of the record to b and returns the result: the very
// bytes that encoding/json writes of it, without its reflection. The tags of the fields
// stay what defines the form, and tests compare the two. It never fails, keeps nothing of
// b, and r may be read by others meanwhile.
func (r *Record) AppendJSON(b []byte) []byte {
	b = append(b, '{')
	b = appendText(b, `"caller":`, r.Caller)
	b = appendNumber(b, `"contract_version":`, uint64(r.ContractVersion))
	b = appendText(b, `"contract_digest":`, r.ContractDigest)
	b = appendText(b, `"contracts_digest":`, r.ContractsDigest)
	b = appendText(b, `"owner":`, r.Owner)
	b = appendText(b, `"call_id_digest":`, r.CallIDDigest)
	b = appendText(b, `"principal":`, r.Principal)
	b = appendText(b, `"source":`, r.Source)
	b = appendText(b, `"adapter":`, r.Adapter)
	b = appendText(b, `"media_type":`, r.MediaType)
	b = appendText(b, `"upstream_status":`, r.UpstreamStatus)
	b = appendTrue(b, `"reserialized":`, r.Reserialized)
	b = appendNumber(b, `"raw_bytes":`, r.RawBytes)
	b = appendText(b, `"raw_digest":`, r.RawDigest)
	b = appendNumber(b, `"output_bytes":`, r.OutputBytes)
	b = appendTrue(b, `"truncated":`, r.Truncated)
	b = appendTrue(b, `"original_kept":`, r.OriginalKept)
	if r.Rejection != (Rejection{}) {
		b = r.Rejection.appendJSON(appendName(b, `"rejection":`))
	}
	b = appendRejections(b, `"more_rejections":`, r.MoreRejections)
	b = appendReasons(b, `"reasons":`, r.Reasons)
	b = appendTexts(b, `"grant_ids":`, r.GrantIDs)
	b = appendTexts(b, `"evidence_ids":`, r.EvidenceIDs)
	b = appendText(b, `"receipt_id":`, r.ReceiptID)
	b = appendText(b, `"permit_id":`, r.PermitID)
	b = appendSignals(b, `"signals":`, r.Signals)
	b = appendNumber(b, `"attempt":`, uint64(r.Attempt))
	if r.Duration != 0 {
		b = strconv.AppendInt(appendName(b, `"duration_ns":`), int64(r.Duration), 10)
	}
	b = appendText(b, `"approver":`, r.Approver)
	b = appendText(b, `"challenge_id":`, r.ChallengeID)
	b = appendText(b, `"grant_issuer":`, r.GrantIssuer)
	return append(b, '}')
}

// ReadJSON sets ReceiptID to that of a record in its stored form, without reading more of
// it. An error says that it is no JSON object, or that the id is no string; it holds
// nothing of either.
func (n *Newest) ReadJSON(stored string) error {
	if !strings.HasPrefix(strings.TrimLeft(stored, " \t\r\n"), "{") {
		return errors.New("it is no object")
	}
	var found struct {
		ReceiptID string `json:"receipt_id"`
	}
	if err := json.Unmarshal([]byte(stored), &found); err != nil {
		return errors.New("it is no JSON, or the receipt's id is no string")
	}
	n.ReceiptID = found.ReceiptID
	return nil
}

func (r *Rejection) appendJSON(b []byte) []byte {
	b = append(b, '{')
	b = appendText(b, `"layer":`, r.Layer)
	b = appendText(b, `"reason":`, r.Reason)
	b = appendText(b, `"instance_path":`, r.InstancePath)
	b = appendText(b, `"schema_path":`, r.SchemaPath)
	b = appendText(b, `"keyword":`, r.Keyword)
	b = appendText(b, `"check":`, r.Check)
	b = appendText(b, `"detail":`, r.Detail)
	b = appendNumber(b, `"offset":`, r.Offset)
	return append(b, '}')
}

func (r *Reason) appendJSON(b []byte) []byte {
	b = append(b, '{')
	b = appendText(b, `"code":`, r.Code)
	b = appendText(b, `"grant_id":`, r.GrantID)
	b = appendText(b, `"scope":`, r.Scope)
	b = appendText(b, `"argument":`, r.Argument)
	b = appendText(b, `"required_tool":`, r.RequiredTool)
	b = appendText(b, `"keyword":`, r.Keyword)
	return append(b, '}')
}

// appendName begins a member of the object that b ends in.
func appendName(b []byte, name string) []byte {
	if b[len(b)-1] != '{' {
		b = append(b, ',')
	}
	return append(b, name...)
}

// appendText adds a member unless it is the empty string; so do the ones that follow with
// their zero values.
func appendText(b []byte, name, s string) []byte {
	if s == "" {
		return b
	}
	return appendString(appendName(b, name), s)
}

func appendNumber(b []byte, name string, n uint64) []byte {
	if n == 0 {
		return b
	}
	return strconv.AppendUint(appendName(b, name), n, 10)
}

func appendTrue(b []byte, name string, is bool) []byte {
	if !is {
		return b
	}
	return append(appendName(b, name), "true"...)
}

// The lists are written one by one: through a function value b would leave the stack.

func appendRejections(b []byte, name string, list []Rejection) []byte {
	for i := range list {
		b = list[i].appendJSON(appendNext(b, name, i))
	}
	return appendEnd(b, len(list))
}

func appendReasons(b []byte, name string, list []Reason) []byte {
	for i := range list {
		b = list[i].appendJSON(appendNext(b, name, i))
	}
	return appendEnd(b, len(list))
}

func appendTexts(b []byte, name string, list []string) []byte {
	for i, s := range list {
		b = appendString(appendNext(b, name, i), s)
	}
	return appendEnd(b, len(list))
}

// appendNext writes what stands before item i of a list.
func appendNext(b []byte, name string, i int) []byte {
	if i > 0 {
		return append(b, ',')
	}
	return append(appendName(b, name), '[')
}

// appendEnd ends a list of n items; an empty one was never begun.
func appendEnd(b []byte, n int) []byte {
	if n == 0 {
		return b
	}
	return append(b, ']')
}

// appendSignals adds a map by the names in byte order.
func appendSignals(b []byte, name string, signals map[string]uint64) []byte {
	if len(signals) == 0 {
		return b
	}
	b = append(appendName(b, name), '{')
	var room [8]string
	keys := room[:0]
	for key := range signals {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		b = append(appendString(appendName(b, ""), key), ':')
		b = strconv.AppendUint(b, signals[key], 10)
	}
	return append(b, '}')
}

// appendString adds a string with the escapes of encoding/json, those for HTML included.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0 // of what needs no escape
	for i := 0; i < len(s); {
		if plain(s[i]) {
			i++
			continue
		}
		r, width := utf8.DecodeRuneInString(s[i:])
		if escape := escapeOf(r, width); escape != "" {
			b = append(append(b, s[from:i]...), escape...)
			from = i + width
		} else if r < utf8.RuneSelf {
			const hex = "0123456789abcdef"
			b = append(append(b, s[from:i]...), '\\', 'u', '0', '0', hex[r>>4], hex[r&0xf])
			from = i + width
		}
		i += width
	}
	return append(append(b, s[from:]...), '"')
}

// escapeOf is the escape of a rune that has one of its own; "" of the others.
func escapeOf(r rune, width int) string {
	switch r {
	case '"':
		return `\"`
	case '\\':
		return `\\`
	case '\b':
		return `\b`
	case '\f':
		return `\f`
	case '\n':
		return `\n`
	case '\r':
		return `\r`
	case '\t':
		return `\t`
	case '\u2028':
		return `\u2028`
	case '\u2029':
		return `\u2029`
	case utf8.RuneError:
		if width == 1 {
			return `\ufffd`
		}
	}
	return ""
}

// plain reports whether a byte is a character that stands for itself in the stored form:
// ASCII without what is escaped.
func plain(c byte) bool {
	const escaped = 1<<'"' | 1<<'&' | 1<<'<' | 1<<'>' | (1<<' ' - 1)
	if c < 64 {
		return uint64(escaped)>>c&1 == 0
	}
	return c < utf8.RuneSelf && c != '\\'
}

// allPlain reports whether every byte of s is plain.
func allPlain(s string) bool {
	for i := range len(s) {
		if !plain(s[i]) {
			return false
		}
	}
	return true
}
