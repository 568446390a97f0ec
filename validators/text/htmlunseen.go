package text

import (
	"strings"

	"golang.org/x/net/html"
)

// mathTexts are the only elements of MathML whose text is rendered: the tokens
// (MathML Core, section 2.1.2), and tables as those of HTML.
var mathTexts = map[string]bool{
	"mi": true, "mn": true, "mo": true, "ms": true, "mtext": true,
	"mtable": true, "mtr": true, "mtd": true,
}

// looseInMath reports whether n is text in an element of MathML that renders
// none.
func looseInMath(n *html.Node) bool {
	return n.Parent.Namespace == "math" && !mathTexts[n.Parent.Data]
}

// unrenderedInMath reports whether MathML does not render n: it is a space, or
// an alternative. Of those of maction and semantics only the first is rendered.
func unrenderedInMath(n *html.Node) bool {
	p := n.Parent
	if n.Data == "mspace" && n.Namespace == "math" {
		return true
	}
	if p.Namespace != "math" || p.Data != "maction" && p.Data != "semantics" {
		return false
	}
	for n = n.PrevSibling; n != nil; n = n.PrevSibling {
		if n.Type == html.ElementNode {
			return true
		}
	}
	return false
}

// slots are the names of the slots in a shadow tree. Of a shadow host only the
// children that have a slot are rendered. nil: no host.
type slots map[string]bool

// shadowHosts says of elements whether a template with shadowrootmode attaches a
// shadow tree to them (DOM standard, section 4.8). Those with a hyphen in their
// names that are not listed are custom elements, which it does.
var shadowHosts = map[string]bool{
	"article": true, "aside": true, "blockquote": true, "body": true, "div": true, "footer": true, "h1": true,
	"h2": true, "h3": true, "h4": true, "h5": true, "h6": true, "header": true, "main": true, "nav": true, "p": true,
	"section": true, "span": true,

	"annotation-xml": false, "color-profile": false, "font-face": false, "font-face-src": false, "font-face-uri": false,
	"font-face-format": false, "font-face-name": false, "missing-glyph": false,
}

// slotsOf returns the slots of n where markup makes it a shadow host. The first
// template counts. What is in the template is not shown.
func (w *walker) slotsOf(n *html.Node) slots {
	host, listed := shadowHosts[n.Data]
	if n.Namespace != "" || !host && (listed || !strings.Contains(n.Data, "-")) {
		return nil
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == html.ElementNode && c.Data == "template" && c.Namespace == "" {
			mode := attribute(c, "shadowrootmode")
			if strings.EqualFold(mode, "open") || strings.EqualFold(mode, "closed") {
				return w.slotsIn(c)
			}
		}
	}
	return nil
}

// slotsIn finds the slots in a shadow tree that are shown there, and what else
// is inside counts for nothing. It calls itself for hosts in the tree, at most as
// deep as the parser nests; walk does not look into templates for hosts, so every
// node is looked at once.
func (w *walker) slotsIn(template *html.Node) slots {
	found := slots{}
	hosts := map[*html.Node]slots{}
	n := template
	for {
		skip := n != template && n.Type == html.ElementNode && (!hosts[n.Parent].take(n) || w.unseen(n))
		if n != template && n.Type == html.ElementNode && !skip {
			if n.Data == "slot" && n.Namespace == "" {
				found[attribute(n, "name")] = true
			}
			if inner := w.slotsOf(n); inner != nil {
				hosts[n] = inner
			}
		}
		if n.FirstChild != nil && !skip {
			n = n.FirstChild
			continue
		}
		for n != template && n.NextSibling == nil {
			n = n.Parent
		}
		if n == template {
			return found
		}
		n = n.NextSibling
	}
}

// unseen reports whether an element by itself is dropped or hides text.
func (w *walker) unseen(n *html.Node) bool {
	outer := w.look
	defer func() { w.look = outer }()
	w.look = look{}
	role := w.applyMarkup(n, w.roles[n.Data], &frame{})
	l := &w.look
	return role == roleDropped || role == roleReplaced || l.hidden || l.noSize || l.noVisibility || l.noColor
}

// take reports whether a child of the host has a slot. A text has that without a
// name. Without a host every child is rendered.
func (s slots) take(n *html.Node) bool {
	if s == nil {
		return true
	}
	name := ""
	if n.Type == html.ElementNode {
		name = attribute(n, "slot")
	}
	return s[name]
}
