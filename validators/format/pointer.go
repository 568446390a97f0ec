package format

// checkPointer reads RFC 6901 section 3: "" or reference tokens, each after a
// slash, in which a tilde is written ~0 and a slash ~1. The string form, not
// the URI fragment.
func checkPointer(s string) *Error {
	if s != "" && s[0] != '/' {
		return fault(0, "a slash expected")
	}
	for i := 0; i < len(s); i++ {
		if s[i] == '~' && (i+1 == len(s) || s[i+1] != '0' && s[i+1] != '1') {
			return fault(i, "a tilde without 0 or 1 after it")
		}
	}
	return nil
}

// checkRelativePointer reads
//
//	non-negative-integer ( "#" / [ ("+" / "-") non-negative-integer ] json-pointer )
func checkRelativePointer(s string) *Error {
	i, e := naturalNumber(s, 0)
	if e != nil {
		return e
	}
	if s[i:] == "#" {
		return nil
	}
	if i < len(s) && (s[i] == '+' || s[i] == '-') {
		if i, e = naturalNumber(s, i+1); e != nil {
			return e
		}
	}
	return checkPointer(s[i:]).at(i)
}

// naturalNumber reads "0" or digits without a leading zero from s[i:] and
// returns the index after them.
func naturalNumber(s string, i int) (int, *Error) {
	from := i
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	if i == from {
		return i, fault(i, "a number expected")
	}
	if s[from] == '0' && i-from > 1 {
		return i, fault(from, "a number with a leading zero")
	}
	return i, nil
}
