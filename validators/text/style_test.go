package text

import (
	"strings"
	"testing"
)

// hiding are inline styles that hide, showing are some that do not.
var hiding = []string{
	"display:none", " DISPLAY : NONE ", "display:none!important", "display:none ! IMPORTANT ;", "display:none/*x*/",
	"color:red;/*;*/display:none", "dis\\70 lay:none", "display:\\6e\x0c\\6f\x0c\\6e\x0c\\65", "display:n\\6fne",
	"display:none;display:bogus", "display:none;display:none block", "display:none!important;display:block",
	"display:block;display:none", "content:';';display:none", "a:b;;;display:none", "@x{a:b}display:none", "@x y;display:none",
	"background:url(a;b);display:none", "background:url( 'a;b' );display:none", "x:(;);display:none", "x:[;{;}];display:none",
	"1x:y;display:none", "display:none;'", "transform:scale(0", "transform:x() scale( 0", "content:\"a\\\"b\";display:none", "x:'\n;display:none",
	"display:none;display:block flow flow", "display:none;display:inline block", "display:none;display:list-item table",
	"display:none;display:inline table-cell", "display:none;display:run-in", "display:none;display:-ms-flexbox",
	"display:table-column", "display:block;display:table-column-group", "all:unset;display:none", "display:none;all:bogus",
	"display:none!important;all:unset",
	"visibility:hidden", "visibility:collapse", "content-visibility:hidden",
	"margin:-9999px", "margin:0 0 0 -9999px", "margin:-2000px 0 0", "transform:translateX(-9999px)", "transform:rotate(0) translate(0,-9999px)", "transform:translate3d(-9999px,0,0)", "translate:-9999px", "position:absolute;left:-100vw", "position:fixed;top:-100vh",
	"opacity:0", "opacity:0.0", "opacity:-1", "opacity:0%", "opacity:.0e3", "opacity:calc(0)", "opacity:+0",
	"font-size:0", "font-size:0px", "font-size:0%", "font-size:calc(0px)", "font:0/0 a", "font:bold 0px x", "font-size:0;font-size:-1px",
	"font-size:0;font-size:16",
	"color:transparent", "color:#0000", "color:#12345600", "color:rgba(1,2,3,0)", "color:rgb(0 0 0 / 0%)", "color:hsla(1,2%,3%,.0)",
	"color:oklch(1 2 3 / 0)", "color:rgb(0 0 0/none)",
	"color:#fff;background:white", "color:WHITE;background-color:#FFFFFF", "background:url();background:#fff;color:rgb(255,255,255)",
	"color:hsl(0,0%,100%);background:rgb(100% 100% 100%)", "color:red;background:currentcolor", "color:lab(1 2 3);background:lab(1  2 3)",
	"background:no-repeat #ABC;color:#aabbcc", "background-color:red;background:blue;color:blue", "color:hsl(120deg 100% 50%);background:lime",
	"transform:scale(0)", "transform:rotate(3deg) scaleX(0)", "transform:scale(1,0)", "transform:scale3d(0,1,1)", "transform:matrix(0,0,0,0,1,1)",
	"-webkit-transform:scale(0)", "scale:0", "scale:1 0",
	"clip:rect(0,0,0,0)", "clip:rect(0 0 0 0)", "clip:rect(1px,1px,1px,1px)", "clip-path:inset(100%)", "clip-path:inset(50%)",
	"clip-path:inset(0 50%)", "clip-path:inset(10% 0 90%)", "clip-path:circle(0)", "clip-path:circle(0px at 1px 2px)", "clip-path:ellipse(1px 0)",
	"clip-path:polygon(0 0,0 0,0 0)", "clip-path:polygon(0 0,0 9px)", "clip-path:rect(0 0 0 0)", "-webkit-clip-path:inset(50% round 3px)",
	"height:0;overflow:hidden", "width:0px;overflow:clip", "max-height:0;overflow-y:hidden", "width:0;overflow:hidden visible",
	"width:1px;height:1px;overflow:hidden", "height:0;overflow:visible;overflow:hidden",
	"position:absolute;left:-9999px", "position:fixed;top:-999em", "position:absolute;right:-100%", "position:relative;left:-5000px",
	"position:absolute;inset:0 0 0 -9999px", "position:absolute;inset:-9999px", "margin-left:-9999px", "text-indent:-9999px",
	"text-indent:-100%", "text-indent:-999em hanging",
}

var showing = []string{
	"", "display", "display:", ":none", "display none", "x-display:none", "display:none2", "display:'none'", "/*display:none*/",
	"display:none;display:block", "display:none;display:inline-block", "display:none!important;display:block!important", "display:none important",
	"display:none!importantx", "display:url(none)", "content:'display:none;'", "content:\";display:none", "x:(;display:none", "x:{;display:none",
	"display:inherit", "display:none;all:unset", "display:none;all:initial!important", "display:none;display:block flow",
	"display:none;display:list-item flow-root inline", "display:none;display:math inline", "display:none;display:-webkit-inline-flex",
	"visibility:visible", "visibility:none", "opacity:1", "opacity:.01", "opacity:x", "margin:0 -9999px 0 0", "margin:-20px", "transform:translateX(-50%)", "transform:translate(9999px)", "translate:none", "translate:-10px 5px", "position:relative;left:-100vw", "position:absolute;left:-50vw",
	"opacity:calc(0 + 1)", "opacity:calc(var(--o))", "font-size:calc(var(--s))", "font-size:clamp(var(--a),var(--b),var(--c))",
	"height:calc(var(--h));overflow:hidden", "height:calc(0px + var(--h));overflow:hidden", "width:max(var(--a),var(--b));overflow:hidden",
	"font-size:1px", "font-size:0;font-size:1em 2em;font-size:medium", "font:12px/0 a", "font:italic 400 1rem x",
	"color:#fff", "color:#0001", "color:white;background:black", "color:#fff;background:#fff url(x)", "color:#fff;background:url(x) #fff",
	"color:#fff;background:linear-gradient(red,#fff)", "color:#fff;background:#ffffff80", "color:transparent;color:red", "background:transparent",
	"color:#fffff;background:#fff", "color:red;color:rgb()", "background:#fff;color:#fff;background:none", "color:rgba(0,0,0,1)",
	"color:nosuch;background:nosuch", "background:currentcolor;background:red",
	"transform:scale(1)", "transform:none", "transform:a(", "transform:a()", "clip:rect(", "clip-path:inset(", "color:rgb(", "background:rgb(", "transform:scale(0);transform:none", "transform:translate(0)", "scale:1", "transform:rotate(0)",
	"clip:auto", "clip:rect(0,10px,10px,0)", "clip-path:none", "clip-path:inset(10%)", "clip-path:circle(50%)", "clip-path:polygon(0 0,9px 0,0 9px)",
	"clip-path:inset(0 round 100%)",
	"height:0", "height:0;overflow:visible", "overflow:hidden", "height:1px;overflow:hidden", "width:0;overflow-y:hidden", "width:auto;overflow:hidden",
	"left:-9999px", "position:absolute;left:-10px", "position:absolute;left:9999px", "position:relative;left:-100%", "text-indent:-20px",
	"margin-left:-20px", "position:absolute;left:-9999", "text-indent:2em",
}

// B5: inline styles are read as a browser reads them.
func TestInlineStyles(t *testing.T) {
	hides := func(style string) bool {
		page := "<p style=\"" + strings.ReplaceAll(style, "\"", "&quot;") + "\">x</p>"
		got := process(t, page, "text/html", Options{})
		if hidden := got.Content == ""; hidden != (got.Noticed.HiddenText == 1) {
			t.Errorf("%q: content %q, %d hidden", style, got.Content, got.Noticed.HiddenText)
		}
		return got.Content == ""
	}
	for _, style := range hiding {
		if !hides(style) {
			t.Errorf("%q does not hide", style)
		}
	}
	for _, style := range showing {
		if hides(style) {
			t.Errorf("%q hides", style)
		}
	}
}

// Every named colour is one, and equals itself only.
func TestColorNames(t *testing.T) {
	names := strings.Split(strings.TrimSpace(colorNames), "\n")
	if len(names) != 148 {
		t.Errorf("%d names, want 148", len(names))
	}
	for _, line := range names {
		name, hex, _ := strings.Cut(line, " ")
		if c, ok := parseColor(tokens(nil, name)); !ok || c.alpha != 1 || !c.known {
			t.Errorf("%s: %+v", name, c)
		}
		if a, _ := parseColor(tokens(nil, name)); !a.same(must(parseColor(tokens(nil, "#"+hex)))) {
			t.Errorf("%s is not #%s", name, hex)
		}
	}
	for _, name := range []string{"", "whit", "hite", "000000", "white ffffff", "red\n"} {
		if _, ok := namedColor(name); ok {
			t.Errorf("%q is a colour", name)
		}
	}
}

func must(c color, ok bool) color {
	if !ok {
		panic("not a colour")
	}
	return c
}

// B5: the reading of a style never panics, is linear, and is stable.
func FuzzStyle(f *testing.F) {
	for _, s := range hiding {
		f.Add(s)
	}
	for _, s := range showing {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, attr string) {
		list := tokens(nil, attr)
		if len(list) > len(attr) {
			t.Fatalf("%d tokens of %d bytes", len(list), len(attr))
		}
		s := parseStyle(attr)
		if again := parseStyle(attr + ";"); s.removes() && !strings.ContainsAny(attr, "\\({[\"'/") && !again.removes() {
			t.Errorf("%q hides, with a semicolon it does not", attr)
		}
		// A comment before and an unknown declaration after change nothing.
		if strings.ContainsAny(attr, "\\({[\"'/@}") {
			return
		}
		if around := parseStyle("/*;x:y*/" + attr + ";zz:1"); around.removes() != s.removes() {
			t.Errorf("%q: %v, with company %v", attr, s.removes(), around.removes())
		}
	})
}
