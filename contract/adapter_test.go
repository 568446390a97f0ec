package contract

import (
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
)

const (
	vendorFile = jobFolder + "vendor.schema.json"
	extraFile  = jobFolder + "cases/extra-property-owner.yaml"
	allFields  = `{project_id: upstream.p, run_id: '"run_" + upstream.r', state: upstream.s, observed_at: upstream.o, trace: upstream.t, message: upstream.m}`
)

// adapted gives the good contract an adapter, on line 17, and a case that goes with it.
func adapted(adapter, vendor string, more ...change) change {
	return func(t testing.TB, m fstest.MapFS) {
		t.Helper()
		y("framing: payload", "framing: payload\n  adapter: "+adapter)(t, m)
		file(vendorFile, vendor)(t, m)
		in(extraFile, "layer: SCHEMA, reason: SCHEMA", "layer: ADAPTER, reason: ADAPTER")(t, m)
		both(more...)(t, m)
	}
}

func adapterOf(fields string) string {
	return "{schema: vendor.schema.json, watch: refuse, fields: " + fields + "}"
}

const openVendor = `{"type":"object","properties":{"p":{"type":"string"},"free":{"type":"object","additionalProperties":{"type":"string"}},"list":{"type":"array"}}}`

// A10, A18: what a contract says about its adapter, and what is wrong with that.
func TestAdapterFaults(t *testing.T) {
	good := adapterOf(allFields)
	dropping := strings.Replace(good, "refuse", "drop_and_alert", 1)
	const cases = jobFolder + "cases"
	runRows(t, []row{
		r(adapted(good, openVendor)), // a vendor's schema may be open, unbounded, and have free maps
		r(adapted(good, `{"$ref":"sub/v.json"}`, file(jobFolder+"sub/v.json", openVendor))),
		r(adapted(good, `{"type":"array","items":{"type":"object"}}`)),
		r(adapted(good, `{"type":"object","additionalProperties":{"type":"string"}}`)),
		r(adapted(good, `{"type":"object"}`), vendorFile+":1:1: the vendor's schema names no member"),
		r(adapted(good, `true`), vendorFile+":1:1: the vendor's schema names no member"),

		// The other rules for schemas hold for a vendor's too.
		r(adapted(good, `{"type":"object","propertees":{"p":true}}`), vendorFile+":1:31: propertees"),
		r(adapted(good, `{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"p":true}}`), vendorFile+":1:12: another dialect"),
		r(adapted(good, `{"properties":{"p":{"format":"hostnames"}}}`), vendorFile+":1:30: format"),
		r(adapted(good, `{"properties":{"p":{"pattern":"(?=a)"}}}`), vendorFile+":1:31: pattern"),
		r(adapted(good, `{"properties":{"p":{"pattern":"^\\s$"}}}`), vendorFile+":1:31: pattern"),
		r(adapted(good, `{"properties":{"p":{"$ref":"../../x.json"}}}`), vendorFile+":1:28: $ref"),
		r(adapted(good, `{"$ref":"#"}`), vendorFile+":1:9: leads back to itself"),
		r(adapted(good, `{"properties":{"p":true},"properties":{}}`), vendorFile+":1:26: "),

		// What stands in the contract.
		r(adapted("{}", openVendor), ":17:12: result.adapter.fields is missing", ":17:12: result.adapter.schema is missing", ":17:12: result.adapter.watch is missing"),
		r(adapted("[]", openVendor), ":17:12: result.adapter: expected a mapping, found a list"),
		r(adapted(strings.Replace(good, "vendor.", "other.", 1), openVendor), `:17:21: there is no file "other.schema.json"`),
		r(adapted(strings.Replace(good, "refuse", "drop", 1), openVendor), `:17:48: "drop" is not one of drop_and_alert, refuse`),
		r(adapted(strings.Replace(good, "watch", "wtach", 1), openVendor), ":17:12: result.adapter.watch is missing", `:17:41: unknown key "wtach"`),
		r(adapted(adapterOf("{}"), openVendor), ":17:64: result.adapter.fields is empty"),
		r(adapted(adapterOf("[a]"), openVendor), ":17:64: result.adapter.fields: expected a mapping"),
		r(adapted(strings.Replace(good, "upstream.p", "5", 1), openVendor), ":17:77: result.adapter.fields[project_id]: expected a string, found a number (quote it)"),
		r(adapted(strings.Replace(good, "upstream.p", `""`, 1), openVendor), ":17:77: result.adapter.fields[project_id] is empty"),
		r(adapted(strings.Replace(good, "run_id", "project_id", 1), openVendor), ":17:64: result.adapter.fields: the required member \"run_id\" is made by no field", `:17:89: "project_id" is given twice`),
		r(adapted(strings.Replace(good, "state: upstream.s, ", "", 1), openVendor), ":17:64: result.adapter.fields: the required member \"state\" is made by no field"),
		r(adapted(strings.Replace(good, "message:", "mesage:", 1), openVendor), `:17:183: the payload's schema knows no member "mesage" (did you mean message?)`),
		r(adapted(good, openVendor, in(jobFolder+"result.schema.json", `"additionalProperties": false`, `"additionalProperties": false, "maxProperties": 9`))),

		// The cases that it must have.
		r(adapted(good, openVendor, in(extraFile, "layer: ADAPTER, reason: ADAPTER", "layer: SCHEMA, reason: SCHEMA")),
			extraFile+":7:7: does not show what extra-property- promises; expected want.reason: ADAPTER"),
		r(adapted(dropping, openVendor), extraFile+":7:7: expected want.data, without the member"),
		r(adapted(dropping, openVendor, drop(extraFile), file(cases+"/extra-property-x.yaml",
			"why: Dropped.\nnow: \"2026-01-15T12:00:00Z\"\nraw: '{}'\nwant: {data: {a: 1}}\n"))),
		r(adapted(good, openVendor, in(cases+"/null-for-object-root.yaml", "layer: SCHEMA, reason: SCHEMA", "layer: ADAPTER, reason: ADAPTER"))),
		r(in(cases+"/null-for-object-root.yaml", "layer: SCHEMA, reason: SCHEMA", "layer: ADAPTER, reason: ADAPTER"),
			cases+"/null-for-object-root.yaml:7:7: does not show what null-for-object- promises"),
	})
}

// What is read is what stands there, in its order.
func TestAdapterRead(t *testing.T) {
	m := good(t)
	adapted(adapterOf(allFields), openVendor)(t, m)
	a := mustLoad(t, m).Contracts[0].Result.Adapter
	want := []AdapterField{
		{"project_id", "upstream.p", 17, 77},
		{"run_id", `"run_" + upstream.r`, 17, 97},
		{"state", "upstream.s", 17, 127},
		{"observed_at", "upstream.o", 17, 152},
		{"trace", "upstream.t", 17, 171},
		{"message", "upstream.m", 17, 192},
	}
	if a.Watch != WatchRefuse || a.Schema.File != "vendor.schema.json" || !reflect.DeepEqual(a.Fields, want) {
		t.Errorf("%+v", a)
	}
}

// An adapter makes an object, out of JSON.
func TestAdapterElsewhere(t *testing.T) {
	l := newSchemaLinter(&Contract{Result: Result{Adapter: &Adapter{Fields: []AdapterField{{Member: "a"}}}}}, schemaOf(t, here(), `{"type":"string"}`))
	l.adapter()
	wantFaults(t, here(), l.done(), []string{"an adapter makes an object"})

	d := &draft{source: &source{file: contractFile}, contract: &Contract{Result: Result{Kind: KindCommand, Adapter: &Adapter{}}}}
	d.lintAdapter()
	wantFaults(t, here(), d.faults, []string{"an adapter of a result of kind command"})
}
