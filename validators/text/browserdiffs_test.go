package text

// differingPages are those where the design drops what innerText keeps, or keeps
// what it drops.
var differingPages = []browserPage{
	// Hidden from a reader's eyes though innerText has it.
	{
		name: "aria-hidden", page: "a<p aria-hidden=true>unsaid</p>b<p aria-hidden=false>c</p>",
		theirs: []string{"unsaid"}, why: "aria-hidden=true hides",
	},
	{
		name: "opacity", page: "a<p style='opacity:0'>faint</p>b<p style='opacity:0.5'>c</p><p style='opacity:0%'>fainter</p>",
		theirs: []string{"faint", "fainter"}, why: "no opacity hides",
	},
	{
		name: "font sizes", page: "a<p style='font-size:0'>tiny<b style='font-size:9px'>b</b></p>c<p style='font:0/0 serif'>less</p>",
		theirs: []string{"tiny", "less"}, why: "no size of the font hides",
	},
	{
		name: "colours", page: "a<p style='color:transparent'>clear</p>b<p style='color:#fff;background:white'>snow</p>c<p style='color:rgb(0 0 0 / 0)'>glass</p>",
		theirs: []string{"clear", "snow", "glass"}, why: "a colour without alpha or like its ground hides",
	},
	{
		name: "scaled to nothing", page: "a<p style='transform:scale(0)'>shrunk</p>b<p style='transform:scale(.5)'>c</p>",
		theirs: []string{"shrunk"}, why: "transform: scale(0) hides",
	},
	{
		name: "clipped", page: "a<p style='clip-path:inset(50%)'>clipped</p>b<p style='position:absolute;clip:rect(0,0,0,0)'>cut</p>c",
		theirs: []string{"clipped", "cut"}, why: "a clip to nothing hides",
	},
	{
		name: "empty boxes", page: "a<p style='height:0;overflow:hidden'>flat</p>b<p style='width:1px;height:1px;overflow:hidden;position:absolute'>dot</p>c",
		theirs: []string{"flat", "dot"}, why: "an empty box that clips hides",
	},
	{
		name: "positions", page: "a<p style='position:absolute;left:-9999px'>far</p>b<p style='text-indent:-9999px'>indented</p>c<p style='margin-left:-5000px'>beside</p>d",
		theirs: []string{"far", "indented", "beside"}, why: "a position off the screen hides",
	},

	// Dropped by name.
	{
		name: "form", page: "a<form>asked<input value=x>again</form>b",
		theirs: []string{"askedagain"}, why: "forms are dropped with their content",
	},
	{
		name: "form that is not where it ends", page: "<div>a<form>inside</div>c</form>d",
		theirs: []string{"inside"}, why: "forms are dropped with their content, which is that of the tree",
	},
	{
		name: "form controls", page: "a<button>press</button>b<textarea>typed</textarea>c<select><option>one<optgroup label=x><option>two</select>d",
		theirs: []string{"press", "onetwo"}, why: "form controls are dropped; innerText has no typed text either",
	},
	{
		name: "choices without a control", page: "a<option>one</option>b<optgroup label=x>two</optgroup>c",
		theirs: []string{"one", "two"}, why: "option is dropped wherever it is",
	},
	{
		name: "objects", page: "a<object>instead</object>b<object data='data:text/plain,x'>x</object>c<embed>d",
		theirs: []string{"instead"}, why: "object is dropped, with what is shown in its place",
	},
	{
		name: "drawings", page: "a<svg><text>drawn</text><title>x</title><foreignObject><p>foreign</p></foreignObject></svg>b",
		theirs: []string{"drawnforeign"}, why: "svg is dropped",
	},
	{
		name: "parentheses of ruby", page: "<ruby>a<rp style='display:inline'>(</rp><rt>b</rt></ruby>",
		theirs: []string{"("}, why: "rp is dropped whatever a style says",
	},

	// Kept.
	{
		name: "closed details", page: "<details><summary>a</summary>more<summary>second</summary></details>b<details>without</details>c<details><p>before<summary>d</summary></details>",
		ours: []string{"moresecond", "without", "before"}, why: "details stay: a reader opens them",
	},
	{
		name: "style sheets", page: "<style>.x{display:none}</style>a<p class=x>styled</p>b",
		ours: []string{"styled"}, why: "style sheets are not evaluated, but noticed",
	},
	{
		name: "variables", page: "a<p style='display:var(--x,none)'>variable</p>b<p style='--y:none;display:var(--y)'>named</p>c",
		ours: []string{"variable", "named"}, why: "var() is not resolved: a style sheet may say what it is",
	},

	// Shown in spite of their elements.
	{
		name: "hidden and displayed", page: "a<p hidden style='display:block'>one</p><dialog style='display:block'>two</dialog><p popover style='display:block'>three</p>b",
		theirs: []string{"onetwothree"}, why: "hidden, a closed dialog and popover win over an inline display",
	},
	{
		name: "hidden formula", page: "a<math hidden><mtext>formula</mtext></math>b",
		theirs: []string{"formula"}, why: "hidden hides any element; to a browser MathML has no such attribute",
	},
	{
		name: "content that stays visible", page: "a<p style='content-visibility:hidden'>x</p>b<span style='content-visibility:hidden'>inline</span>c",
		theirs: []string{"inline"}, why: "content-visibility counts for elements of every display",
	},
	{
		name: "a policy against styles", page: "<meta http-equiv=Content-Security-Policy content=\"style-src 'none'\"><p style=display:none>kept</p>a",
		theirs: []string{"kept"}, why: "what hides where no policy forbids it hides",
	},

	// Written otherwise.
	{
		name: "capitals by style", page: "a<p style='text-transform:uppercase'>loud</p>b",
		theirs: []string{"LOUD"}, ours: []string{"loud"}, why: "the text of the source stays; its case is decoration",
	},
	{
		name: "a lying charset", page: "<meta charset=windows-1252>a été", raw: true,
		theirs: []string{"Ã©tÃ©"}, ours: []string{"été"}, why: "valid UTF-8 beats what a page says in <meta>",
	},
}
