package schema

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// Dialect is the one dialect of this package.
const Dialect = "https://json-schema.org/draft/2020-12/schema"

// Formats says what the keyword format does.
type Formats uint8

// The ways of format. The zero value is the strict one.
const (
	// Assert refuses a value that does not conform, and refuses a schema that names a
	// format which no check is known for.
	Assert Formats = iota
	// AssertKnown asserts the formats that are known and lets every value of another
	// pass. It is for outside suites; a contract under it may hold a check that
	// checks nothing.
	AssertKnown
	// Annotate lets every value pass, except under a metaschema that demands the
	// vocabulary format-assertion, where it is AssertKnown.
	Annotate
)

// Options adjust a compilation. The zero Options are the ones for contracts.
type Options struct {
	Formats Formats
	// Remotes are further documents by absolute URI without fragment. They are read
	// only when a reference or $schema names them, and may hold metaschemas. A
	// document that the library embeds cannot be replaced. The bytes are not kept.
	Remotes map[string][]byte
	// Budget bounds one Validate, in visits and work worth a visit (some tens of
	// nanoseconds each). 0 means a budget that grows with the value, see [Schema.Validate].
	Budget int64
}

// Schema is a compiled schema. It is immutable and safe for concurrent use.
type Schema struct {
	root   *location
	budget int64
}

// CompileError says why a schema cannot be used. Its text holds names and references
// of the schema, cut to a bounded length, and nothing of any other file.
type CompileError struct {
	File    string // key of the files, or the URI of a remote; "" where it is not known
	Pointer string // JSON Pointer of the place in File; "" where it is the whole file or not known
	Detail  string // a sentence of our own
}

// Error returns place and detail on one line.
func (e *CompileError) Error() string {
	return fmt.Sprintf("schema: %s#%s: %s", cut(e.File), cut(e.Pointer), e.Detail)
}

// maxErrorText is the length, in code points, of a name inside an error's text.
const maxErrorText = 256

// cut bounds a name that a document chose.
func cut(s string) string {
	n := 0
	for i := range s {
		if n == maxErrorText {
			return s[:i] + "…"
		}
		n++
	}
	return s
}

// Compile compiles the schema root, which is a key of files. files are the documents
// of one folder by slash-separated path relative to it; a $ref may name them
// relatively. Every error is a [*CompileError]. The bytes are not kept. It costs time
// that grows with the square of the number of subschemas; a document has at most
// 50,000 values.
func Compile(files map[string][]byte, root string, opts Options) (*Schema, error) {
	docs, err := newDocuments(files, opts.Remotes)
	if err != nil {
		return nil, err
	}
	if _, ok := files[root]; !ok {
		return nil, &CompileError{File: root, Detail: "there is no such file among the schemas"}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if _, err := docs.load(fileURI(name)); err != nil {
			return nil, err
		}
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(docs)
	c.UseRegexpEngine(compilePattern)
	if opts.Formats != Annotate {
		c.AssertFormat()
	}
	compiled, err := c.Compile(fileURI(root))
	if err != nil {
		return nil, docs.compileError(root, err)
	}
	b := &builder{
		docs: docs, library: c, root: root, formats: opts.Formats,
		made: make(map[*jsonschema.Schema]*location),
	}
	top, err := b.build(compiled)
	if err != nil {
		return nil, err
	}
	return &Schema{root: top, budget: opts.Budget}, nil
}

// compileError translates what the library says. Its own texts are never used: they
// quote documents.
func (d *documents) compileError(root string, err error) *CompileError {
	if own, ok := errors.AsType[*CompileError](err); ok {
		return own
	}
	at := func(uri, detail string) *CompileError {
		file, pointer := d.place(uri)
		return &CompileError{File: file, Pointer: pointer, Detail: detail}
	}
	switch e := err.(type) {
	case *jsonschema.LoadURLError:
		if own, ok := errors.AsType[*CompileError](e.Err); ok {
			return d.refused(root, own, e.URL)
		}
		return at(e.URL, "this document cannot be read")
	case *jsonschema.SchemaValidationError:
		return d.invalidSchema(e)
	case *jsonschema.InvalidRegexError:
		return at(e.URL, noRE2)
	case *jsonschema.JSONPointerNotFoundError:
		return at(e.URL, "a $ref names this place, and there is nothing")
	case *jsonschema.AnchorNotFoundError:
		return at(e.URL, "a $ref names an anchor that this document does not have")
	case *jsonschema.DuplicateIDError:
		return at(e.URL+"#"+e.Ptr1, "this $id stands twice in the document")
	case *jsonschema.DuplicateAnchorError:
		return at(e.URL+"#"+e.Ptr1, "this anchor stands twice in the document")
	case *jsonschema.UnsupportedVocabularyError:
		return at(e.URL, "the metaschema demands a vocabulary that is not known")
	case *jsonschema.UnsupportedDraftError, *jsonschema.MetaSchemaCycleError,
		*jsonschema.InvalidMetaSchemaURLError:
		return &CompileError{File: root, Detail: unsupportedDialect}
	}
	return &CompileError{File: root, Detail: "an $id, an anchor or a $ref is not well formed"}
}

// The sentences that more than one place needs.
const (
	unsupportedDialect = "unsupported dialect: only " + Dialect + " and metaschemas built on it are known"
	noRE2              = "this pattern is no regular expression that RE2 knows (it has no look-around and no back-references)"
)

// invalidSchema finds the first place at which a document breaks its metaschema.
func (d *documents) invalidSchema(e *jsonschema.SchemaValidationError) *CompileError {
	file, base := d.place(e.URL)
	out := &CompileError{File: file, Pointer: base, Detail: "this is no valid schema of the dialect"}
	cause, ok := e.Err.(*jsonschema.ValidationError)
	if !ok {
		return out
	}
	for len(cause.Causes) > 0 {
		if k, ok := cause.ErrorKind.(*kind.PropertyNames); ok {
			return d.badName(out, e.URL, k.Property)
		}
		cause = cause.Causes[0]
	}
	out.Pointer = base + strictjson.Pointer(cause.InstanceLocation).String()
	if k, ok := cause.ErrorKind.(*kind.Format); ok && k.Want == "regex" {
		out.Detail = noRE2
	} else if path := cause.ErrorKind.KeywordPath(); len(path) > 0 {
		out.Detail = "this is no valid schema of the dialect: it breaks " + path[0] + " of the metaschema"
	}
	return out
}

// badName is the fault of a member name: of a pattern below patternProperties, or of
// an entry of $vocabulary. The library misplaces these, so the name is looked for.
func (d *documents) badName(out *CompileError, location, name string) *CompileError {
	uri, _, _ := strings.Cut(location, "#")
	doc, ok := d.byURI[uri]
	if !ok {
		return out
	}
	if p, ok := findPattern(doc.value, name, nil); ok {
		out.Pointer, out.Detail = p.String(), noRE2
	}
	return out
}

// findPattern looks for a member of that name below a patternProperties.
func findPattern(v strictjson.Value, name string, at strictjson.Pointer) (strictjson.Pointer, bool) {
	if v.Member("patternProperties").Member(name).Exists() {
		return append(at.Append("patternProperties"), name), true
	}
	for n, m := range v.Members() {
		if p, ok := findPattern(m, name, at.Append(n)); ok {
			return p, true
		}
	}
	for i, e := range v.Elements() {
		if p, ok := findPattern(e, name, at.Append(number(i))); ok {
			return p, true
		}
	}
	return nil, false
}
