package projection

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// rowNames are more members than have room on the stack.
func rowNames() []string {
	var names []string
	for i := range usualFound + 4 {
		names = append(names, fmt.Sprintf("f%d", i))
	}
	return names
}

// randomRow writes some of the names, and others, in any order. Every third value has a
// hidden character.
func randomRow(r *rand.Rand, depth int) string {
	names := append(rowNames(), "x0", "x1", "x2")
	r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	if r.IntN(2) == 0 {
		slices.Sort(names) // lists have the same order every time
	}
	var members []string
	for _, name := range names[:r.IntN(len(names)+1)] {
		value := fmt.Sprintf(`"%s %d"`, name, r.IntN(100))
		switch {
		case r.IntN(40) == 0:
			value = fmt.Sprintf(`"%s\u200b%d"`, name, r.IntN(100))
		case depth > 0 && r.IntN(8) == 0:
			value = randomRow(r, depth-1)
		case depth > 0 && r.IntN(8) == 0:
			var rows []string
			for range r.IntN(3 * sample) {
				rows = append(rows, randomRow(r, depth-1))
			}
			value = "[" + strings.Join(rows, ",") + "]"
		}
		members = append(members, fmt.Sprintf(`"%s":%s`, name, value))
	}
	return "{" + strings.Join(members, ",") + "}"
}

// pick is what a projection is, written down plainly: at each place the members that lead
// to fields, in the order of the fields.
func pick(v strictjson.Value, fields []strictjson.Pointer) string {
	for _, f := range fields {
		if len(f) == 0 {
			return string(strictjson.AppendJSON(nil, v))
		}
	}
	var parts []string
	switch v.Kind() {
	case strictjson.Object:
		var done []string
		for _, f := range fields {
			if name := f[0]; name != strictjson.EveryElement && !slices.Contains(done, name) {
				done = append(done, name)
				if m := v.Member(name); m.Exists() {
					parts = append(parts, fmt.Sprintf(`"%s":%s`, name, pick(m, below(fields, name))))
				}
			}
		}
		return "{" + strings.Join(parts, ",") + "}"
	case strictjson.Array:
		if inside := below(fields, strictjson.EveryElement); len(inside) > 0 {
			for _, e := range v.Elements() {
				parts = append(parts, pick(e, inside))
			}
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	return "null"
}

// below returns what follows a token in the pointers that begin with it.
func below(all []strictjson.Pointer, token string) []strictjson.Pointer {
	var out []strictjson.Pointer
	for _, p := range all {
		if p[0] == token {
			out = append(out, p[1:])
		}
	}
	return out
}

// hidden is the first string with a hidden character, in the order of the input, that
// fields give and texts are not.
func hidden(v strictjson.Value, fields, texts []strictjson.Pointer) string {
	var at []strictjson.Value
	for _, f := range fields {
		v.All(f, func(x strictjson.Value) bool {
			every(x, func(s strictjson.Value) { at = append(at, s) })
			return true
		})
	}
	slices.SortFunc(at, func(a, b strictjson.Value) int { return a.Offset() - b.Offset() })
	for _, s := range at {
		isText := false
		for _, f := range texts {
			v.All(f, func(x strictjson.Value) bool { isText = isText || x == s; return true })
		}
		if !isText && strings.Contains(s.Text(), "\u200b") {
			return s.Path().String()
		}
	}
	return ""
}

func every(v strictjson.Value, f func(strictjson.Value)) {
	if v.Kind() == strictjson.String {
		f(v)
	}
	for _, e := range v.Elements() {
		every(e, f)
	}
	for _, m := range v.Members() {
		every(m, f)
	}
}

// Whatever the order of members, in the plan and in the value, and whatever is missing or
// beside: the plain description of a projection says the same.
func TestAnyOrder(t *testing.T) {
	for seed := range uint64(80) {
		r := rand.New(rand.NewPCG(seed, 1))
		var fields, texts []string
		for _, name := range rowNames() {
			switch r.IntN(6) {
			case 0:
				fields = append(fields, "/f0/"+name, "/f1/*/"+name, "/f1/*/f2/*/"+name)
			case 1, 2:
				if name != "f0" && name != "f1" {
					fields = append(fields, "/"+name)
				}
			case 3:
				texts = append(texts, "/"+name, "/f0/"+name, "/f1/*/"+name, "/f3/*/"+name)
			}
		}
		fields = slices.DeleteFunc(fields, func(f string) bool { return f == "/f1/*/f2" })
		r.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
		p, at, outside := plan(t, fields, texts), pointers(t, fields...), pointers(t, texts...)
		for range 5 {
			v := parse(t, randomRow(r, 2))
			out, untrusted, ok := p.Project(nil, v)
			if len(fields) == 0 {
				continue
			}
			if want := pick(v, at); !ok || string(out) != want {
				t.Fatalf("seed %d, fields %q of %s: got %s, want %s", seed, fields, strictjson.AppendJSON(nil, v), out, want)
			}
			if got, want := p.Hidden(v).Path().String(), hidden(v, at, outside); got != want {
				t.Fatalf("seed %d, fields %q, texts %q: hidden at %q, want %q", seed, fields, texts, got, want)
			}
			sameTexts(t, p, v, parse(t, string(out)), at, outside, untrusted)
		}
	}
}

// sameTexts compares the pointers to outside text, and the texts that were cleaned, with
// what the pointers of the plan find.
func sameTexts(t *testing.T, p *Plan, v, out strictjson.Value, fields, texts []strictjson.Pointer, untrusted []string) {
	t.Helper()
	cleaned, removed := clean(t, p, v).Value, 0
	var want []string
	for _, f := range texts {
		v.All(f, func(x strictjson.Value) bool {
			if x.Kind() != strictjson.String {
				return true
			}
			removed += strings.Count(x.Text(), "\u200b")
			if o := out.At(x.Path()); o.Kind() == strictjson.String {
				want = append(want, x.Path().String())
			}
			return true
		})
	}
	slices.Sort(want)
	got := slices.Sorted(slices.Values(untrusted))
	if !slices.Equal(got, want) {
		t.Fatalf("fields %v, texts %v: untrusted %q, want %q", fields, texts, got, want)
	}
	before, after := 0, 0
	every(v, func(s strictjson.Value) { before += strings.Count(s.Text(), "\u200b") })
	every(cleaned, func(s strictjson.Value) { after += strings.Count(s.Text(), "\u200b") })
	if before-after != removed {
		t.Fatalf("texts %v: %d characters were taken out, want %d", texts, before-after, removed)
	}
}

// A list allocates for its length once, not for its elements, however many members they
// have; and a few long elements reserve no more than the list is long.
func TestListAllocations(t *testing.T) {
	row := `{"f0":1`
	for _, name := range rowNames()[1:] {
		row += `,"` + name + `":1`
	}
	var fields []string
	for _, name := range rowNames() {
		fields = append(fields, "/r/*/"+name)
	}
	p := plan(t, fields, nil)
	v := parse(t, `{"r":[`+strings.Repeat(row+"},", 2000)+row+`}]}`)
	if n := testing.AllocsPerRun(5, func() { p.Project(nil, v) }); n > 4 {
		t.Errorf("%.0f allocations", n)
	}
	long := `{"f0":"` + strings.Repeat("x", 20_000) + `"},`
	v = parse(t, `{"r":[`+strings.Repeat(long, sample)+strings.Repeat(`{},`, 3000)+`{}]}`)
	out, _, _ := p.Project(nil, v)
	if cap(out) > 2*v.End() {
		t.Errorf("%d bytes of room for %d, of %d", cap(out), len(out), v.End())
	}
}
