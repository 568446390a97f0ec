package policy

import (
	"cmp"
	"slices"
	"strings"
)

// grants finds the grants that cover the call, each alone, or says why none does.
func (d *decider) grants() {
	for i := range d.scopes {
		d.present(&d.scopes[i])
	}
	var candidates int
	var fits []*Grant
	for i := range d.r.Grants {
		g := &d.r.Grants[i]
		if !d.counts(g) {
			continue
		}
		candidates++
		if d.live(g) == "" && d.covers(g) {
			fits = append(fits, g)
		}
	}
	switch {
	case candidates == 0:
		d.refuse(Reason{Code: NoGrant})
	case len(fits) == 0:
		d.explain()
	default:
		slices.SortFunc(fits, compareGrants)
		d.out.Grants = fits
	}
}

// counts reports whether a grant is about this tool and from somebody who may grant.
func (d *decider) counts(g *Grant) bool {
	return d.r.Tool.is(g.Tool) && (g.Issuer != "" || d.r.MayGrant)
}

// live returns why a grant is over, or "".
func (d *decider) live(g *Grant) Code {
	switch {
	case d.r.Now.IsZero() || !d.r.Now.Before(g.NotAfter):
		return GrantExpired
	case g.Unlimited != (g.MaxUses == 0):
		return GrantExhausted
	}
	return ""
}

// present refuses what no grant could cover: malformed values, and none at all where
// there must be one.
func (d *decider) present(c *scoped) {
	for _, i := range c.malformed {
		d.refuse(Reason{Code: OutOfScope, Scope: c.scope.Name, Argument: c.scope.At[i].String()})
	}
	if len(c.malformed) > 0 || c.count() > 0 || c.scope.Optional {
		return
	}
	r := Reason{Code: OutOfScope, Scope: c.scope.Name}
	if len(c.scope.At) > 0 {
		r.Argument = c.scope.At[0].String()
	}
	d.refuse(r)
}

func (d *decider) covers(g *Grant) bool {
	for i := range d.scopes {
		if _, ok := d.coversScope(g, &d.scopes[i]); !ok {
			return false
		}
	}
	return true
}

// coversScope also returns which values are covered, for as long as nothing else is
// compared. It speaks of values that are there and well-formed; see present.
func (d *decider) coversScope(g *Grant, c *scoped) (covered []bool, ok bool) {
	n := c.count()
	if n == 0 {
		return nil, true
	}
	if cap(d.marks) < n {
		d.marks = make([]bool, max(n, 8))
	}
	covered = d.marks[:n]
	clear(covered)
	a := about(g, c.scope.Name)
	switch {
	case a == nil:
		return covered, false
	case a.Any:
		return covered, len(a.Values) == 0
	}
	return covered, c.cover(a.Values, covered)
}

// about returns what a grant says about a scope; nil where that is nothing, or two
// things.
func about(g *Grant, scope string) *Allowed {
	var found *Allowed
	for i := range g.Scopes {
		if g.Scopes[i].Scope == scope {
			if found != nil {
				return nil
			}
			found = &g.Scopes[i]
		}
	}
	return found
}

// explain says of each grant for this tool why it does not cover the call.
func (d *decider) explain() {
	d.denied = true
	var reasons []Reason
	for i := range d.r.Grants {
		g := &d.r.Grants[i]
		if !d.counts(g) {
			continue
		}
		if code := d.live(g); code != "" {
			reasons = append(reasons, Reason{Code: code, GrantID: g.ID})
		}
		for j := range d.scopes {
			c := &d.scopes[j]
			covered, ok := d.coversScope(g, c)
			if ok {
				continue
			}
			said := -1 // values stand in the order of their pointers, many under one
			for k, at := range c.at {
				if covered[k] || at == said {
					continue
				}
				said = at
				reasons = append(reasons, Reason{
					Code: OutOfScope, GrantID: g.ID,
					Scope: c.scope.Name, Argument: c.scope.At[at].String(),
				})
			}
		}
	}
	slices.SortFunc(reasons, compareReasons)
	for _, r := range slices.Compact(reasons) {
		d.refuse(r)
	}
}

// compareGrants puts first what is lost least by being used.
func compareGrants(a, b *Grant) int {
	if a.Unlimited != b.Unlimited {
		if a.Unlimited {
			return -1
		}
		return 1
	}
	if c := a.NotAfter.Compare(b.NotAfter); c != 0 {
		return c
	}
	if c := strings.Compare(a.ID, b.ID); c != 0 {
		return c
	}
	return cmp.Or(strings.Compare(a.Issuer, b.Issuer), cmp.Compare(a.MaxUses, b.MaxUses))
}
