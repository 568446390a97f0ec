package casetest_test

import (
	"context"
	"os"
	"testing"

	"github.com/hallmark-gate/hallmark/casetest"
	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/gate"
	"github.com/hallmark-gate/hallmark/validators"
	"github.com/hallmark-gate/hallmark/validators/semantic"
)

// Every case of every shipped contract passes, and every contract has some. A22
func TestShippedContracts(t *testing.T) {
	tree, err := contract.Load(os.DirFS("../contracts"))
	if err != nil {
		t.Fatalf("the shipped contracts do not load:\n%v", err)
	}
	registry, err := validators.NewRegistry(semantic.Builtins())
	if err != nil {
		t.Fatal(err)
	}
	var set *gate.Set
	if set, err = registry.Compile(tree); err != nil {
		t.Fatal(err)
	}
	report := casetest.Run(context.Background(), set)
	of := map[string]int{}
	for _, r := range report.Results {
		of[r.Tool]++
		if !r.Passed() {
			t.Errorf("%s", r)
		}
	}
	for _, tool := range set.Tools() {
		if of[tool.Contract.Tool] < 9 {
			t.Errorf("%s has %d cases", tool.Contract.Tool, of[tool.Contract.Tool])
		}
	}
	for _, u := range report.Unreached {
		t.Errorf("%s v%d: no case reaches %s %s", u.Tool, u.Version, u.Kind, u.Name)
	}
}
