package text

import (
	"math"
	"strconv"
	"strings"
)

// color is a CSS colour as far as it can be told without a screen.
type color struct {
	known       bool    // r, g and b are set
	r, g, b     float64 // 0 to 255
	alpha       float64 // 0 to 1
	description string  // the tokens, of one that is not known
	current     bool    // currentcolor
}

// invisible reports whether the colour has no substance at all.
func (c color) invisible() bool { return c.alpha == 0 }

// same reports whether text of colour c cannot be seen on ground.
func (c color) same(ground color) bool {
	switch {
	case ground.current:
		return true
	case ground.alpha < 1 || c.current:
		return false
	case c.known && ground.known:
		near := func(a, b float64) bool { return math.Abs(a-b) < 0.6 }
		return near(c.r, ground.r) && near(c.g, ground.g) && near(c.b, ground.b)
	}
	return !c.known && !ground.known && c.description == ground.description
}

func takesColor(list []token) bool {
	_, ok := parseColor(list)
	return ok
}

// backgroundColorOf returns the tokens of the colour in a value of background:
// transparent where there is none. Under an image no colour is sure to be the
// ground, so that then there is none either.
func backgroundColorOf(list []token) []token {
	transparent := []token{{kind: tokenIdent, text: "transparent"}}
	out := transparent
	for i := 0; i < len(list); i++ {
		t, end := list[i], i
		if t.kind == tokenFunction {
			end = min(i+closing(list[i:]), len(list)-1)
		}
		if _, ok := parseColor(list[i : end+1]); ok {
			out = list[i : end+1]
		} else if t.kind == tokenURL || t.kind == tokenFunction && !isMath(list[i:end+1]) {
			return transparent
		}
		i = end
	}
	return out
}

func parseColor(list []token) (c color, ok bool) {
	if len(list) == 0 {
		return color{}, false
	}
	switch t := list[0]; {
	case t.kind == tokenHash && len(list) == 1:
		return hexColor(t.text)
	case t.kind == tokenIdent && len(list) == 1:
		return namedColor(t.text)
	case t.kind == tokenFunction:
		name, args, ok := function(list)
		if !ok {
			return color{}, false
		}
		return functionColor(name, args)
	}
	return color{}, false
}

func namedColor(name string) (color, bool) {
	switch name {
	case "transparent":
		return color{known: true}, true
	case "currentcolor":
		return color{alpha: 1, current: true}, true
	}
	at := strings.Index(colorNames, "\n"+name+" ")
	if at < 0 || name == "" || !nameStart(name[0]) || strings.ContainsAny(name, " \n") {
		return color{}, false
	}
	hex, _, _ := strings.Cut(colorNames[at+len(name)+2:], "\n")
	return hexColor(hex)
}

// hexColor reads 3, 4, 6 or 8 hexadecimal digits.
func hexColor(hex string) (color, bool) {
	if len(hex) == 3 || len(hex) == 4 {
		var b strings.Builder
		for i := range len(hex) {
			b.WriteByte(hex[i])
			b.WriteByte(hex[i])
		}
		hex = b.String()
	}
	if len(hex) == 6 {
		hex += "ff"
	}
	v, err := strconv.ParseUint(hex, 16, 32)
	if err != nil || len(hex) != 8 {
		return color{}, false
	}
	at := func(shift uint) float64 { return float64(v >> shift & 255) }
	return color{known: true, r: at(24), g: at(16), b: at(8), alpha: at(0) / 255}, true
}

// functionColor reads a colour function. Of the wide-gamut ones only alpha is
// understood; they are compared by their tokens.
func functionColor(name string, args []token) (color, bool) {
	switch name {
	case "rgb", "rgba", "hsl", "hsla", "hwb", "lab", "lch", "oklab", "oklch", "color":
	case "light-dark", "color-mix", "device-cmyk":
		return color{alpha: 1, description: describe(name, args)}, true
	default:
		return color{}, false
	}
	channels, alpha := splitAlpha(args)
	c := color{alpha: 1, description: describe(name, channels)}
	if len(alpha) > 0 {
		q, ok := quantity(alpha)
		switch {
		case keyword(alpha, "none"):
			q, ok = token{}, true
		case ok && q.text == "%":
			q.value /= 100
		}
		if !ok {
			return color{}, false
		}
		c.alpha = max(0, min(1, q.value))
	}
	n := numbers(channels)
	if len(n) != 3 {
		return c, len(channels) > 0
	}
	switch name {
	case "rgb", "rgba":
		scale := func(t token) float64 {
			if t.text == "%" {
				return max(0, min(255, t.value*2.55))
			}
			return max(0, min(255, t.value))
		}
		c.known, c.r, c.g, c.b = true, scale(n[0]), scale(n[1]), scale(n[2])
	case "hsl", "hsla":
		c.known = true
		c.r, c.g, c.b = hsl(n[0].value, n[1].value/100, n[2].value/100)
	}
	return c, true
}

// splitAlpha separates the alpha of a colour function: what follows a slash, or
// the fourth of four values separated by commas.
func splitAlpha(args []token) (channels, alpha []token) {
	commas := 0
	for i, t := range args {
		if t.is(',') {
			commas++
		}
		if t.is('/') || commas == 3 {
			return args[:i], trimSpace(args[i+1:])
		}
	}
	return args, nil
}

func describe(name string, args []token) string {
	var b strings.Builder
	b.WriteString(name)
	for _, t := range words(args) {
		b.WriteByte(' ')
		b.WriteString(t.text)
		if t.kind == tokenNumber {
			b.WriteString(strconv.FormatFloat(t.value, 'g', -1, 64))
		}
	}
	return b.String()
}

// hsl converts a hue in degrees and two parts of 1 to red, green and blue.
func hsl(h, s, l float64) (r, g, b float64) {
	s, l = max(0, min(1, s)), max(0, min(1, l))
	at := func(n float64) float64 {
		k := math.Mod(math.Mod(n+h/30, 12)+12, 12)
		return 255 * (l - s*min(l, 1-l)*max(-1, min(k-3, 9-k, 1)))
	}
	return at(0), at(8), at(4)
}
