package server

import (
	"context"
	"errors"

	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/gate"
	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
)

// errNoContract says that a call asked for a contract that is not served.
var errNoContract = errors.New("server: no such contract")

// contractService answers ContractService by the published set.
type contractService struct {
	hallmarkv1.UnimplementedContractServiceServer
	gate *gate.Gate
}

// ListContracts lists every version that serves, sorted by tool and version.
func (s *contractService) ListContracts(context.Context, *hallmarkv1.ListContractsRequest) (*hallmarkv1.ListContractsResponse, error) {
	set := s.gate.Set()
	if set == nil {
		return nil, gate.ErrNoContracts
	}
	return ListOf(set), nil
}

// GetContract describes one version that serves, by the tool's name or an alias.
func (s *contractService) GetContract(_ context.Context, req *hallmarkv1.GetContractRequest) (*hallmarkv1.GetContractResponse, error) {
	set := s.gate.Set()
	if set == nil {
		return nil, gate.ErrNoContracts
	}
	tool, _ := set.Lookup(req.GetTool(), intOf(req.GetVersion()))
	if tool == nil {
		return nil, errNoContract
	}
	c := tool.Contract
	out := &hallmarkv1.GetContractResponse{Summary: summaryToWire(c, tool.Current)}
	result, err := c.AgentSchema()
	if err != nil {
		return nil, err
	}
	out.ResultSchemaJson = valid(string(result))
	arguments, err := c.ArgumentsSchema()
	if err != nil {
		return nil, err
	}
	out.ArgumentsSchemaJson = valid(string(arguments))
	if c.Arguments != nil {
		for _, scope := range c.Arguments.Scopes {
			out.Scopes = append(out.Scopes, scopeToWire(scope))
		}
	}
	return out, nil
}

// ListOf lists the versions that a set serves as ListContracts does, for those who have
// the set in their own process.
func ListOf(set *gate.Set) *hallmarkv1.ListContractsResponse {
	out := &hallmarkv1.ListContractsResponse{ContractsDigest: valid(set.Digest())}
	for _, tool := range set.Tools() {
		c := tool.Contract
		if served, _ := set.Lookup(c.Tool, c.Version); served != nil {
			out.Contracts = append(out.Contracts, summaryToWire(c, tool.Current))
		}
	}
	return out
}

func summaryToWire(c *contract.Contract, current bool) *hallmarkv1.ContractSummary {
	effect := hallmarkv1.Effect_EFFECT_READ_ONLY
	if c.Effect != contract.ReadOnly {
		effect = hallmarkv1.Effect_EFFECT_SIDE_EFFECT
	}
	return &hallmarkv1.ContractSummary{
		Tool: valid(c.Tool), Version: countOf(c.Version), Current: current, Effect: effect,
		Kind: valid(string(c.Result.Kind)), Owner: valid(c.Owner), Description: valid(c.Description),
		Digest: valid(c.Digest),
	}
}

func scopeToWire(s contract.Scope) *hallmarkv1.ScopeDeclaration {
	out := &hallmarkv1.ScopeDeclaration{Name: valid(s.Name), Type: valid(s.Type)}
	for _, at := range s.At {
		out.At = append(out.At, valid(at.String()))
	}
	return out
}
