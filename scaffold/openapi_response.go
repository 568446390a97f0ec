package scaffold

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// mediaForm is the form of a contract's media types.
var mediaForm = regexp.MustCompile(`^[a-z0-9][a-z0-9!#$&^_.+-]{0,62}/[a-z0-9][a-z0-9!#$&^_.+-]{0,62}$`)

// reply is the JSON content of one documented response.
type reply struct {
	status, name string // name is the media type as the document has it
	media        *openapi3.MediaType
	schema       any
}

// responses takes the payload from the lowest successful status that has JSON, default
// last, and asks about every other one that could be meant.
func (s *source) responses(op foundOperation) error {
	if op.Responses == nil {
		return errors.New("the operation documents no responses")
	}
	responses := op.Responses.Map()
	s.notFound = responses["404"] != nil
	var chosen *reply
	var others []*reply
	for _, status := range slices.Sorted(maps.Keys(responses)) { // default sorts after digits
		r := responses[status]
		if !strings.HasPrefix(status, "2") && status != "default" || r == nil || r.Value == nil {
			continue
		}
		found, err := s.reply(op, status, r.Value.Content)
		switch {
		case err != nil:
			return err
		case chosen == nil && found.media != nil:
			chosen = found
		default:
			others = append(others, found)
		}
	}
	if chosen == nil {
		return s.textReply(op)
	}
	s.result = chosen.schema
	if err := s.mediaTypesOf(op, chosen, responses[chosen.status].Value.Content); err != nil {
		return err
	}
	s.examplesOf(op, chosen)
	s.otherReplies(chosen, others)
	return nil
}

// textReply takes the texts of the lowest successful status that has any.
func (s *source) textReply(op foundOperation) error {
	responses := op.Responses.Map()
	for _, status := range slices.Sorted(maps.Keys(responses)) {
		if r := responses[status]; strings.HasPrefix(status, "2") && r != nil && r.Value != nil {
			if s.mediaTypes = textContent(slices.Collect(maps.Keys(r.Value.Content))); len(s.mediaTypes) > 0 {
				s.text = true
				return nil
			}
		}
	}
	return errors.New("the operation documents no successful response with a JSON schema, nor one of " + strings.Join(textMedia, ", "))
}

// reply reads the JSON content of a response; its media is nil where there is none.
func (s *source) reply(op foundOperation, status string, content openapi3.Content) (*reply, error) {
	r := &reply{status: status}
	name, media := jsonContent(content)
	if media == nil || media.Schema == nil {
		return r, nil
	}
	r.name, r.media = name, media
	var err error
	r.schema, err = s.written.fragment(media.Schema, op.written(s.written, op.key(), "responses", status, "content", name, "schema"))
	return r, err
}

// otherReplies asks about responses that were not chosen.
func (s *source) otherReplies(chosen *reply, others []*reply) {
	switch chosen.status {
	case "200":
	case "default":
		s.resultAsks = append(s.resultAsks, "the source documents no successful status, only the reply for any status (default). Is it what a success looks like?")
	default:
		s.notes = append(s.notes, "the payload is that of status "+oneLine(chosen.status))
	}
	for _, r := range others {
		status := fmt.Sprintf("%.20q", r.status)
		switch {
		case r.status == "default" && r.media != nil && !equal(r.schema, chosen.schema):
			s.resultAsks = append(s.resultAsks, "the source has a reply for any other status (default), with a schema of its own, which the draft knows nothing of. Is it a failure's?")
		case r.status == "default":
			s.notes = append(s.notes, "the reply for any other status (default) was left out")
		case r.media == nil:
			s.notes = append(s.notes, "status "+status+" has no JSON with a schema; the draft refuses such a reply")
		case equal(r.schema, chosen.schema):
			s.notes = append(s.notes, "status "+status+" has the same schema as "+fmt.Sprintf("%.20q", chosen.status))
		default:
			s.resultAsks = append(s.resultAsks, "the source has another successful reply, status "+status+
				", with a schema of its own, which the draft refuses. Can the tool get it?")
		}
	}
}

// mediaTypesOf lists the media types of the payload, and asks about JSON of another
// schema.
func (s *source) mediaTypesOf(op foundOperation, chosen *reply, content openapi3.Content) error {
	names := slices.Sorted(maps.Keys(content))
	names = append([]string{chosen.name}, slices.DeleteFunc(names, func(n string) bool { return n == chosen.name })...)
	for _, name := range names {
		base := mediaBase(name)
		media := content[name]
		if !isJSON(base) {
			s.notes = append(s.notes, fmt.Sprintf("the reply may be %.80q too, which the draft does not accept", name))
			continue
		}
		if !mediaForm.MatchString(base) {
			s.resultAsks = append(s.resultAsks, fmt.Sprintf("the source has the media type %.80q, which is a range or none. Which one does the tool send?", name))
			continue
		}
		if name != chosen.name && media != nil && media.Schema != nil {
			other, err := s.written.fragment(media.Schema, op.written(s.written, op.key(), "responses", chosen.status, "content", name, "schema"))
			if err != nil {
				return err
			}
			if !equal(other, chosen.schema) {
				s.resultAsks = append(s.resultAsks, fmt.Sprintf("the source has the media type %.80q too, with another schema, and the draft is of %.80q. Which one does the tool send?", name, chosen.name))
				continue
			}
		}
		if !slices.Contains(s.mediaTypes, base) {
			s.mediaTypes = append(s.mediaTypes, base)
		}
	}
	return nil
}

// examplesOf collects examples of the payload.
func (s *source) examplesOf(op foundOperation, r *reply) {
	there := op.written(s.written, op.key(), "responses", r.status, "content", r.name)
	add := func(example any, tokens ...string) {
		if example == nil {
			return
		}
		if v, err := s.written.fragment(example, s.written.at(there, tokens...)); err == nil {
			s.examples = append(s.examples, v)
		}
	}
	add(r.media.Example, "example")
	for _, name := range slices.Sorted(maps.Keys(r.media.Examples)) {
		if e := r.media.Examples[name]; e != nil && e.Value != nil {
			add(e.Value.Value, "examples", name, "value")
		}
	}
	if v := r.media.Schema.Value; v != nil {
		add(v.Example, "schema", "example")
		for i, e := range v.Examples {
			add(e, "schema", "examples", fmt.Sprint(i))
		}
	}
}

// jsonContent returns the JSON media type of a body and its name, application/json
// first.
func jsonContent(content openapi3.Content) (string, *openapi3.MediaType) {
	names := slices.Sorted(maps.Keys(content))
	for _, first := range []bool{true, false} {
		for _, name := range names {
			base := mediaBase(name)
			if isJSON(base) && (base == "application/json" || !first) && content[name] != nil {
				return name, content[name]
			}
		}
	}
	return "", nil
}

// mediaBase is a media type without parameters, in lower case.
func mediaBase(name string) string {
	base, _, _ := strings.Cut(name, ";")
	return strings.ToLower(strings.TrimSpace(base))
}

// isJSON reports whether a media type's content is one JSON value.
func isJSON(base string) bool {
	return strings.HasSuffix(base, "json") && !strings.HasSuffix(base, "ndjson")
}
