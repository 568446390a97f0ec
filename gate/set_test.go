package gate

import (
	"strings"
	"testing"

	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/validators"
	"github.com/hallmark-gate/hallmark/validators/semantic"
)

// A requirement that nothing can meet would deny every call, and is refused at load.
func TestMatchThatCannotBe(t *testing.T) {
	requirement := func(match map[string]string, versions ...int) contract.Evidence {
		return contract.Evidence{Tool: "job", Versions: versions, Match: match}
	}
	for _, row := range []struct {
		line    string
		require contract.Evidence
		rule    bool // of a policy instead of the contract
		want    []string
	}{
		{"facts and arguments", requirement(map[string]string{"/id": "/id", "/state": "/id"}), false, nil},
		{"a fact that is none", requirement(map[string]string{"/zz": "/id"}), false, []string{"arguments.requires[0].match: neither the facts nor the arguments of job have /zz"}},
		{"below a string", requirement(map[string]string{"/id/x": "/id"}), false, []string{"have /id/x"}},
		{"an argument that is none", requirement(map[string]string{"/id": "/yy"}), false, []string{"the arguments of restart have no /yy"}},
		{"both", requirement(map[string]string{"/zz": "/yy"}), false, []string{"have /zz", "have no /yy"}},
		{"of the current version alone", requirement(map[string]string{"/zz": "/id"}, 1), false, []string{"have /zz"}},
		{"of another version too", requirement(map[string]string{"/zz": "/id"}, 1, 2), false, nil},
		{"of a policy", requirement(map[string]string{"/zz": "/id"}), true, []string{"policy late: evidence of job: match: neither the facts"}},
		{"of a policy, for a tool that lacks it", requirement(map[string]string{"/id": "/to"}), true, []string{"policy late: evidence of job: match: the arguments of restart have no /to"}},
	} {
		list, rules := tools(), []contract.Policy{}
		for _, c := range list {
			if c.Tool == "restart" && !row.rule {
				c.Arguments.Requires = []contract.Evidence{row.require}
			}
		}
		if row.rule {
			rules = append(rules, contract.Policy{Name: "late", Tools: []string{"restart"}, Evidence: []contract.Evidence{row.require}})
		}
		registry, err := validators.NewRegistry(semantic.Builtins())
		if err != nil {
			t.Fatal(err)
		}
		current := map[string]int{}
		for _, c := range list {
			current[c.Tool] = c.Version
		}
		_, err = NewLoader(registry).CompileTree(&contract.Tree{Contracts: list, Current: current, Digest: "d", Policies: rules})
		switch {
		case len(row.want) == 0 && err != nil:
			t.Errorf("%s: %v", row.line, err)
		case len(row.want) > 0 && err == nil:
			t.Errorf("%s: not refused", row.line)
		}
		for _, want := range row.want {
			if err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %s", row.line, err, want)
			}
		}
	}
}
