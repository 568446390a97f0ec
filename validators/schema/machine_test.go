package schema

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// patternTable has patterns of every kind, and whether they are run as a table.
var patternTable = []struct {
	line, expr string
	table      bool
}{
	{"a bounded class", `^[a-z0-9_-]{1,64}$`, true},
	{"a literal and a class", `^run_[0-9]+$`, true},
	{"two classes", `^[a-z0-9][a-z0-9-]{2,62}$`, true},
	{"classes that overlap", `^[a-c]{2,5}[b-d]{2,5}$`, true},
	{"a group that repeats", `^(/[^/\x00-\x1f]{1,255})+$`, true},
	{"alternatives", `^(?:approved|rejected|re|)$`, true},
	{"no anchor", `ab+c`, true},
	{"one anchor", `^ab`, true},
	{"the other anchor", `ab$`, true},
	{"anchors in alternatives", `^a|b$`, true},
	{"anchors that cannot hold", `a^b|c$d|^^a$$`, true},
	{"anchors the wrong way round", `$^`, true},
	{"the empty pattern", ``, true},
	{"the empty text", `^$`, true},
	{"nothing", `[^\x00-\x{10ffff}]`, true},
	{"anything", `(?s)^.{2,3}$`, true},
	{"no line feed", `^.*$`, true},
	{"lazy", `^a.*?b$`, true},
	{"beyond ASCII", `^[а-яé-ü]{1,3}$`, true},
	{"the last character", `^[\x{10fffe}-\x{10ffff}]$`, true},
	{"the character that stands for bad bytes", `^\x{fffd}a?$`, true},
	{"halves of pairs, which no text has", `^[a\x{d800}-\x{d801}]?[a\x{fffd}]b?$`, true},
	{"a half of a pair alone", `^\x{d800}a?$`, false},
	{"a letter of any alphabet", `^\p{L}[\p{L}\p{N} ]{0,40}$`, true},
	{"folded classes", `(?i)^[a-k]+[0-9s]$`, true},
	{"a folded literal", `(?i)^kelvin$`, false},
	{"lines", `(?m)^a$`, false},
	{"words", `\ba\b`, false},
	{"too many states", `^(a?){100}[ab]{100}b{100}$`, false},
	{"too many choices", `[ab]*a[ab]{14}$`, false},
	{"too long", `^(\p{L}{1,99}-){9}[0-9]{99}$`, false},
}

func mustPattern(t testing.TB, expr string) (*pattern, *regexp.Regexp) {
	t.Helper()
	p, err := compilePattern(expr)
	if err != nil {
		t.Fatalf("%q: %v", expr, err)
	}
	return p.(*pattern), regexp.MustCompile(expr)
}

// texts are all of up to four of these characters.
func texts() []string {
	characters := []string{"a", "b", "c", "0", "-", "\n", "é", "Я", "\u212a", "\U0010ffff", "\xff", "\xc3"}
	all, last := []string{""}, []string{""}
	for range 3 {
		var longer []string
		for _, s := range last {
			for _, c := range characters {
				longer = append(longer, s+c)
			}
		}
		all, last = append(all, longer...), longer
	}
	return all
}

func TestPatternsAreThoseOfRE2(t *testing.T) {
	all := texts()
	for _, row := range patternTable {
		t.Run(row.line, func(t *testing.T) {
			ours, theirs := mustPattern(t, row.expr)
			if (ours.machine != nil) != row.table {
				t.Errorf("a table: %v, want %v", ours.machine != nil, row.table)
			}
			if ours.String() != row.expr {
				t.Errorf("it calls itself %q", ours)
			}
			for _, s := range all {
				if ours.MatchString(s) != theirs.MatchString(s) {
					t.Fatalf("%q: %v, regexp says %v", s, ours.MatchString(s), theirs.MatchString(s))
				}
			}
			agreeOnWalks(t, ours, theirs, 300)
		})
	}
}

// agreeOnWalks compares texts that the table follows as far as it can, so that they match
// or come near it; and what becomes of them by one change.
func agreeOnWalks(t *testing.T, ours *pattern, theirs *regexp.Regexp, n int) {
	t.Helper()
	matched := 0
	for seed := range uint64(n) {
		r := rand.New(rand.NewPCG(seed, 11))
		s := walk(r, ours.machine)
		for try := range 4 {
			if ours.MatchString(s) != theirs.MatchString(s) {
				t.Fatalf("%q on %q: %v, regexp says %v", ours, s, ours.MatchString(s), theirs.MatchString(s))
			}
			if theirs.MatchString(s) {
				matched++
			}
			at := r.IntN(len(s) + 1)
			switch rest := s[at:]; try {
			case 0:
				s = s[:at] + string(rune(r.IntN(0x250))) + rest
			case 1:
				s = s[:at]
			case 2:
				s += s
			}
		}
	}
	if ours.machine != nil && n > 100 && matched == 0 && !strings.Contains(ours.expr, "10ffff") && ours.expr != "$^" {
		t.Errorf("%q: no text matched", ours)
	}
}

// walk makes a text of up to 300 characters by which the machine is not refused, for as
// long as there is one.
func walk(r *rand.Rand, m *machine) string {
	var out []byte
	if m == nil {
		for range r.IntN(300) {
			out = append(out, "ab0 -_\n"[r.IntN(7)])
		}
		return string(out)
	}
	characters := make([][]rune, m.end)
	for c, class := range m.low {
		characters[class] = append(characters[class], rune(c))
	}
	for k, from := range m.above {
		characters[m.high[k]] = append(characters[m.high[k]], from)
	}
	at := m.first
	for range r.IntN([]int{4, 20, 300}[r.IntN(3)]) {
		var open []int
		for class := range m.end {
			if at != 0 && m.next[at+class] != 0 {
				open = append(open, int(class))
			}
		}
		if len(open) == 0 || (m.next[at+m.end] == m.accept && r.IntN(8) == 0) {
			break
		}
		class := open[r.IntN(len(open))]
		out = utf8.AppendRune(out, characters[class][r.IntN(len(characters[class]))])
		at = m.next[at+uint16(class)]
	}
	return string(out)
}

// Every pattern of the shipped contracts is run as a table, and says what regexp says.
func TestPatternsOfTheContracts(t *testing.T) {
	seen := make(map[string]bool)
	var collect func(v strictjson.Value)
	collect = func(v strictjson.Value) {
		for name, m := range v.Members() {
			if name == "pattern" && m.Kind() == strictjson.String {
				seen[m.Text()] = true
			}
			if name == "patternProperties" {
				for expr := range m.Members() {
					seen[expr] = true
				}
			}
			collect(m)
		}
		for _, e := range v.Elements() {
			collect(e)
		}
	}
	err := fs.WalkDir(os.DirFS("../../contracts"), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".json") {
			var source []byte
			source, err = os.ReadFile("../../contracts/" + path)
			if v, refused := strictjson.Parse(source, strictjson.Ceilings()); refused == nil {
				collect(v)
			}
		}
		return err
	})
	if err != nil || len(seen) < 8 {
		t.Fatalf("%d patterns, %v", len(seen), err)
	}
	for expr := range seen {
		ours, theirs := mustPattern(t, expr)
		if ours.machine == nil {
			t.Errorf("%q has no table", expr)
		}
		agreeOnWalks(t, ours, theirs, 2000)
	}
}

// randomPattern writes a pattern over few characters, so that its parts overlap.
func randomPattern(r *rand.Rand, depth int) string {
	pick := func(options ...string) string { return options[r.IntN(len(options))] }
	var b strings.Builder
	for range 1 + r.IntN(4) {
		switch n := r.IntN(8); {
		case n < 4 || depth == 0:
			b.WriteString(pick("a", "b", "[ab]", "[^a]", ".", "[b-é]", "é", "[^\\x00-\\x7f]", "(?s:.)", "\\pL", "\\x{fffd}", "\\x{d800}", "[\\x{d7ff}-\\x{e000}]"))
		case n < 6:
			fmt.Fprintf(&b, "(%s)", randomPattern(r, depth-1))
		case n == 6:
			fmt.Fprintf(&b, "(?:%s|%s)", randomPattern(r, depth-1), randomPattern(r, depth-1))
		default:
			b.WriteString(pick("^", "$", "\\A", "\\z"))
			continue
		}
		b.WriteString(pick("", "", "", "?", "*", "+", "{2}", "{1,3}", "{0,9}", "*?", "{2,}"))
	}
	return pick("", "^") + b.String() + pick("", "$")
}

func TestRandomPatterns(t *testing.T) {
	all, tables := texts(), 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 5))
		expr := randomPattern(r, 2)
		ours, theirs := mustPattern(t, expr)
		if ours.machine != nil {
			tables++
		}
		for range 150 {
			if s := all[r.IntN(len(all))]; ours.MatchString(s) != theirs.MatchString(s) {
				t.Fatalf("seed %d: %q on %q: regexp says %v", seed, expr, s, theirs.MatchString(s))
			}
		}
		agreeOnWalks(t, ours, theirs, 4)
	}
	if tables < 200 {
		t.Errorf("only %d patterns have a table", tables)
	}
}

// A pattern that the bounds of a table refuse is refused soon, and one that they let pass
// is small.
func TestTablesAreBounded(t *testing.T) {
	var sets strings.Builder
	for i := range 900 {
		fmt.Fprintf(&sets, "|[%c-%c]%d", 0x100+i, 0x2000-i, i)
	}
	for _, expr := range []string{
		`(a?){500}a{500}b`, `(a+a+)+b`, `(?:x{0,900}y{0,99})`, `[ab]*a[ab]{900}`, "z" + sets.String(),
		strings.Repeat(`(?:a|b|c)?`, 300), strings.Repeat(`\pL\pN\pS`, 100), `(` + strings.Repeat("a|", 70_000) + `)`,
		strings.Repeat("()", 20_000) + "a", // refused before anything is found that reads
	} {
		ours, theirs := mustPattern(t, expr)
		for _, s := range []string{"", "ab", "z", "xxyy", "aaab"} {
			if ours.MatchString(s) != theirs.MatchString(s) {
				t.Errorf("%.30q on %q: regexp says %v", expr, s, theirs.MatchString(s))
			}
		}
		parsed, err := syntax.Parse(expr, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		program, err := syntax.Compile(parsed.Simplify())
		if err != nil {
			t.Fatal(err)
		}
		b := newTabler(program)
		made := b.classes() && b.table()
		if b.visits > maxVisits+1 || len(b.m.next) > maxTable+2*maxClasses || len(b.m.above) > maxEdges {
			t.Errorf("%.30q: %d visits, a table of %d, %d edges", expr, b.visits, len(b.m.next), len(b.m.above))
		}
		t.Logf("%.30q: %v, %d visits, a table of %d, %d edges", expr, made, b.visits, len(b.m.next), len(b.m.above))
	}
}

// FuzzPattern: whatever RE2 knows is run as RE2 runs it, on any bytes.
func FuzzPattern(f *testing.F) {
	for _, row := range patternTable {
		for _, s := range []string{"", "ab", "run_12", "é-Я", "a\nb", "\xff"} {
			f.Add(row.expr, s)
		}
	}
	f.Fuzz(func(t *testing.T, expr, s string) {
		if len(expr) > 200 || len(s) > 10_000 {
			return
		}
		theirs, err := regexp.Compile(expr)
		p, refused := compilePattern(expr)
		if (err == nil) != (refused == nil) {
			t.Fatalf("%q: %v, regexp says %v", expr, refused, err)
		}
		if err == nil && p.MatchString(s) != theirs.MatchString(s) {
			t.Fatalf("%q on %q: regexp says %v", expr, s, theirs.MatchString(s))
		}
	})
}
