package format

import (
	"net/netip"
	"strings"
	"testing"
)

func ipv4Rows() []row {
	return []row{
		yes("0.0.0.0"),
		yes("255.255.255.255"),
		yes("192.0.2.1"),
		no(0, ""),
		no(0, "+1.2.3.4"),
		no(0, "256.0.0.1"),
		no(8, "192.0.2.01"),
		no(5, "192.0"),
		no(9, "192.0.2.1\n"),
		no(9, "192.0.2.1.1"),
		no(1, "0x7f.0.0.1"),
		no(4, "127.\uff10.0.1"),
		no(0, "2130706433"),
		no(0, "1234.0.0.1"),
	}
}

func ipv6Rows() []row {
	return []row{
		yes("::"),
		yes("::1"),
		yes("2001:db8::"),
		yes("1:2:3:4:5:6:7::"),
		yes("::2:3:4:5:6:7:8"),
		yes("::ffff:192.0.2.1"),
		yes("1:2:3:4:5:6:192.0.2.1"),
		no(0, ""),
		no(0, ":"),
		no(0, ":1"),
		no(2, ":::"),
		no(2, "1:"),
		no(4, "1::2::3"),
		no(17, "1:2:3:4:5:6:7:8::"),
		no(16, "1:2:3:4:5:6:7:8:9"),
		no(23, "1:2:3:4:5:6:7:192.0.2.1"),
		no(7, "1:2:3:4"),
		no(0, "12345::"),
		no(3, "::1%eth0"),
		no(3, "::1/128"),
		no(3, "::1\n"),
		no(10, "::192.0.2.256"),
		no(2, "::\u0661"),
		no(0, "[::1]"),
	}
}

// The standard library reads exactly the same addresses, zones aside.
func agreesWithNetip(s string) bool {
	a, err := netip.ParseAddr(s)
	v4 := err == nil && a.Is4()
	v6 := err == nil && a.Is6() && a.Zone() == "" && !strings.Contains(s, "%")
	return v4 == (checkIPv4(s) == nil) && v6 == (checkIPv6(s) == nil)
}

func TestAddressesAgreeWithNetip(t *testing.T) {
	for _, rows := range [][]row{ipv4Rows(), ipv6Rows()} {
		for _, r := range rows {
			if !agreesWithNetip(r.s) {
				t.Errorf("line %d: %q is judged otherwise by net/netip", r.line, r.s)
			}
		}
	}
}
