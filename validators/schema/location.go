package schema

import "github.com/hallmark-gate/hallmark/validators/strictjson"

// location is one compiled schema or subschema. It is immutable once built. A member
// that is nil, or a bound below 0, is a keyword that is absent.
type location struct {
	place    string // file and pointer, as a failure shows them
	via      string // the keyword that holds this location
	verdict  verdict
	resource *resource
	cyclic   bool // it can reach itself in place
	composed bool // any of ref … ifThen

	types    types
	constant strictjson.Value
	enum     *enumeration
	format   func(string) error

	ref        *location
	dynamicRef *dynamicRef
	allOf      []*location
	anyOf      *union
	oneOf      *union
	not        *location
	ifThen     *conditional

	minLength, maxLength int64
	pattern              *pattern
	number               *numberRules
	object               *objectRules
	array                *arrayRules
	unevaluatedItems     *location
	unevaluatedProps     *location
}

// verdict is what a boolean schema says.
type verdict uint8

const (
	keywords verdict = iota // no boolean schema
	always
	never
)

// resource is a schema resource (JSON Schema Core section 4.3.5): the reach of an
// $id, and the bounds of its dynamic anchors.
type resource struct {
	dynamic map[string]*location
}

type dynamicRef struct {
	anchor string    // "" where the reference is fixed
	target *location // where it leads without a dynamic scope
}

type conditional struct{ test, then, otherwise *location }

type numberRules struct {
	minimum, maximum, above, below, multipleOf *strictjson.Decimal
	whole                                      wholeBounds
}

type objectRules struct {
	minProperties, maxProperties int64
	required                     []string
	requiredIndex                map[string]int
	dependentRequired            []dependency
	dependentSchemas             []dependency
	// properties stand in the order of the schema's text, which is mostly that of an
	// object's members; see [order].
	properties []property
	positions  map[string]int // of properties, by name
	slot       int            // where a run keeps the order of members
	// requiredNamed says that every required name is one of properties, so that a walk
	// over the members finds both.
	requiredNamed bool
	patterns      []patternProperty
	additional    *location
	names         *location
	descends      bool // any of properties, patterns, additional, names
}

// property is what an object's schema says of one member.
type property struct {
	name     string
	schema   *location
	required bool
}

// property returns what is said of a member; nil where nothing is.
func (o *objectRules) property(name string) *property {
	if i, ok := o.positions[name]; ok {
		return &o.properties[i]
	}
	return nil
}

// dependency is what the presence of a member asks for.
type dependency struct {
	member   string
	keyword  string // the one it stands under
	required []string
	schema   *location
}

type patternProperty struct {
	pattern *pattern
	schema  *location
}

type arrayRules struct {
	minItems, maxItems       int64
	unique                   bool
	prefix                   []*location
	items                    *location
	contains                 *location
	minContains, maxContains int64
}

// types is a set of JSON types. The empty set is the absent keyword.
type types uint16

const (
	integerType types = 1 << 15 // numbers without a fractional part
	anyType     types = 1<<strictjson.Null | 1<<strictjson.Bool | 1<<strictjson.Number |
		1<<strictjson.String | 1<<strictjson.Array | 1<<strictjson.Object
)

// typeNamed returns the set with one type, by its name in JSON Schema.
func typeNamed(name string) types {
	if name == "integer" {
		return integerType
	}
	for k := strictjson.Null; k <= strictjson.Object; k++ {
		if k.String() == name {
			return 1 << k
		}
	}
	return 0
}

// allow reports whether a value is of one of the types.
func (t types) allow(v strictjson.Value) bool {
	kind := v.Kind()
	if t&(1<<kind) != 0 {
		return true
	}
	return t&integerType != 0 && kind == strictjson.Number && (allDigits(v.Digits()) || v.Decimal().IsInteger())
}

// allDigits reports whether a number was written without a point and an exponent.
func allDigits(token string) bool {
	for i := range len(token) {
		if c := token[i]; c == '.' || c|0x20 == 'e' {
			return false
		}
	}
	return true
}

// enumeration is the keyword enum: equality is a look-up of texts, or of canonical keys.
type enumeration struct {
	keys    map[string]struct{}
	texts   map[string]struct{} // the strings among them, as they are; empty where they are few
	few     []string
	kinds   types
	maxSize int // values in the largest member
}
