package format

// checkIPv4 reads four decimal octets without leading zeros: the only notation
// that every resolver reads alike.
func checkIPv4(s string) *Error {
	i := 0
	for octet := range 4 {
		if octet > 0 {
			if i == len(s) || s[i] != '.' {
				return fault(i, "a dot expected")
			}
			i++
		}
		from, value := i, 0
		for i < len(s) && isDigit(s[i]) && i-from < 4 {
			value = value*10 + int(s[i]-'0')
			i++
		}
		switch {
		case i == from:
			return fault(i, "a decimal octet expected")
		case value > 255:
			return fault(from, "an octet beyond 255")
		case s[from] == '0' && i-from > 1:
			return fault(from, "an octet with a leading zero")
		}
	}
	if i != len(s) {
		return fault(i, "something follows the address")
	}
	return nil
}

// checkIPv6 reads eight groups, or fewer around one "::", the last two of which
// may be an IPv4 address. Zones and prefix lengths are no part of an address.
func checkIPv6(s string) *Error {
	i, groups, gap := 0, 0, false
	if len(s) >= 2 && s[:2] == "::" {
		gap, i = true, 2
	}
	for i < len(s) && groups < 8 {
		from := i
		for i < len(s) && isHex(s[i]) && i-from < 5 {
			i++
		}
		if i < len(s) && s[i] == '.' {
			if e := checkIPv4(s[from:]); e != nil {
				return e.at(from)
			}
			groups += 2
			i = len(s)
			break
		}
		switch {
		case i == from:
			return fault(i, "a group of hex digits expected")
		case i-from > 4:
			return fault(from, "a group of more than four digits")
		}
		groups++
		if i == len(s) {
			break
		}
		if s[i] != ':' {
			return fault(i, "a colon expected")
		}
		if i++; i == len(s) {
			return fault(i, "a group expected after the colon")
		}
		if s[i] == ':' {
			if gap {
				return fault(i-1, "a second double colon")
			}
			gap = true
			i++
		}
	}
	switch {
	case i < len(s), groups > 8, gap && groups > 7:
		return fault(i, "too many groups")
	case !gap && groups < 8:
		return fault(i, "too few groups")
	}
	return nil
}
