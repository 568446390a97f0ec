package format

// Classes of bytes that several grammars share. All are ASCII; a byte of a
// multi-byte character is in none of them.

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isAlpha(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isHex(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }

func isLetDig(c byte) bool { return isAlpha(c) || isDigit(c) }

func indexByte(s string, c byte) int {
	for i := range len(s) {
		if s[i] == c {
			return i
		}
	}
	return -1
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// pctEncoded reports whether s has "%" HEXDIG HEXDIG at i.
func pctEncoded(s string, i int) bool {
	return len(s)-i >= 3 && s[i] == '%' && isHex(s[i+1]) && isHex(s[i+2])
}
