package text

import (
	"context"
	"errors"
	"io"
	"net/url"
	"strings"

	"golang.org/x/net/html"
)

// readHTML fills r from the page s and returns its visible text, not yet
// cleaned.
func (r *Result) readHTML(ctx context.Context, s string, opts Options) (string, error) {
	doc, err := parseHTML(ctx, s)
	if err != nil {
		return "", err
	}
	w := walker{ctx: ctx, roles: roles, markup: true, opts: opts, base: opts.Base, flow: newFlow()}
	for _, name := range opts.HTML.Drop {
		w.drop = append(w.drop, strings.ToLower(name))
	}
	if err := w.walk(doc); err != nil {
		return "", err
	}
	var cut bool
	r.Title, cut = shortText(w.title)
	r.Truncated = cut || w.cut
	r.Links = w.links
	r.Noticed.HiddenText = w.hidden
	r.Noticed.Unevaluated = w.styleSheets
	return w.flow.out.String(), nil
}

// parseHTML parses a page within its budgets. Beyond 512 open elements the
// parser itself gives up.
func parseHTML(ctx context.Context, s string) (*html.Node, error) {
	if err := guardMarkup(s); err != nil {
		return nil, err
	}
	doc, err := html.Parse(&pageReader{ctx: ctx, rest: s})
	if cause := ctx.Err(); cause != nil {
		return nil, ended(cause)
	}
	if err != nil {
		return nil, refuse(HTMLLimit, -1, "the page nests more than 512 elements")
	}
	return doc, nil
}

// pageReader hands out a page as long as ctx lives.
type pageReader struct {
	ctx  context.Context
	rest string
}

var errEnded = errors.New("text: the context ended")

func (p *pageReader) Read(into []byte) (int, error) {
	if p.ctx.Err() != nil {
		return 0, errEnded
	}
	if p.rest == "" {
		return 0, io.EOF
	}
	n := copy(into, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

// walker goes over a parsed page in document order, without recursion.
type walker struct {
	ctx    context.Context
	roles  map[string]role
	markup bool // look at attributes: hidden elements, links
	opts   Options
	drop   []string
	base   *url.URL
	seen   int // nodes
	styles map[string]parsedStyle

	flow  flow
	look  look
	stack []frame // one for each open element

	title       string
	titled      bool
	based       bool
	links       []Link
	cut         bool
	hidden      int
	styleSheets int
}

// look is what an element passes on to its content.
type look struct {
	dropped  bool // not shown, by its name
	hidden   bool // not shown, by attribute or inline style, for good
	template bool
	shadow   bool // in a template whose style sheets count
	pre      bool
	flat     bool // in a cell that is given on one line
	within   bool // inside one of the wanted elements

	// These hide text, but content can undo them.
	noSize, noVisibility, noColor bool
	// ground is the background under which noColor holds; has ground.alpha > 0.
	ground color
	ink    color
}

// frame is what there is to do at the end of an element.
type frame struct {
	outer look
	role  role
	row   rowMark
	cells int    // children that are cells so far
	href  string // of a link that is kept
	start int    // where its text begins
	slots slots  // of a shadow host
}

// walk goes over the tree below root.
func (w *walker) walk(root *html.Node) error {
	w.look.within = len(w.opts.HTML.Within) == 0
	w.stack = append(w.stack, frame{}) // root's
	n := root
	for {
		if w.seen++; w.seen%1024 == 0 && w.ctx.Err() != nil {
			return ended(w.ctx.Err())
		}
		if n != root {
			w.enter(n)
		}
		if n.FirstChild != nil {
			n = n.FirstChild
			continue
		}
		for {
			if n == root {
				return nil
			}
			if n.Type == html.ElementNode {
				w.leave(n)
			}
			if n.NextSibling != nil {
				n = n.NextSibling
				break
			}
			n = n.Parent
		}
	}
}

func (w *walker) enter(n *html.Node) {
	switch n.Type {
	case html.TextNode:
		w.text(n)
	case html.ElementNode:
		w.element(n)
	}
}

func (w *walker) text(n *html.Node) {
	l := &w.look
	switch {
	case l.dropped && n.Parent.Data == "title":
		if w.isTitle(n.Parent) {
			w.title += n.Data
		}
	case l.dropped || !l.within:
	case l.hidden || l.noSize || l.noVisibility || l.noColor, w.markup && (!w.stack[len(w.stack)-1].slots.take(n) || looseInMath(n)):
		if strings.Trim(n.Data, " \t\n\r\f") != "" {
			w.hidden++
		}
	case l.pre && !l.flat:
		w.flow.verbatim(n.Data)
	default:
		w.flow.text(n.Data)
	}
}

// isTitle reports whether n is the first title in the head.
func (w *walker) isTitle(n *html.Node) bool {
	if n.Namespace != "" || n.Parent == nil || n.Parent.Data != "head" || w.titled {
		return false
	}
	w.titled = true
	return true
}

// lineFeed, block: in a flat cell every break is a space.
func (w *walker) lineFeed() {
	if w.look.flat {
		w.flow.space = true
		return
	}
	w.flow.lineFeed()
}

func (w *walker) block() {
	if w.look.flat {
		w.flow.space = true
		return
	}
	w.flow.block()
}

// shown reports whether text at this place would be part of the output.
func (w *walker) shown() bool {
	return !w.look.dropped && !w.look.hidden && w.look.within
}

// element opens an element.
func (w *walker) element(n *html.Node) {
	f := frame{outer: w.look}
	role := w.roles[n.Data]
	if w.markup {
		w.inspectHead(n)
		role = w.applyMarkup(n, role, &f)
		if !w.stack[len(w.stack)-1].slots.take(n) {
			w.look.hidden = true
		}
		if !w.look.dropped {
			f.slots = w.slotsOf(n)
		}
	}
	if !w.look.within && contains(w.opts.HTML.Within, n.Data) {
		w.look.within = true
	}
	switch {
	case role == roleDropped, role == roleReplaced, contains(w.drop, n.Data):
		if w.shown() && role == roleReplaced {
			w.flow.space = true
		} else if w.shown() && (n.Data == "form" || contains(w.drop, n.Data)) {
			w.block()
		}
		w.look.dropped = true
		role = roleDropped
	case w.shown():
		w.open(n, role, &f)
	}
	f.role = role
	if f.href != "" {
		if f.start = w.flow.out.Len(); !w.shown() {
			f.href = ""
		}
	}
	w.stack = append(w.stack, f)
}

// open does what an element that is shown means for the lines.
func (w *walker) open(n *html.Node, role role, f *frame) {
	if n.Parent != nil && n.Namespace == "math" && mathParts[n.Parent.Data] {
		w.flow.space = true
	}
	switch role {
	case roleBreak:
		w.lineFeed()
	case roleBlock:
		w.block()
	case rolePre:
		w.block()
		w.look.pre = true
	case roleRow:
		if w.look.flat {
			w.flow.space = true
			break
		}
		f.row = w.flow.enterRow()
	case roleCell:
		row := &w.stack[len(w.stack)-1]
		row.cells++
		if w.look.flat {
			w.flow.space = true
			break
		}
		w.flow.enterCell(row.cells == 1)
		w.look.flat = (row.cells > 1 || nextElement(n) != nil) && isFlat(n)
	}
}

// leave closes an element.
func (w *walker) leave(n *html.Node) {
	f := &w.stack[len(w.stack)-1]
	inside := w.look
	w.look = f.outer
	shown := !inside.dropped && !inside.hidden && inside.within
	if shown {
		if f.href != "" {
			w.link(f)
		}
		switch f.role {
		case roleBlock, rolePre:
			w.block()
		case roleRow:
			if w.look.flat {
				w.flow.space = true
				break
			}
			w.flow.leaveRow(f.row)
		case roleCell:
			if w.look.flat {
				w.flow.space = true
				break
			}
			w.flow.leaveCell()
		}
		if n.Namespace == "math" && mathParts[n.Data] {
			w.flow.space = true
		}
	} else if n.Data == "form" && w.shown() {
		w.block()
	}
	w.stack = w.stack[:len(w.stack)-1]
}

// link adds the link that ends here, if it has a text that a reader sees.
func (w *walker) link(f *frame) {
	if len(w.links) > w.opts.MaxLinks {
		return
	}
	text, cut := shortText(w.flow.out.String()[f.start:])
	if text != "" {
		w.links = append(w.links, Link{Text: text, Href: f.href})
		w.cut = w.cut || cut
	}
}

func nextElement(n *html.Node) *html.Node {
	for n = n.NextSibling; n != nil && n.Type != html.ElementNode; n = n.NextSibling {
	}
	return n
}

// isFlat reports whether nothing in a cell gives its lines a meaning. It looks
// into no table inside, so that all cells together are looked at once.
func isFlat(cell *html.Node) bool {
	n := cell
	for {
		if n != cell && n.Type == html.ElementNode && structured[n.Data] {
			return false
		}
		if n.FirstChild != nil {
			n = n.FirstChild
			continue
		}
		for n != cell && n.NextSibling == nil {
			n = n.Parent
		}
		if n == cell {
			return true
		}
		n = n.NextSibling
	}
}

func contains(list []string, name string) bool {
	for _, s := range list {
		if s == name {
			return true
		}
	}
	return false
}
