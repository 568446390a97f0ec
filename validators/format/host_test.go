package format

import (
	"strings"
	"testing"

	"golang.org/x/net/idna"
	"golang.org/x/text/cases"
)

var (
	label63 = strings.Repeat("a", 63)
	name253 = label63 + "." + label63 + "." + label63 + "." + strings.Repeat("a", 61)
)

func hostnameRows() []row {
	return []row{
		yes("example.test"),
		yes("EXAMPLE.Test"),
		yes("localhost"),
		yes("3com.test"),
		yes("r3---sn-x.example.test"), // in use, and no A-label
		yes("a--b.test"),
		yes(label63),
		yes(name253),
		yes("xn--bcher-kva.example.test"),
		yes("XN--BCHER-KVA.example.test"),
		yes("1.2.3.4.test"),
		no(0, ""),
		no(0, "."),
		no(13, "example.test."), // the root is no label
		no(0, ".test"),
		no(2, "a..test"),
		no(0, "-a.test"),
		no(1, "a-.test"),
		no(1, "a_b.test"),
		no(1, "a b"),
		no(12, "example.test\n"),
		no(12, "example.test:80"),
		no(0, label63+"a"),
		no(0, name253+"a"),
		no(2, "ex\u0430mple.test"), // CYRILLIC SMALL LETTER A
		no(7, "example\u3002test"),
		// an IPv4 address in any notation is no name (RFC 1123 section 2.1)
		no(8, "192.0.2.1"),
		no(0, "2130706433"),
		no(4, "127.1"),
		no(0, "[::1]"),
		// A-labels: RFC 5891 section 5.4
		no(3, "xn--.test"),
		no(3, "xn--"),
		no(0, "xn--X"),
		no(4, "www.xn--7a.test"),
		no(13, "a.xn--example-"),
		no(0, "xn--a"),
		no(0, "xn--bcher-kva1"),
		no(0, "xn--99999999"),
		no(0, "xn--0ca24w"), // breaks the Bidi rule
		no(0, "xn--al-0ea"), // a middle dot without two l
		no(0, "xn--s-jib3p"),
	}
}

func idnHostnameRows() []row {
	return []row{
		yes("example.test"),
		yes("b\u00fccher.test"),
		yes("xn--bcher-kva.b\u00fccher"),
		yes("stra\u00dfe.test"),
		yes("\u05d0\u05d1.test"),
		yes("\u05d0\u05d1.a1.test"),
		yes("\u05d01\u05d1"),
		yes("\u0628\u064a\u200c\u0628\u064a.test"),
		yes("\u0628\u0650\u200c\u0650\u0628"), // marks on both sides of the joiner
		yes("\u0915\u094d\u200c\u0937"),
		yes("a\u3002b\uff0ec\uff61d"),
		yes("l\u00b7l"),
		yes("\u13a0\u13a1"), // Cherokee folds to its capitals
		no(0, ""),
		no(0, "\u3002"),
		no(2, "a.\u3002b"),
		no(13, "b\u00fccher.test."),
		no(0, "B\u00fccher"), // nothing is mapped: capitals are for the user interface
		no(7, "b\u00fccher-"),
		no(0, "\uab70\uab71"),
		no(0, "cafe\u0301"), // not in NFC
		no(0, "\u0300a"), no(0, "ab--\u00fc"),
		no(0, "a\u200b\u00fc"), // ZERO WIDTH SPACE
		no(0, "a\u202e\u00fc"), // RIGHT-TO-LEFT OVERRIDE
		no(0, "\U0001f600.test"),
		no(0, "\u2160"), no(0, "\uff41"), // ROMAN NUMERAL ONE, FULLWIDTH a
		no(14, "127\u30020\u30020\u30021"), // an address between wide dots
		no(0, "\u1100\u1161"), no(0, "\u1100"),
		no(0, "\u20d0a"), no(0, "a\u20d0"), no(0, "a\ufe0f"), no(0, "a\u034f"),
		no(0, "a\u2044b"),                 // FRACTION SLASH
		no(0, "a\u0378"), no(0, "\ue000"), // unassigned, private use
		// RFC 5892 appendix A
		no(0, "\u0628\u200cx"), // the letter after it does not join
		no(0, "x\u200c\u0628"),
		no(0, "\u0915\u094d\u200c\u200c\u0937"),
		no(0, "\u0628\u200d\u0628"),
		no(0, "\u0627\u200c\u0628"), // alef joins to the right only
		no(0, "\u200c"),
		no(0, "a\u00b7l"),
		no(0, "l\u00b7\u0142"),
		no(0, "\u0375a"),
		no(0, "a\u05f3"),
		no(0, "\u30fb"),
		no(0, "\u0628\u0661\u06f1"),
		// RFC 5893
		no(0, "a\u05d0"),
		no(0, "\u05d0a"),
		no(0, "0a.\u05d0"),
		no(5, "\u05d0\u05d1.1a.test"),
		no(2, "\u05d0-"), // 3, were it not for the hyphen rule before
		no(0, "\u05d01\u0661"),
		yes("\u30a2\u30fb"), no(0, "\u30a2\u30fb.\u05d0"), // 6: ends in a neutral
		yes("\u05d0\u02c6\u05d0"), no(0, "\u05d0\u02c6"), // 3
		no(0, strings.Repeat("\u00fc", 60)),
		no(0, strings.Repeat("\u00fc.", 200)+"test"),
		no(0, strings.Repeat("\u00fc.", 36)+"test"),
	}
}

// Every code point that may be in a label alone is stable: the A-label that
// stands for it is a host name, and neither form is refused where the other
// conforms.
func TestEveryCodePointBothForms(t *testing.T) {
	fold := cases.Fold()
	allowed := 0
	for r := rune(0x80); r <= 0x2FFFF; r++ {
		if 0xD800 <= r && r <= 0xDFFF {
			continue
		}
		if derivedProperty(r, fold) == pvalid {
			allowed++
		}
		u := string(r)
		if isWideDot(r) {
			continue // a separator, and no character of a label
		}
		a, err := idna.Punycode.ToASCII(u)
		if err != nil {
			t.Fatal(err)
		}
		if (checkIDNHostname(u) == nil) != (checkHostname(a) == nil) {
			t.Errorf("U+%04X and its A-label are judged differently", r)
		}
	}
	// 100,000 is far below Unicode 15's and far above what a broken table has.
	if allowed < 100_000 {
		t.Errorf("only %d code points are allowed", allowed)
	}
}

// RFC 5892 section 2.6 and appendix B by sample, whatever the tables say.
func TestDerivedProperty(t *testing.T) {
	fold := cases.Fold()
	for r, want := range map[rune]property{
		'a': pvalid, 'z': pvalid, '0': pvalid, '-': pvalid, 'A': disallowed, '.': disallowed, '_': disallowed, '/': disallowed,
		0x00DF: pvalid, 0x03C2: pvalid, 0x06FD: pvalid, 0x0F0B: pvalid, 0x3007: pvalid,
		0x00B7: contextual, 0x0660: contextual, 0x06F9: contextual, 0x200C: contextual, 0x200D: contextual, 0x30FB: contextual,
		0x0640: disallowed, 0x07FA: disallowed, 0x302E: disallowed, 0x3031: disallowed, 0x303B: disallowed,
		0x00AA: disallowed, 0x00C0: disallowed, 0x00E0: pvalid, 0x0149: disallowed, 0x01F0: pvalid, 0x0345: disallowed,
		0x1E9E: disallowed, 0x2126: disallowed, 0x212A: disallowed, 0x3400: pvalid, 0x4E00: pvalid, 0xAC00: pvalid,
		0xF900: disallowed, 0xFB00: disallowed, 0x1D165: disallowed, 0x10FFFF: disallowed, 0xE0001: disallowed, 0xFFFD: disallowed,
		0x1100: disallowed, 0xA960: disallowed, 0xD7FB: disallowed, 0x13A0: pvalid, 0xAB70: disallowed, 0x13F8: disallowed,
	} {
		if got := derivedProperty(r, fold); got != want {
			t.Errorf("U+%04X: got %d, want %d", r, got, want)
		}
	}
}
