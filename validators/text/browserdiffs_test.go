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
}
