package contract

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	yaml "go.yaml.in/yaml/v4"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// Bounds of grants, those of the wire API.
const (
	maxGrants     = 64
	maxScopes     = 32
	maxValues     = 256
	maxScopeBytes = 2048
)

var (
	principalForm = regexp.MustCompile(`^[A-Za-z0-9._:@/+-]{0,128}$`)
	grantForm     = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,64}$`)
	keywordForm   = regexp.MustCompile(`^[$A-Za-z][A-Za-z0-9]{0,63}$`)
	dutyForm      = regexp.MustCompile(`^[a-z][a-z0-9-]{0,63}$`)
)

func (d *caseDraft) call(n *yaml.Node, path string) {
	c := &CaseCall{}
	outer := d.raws
	d.raws = nil
	d.object(n, path,
		may("raw", d.rawText(&c.Raw)),
		may("raw_base64", d.rawBase64(&c.Raw)),
		may("principal", d.matching(&c.Principal, principalForm, "a principal: at most 128 of letters, digits and ._:@/+-")),
		may("session_id", d.matching(&c.SessionID, sessionForm, "a session id: at most 128 of letters, digits and ._:@/-")),
		may("request_id", d.matching(&c.RequestID, requestForm, "a request id: 8 to 64 of letters, digits and _.:-")),
	)
	switch {
	case jsonKind(n) != strictjson.Object:
	case len(d.raws) == 0:
		d.fault(n, "write raw: '{…}'", "%s has neither raw nor raw_base64", path)
	case len(d.raws) > 1:
		d.fault(n, "", "%s are given; a call has one of them", strings.Join(d.raws, " and "))
	}
	d.raws = outer
	d.Case.Call = c
}

// nameCall gives a call the ids that stand in request instead.
func (d *caseDraft) nameCall() {
	call, request := d.Case.Call, &d.Case.Request
	if call == nil {
		return
	}
	for _, id := range []struct {
		key     string
		own, of *string
	}{{"request_id", &call.RequestID, &request.RequestID}, {"session_id", &call.SessionID, &request.SessionID}} {
		if *id.own != "" && *id.of != "" {
			d.faultAt(d.places["request."+id.key], "keep one of them", "%s stands in call and in request", id.key)
		}
		if *id.own == "" {
			*id.own = *id.of
		}
	}
	*request = CaseRequest{}
}

func (d *caseDraft) grant(n *yaml.Node, path string) {
	g := CaseGrant{ID: fmt.Sprintf("grant-%d", len(d.Case.Grants)+1)}
	var uses []string
	d.object(n, path,
		may("id", d.matching(&g.ID, grantForm, "a grant's id: 1 to 64 of letters, digits and ._:-")),
		may("tool", d.anyName(&g.Tool)),
		may("issuer", d.text(&g.Issuer, maxName)),
		may("scopes", d.atMost(maxScopes, func(n *yaml.Node, path string) { d.allowed(&g, n, path) })),
		may("not_after", d.time(&g.NotAfter)),
		may("max_uses", func(n *yaml.Node, path string) {
			uses = append(uses, path)
			d.uses(&g.MaxUses, n, path)
		}),
		may("unlimited_uses", func(n *yaml.Node, path string) {
			uses = append(uses, path)
			d.always(&g.Unlimited, n, path)
		}),
	)
	switch {
	case jsonKind(n) != strictjson.Object:
	case len(uses) == 0:
		d.fault(n, "write unlimited_uses: true if it is good for any number", "%s has neither max_uses nor unlimited_uses", path)
	case len(uses) > 1:
		d.fault(n, "", "%s are given; a grant has one of them", strings.Join(uses, " and "))
	}
	d.Case.Grants = append(d.Case.Grants, g)
}

// allowed reads what a grant says about one scope.
func (d *caseDraft) allowed(g *CaseGrant, n *yaml.Node, path string) {
	var s CaseScope
	var given []string
	d.object(n, path,
		need("name", d.matching(&s.Name, scopeForm, "a scope name: a lowercase letter, then lowercase letters, digits and _, at most 64")),
		may("values", func(n *yaml.Node, path string) {
			given = append(given, path)
			s.Values = []string{}
			list := d.atMost(maxValues, func(n *yaml.Node, path string) { d.scopeValue(&s, n, path) })
			if jsonKind(n) == strictjson.Object { // the API's message Values
				d.object(n, path, may("values", list))
				return
			}
			list(n, path)
		}),
		may("any", func(n *yaml.Node, path string) {
			given = append(given, path)
			d.always(&s.Any, n, path)
		}),
	)
	switch {
	case jsonKind(n) != strictjson.Object:
	case len(given) == 0:
		d.fault(n, "write values: […], or any: true", "%s has neither values nor any", path)
	case len(given) > 1:
		d.fault(n, "", "%s are given; a scope has one of them", strings.Join(given, " and "))
	}
	g.Scopes = append(g.Scopes, s)
}

// scopeValue reads one value of a scope, always a string; a number is the text that
// stands in the file.
func (d *caseDraft) scopeValue(s *CaseScope, n *yaml.Node, path string) {
	if jsonKind(n) != strictjson.Number && !d.isKind(n, path, strictjson.String) {
		return
	}
	if len(n.Value) > maxScopeBytes {
		d.fault(n, "", "%s is longer than %d bytes", path, maxScopeBytes)
		return
	}
	s.Values = append(s.Values, n.Value)
}

// atMost reads a list of at most most elements.
func (d *caseDraft) atMost(most int, element read) read {
	return func(n *yaml.Node, path string) {
		if n.Kind == yaml.SequenceNode && len(n.Content) > most {
			d.fault(n, "", "%s has more than %d elements", path, most)
			return
		}
		d.list(0, element)(n, path)
	}
}

// always reads what is either true or not there.
func (d *caseDraft) always(dst *bool, n *yaml.Node, path string) {
	d.boolean(dst)(n, path)
	if jsonKind(n) == strictjson.Bool && !*dst {
		d.fault(n, "remove it", "%s can only be true", path)
	}
}

func (d *caseDraft) uses(dst *uint32, n *yaml.Node, path string) {
	if !d.isKind(n, path, strictjson.Number) {
		return
	}
	uses, err := strconv.ParseUint(n.Value, 10, 32)
	if err != nil || uses == 0 {
		d.fault(n, "", "%s: %s is not a whole number from 1 to 4294967295", path, quote(n.Value))
		return
	}
	*dst = uint32(uses)
}

// delivered reads one source whose output the session got.
func (d *caseDraft) delivered(n *yaml.Node, path string) {
	var s CaseSource
	d.object(n, path,
		need("tool", d.anyName(&s.Tool)),
		need("trust", word(d.source, &s.Trust, "trusted", "untrusted")),
	)
	d.Case.Sources = append(d.Case.Sources, s)
}

// policyFile reads the name of the file that holds the deployment's policies.
func (d *caseDraft) policyFile(n *yaml.Node, path string) {
	if name, ok := d.folderFile(n, path); ok {
		d.policies = name
	}
}

// decision returns the keys of want that speak of a decision alone.
func (d *caseDraft) decision() []field {
	w := &d.Case.Want
	reason := func(dst *string) read { return word(d.source, dst, ReasonCodes()...) }
	duty := func(dst *string) read {
		return d.matching(dst, dutyForm, "an obligation: lowercase letters, digits and -")
	}
	return []field{
		may("decision", d.only(true, word(d.source, &w.Decision, Decisions()...))),
		may("reasons", d.only(true, d.wantTexts(&w.Reasons, reason))),
		may("keyword", d.only(true, d.matching(&w.Keyword, keywordForm, "a keyword of a schema"))),
		may("arguments_json", d.only(true, func(n *yaml.Node, path string) {
			if d.isArguments(n, path) {
				d.exactly(&w.ArgumentsJSON)(n, path)
			}
		})),
		may("obligations", d.only(true, d.wantTexts(&w.Obligations, duty))),
	}
}

// wantTexts reads a list of distinct words of a decision.
func (d *caseDraft) wantTexts(dst *[]string, element func(*string) read) read {
	return func(n *yaml.Node, path string) {
		*dst = []string{}
		d.list(0, collect(d.source, dst, element))(n, path)
	}
}

// checkDecision refuses a decision that could not be.
func (d *caseDraft) checkDecision(n *yaml.Node, path string) {
	w := &d.Case.Want
	failure := path + ".failure"
	switch {
	case jsonKind(n) != strictjson.Object:
	case !d.said(path + ".decision"):
		d.fault(n, "write decision: "+strings.Join(Decisions(), " or "), "%s.decision is missing", path)
	case w.Decision == decisionAllow && d.judged:
		d.faultAt(d.places[failure], "remove it", "%s belongs to a refusal, and %s is wanted", failure, w.Decision)
	case w.Failure != "" && !slices.Contains(refusals(), w.Failure):
		d.faultAt(d.places[failure], "", "%s: %s is not one of %s, which a decision can lead to", failure, w.Failure, joinWords(refusals()))
	}
}

// lintCall holds a case about a call against its contract.
func (d *caseDraft) lintCall(of *draft) {
	c := of.contract
	if c.Arguments == nil && !of.said("arguments") {
		d.faultAt(d.places["call"], "declare arguments.schema in the contract, or remove the case", "a case about a call's arguments, and the contract has no arguments")
	}
	if d.Now.IsZero() && len(d.Grants)+len(d.Evidence) > 0 {
		d.faultAt(place{1, 1}, "", "now is missing; grants and evidence look at time")
	}
	for i := range d.Grants {
		if d.Grants[i].Tool == "" {
			d.Grants[i].Tool = c.Tool
		}
	}
}
