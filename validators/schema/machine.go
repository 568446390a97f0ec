package schema

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// machine is a pattern as a table: for each set of places in the pattern's program that
// some way through a text can lead to, the set that follows for each class of characters.
// It reads a text once, from left to right, and holds one state. It says what RE2 says,
// and only patterns whose table is small have one.
type machine struct {
	low    [utf8.RuneSelf]uint8 // classes of ASCII
	above  []rune               // where a class begins, from utf8.RuneSelf on
	high   []uint8              // the classes that begin there
	next   []uint16             // by state, which is the index of its row, and class
	end    uint16               // the class of the end of the text
	accept uint16               // the state from which everything matches; from 0 nothing does
	first  uint16
}

// Bounds of a table and of the work to make it, which is done when a schema is compiled.
const (
	maxTable   = 4096    // entries
	maxClasses = 64      // of characters
	maxEdges   = 4096    // where a set of them begins or ends
	maxVisits  = 1 << 14 // of an instruction of the program, or of a set at one edge
)

func (m *machine) match(s string) bool {
	at := m.first
	for i := 0; i < len(s) && at != 0 && at != m.accept; {
		class := uint8(0)
		if c := s[i]; c < utf8.RuneSelf {
			class = m.low[c]
			i++
		} else { // a byte that is not UTF-8 is U+FFFD, as in package regexp
			r, size := utf8.DecodeRuneInString(s[i:])
			k, begins := slices.BinarySearch(m.above, r)
			if !begins {
				k--
			}
			class = m.high[k]
			i += size
		}
		at = m.next[at+uint16(class)]
	}
	return m.next[at+m.end] == m.accept
}

// newMachine makes the table of a program, or returns nil where it would be too large or
// where the program asks for more than the ends of the text: for lines, words or folding.
func newMachine(p *syntax.Prog) *machine {
	b := newTabler(p)
	if !b.classes() || !b.table() {
		return nil
	}
	return b.m
}

func newTabler(p *syntax.Prog) *tabler {
	return &tabler{prog: p, m: &machine{}, rows: make(map[string]uint16), seen: make([]int, len(p.Inst))}
}

// tabler makes one table.
type tabler struct {
	prog    *syntax.Prog
	m       *machine
	samples []rune // a character of each class
	rows    map[string]uint16
	todo    []places
	seen    []int // the closure in which an instruction was last met
	turn    int
	visits  int
}

// places is a set of instructions, sorted.
type places struct {
	at    []uint32
	begin bool // no character has been read
}

// classes divides all characters into those that every instruction treats alike.
func (b *tabler) classes() bool {
	edges := []rune{0, utf8.RuneSelf}
	var sets []*syntax.Inst // of characters, each once
	known := make(map[string]bool)
	for i := range b.prog.Inst {
		in := &b.prog.Inst[i]
		switch in.Op {
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(in.Arg)&^(syntax.EmptyBeginText|syntax.EmptyEndText) != 0 {
				return false
			}
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			if folds(in) || (len(in.Rune) == 1 && utf16.IsSurrogate(in.Rune[0])) {
				return false // half of a pair at the beginning is U+FFFD for package regexp
			}
			if key := setKey(in.Rune); !known[key] {
				known[key] = true
				sets = append(sets, in)
				edges = append(edges, edgesOf(in.Rune)...)
			}
		}
		if b.visits++; len(edges) > maxEdges || !b.small() {
			return false
		}
	}
	slices.Sort(edges)
	edges = slices.Compact(edges)
	if len(edges)*len(sets) > maxVisits-b.visits {
		return false
	}
	b.visits += len(edges) * len(sets)
	numbers := make(map[string]uint8) // of classes, by which sets hold them
	for _, from := range edges {
		held := make([]byte, len(sets))
		for k, in := range sets {
			if in.MatchRune(from) {
				held[k] = 1
			}
		}
		class, ok := numbers[string(held)]
		if !ok {
			class = uint8(len(numbers))
			numbers[string(held)] = class
			b.samples = append(b.samples, from)
		}
		if len(numbers) > maxClasses {
			return false
		}
		for r := from; r < utf8.RuneSelf; r++ {
			b.m.low[r] = class
		}
		if last := len(b.m.high) - 1; from >= utf8.RuneSelf && (last < 0 || b.m.high[last] != class) {
			b.m.above = append(b.m.above, from)
			b.m.high = append(b.m.high, class)
		}
	}
	b.m.end = uint16(len(numbers))
	return true
}

// folds reports whether an instruction stands for the other cases of its character too.
func folds(in *syntax.Inst) bool {
	return in.Op == syntax.InstRune && syntax.Flags(in.Arg)&syntax.FoldCase != 0
}

// setKey tells sets apart; as a string of characters, halves of pairs would be all one.
func setKey(set []rune) string {
	var key []byte
	for _, r := range set {
		key = binary.AppendVarint(key, int64(r))
	}
	return string(key)
}

// edgesOf returns where a set of characters begins and where it has ended.
func edgesOf(set []rune) []rune {
	if len(set) == 1 {
		set = []rune{set[0], set[0]}
	}
	edges := slices.Clone(set)
	for i := 1; i < len(edges); i += 2 {
		edges[i] = min(edges[i]+1, utf8.MaxRune) // there is nothing behind the last
	}
	return edges
}

// table makes the rows, of which the first is that of no match and the second that of
// one, whatever follows.
func (b *tabler) table() bool {
	m, width := b.m, int(b.m.end)+1
	m.accept = uint16(width)
	m.next = make([]uint16, 2*width)
	for class := range width {
		m.next[width+class] = m.accept
	}
	m.first = b.state(places{b.closure(nil, b.prog.Start, syntax.EmptyBeginText), true})
	for len(b.todo) > 0 {
		from := b.todo[0]
		b.todo = b.todo[1:]
		row := b.rows[from.key()]
		for class, sample := range b.samples {
			m.next[int(row)+class] = b.state(places{b.after(from, sample), false})
		}
		if b.matchesAtEnd(from) {
			m.next[row+m.end] = m.accept
		}
		if !b.small() {
			return false
		}
	}
	return b.small()
}

// small reports whether all was done within the bounds; else nothing of it counts.
func (b *tabler) small() bool { return len(b.m.next) <= maxTable && b.visits <= maxVisits }

// state returns the row of a set and makes it where it is new.
func (b *tabler) state(p places) uint16 {
	if len(p.at) == 0 {
		return 0
	}
	for _, pc := range p.at {
		if b.prog.Inst[pc].Op == syntax.InstMatch {
			return b.m.accept
		}
	}
	key := p.key()
	row, ok := b.rows[key]
	if !ok && b.small() {
		row = uint16(len(b.m.next))
		b.rows[key] = row
		b.m.next = append(b.m.next, make([]uint16, int(b.m.end)+1)...)
		b.todo = append(b.todo, p)
	}
	return row
}

// key tells sets apart.
func (p places) key() string {
	key := []byte{0}
	if p.begin {
		key[0] = 1
	}
	for _, pc := range p.at {
		key = binary.AppendUvarint(key, uint64(pc))
	}
	return string(key)
}

// after returns where a character leads from a set; a match may also begin behind it.
func (b *tabler) after(p places, r rune) []uint32 {
	b.turn++
	var out []uint32
	for _, pc := range p.at {
		if in := &b.prog.Inst[pc]; in.Op != syntax.InstEmptyWidth && in.MatchRune(r) {
			out = b.walk(out, in.Out, 0)
		}
	}
	out = b.walk(out, uint32(b.prog.Start), 0)
	slices.Sort(out)
	return out
}

// closure returns the instructions that wait for something, reached from one without
// reading, where the given conditions hold.
func (b *tabler) closure(out []uint32, from int, holds syntax.EmptyOp) []uint32 {
	b.turn++
	out = b.walk(out, uint32(from), holds)
	slices.Sort(out)
	return out
}

// walk adds what can be reached from an instruction without reading, each once a turn.
func (b *tabler) walk(out []uint32, from uint32, holds syntax.EmptyOp) []uint32 {
	stack := []uint32{from}
	for len(stack) > 0 && b.visits <= maxVisits {
		pc := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if b.seen[pc] == b.turn {
			continue
		}
		b.seen[pc] = b.turn
		b.visits++
		switch in := &b.prog.Inst[pc]; in.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			stack = append(stack, in.Out, in.Arg)
		case syntax.InstCapture, syntax.InstNop:
			stack = append(stack, in.Out)
		case syntax.InstEmptyWidth:
			switch missing := syntax.EmptyOp(in.Arg) &^ holds; {
			case missing == 0:
				stack = append(stack, in.Out)
			case missing&syntax.EmptyBeginText == 0: // the end may follow, the beginning will not
				out = append(out, pc)
			}
		case syntax.InstFail:
		default:
			out = append(out, pc)
		}
	}
	return out
}

// matchesAtEnd reports whether a set leads to a match where the text ends.
func (b *tabler) matchesAtEnd(p places) bool {
	holds := syntax.EmptyEndText
	if p.begin {
		holds |= syntax.EmptyBeginText
	}
	b.turn++
	var out []uint32
	for _, pc := range p.at {
		if b.prog.Inst[pc].Op == syntax.InstEmptyWidth {
			out = b.walk(out, pc, holds)
		}
	}
	return slices.ContainsFunc(out, func(pc uint32) bool { return b.prog.Inst[pc].Op == syntax.InstMatch })
}
