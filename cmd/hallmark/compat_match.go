package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/hallmark-gate/hallmark/contract"
)

// toolVersions is one tool of one side.
type toolVersions struct {
	all     []*contract.Contract // ascending, at least one
	current int                  // what a request that names no version gets
	served  []int                // ascending, current among them
}

func (v toolVersions) highest() *contract.Contract { return v.all[len(v.all)-1] }

// version returns one version's contract, nil where there is none.
func (v toolVersions) version(n int) *contract.Contract {
	for _, c := range v.all {
		if c.Version == n {
			return c
		}
	}
	return nil
}

// match says what is compared with what, and lists what only one side has: tools,
// versions, versions that are served. Two versions' folders are compared with each
// other, whatever they say.
func match(old, now contracts) (pairs []contractPair, rows []compatRow) {
	if old.one && now.one {
		return []contractPair{{old.tree.Contracts[0], now.tree.Contracts[0]}}, nil
	}
	serving := old.whole && now.whole // else one side does not know what is served
	before, after := byTool(old.tree, serving), byTool(now.tree, serving)
	all := maps.Clone(before)
	maps.Copy(all, after)
	for _, tool := range slices.Sorted(maps.Keys(all)) {
		m := toolMatch{tool: tool, old: before[tool], now: after[tool]}
		m.run()
		pairs, rows = append(pairs, m.pairs...), append(rows, m.rows...)
	}
	return pairs, rows
}

// byTool returns the versions of each tool. Where it does not count what the tree says
// of serving, each version is served and the highest is current.
func byTool(t *contract.Tree, serving bool) map[string]toolVersions {
	m := map[string]toolVersions{}
	for _, c := range t.Contracts { // sorted
		v := m[c.Tool]
		v.all, v.served, v.current = append(v.all, c), append(v.served, c.Version), c.Version
		m[c.Tool] = v
	}
	if !serving {
		return m
	}
	for tool, v := range m {
		v.current = t.Current[tool]
		v.served = slices.Sorted(slices.Values(append([]int{v.current}, t.Drain[tool]...)))
		m[tool] = v
	}
	return m
}

// toolMatch matches the versions of one tool.
type toolMatch struct {
	tool     string
	old, now toolVersions
	pairs    []contractPair
	rows     []compatRow
}

func (m *toolMatch) row(class contract.Class, kind, detail string, was, is int) *compatRow {
	m.rows = append(m.rows, compatRow{
		Tool: m.tool, OldVersion: was, NewVersion: is, Raised: is > was,
		Class: class, Kind: kind, At: m.tool, Detail: detail,
	})
	return &m.rows[len(m.rows)-1]
}

func (m *toolMatch) run() {
	switch {
	case len(m.old.all) == 0:
		m.row(contract.Additive, "tool-added", "there was no contract for it", 0, m.now.highest().Version)
		return
	case len(m.now.all) == 0:
		m.row(contract.Breaking, "tool-removed", "there is no contract for it any more", m.old.highest().Version, 0)
		return
	}
	for _, c := range m.old.all {
		if d := m.now.version(c.Version); d != nil {
			m.pair(c, d)
		}
	}
	m.current()
	last, next := m.old.highest(), m.now.highest()
	if next.Version > last.Version {
		m.pair(last, next)
	}
	m.removed()
	m.added()
}

// pair has two contracts compared, once.
func (m *toolMatch) pair(old, now *contract.Contract) {
	if p := (contractPair{old, now}); !slices.Contains(m.pairs, p) {
		m.pairs = append(m.pairs, p)
	}
}

// current compares what a request that names no version gets. Going back is excused by
// no version: what agents rely on is the one that they get no longer.
func (m *toolMatch) current() {
	was, is := m.old.current, m.now.current
	if was == is {
		return
	}
	class, detail := contract.Safe, "requests that name no version get the newer one; what that means is listed by itself"
	if is < was {
		class, detail = contract.Breaking, "requests that name no version get an older one, and no version: excuses it"
	} else {
		m.pair(m.old.version(was), m.now.version(is))
	}
	r := m.row(class, "current-changed", detail, was, is)
	r.Old, r.New = strconv.Itoa(was), strconv.Itoa(is)
}

// removed lists the versions that are gone: those that callers could ask for are
// excused by a higher one that they can ask for.
func (m *toolMatch) removed() {
	highest := m.now.served[len(m.now.served)-1]
	for _, c := range m.old.all {
		n := c.Version
		folder := m.now.version(n) != nil
		switch {
		case slices.Contains(m.now.served, n):
		case slices.Contains(m.old.served, n) && folder:
			m.row(contract.Breaking, "version-removed",
				fmt.Sprintf("callers can no longer ask for version %d: it has a folder, and serving.yaml does not serve it", n), n, highest)
		case slices.Contains(m.old.served, n):
			m.row(contract.Breaking, "version-removed", fmt.Sprintf("callers can no longer ask for version %d", n), n, highest)
		case !folder:
			m.row(contract.Safe, "version-removed", fmt.Sprintf("version %d is gone, and callers could not ask for it", n), n, highest)
		}
	}
}

// added lists the versions that callers can ask for and could not before, and with
// which no older one is compared.
func (m *toolMatch) added() {
	for _, n := range m.now.served {
		upgrade := slices.ContainsFunc(m.pairs, func(p contractPair) bool { return p.old.Version < n && p.now.Version == n })
		if !upgrade && !slices.Contains(m.old.served, n) {
			m.row(contract.Additive, "version-added", "callers can ask for it", 0, n)
		}
	}
}
