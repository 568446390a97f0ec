package main

import (
	"errors"
	"fmt"
	"regexp"

	"google.golang.org/protobuf/encoding/protojson"

	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
	"github.com/hallmark-gate/hallmark/receipt"
	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// maxGrantsFile bounds a file of grants in bytes.
const maxGrantsFile = 1 << 20

// grants reads files of grants, each a list of the API's Grant as JSON, or an object with
// the one member grants.
func (in *inputs) grants(flag string, names []string) ([]*hallmarkv1.Grant, error) {
	var out []*hallmarkv1.Grant
	for _, name := range names {
		raw, err := in.read(flag, name, maxGrantsFile)
		if err != nil {
			return nil, err
		}
		more, err := parseGrants(raw)
		if err != nil {
			return nil, fileFault(flag, name, err)
		}
		out = append(out, more...)
	}
	return out, nil
}

// parseGrants is strict: a member that is misspelt would be a grant for less than its
// author thinks, or for more.
func parseGrants(raw []byte) ([]*hallmarkv1.Grant, error) {
	v, err := strictjson.Parse(raw, strictjson.Ceilings())
	if err != nil {
		return nil, fmt.Errorf("is not strict JSON: %w", err)
	}
	if v.Kind() == strictjson.Object && v.Len() == 1 {
		v = v.Member("grants")
	}
	if v.Kind() != strictjson.Array {
		return nil, errors.New(`is neither a list of grants nor an object with the one member "grants"`)
	}
	var out []*hallmarkv1.Grant
	for i, element := range v.Elements() {
		g := &hallmarkv1.Grant{}
		if element.Kind() != strictjson.Object {
			return nil, fmt.Errorf("grant %d is not an object", i+1)
		}
		if err := protojson.Unmarshal(asMessage(raw, element), g); err != nil {
			return nil, fmt.Errorf("grant %d: %s", i+1, protoFault(err))
		}
		out = append(out, g)
	}
	return out, nil
}

// asMessage is the text of a grant in raw with the values of its scopes as the API has
// them, also where they stand as a list alone, as in the cases of contracts.
func asMessage(raw []byte, grant strictjson.Value) []byte {
	var out []byte
	at := grant.Offset()
	for _, scope := range grant.Member("scopes").Elements() {
		values := scope.Member("values")
		if values.Kind() != strictjson.Array {
			continue
		}
		out = append(append(out, raw[at:values.Offset()]...), `{"values":`...)
		out = append(append(out, raw[values.Offset():values.End()]...), '}')
		at = values.End()
	}
	return append(out, raw[at:grant.End()]...)
}

var protoPlace = regexp.MustCompile(`^proto:[\s\x{A0}]*(?:syntax error[\s\x{A0}]*)?(?:\(line \d+:\d+\):\s*)?`)

// protoFault is what protojson says, without the place in a text that nobody has seen.
func protoFault(err error) string { return protoPlace.ReplaceAllString(err.Error(), "") }

// grantOf is a grant as a token holds it.
func grantOf(g *hallmarkv1.Grant) receipt.Grant {
	out := receipt.Grant{ID: g.GetId(), Tool: g.GetTool(), MaxUses: g.GetMaxUses(), Unlimited: g.GetUnlimitedUses()}
	if g.GetNotAfter() != nil {
		out.NotAfter = g.GetNotAfter().AsTime()
	}
	for _, s := range g.GetScopes() {
		out.Scopes = append(out.Scopes, receipt.Scope{Name: s.GetName(), Values: s.GetValues().GetValues(), Any: s.GetAny()})
	}
	return out
}
