package schema

import (
	"strings"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// metaschemas is where the documents of the dialect itself live. Each of them is one
// resource with the dynamic anchor "meta" at its root.
const metaschemas = "https://json-schema.org/draft/2020-12/"

// scopes finds the schema resources and their dynamic anchors, which the library does
// not show. It runs only for schemas with a $dynamicRef that depends on them.
func (b *builder) scopes() {
	b.resources = make(map[string]*resource)
	for _, uri := range b.docs.loaded {
		if doc := b.docs.byURI[uri]; doc.err == nil {
			b.resources[uri+"#"] = &resource{}
			b.scan(doc.value, uri+"#", uri+"#")
			b.drain()
		}
	}
	for changed := true; changed && b.err == nil; {
		changed = false
		for s, l := range b.made {
			if l.resource == nil {
				l.resource = b.resourceOf(s.Location)
				changed = true
			}
		}
		b.drain()
	}
}

// scan walks a document for $id and $dynamicAnchor. at is the location of v, owner the
// one of the resource it belongs to; both are written unescaped.
func (b *builder) scan(v strictjson.Value, at, owner string) {
	if id := v.Member("$id").Text(); id != "" && !strings.HasPrefix(id, "#") {
		owner = at
		if b.resources[owner] == nil {
			b.resources[owner] = &resource{}
		}
	}
	if anchor := v.Member("$dynamicAnchor").Text(); anchor != "" {
		b.anchor(at, owner, anchor)
	}
	for name, m := range v.Members() {
		switch name {
		case "const", "enum", "default", "examples":
			continue // data, not schemas
		}
		b.scan(m, at+strictjson.Pointer{name}.String(), owner)
	}
	for i, e := range v.Elements() {
		b.scan(e, at+"/"+number(i), owner)
	}
}

// anchor notes a dynamic anchor of a resource, where its place is one that the
// library can compile.
func (b *builder) anchor(at, owner, anchor string) {
	uri, pointer, _ := strings.Cut(at, "#")
	s, err := b.library.Compile(uri + "#" + strings.ReplaceAll(pointer, "%", "%25"))
	if err != nil || s.DynamicAnchor != anchor {
		return
	}
	r := b.resources[owner]
	if r.dynamic == nil {
		r.dynamic = make(map[string]*location)
	}
	r.dynamic[anchor] = b.get(s, "$dynamicRef")
}

// resourceOf returns the resource that a location of the library belongs to: the
// innermost one around it.
func (b *builder) resourceOf(libraryLocation string) *resource {
	uri, _, _ := strings.Cut(libraryLocation, "#")
	_, pointer := b.docs.place(libraryLocation)
	for at := pointer; ; at = at[:strings.LastIndexByte(at, '/')] {
		if r := b.resources[uri+"#"+at]; r != nil {
			return r
		}
		if at == "" {
			break
		}
	}
	r := &resource{}
	b.resources[uri+"#"] = r
	if strings.HasPrefix(uri, metaschemas) {
		b.anchor(uri+"#", uri+"#", "meta")
	}
	return r
}
