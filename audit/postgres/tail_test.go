package postgres

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/hallmark-gate/hallmark/audit"
	"github.com/hallmark-gate/hallmark/audit/audittest"
)

// insertLate inserts a record in a transaction that commits when commit is called.
func insertLate(t *testing.T, dsn string, n int) (commit func()) {
	t.Helper()
	c := connect(t, dsn)
	tx, err := c.Begin(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	row, err := encode(audittest.Record(n))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := insert(context.Background(), tx, []*job{{row: row}}); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := errors.Join(tx.Commit(context.Background()), c.Close(context.Background())); err != nil {
			t.Error(err)
		}
	}
}

func mustMark(t *testing.T, s *Store, id string) string {
	t.Helper()
	m, err := s.Mark(t.Context(), audit.AllTenants(), id)
	if err != nil || len(m) > audit.MaxPageToken {
		t.Fatalf("Mark(%q) = %q, %v", id, m, err)
	}
	return m
}

// tailAll goes on from a mark until nothing comes, and returns the numbers in their order.
func tailAll(t *testing.T, s *Store, token string) (ids []string, next string) {
	t.Helper()
	for {
		records, next, err := s.Tail(t.Context(), audit.AllTenants(), audit.Filter{}, token, 2)
		if err != nil {
			t.Fatalf("Tail: %v", err)
		}
		if len(records) == 0 {
			return ids, next
		}
		for _, r := range records {
			ids = append(ids, r.DecisionID)
		}
		token = next
	}
}

// Transactions that end out of order: nothing is missed, nothing comes twice, and nothing
// comes that was durable before the mark.
func TestTailLongTransaction(t *testing.T) {
	dsn := database(t, server(t))
	s := mustOpen(t, dsn, Options{})
	must := func(n int) {
		t.Helper()
		if err := appendRecord(t.Context(), s, audittest.Record(n)); err != nil {
			t.Fatal(err)
		}
	}
	ids := func(numbers ...int) (out []string) {
		for _, n := range numbers {
			out = append(out, audittest.ID(n))
		}
		return out
	}
	want := func(what string, got []string, numbers ...int) {
		t.Helper()
		if !slices.Equal(got, ids(numbers...)) {
			t.Errorf("%s: met %v, want %v", what, got, numbers)
		}
	}
	must(1)
	start := mustMark(t, s, "")
	first := insertLate(t, dsn, 2) // runs on
	must(3)                        // ends before it
	during := mustMark(t, s, "")   // 3 is durable, 2 is not
	second := insertLate(t, dsn, 4)
	must(5)

	began := time.Now()
	got, next := tailAll(t, s, start)
	want("while 2 runs", got) // 3 and 5 may yet be overtaken
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("an empty tail took %s", took)
	}
	first()
	got, next = tailAll(t, s, next)
	want("2 has ended, 4 runs", got, 2, 3)
	second()
	got, _ = tailAll(t, s, next)
	want("all have ended", got, 4, 5)

	got, _ = tailAll(t, s, start)
	want("from the start", got, 2, 3, 4, 5)
	got, _ = tailAll(t, s, during)
	want("from the mark beside 2", got, 2, 4, 5)
	got, _ = tailAll(t, s, mustMark(t, s, audittest.ID(2)))
	want("from the record 2", got, 3, 4, 5)
	closeStore(t, s)
}

// More running transactions than a mark can name: some records are met that were there
// before, and none is missed.
func TestMarkOverflow(t *testing.T) {
	m, err := now("1000:900000:" + func() string {
		text := "1000"
		for n := range 200 {
			text += "," + itoa(2000+n*1000)
		}
		return text
	}())
	if err != nil || len(m.open) != 201 {
		t.Fatal(m, err)
	}
	if _, fits := m.token(); fits {
		t.Error("201 transactions fit: nothing is proved")
	}
	token, fits := mark{xid: m.xid}.token()
	back, err := parseMark(token)
	if !fits || err != nil || back.next != 0 || back.xid != 1000 {
		t.Errorf("%+v, %v", back, err)
	}
}

func itoa(n int) string {
	var b []byte
	for ; n > 0; n /= 10 {
		b = append([]byte{byte('0' + n%10)}, b...)
	}
	return string(b)
}

func TestMarkToken(t *testing.T) {
	for _, snapshot := range []string{"7:7:", "7:9:7", "7:9:8,7", "7:300:7,200,201,299", "9223372036854775000:9223372036854775807:9223372036854775000"} {
		m, err := now(snapshot)
		if err != nil {
			t.Fatal(err)
		}
		token, fits := m.token()
		back, err := parseMark(token)
		if err != nil || !fits || back.xid != m.xid || back.next != m.next || !slices.Equal(back.open, m.open) {
			t.Errorf("%s: %+v, %v; want %+v", snapshot, back, err, m)
		}
	}
	for _, snapshot := range []string{"", "1", "1:2", "1:x:", "-1:2:", "1:2:x", "1:2:3:4", "99999999999999999999:1:"} {
		if m, err := now(snapshot); err == nil {
			t.Errorf("%q gave %+v", snapshot, m)
		}
	}
}

// A mark of another server, or of this one before it was made anew, is refused rather than
// silent for years.
func TestMarkOfFuture(t *testing.T) {
	s := mustOpen(t, database(t, server(t)), Options{})
	for _, m := range []mark{{xid: 1 << 60, seq: 5}, {xid: 3, next: 1 << 60}} {
		token, _ := m.token()
		if _, _, err := s.Tail(t.Context(), audit.AllTenants(), audit.Filter{}, token, 1); !errors.Is(err, audit.ErrBadPageToken) {
			t.Errorf("Tail from %+v = %v, want ErrBadPageToken", m, err)
		}
	}
	closeStore(t, s)
}

func FuzzParseMark(f *testing.F) {
	f.Add("")
	f.Add("AQAAAAAAAAaJAAAAAAAAAAAAAAAAAAAGiQA")
	for _, m := range []mark{{}, {xid: 5, seq: 6}, {xid: 5, next: 9, open: []uint64{5, 8}}} {
		token, _ := m.token()
		f.Add(token)
		f.Add(token[:4] + "\n" + token[4:])
	}
	f.Fuzz(func(t *testing.T, token string) {
		m, err := parseMark(token)
		if err != nil {
			if !errors.Is(err, audit.ErrBadPageToken) {
				t.Error(err)
			}
			return
		}
		if !slices.IsSorted(m.open) || (len(m.open) > 0 && (m.open[0] < m.xid || m.open[len(m.open)-1] > m.next)) {
			t.Errorf("%+v", m)
		}
		again, _ := m.token()
		if len(again) != len(token) {
			t.Errorf("%q is taken, and %q is written", token, again)
		}
		if back, err := parseMark(again); err != nil || back.xid != m.xid || back.seq != m.seq || !slices.Equal(back.open, m.open) {
			t.Errorf("%+v, %v; want %+v", back, err, m)
		}
	})
}
