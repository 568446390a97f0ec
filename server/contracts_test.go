package server

import (
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
)

// The list is that of the shipped contracts, sorted, and names the set that it is of.
func TestListContracts(t *testing.T) {
	s := start(t)
	reply, err := s.contracts.ListContracts(ctxFor(t), &hallmarkv1.ListContractsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if reply.GetContractsDigest() != s.app.Reloads().Serving {
		t.Errorf("digest %s", reply.GetContractsDigest())
	}
	last := ""
	var job *hallmarkv1.ContractSummary
	for _, c := range reply.GetContracts() {
		if c.GetTool() < last || len(c.GetDigest()) != 64 || c.GetOwner() == "" || c.GetDescription() == "" {
			t.Errorf("%v after %s", c, last)
		}
		last = c.GetTool()
		if c.GetTool() == "job_status" && c.GetVersion() == 1 {
			job = c
		}
	}
	if job.GetKind() != "json" || job.GetOwner() != "build-platform" || job.GetEffect() != hallmarkv1.Effect_EFFECT_READ_ONLY {
		t.Errorf("job_status %v", job)
	}
	if local := ListOf(s.app.set); !proto.Equal(local, reply) {
		t.Errorf("in process %v", local)
	}
}

// One contract: by name and by alias, what the agent gets and what the tool takes; what
// is not served is NOT_FOUND.
func TestGetContract(t *testing.T) {
	s := start(t)
	byName, err := s.contracts.GetContract(ctxFor(t), &hallmarkv1.GetContractRequest{Tool: "job_status", Version: 1})
	if err != nil {
		t.Fatal(err)
	}
	byAlias, err := s.contracts.GetContract(ctxFor(t), &hallmarkv1.GetContractRequest{Tool: "mcp__ci__job_status", Version: 1})
	if err != nil || !proto.Equal(byName, byAlias) || byName.GetSummary().GetTool() != "job_status" {
		t.Errorf("by alias: %v, %v", byAlias, err)
	}
	const result = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","required":["project_id","run_id","state","observed_at"],` +
		`"properties":{"project_id":{"type":"string","pattern":"^[a-z0-9][a-z0-9-]{2,62}$"},"run_id":{"type":"string","pattern":"^run_[A-Za-z0-9]{12,48}$"},` +
		`"state":{"enum":["failed","running","succeeded","cancelled"]},"observed_at":{"type":"string","format":"date-time","maxLength":35}},"additionalProperties":false}`
	if byName.GetResultSchemaJson() != result {
		t.Errorf("result schema %s", byName.GetResultSchemaJson())
	}
	if a := byName.GetArgumentsSchemaJson(); !strings.Contains(a, `"required":["project_id","run_id"]`) {
		t.Errorf("arguments schema %s", a)
	}
	for _, req := range []*hallmarkv1.GetContractRequest{
		{Tool: "weather"}, {Tool: "job_status", Version: 77}, {Tool: "JOB_STATUS"}, {Tool: "job_status", Version: 1<<32 - 1},
	} {
		_, err := s.contracts.GetContract(ctxFor(t), req)
		wantCode(t, err, codes.NotFound)
	}
	_, err = s.contracts.GetContract(ctxFor(t), &hallmarkv1.GetContractRequest{})
	wantCode(t, err, codes.InvalidArgument)
}

// Two versions of a tool serve side by side; the agent sees which one judged. A version
// that is neither current nor drained is refused, is in no list and has no description.
func TestVersions(t *testing.T) {
	all := variants(t)
	files := maps.Clone(all[0].files) // v1 accepts the reply
	for v, of := range map[string]variant{"v2": all[2], "v3": all[1]} {
		for name, text := range of.files {
			name = strings.Replace(name, "/v1/", "/"+v+"/", 1)
			files[name] = text
			if filepath.Base(name) == "contract.yaml" {
				edit(t, files, name, "version: 1", "version: "+v[1:])
			}
		}
	}
	files["serving.yaml"] = "deploy_status: {current: 2, drain: [1]}\n"
	dir := t.TempDir()
	writeTree(t, dir, files)
	s := start(t, func(s *setup) { s.cfg.Contracts = dir })

	for _, c := range []struct {
		asked, got uint32
		data       string
	}{{0, 2, all[2].data}, {2, 2, all[2].data}, {1, 1, all[0].data}} {
		req := deployCall()
		req.Request.ContractVersion = c.asked
		reply, err := s.gate.Validate(ctxFor(t), req)
		if err != nil {
			t.Fatal(err)
		}
		r := reply.GetResult()
		if r.GetContractVersion() != c.got || r.GetData().GetJson() != c.data {
			t.Errorf("asked for %d: %v", c.asked, r)
		}
		if e := s.event(t, reply.GetDecisionId()); e.GetContractVersion() != c.got {
			t.Errorf("asked for %d: recorded %v", c.asked, e)
		}
	}
	for _, version := range []uint32{3, 4} {
		req := deployCall()
		req.Request.ContractVersion = version
		reply, err := s.gate.Validate(ctxFor(t), req)
		if err != nil {
			t.Fatal(err)
		}
		e := s.event(t, reply.GetDecisionId())
		if reply.GetResult().GetFailure().GetCode() != hallmarkv1.FailureCode_FAILURE_CODE_UNKNOWN_TOOL ||
			e.GetRejection().GetReason() != hallmarkv1.RejectionReason_REJECTION_REASON_UNKNOWN_VERSION {
			t.Errorf("version %d: %v, %v", version, reply.GetResult(), e)
		}
		_, err = s.contracts.GetContract(ctxFor(t), &hallmarkv1.GetContractRequest{Tool: "deploy_status", Version: version})
		wantCode(t, err, codes.NotFound)
	}
	list, err := s.contracts.ListContracts(ctxFor(t), &hallmarkv1.ListContractsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if c := list.GetContracts(); len(c) != 2 || c[0].GetVersion() != 1 || c[0].GetCurrent() || c[1].GetVersion() != 2 || !c[1].GetCurrent() {
		t.Errorf("list %v", list)
	}
	current, err := s.contracts.GetContract(ctxFor(t), &hallmarkv1.GetContractRequest{Tool: "deploy_status"})
	if err != nil || current.GetSummary().GetVersion() != 2 || strings.Contains(current.GetResultSchemaJson(), "revision") {
		t.Errorf("current %v, %v", current, err)
	}

	// A version is drained no longer: calls in need of it are refused from then on.
	write(t, filepath.Join(dir, "serving.yaml"), "deploy_status: {current: 2}\n")
	eventually(t, "version 1 is not served", func() bool {
		req := deployCall()
		req.Request.ContractVersion = 1
		reply, err := s.gate.Validate(ctxFor(t), req)
		return err == nil && reply.GetResult().GetFailure().GetCode() == hallmarkv1.FailureCode_FAILURE_CODE_UNKNOWN_TOOL
	})
}
