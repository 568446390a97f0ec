package text

// role says what an element means for the text around it.
type role uint8

const (
	roleInline   role = iota // nothing
	roleDropped              // is not shown, with all its content
	roleReplaced             // the same, but a reader sees a box in its place
	roleBlock
	roleBreak // br
	roleRow
	roleCell
	rolePre
)

// roles are the roles of elements by name, in any namespace, so that a <style>
// in an <svg> is not forgotten. They are those of the HTML standard's
// suggested style sheet (section 15.3), and the elements that the design drops.
// An element that is not listed is inline. The map is never changed.
var roles = rolesOf(map[role][]string{
	roleDropped: {
		"head", "title", "script", "style", "template", "noscript", "noembed", "noframes", "form", "option",
		"optgroup", "datalist", "annotation", "annotation-xml", "rp", "param", "source", "track", "area", "link",
		"meta", "base", "frameset", "frame",
	},
	roleReplaced: {
		"input", "button", "textarea", "select", "iframe", "object", "embed", "svg", "canvas", "audio", "video",
		"img", "image", "meter", "progress",
	},
	roleBlock: {
		"html", "body", "address", "article", "aside", "blockquote", "center", "dd", "details", "dialog", "dir",
		"div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "h1", "h2", "h3", "h4", "h5", "h6",
		"header", "hgroup", "hr", "legend", "li", "main", "menu", "nav", "ol", "p", "search", "section", "summary",
		"ul", "table", "caption", "thead", "tbody", "tfoot", "marquee",
	},
	roleBreak: {"br"},
	roleRow:   {"tr", "mtr"},
	roleCell:  {"td", "th", "mtd"},
	rolePre:   {"pre", "listing", "plaintext", "xmp"},
})

func rolesOf(names map[role][]string) map[string]role {
	out := map[string]role{}
	for r, list := range names {
		for _, name := range list {
			out[name] = r
		}
	}
	return out
}

// structured are the elements whose lines inside a table cell have a meaning of
// their own; a cell without them is given on one line.
var structured = map[string]bool{
	"table": true, "ul": true, "ol": true, "dl": true, "pre": true, "blockquote": true, "section": true,
	"article": true, "listing": true, "xmp": true, "plaintext": true,
	"h1": true, "h2": true, "h3": true, "h4": true, "h5": true, "h6": true,
}

// mathParts are the elements of MathML whose children stand apart from each other
// and from what follows: half is 1 2, not 12.
var mathParts = map[string]bool{
	"mfrac": true, "msqrt": true, "msup": true, "msub": true, "msubsup": true, "mroot": true,
	"munder": true, "mover": true, "munderover": true, "mmultiscripts": true,
}

// displayRoles are the roles that an inline display gives to an element that
// has none.
var displayRoles = map[string]role{
	"block": roleBlock, "flex": roleBlock, "grid": roleBlock, "flow-root": roleBlock, "list-item": roleBlock,
	"table": roleBlock, "table-row-group": roleBlock, "table-header-group": roleBlock,
	"table-footer-group": roleBlock, "table-caption": roleBlock, "-webkit-box": roleBlock,
	"-webkit-flex": roleBlock,
	"table-row":    roleRow, "table-cell": roleCell,
}
