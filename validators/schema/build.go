package schema

import (
	"encoding/json"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/hallmark-gate/hallmark/validators/format"
	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

func number(i int) string { return strconv.Itoa(i) }

// builder turns the library's compiled schemas into locations.
type builder struct {
	docs      *documents
	library   *jsonschema.Compiler
	root      string // the file that failures do not name
	formats   Formats
	made      map[*jsonschema.Schema]*location
	queue     []*jsonschema.Schema
	dynamic   bool // a $dynamicRef depends on the dynamic scope
	resources map[string]*resource
	objects   int // locations that say something of objects
	err       *CompileError
}

func (b *builder) build(root *jsonschema.Schema) (*location, error) {
	top := b.get(root, "")
	b.drain()
	if b.err == nil && b.dynamic {
		b.scopes()
	}
	if b.err != nil {
		return nil, b.err
	}
	all := make([]*location, 0, len(b.made))
	for _, l := range b.made {
		all = append(all, l)
	}
	markCycles(all)
	for _, l := range all {
		l.anyOf.discriminate()
		l.oneOf.discriminate()
		l.composed = l.ref != nil || l.dynamicRef != nil || len(l.allOf) > 0 || l.anyOf != nil || l.oneOf != nil ||
			l.not != nil || l.ifThen != nil
	}
	return top, nil
}

// drain fills every location that get promised.
func (b *builder) drain() {
	for len(b.queue) > 0 && b.err == nil {
		s := b.queue[0]
		b.queue = b.queue[1:]
		b.fill(b.made[s], s)
	}
}

// get returns the location of s, which may still be empty. via is the keyword that
// leads there.
func (b *builder) get(s *jsonschema.Schema, via string) *location {
	if s == nil {
		return nil
	}
	l, ok := b.made[s]
	if !ok {
		l = &location{place: b.place(s.Location), minLength: -1, maxLength: -1}
		b.made[s] = l
		b.queue = append(b.queue, s)
	}
	if l.via == "" || !strings.HasPrefix(via, "$") { // the keyword around it, not a reference
		l.via = via
	}
	return l
}

func (b *builder) place(libraryLocation string) string {
	name, pointer := b.docs.place(libraryLocation)
	if name == b.root {
		return pointer
	}
	return name + "#" + pointer
}

func (b *builder) list(ss []*jsonschema.Schema, via string) []*location {
	var out []*location
	for _, s := range ss {
		out = append(out, b.get(s, via))
	}
	return out
}

func (b *builder) fail(l *jsonschema.Schema, keyword, detail string) {
	if b.err == nil {
		file, pointer := b.docs.place(l.Location)
		if keyword != "" {
			pointer += "/" + keyword
		}
		b.err = &CompileError{File: file, Pointer: pointer, Detail: detail}
	}
}

func (b *builder) fill(l *location, s *jsonschema.Schema) {
	if s.DraftVersion != 2020 {
		b.fail(s, "", unsupportedDialect)
		return
	}
	if s.Bool != nil {
		l.verdict = never
		if *s.Bool {
			l.verdict = always
		}
		return
	}
	if s.Types != nil {
		for _, name := range s.Types.ToStrings() {
			l.types |= typeNamed(name)
		}
	}
	if s.Const != nil {
		l.constant = b.value(s, *s.Const)
	}
	if s.Enum != nil {
		l.enum = b.enumeration(s)
	}
	b.fillFormat(l, s)
	l.ref = b.get(s.Ref, "$ref")
	if d := s.DynamicRef; d != nil {
		l.dynamicRef = &dynamicRef{target: b.get(d.Ref, "$dynamicRef")}
		if d.Anchor != "" && d.Ref.DynamicAnchor == d.Anchor {
			l.dynamicRef.anchor = d.Anchor
			b.dynamic = true
		}
	}
	l.allOf = b.list(s.AllOf, "allOf")
	l.anyOf = newUnion("anyOf", b.list(s.AnyOf, "anyOf"))
	l.oneOf = newUnion("oneOf", b.list(s.OneOf, "oneOf"))
	l.not = b.get(s.Not, "not")
	if s.If != nil {
		l.ifThen = &conditional{b.get(s.If, "if"), b.get(s.Then, "then"), b.get(s.Else, "else")}
	}
	l.minLength = b.integer(s, "minLength", s.MinLength)
	l.maxLength = b.integer(s, "maxLength", s.MaxLength)
	if s.Pattern != nil {
		l.pattern = s.Pattern.(*pattern)
	}
	l.number = numberRulesOf(s)
	b.fillObject(l, s)
	b.fillArray(l, s)
	l.unevaluatedItems = b.get(s.UnevaluatedItems, "unevaluatedItems")
	l.unevaluatedProps = b.get(s.UnevaluatedProperties, "unevaluatedProperties")
}

// fillFormat takes the check from our own package, never the library's. The name comes
// from the document: the library drops the names that it has no check for.
func (b *builder) fillFormat(l *location, s *jsonschema.Schema) {
	name := ""
	if s.Format != nil {
		name = s.Format.Name
	} else if b.formats != Annotate || b.docs.demandsFormats(s.Location) {
		name = b.docs.at(s.Location).Member("format").Text()
	}
	if name == "" {
		return
	}
	check, known := format.Lookup(name)
	if !known && b.formats == Assert {
		b.fail(s, "format", "no check is known for this format")
	}
	l.format = check
}

func (b *builder) fillObject(l *location, s *jsonschema.Schema) {
	o := &objectRules{
		minProperties: b.integer(s, "minProperties", s.MinProperties),
		maxProperties: b.integer(s, "maxProperties", s.MaxProperties),
		required:      s.Required,
		names:         b.get(s.PropertyNames, "propertyNames"),
	}
	o.requiredIndex = make(map[string]int, len(s.Required))
	for i, name := range s.Required {
		o.requiredIndex[name] = i
	}
	b.fillProperties(o, s)
	for re, p := range s.PatternProperties {
		o.patterns = append(o.patterns, patternProperty{re.(*pattern), b.get(p, "patternProperties")})
	}
	slices.SortFunc(o.patterns, func(p, q patternProperty) int {
		return strings.Compare(p.pattern.String(), q.pattern.String())
	})
	switch a := s.AdditionalProperties.(type) {
	case *jsonschema.Schema:
		o.additional = b.get(a, "additionalProperties")
	case bool:
		o.additional = &location{place: l.place + "/additionalProperties", via: "additionalProperties", verdict: never}
		if a {
			o.additional.verdict = always
		}
	}
	for name, needs := range s.DependentRequired {
		o.dependentRequired = append(o.dependentRequired, dependency{member: name, keyword: "dependentRequired", required: needs})
	}
	for name, sub := range s.DependentSchemas {
		o.dependentSchemas = append(o.dependentSchemas, dependency{member: name, keyword: "dependentSchemas", schema: b.get(sub, "dependentSchemas")})
	}
	for name, needs := range s.Dependencies { // the older keyword, which section 9.2.2.1 keeps
		d := dependency{member: name, keyword: "dependencies"}
		switch needs := needs.(type) {
		case []string:
			d.required = needs
			o.dependentRequired = append(o.dependentRequired, d)
		case *jsonschema.Schema:
			d.schema = b.get(needs, "dependencies")
			o.dependentSchemas = append(o.dependentSchemas, d)
		}
	}
	byName := func(p, q dependency) int { return strings.Compare(p.member+p.keyword, q.member+q.keyword) }
	slices.SortFunc(o.dependentRequired, byName)
	slices.SortFunc(o.dependentSchemas, byName)
	o.descends = len(o.properties)+len(o.patterns) > 0 || o.additional != nil || o.names != nil
	if o.descends || o.minProperties >= 0 || o.maxProperties >= 0 || len(o.required) > 0 ||
		len(o.dependentRequired)+len(o.dependentSchemas) > 0 {
		l.object = o
	}
}

// fillProperties comes after the required names.
func (b *builder) fillProperties(o *objectRules, s *jsonschema.Schema) {
	names := slices.Sorted(maps.Keys(s.Properties))
	for _, name := range names {
		b.get(s.Properties[name], "properties") // the same fault first, every time
	}
	written := make([]string, 0, len(names))
	for name := range b.docs.at(s.Location).Member("properties").Members() {
		if s.Properties[name] != nil {
			written = append(written, name)
		}
	}
	if len(written) != len(names) { // of a metaschema that the library embeds
		written = names
	}
	o.positions = make(map[string]int, len(written))
	for i, name := range written {
		_, required := o.requiredIndex[name]
		o.properties = append(o.properties, property{name, b.get(s.Properties[name], "properties"), required})
		o.positions[name] = i
	}
	if len(written) > 0 {
		o.slot = b.objects % orderSlots
		b.objects++
	}
	o.requiredNamed = true
	for name := range o.requiredIndex {
		o.requiredNamed = o.requiredNamed && o.property(name) != nil
	}
}

func (b *builder) fillArray(l *location, s *jsonschema.Schema) {
	a := &arrayRules{
		minItems:    b.integer(s, "minItems", s.MinItems),
		maxItems:    b.integer(s, "maxItems", s.MaxItems),
		unique:      s.UniqueItems,
		prefix:      b.list(s.PrefixItems, "prefixItems"),
		items:       b.get(s.Items2020, "items"),
		contains:    b.get(s.Contains, "contains"),
		minContains: b.integer(s, "minContains", s.MinContains),
		maxContains: b.integer(s, "maxContains", s.MaxContains),
	}
	if a.minItems >= 0 || a.maxItems >= 0 || a.unique || a.prefix != nil || a.items != nil || a.contains != nil {
		l.array = a
	}
}

// integer returns a bound, or -1 where the keyword is absent. The library wraps what
// does not fit its int; here it means as much as the largest number.
func (b *builder) integer(s *jsonschema.Schema, keyword string, compiled *int) int64 {
	if compiled == nil {
		return -1
	}
	if d := b.docs.at(s.Location).Member(keyword); d.Exists() {
		n, ok := d.Decimal().Int64()
		if !ok {
			return math.MaxInt64
		}
		return n
	}
	return int64(*compiled)
}

func numberRulesOf(s *jsonschema.Schema) *numberRules {
	n := &numberRules{
		minimum: decimal(s.Minimum), maximum: decimal(s.Maximum),
		above: decimal(s.ExclusiveMinimum), below: decimal(s.ExclusiveMaximum),
		multipleOf: decimal(s.MultipleOf),
	}
	if *n == (numberRules{}) {
		return nil
	}
	n.whole = n.wholeBounds()
	return n
}

// decimal is exact: what a decimal token was read into has a finite decimal form.
func decimal(r *big.Rat) *strictjson.Decimal {
	if r == nil {
		return nil
	}
	places, _ := r.FloatPrec()
	d, _ := strictjson.ParseDecimal(r.FloatString(places))
	return &d
}

// value brings a constant of a schema back from the library's form.
func (b *builder) value(s *jsonschema.Schema, plain any) strictjson.Value {
	source, err := json.Marshal(plain)
	if err == nil {
		limits := documentLimits()
		limits.MaxBytes *= 8 // escapes make a document longer
		var v strictjson.Value
		if v, err = strictjson.Parse(source, limits); err == nil {
			return v
		}
	}
	b.fail(s, "", "a constant of this schema cannot be read")
	return strictjson.Value{}
}

// fewTexts is up to how many texts are found sooner one by one than by a hash.
const fewTexts = 8

func (b *builder) enumeration(s *jsonschema.Schema) *enumeration {
	e := &enumeration{texts: map[string]struct{}{}, keys: map[string]struct{}{}}
	for _, item := range s.Enum.Values {
		v := b.value(s, item)
		if v.Kind() == strictjson.String {
			e.texts[v.Text()] = struct{}{}
		}
		e.keys[string(appendKey(nil, v))] = struct{}{}
		e.kinds |= 1 << v.Kind()
		e.maxSize = max(e.maxSize, v.Size())
	}
	if len(e.texts) <= fewTexts {
		e.few, e.texts = slices.Sorted(maps.Keys(e.texts)), nil
	}
	return e
}
