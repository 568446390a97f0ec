package seal

// inLocal reports whether a symbol may stand before the @ of an address. Of RFC 5322's
// atext those are left out that part fields in URLs and in code.
func inLocal(c byte) bool {
	switch c {
	case '.', '_', '%', '+', '-', '\'', '~', '!', '$', '*', '^', '`':
		return true
	}
	return isAlpha(c) || isDigit(c)
}

func inHost(c byte) bool { return isAlpha(c) || isDigit(c) || c == '-' || c == '.' }

// emails finds e-mail addresses. Each symbol is looked at once as a part of a local part
// and once as a part of a host.
func (s *scan) emails() {
	local := 0 // where the local part of an @ here would begin
	for i := 0; i < len(s.sym); i++ {
		switch c := s.sym[i]; {
		case c == '@':
			start, end := local, s.host(i+1)
			for start < i && (s.sym[start] == '\'' || s.sym[start] == '`') {
				start++ // an opening quote
			}
			local = i + 1
			if start < i && end > 0 {
				s.found(start, end, Email)
				i, local = end-1, end
			}
		case !inLocal(c):
			local = i + 1
		}
	}
}

// host returns the end of the host name that begins at i, or 0 where none does: at least
// two labels, the last of which begins with a letter.
func (s *scan) host(i int) (end int) {
	dotted := false
	for j := i; j < len(s.sym) && inHost(s.sym[j]); j++ {
		switch c := s.sym[j]; {
		case c == '.':
			dotted = false
		case j > i+1 && s.sym[j-1] == '.':
			dotted = isAlpha(c)
		}
		if dotted && s.sym[j] != '-' && s.sym[j] != '.' {
			end = j + 1
		}
	}
	return end
}

// phones finds phone numbers: runs of groups of digits, judged as a whole.
func (s *scan) phones() {
	for i := 0; i < len(s.sym); i++ {
		if !isDigit(s.sym[i]) {
			continue
		}
		end := s.runOfDigits(i)
		s.phone(i, end)
		i = end - 1
	}
}

// maxSeparators is how many symbols may part two groups: "+49 (0) 170".
const maxSeparators = 3

// inGap reports whether a symbol may part two groups of digits.
func inGap(c byte) bool {
	return c == ' ' || c == '-' || c == '.' || c == '/' || c == '(' || c == ')'
}

// runOfDigits returns the end of the groups of digits that begin at i.
func (s *scan) runOfDigits(i int) int {
	end := i + 1
	for j := end; j < len(s.sym) && j-end <= maxSeparators; j++ {
		if isDigit(s.sym[j]) {
			end = j + 1
		} else if !inGap(s.sym[j]) {
			break
		}
	}
	return end
}

// phone judges one run. Groups that a word continues, and dates before the others, are
// taken off first.
func (s *scan) phone(start, end int) {
	plus := start > 0 && s.sym[start-1] == '+'
	if start > 0 && inWord(s.sym[start-1]) {
		start = s.nextGroup(start, end)
	}
	if end < len(s.sym) && inWord(s.sym[end]) {
		for end > start && isDigit(s.sym[end-1]) {
			end--
		}
		for end > start && !isDigit(s.sym[end-1]) {
			end--
		}
	}
	for !plus && s.isDate(start, end) {
		start = s.nextGroup(start+len("2026-01-15")-1, end)
	}
	digits, gaps := 0, 0
	for i := start; i < end; i++ {
		if isDigit(s.sym[i]) {
			digits++
		} else if isDigit(s.sym[i-1]) {
			gaps++
		}
	}
	switch {
	case plus && digits >= 7,
		gaps == 0 && digits >= 9 && digits <= 15,
		gaps > 0 && digits >= 7 && !s.isFraction(start, end) && !s.isIPv4(start, end):
		if plus {
			start--
		}
		s.found(start, end, Phone)
	}
}

// nextGroup returns the beginning of the group after the one at i, or end.
func (s *scan) nextGroup(i, end int) int {
	for i < end && isDigit(s.sym[i]) {
		i++
	}
	for i < end && !isDigit(s.sym[i]) {
		i++
	}
	return i
}

// isDate reports whether a run begins with a date of ISO 8601, of hyphens or slashes.
func (s *scan) isDate(start, end int) bool {
	const form = "dddd-dd-dd"
	if end-start < len(form) || (end-start > len(form) && isDigit(s.sym[start+len(form)])) {
		return false
	}
	d := s.sym[start:]
	for i := range len(form) {
		if (form[i] == 'd') != isDigit(d[i]) {
			return false
		}
	}
	month, day := (d[5]-'0')*10+d[6]-'0', (d[8]-'0')*10+d[9]-'0'
	return d[4] == d[7] && (d[4] == '-' || d[4] == '/') && month >= 1 && month <= 12 && day >= 1 && day <= 31
}

// isFraction reports whether a run is a decimal number with one point.
func (s *scan) isFraction(start, end int) bool {
	points := 0
	for i := start; i < end; i++ {
		if c := s.sym[i]; c == '.' {
			points++
		} else if !isDigit(c) {
			return false
		}
	}
	return points == 1 && (s.sym[start] != '0' || s.sym[start+1] == '.')
}

// isIPv4 reports whether a run is four groups of up to three digits, parted by points.
func (s *scan) isIPv4(start, end int) bool {
	points, digits := 0, 0
	for i := start; i < end; i++ {
		switch c := s.sym[i]; {
		case isDigit(c):
			digits++
		case c == '.' && digits > 0:
			points, digits = points+1, 0
		default:
			return false
		}
		if digits > 3 {
			return false
		}
	}
	return points == 3
}
