package text

import (
	"strings"
)

// Budgets of a page beyond its bytes. They stand against what the parser itself
// does not bound: a formatting element that is not closed is made anew, with
// all its attributes, for every block that follows, and a tag with very many
// attributes makes every later tag slow.
const (
	maxNodes = 2_000_000 // elements and texts that parsing could make
	// maxAttributeWork bounds tags times the attributes of the widest: the
	// tokenizer clears a set of that size for every tag.
	maxAttributeWork = 100_000_000
	// maxAttributesPerNode is the number of attributes that need as much memory
	// as a node.
	maxAttributesPerNode = 4
)

// guardMarkup refuses a page that could exceed the budgets. It reads the bytes
// of s without building anything and takes every "<" for a tag, those in
// comments and scripts too, so it only ever counts too much.
func guardMarkup(s string) error {
	g := markupGuard{src: s, work: 16 * len(s)}
	for i := strings.IndexByte(s, '<'); i >= 0; {
		if err := g.tag(i + 1); err != nil {
			return err
		}
		next := strings.IndexByte(s[i+1:], '<')
		if next < 0 {
			break
		}
		i += 1 + next
	}
	switch {
	case g.nodes() > maxNodes:
		return refuse(HTMLLimit, -1, "the page could need more nodes than its budget")
	case g.tags*g.widestTag > maxAttributeWork:
		return refuse(HTMLLimit, -1, "a tag has too many attributes for so many tags")
	}
	return nil
}

type markupGuard struct {
	src  string
	work int // bytes that may still be looked at
	tags int
	// widestTag is the largest number of attributes of any tag.
	widestTag int

	// open counts, by name and attributes, the formatting tags that are not
	// closed right after their text. The parser keeps at most three of a kind.
	open     map[string]int
	openSize int // the nodes of all that are kept
	widest   int // the nodes of the largest of them
	ends     int // end tags of formatting elements, but of those closed at once
}

// nodes bounds the nodes that parsing makes. Each tag makes at most an element
// and a text after it, and all open formatting elements may be made anew
// before it. An end tag that is nested wrongly copies at most four elements
// eight times (the standard's adoption agency).
func (g *markupGuard) nodes() int {
	return g.tags*(2+g.openSize) + g.ends*4*8*g.widest
}

// formattingTags are the elements that the parser makes anew (HTML standard,
// 13.2.4.3), but for a and nobr, of which it keeps one.
var formattingTags = map[string]bool{
	"b": true, "big": true, "code": true, "em": true, "font": true, "i": true, "s": true,
	"small": true, "strike": true, "strong": true, "tt": true, "u": true, "a": true, "nobr": true,
}

// tag counts the tag that begins before from.
func (g *markupGuard) tag(from int) error {
	closes := strings.HasPrefix(g.src[from:], "/")
	if closes {
		from++
	}
	if from == len(g.src) || g.src[from]|0x20 < 'a' || g.src[from]|0x20 > 'z' {
		return nil // a comment, or text
	}
	g.tags++
	nameEnd, end, attributes := g.scanTag(from)
	if g.work < 0 {
		return refuse(HTMLLimit, from-1, "the tags of the page are too tangled")
	}
	g.widestTag = max(g.widestTag, attributes)
	if nameEnd-from > len("strong") {
		return nil
	}
	name := strings.ToLower(g.src[from:nameEnd])
	switch {
	case !formattingTags[name]:
	case closes:
		g.ends++
	case g.closedAtOnce(name, end):
		g.ends--
	default:
		g.opens(name, g.src[from:end], 1+attributes/maxAttributesPerNode)
	}
	return nil
}

// opens counts a formatting tag that stays open, source being what makes it
// differ from others.
func (g *markupGuard) opens(name, source string, nodes int) {
	most := 3
	if name == "a" || name == "nobr" {
		source, most = name, 1
	}
	if g.open == nil {
		g.open = map[string]int{}
	}
	if g.open[source]++; g.open[source] <= most {
		g.openSize += nodes
	}
	g.widest = max(g.widest, nodes)
}

// closedAtOnce reports whether the next tag after end closes the element called
// name. Then the parser forgets the element at once, wherever it stands.
func (g *markupGuard) closedAtOnce(name string, end int) bool {
	next := strings.IndexByte(g.src[end:], '<')
	if next < 0 {
		return false
	}
	g.work -= next
	rest := g.src[end+next+1:]
	if len(rest) <= len(name)+1 || rest[0] != '/' || !strings.EqualFold(rest[1:len(name)+1], name) {
		return false
	}
	c := rest[len(name)+1]
	return c == '>' || cssSpace(c)
}

// scanTag reads a start tag as the tokenizer does: the end of its name, the
// place after its ">", and the number of its attributes.
func (g *markupGuard) scanTag(from int) (nameEnd, end, attributes int) {
	s := g.src
	i := from
	for i < len(s) && !tagBreak(s[i]) {
		i++
	}
	nameEnd = i
	for i < len(s) {
		for i < len(s) && (cssSpace(s[i]) || s[i] == '/') {
			i++
		}
		if i == len(s) || s[i] == '>' {
			break
		}
		attributes++
		i = g.scanAttribute(i)
	}
	g.work -= i - from
	return nameEnd, min(i+1, len(s)), attributes
}

// scanAttribute returns the end of the attribute that begins at i.
func (g *markupGuard) scanAttribute(i int) int {
	s := g.src
	i++ // a "=" that comes first is part of the name
	for i < len(s) && s[i] != '=' && !tagBreak(s[i]) {
		i++
	}
	value := i
	for value < len(s) && cssSpace(s[value]) {
		value++
	}
	if value == len(s) || s[value] != '=' {
		return i
	}
	for value++; value < len(s) && cssSpace(s[value]); value++ {
	}
	if value == len(s) || s[value] == '>' {
		return value
	}
	if q := s[value]; q == '"' || q == '\'' {
		end := strings.IndexByte(s[value+1:], q)
		if end < 0 {
			return len(s)
		}
		return value + 1 + end + 1
	}
	for value < len(s) && s[value] != '>' && !cssSpace(s[value]) {
		value++
	}
	return value
}

func tagBreak(c byte) bool { return c == '>' || c == '/' || cssSpace(c) }
