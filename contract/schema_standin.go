package contract

import "github.com/hallmark-gate/hallmark/validators/strictjson"

// Stand-in until schema.go and schema_lint.go arrive; to be deleted then.

func readSchema(files map[string][]byte, root string) (*Schema, Faults) {
	v, err := strictjson.Parse(files[root], strictjson.Ceilings())
	if err != nil {
		return nil, Faults{{File: root, Line: 1, Column: 1, Message: err.Error()}}
	}
	return &Schema{
		File: root, Files: map[string][]byte{root: files[root]},
		Roots: map[string]strictjson.Value{root: v},
	}, nil
}

func lintResultSchema(*Contract) Faults   { return nil }
func lintArgumentSchema(*Contract) Faults { return nil }
