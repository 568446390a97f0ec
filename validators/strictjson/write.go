package strictjson

import "unicode/utf8"

// AppendJSON appends v in compact form: white space between tokens is left out,
// numbers and strings stand as in the input, byte for byte, except strings whose text
// was replaced, which are written by [AppendString]. Names are written by
// [AppendString]. An absent value appends nothing. Nothing recurses.
func AppendJSON(dst []byte, v Value) []byte {
	if v.d == nil {
		return dst
	}
	d := v.d
	if n := v.node(); n.kind != Object && n.kind != Array {
		return appendScalar(dst, d, n)
	}
	var open []uint32 // containers being written, outermost first
	end := d.nodes[v.i].next
	for i := v.i; i < end; {
		n := &d.nodes[i]
		if len(open) > 0 {
			parent := &d.nodes[open[len(open)-1]]
			if i != open[len(open)-1]+1 {
				dst = append(dst, ',')
			}
			if parent.kind == Object {
				dst = AppendString(dst, d.nameOf(n))
				dst = append(dst, ':')
			}
		}
		switch n.kind {
		case Object, Array:
			dst = append(dst, brackets(n.kind)[0])
			open = append(open, i)
		default:
			dst = appendScalar(dst, d, n)
		}
		i++
		for len(open) > 0 && d.nodes[open[len(open)-1]].next == i {
			dst = append(dst, brackets(d.nodes[open[len(open)-1]].kind)[1])
			open = open[:len(open)-1]
		}
	}
	return dst
}

func appendScalar(dst []byte, d *document, n *node) []byte {
	if n.flags&replaced != 0 {
		return AppendString(dst, d.textOf(n))
	}
	return append(dst, d.src[n.start:n.end]...)
}

func brackets(k Kind) string {
	if k == Object {
		return "{}"
	}
	return "[]"
}

const hexDigits = "0123456789abcdef"

// AppendString appends s as a JSON string with the escapes of RFC 8785 section
// 3.2.2.2: quote, backslash and control characters only. Bytes that are not UTF-8 do
// not occur in text that was parsed; where a caller passes them, each becomes U+FFFD.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	plain := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				dst = append(append(dst, s[plain:i]...), "\uFFFD"...)
				plain = i + 1
			}
			i += size
			continue
		}
		if c >= ' ' && c != '"' && c != '\\' {
			i++
			continue
		}
		dst = append(dst, s[plain:i]...)
		dst = appendEscape(dst, c)
		i++
		plain = i
	}
	dst = append(dst, s[plain:]...)
	return append(dst, '"')
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, '\\', 'b')
	case '\t':
		return append(dst, '\\', 't')
	case '\n':
		return append(dst, '\\', 'n')
	case '\f':
		return append(dst, '\\', 'f')
	case '\r':
		return append(dst, '\\', 'r')
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}
