package gate

import (
	"context"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/contract"
)

// dropping is a set whose one tool drops what its vendor adds.
func dropping(t testing.TB) *Set {
	t.Helper()
	return oneTool(t, closedA, func(c *contract.Contract) {
		c.Owner, c.Digest = "owner", "digest"
		c.Result.Adapter = &contract.Adapter{
			Schema: parsed("v.json", `{"type":"object","properties":{"b":{"type":"string"}}}`),
			Fields: []contract.AdapterField{{Member: "a", Expr: "upstream.b"}},
			Watch:  contract.WatchDrop,
		}
	})
}

// D8: one alert for each tool, version and hour, and every reply in the records.
func TestAlerts(t *testing.T) {
	now := time.Date(2026, 1, 15, 12, 59, 59, 0, time.UTC)
	store := &memory{}
	var got []Alert
	g := New(store, func() time.Time { return now }, WithAlerts(func(a Alert) { got = append(got, a) }))
	g.Publish(dropping(t))
	send := func(raw string) {
		t.Helper()
		if _, err := g.Validate(context.Background(), local, decision, callWith(raw)); err != nil {
			t.Fatal(err)
		}
	}
	send(`{"b":"x"}`)
	if len(got) != 0 || store.records[0].Signals["unnamed_members"] != 0 {
		t.Fatal("an alert about nothing", got)
	}
	send(`{"b":"x","SECRET":1,"more":{"deep":2}}`)
	send(`{"b":"x","SECRET":1}`)
	now = now.Add(time.Second)
	send(`{"b":"refused","SECRET":1}`) // dropped all the same
	now = now.Add(-time.Second)        // a clock that is set back
	send(`{"b":"x","SECRET":1}`)
	hour := time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)
	want := []Alert{
		{Tool: "t", Version: 1, Owner: "owner", ContractDigest: "digest", Hour: hour, Dropped: 2},
		{Tool: "t", Version: 1, Owner: "owner", ContractDigest: "digest", Hour: hour.Add(time.Hour), Dropped: 1},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	var counted []uint64
	for _, r := range store.records {
		counted = append(counted, r.Signals["unnamed_members"])
		if strings.Contains(strings.Join([]string{r.Rejection.InstancePath, r.Rejection.Detail}, " "), "SECRET") {
			t.Errorf("%+v", r)
		}
	}
	if !reflect.DeepEqual(counted, []uint64{0, 2, 1, 1, 1}) {
		t.Errorf("signals %v", counted)
	}
}

// D4: what is not on record raises no alert.
func TestNoAlertWithoutRecord(t *testing.T) {
	g := New(&memory{refuse: audit.ErrFull}, nil, WithAlerts(func(Alert) { t.Error("an alert") }))
	g.Publish(dropping(t))
	if _, err := g.Validate(context.Background(), local, decision, callWith(`{"b":"x","c":1}`)); err == nil {
		t.Error("a reply")
	}
}

func TestAlertsTogether(t *testing.T) {
	var a alerts
	var all sync.WaitGroup
	var mu sync.Mutex
	told := 0
	for range 8 {
		all.Go(func() {
			for v := range maxAlerted + 100 {
				if _, first := a.first(alertKey{"t", v}, noon); first {
					mu.Lock()
					told++
					mu.Unlock()
				}
			}
		})
	}
	all.Wait()
	if told != maxAlerted || len(a.told) != maxAlerted {
		t.Errorf("%d alerts, %d remembered", told, len(a.told))
	}
}
