package format

func templateRows() []row {
	return []row{
		yes(""),
		yes("https://example.test/{path}{?q,page*}"),
		yes("{+a:1}{#b}{.c}{/d}{;e}{?f}{&g}"),
		yes("{a.b.c:9999}"),
		yes("{%41.%42}"),
		yes("a'b\u00e9"),
		no(1, "{}"),
		no(2, "{a"),
		no(0, "}"),
		no(2, "{?}"),
		no(3, "{a,}"),
		no(1, "{,a}"),
		no(2, "{.}"),
		no(1, "{=a}"), // reserved operators
		no(1, "{!a}"),
		no(1, "{|a}"),
		no(1, "{@a}"),
		no(2, "{a b}"),
		no(3, "{a:0}"),
		no(3, "{a:}"),
		no(7, "{a:10000}"),
		no(3, "{a**}"),
		no(3, "{a*:1}"),
		no(3, "{a.}"),
		no(1, "{{a}}"),
		no(1, "{%4}"),
		no(1, "a\nb"),
		no(0, "%4"),
		no(0, "\u0085"),
		no(1, "a\\b"),
	}
}
