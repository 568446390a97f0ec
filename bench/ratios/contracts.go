package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// derived are contracts for measurements only: shipped ones under another name, with
// changes. Their cases come along, under the same changes.
func derived() []derivation {
	receipt := func(signed bool) []string {
		return []string{"retention:", fmt.Sprintf("receipt: {ttl: 10m, facts: true, signed: %t}\nretention:", signed)}
	}
	return []derivation{
		{from: "review_status", tool: "bench_review_mac", contract: receipt(false)},
		{from: "review_status", tool: "bench_review_signed", contract: receipt(true)},
		{from: "job_status", tool: "bench_job", contract: []string{
			`aliases: ["mcp__ci__job_status"]` + "\n", "",
			"receipt: {ttl: 10m, facts: true, signed: false}\n", "",
			"  agent_fields:", `    - {cel: 'result.run_id.startsWith("run_") && result.state in ["failed", "running", "succeeded", "cancelled"]', name: run-form}` + "\n  agent_fields:",
		}},
		{from: "list_runs", tool: "bench_list", contract: []string{
			"max_bytes: 65536", "max_bytes: 2000000", "max_items: 1000", "max_items: 100000",
			"receipt: {ttl: 10m, facts: true, signed: false}\n", "",
		}, schema: []string{`"maxItems": 100`, `"maxItems": 20000`}, without: []string{"too-long-list", "too-long-items"}},
	}
}

// derivation is a contract made of another; contract and schema are pairs of old and new.
type derivation struct {
	from, tool       string
	contract, schema []string
	without          []string // cases that no longer hold
}

// tooLong stands in for cases that a derivation leaves out.
const tooLong = `why: A project with too long a name.
request: {request_id: req.L1s2T3r4, session_id: s1, arguments: {}}
upstream: {source: "https://ci.example.test/projects/bluebird/runs", media_type: application/json, http_status: 200}
raw: |
  {"project_id":"%s","runs":[]}
want: {failure: INVALID_RESPONSE, retryable: false, layer: SCHEMA, reason: SCHEMA, at: /project_id}
`

// deriveContracts copies the shipped contracts below dir and adds the derived ones.
func deriveContracts(shipped, dir string) (string, error) {
	out := filepath.Join(dir, "contracts")
	if err := os.CopyFS(out, os.DirFS(shipped)); err != nil {
		return "", err
	}
	for _, d := range derived() {
		if err := d.write(shipped, filepath.Join(out, d.tool, "v1")); err != nil {
			return "", err
		}
	}
	return out, nil
}

func (d derivation) write(shipped, to string) error {
	if err := os.CopyFS(to, os.DirFS(filepath.Join(shipped, d.from, "v1"))); err != nil {
		return err
	}
	for _, name := range d.without {
		if err := os.Remove(filepath.Join(to, "cases", name+".yaml")); err != nil {
			return err
		}
	}
	if len(d.without) > 0 {
		text := fmt.Sprintf(tooLong, strings.Repeat("p", 64))
		if err := os.WriteFile(filepath.Join(to, "cases", "too-long-project.yaml"), []byte(text), 0o600); err != nil {
			return err
		}
	}
	if err := edit(filepath.Join(to, "contract.yaml"), append(d.contract, "tool: "+d.from, "tool: "+d.tool)); err != nil {
		return err
	}
	if err := edit(filepath.Join(to, "result.schema.json"), d.schema); err != nil {
		return err
	}
	cases, err := filepath.Glob(filepath.Join(to, "cases", "*.yaml"))
	if err != nil {
		return err
	}
	for _, name := range cases {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		text = []byte(strings.ReplaceAll(string(text), `"`+d.from+`"`, `"`+d.tool+`"`))
		if err := os.WriteFile(name, text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// edit replaces pairs of old and new in a file, each of which must be there.
func edit(name string, pairs []string) error {
	b, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	text := string(b)
	for i := 0; i+1 < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			return fmt.Errorf("%s does not hold %q any more", name, pairs[i])
		}
		text = strings.Replace(text, pairs[i], pairs[i+1], 1)
	}
	return os.WriteFile(name, []byte(text), 0o600)
}
