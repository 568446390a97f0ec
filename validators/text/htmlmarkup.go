package text

import (
	"net/url"
	"strings"

	"golang.org/x/net/html"
)

// inspectHead notices what concerns the whole page: its base address and its
// style sheets, which are not evaluated.
func (w *walker) inspectHead(n *html.Node) {
	switch n.Data {
	case "style":
		if !w.look.template || w.look.shadow {
			w.styleSheets++
		}
	case "link":
		if strings.Contains(strings.ToLower(attribute(n, "rel")), "stylesheet") && (!w.look.template || w.look.shadow) {
			w.styleSheets++
		}
	case "base":
		href := attribute(n, "href")
		if w.based || href == "" || n.Namespace != "" || w.look.template {
			return
		}
		w.based = true
		if u := parseHref(w.opts.Base, href); u != nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" {
			w.base = u
		}
	case "template":
		w.look.shadow = attribute(n, "shadowrootmode") != "" && (!w.look.template || w.look.shadow)
		w.look.template = true
	}
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name && a.Namespace == "" {
			return a.Val
		}
	}
	return ""
}

// applyMarkup works the attributes of an element into w.look, and returns the
// role that is left to it.
func (w *walker) applyMarkup(n *html.Node, role role, f *frame) role {
	open := false
	var href, inline string
	hasHref := false
	for _, a := range n.Attr {
		switch a.Key {
		case "hidden", "popover":
			w.look.hidden = true
		case "aria-hidden":
			if strings.EqualFold(strings.TrimSpace(a.Val), "true") {
				w.look.hidden = true
			}
		case "open":
			open = true
		case "href":
			href, hasHref = a.Val, a.Namespace == ""
		case "style":
			inline = a.Val
		}
	}
	if n.Data == "dialog" && !open || unrenderedInMath(n) {
		w.look.hidden = true
	}
	if n.Data == "mphantom" && n.Namespace == "math" {
		w.look.noVisibility = true
	}
	if inline != "" && !w.look.dropped && !w.look.hidden {
		role = w.applyStyle(inline, role)
	}
	if n.Data == "a" && n.Namespace == "" && hasHref && w.opts.HTML.KeepLinks && w.shown() && len(w.links) <= w.opts.MaxLinks {
		w.linkTo(f, href)
	}
	return role
}

func (w *walker) linkTo(f *frame, href string) {
	base := w.base
	if base == nil {
		base = noBase
	}
	f.href = linkAddress(base, href)
}

// noBase resolves nothing: a relative address stays without scheme.
var noBase = &url.URL{}

// applyStyle works an inline style into w.look.
func (w *walker) applyStyle(inline string, role role) role {
	parsed := w.parsedStyle(inline)
	if parsed.removes {
		w.look.hidden = true
		return role
	}
	s := parsed.style
	if len(s) == 0 {
		return role
	}
	l := &w.look
	if v := s["visibility"].tokens; len(v) > 0 && !keyword(v, "inherit", "unset", "revert", "revert-layer") {
		l.noVisibility = keyword(v, "hidden", "collapse")
	}
	if v := s["font-size"].tokens; len(v) > 0 {
		l.applySize(v)
	}
	l.applyColors(s)
	switch v := s["white-space"].tokens; {
	case keyword(v, "pre", "pre-wrap", "pre-line", "break-spaces"):
		l.pre = true
	case keyword(v, "normal", "nowrap", "initial"):
		l.pre = false
	}
	if v := words(s["display"].tokens); role == roleInline && len(v) > 0 {
		return displayRoles[v[0].text]
	}
	return role
}

// parsedStyle is an inline style and what it does at once.
type parsedStyle struct {
	style   style
	removes bool
}

// maxStyles bounds the styles that a walk remembers. Pages repeat few.
const maxStyles = 64

func (w *walker) parsedStyle(inline string) parsedStyle {
	if p, ok := w.styles[inline]; ok {
		return p
	}
	s := parseStyle(inline)
	p := parsedStyle{s, len(s) > 0 && s.removes()}
	if len(w.styles) < maxStyles {
		if w.styles == nil {
			w.styles = map[string]parsedStyle{}
		}
		w.styles[inline] = p
	}
	return p
}

// applySize: sizes relative to nothing are nothing.
func (l *look) applySize(v []token) {
	q, ok := quantity(v)
	switch {
	case ok && q.value == 0:
		l.noSize = true
	case ok && (q.text == "%" || q.text == "em" || q.text == "ex" || q.text == "ch"),
		keyword(v, "smaller", "larger", "inherit", "unset", "revert", "revert-layer"):
	default:
		l.noSize = false
	}
}

// applyColors decides whether text has a colour that can be told from the
// ground that the same style gives it.
func (l *look) applyColors(s style) {
	ink, inked := parseColor(s["color"].tokens)
	ground, grounded := parseColor(s["background-color"].tokens)
	inked = inked && !ink.current
	if inked {
		l.ink = ink
	}
	switch {
	case inked && ink.invisible():
		l.noColor, l.ground = true, color{}
	case inked && grounded && ground.alpha > 0:
		l.noColor, l.ground = ink.same(ground), ground
	case inked && l.noColor:
		l.noColor = ink.same(l.ground)
	case inked:
	case grounded && ground.current && ground.alpha > 0:
		l.noColor, l.ground = true, l.ink
	case grounded && ground.alpha == 1 && l.noColor && !l.ink.invisible():
		l.noColor, l.ground = l.ink.same(ground), ground
	}
}
