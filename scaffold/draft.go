package scaffold

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Options say what a source cannot.
type Options struct {
	// Tool is the tool's name; "" takes the source's own, if it has one.
	Tool string
	// Effect is read_only or side_effect; "" proposes one and asks.
	Effect string
	// Compile returns what reports whether a JSON value conforms to a schema that stands
	// alone, or nil for a schema that cannot be compiled. Where Compile is nil, or what
	// it returns, examples of the source are not used and no made-up value is checked.
	// It is called once for a draft.
	Compile func(schema []byte) (valid func(value []byte) bool)
}

// Draft is the first version of a contract, with what is still to be answered. It is
// the caller's to change.
type Draft struct {
	// Tool is the tool's name, and Dir the contract's folder, <folder>/v1, slash-separated
	// and relative to a contracts directory.
	Tool, Dir string
	// Files are contents by slash-separated path below a contracts directory.
	Files map[string][]byte
	// Questions are what a person has to answer, "file: question", in order.
	Questions []string
	// Notes are what was changed or left out without a question.
	Notes []string
}

// wide is the number of given places beyond which a draft says that they are many.
const wide = 30

// ErrExists is wrapped by [Draft.Write] where it would overwrite a file.
var ErrExists = errors.New("already there")

// Write creates the draft's files below a contracts directory. Without force it writes
// nothing at all if one of them, or anything else in the contract's folder, is there
// already. It is not atomic: a failing disk leaves a part.
func (d *Draft) Write(contracts string, force bool) error {
	root, err := open(contracts)
	if err != nil {
		return err
	}
	defer root.Close()
	if !force {
		switch _, err := root.Lstat(filepath.FromSlash(d.Dir)); {
		case err == nil:
			return fmt.Errorf("%s is %w", filepath.Join(contracts, filepath.FromSlash(d.Dir)), ErrExists)
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.Files)) {
		local := filepath.FromSlash(name)
		if err := root.MkdirAll(filepath.Dir(local), 0o755); err != nil {
			return err
		}
		flags := os.O_WRONLY | os.O_CREATE | os.O_EXCL
		if force {
			flags = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
		}
		f, err := root.OpenFile(local, flags, 0o644)
		if err != nil {
			return err
		}
		_, err = f.Write(d.Files[name])
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	return nil
}

// open makes the directory if it is absent, and confines what follows to it: no
// symbolic link in a contract's folder leads a file elsewhere.
func open(dir string) (*os.Root, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	return os.OpenRoot(dir)
}

// source is what a vendor says about one tool, in the shape that all drafts are made of.
type source struct {
	from        string // for the first line of contract.yaml
	description string
	effect      string // proposed
	effectWhy   string // of the question about it
	framing     string // payload or mcp
	notFound    bool   // 404 is documented
	text        bool   // a reply is a text, of which no schema says anything
	result      any
	arguments   any
	// argumentsUnknown says that the source does not describe arguments.
	argumentsUnknown bool
	examples         []any
	plainRefs        bool
	lookup           func(ref string) any
	inputLookup      func(ref string) any // of the arguments; nil: as of the result
	notes            []string

	mediaTypes []string // of a reply; nil: application/json
	alias      string   // the name that calls of the tool bear, where it is not the contract's
	written    *written // the document as it was written; nil: digits come from it anyway
	// resultAsks and argumentAsks are questions that contract.yaml asks of either.
	resultAsks, argumentAsks []string
}

// draft converts a source.
func draft(s source, o Options) (*Draft, error) {
	if !toolForm.MatchString(o.Tool) {
		cure := ""
		if s.alias == o.Tool {
			cure = "; give the contract a name of its own (TOOL), and this one becomes an alias"
		}
		return nil, fmt.Errorf("%.80q is not a tool's name: letters, digits and _.:/-, at most 128%s", o.Tool, cure)
	}
	if s.inputLookup == nil {
		s.inputLookup = s.lookup
	}
	results, args := newConverter(s.lookup, s.plainRefs), newConverter(s.inputLookup, s.plainRefs)
	var result *object
	if !s.text {
		var err error
		if result, err = results.root(s.result); err != nil {
			return nil, err
		}
		notNull(result)
	}
	arguments, err := args.root(s.arguments)
	if err != nil {
		return nil, err
	}
	onlyObject(arguments, s.argumentsUnknown)
	if s.mediaTypes == nil {
		s.mediaTypes = []string{"application/json"}
	}
	if args.int64 {
		s.argumentAsks = append(s.argumentAsks, "the source has int64 here. Integers beyond ±(2^53−1) are refused in arguments without big_integers: allowed. Do real calls need them?")
	}
	if s.written.unsure() {
		s.resultAsks = append(s.resultAsks, "some numbers could not be compared with the source, and may have lost digits beyond the fifteenth. Do bounds, enums and constants of the schemas hold its digits?")
	}
	w := &writer{source: s, Options: o, dir: folder(o.Tool) + "/v1", result: result, arguments: arguments, plan: &plan{}}
	if !s.text {
		w.plan = newPlan(result)
	}
	w.examples()
	if !s.text {
		w.bind()
	}
	d := w.draft()
	d.Notes = slices.Concat(s.notes, prefixed("result: ", results.notes()), prefixed("arguments: ", args.notes()), w.notes)
	return d, nil
}

// draft writes the files and lists their questions.
func (w *writer) draft() *Draft {
	d := &Draft{Tool: w.Tool, Dir: w.dir, Files: map[string][]byte{}}
	add := func(name string, content []byte) { d.Files[w.dir+"/"+name] = content }
	add("contract.yaml", w.contract())
	for _, q := range w.asked {
		d.Questions = append(d.Questions, "contract.yaml: "+q)
	}
	for _, s := range []struct {
		name   string
		schema *object
	}{{"result.schema.json", w.result}, {"arguments.schema.json", w.arguments}} {
		if s.schema == nil {
			continue // a text has none
		}
		add(s.name, pretty(s.schema))
		for _, q := range questionsIn(s.schema, "") {
			d.Questions = append(d.Questions, s.name+q)
		}
	}
	for _, c := range w.cases() {
		add("cases/"+c.name+".yaml", c.yaml())
	}
	if n := len(w.plan.fields); n > wide {
		w.notes = append(w.notes, fmt.Sprintf("the reply is wide: %d places would reach the agent. Give what its decision needs; an adapter that copies just that keeps the vendor's changes outside", n))
	}
	return d
}

func prefixed(prefix string, lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = prefix + l
	}
	return out
}

// notNull asks about a reply that may be null as a whole: a contract has to show that
// null is refused (A22).
func notNull(root *object) {
	types := texts(list(root.get("type")))
	if i := slices.Index(types, "null"); i >= 0 && len(types) > 1 {
		root.set("type", anys(slices.Delete(types, i, i+1)))
		if len(types) == 2 {
			root.set("type", types[0])
		}
		ask(root, "The source allows null in place of the whole reply; it is refused now. Is that right?")
	}
	for _, name := range []string{"anyOf", "oneOf"} {
		l := list(root.get(name))
		rest := slices.DeleteFunc(slices.Clone(l), func(b any) bool {
			o := asObject(b)
			return o != nil && text(o.get("type")) == "null"
		})
		if len(rest) > 0 && len(rest) < len(l) {
			root.set(name, rest)
			ask(root, "The source allows null in place of the whole reply; it is refused now. Is that right?")
		}
	}
}

// onlyObject sees that the schema of arguments is one of objects.
func onlyObject(root *object, unknown bool) {
	if !placeOf(root, root).may("object") {
		root.at = map[string]any{"additionalProperties": false}
		root.names = []string{"additionalProperties"}
		unknown = true
	}
	root.set("type", "object")
	if unknown {
		ask(root, "The source does not describe arguments; which does the tool take?")
	}
}

// folder is the name of a tool's folder: its name with _ for what no folder may hold.
func folder(tool string) string {
	return strings.Map(func(r rune) rune {
		if r == '/' || r == ':' {
			return '_'
		}
		return r
	}, tool)
}
