package scaffold

import (
	"encoding/json"
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
	if err != nil {
		return nil, fmt.Errorf("the document is not OpenAPI 3: %s", oneLine(err.Error()))
	}
	if !strings.HasPrefix(doc.OpenAPI, "3.") {
		return nil, errors.New("the document does not say openapi: 3.x; Swagger 2.0 is not read")
	}
	return fromDocument(doc, operation, o)
}

func fromDocument(doc *openapi3.T, operation string, o Options) (*Draft, error) {
	op, err := findOperation(doc, operation)
	if err != nil {
		return nil, err
	}
	s := source{
		from:        fmt.Sprintf("OpenAPI, %s %s", op.method, op.path),
		description: firstOf(op.Summary, op.Description), framing: string(contract.FramingPayload),
		plainRefs: strings.HasPrefix(doc.OpenAPI, "3.0"), lookup: componentLookup(doc),
		effect: string(contract.SideEffect), effectWhy: op.method + " says little about what happens. What does the operation do?",
	}
	if op.method == http.MethodGet || op.method == http.MethodHead {
		s.effect = string(contract.ReadOnly)
	}
	if err := s.response(op); err != nil {
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

// response takes the payload from the lowest successful status that has JSON.
func (s *source) response(op foundOperation) error {
	if op.Responses == nil {
		return errors.New("the operation documents no responses")
	}
	responses := op.Responses.Map()
	s.notFound = responses["404"] != nil
	for _, status := range slices.Sorted(maps.Keys(responses)) {
		r := responses[status]
		if !strings.HasPrefix(status, "2") || r.Value == nil {
			continue
		}
		media := jsonContent(r.Value.Content)
		if media == nil || media.Schema == nil {
			continue
		}
		var err error
		if s.result, err = fragment(media.Schema); err != nil {
			return err
		}
		examples := []any{media.Example}
		for _, name := range slices.Sorted(maps.Keys(media.Examples)) {
			if e := media.Examples[name]; e != nil && e.Value != nil {
				examples = append(examples, e.Value.Value)
			}
		}
		if v := media.Schema.Value; v != nil {
			examples = append(examples, v.Example)
			examples = append(examples, v.Examples...)
		}
		for _, e := range examples {
			if v, err := fragment(e); err == nil && e != nil {
				s.examples = append(s.examples, v)
			}
		}
		if status != "200" {
			s.notes = append(s.notes, "the payload is that of status "+status)
		}
		return nil
	}
	return errors.New("the operation documents no successful response with a JSON schema; kind: text and kind: command are not drafted yet")
}

// jsonContent returns the JSON media type of a body, application/json first.
func jsonContent(content openapi3.Content) *openapi3.MediaType {
	if m := content["application/json"]; m != nil {
		return m
	}
	for _, name := range slices.Sorted(maps.Keys(content)) {
		if base, _, _ := strings.Cut(name, ";"); strings.HasSuffix(strings.TrimSpace(base), "json") {
			return content[name]
		}
	}
	return nil
}

// parameters makes one object of what a call may say.
func (s *source) parameters(op foundOperation) error {
	properties, required := newObject(), []any{}
	add := func(p *openapi3.Parameter) error {
		if p == nil || p.In != "path" && p.In != "query" {
			return nil
		}
		v, err := fragment(p.Schema)
		if err != nil {
			return err
		}
		if p.Schema == nil {
			v = newObject()
		}
		if o := asObject(v); o != nil && p.Description != "" && !o.has("description") {
			v = o.copied().set("description", p.Description)
		}
		properties.set(p.Name, v)
		if p.Required || p.In == "path" {
			required = append(required, p.Name)
		}
		return nil
	}
	for _, list := range []openapi3.Parameters{op.item.Parameters, op.Parameters} {
		for _, p := range list {
			if err := add(p.Value); err != nil {
				return err
			}
		}
	}
	if err := s.body(op, properties, &required); err != nil {
		return err
	}
	args := newObject().set("type", "object")
	if len(required) > 0 {
		args.set("required", anys(texts(required)))
	}
	s.arguments = args.set("properties", properties).set("additionalProperties", false)
	return nil
}

// body adds the members of a JSON body, or the body as one argument.
func (s *source) body(op foundOperation, properties *object, required *[]any) error {
	if op.RequestBody == nil || op.RequestBody.Value == nil {
		return nil
	}
	media := jsonContent(op.RequestBody.Value.Content)
	if media == nil || media.Schema == nil {
		s.notes = append(s.notes, "the body of the request is not JSON and was left out of the arguments")
		return nil
	}
	v, err := fragment(media.Schema)
	if err != nil {
		return err
	}
	body := asObject(v)
	for hops := 0; body != nil && body.has("$ref") && hops < 8; hops++ {
		body = asObject(s.lookup(text(body.get("$ref"))))
	}
	members := asObject(body.get("properties"))
	plain := members != nil && !inPlace(body) && !slices.ContainsFunc(members.names, properties.has)
	if !plain {
		properties.set("body", v)
		if op.RequestBody.Value.Required {
			*required = append(*required, "body")
		}
		return nil
	}
	s.notes = append(s.notes, "the members of the request's body stand beside the parameters")
	for _, name := range members.names {
		properties.set(name, members.at[name])
	}
	if op.RequestBody.Value.Required {
		*required = append(*required, list(body.get("required"))...)
	}
	return nil
}

// fragment returns a part of the document as a value.
func fragment(part any) (any, error) {
	b, err := json.Marshal(part)
	if err != nil {
		return nil, fmt.Errorf("the document cannot be read: %s", oneLine(err.Error()))
	}
	v, err := parse(b)
	if err != nil {
		return nil, fmt.Errorf("a part of the document cannot be read: %w", err)
	}
	return v, nil
}

// componentLookup resolves $refs to components' schemas, and others by the document
// as a whole, which is written out for it once.
func componentLookup(doc *openapi3.T) func(string) any {
	known := map[string]any{}
	var whole func(string) any
	return func(ref string) any {
		if v, ok := known[ref]; ok {
			return v
		}
		known[ref] = nil
		if name, ok := strings.CutPrefix(ref, "#/components/schemas/"); ok && doc.Components != nil && doc.Components.Schemas[unescape(name)] != nil {
			v, err := fragment(doc.Components.Schemas[unescape(name)])
			if err == nil {
				known[ref] = v
			}
			return known[ref]
		}
		if whole == nil {
			whole = func(string) any { return nil }
			if v, err := fragment(doc); err == nil {
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
