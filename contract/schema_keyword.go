package contract

import (
	"strings"

	"github.com/hallmark-gate/hallmark/validators/format"
)

// form is the shape that a keyword's value must have.
type form uint8

const (
	formUnknown form = iota
	formAnnotation
	formSchema
	formSchemas
	formSchemaMap
	formCount
	formNumber
	formPositive
	formBool
	formText
	formPattern
	formFormat
	formType
	formEnum
	formNames
	formNamesMap
	formList
	formDialect
	formID
	formRef
	formAnchor
	formRefused
)

// keyword is what is known of a name in a schema object.
type keyword struct {
	form form
	edge edgeKind // of formSchema, formSchemas, formSchemaMap
}

// keywordOf knows the vocabularies core, applicator, unevaluated, validation,
// format, content and meta-data of draft 2020-12, and x- annotations. Every other
// name has formUnknown: JSON Schema would ignore it, and a typing error must not
// remove a check.
func keywordOf(name string) keyword {
	if k, ok := applicatorOf(name); ok {
		return k
	}
	f := formUnknown
	switch name {
	case "const", "default":
		f = formAnnotation
	case "title", "description", "$comment", "contentEncoding", "contentMediaType":
		f = formText
	case "deprecated", "readOnly", "writeOnly", "uniqueItems":
		f = formBool
	case "minLength", "maxLength", "minItems", "maxItems", "minContains", "maxContains",
		"minProperties", "maxProperties":
		f = formCount
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
		f = formNumber
	case "multipleOf":
		f = formPositive
	case "pattern":
		f = formPattern
	case "format":
		f = formFormat
	case "type":
		f = formType
	case "enum":
		f = formEnum
	case "required":
		f = formNames
	case "dependentRequired":
		f = formNamesMap
	case "examples":
		f = formList
	case "$schema":
		f = formDialect
	case "$id":
		f = formID
	case "$ref":
		f = formRef
	case "$anchor":
		f = formAnchor
	case "$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor", "$vocabulary":
		f = formRefused
	default:
		if strings.HasPrefix(name, "x-") {
			f = formAnnotation
		}
	}
	return keyword{form: f}
}

// applicatorOf knows the keywords that hold subschemas.
func applicatorOf(name string) (keyword, bool) {
	switch name {
	case "allOf":
		return keyword{formSchemas, edgeAllOf}, true
	case "anyOf":
		return keyword{formSchemas, edgeAnyOf}, true
	case "oneOf":
		return keyword{formSchemas, edgeOneOf}, true
	case "prefixItems":
		return keyword{formSchemas, edgePrefix}, true
	case "not":
		return keyword{formSchema, edgeNot}, true
	case "if":
		return keyword{formSchema, edgeIf}, true
	case "then":
		return keyword{formSchema, edgeThen}, true
	case "else":
		return keyword{formSchema, edgeElse}, true
	case "items":
		return keyword{formSchema, edgeItems}, true
	case "contains":
		return keyword{formSchema, edgeContains}, true
	case "unevaluatedItems":
		return keyword{formSchema, edgeUnevaluatedItems}, true
	case "additionalProperties":
		return keyword{formSchema, edgeAdditional}, true
	case "unevaluatedProperties":
		return keyword{formSchema, edgeUnevaluatedProperties}, true
	case "propertyNames":
		return keyword{formSchema, edgeNames}, true
	case "contentSchema":
		return keyword{formSchema, edgeHeld}, true
	case "properties":
		return keyword{formSchemaMap, edgeProperty}, true
	case "patternProperties":
		return keyword{formSchemaMap, edgePattern}, true
	case "dependentSchemas":
		return keyword{formSchemaMap, edgeDependent}, true
	case "$defs":
		return keyword{formSchemaMap, edgeHeld}, true
	}
	return keyword{}, false
}

// keywordNames returns the names that a misspelt one may have meant.
func keywordNames() []string {
	return strings.Fields(`$anchor $comment $defs $id $ref $schema additionalProperties
		allOf anyOf const contains contentEncoding contentMediaType contentSchema default
		dependentRequired dependentSchemas deprecated description else enum examples
		exclusiveMaximum exclusiveMinimum format if items maxContains maxItems maxLength
		maxProperties maximum minContains minItems minLength minProperties minimum
		multipleOf not oneOf pattern patternProperties prefixItems properties
		propertyNames readOnly required then title type unevaluatedItems
		unevaluatedProperties uniqueItems writeOnly`)
}

// unknownCure says what to do about a name that is no keyword.
func unknownCure(name string) string {
	switch name {
	case "definitions":
		return "write $defs"
	case "dependencies":
		return "write dependentRequired or dependentSchemas"
	case "additionalItems":
		return "write prefixItems and items"
	case "id":
		return "write $id, or properties/id for a member"
	case "nullable":
		return `write "type": [TYPE, "null"]`
	}
	if near := nearest(name, keywordNames()); near != "" {
		return "did you mean " + near + "? An annotation of your own begins with x-"
	}
	return "remove it; an annotation of your own begins with x-"
}

// nearest returns the name within two single-character edits of word that is closest
// to it, "" where there is none, or where a guess is not worth its cost: for very short
// and very long words, and for names beyond the first few hundred.
func nearest(word string, names []string) string {
	const most = 256
	if len(word) < 3 || len(word) > 64 {
		return ""
	}
	best, distance := "", 3
	for _, n := range names[:min(len(names), most)] {
		if len(n) > 64 || len(n) > len(word)+2 || len(word) > len(n)+2 {
			continue
		}
		if d := editDistance(word, n); d < distance {
			best, distance = n, d
		}
	}
	return best
}

// editDistance is the optimal string alignment distance: insertions, deletions,
// substitutions and swaps of neighbours, in bytes.
func editDistance(a, b string) int {
	before := make([]int, len(b)+1)
	last := make([]int, len(b)+1)
	row := make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

// knownFormat reports whether a format is one that the service asserts.
func knownFormat(name string) bool {
	_, known := format.Lookup(name)
	return known
}
