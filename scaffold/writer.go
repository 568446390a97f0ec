package scaffold

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hallmark-gate/hallmark/contract"
)

// writer holds what contract.yaml and the cases are made of.
type writer struct {
	source
	Options
	dir               string
	result, arguments *object
	plan              *plan

	instance any  // a value of the payload that should be accepted
	recorded bool // it is an example of the source
	argument any  // arguments of the cases
	bindings []binding
	asked    []string // questions of contract.yaml, in order
	notes    []string
	chars    int                     // limits.max_string_chars
	composed bool                    // the schema has branches
	conforms func(value []byte) bool // to the schema of the payload; nil: unknown
}

// binding is a proposed equals check.
type binding struct {
	name             string
	result, argument string // pointers
	whenGiven        bool
	other            any // a value that belongs to another request
}

// maxExample bounds an example that is taken from the source, in bytes.
const maxExample = 16 << 10

var plainText = regexp.MustCompile(`^[!-%'-;=?-~]+( [!-%'-;=?-~]+)*$`)

// examples chooses the values that the cases are derived from.
func (w *writer) examples() {
	s := &sampler{root: w.arguments}
	w.argument, _ = s.value(w.arguments, 0)
	if asObject(w.argument) == nil {
		w.argument = newObject()
	}
	if !w.text {
		w.payloads()
	}
}

// payloads chooses the value of the payload.
func (w *writer) payloads() {
	w.composed = composition(w.result)
	if w.Compile != nil {
		w.conforms = w.Compile([]byte(compact(w.result)))
	}
	if w.conforms == nil {
		w.notes = append(w.notes, "cases: values were not judged by the schema; run hallmark check")
	}
	w.chars = max(proposedLength, longestText(w.result))
	for _, e := range w.source.examples {
		e = w.cleaned(e)
		if w.conforms != nil && len(compact(e)) <= maxExample && w.valid(e) && w.projected(e) != nil {
			w.instance, w.recorded = e, true
			break
		}
	}
	for variant := 0; variant < 4 && w.instance == nil; variant++ {
		s := &sampler{root: w.result, variant: variant}
		if made, ok := s.value(w.result, 0); ok && (w.conforms == nil || w.valid(made)) {
			w.instance = made
		}
	}
	if w.instance == nil {
		w.instance = newObject()
		w.notes = append(w.notes, "cases: no value could be made up that conforms to the schema; write accepted-example.yaml and the others by hand")
	}
}

func (w *writer) valid(v any) bool { return w.conforms([]byte(compact(v))) }

// refused reports whether a value is refused by the schema, as far as that is known.
func (w *writer) refused(v any) bool { return w.conforms == nil || !w.valid(v) }

// cleaned replaces texts that the service would clean, whose cleaned form the draft
// does not know.
func (w *writer) cleaned(v any) any {
	for _, at := range w.plan.texts {
		v = edit(v, tokens(at), func(old any) any {
			if s, ok := old.(string); ok && s != "" && !plainText.MatchString(s) {
				return "example text"
			}
			return old
		})
	}
	return v
}

// composition reports whether a schema has branches, in which a refusal may be
// reported at another place.
func composition(v any) bool {
	switch v := v.(type) {
	case []any:
		return slices.ContainsFunc(v, composition)
	case *object:
		for _, name := range v.names {
			if slices.Contains([]string{"allOf", "anyOf", "oneOf", "if", "unevaluatedProperties"}, name) || composition(v.at[name]) {
				return true
			}
		}
	}
	return false
}

// longestText is the largest maxLength of a schema, as far as the service allows it.
func longestText(v any) int {
	most := 0
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			most = max(most, longestText(e))
		}
	case *object:
		for _, name := range v.names {
			if n, ok := count(v.at[name]); ok && name == "maxLength" && n <= 100_000 {
				most = max(most, n)
			}
			most = max(most, longestText(v.at[name]))
		}
	}
	return most
}

// bind proposes an equals check for each given member that an argument seems to name.
func (w *writer) bind() {
	here, args := placeOf(w.result, w.result), placeOf(w.arguments, w.arguments)
	given := map[string]bool{}
	for _, at := range w.plan.fields {
		given[at] = true
	}
	for _, arg := range args.names() {
		_, suffix, _ := cutLast(arg, "_")
		for _, member := range []string{arg, suffix} {
			at := "/" + escape(member)
			if !given[at] || member != arg && !identifies(member) || len(w.bindings) >= maxBindings {
				continue
			}
			if b, ok := w.binding(args, here, arg, member); ok {
				given[at] = false
				w.bindings = append(w.bindings, b)
			}
		}
	}
}

// maxBindings bounds the proposed equals checks, maxTries the places that are tried
// for a case: each costs a judgement by the whole schema.
const (
	maxBindings = 20
	maxTries    = 50
)

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

func (w *writer) binding(args, here place, arg, member string) (binding, bool) {
	value := asObject(w.instance).get(member)
	kind := typeOf(value)
	a := args.member(w.arguments, arg)
	if kind != "string" && kind != "number" || !a.may(kind) && !(kind == "number" && a.may("integer")) {
		return binding{}, false
	}
	for variant := 1; variant < 4; variant++ {
		for _, part := range here.parts {
			s := &sampler{root: w.result, variant: variant}
			other, ok := s.value(asObject(part.get("properties")).get(member), 0)
			if !ok || equal(other, value) || typeOf(other) != kind {
				continue
			}
			changed := asObject(w.instance).copied().set(member, other)
			if w.conforms != nil && !w.valid(changed) {
				continue
			}
			name := identifier(member)
			if name == "" || name[0] < 'A' {
				name = "member-" + name
			}
			w.argument.(*object).set(arg, value)
			return binding{
				name: fmt.Sprintf("%.50s-asked-for", name), result: "/" + escape(member), argument: "/" + escape(arg),
				whenGiven: !args.required()[arg], other: other,
			}, true
		}
	}
	return binding{}, false
}

// question numbers and keeps a question, and returns its comment line.
func (w *writer) question(indent int, format string, args ...any) string {
	q := fmt.Sprintf(format, args...)
	w.asked = append(w.asked, q)
	return fmt.Sprintf("%s# %s %d: %s\n", strings.Repeat(" ", indent), questionMark, len(w.asked), q)
}

// blank keeps a question that nothing is proposed for, and returns the value.
func (w *writer) blank(q string) string {
	w.asked = append(w.asked, q)
	return string(appendText(nil, questionMark+": "+q))
}

// contract writes contract.yaml.
func (w *writer) contract() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# A draft from %s. Answer each question here and each x-question of the\n", oneLine(w.from))
	b.WriteString("# schemas: correct the value, then delete the question. Nothing is served before that.\n")
	fmt.Fprintf(&b, "tool: %s\n", w.Tool)
	w.aliasesKey(&b)
	b.WriteString("version: 1\n")
	fmt.Fprintf(&b, "owner: %s\n", w.blank("who is told when results stop matching?"))
	if d := oneLine(w.description); d != "" {
		fmt.Fprintf(&b, "description: %s\n", appendText(nil, d))
	} else {
		fmt.Fprintf(&b, "description: %s\n", w.blank("what does the tool tell, and for which decision?"))
	}
	if w.Options.Effect == "" {
		b.WriteString(w.question(0, "%s", w.effectWhy))
	}
	fmt.Fprintf(&b, "effect: %s\n", w.effect())
	if at := w.outside(); at != "" && w.effect() == string(contract.ReadOnly) {
		b.WriteString(w.question(0, "the argument %s looks like a destination. Does it lead outside (open), or must a grant cover it (granted)?", at))
		b.WriteString("egress: none\n")
	}
	b.WriteString("\n")
	if w.text {
		w.textKey(&b)
	} else {
		w.resultKey(&b)
	}
	b.WriteString("\n")
	w.argumentsKey(&b)
	return []byte(b.String())
}

// aliasesKey proposes the name that the source calls the tool by, which may be no
// contract's name.
func (w *writer) aliasesKey(b *strings.Builder) {
	switch {
	case w.alias == "" || w.alias == w.Tool:
	case len(w.alias) > maxAlias:
		b.WriteString(w.question(0, "the source calls the tool by a name of %d bytes, and an alias has at most %d. By which name is it called?", len(w.alias), maxAlias))
	default:
		b.WriteString(w.question(0, "the source calls the tool by this name. Is it called so?"))
		fmt.Fprintf(b, "aliases: [%s]\n", appendText(nil, w.alias))
	}
}

// maxAlias bounds a contract's alias, in bytes.
const maxAlias = 256

// asks writes questions that belong to no single value.
func (w *writer) asks(b *strings.Builder, questions []string) {
	for _, q := range questions {
		b.WriteString(w.question(2, "%s", q))
	}
}

func (w *writer) effect() string {
	if w.Options.Effect != "" {
		return w.Options.Effect
	}
	return w.source.effect
}

func (w *writer) resultKey(b *strings.Builder) {
	fmt.Fprintf(b, "result:\n  kind: json\n  framing: %s\n", w.framing)
	w.asks(b, w.resultAsks)
	fmt.Fprintf(b, "  media_types: [%s]\n", strings.Join(w.mediaTypes, ", "))
	b.WriteString(w.question(2, "are these limits enough for real replies, and no more than that?"))
	size := max(65536, 8*len(compact(w.instance)))
	fmt.Fprintf(b, "  limits: {max_bytes: %d, max_depth: %d, max_items: 1000, max_string_chars: %d}\n", size, max(16, depth(w.instance)+4), w.chars)
	b.WriteString("  schema: result.schema.json\n")
	if len(w.plan.texts) > 0 {
		b.WriteString(w.question(2, "these strings are outside text. Can one be narrowed to a machine value by an enum or a pattern?"))
		b.WriteString("  text_fields:\n")
		for _, at := range w.plan.texts {
			as := "text/plain, profile: prose"
			if w.at(at).isURL() {
				as = "url"
			}
			fmt.Fprintf(b, "    - {at: %s, as: %s}\n", appendText(nil, at), as)
		}
	}
	w.checksKey(b)
	optional := ""
	if n := len(w.plan.optional); n > 0 {
		optional = " Optional and not given: " + oneLine(strings.Join(w.plan.optional[:min(n, 40)], " "))
		if n > 40 {
			optional += " and " + strconv.Itoa(n-40) + " more"
		}
	}
	b.WriteString(w.question(2, "does the agent need all of these for its decision?%s", optional))
	if w.plan.mixed {
		b.WriteString(w.question(2, "the source has several shapes of reply, or none of its own, so the whole is given. Which shape is it?"))
	}
	for _, at := range w.plan.loose {
		b.WriteString(w.question(2, "nothing in %q is required by the source. Which members must be there (required in the schema)?", at))
	}
	b.WriteString("  agent_fields:\n")
	for _, at := range w.plan.fields {
		fmt.Fprintf(b, "    - %s\n", appendText(nil, at))
	}
	if len(w.plan.notGiven) > 0 {
		b.WriteString("  not_given:\n")
		for _, n := range w.plan.notGiven {
			why := strings.TrimPrefix(n[1], questionMark+": ")
			fmt.Fprintf(b, "    %s: %s\n", appendText(nil, n[0]), w.blank(why))
		}
	}
	if w.notFound {
		b.WriteString("  not_found: {http_status: [404]}\n")
	}
}

func (w *writer) checksKey(b *strings.Builder) {
	if len(w.bindings) == 0 {
		fmt.Fprintf(b, "  unbound: %s\n", w.blank("no member repeats an argument. Add an equals check, or say why a result of another request does no harm."))
		return
	}
	b.WriteString("  checks:\n")
	for _, c := range w.bindings {
		b.WriteString(w.question(4, "must %s be the argument %s, letter by letter?", c.result, c.argument))
		when := ""
		if c.whenGiven {
			when = ", when_given: true"
		}
		fmt.Fprintf(b, "    - {use: equals, name: %s, with: {result: %s, argument: %s%s}}\n",
			c.name, appendText(nil, c.result), appendText(nil, c.argument), when)
	}
}

func (w *writer) argumentsKey(b *strings.Builder) {
	b.WriteString("arguments:\n")
	w.asks(b, w.argumentAsks)
	b.WriteString("  schema: arguments.schema.json\n")
	if w.effect() != string(contract.SideEffect) {
		return
	}
	names := placeOf(w.arguments, w.arguments).names()
	if len(names) == 0 {
		return
	}
	b.WriteString("  unscoped:\n")
	for _, name := range names {
		fmt.Fprintf(b, "    %s: %s\n", appendText(nil, "/"+escape(name)),
			w.blank("which grant must cover it (move it to a scope), or why does none need to?"))
	}
}

// outside returns an argument that looks like a destination, "" where none does.
func (w *writer) outside() string {
	args := placeOf(w.arguments, w.arguments)
	for _, name := range args.names() {
		lower := strings.ToLower(name)
		if i := strings.LastIndexAny(lower, "_-"); i >= 0 {
			lower = lower[i+1:]
		}
		if slices.Contains(strings.Fields("url urls uri uris iri href link links webhook endpoint host hosts hostname hostnames domain ip address addresses email emails"), lower) {
			return "/" + escape(name)
		}
		a := args.member(w.arguments, name)
		parts := slices.Concat(a.parts, a.element(w.arguments).parts)
		for _, o := range parts {
			switch text(o.get("format")) {
			case "uri", "uri-reference", "uri-template", "iri", "iri-reference", "hostname", "idn-hostname", "ipv4", "ipv6", "email", "idn-email":
				return "/" + escape(name)
			}
			if strings.Contains(text(o.get("pattern")), "://") {
				return "/" + escape(name)
			}
		}
	}
	return ""
}
