package format

// UUID reports whether s is a UUID in the 8-4-4-4-12 form of RFC 4122 section 3,
// hex digits in either case, any version and variant, the nil UUID included;
// nil means yes, the error is an [*Error].
func UUID(s string) error { return run("uuid", checkUUID, s) }

func checkUUID(s string) *Error {
	const length = 36
	for i := range length {
		if i >= len(s) {
			return fault(i, "cut short")
		}
		switch i {
		case 8, 13, 18, 23:
			if s[i] != '-' {
				return fault(i, "a hyphen expected")
			}
		default:
			if !isHex(s[i]) {
				return fault(i, "a hex digit expected")
			}
		}
	}
	if len(s) > length {
		return fault(length, "something follows the last digit")
	}
	return nil
}
