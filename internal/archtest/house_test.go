package archtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// root is the module's root, seen from this folder.
const root = "../.."

func house(t *testing.T) *tree {
	t.Helper()
	sources, err := load(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(sources.sources) == 0 {
		t.Fatal("no sources found: the walk is wrong")
	}
	return sources
}

func report(t *testing.T, faults []string) {
	t.Helper()
	for _, fault := range faults {
		t.Error(fault)
	}
}

func TestImportsFollowTheTable(t *testing.T) { report(t, house(t).arrows(rooms)) }

func TestImportsHaveNoCycle(t *testing.T) { report(t, cycles(house(t).graph())) }

func TestSourcesHoldNothingBanned(t *testing.T) { report(t, house(t).bans()) }

func TestBudgets(t *testing.T) { report(t, house(t).budgets(exceptions)) }

// The table itself must be possible: a cycle in it would allow one in the sources,
// and a room that it names but does not list could never be imported.
func TestTableIsSound(t *testing.T) {
	graph := make(map[string][]string)
	for name, row := range rooms {
		graph[name] = row.imports
		for _, target := range append(row.imports, row.tests...) {
			if _, ok := rooms[target]; !ok && target != "gen" {
				t.Errorf("%s may import %s, which has no row", name, target)
			}
		}
	}
	report(t, cycles(graph))
}

func TestExceptionsHaveReasons(t *testing.T) {
	for key, why := range exceptions {
		if len(why) < 20 {
			t.Errorf("exception %q has no reason that a reader could judge: %q", key, why)
		}
	}
}

// Generated code must come from the release that the service links, and the printed
// validate.proto from the descriptor that it links.
func TestGeneratorsMatchTheService(t *testing.T) {
	service, tools := versions(t, "go.mod"), versions(t, "tools/go.mod")
	for _, name := range []string{
		"google.golang.org/protobuf",
		"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go",
	} {
		if service[name] == "" || service[name] != tools[name] {
			t.Errorf("%s: go.mod has %q, tools/go.mod %q", name, service[name], tools[name])
		}
	}
}

// versions reads the requirements of a go.mod file.
func versions(t *testing.T, name string) map[string]string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[string]string)
	for line := range strings.Lines(string(data)) {
		fields := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "require "))
		if len(fields) >= 2 && strings.HasPrefix(fields[1], "v") {
			found[fields[0]] = fields[1]
		}
	}
	return found
}
