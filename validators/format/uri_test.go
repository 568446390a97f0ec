package format

func uriRows() []row {
	return []row{
		yes("https://example.test/a?b=c#d"),
		yes("HTTPS://user:pw@example.test:8443/"),
		yes("http://example.test:/"), // RFC 3986 has an empty port
		yes("http://"),
		yes("a:"),
		yes("urn:isbn:0451450523"),
		yes("mailto:a@example.test"),
		yes("file:///etc/hosts"),
		yes("http://[2001:db8::1]:80/"),
		yes("http://[v7.a:b]/"),
		yes("a+b-c.d:e"),
		yes("x:?/?#/?"),
		no(0, ""),
		no(0, "//example.test/"),
		no(0, "/a"),
		no(0, "a"),
		no(0, ":a"),
		no(0, "1a:b"),
		no(1, "a_b:c"),
		no(22, "https://example.test/a%2"),
		no(20, "https://example.test\\@evil.test/"),
		no(22, "https://example.test/a\nb"),
		no(20, "https://example.test\x00/"),
		no(21, "https://example.test/\u00e9"),
		no(21, "https://example.test/<"),
		no(24, "https://example.test/?a=\""),
		no(23, "https://example.test/#a#b"),
		no(21, "https://example.test:a/"),
		no(10, "http://a@b@example.test/"),
		no(11, "http://[::1/"),
		no(8, "http://[]/"),
		no(12, "http://[::1]x/"),
		no(11, "http://[::1%25eth0]/"),
		no(9, "http://[v.a]/"),
		no(11, "http://[v1.]/"),
		no(10, "http://[v1]/"),
		no(7, "http://[v1.@]/"),
		no(8, "http://a[::1]/"),
		no(6, "http:/[::1]"),
		no(7, "http://%/"),
	}
}

func uriReferenceRows() []row {
	return []row{
		yes(""),
		yes("a"),
		yes("../a?b#c"),
		yes("//example.test"),
		yes("?a"),
		yes("#a"),
		yes("./a:b"),
		yes("a/b:c"),
		yes("https://example.test/"),
		no(0, "1:b"),
		no(0, ":b"),
		no(0, "\\\\host\\share"),
		no(1, "/\\"),
		no(1, "a b"),
		no(4, "//a:b/"),
		no(1, "/%gg"),
		no(2, "#a\n"),
	}
}

func iriRows() []row {
	return []row{
		yes("https://b\u00fccher.test/\u00e9?\u00e9#\u00e9"),
		yes("https://example.test/?\ue000"), // private use in a query only
		yes("https://\u00e9@example.test/"),
		yes("a:\U0001f600"),
		no(0, "/\u00e9"),
		no(21, "https://example.test/\ue000"),
		no(22, "https://example.test/#\ue000"),
		no(0, "\u00e9:a"),
		no(2, "a:\u0085"),
		no(2, "a:\ufdd0"),
		no(2, "a:\uffff"),
		no(2, "a:\U0001ffff"),
		no(2, "a:\U000e0041"), // a tag character
		no(2, "a:\u202egpj.exe"),
		no(2, "a:\u2067b"),
		no(2, "a:\u200f"),
		no(21, "https://example.test:\u0661/"),
		no(4, "a:ab["),
	}
}

func iriReferenceRows() []row {
	return []row{
		yes(""),
		yes("\u00e9"),
		yes("//\u00e9/\u00e9"),
		yes("#\u00e9"),
		no(0, "\u00e9:a"),
		no(2, "\u00e9\\"),
		no(0, "\u202e"),
		no(0, "%e"),
	}
}
