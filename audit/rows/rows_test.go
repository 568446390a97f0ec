package rows

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/audit/audittest"
)

// A record comes back as it was, and its columns hold what their names say.
func TestRow(t *testing.T) {
	names := strings.Split(Names, ", ")
	if len(names) != Count {
		t.Fatalf("%d names of %d columns", len(names), Count)
	}
	for _, rec := range []audit.Record{audittest.Full(1), audittest.Record(2), {DecisionID: audittest.ID(3), At: time.Unix(0, 0).UTC()}} {
		rec.Sanitize()
		r := Encode(rec)
		got, err := r.Decode()
		if err != nil || !reflect.DeepEqual(got, rec) {
			t.Errorf("got %+v, %v\nwant %+v", got, err, rec)
		}
		want := map[string]string{
			"rpc": rec.RPC, "tenant": rec.Tenant, "tool": rec.Tool, "request_id": rec.RequestID, "session_id": rec.SessionID,
			"failure_code": rec.FailureCode, "reason": rec.Rejection.Reason, "decision": rec.Decision,
			"arguments_digest": rec.ArgumentsDigest, "delivered": rec.Delivered,
		}
		for i, name := range names {
			if value, known := want[name]; !known || r.Columns[i] != value {
				t.Errorf("%s holds %q, want %q", name, r.Columns[i], value)
			}
		}
		if r.Tenant() != rec.Tenant {
			t.Errorf("Tenant = %q", r.Tenant())
		}
	}
}

func TestDamage(t *testing.T) {
	for rest, why := range map[string]string{"": "too large", "[]": "no object", "null": "no object", `{"a"`: "cannot be read", `{"attempt":"x"}`: "cannot be read"} {
		r := Row{DecisionID: strings.Repeat("\x1b", 100), Rest: rest}
		_, err := r.Decode()
		if !errors.Is(err, audit.ErrDamaged) || !strings.Contains(err.Error(), why) || strings.Contains(err.Error(), "\x1b") || len(err.Error()) > 400 {
			t.Errorf("%q: %v", rest, err)
		}
	}
	for rest, damaged := range map[string]bool{"": true, `{"receipt_id":"r"}`: false, `{"receipt_id"`: true} {
		n, err := Newest("id", rest)
		if errors.Is(err, audit.ErrDamaged) != damaged || !damaged && (err != nil || n != audit.Newest{DecisionID: "id", ReceiptID: "r"}) {
			t.Errorf("%q: %+v, %v", rest, n, err)
		}
	}
}

// A page ends before the row that is one too many, in number or in bytes, but holds one at
// least; damaged rows count.
func TestPage(t *testing.T) {
	row := func(n, bytes int) *Row {
		r := Encode(audittest.Record(n))
		r.Rest = `{"source":"` + strings.Repeat("x", bytes) + `"}`
		return &r
	}
	bad := &Row{DecisionID: audittest.ID(9), Rest: "[]"}
	const huge = audit.MaxPageBytes
	for i, c := range []struct {
		rows []*Row
		size int
		took int
	}{
		{[]*Row{row(1, 1), row(2, 1)}, 2, 2},
		{[]*Row{row(1, 1), row(2, 1), row(3, 1)}, 2, 2},
		{[]*Row{row(1, 1), bad, row(3, 1)}, 2, 2},
		{[]*Row{row(1, huge), row(2, 1)}, 9, 1},
		{[]*Row{row(1, huge/2), row(2, huge/2), row(3, 1)}, 9, 1},
		{[]*Row{row(1, huge/4), row(2, huge/4), row(3, huge)}, 9, 2},
	} {
		var p Page
		took := 0
		for _, r := range c.rows {
			if !p.Add(r, c.size) {
				break
			}
			took++
		}
		if took != c.took || p.More != (took < len(c.rows)) || len(p.Records)+len(p.Damage) != took {
			t.Errorf("%d: took %d, more %t, %d records, %d damaged", i, took, p.More, len(p.Records), len(p.Damage))
		}
		next := p.Next(audit.AllTenants(), audit.Filter{})
		if !p.More {
			if next != "" {
				t.Errorf("%d: after the last page comes %q", i, next)
			}
			continue
		}
		last := c.rows[took-1]
		cursor, err := audit.ParseCursor(next, audit.AllTenants(), audit.Filter{})
		if err != nil || cursor.DecisionID != last.DecisionID || cursor.At.UnixNano() != last.At {
			t.Errorf("%d: %+v, %v", i, cursor, err)
		}
	}
	for asked, want := range map[int]int{-1: audit.DefaultPageSize, 0: audit.DefaultPageSize, 1: 1, 1 << 30: audit.MaxPageSize} {
		if got := PageSize(asked); got != want {
			t.Errorf("PageSize(%d) = %d", asked, got)
		}
	}
}

// Every text of a filter is a condition on a column of its own.
func TestEqual(t *testing.T) {
	var f audit.Filter
	v := reflect.ValueOf(&f).Elem()
	var want []string
	for i := range v.NumField() {
		if v.Field(i).Kind() == reflect.String {
			v.Field(i).SetString(fmt.Sprint(i))
			want = append(want, fmt.Sprint(i))
		}
	}
	names := strings.Split(Names, ", ")
	var got []string
	for column, value := range Equal(f) {
		if i := slices.Index(names, column); i < 0 {
			t.Errorf("there is no column %s", column)
		} else {
			names[i] = ""
		}
		got = append(got, value)
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("conditions on %v, want %v", got, want)
	}
	for range Equal(audit.Filter{Since: time.Unix(1, 0)}) {
		t.Error("a filter without texts asks for one")
	}
}

func TestNanos(t *testing.T) {
	for _, c := range []struct {
		at   time.Time
		want int64
	}{
		{time.Time{}, math.MinInt64},
		{time.Unix(0, -1), -1},
		{time.Unix(0, 1), 1},
		{time.Unix(0, math.MaxInt64), math.MaxInt64},
		{time.Unix(0, math.MaxInt64).Add(1), math.MaxInt64},
		{time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), math.MaxInt64},
	} {
		if got := Nanos(c.at); got != c.want {
			t.Errorf("Nanos(%s) = %d, want %d", c.at, got, c.want)
		}
	}
}
