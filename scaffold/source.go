package scaffold

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/hallmark-gate/hallmark/contract"
)

// toolForm is the form of a tool's name; it begins with no dot, so that a folder named
// after it is looked at.
var toolForm = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.:/-]{0,127}$`)

// FromSchema drafts a contract from a JSON Schema of the payload, of any dialect that
// the words of draft 2020-12, draft 7 or OpenAPI 3.0 can express. Options.Tool is
// needed. It keeps nothing of src. Errors name what is wrong with the source, never a
// value in it.
func FromSchema(src []byte, o Options) (*Draft, error) {
	v, err := parse(src)
	if err != nil {
		return nil, fmt.Errorf("the schema cannot be read: %w", err)
	}
	if asObject(v) == nil {
		return nil, errors.New("the schema is not a JSON object")
	}
	if o.Tool == "" {
		return nil, errors.New("a schema does not name a tool; give the tool's name")
	}
	s := source{
		from: "a JSON Schema", effect: string(contract.ReadOnly), effectWhy: "does the tool only read?",
		framing: string(contract.FramingPayload), result: v, arguments: noArguments(), argumentsUnknown: true, lookup: pointerLookup(v),
		description: text(v.(*object).get("description")),
	}
	s.examples = append(s.examples, list(v.(*object).get("examples"))...)
	if e := v.(*object).get("example"); e != nil {
		s.examples = append(s.examples, e)
	}
	return draft(s, o)
}

// noArguments is the schema of arguments that the source does not describe.
func noArguments() *object {
	return newObject().set("type", "object").set("additionalProperties", false)
}

// pointerLookup resolves the $refs of one document within it.
func pointerLookup(doc any) func(string) any {
	return func(ref string) any {
		pointer, ok := strings.CutPrefix(ref, "#")
		if !ok || pointer != "" && pointer[0] != '/' {
			return nil
		}
		at := doc
		if pointer == "" {
			return at
		}
		for _, token := range strings.Split(pointer[1:], "/") {
			if plain, err := url.PathUnescape(token); err == nil {
				token = plain
			}
			token = unescape(token)
			switch v := at.(type) {
			case *object:
				at = v.get(token)
			case []any:
				i, err := strconv.Atoi(token)
				if err != nil || i < 0 || i >= len(v) {
					return nil
				}
				at = v[i]
			default:
				return nil
			}
		}
		return at
	}
}
