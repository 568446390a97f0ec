package text

import (
	"math"
	"slices"
)

// farAway is the distance, in CSS pixels, from which a negative position counts
// as off-screen. Decorations move by tens, carousels by hundreds of pixels;
// text is hidden at -999px and beyond.
const farAway = 999

// longhands are the properties that can hide text, and what values they take.
// A value that is wrong must not count, or it would undo one that is right. The
// map is never changed.
var longhands = map[string]func([]token) bool{
	"display":            takesDisplay,
	"visibility":         takesKeywords("visible", "hidden", "collapse"),
	"content-visibility": takesKeywords("visible", "hidden", "auto"),
	"opacity":            takesNumber,
	"font-size":          takesFontSize,
	"color":              takesColor,
	"background-color":   takesColor,
	"transform":          takesFunctions,
	"scale":              takesNumbers,
	"translate":          takesAnything,
	"clip":               takesFunctions,
	"clip-path":          takesAnything,
	"width":              takesLength,
	"height":             takesLength,
	"max-width":          takesLength,
	"max-height":         takesLength,
	"overflow-x":         takesKeywords("visible", "hidden", "clip", "scroll", "auto", "overlay"),
	"overflow-y":         takesKeywords("visible", "hidden", "clip", "scroll", "auto", "overlay"),
	"position":           takesKeywords("static", "relative", "absolute", "fixed", "sticky"),
	"left":               takesLength,
	"right":              takesLength,
	"top":                takesLength,
	"bottom":             takesLength,
	"margin-left":        takesLength,
	"margin-top":         takesLength,
	"text-indent":        takesIndent,
	"white-space":        takesKeywords("normal", "nowrap", "pre", "pre-wrap", "pre-line", "break-spaces"),
}

func takesKeywords(names ...string) func([]token) bool {
	return func(list []token) bool { return keyword(list, names...) }
}

func takesAnything([]token) bool { return true }

// The words of display (CSS Display Level 3, section 2), as far as every current
// browser knows them: what one of them does not take undoes no "none" there.
var (
	displayOutside = []string{"block", "inline"}
	displayInside  = []string{"flow", "flow-root", "table", "flex", "grid", "ruby", "math"}
	displayAlone   = []string{
		"none", "contents", "inline-block", "inline-table", "inline-flex", "inline-grid", "table-row-group",
		"table-header-group", "table-footer-group", "table-row", "table-cell", "table-column-group", "table-column",
		"table-caption", "ruby-text", "-webkit-box", "-webkit-inline-box", "-webkit-flex", "-webkit-inline-flex",
	}
)

// takesDisplay: one word that stands alone, or one of the outer words, one of
// the inner ones and list-item in any order. A list item flows inside.
func takesDisplay(list []token) bool {
	list = words(list)
	if keyword(list, displayAlone...) {
		return true
	}
	outside, inside, item, flows := 0, 0, 0, true
	for _, t := range list {
		switch {
		case t.kind != tokenIdent:
			return false
		case slices.Contains(displayOutside, t.text):
			outside++
		case slices.Contains(displayInside, t.text):
			inside++
			flows = t.text == "flow" || t.text == "flow-root"
		case t.text == "list-item":
			item++
		default:
			return false
		}
	}
	return outside <= 1 && inside <= 1 && item <= 1 && (item == 0 || flows)
}

func takesNumber(list []token) bool {
	_, ok := quantity(list)
	return ok
}

func takesNumbers(list []token) bool {
	for _, t := range words(list) {
		if t.kind != tokenNumber {
			return false
		}
	}
	return true
}

func takesFunctions(list []token) bool {
	return keyword(list, "none", "auto") || len(list) > 0 && list[0].kind == tokenFunction
}

func takesLength(list []token) bool {
	q, ok := quantity(list)
	return ok && (q.text != "" || q.value == 0) ||
		keyword(list, "auto", "none", "min-content", "max-content", "fit-content", "stretch")
}

func takesIndent(list []token) bool { return takesLength(words(list)[:1]) }

func takesFontSize(list []token) bool {
	_, ok := fontSizeOf(list)
	return ok && len(list) == 1 || isMath(list)
}

var sizeKeywords = []string{
	"xx-small", "x-small", "small", "medium", "large", "x-large", "xx-large", "xxx-large", "smaller", "larger", "math",
}

// fontSizeOf finds the size in a value of font or font-size.
func fontSizeOf(list []token) (size []token, ok bool) {
	for i, t := range list {
		switch {
		case t.kind == tokenNumber && (t.text != "" || t.value == 0) && t.value >= 0,
			t.kind == tokenIdent && slices.Contains(sizeKeywords, t.text):
			return list[i : i+1], true
		case t.is('/'), t.is(','):
			return nil, false
		}
	}
	return nil, false
}

// quantity returns the number that list is. A calculation of nothing but zeros is zero;
// of any other, and of one with variables or further functions, nothing is known.
func quantity(list []token) (q token, ok bool) {
	if len(list) == 1 && list[0].kind == tokenNumber {
		return list[0], true
	}
	if !isMath(list) {
		return token{}, false
	}
	q = token{kind: tokenNumber, text: "px", value: math.NaN()}
	for _, t := range list {
		switch {
		case t.kind == tokenNumber && t.value == 0:
			q.value = 0
		case t.kind == tokenNumber, t.kind == tokenIdent, t.kind == tokenFunction && !slices.Contains(mathFunctions, t.text):
			q.value = math.NaN()
			return q, true
		}
	}
	return q, true
}

// mathFunctions are the calculations that are looked into.
var mathFunctions = []string{"calc", "min", "max", "clamp"}

func isMath(list []token) bool {
	name, _, ok := function(list)
	return ok && slices.Contains(mathFunctions, name)
}

// pixels returns a length in CSS pixels under the initial font size, and
// whether it is one. Percentages are none.
func pixels(q token) (float64, bool) {
	switch q.text {
	case "px", "":
		return q.value, true
	case "em", "rem", "pc", "lh", "rlh", "ic":
		return q.value * 16, true
	case "ex", "ch", "vw", "vh", "vmin", "vmax":
		return q.value * 8, true
	case "pt":
		return q.value * 4 / 3, true
	case "in":
		return q.value * 96, true
	case "cm":
		return q.value * 37.8, true
	case "mm":
		return q.value * 3.78, true
	}
	return 0, false
}

// removes reports whether the style takes the element with all its content out
// of sight, in a way that nothing inside can undo.
func (s style) removes() bool {
	// The content of a column is never rendered (CSS 2, section 17.2).
	return keyword(s["display"].tokens, "none", "table-column", "table-column-group") ||
		keyword(s["content-visibility"].tokens, "hidden") ||
		s.atMost("opacity", 0) ||
		s.scalesToNothing() ||
		clipsToNothing(s["clip"].tokens) || clipsToNothing(s["clip-path"].tokens) ||
		s.boxIsEmpty() || s.offScreen()
}

// atMost reports whether a property is a number at or below a limit.
func (s style) atMost(name string, limit float64) bool {
	q, ok := quantity(s[name].tokens)
	return ok && q.value <= limit
}

// far reports whether a property is a length far below zero.
func (s style) far(name string) bool {
	q, ok := quantity(words(s[name].tokens))
	if !ok {
		return false
	}
	px, ok := pixels(q)
	return ok && px <= -farAway
}

func (s style) offScreen() bool {
	indent := words(s["text-indent"].tokens)
	if len(indent) > 0 {
		q, _ := quantity(indent[:1])
		if px, ok := pixels(q); ok && px <= -farAway || q.text == "%" && q.value <= -100 {
			return true
		}
	}
	if s.far("margin-left") || s.far("margin-top") || s.movedAway() {
		return true
	}
	outOfFlow := keyword(s["position"].tokens, "absolute", "fixed")
	if !outOfFlow && !keyword(s["position"].tokens, "relative") {
		return false
	}
	for _, side := range []string{"left", "right", "top", "bottom"} {
		q, ok := quantity(s[side].tokens)
		whole := q.text == "%" || q.text == "vw" || q.text == "vh"
		if s.far(side) || ok && outOfFlow && whole && q.value <= -100 {
			return true
		}
	}
	return false
}

// boxIsEmpty reports whether the box has no width or height and clips what does
// not fit, or is a single pixel.
func (s style) boxIsEmpty() bool {
	clipsX, clipsY := s.clips("overflow-x"), s.clips("overflow-y")
	narrow := func(limit float64) bool { return s.atMost("width", limit) || s.atMost("max-width", limit) }
	low := func(limit float64) bool { return s.atMost("height", limit) || s.atMost("max-height", limit) }
	return clipsX && narrow(0) || clipsY && low(0) ||
		clipsX && clipsY && narrow(1) && low(1) && s["width"].isPixels() && s["height"].isPixels()
}

func (v styleValue) isPixels() bool {
	return len(v.tokens) == 1 && v.tokens[0].text == "px"
}

func (s style) clips(name string) bool {
	list := s[name].tokens
	return len(list) > 0 && !keyword(list, "visible", "initial", "unset", "inherit", "revert", "revert-layer")
}
