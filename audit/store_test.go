package audit

import (
	"encoding/base64"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestScope(t *testing.T) {
	names := []string{"b", "", "a", "b", "caf\xe9", "x\x00", strings.Repeat("x", 10_000)}
	for _, c := range []struct {
		name  string
		scope Scope
		sees  []string
		all   bool
	}{
		{"zero", Scope{}, nil, false},
		{"none", OnlyTenants(), nil, false},
		{"empty name", OnlyTenants(""), nil, false},
		{"some", OnlyTenants(names...), []string{"a", "b"}, false},
		{"all", AllTenants(), []string{"", "a", "b", "c", "caf\ufffd"}, true},
	} {
		for _, tenant := range []string{"", "a", "b", "c", "caf\ufffd"} {
			if got := c.scope.Sees(tenant); got != slices.Contains(c.sees, tenant) {
				t.Errorf("%s: Sees(%q) = %t", c.name, tenant, got)
			}
		}
		if c.scope.All() != c.all {
			t.Errorf("%s: All = %t", c.name, c.scope.All())
		}
		if !c.all && !slices.Equal(c.scope.Tenants(), c.sees) {
			t.Errorf("%s: Tenants = %q", c.name, c.scope.Tenants())
		}
	}
	scope := OnlyTenants("a", "b")
	scope.Tenants()[0] = "c"
	if scope.Sees("c") || !scope.Sees("a") {
		t.Error("a caller can change a scope")
	}
	if !slices.Equal(names[:4], []string{"b", "", "a", "b"}) {
		t.Error("OnlyTenants wrote to its arguments")
	}
}

// Every string of a filter goes through the same change as that of the record.
func TestFilterSanitized(t *testing.T) {
	filter := Filter{
		Since: time.Unix(1, 0), Until: time.Unix(2, 0), Tool: "t\x00", RequestID: "r\x00", SessionID: "s\x00", RPC: "p\x00",
		FailureCode: "f\x00", Reason: "n\x00", Decision: "d\x00", Tenant: "e\x00",
	}
	want := Filter{
		Since: time.Unix(1, 0), Until: time.Unix(2, 0), Tool: "t\ufffd", RequestID: "r\ufffd", SessionID: "s\ufffd", RPC: "p\ufffd",
		FailureCode: "f\ufffd", Reason: "n\ufffd", Decision: "d\ufffd", Tenant: "e\ufffd",
	}
	if got := filter.Sanitized(); got != want {
		t.Errorf("got %+v", got)
	}
}

func TestCursor(t *testing.T) {
	c := Cursor{At: time.Date(2026, 3, 1, 1, 2, 3, 456789012, time.UTC), DecisionID: "0195000a-0001-7000-8000-00000000000a"}
	scope, filter := OnlyTenants("a", "b"), Filter{Tool: "x"}
	token := c.Token(scope, filter)
	got, err := ParseCursor(token, scope, filter)
	if err != nil || !reflect.DeepEqual(got, c) {
		t.Errorf("ParseCursor = %+v, %v", got, err)
	}
	if len(token) > MaxPageToken {
		t.Errorf("token has %d bytes", len(token))
	}
	// Each field of the filter and the scope is bound.
	v := reflect.ValueOf(&filter).Elem()
	for i := range v.NumField() {
		other := filter
		switch f := reflect.ValueOf(&other).Elem().Field(i); f.Kind() {
		case reflect.String:
			f.SetString("other")
		default:
			f.Set(reflect.ValueOf(time.Unix(5, 0)))
		}
		if _, err := ParseCursor(token, scope, other); !errors.Is(err, ErrBadPageToken) {
			t.Errorf("another %s: %v", v.Type().Field(i).Name, err)
		}
	}
	for _, other := range []Scope{{}, AllTenants(), OnlyTenants("a"), OnlyTenants("ab"), OnlyTenants("true")} {
		if _, err := ParseCursor(token, other, filter); !errors.Is(err, ErrBadPageToken) {
			t.Errorf("scope %+v: %v", other, err)
		}
	}
	// Words do not run together.
	if string(binding(scope, Filter{Tool: "ab"})) == string(binding(scope, Filter{Tool: "a", RequestID: "b"})) {
		t.Error("two filters have one binding")
	}
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		t.Fatal(err)
	}
	raw[0]++
	if _, err := ParseCursor(base64.RawURLEncoding.EncodeToString(raw), scope, filter); !errors.Is(err, ErrBadPageToken) {
		t.Errorf("token of another version: %v", err)
	}
}

func FuzzParseCursor(f *testing.F) {
	scope := OnlyTenants("a")
	f.Add("")
	f.Add("AAAA")
	token := Cursor{At: time.Unix(1, 2), DecisionID: "0195000a-0001-7000-8000-00000000000a"}.Token(scope, Filter{})
	f.Add(token)
	f.Add(token + "\r\n")
	f.Fuzz(func(t *testing.T, token string) {
		c, err := ParseCursor(token, scope, Filter{})
		if err != nil {
			if !errors.Is(err, ErrBadPageToken) || c != (Cursor{}) {
				t.Errorf("%+v, %v", c, err)
			}
			return
		}
		if !isUUID(c.DecisionID) {
			t.Errorf("id %q", c.DecisionID)
		}
		if again := c.Token(scope, Filter{}); again != token {
			t.Errorf("%q is taken, and %q is written", token, again)
		}
	})
}
