package server

import (
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// wireEnum is an enum of the generated code.
type wireEnum interface {
	~int32
	protoreflect.Enum
}

// toWire finds the value of E whose name without the enum's prefix is name; "" is the
// unspecified value. known is false, and the value unspecified, where there is none.
// The descriptor itself is the table, so that nothing can be missing from it.
func toWire[E wireEnum, N ~string](name N) (value E, known bool) {
	if name == "" {
		return 0, true
	}
	d := E(0).Descriptor()
	v := d.Values().ByName(protoreflect.Name(enumPrefix(d) + string(name)))
	if v == nil || v.Number() == 0 {
		return 0, false
	}
	return E(v.Number()), true
}

// fromWire names a value without the enum's prefix; the unspecified value is "". known
// is false for numbers that this version does not have.
func fromWire[N ~string, E wireEnum](value E) (name N, known bool) {
	if value == 0 {
		return "", true
	}
	d := value.Descriptor()
	v := d.Values().ByNumber(protoreflect.EnumNumber(value))
	if v == nil {
		return "", false
	}
	return N(strings.TrimPrefix(string(v.Name()), enumPrefix(d))), true
}

// enumPrefix is what the names of an enum's values begin with, as "LAYER_".
func enumPrefix(d protoreflect.EnumDescriptor) string {
	return strings.TrimSuffix(string(d.Values().Get(0).Name()), "UNSPECIFIED")
}
