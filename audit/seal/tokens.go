package seal

// keyForms are how keys of well-known services begin, and how many symbols more such a
// key has at least. They are in the services' public documentation.
var keyForms = []struct {
	prefix string
	rest   int
}{
	{"AKIA", 12},
	{"ASIA", 12},
	{"ABIA", 12},
	{"ACCA", 12},
	{"AIza", 20},
	{"AGE-SECRET-KEY-", 20},
	{"dop_v1_", 16},
	{"ghp_", 16},
	{"gho_", 16},
	{"ghu_", 16},
	{"ghs_", 16},
	{"ghr_", 16},
	{"github_pat_", 16},
	{"glpat-", 12},
	{"hf_", 20},
	{"npm_", 20},
	{"pypi-", 16},
	{"pk_live_", 12},
	{"rk_live_", 12},
	{"sk_live_", 12},
	{"sk_test_", 12},
	{"sk-", 16},
	{"SG.", 16},
	{"shpat_", 16},
	{"xapp-", 10},
	{"xoxa-", 10},
	{"xoxb-", 10},
	{"xoxe-", 10},
	{"xoxp-", 10},
	{"xoxr-", 10},
	{"xoxs-", 10},
	{"ya29.", 16},
}

// keyFirst says of every symbol whether one of them begins with it.
var keyFirst = func() (first [256]bool) {
	for _, f := range keyForms {
		first[f.prefix[0]] = true
	}
	return first
}()

// inKey reports whether a symbol may stand in base64url and most keys.
func inKey(c byte) bool { return isUpper(c) || isLower(c) || isDigit(c) || c == '-' || c == '_' }

// inToken68 reports whether a symbol may stand in the credentials of RFC 9110, 11.2.
func inToken68(c byte) bool {
	return inKey(c) || c == '.' || c == '~' || c == '+' || c == '/' || c == '='
}

// inRun reports whether a symbol may stand in base64 of both alphabets.
func inRun(c byte) bool { return inKey(c) || c == '+' || c == '/' }

// tokens finds credentials: first what says that it is one, then what only looks random.
// UUIDs are set apart between the two.
func (s *scan) tokens() {
	web := 0 // before here no JWT begins
	for i := 0; i < len(s.sym); i++ {
		if i > 0 && inWord(s.sym[i-1]) {
			continue
		}
		start, end := i, s.key(i)
		if end == 0 {
			start, end = s.credentials(i)
		}
		if end == 0 && i >= web {
			end, web = s.webToken(i)
			start = i
		}
		if end > 0 {
			s.found(start, end, Token)
			i = end - 1
		}
	}
	s.setUUIDsApart()
	for i := 0; i < len(s.sym); i++ {
		if inRun(s.sym[i]) {
			i = s.run(i) - 1
		}
	}
}

// key returns the end of a key of a well-known service that begins at i, or 0.
func (s *scan) key(i int) (end int) {
	if !keyFirst[s.sym[i]] {
		return 0
	}
	for _, f := range keyForms {
		if !s.begins(i, f.prefix) {
			continue
		}
		least := i + len(f.prefix) + f.rest
		j := i + len(f.prefix)
		for j < len(s.sym) && (inKey(s.sym[j]) || (s.sym[j] == '.' && f.prefix == "SG.")) {
			j++
		}
		if j >= least {
			return j
		}
	}
	return 0
}

// Shortest credentials: shorter ones are words.
const (
	minBearer = 6
	minBasic  = 8
)

// credentials returns what follows the name of a scheme at i; end is 0 where nothing
// does. The name itself stays.
func (s *scan) credentials(i int) (start, end int) {
	bearer := s.named(i, "bearer")
	first := i + len("bearer")
	if !bearer {
		if !s.named(i, "basic") {
			return 0, 0
		}
		first = i + len("basic")
	}
	start = first
	for start < len(s.sym) && parts(s.sym[start], bearer) {
		start++
	}
	if start == first { // looking on would read a long row again and again
		return 0, 0
	}
	end = s.token68(start)
	if bearer && end-start >= minBearer || !bearer && end-start >= minBasic && s.encoded(start, end) {
		return start, end
	}
	return 0, 0
}

// parts reports whether a symbol may stand between a scheme and its credentials. What
// may be a part of those too is for Bearer alone, behind which nearly all is one.
func parts(c byte, bearer bool) bool {
	return c == ' ' || c == '\t' || bearer && (c == '+' || c == ':' || c == '=')
}

// named reports whether a name in lower case stands at i, in any case.
func (s *scan) named(i int, name string) bool {
	if len(s.sym)-i < len(name) {
		return false
	}
	for j := range len(name) {
		if s.sym[i+j]|0x20 != name[j] {
			return false
		}
	}
	return true
}

// token68 returns the end of the credentials that begin at i.
func (s *scan) token68(i int) int {
	for i < len(s.sym) && inToken68(s.sym[i]) {
		i++
	}
	return i
}

// encoded reports whether symbols look like base64 rather than like a word: a digit,
// padding, or a capital that does not begin them.
func (s *scan) encoded(start, end int) bool {
	for i := start; i < end; i++ {
		if c := s.sym[i]; isDigit(c) || c == '=' || (isUpper(c) && i > start) {
			return true
		}
	}
	return false
}

// minSegment is the length of the shortest header of a JWT.
const minSegment = 10

// webToken returns the end of a JWT or JWE in compact form (RFC 7515, 7.1) that begins at
// i, or 0; and up to where no other one can begin.
func (s *scan) webToken(i int) (end, next int) {
	if !s.begins(i, "eyJ") {
		return 0, i
	}
	j := i
	for j < len(s.sym) && inKey(s.sym[j]) {
		j++
	}
	if j == len(s.sym) || s.sym[j] != '.' || j-i < minSegment {
		return 0, j
	}
	next = j
	for end = j; j < len(s.sym) && (inKey(s.sym[j]) || s.sym[j] == '.'); j++ {
		if s.sym[j] != '.' {
			end = j + 1
		}
	}
	return end, next
}

// setUUIDsApart marks UUIDs in their form of RFC 9562, section 4, as such.
func (s *scan) setUUIDsApart() {
	const form = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"
	for i := 0; i+len(form) <= len(s.sym); i++ {
		if digit(s.sym[i]) < 0 || (i > 0 && inWord(s.sym[i-1])) {
			continue
		}
		if after := i + len(form); after < len(s.sym) && inWord(s.sym[after]) {
			continue
		}
		fits := true
		for j := range len(form) {
			if c := s.sym[i+j]; (form[j] == '-') != (c == '-') || (c != '-' && digit(c) < 0) {
				fits = false
				break
			}
		}
		if fits {
			s.mark(i, i+len(form), uuid)
			i += len(form) - 1
		}
	}
}

// Bounds of what looks random.
const (
	minRun      = 32 // symbols of a run
	minMixed    = 16 // of them in pieces that no words are
	minSwitches = 3  // from lower to upper case in a piece of letters
)

// run judges the run of base64 that begins at i and returns its end.
func (s *scan) run(i int) int {
	end, mixed := i, 0
	for end < len(s.sym) && inRun(s.sym[end]) {
		piece := end
		for end < len(s.sym) && inKey(s.sym[end]) && s.sym[end] != '-' && s.sym[end] != '_' {
			end++
		}
		if s.isMixed(piece, end) {
			mixed += end - piece
		}
		for end < len(s.sym) && (s.sym[end] == '-' || s.sym[end] == '_' || s.sym[end] == '+' || s.sym[end] == '/') {
			end++
		}
	}
	if end-i < minRun || mixed < minMixed {
		return end
	}
	for n := 0; n < 2 && end < len(s.sym) && s.sym[end] == '='; n++ {
		end++
	}
	s.found(i, end, Token)
	return end
}

// isMixed reports whether letters and digits in a row look random: both together, long
// rows of digits, or cases that change as in no word.
func (s *scan) isMixed(start, end int) bool {
	digits, switches := 0, 0
	for i := start; i < end; i++ {
		if isDigit(s.sym[i]) {
			digits++
		} else if i > start && isUpper(s.sym[i]) && isLower(s.sym[i-1]) {
			switches++
		}
	}
	switch digits {
	case 0:
		return switches >= minSwitches && end-start >= minMixed
	case end - start:
		return digits >= minMixed
	}
	return true
}
