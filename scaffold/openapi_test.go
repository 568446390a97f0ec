package scaffold_test

import (
	"os"
	"testing"

	"github.com/hallmark-gate/hallmark/scaffold"
)

// A8, A11, A13, A22: operations become closed contracts with their cases.
func TestFromOpenAPI(t *testing.T) {
	src, err := os.ReadFile("testdata/forge.openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ operation, tool, effect string }{
		{"projects/get", "projects_get", ""},
		{"runs/list-for-project", "runs_list_for_project", ""},
		{"GET /projects/{owner}/{project}/tickets/{ticket_number}", "tickets_get", ""},
		{"tickets/update", "tickets_update", "side_effect"},
		{"patch /projects/{owner}/{project}/tickets/{ticket_number}", "tickets_update", ""},
	} {
		t.Run(c.operation, func(t *testing.T) {
			d, err := scaffold.FromOpenAPI(src, c.operation, scaffold.Options{Effect: c.effect, Valid: valid})
			if err != nil {
				t.Fatal(err)
			}
			if d.Tool != c.tool {
				t.Errorf("tool %s", d.Tool)
			}
			refusedFirst(t, d)
			passes(t, d)
			dump(t, d)
		})
	}
}
