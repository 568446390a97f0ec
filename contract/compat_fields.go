package contract

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// agentFields compares what is given to the agent. A field that stands below another
// one is given by it.
func (d *differ) agentFields() {
	const at = "result.agent_fields"
	for _, p := range d.old.Result.AgentFields {
		if !covered(p, d.new.Result.AgentFields) {
			d.add(Change{Class: Breaking, Kind: "agent-field-removed", At: at, Old: shownPointer(p), Detail: "the agent no longer gets it"})
		}
	}
	for _, p := range d.new.Result.AgentFields {
		if !covered(p, d.old.Result.AgentFields) {
			d.add(Change{Class: Additive, Kind: "agent-field-added", At: at, New: shownPointer(p), Detail: "the agent gets what it never got"})
		}
	}
}

// covered reports whether one of fields is p or stands above it.
func covered(p strictjson.Pointer, fields []strictjson.Pointer) bool {
	return slices.ContainsFunc(fields, func(f strictjson.Pointer) bool {
		return len(f) <= len(p) && slices.Equal(f, p[:len(f)])
	})
}

// textFields compares which strings are outside text, and how they are shown.
func (d *differ) textFields() {
	const at = "result.text_fields"
	old, now := textsAt(d.old), textsAt(d.new)
	for key, was := range old {
		is, there := now[key]
		if !there {
			d.add(Change{
				Class: Breaking, Kind: "text-field-removed", At: at + "[" + key + "]", Old: how(was, true),
				Detail: "it is no longer cleaned and named as outside text",
			})
			continue
		}
		if before, after := how(was, false), how(is, false); before != after {
			d.add(Change{
				Class: Breaking, Kind: "text-field-changed", At: at + "[" + key + "]", Old: before, New: after,
				Detail: "the text is made in another way",
			})
		}
		d.textLength(at+"["+key+"].max_chars", was.MaxChars, is.MaxChars)
	}
	for key, is := range now {
		if _, there := old[key]; there {
			continue
		}
		c := Change{
			Class: Additive, Kind: "text-field-added", At: at + "[" + key + "]", New: how(is, true),
			Detail: "a new member holds outside text",
		}
		if covered(is.At, d.old.Result.AgentFields) && d.knew(is.At) {
			c.Class, c.Detail = Breaking, "what the agent got as a machine value is outside text now"
		}
		d.add(c)
	}
}

// knew reports whether the old contract's payload has this place.
func (d *differ) knew(p strictjson.Pointer) bool {
	if d.old.Result.Schema == nil {
		return false
	}
	g := graphOf(d.old.Result.Schema)
	if g == nil {
		return false
	}
	x, _, _ := newContexts(g).find(p, false)
	return x != nil
}

// textLength compares where a text is cut; 0 means nowhere.
func (d *differ) textLength(at string, old, now int) {
	show := func(n int) string {
		if n == 0 {
			return "not cut"
		}
		return fmt.Sprint(n)
	}
	c := Change{Class: Additive, Kind: "text-widened", At: at, Old: show(old), New: show(now), Detail: "the agent may get more of the text"}
	switch {
	case old == now:
		return
	case old == 0, now != 0 && now < old:
		c.Class, c.Kind, c.Detail = Breaking, "text-narrowed", "the agent gets less of the text"
	}
	d.add(c)
}

func textsAt(c *Contract) map[string]TextField {
	m := map[string]TextField{}
	for _, f := range c.Result.TextFields {
		m[f.At.String()] = f
	}
	return m
}

// checks compares semantic checks: by what they do, then by name. Their order decides
// only which of several reasons operators see first.
func (d *differ) checks() {
	old, now := slices.Clone(d.old.Result.Checks), slices.Clone(d.new.Result.Checks)
	pair := func(alike func(a, b Check) bool, then func(a, b Check)) {
		old = slices.DeleteFunc(old, func(a Check) bool {
			i := slices.IndexFunc(now, func(b Check) bool { return alike(a, b) })
			if i < 0 {
				return false
			}
			then(a, now[i])
			now = slices.Delete(now, i, i+1)
			return true
		})
	}
	same := func(a, b Check) bool { return a.Use == b.Use && strictjson.Equal(a.With, b.With) }
	pair(func(a, b Check) bool { return a.Name == b.Name && same(a, b) }, func(Check, Check) {})
	pair(same, func(a, b Check) {
		d.add(Change{
			Class: Safe, Kind: "check-renamed", At: checkAt(b), Old: a.Name, New: b.Name,
			Detail: "the check is the same; operators see another name",
		})
	})
	pair(func(a, b Check) bool { return a.Name == b.Name && a.Use == b.Use }, d.checkChanged)
	for _, a := range old {
		d.add(Change{
			Class: Breaking, Kind: "check-removed", At: checkAt(a), Old: checkText(a),
			Detail: "weaker: what the check refused passes",
		})
	}
	for _, b := range now {
		d.add(Change{
			Class: Breaking, Kind: "check-added", At: checkAt(b), New: checkText(b),
			Detail: "stricter: replies that passed may be refused",
		})
	}
}

func checkAt(c Check) string { return "result.checks[" + c.Name + "]" }

func checkText(c Check) string { return c.Use + " " + string(strictjson.AppendJSON(nil, c.With)) }

func (d *differ) checkChanged(a, b Check) {
	d.add(Change{
		Class: Breaking, Kind: "check-changed", At: checkAt(b), Old: checkText(a), New: checkText(b),
		Detail: strictness(a, b),
	})
}

// strictness says whether b refuses more or less than a, where their ages tell.
func strictness(a, b Check) string {
	const unknown = "cannot be told stricter or weaker"
	longer, shorter := false, false
	for _, key := range []string{"max_age", "max_skew"} {
		was, err := time.ParseDuration(a.With.Member(key).Text())
		is, err2 := time.ParseDuration(b.With.Member(key).Text())
		if err == nil && err2 == nil {
			longer, shorter = longer || is > was, shorter || is < was
		}
	}
	rest := func(c Check) map[string]string {
		m := map[string]string{}
		for name, v := range c.With.Members() {
			if name != "max_age" && name != "max_skew" {
				m[name] = string(strictjson.AppendJSON(nil, v))
			}
		}
		return m
	}
	switch {
	case !maps.Equal(rest(a), rest(b)), longer == shorter:
		return unknown
	case longer:
		return "weaker: it refuses less than before"
	}
	return "stricter: it refuses more than before"
}

// cannotProve is the detail of a change that may or may not matter.
const cannotProve = "cannot be proved compatible"

// rest compares what nothing else here knows: keys of contract.yaml that are newer than
// the table of settings, and the data files that they name. Each change of them is
// breaking, so that a key which nobody weighed is never taken for harmless.
func (d *differ) rest() {
	known := map[string]bool{}
	for _, s := range settings() {
		known[s.at] = true
	}
	for _, key := range elsewhere() {
		known[key] = true
	}
	old, now := unweighed(d.old, known), unweighed(d.new, known)
	for key := range union(old, now) {
		was, is := old[key], now[key]
		if was.Exists() && is.Exists() && sameDigits(was, is) {
			continue
		}
		d.add(Change{
			Class: Breaking, Kind: noun(key) + "-changed", At: key, Detail: cannotProve,
			Old: string(strictjson.AppendJSON(nil, was)), New: string(strictjson.AppendJSON(nil, is)),
		})
	}
	schemas := union(schemaFiles(d.old), schemaFiles(d.new))
	before, after := dataFiles(d.old, schemas), dataFiles(d.new, schemas)
	for name := range union(before, after) {
		was, is := before[name], after[name]
		if bytes.Equal(was, is) || sameJSON(was, is) {
			continue
		}
		d.add(Change{Class: Breaking, Kind: "file-changed", At: name, Old: size(was), New: size(is), Detail: cannotProve})
	}
}

func union[V any](a, b map[string]V) map[string]V {
	both := maps.Clone(a)
	maps.Copy(both, b)
	return both
}

// unweighed returns the keys of contract.yaml that are not known, the outermost ones:
// a mapping is entered where it holds a known key.
func unweighed(c *Contract, known map[string]bool) map[string]strictjson.Value {
	found := map[string]strictjson.Value{}
	root, s := readYAML(mainFile, c.Files[mainFile])
	if root == nil {
		return found
	}
	var enter func(v strictjson.Value, under string)
	enter = func(v strictjson.Value, under string) {
		for name, m := range v.Members() {
			key := joinPath(under, name)
			holds := slices.ContainsFunc(slices.Collect(maps.Keys(known)), func(k string) bool { return strings.HasPrefix(k, key+".") })
			switch {
			case holds && m.Kind() == strictjson.Object:
				enter(m, key)
			case !known[key] && m.Kind() != strictjson.Null:
				found[key] = m
			}
		}
	}
	enter(s.json(root, ""), "")
	return found
}

// schemaFiles returns the names of the files that schemas of a contract stand in.
func schemaFiles(c *Contract) map[string]bool {
	names := map[string]bool{}
	for _, r := range roles() {
		if s := r.schema(c); s != nil {
			for name := range s.Files {
				names[name] = true
			}
		}
	}
	return names
}

// dataFiles returns the files of a contract that are compared by nothing else.
func dataFiles(c *Contract, schemas map[string]bool) map[string][]byte {
	files := map[string][]byte{}
	for name, b := range c.Files {
		if name != mainFile && !schemas[name] && isData(name) && !strings.HasPrefix(name, casesDir+"/") {
			files[name] = b
		}
	}
	return files
}

func sameJSON(a, b []byte) bool {
	v, err := strictjson.Parse(a, strictjson.Ceilings())
	w, err2 := strictjson.Parse(b, strictjson.Ceilings())
	return err == nil && err2 == nil && strictjson.Equal(v, w)
}

func size(b []byte) string {
	if b == nil {
		return ""
	}
	return fmt.Sprintf("%d bytes", len(b))
}
