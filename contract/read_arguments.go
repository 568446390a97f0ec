package contract

import (
	"slices"
	"time"

	yaml "go.yaml.in/yaml/v4"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// scopeTypes are the types that policies know how to compare.
func scopeTypes() []string {
	return []string{"string", "email", "host", "url", "path", "number", "time", "enum"}
}

func (d *draft) arguments(n *yaml.Node, path string) {
	a := &Arguments{}
	big := "refused"
	d.object(n, path,
		need("schema", d.schema(&a.Schema)),
		may("audience", d.text(&a.Audience, maxName)),
		may("big_integers", word(d.source, &big, "refused", "allowed")),
		may("scopes", d.list(0, func(n *yaml.Node, path string) { d.scope(a, n, path) })),
		may("unscoped", d.reasons(&a.Unscoped)),
		may("requires_grant", d.boolean(&a.RequiresGrant)),
		may("requires", d.list(0, d.requirement(&a.Requires))),
	)
	a.BigIntegers = big == "allowed"
	d.contract.Arguments = a
}

func (d *draft) scope(a *Arguments, n *yaml.Node, path string) {
	var s Scope
	d.object(n, path,
		need("name", d.matching(&s.Name, scopeForm, "a scope name: a lowercase letter, then lowercase letters, digits and _, at most 64")),
		need("type", word(d.source, &s.Type, scopeTypes()...)),
		need("at", d.pointers(&s.At, 1)),
		may("optional", d.boolean(&s.Optional)),
	)
	if s.Name != "" && slices.ContainsFunc(a.Scopes, func(t Scope) bool { return t.Name == s.Name }) {
		d.fault(n, "", "%s: a scope %s is declared twice", path, s.Name)
	}
	a.Scopes = append(a.Scopes, s)
}

// requirement reads one piece of evidence that a call needs, and appends it.
func (s *source) requirement(list *[]Evidence) read {
	return func(n *yaml.Node, path string) {
		var e Evidence
		s.object(n, path,
			need("tool", s.matching(&e.Tool, toolForm, "a tool name")),
			may("versions", s.list(1, collect(s, &e.Versions, func(dst *int) read {
				return s.integer(dst, 1, maxVersion)
			}))),
			may("max_age", s.duration(&e.MaxAge, time.Second, maxAge)),
			need("match", s.entries(func(key, value *yaml.Node, path string) {
				var argument strictjson.Pointer
				if !s.isPointer(key, path) {
					return
				}
				s.pointer(&argument)(value, path)
				if argument != nil {
					set(&e.Match, key.Value, argument.String())
				}
			})),
			may("when", s.text(&e.When, maxSentence)),
			may("from", s.list(1, collect(s, &e.From, s.texts(maxName)))),
			may("reusable", s.boolean(&e.Reusable)),
		)
		*list = append(*list, e)
	}
}
