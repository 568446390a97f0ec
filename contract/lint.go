package contract

import (
	"fmt"
	"path"
	"slices"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// faultOn notes a fault about a key of contract.yaml.
func (d *draft) faultOn(key, cure, format string, args ...any) {
	line, column := d.contract.Place(key)
	d.faultAt(place{line, column}, cure, format, args...)
}

// lint applies the rules that need contract.yaml alone.
func (d *draft) lint() {
	c := d.contract
	if c.Effect == SideEffect && !d.said("arguments") {
		d.faultOn("effect", "declare arguments.schema", "a side effect has no arguments.schema")
	}
	if c.Effect == SideEffect && c.Retry != nil && !c.Idempotent {
		d.faultOn("retry", "remove retry, or say idempotent: true if a repetition changes nothing",
			"retry on a side effect that is not idempotent")
	}
	d.lintTrust()
	if d.good["result"] {
		d.lintBinding()
		d.lintAdapter()
	}
	if d.good["arguments"] && c.Egress == EgressGranted && len(c.Arguments.Scopes) == 0 {
		d.faultOn("egress", "declare the destination in arguments.scopes", "egress: granted without any scope that a grant could cover")
	}
	for _, k := range c.Result.Checks {
		// A check's file is part of the contract; what it holds is the check's matter.
		if keys := k.With.Member("keys"); keys.Kind() == strictjson.String {
			d.named[path.Clean(keys.Text())] = true
		}
	}
}

func (d *draft) lintTrust() {
	if d.said("trust") && !d.good["trust"] {
		return
	}
	trusted := d.contract.Trust.Trusted
	for _, key := range []string{"trusted_sources", "trusted_callers"} {
		given := len(d.contract.Trust.Sources)
		if key == "trusted_callers" {
			given = len(d.contract.Trust.Callers)
		}
		switch {
		case d.said(key) && !d.good[key]:
		case trusted && given == 0:
			d.faultOn("trust", "list who and where the results come from", "trust: trusted without %s", key)
		case !trusted && given > 0:
			d.faultOn(key, "say trust: trusted, or remove it", "%s of a tool that is not trusted", key)
		}
	}
}

// lintBinding sees that a result without an id of its own is bound to its request by
// what it says, or that somebody wrote down why not. The reason may stand everywhere, and
// need not where a framing has an id, nor for a CallToolResult alone. A text says nothing
// that could be compared: it is outside text, whatever was asked for.
func (d *draft) lintBinding() {
	r := &d.contract.Result
	bound := slices.ContainsFunc(r.Checks, func(c Check) bool { return c.Use == useEquals })
	if r.Unbound == "" && !bound && r.Framing == FramingPayload && r.Kind != KindText {
		d.faultOn("result", `add an equals check, or say why none is needed in unbound: "…"`,
			"nothing binds a result to its request: there is no equals check")
	}
}

// lintSchemas applies the rules that walk through the schemas.
func (d *draft) lintSchemas() {
	c := d.contract
	sound := len(d.schemaFaults) == 0
	if d.good["result"] && c.Result.Schema != nil {
		d.schemaFaults = append(d.schemaFaults, lintResultSchema(c)...)
		if c.Result.Adapter != nil && sound {
			d.schemaFaults = append(d.schemaFaults, lintVendorSchema(c)...)
		}
	}
	if d.good["arguments"] && c.Arguments.Schema != nil {
		d.schemaFaults = append(d.schemaFaults, lintArgumentSchema(c)...)
	}
	if len(d.faults)+len(d.schemaFaults) == 0 {
		d.schemaFaults = lintExcerpts(c)
	}
}

// lintFolders sees that one folder is one tool and one tool is one folder.
func (l *loader) lintFolders() {
	toolOf := make(map[string]*draft)   // by folder: its first version that names a tool
	folderOf := make(map[string]string) // by tool: its first folder
	for i, d := range l.drafts {
		folder, tool := l.versions[i].folder, d.contract.Tool
		if tool == "" {
			continue
		}
		if first := toolOf[folder]; first == nil {
			toolOf[folder] = d
		} else if first.contract.Tool != tool {
			l.faultOn(d, "tool", "move one of them to a folder of its own",
				"the folder holds two tools: %s says %s", first.contract.Dir, quote(first.contract.Tool))
			continue
		}
		if first, ok := folderOf[tool]; !ok {
			folderOf[tool] = folder
		} else if first != folder {
			l.faultOn(d, "tool", "all versions of a tool stand in one folder",
				"tool %s is declared in the folder %s too", quote(tool), quote(first))
		}
	}
}

// nobody stands in results for the name of a tool that no contract has.
const nobody = "unknown"

// lintNames sees that every name means one tool.
func (l *loader) lintNames() {
	owner := make(map[string]string) // by name: the tool that it means
	for _, d := range l.drafts {
		if d.contract.Tool != "" {
			owner[d.contract.Tool] = d.contract.Tool
		}
	}
	for _, d := range l.drafts {
		if d.contract.Tool == nobody {
			l.faultOn(d, "tool", "name it otherwise", "results of tools that no contract has are named %s", nobody)
		}
		for i, alias := range d.contract.Aliases {
			key := indexed("aliases", i)
			switch tool, taken := owner[alias]; {
			case alias == d.contract.Tool:
				l.faultOn(d, key, "remove it", "the alias is the tool's own name")
			case !taken:
				owner[alias] = d.contract.Tool
			case tool != d.contract.Tool:
				l.faultOn(d, key, "a name means one tool", "the alias %s is a name of the tool %s already", quote(alias), quote(tool))
			}
		}
	}
}

// draftsByTool returns the versions of each tool that names itself.
func (l *loader) draftsByTool() map[string]map[int]*draft {
	tools := make(map[string]map[int]*draft)
	for _, d := range l.drafts {
		if tool := d.contract.Tool; tool != "" {
			if tools[tool] == nil {
				tools[tool] = make(map[int]*draft)
			}
			tools[tool][d.contract.Version] = d
		}
	}
	return tools
}

// lintEvidence sees that what a call requires can exist.
func (l *loader) lintEvidence(tools map[string]map[int]*draft, current map[string]int) {
	for _, d := range l.drafts {
		if d.contract.Arguments == nil {
			continue
		}
		for i, e := range d.contract.Arguments.Requires {
			lintRequirement(e, tools[e.Tool], current[e.Tool], func(key, cure, message string) {
				l.faultOn(d, indexed("arguments.requires", i)+key, cure, "%s", message)
			})
		}
	}
}

// lintRequirement sees that one piece of evidence can exist. versions are the contracts
// of its tool; fault notes what is wrong with a key of it.
func lintRequirement(e Evidence, versions map[int]*draft, current int, fault func(key, cure, message string)) {
	if e.Tool == "" {
		return // a fault already
	}
	if len(versions) == 0 {
		fault(".tool", "", fmt.Sprintf("evidence of %s, for which there is no contract", quote(e.Tool)))
		return
	}
	count := []int{current} // the versions whose receipts count
	for i, v := range e.Versions {
		if versions[v] == nil {
			fault(indexed(".versions", i), "", fmt.Sprintf("evidence of %s version %d, for which there is no contract", quote(e.Tool), v))
		} else if v != current {
			count = append(count, v)
		}
	}
	for _, v := range count {
		from := versions[v]
		if from == nil || from.beyond || !from.good["result"] {
			continue
		}
		isFresh := func(c Check) bool { return c.Use == useFresh }
		if e.MaxAge > 0 && !slices.ContainsFunc(from.contract.Result.Checks, isFresh) {
			fault(".max_age", "add a fresh check to that contract",
				fmt.Sprintf("max_age for evidence of %s version %d, whose contract has no fresh check", quote(e.Tool), v))
		}
		if from.contract.Receipt == nil {
			fault(".tool", "add receipt to that contract",
				fmt.Sprintf("evidence of %s version %d, whose contract issues no receipts", quote(e.Tool), v))
		}
	}
}

// faultOn notes a fault about a key of one contract among others.
func (l *loader) faultOn(d *draft, key, cure, format string, args ...any) {
	before := len(d.faults)
	d.faultOn(key, cure, format, args...)
	l.faults = append(l.faults, d.faults[before:]...)
}
