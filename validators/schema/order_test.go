package schema

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// rows is a schema of lists in lists: more locations of objects than a run remembers, each
// of more members than it remembers of one. Every third member is required.
func rows(depth int) string {
	var properties, required []string
	for i := range orderSteps + 6 {
		properties = append(properties, fmt.Sprintf(`"p%d":{"type":"integer","maximum":%d}`, i, 90+i))
		if i%3 == 0 {
			required = append(required, fmt.Sprintf(`"p%d"`, i))
		}
	}
	if depth > 0 {
		properties = slices.Insert(properties, 3, `"list":{"items":`+rows(depth-1)+`}`)
	}
	return `{"type":"object","additionalProperties":false,"required":[` + strings.Join(required, ",") +
		`],"properties":{` + strings.Join(properties, ",") + `}}`
}

// row writes an object of [rows]: in the order of the schema, in another that all share,
// or in one of its own; now and then with a member too many, too few or too large.
func row(r *rand.Rand, shared []int, depth int) string {
	names := slices.Clone(shared)
	switch r.IntN(4) {
	case 0:
		r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	case 1:
		slices.Sort(names)
	}
	var members []string
	for _, i := range names {
		value := r.IntN(91)
		switch r.IntN(1000) {
		case 0:
			continue
		case 2:
			value = 500
		case 1:
			members = append(members, fmt.Sprintf(`"q%d":0`, i))
		}
		members = append(members, fmt.Sprintf(`"p%d":%d`, i, value))
		if depth > 0 && r.IntN(20) == 0 {
			members = append(members, "") // a place for a list
		}
	}
	listed := false
	for i, m := range members {
		if m != "" {
			continue
		}
		members[i] = fmt.Sprintf(`"also%d":0`, i)
		if !listed {
			var inside []string
			for range r.IntN(4) {
				inside = append(inside, row(r, shared, depth-1))
			}
			members[i], listed = `"list":[`+strings.Join(inside, ",")+`]`, true
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

// What a run remembers of the order of members changes nothing: an object is judged in a
// list as it is alone, by a run that remembers nothing yet, and as the library judges it.
func TestOrderOfMembersDoesNotMatter(t *testing.T) {
	inner := rows(orderSlots)
	alone, list := mustCompile(t, inner, Options{}), mustCompile(t, `{"items":`+inner+`}`, Options{})
	theirs, err := oracle([]byte(inner), nil)
	if err != nil {
		t.Fatal(err)
	}
	invalid := 0
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 3))
		shared := r.Perm(orderSteps + 6)
		var objects []string
		for range 4 {
			objects = append(objects, row(r, shared, orderSlots))
		}
		var want []string
		for i, o := range objects {
			v := parse(t, o)
			failures, err := alone.Validate(context.Background(), v)
			if err != nil || (len(failures) == 0) != (theirs.Validate(plain(v)) == nil) {
				t.Fatalf("seed %d: the library says otherwise of %s: %s", seed, o, show(failures))
			}
			for _, f := range failures {
				want = append(want, fmt.Sprintf("/%d%s %s /items%s", i, f.At, f.Keyword, f.SchemaPath))
			}
		}
		got, err := list.Validate(context.Background(), parse(t, "["+strings.Join(objects, ",")+"]"))
		if err != nil {
			t.Fatal(err)
		}
		if len(want) > 0 {
			invalid++
		}
		if want := strings.Join(want[:min(len(want), MaxFailures)], "\n"); show(got) != want {
			t.Fatalf("seed %d: in the list\n%s\nalone\n%s\nof %s", seed, show(got), want, objects)
		}
	}
	if invalid < 30 || invalid > 149 {
		t.Errorf("%d of 150 lists are invalid", invalid)
	}
}

// A list whose objects have their members in another order than the schema is not looked
// up name by name, and one object more does not allocate.
func TestOrderIsRemembered(t *testing.T) {
	s := mustCompile(t, `{"items":{"properties":{"a":true,"b":true,"c":true}}}`, Options{})
	v := parse(t, `[{"c":1,"x":0,"a":1,"b":1},{"c":1,"a":1,"b":1}]`)
	r := s.newRun(context.Background(), v)
	if !r.eval(s.root, v, nil, nil, nil) {
		t.Fatal("refused")
	}
	o := s.root.array.items.object
	w, at := r.order(o), 0
	for _, name := range []string{"c", "a", "b"} {
		next := w.next[at]
		if p := o.find(name, w, &at); p == nil || p != &o.properties[next] || p.name != name {
			t.Errorf("%s is not expected", name)
		}
	}
	one, many := parse(t, `[{"a":1}]`), parse(t, "["+strings.Repeat(`{"c":1,"b":1},`, 99)+"{}]")
	validate := func(v strictjson.Value) func() {
		return func() { _, _ = s.Validate(context.Background(), v) }
	}
	if a, b := testing.AllocsPerRun(10, validate(one)), testing.AllocsPerRun(10, validate(many)); a != b {
		t.Errorf("%v allocations for one object, %v for a hundred", a, b)
	}
}
