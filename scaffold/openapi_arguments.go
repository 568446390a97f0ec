package scaffold

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// parameter is one parameter with what the document says of it in its own words.
type parameter struct {
	*openapi3.Parameter
	there any
}

// parametersOf returns the parameters of an operation in order: those of its path, and
// its own, which replace those of the same name and place.
func (s *source) parametersOf(op foundOperation) []parameter {
	var out []parameter
	add := func(list openapi3.Parameters, there any) {
		for i, p := range list {
			if p == nil || p.Value == nil {
				continue
			}
			added := parameter{p.Value, s.written.at(there, strconv.Itoa(i))}
			at := slices.IndexFunc(out, func(old parameter) bool { return old.Name == added.Name && old.In == added.In })
			if at >= 0 {
				out[at] = added
			} else {
				out = append(out, added)
			}
		}
	}
	add(op.item.Parameters, op.written(s.written, "parameters"))
	add(op.Parameters, op.written(s.written, op.key(), "parameters"))
	return out
}

// parameters makes one object of what a call may say. What it has no place for is
// asked about.
func (s *source) parameters(op foundOperation) error {
	properties, required := newObject(), []any{}
	all := s.parametersOf(op)
	inPath := map[string]bool{}
	for _, p := range all {
		inPath[p.Name] = inPath[p.Name] || p.In == "path"
	}
	var outside, shadowed []string
	for _, p := range all {
		switch {
		case p.In != "path" && p.In != "query":
			outside = append(outside, described(p))
			continue
		case p.In == "query" && inPath[p.Name]:
			shadowed = append(shadowed, fmt.Sprintf("%.60q", p.Name))
			continue
		}
		v, err := s.written.fragment(p.Schema, s.written.at(p.there, "schema"))
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
	}
	if len(outside) > 0 {
		s.argumentAsks = append(s.argumentAsks, "the source has parameters outside path and query, for which there are no arguments: "+
			some(outside)+". Does whoever runs the tool set them, or is one an argument?")
	}
	if len(shadowed) > 0 {
		s.argumentAsks = append(s.argumentAsks, "the source has a parameter of the query with the name of one in the path, which alone is an argument: "+
			some(shadowed)+". Is the other an argument too, and by which name?")
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

// described names a parameter for a question.
func described(p parameter) string {
	d := fmt.Sprintf("%.60q (%.20s", p.Name, oneLine(p.In))
	if p.Required {
		d += ", required"
	}
	return d + ")"
}

// some lists the first of many names.
func some(names []string) string {
	const most = 20
	if n := len(names); n > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", n-most)
	}
	return strings.Join(names, ", ")
}

// body adds the members of a JSON body, or the body as one argument.
func (s *source) body(op foundOperation, properties *object, required *[]any) error {
	if op.RequestBody == nil || op.RequestBody.Value == nil {
		return nil
	}
	name, media := jsonContent(op.RequestBody.Value.Content)
	if media == nil || media.Schema == nil {
		s.notes = append(s.notes, "the body of the request is not JSON and was left out of the arguments")
		return nil
	}
	v, err := s.written.fragment(media.Schema, op.written(s.written, op.key(), "requestBody", "content", name, "schema"))
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
		name := "body"
		for properties.has(name) {
			name = "request_" + name
		}
		properties.set(name, v)
		if op.RequestBody.Value.Required {
			*required = append(*required, name)
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
