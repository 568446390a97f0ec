package main

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"google.golang.org/protobuf/encoding/protojson"

	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
)

// idOf sets $ID to the decision id of the newest event of a request: idof ADDR REQUEST.
func idOf(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: idof ADDR REQUEST")
	}
	ts.Check(ts.Exec("hallmark", "audit", "list", "--addr", args[0], "--request", args[1], "--limit", "1", "--output", "json"))
	found := regexp.MustCompile(`"decisionId": *"([^"]+)"`).FindStringSubmatch(ts.ReadFile("stdout"))
	if found == nil {
		ts.Fatalf("no event of %s: %s", args[1], ts.ReadFile("stdout"))
	}
	ts.Setenv("ID", found[1])
}

// wild is text that a terminal would act on.
const wild = "x\x1b[31m\u202e\u009b2J\n\tz\U000e0041"

// wildEvent has it in every string that a record can have.
func wildEvent() *hallmarkv1.Event {
	r := &hallmarkv1.Rejection{
		Layer: hallmarkv1.Layer_LAYER_SCHEMA, Reason: hallmarkv1.RejectionReason_REJECTION_REASON_SCHEMA,
		InstancePath: wild, SchemaPath: wild, Keyword: wild, Check: wild, Detail: wild,
	}
	return &hallmarkv1.Event{
		DecisionId: wild, Rpc: "validate", Tenant: wild, Caller: wild, Tool: wild, ContractDigest: wild,
		ContractsDigest: wild, Owner: wild, RequestId: wild, SessionId: wild, CallIdDigest: wild,
		Principal: wild, ArgumentsDigest: wild, Source: wild, Adapter: wild, MediaType: wild,
		UpstreamStatus: wild, RawDigest: wild, OriginalKept: true, Rejection: r,
		MoreRejections: []*hallmarkv1.Rejection{r}, GrantIds: []string{wild}, EvidenceIds: []string{wild},
		ReceiptId: wild, PermitId: wild, Signals: map[string]uint64{wild: 2},
		Reasons: []*hallmarkv1.Reason{{GrantId: wild, Scope: wild, Argument: wild, RequiredTool: wild, Keyword: wild}},
	}
}

// B11: nothing of a record acts on the terminal of whoever reads it, however it is read.
func TestNothingActsOnTheTerminal(t *testing.T) {
	for _, rpc := range []string{"validate", "authorize", "redeem", wild} {
		e := wildEvent()
		e.Rpc = rpc
		var out bytes.Buffer
		table := newEventTable(&out, false)
		table.add(e)
		if err := table.flush(); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(out.String(), "\n"); n != 1 {
			t.Errorf("%q: a row of %d lines: %q", rpc, n, out.String())
		}
		s := sheet{w: &out}
		s.event(e, remote{addr: wild, ca: wild})
		if err := printJSON(&out, e); err != nil || s.err != nil {
			t.Fatal(err, s.err)
		}
		if err := (replayOf{DecisionID: wild, Then: sideThen(e), Now: sideThen(e), agent: wild}).print(&out, wild); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsFunc(out.String(), hidden) {
			at := strings.IndexFunc(out.String(), hidden)
			t.Errorf("%q: %q", rpc, out.String()[max(0, at-80):at+8])
		}
		lines := strings.Split(out.String(), "\n")
		if n := strings.Count(out.String(), `x\u{001B}`); n < 30 {
			t.Errorf("%q: only %d values shown in %d lines", rpc, n, len(lines))
		}
	}
}

// What programs read is the same value, escaped.
func TestPrintableJSON(t *testing.T) {
	want := wildEvent()
	var out bytes.Buffer
	if err := printJSON(&out, want); err != nil {
		t.Fatal(err)
	}
	got := &hallmarkv1.Event{}
	if err := protojson.Unmarshal(out.Bytes(), got); err != nil {
		t.Fatal(err)
	}
	if got.GetTool() != wild || got.GetRejection().GetDetail() != wild || got.GetSignals()[wild] != 2 {
		t.Errorf("%q", out.String())
	}
}

// Colours are for terminals, and for those who want them.
func TestPalette(t *testing.T) {
	if paletteFor(&bytes.Buffer{}, func(string) string { return "" }) {
		t.Error("a pipe is coloured")
	}
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	if isTerminal(null) {
		t.Error("nobody reads " + os.DevNull)
	}
	for _, c := range []struct {
		line string
		e    *hallmarkv1.Event
		want colour
	}{
		{"accepted", &hallmarkv1.Event{}, green},
		{"refused", &hallmarkv1.Event{FailureCode: 1}, red},
		{"our fault", &hallmarkv1.Event{Rejection: &hallmarkv1.Rejection{}}, red},
		{"allowed", &hallmarkv1.Event{Decision: hallmarkv1.Decision_DECISION_ALLOW}, green},
		{"denied", &hallmarkv1.Event{Decision: hallmarkv1.Decision_DECISION_DENY}, red},
		{"to be approved", &hallmarkv1.Event{Decision: hallmarkv1.Decision_DECISION_NEEDS_APPROVAL, FailureCode: 9}, yellow},
		{"a decision of later versions", &hallmarkv1.Event{Decision: 99}, red},
	} {
		var out bytes.Buffer
		table := newEventTable(&out, true)
		table.add(c.e)
		if err := table.flush(); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), "\x1b["+string(c.want)+"m"+verdict(c.e)+"\x1b[0m") {
			t.Errorf("%s: %q", c.line, out.String())
		}
	}
	if got := palette(false).paint(red, "x"); got != "x" {
		t.Errorf("%q", got)
	}
}

// Columns stand under each other whatever comes, and long cells are cut.
func TestEventTable(t *testing.T) {
	var out bytes.Buffer
	table := newEventTable(&out, true)
	for range 3 {
		for _, tool := range []string{"t", strings.Repeat("ä", 200), "tool"} {
			table.add(&hallmarkv1.Event{Tool: tool, DecisionId: strings.Repeat("d", 36), SessionId: strings.Repeat("s", 300)})
		}
		if err := table.flush(); err != nil {
			t.Fatal(err)
		}
	}
	columns := map[int]bool{}
	for _, line := range strings.Split(strings.TrimSpace(out.String()), "\n") {
		columns[len([]rune(line[:strings.Index(line, "dddd")]))] = true
		if n := len([]rune(line)); n > 240 {
			t.Errorf("a line of %d", n)
		}
	}
	if len(columns) != 1 {
		t.Errorf("ids begin at %v", columns)
	}
}

// Every reason of a decision has its sentence.
func TestReasonSentences(t *testing.T) {
	seen := map[string]bool{}
	for value, name := range hallmarkv1.ReasonCode_name {
		s := reasonSentence(hallmarkv1.ReasonCode(value))
		if (s == "") != (value == 0) || seen[s] {
			t.Errorf("%s: %q", name, s)
		}
		seen[s] = true
	}
}

// Bytes that a terminal would act on, or that are no text, are shown and do nothing.
func TestShowBytes(t *testing.T) {
	for _, c := range []struct{ line, in, want string }{
		{"text", "a\nä", "a\nä"},
		{"controls", "a\x00\x1b[2J\r\t\u009b", `a\u{0000}\u{001B}[2J\u{000D}\u{0009}\u{009B}`},
		{"no UTF-8", "a\xff\xc3", `a\x{FF}\x{C3}`},
		{"U+FFFD itself", "\ufffd", "\ufffd"},
		{"nothing", "", ""},
	} {
		if got := escapeBytes([]byte(c.in)); got != c.want {
			t.Errorf("%s: %q", c.line, got)
		}
	}
	var out, note bytes.Buffer
	if err := showBytes(&out, &note, bytes.Repeat([]byte{0}, 1<<20)); err != nil {
		t.Fatal(err)
	}
	if out.Len() > 9*maxShown || !strings.Contains(note.String(), "65536 of 1048576 bytes") || !strings.Contains(note.String(), "--out FILE") {
		t.Errorf("%d bytes, %q", out.Len(), note.String())
	}
}

// The commands that a sheet shows reach the service that was asked, as they stand there.
func TestSheetShowsHowItWasReached(t *testing.T) {
	var out bytes.Buffer
	s := sheet{w: &out}
	s.event(&hallmarkv1.Event{Rpc: "validate", DecisionId: "D", OriginalKept: true},
		remote{addr: "[::1]:1", ca: "my ca.pem", cert: "it's.pem", key: "own.key", serverName: "h.example.test"})
	const flags = ` --addr '[::1]:1' --ca 'my ca.pem' --cert 'it'\''s.pem' --key own.key --server-name h.example.test`
	for _, want := range []string{
		"hallmark original open D --identity KEY" + flags,
		"hallmark validate --replay D --identity KEY --contracts DIR" + flags,
	} {
		if !strings.Contains(out.String(), want+"\n") {
			t.Errorf("want %s in\n%s", want, out.String())
		}
	}
	if got := (&remote{addr: defaultAddr}).flags(); got != "" {
		t.Errorf("the usual service needs no flags: %q", got)
	}
}

// A permit that was used up reads otherwise than the decision that gave it.
func TestTableTellsRedeem(t *testing.T) {
	for rpc, want := range map[string]string{"authorize": "ALLOW", "redeem": "ALLOW (redeem)"} {
		if got := verdictCell(&hallmarkv1.Event{Rpc: rpc, Decision: hallmarkv1.Decision_DECISION_ALLOW}); got != want {
			t.Errorf("%s: %q, want %q", rpc, got, want)
		}
	}
}

// Why an original is not kept is what the record says.
func TestSheetSaysWhyNothingIsKept(t *testing.T) {
	for signal, want := range map[string]string{"": "see retention", overQuota: "--originals-per-day"} {
		var out bytes.Buffer
		s := sheet{w: &out}
		s.event(&hallmarkv1.Event{Rpc: "validate", Signals: map[string]uint64{signal: 1}}, remote{addr: defaultAddr})
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q: want %q in\n%s", signal, want, out.String())
		}
	}
}
