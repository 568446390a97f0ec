package format

import "strings"

func emailRows() []row {
	return []row{
		yes("a@example.test"),
		yes("first.last+tag@example.test"),
		yes("!#$%&'*+-/=?^_`{|}~@example.test"),
		yes(`"a b\"c\\ @ ."@example.test`),
		yes("a@[192.0.2.1]"),
		yes("a@[IPv6:2001:db8::1]"),
		yes("a@[ipv6:::1]"),
		yes(strings.Repeat("a", 64) + "@example.test"),
		// 050
		no(0, "@example.com"),
		no(2, "\"x\nBcc: y\"@example.com"),
		yes("a@b"),
		// control characters, bare and escaped, and DEL
		no(2, "\"x\x00y\"@example.test"),
		no(2, "\"x\ry\"@example.test"),
		no(2, "\"x\ty\"@example.test"),
		no(2, "\"x\x7fy\"@example.test"),
		no(3, "\"x\\\n\"@example.test"),
		no(3, "\"x\\\x7f\"@example.test"),
		no(1, "a\n@example.test"),
		no(14, "a@example.test\n"),
		no(14, "a@example.test\r\nBcc: b@example.test"),
		// local part
		no(0, ""),
		no(1, "a"),
		no(1, `""@example.test`),
		no(3, `"a"`),
		no(2, `"a`),
		no(3, `"a\`),
		no(3, `"a"b@example.test`),
		no(0, ".a@example.test"),
		no(2, "a.@example.test"),
		no(2, "a..b@example.test"),
		no(1, "a b@example.test"),
		no(1, "A <a@example.test>"),
		no(1, "a(c)@example.test"),
		no(64, strings.Repeat("a", 65)+"@example.test"),
		no(64, `"`+strings.Repeat("a", 63)+`"@example.test`),
		no(0, "\u0430@example.test"), // CYRILLIC SMALL LETTER A
		no(4, "a@ex\u0430mple.test"),
		// domain
		no(2, "a@"),
		no(3, "a@b@example.test"),
		no(2, "a@.test"),
		no(15, "a@example.test."),
		no(3, "a@b_c.test"),
		no(2, "a@-b.test"),
		no(10, "a@192.0.2.1"),
		no(3, "a@[]"),
		no(3, "a@[256.0.0.1]"),
		no(12, "a@[192.0.2.1"),
		no(3, "a@[tag:x]"),
		no(11, "a@[IPv6:::1%1]"),
		no(14, "a@[192.0.2.1]x"),
		no(14, "a@example.test, b@example.test"),
	}
}

func idnEmailRows() []row {
	return []row{
		yes("a@example.test"),
		yes("\u03b4\u03bf\u03ba@\u03b4\u03bf\u03ba.test"),
		yes("\"\u03b4 \u03bf\"@example.test"),
		yes("a@cafe\u0301.test"), // not in NFC
		no(2, "\"x\n\u03b4\"@example.test"),
		no(3, "\"x\\\u03b4\"@example.test"), // only ASCII may be escaped
		no(0, "@\u03b4.test"),
		no(64, strings.Repeat("\u03b4", 33)+"@example.test"), // octets, not characters
		no(5, "a\uff20b"),                                    // FULLWIDTH COMMERCIAL AT
		no(2, "a@b\u3002test"),
		no(2, "a@\u00b7.test"),
		no(2, "a@\u200b.test"),
		no(2, "a@"+strings.Repeat("\u03b4", 600)),
	}
}
