package text

// browserPage is a page that a browser and we read. Unless it is raw, it is sent
// with a byte order mark and a doctype before it.
type browserPage struct {
	name, page string
	raw        bool

	// theirs are the pieces of innerText that we do not have, ours those that
	// innerText does not have, in order, without white space, each of them once
	// in the text. A page where either is stated says why; nothing else may
	// differ.
	theirs, ours []string
	why          string
	// close is set where innerText parts what stands side by side on the screen.
	close bool
}

// agreeingPages have no style sheet and nothing else that the design decides
// otherwise than innerText: every character must be the same.
var agreeingPages = []browserPage{
	// Blocks.
	{name: "paragraphs", page: "<p>one<p>two</p>three<p></p>four"},
	{name: "headings", page: "<h1>one</h1><h2>two</h2><h3>three</h3><h4>four</h4><h5>five</h5><h6>six</h6>text"},
	{name: "sections", page: "<header>top</header><nav>here</nav><main><article><section>mid<aside>by</aside></section></article></main><footer>end</footer>"},
	{name: "nested blocks", page: "a<div>b<div>c<p>d</p>e</div>f</div>g"},
	{name: "blocks in inline elements", page: "a<b>b<div>c</div>d</b><i><p>e</p></i>f<span><h2>g</h2></span>"},
	{name: "inline elements in each other", page: "<em>a<strong>b<code>c<kbd>d</kbd></code><samp>e</samp></strong></em><q>f</q><sub>g</sub><sup>h</sup><mark>i</mark>"},
	{name: "quotation and address", page: "<blockquote>said<p>twice</blockquote><address>Street 1<br>Town</address>"},
	{name: "figure", page: "<figure>picture<figcaption>caption</figcaption></figure>after"},
	{name: "a line across", page: "before<hr>after<hr>end"},
	{name: "breaks", page: "a<br>b<br><br>c<br/>d</br>e<wbr>f"},
	{name: "fieldset and legend", page: "<fieldset><legend>title</legend>content<p>more</fieldset>"},
	{name: "open dialog", page: "a<dialog open>asked</dialog>b<dialog>not asked</dialog>c"},
	{name: "open details", page: "<details open><summary>short</summary>long<p>longer</details>after"},
	{name: "old blocks", page: "<center>a</center><dir><li>b</dir><menu><li>c</menu><search>d</search><hgroup><p>e<h2>f</h2></hgroup>"},
	{name: "empty blocks", page: "a<div></div><p> </p><div><span></span></div>b<ul></ul><h1></h1>c"},
	{name: "elements of old", page: "<ruby><rb>a<rtc>b<rt>c</ruby><nobr>d</nobr><tt>e</tt><marquee>f</marquee><basefont>g<bgsound>h<keygen>i<isindex>j<menuitem>k</menuitem><applet>l</applet>"},
	{name: "unknown elements", page: "<x-card>a<card-title>b</card-title></x-card><blink>c</blink><foo:bar>d</foo:bar>"},

	// Lists.
	{name: "lists", page: "<ul><li>a<li>b</ul><ol start=5><li>c<li value=9>d</ol>"},
	{name: "lists in lists", page: "<ol><li>a<ul><li>b<ol><li>c</ol></ul><li>d<p>e</ol>"},
	{name: "definitions", page: "<dl><dt>term<dd>meaning<dd>other<dt>next<div><dt>grouped</dt><dd>too</dd></div></dl>"},
	{name: "items without a list", page: "<li>a<li>b<dd>c<dt>d"},
	{name: "text between items", page: "<ul>a<li>b</li>c<li>d</ul>"},

	// Tables.
	{name: "table", page: "<table><caption>prices</caption><thead><tr><th>a<th>b<tbody><tr><td>1<td>2<tr><td>3<td>4</table>"},
	{name: "cells that span", page: "<table><tr><td colspan=2>a<td rowspan=2>b<tr><td>c<td>d</table>"},
	{name: "empty cells", page: "x<table><tr><td><td>a<td><tr><td><td><td></table>y"},
	{name: "blocks in cells", page: "<table><tr><td><p>a<p>b<td><ul><li>c<li>d</ul><td>e<br>f</table>"},
	{name: "tables in tables", page: "<table><tr><td>a<table><tr><td>b<td>c</table>d<td>e</table>"},
	{name: "text that does not belong into a table", page: "<table>a<tr>b<td>c</td>d</tr>e</table>f"},
	{name: "columns", page: "<table><colgroup><col><col></colgroup><tr><td>a<td>b</table>"},
	{name: "rows without a table", page: "<tr><td>a<td>b</tr><div><td>c</div>"},
	{name: "a caption that comes late", page: "<table><tr><td>a<td>b<caption>c</caption></table>"},

	// White space.
	{name: "white space", page: " a \n\t b  <b> c</b> d\n<i> e </i>\r\n f "},
	{name: "space between blocks", page: "<div> a </div> \n <div>\n b</div> c <p> d"},
	{name: "pre", page: "<pre>\n a\n\n   b\tc </pre><pre>d\n<b>e\n f</b></pre>g"},
	{name: "pre in a cell", page: "<table><tr><td><pre>a\n b\n</pre><td>c</table>"},
	{name: "old preformatted", page: "<listing>a\n<i>b</i></listing><xmp>c<i>&amp;\n d</i></xmp>e"},
	{name: "plaintext", page: "a<plaintext>b</plaintext>&amp;<p>\n c"},
	{name: "spaces of many kinds", page: "a&nbsp;b&ensp;c&thinsp;d&#x3000;e&#x2028;f&#x85;g&#12;h"},
	{name: "white space as styled", page: "<div style='white-space:pre'>a\n  b</div><pre style='white-space:normal'>c\n  d</pre><p style='white-space:pre-line'>e\nf</p>"},

	// Entities.
	{name: "entities", page: "&lt;b&gt; &amp;amp; &quot;&apos; &copy;&eacute;&Auml;&hellip; &#65;&#x42;&#X43;"},
	{name: "entities without an end", page: "&lt b &ltb &notit; &notin; &copy2026 &AMP &amp"},
	{name: "entities that are none", page: "&; & &# &#; &#x; &#xg; &nosuch; &nosuch &#x&#65;"},
	{name: "entities of Windows", page: "&#128;&#x91;a&#146;&#150;&#x99;&#159;"},
	{name: "entities beyond Unicode", page: "a&#0;b&#xD800;c&#x110000;d&#99999999999;e"},
	{name: "entities of two characters", page: "&NotEqualTilde;&nvlt;&fjlig;&acE;"},
	{name: "entities in attributes", page: "<a href='?a=1&lt=2&copy' title='&gt;'>a</a>&gt;b"},

	// Scripts and directions.
	{name: "right to left", page: "<p dir=rtl>שלום <b>עולם</b> 123</p><p dir=auto>مرحبا بالعالم, abc.</p><bdi>אב</bdi><bdo dir=rtl>abc</bdo>"},
	{name: "marks that change directions", page: "a&#x202E;b&#x202C;c&rlm;d&lrm;e&#x2067;f&#x2069;g"},
	{name: "joiners", page: "می&zwnj;خواهم क्&zwj;ष 👨&zwj;👩&zwj;👧 a&zwj;b&zwnj;c&shy;d"},
	{name: "ruby", page: "<ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp>字<rp>(</rp><rt>ji</rt><rp>)</rp></ruby>"},
	{name: "East Asian", page: "<p lang=ja>日本語の文章。<br>全角ＡＢＣ１２３　ｶﾞ</p><p lang=ko>한국어</p>"},
	{name: "beyond the basic plane", page: "𝒳 𠮷 🏴󠁧󠁢󠁥󠁮󠁧󠁿 🇩🇪 1️⃣ ☎️ ☎︎"},
	{name: "combining marks", page: "e\u0301 a\u0323\u0307 \u1100\u1161\u11a8 \u0e19\u0e49\u0e33"},

	// Hidden.
	{name: "hidden", page: "a<p hidden>x</p>b<span hidden=''>x</span>c<div hidden=hidden>x<p>x</p></div>d<i HIDDEN>x</i>e"},
	{name: "hidden elements that end early", page: "<p hidden>x<div>a</div><li hidden>x<li>b<a hidden>x<a>c</a><h1 hidden>x<h2>d</h2></h1><nobr hidden>x<nobr>e</nobr>"},
	{name: "hidden elements that end late", page: "a<b hidden>x<p>x</b>b</p><i hidden><p>x</i>c<div hidden></p>x</div>d<span hidden><div>x</span>x</div>e"},
	{name: "what leaves a hidden table", page: "<table hidden>a<tr><td>x</td>b<p>c</p></tr></table>d<table><div hidden>x</div><tr hidden>e<td>x</table>"},
	{name: "hidden formatting made anew", page: "<p><font hidden>x<p>x</font>a<p><b><i style='display:none'>x</b>x<p>x</i>b"},
	{name: "hidden by an attribute given twice", page: "<p style='color:red' style='display:none'>a</p><p style='display:none' style=''>x</p><p title='<p hidden>'>b</p><p/hidden>x</p><p hidden/>x</p><p =hidden>c</p>"},
	{name: "attributes of a second body", page: "<body><p>a<html class=x><body style='color:red'>b<body style='display:none'>c"},
	{name: "hidden with a prefix", page: "<p xhidden>a</p><p data-hidden>b</p><p x:hidden>c</p>d"},
	{name: "until found", page: "a<p hidden=until-found>x</p>b"},
	{name: "popover", page: "a<div popover>x</div>b<div popover=manual>x</div>c"},
	{name: "display none", page: "a<p style='display:none'>x<b style='display:block'>x</b></p>b<span style='DISPLAY : n\\6fne ! important; display:block'>x</span>c"},
	{name: "display none that does not count", page: "<p style='display:none;display:block'>a</p><p style='/*display:none*/'>b</p><p style='x-display:none'>c</p><p style='display:none bogus'>d</p>"},
	{name: "visibility", page: "a<p style='visibility:hidden'>x<b style='visibility:visible'>b</b>x</p>c<span style='visibility:collapse'>x</span>d"},
	{name: "display by style", page: "a<span style='display:block'>b</span>c<span style='display:inline-block'>d</span><b style='display:table-cell'>e</b><b style='display:contents'>f</b><div style='display:inline'>g</div>"},
	{name: "parts of tables", page: "<table><tr hidden><td>x</tr><tr><td hidden>x<td>a</tr><tbody style='display:none'><tr><td>x</tbody></table><br hidden>b"},
	{name: "columns by style", close: true, page: "a<span style='display:table-column'>x</span>b<div style='display:table-column-group'>x</div>c"},
	{name: "displays that are valid", page: "<p style='display:none;display:inline list-item flow'>a</p><p style='display:none;display:math inline'>b</p><p style='display:none;display:-webkit-inline-flex'>c</p><p style='display:none;display:ruby-text'>d</p>"},
	{name: "displays that are not", page: "a<p style='display:none;display:block flow flow'>x</p><p style='display:none;display:inline table-cell'>x</p><p style='display:none;display:run-in'>x</p><p style='display:none;display:list-item table'>x</p>b"},
	{name: "all at once", page: "<p style='display:none;all:unset'>a</p><p style='all:unset;display:none'>x</p><p style='visibility:hidden'>x<b style='visibility:visible;all:inherit'>x</b><b style='all:initial'>b</b></p>"},
	{name: "odd styles", page: "<div style='display:none/*'>x</div><div style='display:no/**/ne'>a</div><div style='\\64isplay:none'>x</div><div style='}display:none'>b</div><div style='x:[;display:none'>c</div><div style='x:);display:none'>x</div><div style='<!--display:none'>d</div>e"},
	{name: "shadow trees", page: "<div><template shadowrootmode=open></template>x<b>x</b></div>a<div><template shadowrootmode=open><slot></slot></template>b</div><x-y><template shadowrootmode=closed></template>x</x-y><ul><template shadowrootmode=open></template><li>c</ul>"},
	{name: "slots of shadow trees", page: "<div><template shadowrootmode=open><slot name=n></slot></template>x<b slot=n>a</b><b slot=m>x</b></div><p><template shadowrootmode=open><i hidden><slot></slot></i></template>x</p><div><template shadowrootmode=open><p><template shadowrootmode=open></template><slot></slot></p></template>x</div>b"},
	{name: "a shadow tree of the body", page: "<body><template shadowrootmode=open><slot></slot></template>a<p>b"},
	{name: "closed in an open one", page: "<details open><summary>a</summary>b<template>x</template></details>c"},

	// Not text.
	{name: "scripts, styles that style nothing, templates", page: "a<script>x<b>y</script>b<style>/* none */</style>c<template>x<p>y</template>d<script type=text/plain>x</script>e"},
	{name: "no script", page: "a<noscript>x<p>y</noscript>b<noscript><style>x</style></noscript>c"},
	{name: "a head with everything", page: "<html><head><title>x</title><meta name=description content=x><link rel=next href=x><base target=_top><script>x</script></head><body>a</body></html>"},
	{name: "a title in the body", page: "a<title>x</title>b<meta content=x>c<link rel=next href=x>d"},
	{name: "comments", page: "a<!-- x -->b<!-->c<!--->d<!-- x --!>e<!x>f<?x>g</ x>h<!-- <!-- x -->i"},
	{name: "an open comment", page: "a<!-- x <p>x</p>"},
	{name: "CDATA", page: "a<![CDATA[x<b>y]]>b<p>c]]></p>"},
	{name: "images", page: "a<img alt=x src='data:,'>b<picture><source srcset=x><img alt=x></picture>c<map><area alt=x></map>d"},
	{name: "media", page: "a<audio>x</audio>b<video><track label=x>x</video>c<canvas>x</canvas>d"},
	{name: "frames in the page", page: "a<iframe srcdoc='x'>x<p>y</iframe>b<noembed>x<b>y</noembed>c<noframes>x</noframes>d"},
	{name: "controls without text", page: "a<input value=x>b<input type=submit value=x>c<input type=hidden value=x>d<meter>x</meter>e<progress>x</progress>f"},
	{name: "a form that contains nothing", page: "<table><form><tr><td>a<input></td></form></tr></table>b"},
	{name: "choices that are not shown", page: "a<datalist><option>x</datalist>b<label>c <input list=x placeholder=x></label>d<output>e</output>"},
	// An identifier of one letter is in mathematical italics in innerText.
	{name: "formulas", close: true, page: "<math><mi>sin</mi><mo>=</mo><mfrac><mn>1</mn><mn>2</mn></mfrac><msqrt><mtext>root</mtext></msqrt><msup><mn>3</mn><mn>2</mn></msup></math>"},
	{name: "what formulas do not render", close: true, page: "a<math>x<mrow>x<mi>bb</mi></mrow><mphantom><mtext>x</mtext></mphantom><mspace>x<mtext>x</mtext></mspace><mfoo>x</mfoo></math>c"},
	{name: "alternatives in formulas", close: true, page: "<math><semantics><mtext>a</mtext><mtext>x</mtext><annotation>x</annotation></semantics><maction>x<mtext>b</mtext><mtext>x</mtext></maction></math>"},
	{name: "tables in formulas", page: "<math><mtable><mtr><mtd>a</mtd><mtd><mn>1</mn></mtd></mtr><mtr><mtd><mtext>b<p>c</p></mtext></mtd></mtr></mtable></math>d"},
	{name: "pages in pictures", page: "a<svg><p>b</svg>c<math><annotation-xml encoding=text/html><p>x</annotation-xml></math>d"},

	// Links.
	{name: "links", page: "<a href=https://example.test/>a</a><a href='javascript:x'>b</a><a name=x>c</a><a href=x><p>d</p></a><a href=x>e<a href=y>f</a>g"},
	{name: "attributes that tell", page: "<abbr title=x>a</abbr><time datetime=x>b</time><data value=x>c</data><span data-x='x' aria-label=x title=x>d</span>"},

	// Markup that is wrong.
	{name: "wrongly nested", page: "<b>a<i>b</b>c</i>d<p><b>e<p>f</b>g<a>h<div>i</a>j</div>"},
	{name: "not closed", page: "<div><p>a<b>b<ul><li>c<i>d"},
	{name: "ends without beginnings", page: "a</div>b</p>c</span></b>d</li>e</table>f</body>g</html>h"},
	{name: "tags that are none", page: "a < b <3 c<>d</>e <- f a<b"},
	{name: "broken attributes", page: "<p class=\"x\"id='y'z=a>b>a</p><p =x a=b=c '>b</p><p \"x\">c</p><img alt=\"x>\">d"},
	{name: "cut off in a tag", page: "a<p>b<span class='x"},
	{name: "upper case", page: "<P>a<BR>b<TABLE><TR><TD>c<TD>d</TABLE><SCRIPT>x</SCRIPT><DIV HIDDEN>x</DIV>"},
	{name: "slashes", page: "<div/>a<br/><b/>b<script/>x</script/>c<img/alt=x/>d"},
	{name: "zeros", page: "a\x00b<p>c\x00</p><b\x00>d</b\x00>e"},
	{name: "two bodies", page: "<body>a<body class=x>b<html>c</body>d<head><title>x</title></head>e"},
	{name: "headings and forms of headings", page: "<h1>a<h2>b</h1>c<p>d<h3>e</p>f"},

	// Characters.
	{name: "a declared charset", raw: true, page: "<!doctype html><meta charset=windows-1251><p>\xcf\xf0\xe8\xe2\xe5\xf2 \xb9 1"},
	{name: "a charset declared at length", raw: true, page: "<meta http-equiv=Content-Type content='text/html; charset=shift_jis'>\x93\xfa\x96\x7b\x8c\xea"},
	{name: "Latin 1 is Windows'", raw: true, page: "<meta charset=iso-8859-1>\x93caf\xe9\x94 \x80"},
	{name: "UTF-8", raw: true, page: "<meta charset=utf-8><p>Grüße, Привет"},
	{name: "UTF-16", raw: true, page: "\xff\xfe<\x00p\x00>\x00a\x00\x3f\x04\x16\x20"},
	{name: "a byte order mark and a lie", raw: true, page: "\xef\xbb\xbf<meta charset=windows-1252><p>Grüße"},
	{name: "a charset in a comment", raw: true, page: "<!-- <meta charset=koi8-r> --><meta charset=windows-1252>\xe9t\xe9"},
	{name: "Chinese and Korean", raw: true, page: "<meta charset=gb18030>\xc4\xe3\xba\xc3"},
	{name: "a charset that shifts", raw: true, page: "<meta charset=iso-2022-jp>\x1b$B4A;z\x1b(B"},
	{name: "UTF-16 that is not", raw: true, page: "<meta charset=utf-16>Grüße"},
	{name: "a charset declared late", raw: true, page: "<body><p>a</p><meta charset=koi8-r>\xf0\xd2\xc9"},
	{name: "a page without a doctype", raw: true, page: "<table><tr><td>a<p>b<td>c</table>d"},
	{name: "an old doctype", raw: true, page: "<!DOCTYPE html PUBLIC '-//W3C//DTD XHTML 1.0 Strict//EN' 'x'><html xmlns='x'><p>a<br />b</p>"},

	// Pages like those of the world.
	{name: "an article", page: `<html lang=en><head><title>x</title><body>
<nav><ul><li><a href=/>Home</a><li><a href=/n>News</a></ul></nav>
<main><h1>Rivers &amp; Lakes</h1>
<p>The <em>longest</em> river is 6,650&nbsp;km long.<sup><a href=#n>[1]</a></sup>
<p>It is <strong>not</strong> the widest:
<table><tr><th>River<th>Width<tr><td>A<td>11&thinsp;km<tr><td>B<td>40&thinsp;km</table>
</main><footer>© 2026 <span>Nobody</span></footer>`},
	{name: "a mail", page: `<body bgcolor=white><table width=600 cellpadding=0><tr><td><font face=arial color=#333333>Hello&nbsp;Ann,<br><br>
your order <b>4711</b> has left.</font></td></tr><tr><td><table><tr><td>Item</td><td align=right>2 pcs</td></tr></table></td></tr></table>
<p class=MsoNormal><span style='font-size:11.0pt'>Regards<o:p></o:p></span></p><!--[if mso]>x<![endif]-->`},
	{name: "a documentation page", page: `<h2 id=use>Use<a href=#use>¶</a></h2><pre><code><span class=k>func</span> main() {
	fmt.Println(<span class=s>"&lt;hi&gt;"</span>)
}
</code></pre><dl><dt><code>-v</code><dd>say more<dt><code>-q</code><dd>say less</dl>`},
}
