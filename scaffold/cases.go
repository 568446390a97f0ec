package scaffold

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hallmark-gate/hallmark/contract"
)

// caseFile is one case to be written.
type caseFile struct {
	name, why string
	request   string // flow mapping
	upstream  string // flow mapping
	raw       string // JSON text; "" where there is no reply
	want      string // flow mapping
}

func (c caseFile) yaml() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "why: %s\nrequest: %s\nupstream: %s\n", appendText(nil, c.why), c.request, c.upstream)
	if c.raw != "" {
		fmt.Fprintf(&b, "raw: |\n  %s\n", c.raw)
	}
	fmt.Fprintf(&b, "want: %s\n", c.want)
	return []byte(b.String())
}

// cases derives every obligatory case from one accepted value (A22).
func (w *writer) cases() []caseFile {
	if w.text {
		return w.textCases()
	}
	why := "A value made up from the schema; put a recorded reply in its place."
	if w.recorded {
		why = "The source's own example."
	}
	list := []caseFile{
		w.reply("accepted-example", why, compact(w.instance), fmt.Sprintf("{data: %s}", compact(w.projected(w.instance)))),
		w.extraProperty(), w.nullForObject(), w.emptyID(), w.duplicateMember(), w.arrayForObject(), w.tooLong(),
	}
	for i, b := range w.bindings {
		other := asObject(w.instance).copied().set(leafName(b.result), b.other)
		c := w.reply(fmt.Sprintf("other-%d-%s", i+1, strings.TrimSuffix(b.name, "-asked-for")), "A well-formed result of another request.", compact(other), "")
		at := w.framed(b.result)
		c.want = w.refusal(contract.LayerSemantic, contract.ReasonBinding, &at, b.name)
		list = append(list, c)
	}
	return append(list, w.noReply()...)
}

// noReply is the lack of a reply, which no tool can rule out, and where it is documented
// that of what was asked for.
func (w *writer) noReply() []caseFile {
	down := w.reply("upstream-down-connect", "Nobody listens.", "", "")
	down.upstream = `{source: "https://tool.example.test/", transport_error: CONNECT}`
	down.want = fmt.Sprintf(`{failure: %s, layer: TRANSPORT, reason: %s, at: ""}`, contract.UpstreamUnavailable, contract.ReasonUpstreamTransport)
	list := []caseFile{down}
	if w.notFound {
		c := w.reply("upstream-not-found", "What was asked for does not exist.", "", "")
		c.upstream = `{source: "https://tool.example.test/", http_status: 404}`
		c.want = fmt.Sprintf(`{failure: %s, layer: TRANSPORT, reason: %s, at: ""}`, contract.NotFound, contract.ReasonUpstreamStatus)
		list = append(list, c)
	}
	return list
}

// reply is a case about a payload, in the contract's framing.
func (w *writer) reply(name, why, payload, want string) caseFile {
	if w.framing == string(contract.FramingMCP) && payload != "" {
		payload = `{"content": [], "structuredContent": ` + payload + `}`
	}
	return w.framedReply(name, why, payload, want)
}

// framedReply is a case about a reply as it stands; "" where there is none.
func (w *writer) framedReply(name, why, raw, want string) caseFile {
	c := caseFile{
		name: name, why: why, want: want,
		request:  "{request_id: req.S1c2A3f4, session_id: s1, arguments: " + compact(w.argument) + "}",
		upstream: `{source: "https://tool.example.test/", media_type: ` + w.mediaTypes[0] + `, http_status: 200}`,
		raw:      raw,
	}
	if w.framing == string(contract.FramingMCP) && raw != "" {
		c.upstream = `{source: "https://tool.example.test/", media_type: application/json}`
	}
	return c
}

// refusal is what a refused reply must come to; at is nil where it is not looked at.
func (w *writer) refusal(layer contract.Layer, reason contract.Reason, at *string, check string) string {
	code := contract.InvalidResponse
	if w.effect() == string(contract.SideEffect) {
		code = contract.OutcomeUnknown // what broke its promise may have done its work
	}
	want := fmt.Sprintf("{failure: %s, retryable: false, layer: %s, reason: %s", code, layer, reason)
	if at != nil {
		want += fmt.Sprintf(", at: %s", appendText(nil, *at))
	}
	if check != "" {
		want += ", check: " + check
	}
	return want + "}"
}

// framed is a place of the payload as a place of the reply.
func (w *writer) framed(at string) string {
	return contract.Framing(w.framing).Payload().String() + at
}

// bySchema is a refusal by the schema at a place, which is named only where no branch
// of the schema can move it.
func (w *writer) bySchema(name, why string, payload any, at string) caseFile {
	if !w.refused(payload) {
		w.notes = append(w.notes, "cases: the value of "+name+" is accepted by the schema; write the case by hand")
	}
	c := w.reply(name, why, compact(payload), "")
	at = w.framed(at)
	place := &at
	if w.composed {
		place = nil
	}
	c.want = w.refusal(contract.LayerSchema, contract.ReasonSchema, place, "")
	return c
}

const unexpected = "unexpected_member"

func (w *writer) extraProperty() caseFile {
	const name, why = "extra-property-unexpected", "A member that nobody promised."
	switch v := w.instance.(type) {
	case *object:
		return w.bySchema(name, why, v.copied().set(unexpected, "example"), "/"+unexpected)
	case []any:
		if len(v) > 0 && asObject(v[0]) != nil {
			first := asObject(v[0]).copied().set(unexpected, "example")
			return w.bySchema(name, why, append([]any{first}, v[1:]...), "/0/"+unexpected)
		}
	}
	return w.bySchema(name, why, newObject().set(unexpected, true), "")
}

func (w *writer) nullForObject() caseFile {
	return w.bySchema("null-for-object-whole", "null in place of the whole reply.", null{}, "")
}

func (w *writer) arrayForObject() caseFile {
	return w.bySchema("array-for-object-whole", "The reply in a list.", []any{w.instance}, w.wrappedAt())
}

// wrappedAt is where a reply in a list is refused: at the root, or, of lists in lists,
// where the innermost one meets what should be an element.
func (w *writer) wrappedAt() string {
	at := ""
	for v := list(w.instance); len(v) > 0; v = list(v[0]) {
		at += "/0"
	}
	return at
}

// emptyID empties the first identifier, else the first scalar, for which "" is refused.
func (w *writer) emptyID() caseFile {
	fields := slices.Clone(w.plan.fields)
	slices.SortStableFunc(fields, func(a, b string) int {
		return strings.Compare(fmt.Sprint(!identifies(leafName(a))), fmt.Sprint(!identifies(leafName(b))))
	})
	for _, at := range fields[:min(len(fields), maxTries)] {
		place, changed, ok := w.changed(at, "")
		if !ok || w.conforms == nil && !w.refusesEmpty(at) || !w.refused(changed) {
			continue
		}
		return w.bySchema("empty-id-"+caseName(at), "An empty value.", changed, place)
	}
	return w.bySchema("empty-id-whole", "An empty reply.", "", "")
}

// refusesEmpty is a guess for where no schema engine was given.
func (w *writer) refusesEmpty(at string) bool {
	here := w.at(at)
	if !here.may("string") {
		return true
	}
	for _, o := range here.parts {
		if n, ok := count(o.get("minLength")); ok && n > 0 || isString(o) && machine(o) {
			return true
		}
	}
	return false
}

func (w *writer) duplicateMember() caseFile {
	c := w.reply("duplicate-member-first", "A member twice.", `{"a": 1, "a": 2}`, "")
	var at *string
	if o := asObject(w.instance); o != nil && len(o.names) > 0 {
		again := newObject().set(o.names[0], o.at[o.names[0]])
		c = w.reply(c.name, c.why, strings.TrimSuffix(compact(o), "}")+", "+strings.TrimPrefix(compact(again), "{"), "")
		place := w.framed("/" + escape(o.names[0]))
		at = &place
	}
	c.want = w.refusal(contract.LayerSyntax, contract.ReasonDuplicateName, at, "")
	return c
}

// tooLong exceeds the bound of a given string or array; where there is none, that of
// all strings.
func (w *writer) tooLong() caseFile {
	places := append(slices.Clone(w.plan.fields), w.plan.texts...)
	for _, at := range places[:min(len(places), 4*maxTries)] {
		for _, o := range w.at(at).parts {
			most, bounded := count(o.get("maxLength"))
			if !isString(o) || o.has("enum") || o.has("const") || !bounded && !machine(o) || most >= min(w.chars, 5000) {
				continue
			}
			if !bounded {
				most = 80
			}
			place, changed, ok := w.changed(at, strings.Repeat("a", most+1))
			if ok && w.refused(changed) {
				return w.bySchema("too-long-"+caseName(at), "Longer than promised.", changed, place)
			}
		}
	}
	c := w.reply("too-long-string", "Longer than any string may be.", compact(strings.Repeat("a", w.chars+1)), "")
	c.want = w.refusal(contract.LayerLimits, contract.ReasonStringLimit, nil, "")
	return c
}

// at returns what the schema says of a given place.
func (w *writer) at(pointer string) place {
	here := placeOf(w.result, w.result)
	for _, t := range tokens(pointer) {
		if t == "*" && here.may("array") {
			here = here.element(w.result)
		} else {
			here = here.member(w.result, t)
		}
	}
	return here
}

// changed returns the accepted value with another one at the first place that a
// pointer names, and that place.
func (w *writer) changed(pointer string, v any) (at string, changed any, ok bool) {
	path := tokens(pointer)
	done := false
	changed = edit(w.instance, path, func(old any) any {
		if done {
			return old
		}
		done = true
		return v
	})
	return strings.ReplaceAll(pointer, "*", "0"), changed, done
}

func caseName(pointer string) string {
	name := strings.ToLower(strings.ReplaceAll(identifier(leafName(pointer)), "_", "-"))
	if name == "" {
		return "value"
	}
	return fmt.Sprintf("%.40s", name)
}

// tokens splits a pointer.
func tokens(pointer string) []string {
	if pointer == "" {
		return nil
	}
	parts := strings.Split(pointer[1:], "/")
	for i := range parts {
		parts[i] = unescape(parts[i])
	}
	return parts
}

// edit returns a copy of v in which f was applied to what path names.
func edit(v any, path []string, f func(any) any) any {
	if len(path) == 0 {
		return f(v)
	}
	switch v := v.(type) {
	case *object:
		if m := v.get(path[0]); m != nil {
			return v.copied().set(path[0], edit(m, path[1:], f))
		}
	case []any:
		if path[0] == "*" {
			out := slices.Clone(v)
			for i := range out {
				out[i] = edit(out[i], path[1:], f)
			}
			return out
		}
	}
	return v
}

// projected is what the agent gets of a value; nil where it is nothing.
func (w *writer) projected(v any) any {
	tree := newObject()
	for _, at := range w.plan.fields {
		here := tree
		for _, t := range tokens(at) {
			if !here.has(t) {
				here.set(t, newObject())
			}
			here = here.at[t].(*object)
		}
	}
	return pick(v, tree)
}

// pick copies what a tree of tokens names; a leaf takes all.
func pick(v any, tree *object) any {
	if len(tree.names) == 0 {
		return v
	}
	switch v := v.(type) {
	case *object:
		out := newObject()
		for _, name := range tree.names {
			if m := v.get(name); m != nil {
				out.set(name, pick(m, tree.at[name].(*object)))
			}
		}
		return out
	case []any:
		every := asObject(tree.get("*"))
		if every == nil {
			return nil
		}
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = pick(e, every)
		}
		return out
	}
	return null{} // a scalar where members are named: only that it is there is told
}
