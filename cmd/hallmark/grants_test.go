package main

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
)

const oneGrant = `{"id":"g","tool":"mail_send","not_after":"2026-01-15T18:00:00Z","max_uses":2,"scopes":[{"name":"recipient","values":{"values":["@example.test"]}}]}`

// files are files of grants; want is a part of the fault, "" where there is none.
var files = []struct {
	line, raw string
	grants    int
	want      string
}{
	{"a list", `[` + oneGrant + `]`, 1, ""},
	{"an empty list", `[]`, 0, ""},
	{"an object", `{"grants":[` + oneGrant + `,` + oneGrant + `]}`, 2, ""},
	{"the other spelling", `[{"id":"g","tool":"t","notAfter":"2026-01-15T18:00:00Z","unlimitedUses":true}]`, 1, ""},
	{"values as a list alone", `[{"id":"g","tool":"t","unlimited_uses":true,"scopes":[{"values":["a", "]"] ,"name":"r"},{"name":"s","any":true},{"name":"n","values":[]}]},` + oneGrant + `]`, 2, ""},
	{"values of a wrong type", `[{"id":"g","scopes":[{"name":"a","values":[["x"]]}]}]`, 0, "grant 1: "},
	{"values as a text", `[{"id":"g","scopes":[{"name":"a","values":"x"}]}]`, 0, "grant 1: "},
	{"values twice", `[{"id":"g","scopes":[{"name":"a","values":["x"],"any":true}]}]`, 0, "grant 1: "},
	{"one grant, bare", oneGrant, 0, "neither a list"},
	{"an object with more", `{"grants":[],"approval":"x"}`, 0, "neither a list"},
	{"another member", `{"grant":[]}`, 0, "neither a list"},
	{"both spellings", `[{"id":"g","max_uses":1,"maxUses":2}]`, 0, "grant 1: "},
	{"a member twice", `[{"id":"g","id":"h"}]`, 0, "DUPLICATE_NAME"},
	{"an unknown member", `[` + oneGrant + `,{"id":"g","scope":[]}]`, 0, `grant 2: unknown field "scope"`},
	{"an unknown member inside", `[{"id":"g","scopes":[{"name":"a","value":"x"}]}]`, 0, `grant 1: unknown field "value"`},
	{"two kinds of uses", `[{"id":"g","max_uses":1,"unlimited_uses":true}]`, 0, "grant 1: "},
	{"a time that is none", `[{"id":"g","not_after":"tomorrow"}]`, 0, "grant 1: "},
	{"no object", `["g"]`, 0, "grant 1 is not an object"},
	{"a comment", `[] // none`, 0, "is not strict JSON"},
	{"nothing", ``, 0, "is not strict JSON"},
	{"not UTF-8", "[{\"id\":\"\xff\"}]", 0, "is not strict JSON"},
}

func TestParseGrants(t *testing.T) {
	for _, tt := range files {
		t.Run(tt.line, func(t *testing.T) {
			got, err := parseGrants([]byte(tt.raw))
			switch {
			case tt.want == "" && err != nil:
				t.Error(err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("got %v, want %q", err, tt.want)
			case len(got) != tt.grants:
				t.Errorf("%d grants", len(got))
			}
		})
	}
}

func FuzzParseGrants(f *testing.F) {
	for _, tt := range files {
		f.Add([]byte(tt.raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		grants, err := parseGrants(raw)
		if err != nil && grants != nil {
			t.Error("a fault, and grants")
		}
		for _, g := range grants {
			_ = grantOf(g)
		}
	})
}

// A grant in a token says what the grant of the API says.
func TestGrantOf(t *testing.T) {
	grants, err := parseGrants([]byte(`[` + oneGrant + `,{"id":"h","tool":"t","unlimited_uses":true,"scopes":[{"name":"a","any":true}]}]`))
	if err != nil {
		t.Fatal(err)
	}
	one, two := grantOf(grants[0]), grantOf(grants[1])
	if one.MaxUses != 2 || one.Unlimited || one.NotAfter.IsZero() || one.Scopes[0].Any || one.Scopes[0].Values[0] != "@example.test" {
		t.Errorf("%+v", one)
	}
	if !two.Unlimited || two.MaxUses != 0 || !two.NotAfter.IsZero() || !two.Scopes[0].Any || two.Scopes[0].Values != nil {
		t.Errorf("%+v", two)
	}
}

func TestReasonLine(t *testing.T) {
	for _, tt := range []struct {
		line string
		r    *hallmarkv1.Reason
		want string
	}{
		{"nothing", &hallmarkv1.Reason{}, ""},
		{"all", &hallmarkv1.Reason{
			Code: hallmarkv1.ReasonCode_REASON_CODE_OUT_OF_SCOPE, GrantId: "g", Scope: "s", Argument: "/a", RequiredTool: "t", Keyword: "k",
		}, "OUT_OF_SCOPE, grant g, scope s, argument /a, needs a fresh result of t, keyword k"},
	} {
		if got := reasonLine(tt.r); got != tt.want {
			t.Errorf("%s: %q", tt.line, got)
		}
	}
}

func TestTokenLike(t *testing.T) {
	long := strings.Repeat("a", 64)
	for _, tt := range []struct {
		line, name string
		want       bool
	}{
		{"a token", "eyJ" + long, true},
		{"a token after a line end", "\neyJ" + long, true},
		{"a file", "receipt.jws", false},
		{"a short name", "eyJ", false},
		{"a long name", long + "eyJ", false},
	} {
		if tokenLike(tt.name) != tt.want {
			t.Errorf("%s: %q", tt.line, tt.name)
		}
	}
}

// Values as cases write them are those of the API.
func TestValuesAsAList(t *testing.T) {
	list := strings.Replace(oneGrant, `{"values":["@example.test"]}`, `["@example.test"]`, 1)
	a, err1 := parseGrants([]byte(`[` + oneGrant + `]`))
	b, err2 := parseGrants([]byte(`[` + list + `]`))
	if err1 != nil || err2 != nil || !proto.Equal(a[0], b[0]) {
		t.Errorf("%v, %v: %v, %v", a, err1, b, err2)
	}
}
