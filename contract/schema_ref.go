package contract

import (
	"io/fs"
	"net/url"
	"path"
	"strconv"
	"strings"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

const refCure = `refer to "#/$defs/NAME", or to a file of the contract's folder by its relative path`

// splitRef reads a $ref of a file as a file and a fragment. fault says why it is
// refused, "" where it is not. Only paths inside the contract's folder are taken:
// no scheme, no authority, no query, no percent-encoding in which a dot or a slash
// could hide. No $ref is looked up anywhere but in the files that were handed in.
func splitRef(file, ref string) (target, fragment, fault string) {
	name, fragment, _ := strings.Cut(ref, "#")
	switch {
	case name == "":
		return file, fragment, ""
	case strings.HasPrefix(name, "/"), strings.Contains(name, `\`):
		return "", "", "a $ref that leaves the contract's folder"
	case strings.Contains(name, ":"):
		return "", "", "a $ref to an absolute URL; nothing is ever fetched"
	case strings.ContainsAny(name, "%?"):
		return "", "", "a $ref whose path is not written plainly"
	}
	target = path.Join(path.Dir(file), name)
	if !fs.ValidPath(target) {
		return "", "", "a $ref that leaves the contract's folder"
	}
	if !strings.HasSuffix(target, ".json") {
		return "", "", "a $ref to a file that is no .json file"
	}
	return target, fragment, ""
}

// referredFile returns the file that location id refers to, where that is one of
// files.
func (g *graph) referredFile(id int, files map[string][]byte) (string, bool) {
	l := &g.locations[id]
	ref := l.words["$ref"]
	if ref.Kind() != strictjson.String {
		return "", false
	}
	target, _, fault := splitRef(l.file, ref.Text())
	if fault != "" || (target != l.file && g.fileID(l.file) != "") {
		return "", false
	}
	_, ok := files[target]
	return target, ok
}

// fileID returns the $id of a file's root, "" where it has none.
func (g *graph) fileID(file string) string {
	id, ok := g.roots[file]
	if !ok {
		return ""
	}
	return g.locations[id].words["$id"].Text()
}

// resolve makes an edge of a location's $ref, or says why it cannot be followed.
func (g *graph) resolve(id int, files map[string][]byte) {
	l := &g.locations[id]
	ref := l.words["$ref"]
	if ref.Kind() != strictjson.String {
		return // the check of keyword values says so
	}
	refuse := func(message, cure string) { g.rep.at(l.file, ref, message+": "+shown(ref.Text()), cure) }
	target, fragment, fault := splitRef(l.file, ref.Text())
	switch {
	case fault != "":
		refuse(fault, refCure)
		return
	case target != l.file && g.fileID(l.file) != "":
		// A reader that honours $id would look for the target below that URL: two
		// readers, two schemas.
		refuse("a $ref to another file from a file with an $id, which would move the target", "remove the $id, or move the target into $defs")
		return
	}
	root, loaded := g.roots[target]
	if !loaded {
		if _, ok := files[target]; !ok {
			refuse("the contract's folder has no file for this $ref", refCure)
		} // else the file's own fault was reported, or there are too many files
		if _, ok := files[target]; ok && len(g.roots) >= maxSchemaFiles {
			refuse("more than 64 files are reached by $ref", "put them into one file's $defs")
		}
		return
	}
	to, ok := g.fragment(target, root, fragment)
	if !ok {
		refuse("no schema stands where this $ref points", refCure)
		return
	}
	l.edges = append(l.edges, edge{kind: edgeRef, to: to})
}

// fragment finds the subschema that a $ref's fragment names: a JSON Pointer to a
// place where a schema stands, or an $anchor.
func (g *graph) fragment(file string, root int, fragment string) (int, bool) {
	text, err := url.PathUnescape(fragment)
	if err != nil {
		return 0, false
	}
	if text != "" && text[0] != '/' {
		id, ok := g.anchors[file][text]
		return id, ok
	}
	p, err := strictjson.ParsePointer(text)
	if err != nil {
		return 0, false
	}
	v := g.locations[root].value
	for _, token := range p {
		if v = g.child(v, token); !v.Exists() {
			return 0, false
		}
	}
	id, ok := g.index[v]
	return id, ok
}

// child is one step of a JSON Pointer. It indexes large containers once: with
// thousands of $refs into one $defs a search for each would be quadratic.
func (g *graph) child(v strictjson.Value, token string) strictjson.Value {
	const large = 16
	if v.Len() < large {
		return v.At(strictjson.Pointer{token})
	}
	m, ok := g.children[v]
	if !ok {
		m = make(map[string]strictjson.Value, v.Len())
		for name, e := range v.Members() {
			m[name] = e
		}
		for i, e := range v.Elements() {
			m[strconv.Itoa(i)] = e
		}
		g.children[v] = m
	}
	return m[token]
}
