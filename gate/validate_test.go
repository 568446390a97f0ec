package gate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/validators"
	"github.com/hallmark-gate/hallmark/validators/semantic"
	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// memory is a store that keeps what it is given, or refuses it.
type memory struct {
	audit.Store // whatever the gate does not need panics
	records     []audit.Record
	refuse      error
}

func (m *memory) Append(_ context.Context, e audit.Entry) (audit.Outcome, error) {
	if m.refuse != nil {
		return audit.Outcome{}, m.refuse
	}
	m.records = append(m.records, e.Record)
	return audit.Outcome{}, nil
}

const decision = "01900000-0000-7000-8000-000000000001"

var local = Caller{Tenant: "local", Name: "local"}

const closedA = `{"type":"object","additionalProperties":false,"required":["a"],"properties":{"a":{"enum":["x"]}}}`

func newGate(t testing.TB, store audit.Store) *Gate {
	t.Helper()
	g := New(store, func() time.Time { return noon })
	g.Publish(oneTool(t, closedA, func(c *contract.Contract) {
		c.Owner = "owner"
		c.Retention = contract.Retention{Accepted: "hash", Rejected: "hash"}
		c.Retry = &contract.Retry{MaxAttempts: 3, Budget: time.Minute, Delay: time.Second, On: []contract.FailureCode{contract.UpstreamUnavailable}}
	}))
	return g
}

func callWith(raw string) Call {
	return Call{Request: Request{Tool: "t", RequestID: "req.A1b2C3d4", SessionID: "s1"}, Raw: []byte(raw)}
}

func TestTheRecordComesFirst(t *testing.T) { // D4, A21
	store := &memory{}
	g := newGate(t, store)
	reply, err := g.Validate(context.Background(), local, decision, callWith(`{"a":"x"}`))
	if err != nil || reply.Result.Data == nil {
		t.Fatalf("%+v %v", reply, err)
	}
	if len(store.records) != 1 {
		t.Fatalf("%d records", len(store.records))
	}
	r := store.records[0]
	if r.DecisionID != decision || reply.DecisionID != decision || r.ContractsDigest != reply.ContractsDigest || r.RPC != "validate" ||
		r.Tool != "t" || r.ContractVersion != 1 || r.Owner != "owner" || r.RequestID != "req.A1b2C3d4" || r.SessionID != "s1" ||
		r.Tenant != "local" || r.RawBytes != 9 || r.OutputBytes != 9 || r.Attempt != 1 || !r.At.Equal(noon) || len(r.RawDigest) != 64 {
		t.Errorf("%+v", r)
	}
	for _, refuse := range []error{audit.ErrUnavailable, audit.ErrFull, errors.New("anything")} {
		store.refuse = refuse
		reply, err := g.Validate(context.Background(), local, decision, callWith(`{"a":"x"}`))
		if !errors.Is(err, refuse) || !reflect.DeepEqual(reply, Reply{}) {
			t.Errorf("a reply without a record: %+v %v", reply, err)
		}
	}
}

func TestRejectionIsForOperatorsOnly(t *testing.T) { // A17
	g := newGate(t, &memory{})
	for _, operator := range []bool{false, true} {
		caller := local
		caller.Operator = operator
		reply, err := g.Validate(context.Background(), caller, decision, callWith(`{"a":"y"}`))
		if err != nil || (reply.Rejection != nil) != operator {
			t.Errorf("operator %v: %+v %v", operator, reply.Rejection, err)
		}
	}
}

func TestThisReplicaCountsAttempts(t *testing.T) { // A19
	store := &memory{}
	g := newGate(t, store)
	call := callWith("")
	call.Raw, call.Upstream.Status = nil, Status{Kind: StatusTransport, Transport: contract.TransportConnect}
	call.Request.IssuedAt = noon
	var allowed []bool
	for range 4 {
		reply, err := g.Validate(context.Background(), local, decision, call)
		if err != nil {
			t.Fatal(err)
		}
		allowed = append(allowed, reply.Retry.Allowed)
	}
	if want := []bool{true, true, false, false}; !reflect.DeepEqual(allowed, want) {
		t.Errorf("a caller that does not count may retry %v, want %v", allowed, want)
	}
	if got := store.records[3].Attempt; got != 4 {
		t.Errorf("attempt %d is recorded, want 4", got)
	}
	other := call
	other.Request.SessionID = "s2"
	if reply, _ := g.Validate(context.Background(), local, decision, other); !reply.Retry.Allowed {
		t.Error("another session's attempts count")
	}
}

func TestMalformedCalls(t *testing.T) {
	for _, row := range []struct {
		line   string
		change func(*Call)
		field  string
	}{
		{"no payload and no reason", func(c *Call) { c.Raw = nil }, "payload"},
		{"no payload after a success", func(c *Call) { c.Raw, c.Upstream.Status = nil, Status{Kind: StatusHTTP, Code: 200} }, "payload"},
		{"arguments that are no JSON", func(c *Call) { c.Request.ArgumentsJSON = "{" }, "request.arguments_json"},
		{"arguments with a duplicate name", func(c *Call) { c.Request.ArgumentsJSON = `{"SECRET":1,"SECRET":2}` }, "request.arguments_json"},
		{"arguments that are no object", func(c *Call) { c.Request.ArgumentsJSON = `["SECRET"]` }, "request.arguments_json"},
	} {
		t.Run(row.line, func(t *testing.T) {
			store := &memory{}
			call := callWith(`{"a":"x"}`)
			row.change(&call)
			_, err := newGate(t, store).Validate(context.Background(), local, decision, call)
			var malformed *CallError
			if !errors.As(err, &malformed) || malformed.Field != row.field || strings.Contains(err.Error(), "SECRET") {
				t.Errorf("%v", err)
			}
		})
	}
	empty := callWith("")
	empty.Raw = []byte{}
	if reply, err := newGate(t, &memory{}).Validate(context.Background(), local, decision, empty); err != nil || reply.Result.Failure == nil {
		t.Errorf("empty bytes are a payload: %v", err)
	}
}

type panicking struct{}

func (panicking) Read(raw []byte, _ strictjson.Limits) (strictjson.Value, *validators.Rejection) {
	panic("the payload is " + string(raw))
}

func TestAPanicCostsOneCall(t *testing.T) { // case 143
	registry, err := validators.NewRegistry(semantic.Builtins())
	if err != nil {
		t.Fatal(err)
	}
	if err := registry.RegisterReader("t", 1, panicking{}); err != nil {
		t.Fatal(err)
	}
	c := oneTool(t, closedA, nil).Tools()[0].Contract
	set, err := NewLoader(registry).CompileTree(&contract.Tree{Contracts: []*contract.Contract{c}, Current: map[string]int{"t": 1}})
	if err != nil {
		t.Fatal(err)
	}
	store := &memory{}
	g := newGate(t, store)
	g.Publish(set)
	reply, err := g.Validate(context.Background(), local, decision, callWith("SECRET"))
	var panicked *PanicError
	if !errors.As(err, &panicked) || panicked.Kind != "string" || len(panicked.Stack) == 0 || !reflect.DeepEqual(reply, Reply{}) {
		t.Fatalf("%+v %v", reply, err)
	}
	if strings.Contains(err.Error(), "SECRET") || bytes.Contains(panicked.Stack, []byte("SECRET")) {
		t.Error("the payload is in the error")
	}
	if len(store.records) != 1 || store.records[0].Rejection.Layer != "INTERNAL" {
		t.Errorf("the record is %+v", store.records)
	}
}

func TestEndedContextsDoNoWork(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	store := &memory{}
	if _, err := newGate(t, store).Validate(ctx, local, decision, callWith(`{"a":"x"}`)); !errors.Is(err, context.Canceled) || len(store.records) != 0 {
		t.Errorf("%v, %d records", err, len(store.records))
	}
	if _, err := New(store, nil).Validate(context.Background(), local, decision, callWith("1")); !errors.Is(err, ErrNoContracts) {
		t.Errorf("%v", err)
	}
}

// No value of a payload, whatever it is, stands in a record, a refusal or an error.
// B11, A17
func TestNothingOfThePayloadIsRecorded(t *testing.T) {
	const marker = "MARKERVALUE"
	for i, raw := range []string{
		`{"a":"` + marker + `"}`, `"` + marker + `"`, `["` + marker + `"]`, marker, `{"a":"x"}` + marker,
		`{"a":["` + marker + `"]}`, `{"a":{"b":"` + marker + `","b":"` + marker + `"}}`, "{\"a\":\"" + marker + "\xff\"}",
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			store := &memory{}
			caller := local
			caller.Operator = true
			reply, err := newGate(t, store).Validate(context.Background(), caller, decision, callWith(raw))
			if err != nil {
				t.Fatal(err)
			}
			said, _ := json.Marshal([]any{reply, store.records})
			if bytes.Contains(said, []byte(marker)) {
				t.Errorf("%s", said)
			}
		})
	}
}

func TestTwoRunsAgree(t *testing.T) {
	set := oneTool(t, closedA, nil)
	for _, raw := range []string{`{"a":"x"}`, `{"a":"y"}`, `{"b":1,"c":2,"d":[]}`, `[`} {
		if a, b := judgeRaw(t, set, raw), judgeRaw(t, set, raw); !reflect.DeepEqual(a, b) {
			t.Errorf("%s: %+v, then %+v", raw, a, b)
		}
	}
}
