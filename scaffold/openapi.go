package scaffold

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/hallmark-gate/hallmark/contract"
)

// maxDocument bounds an OpenAPI document, in bytes. GitHub's has about 12 MiB.
const maxDocument = 64 << 20

// FromOpenAPI drafts a contract from one operation of an OpenAPI 3.0 or 3.1 document,
// JSON or YAML: its operationId, or "METHOD /path". The payload is what the first
// successful JSON response promises; the arguments are the parameters in path and
// query, and the members of a JSON body. No reference to another file is followed.
// Options.Tool, "" for the operation's own name, is the tool's name.
func FromOpenAPI(src []byte, operation string, o Options) (*Draft, error) {
	if len(src) > maxDocument {
		return nil, fmt.Errorf("the document has more than %d bytes", maxDocument)
	}
	doc, err := openapi3.NewLoader().LoadFromData(src)
	if elsewhere := (*openapi3.DisallowedExternalRefError)(nil); errors.As(err, &elsewhere) {
		return nil, fmt.Errorf("the document refers to another file, %.80q, and such references are not followed; bundle it into one document first", elsewhere.Ref)
	}
	if err != nil {
		return nil, fmt.Errorf("the document is not OpenAPI 3: %s", oneLine(err.Error()))
	}
	if !strings.HasPrefix(doc.OpenAPI, "3.") {
		return nil, errors.New("the document does not say openapi: 3.x; Swagger 2.0 is not read")
	}
	return fromDocument(doc, readWritten(src), operation, o)
}

func fromDocument(doc *openapi3.T, asWritten *written, operation string, o Options) (*Draft, error) {
	op, err := findOperation(doc, operation)
	if err != nil {
		return nil, err
	}
	s := source{
		from:        fmt.Sprintf("OpenAPI, %s %s", op.method, op.path),
		description: firstOf(op.Summary, op.Description), framing: string(contract.FramingPayload),
		plainRefs: strings.HasPrefix(doc.OpenAPI, "3.0"), lookup: componentLookup(doc, asWritten), written: asWritten,
		effect: string(contract.SideEffect), effectWhy: op.method + " says little about what happens. What does the operation do?",
	}
	if op.method == http.MethodGet || op.method == http.MethodHead {
		s.effect = string(contract.ReadOnly)
	}
	if err := s.responses(op); err != nil {
		return nil, err
	}
	if err := s.parameters(op); err != nil {
		return nil, err
	}
	if o.Tool == "" {
		o.Tool = toolName(op)
	}
	return draft(s, o)
}

// foundOperation is an operation with where it stands.
type foundOperation struct {
	*openapi3.Operation
	item         *openapi3.PathItem
	method, path string
}

// key is the operation's member of its path.
func (op foundOperation) key() string { return strings.ToLower(op.method) }

// written returns what the document says of the operation's path, or of the operation,
// in its own words.
func (op foundOperation) written(w *written, tokens ...string) any {
	return w.at(w.root, append([]string{"paths", op.path}, tokens...)...)
}

// findOperation looks for an operationId or "METHOD /path".
func findOperation(doc *openapi3.T, name string) (foundOperation, error) {
	var similar []string
	method, path, _ := strings.Cut(name, " ")
	for _, p := range doc.Paths.InMatchingOrder() {
		item := doc.Paths.Value(p)
		if item == nil {
			continue
		}
		operations := item.Operations()
		for _, m := range slices.Sorted(maps.Keys(operations)) {
			op := operations[m]
			if op == nil {
				continue
			}
			if name != "" && op.OperationID == name || strings.EqualFold(m, method) && p == strings.TrimSpace(path) {
				return foundOperation{op, item, m, p}, nil
			}
			if op.OperationID != "" && len(similar) < 10 && strings.Contains(strings.ToLower(op.OperationID), strings.ToLower(lastPart(name))) {
				similar = append(similar, op.OperationID)
			}
		}
	}
	if len(similar) > 0 {
		slices.Sort(similar)
		return foundOperation{}, fmt.Errorf("the document has no operation %.80q; similar: %s", name, strings.Join(similar, ", "))
	}
	return foundOperation{}, fmt.Errorf("the document has no operation %.80q; give an operationId or \"METHOD /path\"", name)
}

func lastPart(name string) string { return name[strings.LastIndexAny(name, "/ .")+1:] }

// componentLookup resolves $refs to components' schemas, and others by the document
// as a whole, which is written out for it once.
func componentLookup(doc *openapi3.T, w *written) func(string) any {
	known := map[string]any{}
	var whole func(string) any
	return func(ref string) any {
		if v, ok := known[ref]; ok {
			return v
		}
		known[ref] = nil
		if name, ok := strings.CutPrefix(ref, "#/components/schemas/"); ok && doc.Components != nil && doc.Components.Schemas[unescape(name)] != nil {
			v, err := w.fragment(doc.Components.Schemas[unescape(name)], w.at(w.root, "components", "schemas", unescape(name)))
			if err == nil {
				known[ref] = v
			}
			return known[ref]
		}
		if whole == nil {
			whole = func(string) any { return nil }
			if v, err := w.fragment(doc, w.root); err == nil {
				whole = pointerLookup(v)
			}
		}
		known[ref] = whole(ref)
		return known[ref]
	}
}

// toolName derives a tool's name from an operation.
func toolName(op foundOperation) string {
	name := op.OperationID
	if name == "" {
		name = strings.ToLower(op.method) + op.path
	}
	var b strings.Builder
	for _, r := range name {
		if identifier(string(r)) != "" && r != '-' {
			b.WriteRune(r)
		} else if b.Len() > 0 && !strings.HasSuffix(b.String(), "_") {
			b.WriteByte('_')
		}
	}
	return fmt.Sprintf("%.128s", strings.Trim(b.String(), "_"))
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if strings.TrimSpace(t) != "" {
			return t
		}
	}
	return ""
}
