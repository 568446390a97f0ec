package policy

import (
	"math/big"
	"net/netip"
	"net/url"
	"strings"
	"testing"
)

var hostRows = []row{
	{"equal", "example.test", "example.test", inside},
	{"127 upper case", "docs.example.test", "DOCS.example.test", inside},
	{"127 upper case of the grant", "Docs.Example.TEST", "docs.example.test", inside},
	{"127 trailing dot", "docs.example.test", "docs.example.test.", inside},
	{"127 trailing dot of the grant", "docs.example.test.", "docs.example.test", inside},
	{"127 trailing dot of both", "docs.example.test.", "docs.example.test.", inside},
	{"127 two trailing dots", "docs.example.test", "docs.example.test..", malformed},
	{"127 two trailing dots of the grant", "docs.example.test..", "docs.example.test", void},
	{"one label", "intranet", "intranet", inside},
	{"123 subdomain", "example.test", "sub.example.test", outside},
	{"123 parent", "sub.example.test", "example.test", outside},
	{"123 suffix", "example.test", "evilexample.test", outside},
	{"123 prefix", "example.test", "example.test.evil.test", outside},
	{"wildcard", "*.example.test", "a.example.test", void},
	{"star in the argument", "example.test", "*", malformed},
	{"empty", "example.test", "", malformed},
	{"dot", ".", ".", malformed},
	{"leading dot", "example.test", ".example.test", malformed},
	{"empty grant", "", "example.test", void},
	{"port", "example.test", "example.test:443", malformed},
	{"port of the grant", "example.test:443", "example.test", void},
	{"user", "example.test", "a@example.test", malformed},
	{"underscore", "a_b.example.test", "a_b.example.test", malformed},
	{"leading hyphen", "-a.example.test", "-a.example.test", malformed},
	{"trailing hyphen", "a-.example.test", "a-.example.test", malformed},
	{"inner hyphens", "a--b.example.test", "a--b.example.test", inside},
	{"blank", "example.test", " example.test", malformed},
	{"line end", "example.test", "example.test\n", malformed},
	{"nul", "example.test", "example.test\x00", malformed},
	{"slash", "example.test", "example.test/", malformed},
	{"percent", "example.test", "example%2etest", malformed},
	{"wide dot", "example.test", "example\u3002test", malformed},
	{"long s", "test.test", "te\u017ft.test", malformed},
	{"kelvin", "k.test", "\u212a.test", malformed},
	{"U-label", "b\u00fccher.test", "b\u00fccher.test", malformed},
	{"A-label", "xn--bcher-kva.test", "xn--bcher-kva.test", inside},
	{"A-label in capitals", "xn--bcher-kva.test", "XN--BCHER-KVA.test", inside},
	{"A-label not listed", "bcher.test", "xn--bcher-kva.test", outside},
	{"A-label that is none", "xn--a.test", "xn--a.test", malformed},
	{"label of 63", strings.Repeat("a", 63) + ".test", strings.Repeat("a", 63) + ".test", inside},
	{"label of 64", "example.test", strings.Repeat("a", 64) + ".test", malformed},
	{"name of 255", "example.test", strings.Repeat("a.", 125) + "test.", malformed},
	{"IPv4", "192.0.2.1", "192.0.2.1", inside},
	{"IPv4 not listed", "example.test", "192.0.2.1", outside},
	{"IPv4 with a dot", "192.0.2.1", "192.0.2.1.", outside},
	{"decimal", "127.0.0.1", "2130706433", outside},
	{"hexadecimal", "127.0.0.1", "0x7f000001", outside},
	{"hexadecimal parts", "127.0.0.1", "0x7f.0.0.0x1", outside},
	{"hexadecimal in capitals", "0x7f000001", "0X7F000001", outside},
	{"octal", "127.0.0.1", "0177.0.0.1", outside},
	{"octal of a decimal look", "10.0.0.1", "012.0.0.1", outside},
	{"short", "127.0.0.1", "127.1", outside},
	{"three parts", "127.0.0.1", "127.0.1", outside},
	{"zero", "0.0.0.0", "0", outside},
	{"bare 0x", "0.0.0.0", "0x", outside},
	{"short, listed", "127.1", "127.1", inside},
	{"hexadecimal, listed", "0x7f.1", "0x7f.1", inside},
	{"leading zero", "127.0.0.1", "127.0.0.01", outside},
	{"octet of 256", "256.0.0.1", "256.0.0.1", malformed},
	{"five parts", "1.2.3.4.5", "1.2.3.4.5", malformed},
	{"octal with a nine", "09.0.0.1", "09.0.0.1", malformed},
	{"last label a number", "example.1", "example.1", malformed},
	{"last label hexadecimal", "example.0x1", "example.0x1", malformed},
	{"last label too large", "4294967296", "4294967296", malformed},
	{"last label far too large", "1.99999999999999999999", "1.99999999999999999999", malformed},
	{"hexadecimal without a mark", "7f000001", "7f000001", inside},
	{"number in front", "127.example.test", "127.example.test", inside},
	{"IPv6", "2001:db8::1", "2001:db8::1", inside},
	{"IPv6 otherwise", "2001:db8::1", "2001:DB8::1", outside},
	{"IPv6 in full", "2001:db8::1", "2001:db8:0:0:0:0:0:1", outside},
	{"IPv4 in IPv6", "127.0.0.1", "::ffff:127.0.0.1", outside},
	{"IPv6 in brackets", "::1", "[::1]", malformed},
	{"IPv6 with a zone", "fe80::1", "fe80::1%eth0", malformed},
}

// A14, B9: area F 123 and 127, and addresses in every notation.
func TestHost(t *testing.T) {
	check(t, Host, hostRows, func(s string) bool { _, ok := parseHost(s); return ok })
}

// aton is a reader of IPv4 addresses that shares nothing with the one under test: as
// inet_aton does it, numbers of any size, a trailing dot ignored.
func aton(s string) (*big.Int, bool) {
	parts := strings.Split(strings.TrimSuffix(s, "."), ".")
	if len(parts) > 4 {
		return nil, false
	}
	sum := new(big.Int)
	for i, p := range parts {
		p = strings.ToLower(p)
		if len(p) > 1 && p[0] == '0' && p[1] >= '0' && p[1] <= '7' {
			p = "0o" + p[1:]
		}
		if p == "0x" {
			p = "0"
		}
		n, ok := new(big.Int).SetString(p, 0)
		if !ok || strings.ContainsAny(p, "_+-b") && !strings.HasPrefix(p, "0x") {
			return nil, false
		}
		room := uint(8)
		if i == len(parts)-1 {
			room = uint(8 * (5 - len(parts)))
		}
		if n.Sign() < 0 || n.BitLen() > int(room) {
			return nil, false
		}
		sum.Lsh(sum, room).Or(sum, n)
	}
	return sum, true
}

// sameHost is what an executor's parsers say about two hosts.
func sameHost(t *testing.T, granted, used string) {
	t.Helper()
	if g, err := netip.ParseAddr(granted); err == nil {
		if u, err := netip.ParseAddr(used); err != nil || u != g || granted != used {
			t.Errorf("the grant of the address %q covers %q", granted, used)
		}
		return
	}
	if _, err := netip.ParseAddr(used); err == nil {
		t.Errorf("the grant %q covers the address %q", granted, used)
	}
	_, ok := aton(granted)
	if _, is := aton(used); (ok || is) && granted != used {
		t.Errorf("the grant %q covers an address in another notation, %q", granted, used)
	}
	if !strings.EqualFold(strings.TrimSuffix(granted, "."), strings.TrimSuffix(used, ".")) {
		t.Errorf("the grant of the name %q covers %q", granted, used)
	}
}

func FuzzHost(f *testing.F) {
	seed(f, hostRows)
	f.Fuzz(func(t *testing.T, granted, used string) {
		v := text(t, strings.ToValidUTF8(used, "?"))
		if ok, bad := covers(t, Host, "example.test", v); ok && bad {
			t.Fatal("malformed and covered")
		}
		for _, g := range []string{granted, used} {
			ok, _ := covers(t, Host, g, v)
			if !ok {
				continue
			}
			used := v.Text()
			sameHost(t, g, used)
			host := used
			if strings.Contains(used, ":") {
				host = "[" + used + "]"
			}
			u, err := url.Parse("https://" + host + "/")
			if err != nil || u.Hostname() != used || u.Port() != "" || u.User != nil || u.Path != "/" {
				t.Errorf("net/url reads the covered host %q as %v, %v", used, u, err)
			}
		}
	})
}
