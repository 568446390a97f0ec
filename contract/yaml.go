package contract

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	yaml "go.yaml.in/yaml/v4"
)

// maxYAMLDepth bounds the nesting of mappings and lists in one YAML file. It is wider
// than the service's ceiling for JSON, so that every value a case can need fits.
const maxYAMLDepth = 96

// maxFileFaults bounds what is listed of one file: nobody reads more, and a file of one
// repeated key would cost a hundred times its size.
const maxFileFaults = 200

// A source is one YAML file being read. It collects everything that is wrong with it
// and remembers where its keys stand.
type source struct {
	file   string // below the contracts directory
	faults Faults
	wrong  int              // how many faults there are, listed or not
	places map[string]place // by key path: "result.agent_fields[2]"
	good   map[string]bool  // by key path: the key is there and nothing in it is wrong
}

// fault notes that n is wrong.
func (s *source) fault(n *yaml.Node, cure, format string, args ...any) {
	s.faultAt(place{n.Line, n.Column}, cure, format, args...)
}

func (s *source) faultAt(at place, cure, format string, args ...any) {
	f := Fault{File: s.file, Line: at.line, Column: at.column, Message: fmt.Sprintf(format, args...), Cure: cure}
	switch s.wrong++; {
	case s.wrong == maxFileFaults:
		f = Fault{File: s.file, Line: at.line, Column: at.column, Message: "further faults of this file are not listed"}
	case s.wrong > maxFileFaults:
		return
	}
	s.faults = append(s.faults, f)
}

// readYAML parses the one document of a file and checks what no later step needs to
// look at again: text without control characters, a single document, no anchors,
// aliases, merge keys or tags, unique and scalar keys, bounded nesting. The result is
// nil where the source has faults, unless all of them are keys given twice: of those the
// first counts, so that whatever else is wrong is found in the same run.
func readYAML(file string, src []byte) (*yaml.Node, *source) {
	s := &source{file: file, places: make(map[string]place), good: make(map[string]bool)}
	if !s.checkText(src) {
		return nil, s
	}
	loader, err := yaml.NewLoader(bytes.NewReader(src))
	if err != nil {
		s.yamlFault(err)
		return nil, s
	}
	var document, second yaml.Node
	switch err := loader.Load(&document); {
	case errors.Is(err, io.EOF):
		s.faultAt(place{1, 1}, "", "the file is empty")
		return nil, s
	case err != nil:
		s.yamlFault(err)
		return nil, s
	}
	switch err := loader.Load(&second); {
	case err == nil:
		s.fault(&second, "split the documents into files", "a second YAML document begins; one is allowed")
	case !errors.Is(err, io.EOF):
		s.yamlFault(err)
	}
	if document.Kind != yaml.DocumentNode || len(document.Content) != 1 {
		s.faultAt(place{1, 1}, "", "the file is empty")
		return nil, s
	}
	root := document.Content[0]
	if twice := s.checkNode(root, 1); s.wrong > twice {
		return nil, s
	}
	return root, s
}

// checkText refuses what the YAML parser reports without a place or lets pass.
func (s *source) checkText(src []byte) bool {
	if bytes.HasPrefix(src, []byte("\ufeff")) {
		s.faultAt(place{1, 1}, "save the file without it", "the file begins with a byte order mark")
		return false
	}
	at := place{1, 1}
	for i := 0; i < len(src); {
		r, size := utf8.DecodeRune(src[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			s.faultAt(at, "save the file as UTF-8", "the file is not UTF-8")
			return false
		case r < ' ' && r != '\n' && r != '\r' && r != '\t', r >= 0x7f && r < 0xa0 && r != 0x85:
			s.faultAt(at, `write it as an escape such as "\x07"`, "a control character (U+%04X) stands in the file", r)
			return false
		}
		i += size
		at.column++
		if r == '\n' || r == '\r' && !bytes.HasPrefix(src[i:], []byte("\n")) {
			at = place{at.line + 1, 1}
		}
	}
	return true
}

// yamlFault notes an error of the parser, whose texts name no content of the file.
func (s *source) yamlFault(err error) {
	var load *yaml.LoadError
	if !errors.As(err, &load) {
		var several *yaml.LoadErrors
		if !errors.As(err, &several) || len(several.Errors) == 0 {
			s.faultAt(place{}, "", "the file is not YAML")
			return
		}
		load = several.Errors[0]
	}
	message := strings.TrimPrefix(load.Message, "yaml: ")
	if load.ContextMsg != "" {
		message = load.ContextMsg + ": " + message
	}
	s.faultAt(place{load.Mark.Line, load.Mark.Column}, "", "the file is not YAML: %s", message)
}

// checkNode walks a document and returns how many keys were given twice. It stops at the
// depth limit, so that nothing after it needs to fear deep recursion.
func (s *source) checkNode(n *yaml.Node, depth int) (twice int) {
	if depth > maxYAMLDepth {
		s.fault(n, "", "nesting is deeper than %d", maxYAMLDepth)
		return 0
	}
	if n.Kind == yaml.AliasNode {
		s.fault(n, "write the value out", "an alias is used; contracts have no anchors and aliases")
		return 0
	}
	if n.Anchor != "" {
		s.fault(n, "write the value out where it is needed", "an anchor is used; contracts have no anchors and aliases")
	}
	if n.Style&yaml.TaggedStyle != 0 || n.Tag == "!" {
		s.fault(n, "remove it; quote a scalar that is meant as a string", "a tag is used; contracts have no tags")
	}
	if n.Kind == yaml.MappingNode {
		return s.checkMapping(n, depth)
	}
	for _, c := range n.Content {
		twice += s.checkNode(c, depth+1)
	}
	return twice
}

// checkMapping also takes what was given again out of the mapping.
func (s *source) checkMapping(n *yaml.Node, depth int) (twice int) {
	first := make(map[string]*yaml.Node, len(n.Content)/2)
	kept := make([]*yaml.Node, 0, len(n.Content))
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		switch {
		case key.Kind == yaml.AliasNode, key.Anchor != "":
			s.checkNode(key, depth+1)
		case key.Kind != yaml.ScalarNode:
			s.fault(key, "", "a key is a mapping or a list; expected a string")
		case isPlain(key) && key.Value == "":
			s.fault(key, `write "" if the empty name is meant`, "a key is missing")
		case isPlain(key) && key.Value == "<<":
			s.fault(key, "write the keys out", "a merge key is used; contracts have no merge keys")
		case first[key.Value] != nil:
			s.fault(key, "", "%s is given twice; the first is on line %d", quote(key.Value), first[key.Value].Line)
			twice += 1 + s.checkNode(value, depth+1)
			continue
		default:
			first[key.Value] = key
			twice += s.checkNode(key, depth+1)
		}
		twice += s.checkNode(value, depth+1)
		kept = append(kept, key, value)
	}
	n.Content = kept
	return twice
}

// isPlain reports whether a scalar is written without quotes and not as a block.
func isPlain(n *yaml.Node) bool {
	const marked = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	return n.Kind == yaml.ScalarNode && n.Style&marked == 0
}

// quote shows a piece of a file in a message: quoted, escaped and cut.
func quote(text string) string { return strconv.Quote(cut(text)) }

// cut shortens a piece of a file for a message.
func cut(text string) string {
	const most = 64
	for i := range text {
		if i >= most {
			return text[:i] + "…"
		}
	}
	return text
}
