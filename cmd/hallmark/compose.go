package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/gate"
	"github.com/hallmark-gate/hallmark/server"
	"github.com/hallmark-gate/hallmark/validators"
	"github.com/hallmark-gate/hallmark/validators/semantic"
)

// newRegistry is the list of everything that this binary judges by. A deployment with
// checks or readers of its own builds its own binary and adds its lines here.
func newRegistry() (*validators.Registry, error) {
	return validators.NewRegistry(semantic.Builtins())
}

func newLoader() (*gate.Loader, error) {
	registry, err := newRegistry()
	if err != nil {
		return nil, err
	}
	return gate.NewLoader(registry), nil
}

// loadSet loads a contracts directory for commands that judge in this process, with the
// policies of another; "" means none.
func loadSet(dir, policies string) (*gate.Set, error) {
	loader, err := newLoader()
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("%s is not a directory of contracts; name one with --contracts, or run where contracts/ is", printable(dir))
	}
	if err := isPolicies(policies); err != nil {
		return nil, err
	}
	set, err := loader.LoadDir(dir, policies)
	var faults contract.Faults
	if errors.As(err, &faults) {
		faults = server.NamePolicies(faults, dir, policies)
		return nil, fmt.Errorf("the contracts in %s are refused, nothing of them is used:\n%s", printable(dir), printable(faults.Error()))
	}
	return set, err
}

// isPolicies refuses what is no directory; "" means that there are no policies.
func isPolicies(dir string) error {
	if dir == "" {
		return nil
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return fmt.Errorf("%s is not a directory of policies; name the one that holds *.yaml with --policies", printable(dir))
	}
	return nil
}
