package contract

import (
	"strings"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// lintKeywords applies the rules that look at one keyword at a time, at every
// location of every file.
func (g *graph) lintKeywords() {
	ids := map[string]bool{}
	for i := range g.locations {
		l := &g.locations[i]
		for name, v := range l.value.Members() {
			if name == questionKeyword {
				g.lintQuestion(l, v)
			}
			g.lintKeyword(i, name, v)
		}
		g.lintCompany(l)
		if id := l.words["$id"].Text(); id != "" {
			if ids[id] {
				g.rep.at(l.file, l.words["$id"], "two files have this $id", "give each file its own, or none")
			}
			ids[id] = true
		}
	}
}

func (g *graph) lintKeyword(id int, name string, v strictjson.Value) {
	l := &g.locations[id]
	k := keywordOf(name)
	switch k.form {
	case formUnknown:
		g.rep.at(l.file, v, "unknown keyword "+shown(name)+", which JSON Schema would ignore", unknownCure(name))
		return
	case formRefused:
		g.rep.at(l.file, v, "the keyword "+name+" is not supported in contracts", "write a plain $ref, and no $vocabulary")
		return
	case formSchema, formAnnotation:
		return // a value that is no schema was reported when the graph was built
	case formDialect:
		if v.Text() != dialect {
			g.rep.at(l.file, v, "another dialect than draft 2020-12; it would judge the same words differently", `write "$schema": "`+dialect+`" or nothing`)
		}
		return
	case formID:
		g.lintID(id, v)
		return
	case formPattern:
		g.lintPattern(l, v)
		return
	case formFormat:
		g.lintFormat(l, v)
		return
	}
	if wrong := misshapen(k.form, v); wrong != "" {
		g.rep.at(l.file, v, "the value of "+name+" must be "+wrong, "correct the value")
		return
	}
	if name == "patternProperties" {
		for key, m := range v.Members() {
			g.lintExpression(l, m, key)
		}
	}
}

// lintID lets an $id pass as a name of a whole file: anywhere else it would change
// what the $refs below it mean.
func (g *graph) lintID(id int, v strictjson.Value) {
	l := &g.locations[id]
	switch {
	case v.Kind() != strictjson.String || v.Text() == "" || strings.Contains(v.Text(), "#"):
		g.rep.at(l.file, v, "an $id must be a URL without a fragment", "correct or remove it")
	case g.roots[l.file] != id:
		g.rep.at(l.file, v, "an $id inside a file changes what $refs below it mean", "remove it, or name the place with $anchor")
	}
}

func (g *graph) lintFormat(l *location, v strictjson.Value) {
	if v.Kind() != strictjson.String {
		g.rep.at(l.file, v, "the value of format must be a string", "correct the value")
		return
	}
	if !knownFormat(v.Text()) {
		g.rep.at(l.file, v, "unknown format "+shown(v.Text())+", which nothing would check", "use a format of draft 2020-12, or a pattern")
	}
}

// lintCompany refuses keywords that do nothing without another one.
func (g *graph) lintCompany(l *location) {
	for _, pair := range [...][2]string{
		{"then", "if"}, {"else", "if"}, {"minContains", "contains"}, {"maxContains", "contains"},
	} {
		if v := l.words[pair[0]]; v.Exists() && !l.words[pair[1]].Exists() {
			g.rep.at(l.file, v, pair[0]+" without "+pair[1]+" has no effect", "write "+pair[1]+" beside it, or remove it")
		}
	}
	cond := l.words["if"]
	if cond.Exists() && !l.words["then"].Exists() && !l.words["else"].Exists() {
		g.rep.at(l.file, cond, "if without then or else refuses nothing", "write then or else beside it, or remove it")
	}
}

// misshapen returns what a value should be, "" where it is.
func misshapen(f form, v strictjson.Value) string {
	kind := v.Kind()
	switch f {
	case formSchemas:
		if kind != strictjson.Array || v.Len() == 0 {
			return "an array of schemas that is not empty"
		}
	case formSchemaMap:
		if kind != strictjson.Object {
			return "an object of schemas"
		}
	case formCount:
		n, ok := v.Decimal().Int64()
		if kind != strictjson.Number || !ok || n < 0 {
			return "an integer that is not negative"
		}
	case formNumber:
		if kind != strictjson.Number {
			return "a number"
		}
	case formPositive:
		if kind != strictjson.Number || v.Decimal().Sign() <= 0 {
			return "a number greater than 0"
		}
	case formBool:
		if kind != strictjson.Bool {
			return "a boolean"
		}
	case formText, formRef:
		if kind != strictjson.String {
			return "a string"
		}
	case formAnchor:
		if kind != strictjson.String || !plainName(v.Text()) {
			return "a name: a letter or _, then letters, digits, - . _"
		}
	case formList:
		if kind != strictjson.Array {
			return "an array"
		}
	case formEnum:
		if kind != strictjson.Array || v.Len() == 0 {
			return "an array that is not empty"
		}
	case formType:
		if !typeNames(v) {
			return "one of null, boolean, object, array, number, integer, string, or an array of them, each once"
		}
	case formNames:
		if !uniqueStrings(v) {
			return "an array of strings, each once"
		}
	case formNamesMap:
		if !mapOfStrings(v) {
			return "an object of arrays of strings, each once"
		}
	}
	return ""
}

func mapOfStrings(v strictjson.Value) bool {
	for _, m := range v.Members() {
		if !uniqueStrings(m) {
			return false
		}
	}
	return v.Kind() == strictjson.Object
}

func typeNames(v strictjson.Value) bool {
	if v.Kind() == strictjson.String {
		return kindsNamed(v.Text()) != 0
	}
	if !uniqueStrings(v) || v.Len() == 0 {
		return false
	}
	for _, e := range v.Elements() {
		if kindsNamed(e.Text()) == 0 {
			return false
		}
	}
	return true
}

func uniqueStrings(v strictjson.Value) bool {
	if v.Kind() != strictjson.Array {
		return false
	}
	seen := make(map[string]bool, v.Len())
	for _, e := range v.Elements() {
		if e.Kind() != strictjson.String || seen[e.Text()] {
			return false
		}
		seen[e.Text()] = true
	}
	return true
}

// plainName reports whether s is an $anchor as core section 8.2.2 wants it.
func plainName(s string) bool {
	for i := range len(s) {
		c := s[i] | 0x20
		letter := (c >= 'a' && c <= 'z') || s[i] == '_'
		if !letter && (i == 0 || !strings.ContainsRune("0123456789-.", rune(s[i]))) {
			return false
		}
	}
	return s != ""
}
