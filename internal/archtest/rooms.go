package archtest

import (
	"slices"
	"strings"
)

// module is the import path of the root.
const module = "github.com/hallmark-gate/hallmark"

// room is one row of the table: what a folder's sources may import of ours.
type room struct {
	imports []string // rooms, or "gen"
	tests   []string // what its _test.go files may import besides
	all     bool     // may import every room: the composition root
}

const (
	strictjson = "validators/strictjson"
	format     = "validators/format"
	text       = "validators/text"
	condition  = "validators/condition"
	schema     = "validators/schema"
	projection = "validators/projection"
	semantic   = "validators/semantic"
)

// rooms is the import graph, as an allow-list. A row whose folder does not exist yet
// waits for it. A name that ends in a slash stands for every folder below.
//
// What it keeps apart: the core never imports gen, so wire types stop at the server;
// policy sees neither validators nor receipts nor audit, so a decision is a pure
// function; contract sees no engine, so contracts can be linted and compared alone.
var rooms = map[string]room{
	strictjson: {},
	format:     {},
	text:       {},
	"audit":    {imports: []string{"internal/base64url"}, tests: []string{"audit/audittest"}},
	"receipt":  {imports: []string{"internal/base64url", "internal/durable"}},

	// For executors: they import this and nothing else of the house.
	"receipt/permit": {imports: []string{"receipt"}},

	"contract": {imports: []string{strictjson, format}},
	condition:  {imports: []string{strictjson}},
	// Measured beside the library: reading, judging and projecting together.
	schema:     {imports: []string{strictjson, format}, tests: []string{projection, "internal/interleave"}},
	projection: {imports: []string{strictjson, text, condition}},
	"policy":   {imports: []string{strictjson, format, condition}, tests: []string{"internal/interleave"}},

	"validators": {
		imports: []string{"contract", strictjson, format, text, condition, schema, projection, "internal/stages"},
		tests:   []string{semantic},
	},
	semantic: {imports: []string{"validators", "contract", strictjson, format, condition, "internal/base64url"}},

	"gate": {
		imports: []string{"validators", "policy", "receipt", "audit", "audit/seal", "contract", strictjson, "internal/stages"},
		tests:   []string{semantic, "audit/audittest", "audit/sqlite", "receipt/permit", "internal/interleave"},
	},
	"casetest": {
		imports: []string{"gate", "contract"},
		tests:   []string{semantic, "audit/audittest", "audit/sqlite"},
	},

	"audit/sqlite":    {imports: []string{"audit", "audit/rows", "internal/base64url", "internal/durable"}, tests: []string{"audit/audittest", "internal/interleave"}},
	"audit/postgres":  {imports: []string{"audit", "audit/rows", "internal/base64url"}, tests: []string{"audit/audittest"}},
	"audit/rows":      {imports: []string{"audit"}, tests: []string{"audit/audittest"}},
	"audit/audittest": {imports: []string{"audit"}},
	"audit/seal":      {imports: []string{"internal/durable"}},
	"audit/notice":    {imports: []string{"audit"}},

	"server": {
		imports: []string{"gate", "casetest", "gen", "audit", "audit/seal", "audit/notice", "contract", "receipt", "policy", "internal/stages"},
		tests:   []string{semantic, "audit/audittest", "audit/sqlite"},
	},

	"scaffold": {
		imports: []string{"contract", strictjson, format},
		tests:   []string{"casetest", "gate", "validators", semantic, schema},
	},

	"cmd/": {all: true},
	"clients/": {
		imports: []string{"gen", "receipt/permit"},
		tests:   []string{"server", "gate", "validators", semantic, "audit", "audit/sqlite"},
	},
	"bench/": {imports: []string{"gen"}},

	// Tests of the real binary, from outside: what the wire says and what the files hold.
	"faulttest": {tests: []string{"gen", "audit/seal", "receipt", "internal/outside"}},

	// Tests of several processes of the real binary, from outside.
	"fleettest": {tests: []string{"gen", "internal/outside"}},

	"internal/archtest":   {},
	"internal/base64url":  {},
	"internal/durable":    {},
	"internal/interleave": {},
	"internal/outside":    {},
	"internal/stages":     {},
}

// outside names who may import a library that carries a decision. The prefix covers
// the packages below it; a library that is not named is anyone's.
var outside = []struct {
	prefix string
	rooms  []string
	why    string
}{
	{"google.golang.org/grpc", wire, "the core knows no transport"},
	{"google.golang.org/protobuf", append([]string{condition}, wire...), "the core knows no wire types; CEL brings its own"},
	{"buf.build", wire, "well-formedness of calls is judged where calls arrive"},
	{"cel.dev", []string{condition}, "one package knows CEL, its cost limit and its errors"},
	{"github.com/google/cel-go", nil, "cel-go is cel.dev/cel-go now"},
	{"github.com/santhosh-tekuri/jsonschema", []string{schema}, "one package knows the schema engine and its traps"},
	{"go.yaml.in/yaml", []string{"contract", "casetest", "scaffold", "server", "cmd/"}, "results are never YAML"},
	{"gopkg.in/yaml.v3", nil, "YAML is go.yaml.in/yaml"},
	{"filippo.io/age", []string{"audit/seal"}, "one package knows how originals are sealed"},
	{"modernc.org/sqlite", []string{"audit/sqlite"}, "a store is one package"},
	{"github.com/jackc/pgx", []string{"audit/postgres"}, "a store is one package"},
	{"github.com/pressly/goose", []string{"audit/postgres"}, "who changes a schema is the store that owns it"},
	{"github.com/getkin/kin-openapi", []string{"scaffold"}, "documents of vendors are read where drafts are made, and nowhere near a result"},
	{"github.com/spf13", []string{"cmd/"}, "flags are the command's"},
	{"github.com/fsnotify", []string{"server"}, "only the reloader listens to files"},
	{"github.com/prometheus", []string{"server"}, "the core keeps no metrics"},
	{"go.opentelemetry.io", []string{"server"}, "the core keeps no traces"},
}

// wire names the rooms that speak to the world.
var wire = []string{"server", "cmd/", "clients/", "bench/", "faulttest", "fleettest"}

// within reports whether a name, or one that ends in a slash and stands for what is
// below it, covers the folder.
func within(folder, name string) bool {
	if strings.HasSuffix(name, "/") {
		return strings.HasPrefix(folder, name)
	}
	return folder == name
}

// find returns the row of a folder, and whether there is one.
func find(table map[string]room, folder string) (room, bool) {
	if r, ok := table[folder]; ok {
		return r, true
	}
	for name, r := range table {
		if strings.HasSuffix(name, "/") && within(folder, name) {
			return r, true
		}
	}
	return room{}, false
}

// reach returns the rooms that a row's arrows lead to, over any number of steps.
func reach(table map[string]room, r room) []string {
	var seen []string
	open := slices.Clone(r.imports)
	for len(open) > 0 {
		name := open[0]
		open = open[1:]
		if slices.Contains(seen, name) {
			continue
		}
		seen = append(seen, name)
		open = append(open, table[name].imports...)
	}
	return seen
}
