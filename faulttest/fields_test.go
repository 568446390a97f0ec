package faulttest

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
)

// form is one way to hide a marker in a value.
type form struct {
	name  string
	value func(marker string) string
	seen  []string // sinks that may show it
}

// field says of a field of a request how it is tried, and where its value may be seen.
type field struct {
	forms []form   // besides everywhere
	seen  []string // sinks that may show it in the forms of everywhere
	why   string   // "" where none may
}

// everywhere are the forms for every field: as it is, with characters that no form
// allows, and longer than any bound.
var everywhere = []form{
	{name: "plain", value: func(m string) string { return m }},
	{name: "hostile", value: func(m string) string { return m + " \u202e\n\x1b[31m\"'<" + m }},
	{name: "long", value: func(m string) string { return m + strings.Repeat("a", 70_000) }},
}

// fields lists every field of a request that holds text or bytes. One that is missing
// here fails the test: whoever adds it decides where it may be seen.
var fields = map[string]field{
	"ValidateRequest.request.tool": {
		seen: []string{inRecord}, why: "a name that no contract has is recorded escaped and cut, so that operators see what was asked for",
	},
	"ValidateRequest.request.request_id":     {seen: []string{inRecord, inAgent}, why: "the caller's id: recorded as it is and echoed"},
	"ValidateRequest.request.session_id":     {seen: []string{inRecord}, why: "the caller's id: recorded as it is"},
	"ValidateRequest.request.arguments_json": {forms: jsonForms},
	"ValidateRequest.request.evidence":       {forms: tokenForms},
	"ValidateRequest.request.call_id":        {},
	"ValidateRequest.raw":                    {forms: jsonForms},
	"ValidateRequest.raw_text":               {forms: jsonForms},
	"ValidateRequest.upstream.source": {
		forms: sourceForms, seen: []string{inRecord, inAgent}, why: "what is left without user info, query and fragment is the command's name, host or path",
	},
	"ValidateRequest.upstream.media_type": {forms: []form{
		{name: "parameter", value: func(m string) string { return "application/json; token=" + m }},
		{name: "subtype", value: func(m string) string { return "text/" + m }},
	}},
	"ValidateRequest.upstream.adapter": {seen: []string{inRecord}, why: "the caller's adapter: recorded as it is"},

	"AuthorizeRequest.call.tool": {
		seen: []string{inRecord}, why: "a name that no contract has is recorded escaped and cut",
	},
	"AuthorizeRequest.call.request_id": {seen: []string{inRecord, inAgent}, why: "the caller's id: recorded as it is and echoed"},
	"AuthorizeRequest.call.session_id": {seen: []string{inRecord, inReply}, why: "the caller's id: recorded as it is, and in a challenge"},
	"AuthorizeRequest.call.call_id":    {},
	"AuthorizeRequest.call.principal":  {seen: []string{inRecord, inReply}, why: "the user of the call: recorded as it is, and in a challenge"},
	"AuthorizeRequest.raw":             {forms: append(jsonForms, argumentForms...)},
	"AuthorizeRequest.raw_text":        {forms: append(jsonForms, argumentForms...)},
	"AuthorizeRequest.grants.id": {
		seen: []string{inRecord, inReply}, why: "the caller's id of a grant: which one covered the call, or why it did not",
	},
	"AuthorizeRequest.grants.tool":                 {},
	"AuthorizeRequest.grants.scopes.name":          {},
	"AuthorizeRequest.grants.scopes.values.values": {},
	"AuthorizeRequest.grant_tokens":                {forms: tokenForms},
	"AuthorizeRequest.evidence":                    {forms: tokenForms},
	"AuthorizeRequest.approval":                    {forms: tokenForms},

	"RedeemRequest.permit":    {forms: tokenForms},
	"RedeemRequest.arguments": {forms: jsonForms},
	"RedeemRequest.audience":  {},
}

// jsonForms hide a marker where JSON is expected.
var jsonForms = []form{
	{name: "value", value: func(m string) string { return `{"environment":"` + m + `","revision":"a83f19c"}` }},
	{name: "nested", value: func(m string) string { return `{"environment":{"password":"` + m + `"}}` }},
	{name: "broken", value: func(m string) string { return `{"environment":"` + m }},
	{name: "number", value: func(m string) string { return `{"environment":1e` + m + `}` }},
	{name: "deep", value: func(m string) string { return strings.Repeat("[", 500) + m }},
	{name: "bytes", value: func(m string) string { return `{"environment":"\u0000` + m + `"}` }},
}

// argumentForms hide a marker where a deploy is proposed.
var argumentForms = []form{
	{name: "allowed", value: func(m string) string { return `{"environment":"staging","revision":"` + m + `"}` }},
	{
		name: "to be approved", value: func(m string) string { return `{"environment":"production","revision":"` + m + `"}` },
		seen: []string{inReply}, // the challenge: what the approver must be shown
	},
	{
		name: "unknown name", value: func(m string) string { return `{"environment":"staging","revision":"a83f19c","` + m + `":1}` },
		seen: []string{inRecord}, // operators see which name no schema knows, escaped and cut; a reply's reasons have none
	},
	{
		name: "repeated name", value: func(m string) string { return `{"` + m + `":1,"` + m + `":2}` },
		seen: []string{inRecord},
	},
}

// sourceForms hide a marker in what must never be kept of a source.
var sourceForms = []form{
	{name: "password", value: func(m string) string { return "https://ana:" + m + "@ci.example.test/runs" }},
	{name: "user", value: func(m string) string { return "https://" + m + "@ci.example.test/runs" }},
	{name: "query", value: func(m string) string { return "https://ci.example.test/runs?token=" + m }},
	{name: "fragment", value: func(m string) string { return "https://ci.example.test/runs#" + m }},
	{name: "relative query", value: func(m string) string { return "//ci.example.test/runs?token=" + m }},
	{name: "argument", value: func(m string) string { return "deployctl --token " + m }},
	{name: "assignment", value: func(m string) string { return "TOKEN=" + m + " deployctl status" }},
	{name: "opaque", value: func(m string) string { return "mailto:ana@example.test?subject=" + m }},
	{
		name: "escaped", value: func(m string) string { return "https://ci.example.test/runs%3Ftoken=" + m + "?x" },
		seen: []string{inRecord, inAgent}, // an escaped question mark is part of the path (RFC 3986, 3.3)
	},
}

// tokenForms hide a marker in what looks like a token.
var tokenForms = []form{
	{name: "three parts", value: func(m string) string { return m + "." + m + "." + m }},
	{name: "header", value: func(m string) string { return jws(`{"alg":"EdDSA","typ":"`+m+`","kid":"`+m+`"}`, `{}`) }},
	{name: "permit", value: func(m string) string {
		return jws(`{"alg":"EdDSA","typ":"hallmark-permit+jwt","kid":"`+m+`"}`, `{"iss":"`+m+`","jti":"`+m+`"}`)
	}},
	{name: "receipt", value: func(m string) string {
		return jws(`{"alg":"HS256","typ":"hallmark-receipt+jwt","kid":"k"}`, `{"iss":"hallmark","sub":"`+m+`","data":"`+m+`"}`)
	}},
	{name: "grant", value: func(m string) string {
		return jws(`{"alg":"EdDSA","typ":"hallmark-grant+jwt","kid":"k"}`, `{"iss":"`+m+`","grants":[{"id":"`+m+`"}]}`)
	}},
}

func jws(header, claims string) string {
	encode := base64.RawURLEncoding.EncodeToString
	return encode([]byte(header)) + "." + encode([]byte(claims)) + "." + encode(make([]byte, 64))
}

// path leads to a field through messages; lists are entered at their first element.
type path []protoreflect.FieldDescriptor

// String is the path as fields names it, without the request's own name.
func (p path) String() string {
	names := make([]string, len(p))
	for i, f := range p {
		names[i] = string(f.Name())
	}
	return strings.Join(names, ".")
}

// paths returns every field of text or bytes below a message.
func paths(t *testing.T, m protoreflect.MessageDescriptor, to path) []path {
	t.Helper()
	var out []path
	for i := range m.Fields().Len() {
		f := m.Fields().Get(i)
		here := append(to[:len(to):len(to)], f)
		switch {
		case f.IsMap():
			t.Errorf("%s %s is a map, which nobody has decided about", m.Name(), here)
		case f.Kind() == protoreflect.StringKind, f.Kind() == protoreflect.BytesKind:
			out = append(out, here)
		case f.Message() != nil && f.Message().ParentFile().Package() == m.ParentFile().Package():
			out = append(out, paths(t, f.Message(), here)...)
		}
	}
	return out
}

// plant sets the field of a request that a path leads to; of a list, a new element.
func plant(m protoreflect.Message, p path, value string) {
	f := p[0]
	if len(p) > 1 {
		if !f.IsList() {
			plant(m.Mutable(f).Message(), p[1:], value)
			return
		}
		list := m.Mutable(f).List()
		if list.Len() == 0 {
			list.AppendMutable()
		}
		plant(list.Get(0).Message(), p[1:], value)
		return
	}
	v := protoreflect.ValueOfString(value)
	if f.Kind() == protoreflect.BytesKind {
		v = protoreflect.ValueOfBytes([]byte(value))
	}
	if f.IsList() {
		m.Mutable(f).List().Append(v)
		return
	}
	m.Set(f, v)
}

// requests are the messages whose fields are walked.
func requests() []proto.Message {
	return []proto.Message{&hallmarkv1.ValidateRequest{}, &hallmarkv1.AuthorizeRequest{}, &hallmarkv1.RedeemRequest{}}
}

// Every field of every request has a row, and every row a field.
func TestSecretsFields(t *testing.T) {
	known := map[string]bool{}
	for _, request := range requests() {
		d := request.ProtoReflect().Descriptor()
		for _, p := range paths(t, d, nil) {
			name := fmt.Sprintf("%s.%s", d.Name(), p)
			known[name] = true
			if _, ok := fields[name]; !ok {
				t.Errorf("%s has no row in fields: decide where its value may be seen", name)
			}
		}
	}
	for name := range fields {
		if !known[name] {
			t.Errorf("%s is no field of a request", name)
		}
	}
}
