package schema

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// fileScheme is the base under which the given files are known to the library. It is
// no scheme that anything could open.
const fileScheme = "contract:///"

// fileURI returns the URI of one of the given files.
func fileURI(name string) string {
	parts := strings.Split(name, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return fileScheme + strings.Join(parts, "/")
}

// limits of one schema document.
func documentLimits() strictjson.Limits {
	return strictjson.Limits{
		MaxBytes: 4 << 20, MaxDepth: 256, MaxItems: 50_000,
		MaxStringChars: 100_000, MaxNameChars: 4096, MaxNumberChars: 400,
	}
}

// document is one schema file, parsed at most once.
type document struct {
	name   string // as errors and failures call it
	source []byte
	value  strictjson.Value
	plain  any // the same, as the library wants it
	err    *CompileError
	read   bool
}

// documents is the closed world of one compilation, by URI. It is the library's
// loader; it opens nothing.
type documents struct {
	byURI  map[string]*document
	loaded []string // URIs in the order of loading
}

func newDocuments(files, remotes map[string][]byte) (*documents, error) {
	d := &documents{byURI: make(map[string]*document, len(files)+len(remotes))}
	for uri, source := range remotes {
		if u, err := url.Parse(uri); err != nil || !u.IsAbs() || strings.Contains(uri, "#") || strings.HasPrefix(uri, fileScheme) {
			return nil, &CompileError{File: uri, Detail: "a remote is named by an absolute URI without fragment"}
		}
		d.byURI[uri] = &document{name: uri, source: source}
	}
	for name, source := range files {
		d.byURI[fileURI(name)] = &document{name: name, source: source}
	}
	return d, nil
}

// Load is the library's way to ask for a document.
func (d *documents) Load(uri string) (any, error) {
	doc, err := d.load(uri)
	if err != nil {
		return nil, err
	}
	return doc.plain, nil
}

func (d *documents) load(uri string) (*document, error) {
	doc, ok := d.byURI[uri]
	if !ok {
		return nil, &CompileError{Detail: "a reference leads out of the given files; nothing is opened"}
	}
	if !doc.read {
		doc.read = true
		d.parse(doc)
		d.loaded = append(d.loaded, uri)
	}
	if doc.err != nil {
		return nil, doc.err
	}
	return doc, nil
}

func (d *documents) parse(doc *document) {
	v, err := strictjson.Parse(doc.source, documentLimits())
	if err != nil {
		doc.err = &CompileError{File: doc.name, Detail: "this document is no JSON that is accepted"}
		if e, ok := err.(*strictjson.Error); ok {
			doc.err.Pointer = e.Pointer
			doc.err.Detail = e.Error()
		}
		return
	}
	if named := v.Member("$schema"); named.Kind() == strictjson.String {
		name := strings.TrimSuffix(named.Text(), "#")
		if _, own := d.byURI[name]; name != Dialect && !own {
			doc.err = &CompileError{File: doc.name, Pointer: "/$schema", Detail: unsupportedDialect}
			return
		}
	}
	doc.value, doc.plain = v, plain(v)
}

// plain converts v to what the library reads. Numbers keep their digits.
func plain(v strictjson.Value) any {
	switch v.Kind() {
	case strictjson.Bool:
		return v.IsTrue()
	case strictjson.Number:
		return json.Number(v.Digits())
	case strictjson.String:
		return v.Text()
	case strictjson.Array:
		out := make([]any, 0, v.Len())
		for _, e := range v.Elements() {
			out = append(out, plain(e))
		}
		return out
	case strictjson.Object:
		out := make(map[string]any, v.Len())
		for name, m := range v.Members() {
			out[name] = plain(m)
		}
		return out
	}
	return nil
}

// place splits a location of the library into the document's name and a JSON Pointer.
func (d *documents) place(location string) (name, pointer string) {
	uri, fragment, _ := strings.Cut(location, "#")
	pointer, err := url.PathUnescape(fragment)
	if err != nil {
		pointer = ""
	}
	if doc, ok := d.byURI[uri]; ok {
		return doc.name, pointer
	}
	return uri, pointer
}

// at returns the value of the schema at a location of the library; absent for the
// metaschemas that it embeds.
func (d *documents) at(location string) strictjson.Value {
	uri, _, _ := strings.Cut(location, "#")
	doc, ok := d.byURI[uri]
	if !ok {
		return strictjson.Value{}
	}
	_, pointer := d.place(location)
	p, err := strictjson.ParsePointer(pointer)
	if err != nil {
		return strictjson.Value{}
	}
	return doc.value.At(p)
}

// formatAssertion is the vocabulary under which format is an assertion. A metaschema
// that lists it, required or not, makes it one for who knows it (section 8.1.2).
const formatAssertion = metaschemas + "vocab/format-assertion"

// demandsFormats reports whether the metaschema of the document at a location of the
// library asserts formats.
func (d *documents) demandsFormats(location string) bool {
	uri, _, _ := strings.Cut(location, "#")
	doc, ok := d.byURI[uri]
	if !ok {
		return false
	}
	meta, ok := d.byURI[strings.TrimSuffix(doc.value.Member("$schema").Text(), "#")]
	return ok && meta.value.Member("$vocabulary").Member(formatAssertion).Exists()
}

// refused says where the reference stands that could not be followed. The library
// does not say; the first $ref or $schema that resolves to the address is taken.
func (d *documents) refused(root string, cause *CompileError, uri string) *CompileError {
	if cause.File != "" {
		return cause
	}
	out := &CompileError{File: root, Detail: cause.Detail}
	for _, loaded := range d.loaded {
		doc := d.byURI[loaded]
		base, err := url.Parse(loaded)
		if err != nil || doc.err != nil {
			continue
		}
		if p, ok := findReference(doc.value, base, uri, nil); ok {
			out.File, out.Pointer = doc.name, p.String()
			return out
		}
	}
	return out
}

// findReference looks for a reference to target in v, whose base URI is base.
func findReference(v strictjson.Value, base *url.URL, target string, at strictjson.Pointer) (strictjson.Pointer, bool) {
	if id := v.Member("$id"); id.Kind() == strictjson.String {
		if u, err := base.Parse(id.Text()); err == nil {
			base = u
		}
	}
	for name, m := range v.Members() {
		if m.Kind() == strictjson.String && slices.Contains([]string{"$ref", "$dynamicRef", "$schema"}, name) {
			if u, err := base.Parse(m.Text()); err == nil {
				u.Fragment, u.RawFragment = "", ""
				if u.String() == target {
					return at.Append(name), true
				}
			}
		}
		if p, ok := findReference(m, base, target, at.Append(name)); ok {
			return p, true
		}
	}
	for i, e := range v.Elements() {
		if p, ok := findReference(e, base, target, at.Append(number(i))); ok {
			return p, true
		}
	}
	return nil, false
}
