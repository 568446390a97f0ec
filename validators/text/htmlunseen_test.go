package text

import (
	"strings"
	"testing"
	"time"
)

// B5: text that markup alone keeps a browser from rendering.
func TestUnseen(t *testing.T) {
	for _, tt := range []struct {
		name, in, want string
		hidden         int
	}{
		{"no slot", "<div><template shadowrootmode=open>s</template>x<b>y</b></div>a", "a", 2},
		{"a slot", "<div><template shadowrootmode=open><p><slot></slot></template>a<b>b</b></div>c", "ab\nc", 0},
		{"the whole page", "<template shadowrootmode=open></template>x", "x", 0}, // in the head it is a mere template
		{"the whole body", "<body><template shadowrootmode=open></template>x<p>y", "", 2},
		{"slots with names", "<div><template shadowrootmode=closed><slot name=n></slot></template>x<b slot=n>a</b><b slot=m>y</b></div>", "a", 2},
		{"a hidden slot", "<div><template shadowrootmode=open><p hidden><slot></slot></p></template>x</div>a", "a", 1},
		{"a slot without size", "<div><template shadowrootmode=open><p style='font-size:0'><slot></slot></p></template>x</div>a", "a", 1},
		{"a slot in a template", "<div><template shadowrootmode=open><template><slot></slot></template></template>x</div>a", "a", 1},
		{"a slot passed on", "<div><template shadowrootmode=open><p><template shadowrootmode=open><slot></slot></template><slot></slot></p></template>a</div>", "a", 0},
		{"a slot not passed on", "<div><template shadowrootmode=open><p><template shadowrootmode=open></template><slot></slot></p></template>x</div>a", "a", 1},
		{"the first template counts", "<div><template></template><template shadowrootmode=OPEN></template><template shadowrootmode=open><slot></slot></template>x</div>a", "a", 1},
		{"no such mode", "<div><template shadowrootmode=ajar></template>a</div>", "a", 0},
		{"no host", "<ul><template shadowrootmode=open></template><li>a</ul><font-face><template shadowrootmode=open></template>b</font-face>", "a\nb", 0},
		{"a custom element", "<x-y><template shadowrootmode=open></template>x</x-y>a", "a", 1},
		{"deeper than a child", "<div><template shadowrootmode=open></template><p><b>x</b>y</p></div>a", "a", 2},

		{"phantom", "<math><mphantom><mtext>x</mtext></mphantom><mi>a</mi></math>", "a", 1},
		{"loose text", "<math>x<mi>a</mi><mrow>y</mrow><mfoo>z</mfoo></math>", "a", 3},
		{"alternatives", "<math><maction>x<mtext>a</mtext><mtext>y</mtext></maction><semantics><mi>b</mi><mi>z</mi></semantics></math>", "ab", 3},
		{"a space with text", "<math><mspace><mtext>x</mtext></mspace><mtext>a</mtext></math>", "a", 1},
		{"text in a table", "<math><mtable><mtr><mtd>a</mtd><mtd><mn>1</mn></mtd></mtr></mtable></math>", "a\t1", 0},

		{"all inherits", "<p style='font-size:0'><b style='font-size:9px;all:inherit'>x</b></p><p style='visibility:hidden'><b style='visibility:visible;all:unset'>y</b></p>a", "a", 2},
		{"all initial", "<p style='visibility:hidden;font-size:0'><b style='all:initial'>a</b></p>", "a", 0},
		{"an unknown element", "a<applet>b</applet>c", "abc", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := process(t, tt.in, "text/html", Options{})
			if got.Content != tt.want || got.Noticed.HiddenText != tt.hidden {
				t.Errorf("%s\n got %q, %d hidden\nwant %q, %d", tt.in, got.Content, got.Noticed.HiddenText, tt.want, tt.hidden)
			}
		})
	}
}

// B5: style sheets in shadow trees are noticed, those in other templates not.
func TestShadowStyleSheets(t *testing.T) {
	for page, want := range map[string]int{
		"<div><template shadowrootmode=open><style>x</style><link rel=stylesheet href=x></template></div>":     2,
		"<div><template><style>x</style></template></div>":                                                     0,
		"<div><template shadowrootmode=open><template><style>x</style></template></template></div>":            0,
		"<div><template><div><template shadowrootmode=open><style>x</style></template></div></template></div>": 0,
	} {
		got := process(t, page, "text/html", Options{})
		if got.Noticed.Unevaluated != want {
			t.Errorf("%s: %d style sheets, want %d", page, got.Noticed.Unevaluated, want)
		}
	}
}

// B5: shadow trees in each other, and very many of them, are looked at once.
func TestManyShadowTrees(t *testing.T) {
	const host = "<div><template shadowrootmode=open><slot></slot>"
	for _, page := range []string{
		strings.Repeat(host, 200) + strings.Repeat("<p>x</p>", 50_000),
		strings.Repeat(host+"</template>", 400) + strings.Repeat("<p>x</p>", 50_000),
		strings.Repeat(host+"</template>x</div>", 20_000),
		"<div>" + strings.Repeat("<template shadowrootmode=open></template>", 30_000) + "x",
	} {
		start := time.Now()
		process(t, page, "text/html", Options{})
		if took := time.Since(start); took > 8*time.Second {
			t.Errorf("%.40s…: %v", page, took)
		}
	}
}
