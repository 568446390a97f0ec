package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/gate"
	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
)

// replayOf is what became of a reply, and what would become of it.
type replayOf struct {
	DecisionID string    `json:"decision_id"`
	At         time.Time `json:"at"`        // when it was judged
	JudgedAt   time.Time `json:"judged_at"` // the time that it is judged at now
	Then       side      `json:"then"`
	Now        side      `json:"now"`
	// Notes say why the two may differ though no contract has changed.
	Notes []string `json:"notes,omitempty"`

	agent string // what an agent would see now
}

// side is one judgement, in words.
type side struct {
	Contract       string `json:"contract,omitzero"`
	ContractDigest string `json:"contract_digest,omitzero"`
	Verdict        string `json:"verdict"` // accepted, or the failure code
	Layer          string `json:"layer,omitzero"`
	Reason         string `json:"reason,omitzero"`
	At             string `json:"at,omitzero"`
	Keyword        string `json:"keyword,omitzero"`
	SchemaPath     string `json:"schema_path,omitzero"`
	Check          string `json:"check,omitzero"`
	Detail         string `json:"detail,omitzero"`
}

// replayFlags are the flags that --replay goes with; all others say what the original
// knows itself.
func replayFlags() []string {
	return []string{"replay", "identity", "addr", "ca", "cert", "key", "server-name", "contracts", "now", "output"}
}

// runReplay judges the original of a decision again, in this process.
func (f *validateFlags) runReplay(cmd *cobra.Command) error {
	var other error
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		allowed := false
		for _, name := range replayFlags() {
			allowed = allowed || flag.Name == name
		}
		if !allowed && other == nil {
			other = fmt.Errorf("--%s says what the original of a decision knows itself; leave it out, or --replay", flag.Name)
		}
	})
	if err := errors.Join(other, f.output.check()); err != nil {
		return err
	}
	if f.at.addr == "" {
		f.at.addr = defaultAddr
	}
	ids, err := readIdentities(f.identity)
	if err != nil {
		return err
	}
	set, err := loadSet(f.contracts, "")
	if err != nil {
		return err
	}
	o, err := fetchOriginal(cmd, &f.at, ids, f.replay)
	if errors.Is(err, errNo) { // no would be a refusal, and nothing is judged
		err = errors.New("there is nothing to judge again")
	}
	if err != nil {
		return err
	}
	r, err := f.judgeAgain(cmd.Context(), set, o)
	if err != nil {
		return err
	}
	if f.output == "json" {
		line, err := json.Marshal(r)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(cmd.OutOrStdout(), printableJSON(string(line)))
		if err != nil {
			return err
		}
	} else if err := r.print(cmd.OutOrStdout(), f.contracts); err != nil {
		return err
	}
	if r.Now.Verdict != acceptedWord {
		return errNo
	}
	return nil
}

const acceptedWord = "accepted"

// judgeAgain judges as of the time of the reply, unless --now says another.
func (f *validateFlags) judgeAgain(ctx context.Context, set *gate.Set, o opened) (replayOf, error) {
	call, j := gate.Replay(o.Header, o.Bytes)
	if f.now != "" {
		var err error
		if j.Now, err = asIf(f.now); err != nil {
			return replayOf{}, err
		}
	}
	outcome, err := gate.Judge(ctx, set, call, j)
	if err != nil {
		return replayOf{}, fmt.Errorf("the original cannot be judged: %w", err)
	}
	r := replayOf{
		DecisionID: o.event.GetDecisionId(), At: o.Header.At.UTC(), JudgedAt: j.Now.UTC(), Notes: o.notes(),
		Then: sideThen(o.event), Now: sideNow(outcome), agent: gate.ModelPayload(outcome.Result),
	}
	if len(r.Notes) > 0 {
		r.Notes = append(r.Notes, "so what is judged is not all that was, and the verdict may differ for that alone")
	}
	return r, nil
}

func sideThen(e *hallmarkv1.Event) side {
	r := e.GetRejection()
	s := side{
		Verdict: verdict(e), Layer: enumName(r.GetLayer().String(), "LAYER_"), Reason: enumName(r.GetReason().String(), "REJECTION_REASON_"),
		At: r.GetInstancePath(), Keyword: r.GetKeyword(), SchemaPath: r.GetSchemaPath(), Check: r.GetCheck(), Detail: r.GetDetail(),
		ContractDigest: e.GetContractDigest(),
	}
	if s.ContractDigest != "" {
		s.Contract = toolCell(e)
	}
	return s
}

func sideNow(o gate.Outcome) side {
	s := side{Verdict: acceptedWord}
	if o.Tool != nil {
		s.Contract = fmt.Sprintf("%s v%d", o.Tool.Contract.Tool, o.Tool.Contract.Version)
		s.ContractDigest = o.Tool.Contract.Digest
	}
	if f := o.Result.Failure; f != nil {
		s.Verdict = string(f.Code)
	} else if o.Result.Data == nil && o.Result.Text == nil { // which readers take for this
		s.Verdict = string(contract.InvalidResponse)
	}
	if len(o.Verdict.Rejections) > 0 {
		r := o.Verdict.Rejections[0]
		s.Layer, s.Reason, s.At, s.Keyword = string(r.Layer), string(r.Reason), r.At, r.Keyword
		s.SchemaPath, s.Check, s.Detail = r.SchemaPath, r.Check, r.Detail
	}
	return s
}

// print prints both sides beside each other, and what differs marked.
func (r replayOf) print(w io.Writer, contracts string) error {
	rows := [][3]string{
		{"", "then", "now"},
		{"contract", r.Then.Contract, r.Now.Contract},
		{"digest", short(r.Then.ContractDigest), short(r.Now.ContractDigest)},
		{"verdict", r.Then.Verdict, r.Now.Verdict},
		{"layer", r.Then.Layer, r.Now.Layer},
		{"reason", r.Then.Reason, r.Now.Reason},
		{"at", r.Then.place(), r.Now.place()},
		{"keyword", r.Then.Keyword, r.Now.Keyword},
		{"schema", r.Then.SchemaPath, r.Now.SchemaPath},
		{"check", r.Then.Check, r.Now.Check},
		{"detail", r.Then.Detail, r.Now.Detail},
	}
	wide := 0
	for i := range rows {
		for j := range rows[i] {
			rows[i][j] = cell(rows[i][j])
		}
		wide = max(wide, utf8.RuneCountInString(cut(rows[i][1], maxSide)))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "decision  %s\njudged    then at %s by the service, now as of %s by %s; nothing is recorded\n\n",
		cell(r.DecisionID), r.At.Format(time.RFC3339Nano), r.asOf(), cell(contracts))
	for i, row := range rows {
		then, now := row[1], row[2]
		if then == "" && now == "" {
			continue
		}
		mark := " "
		if i > 0 && then != now {
			mark = "*"
		}
		then = cut(then, maxSide)
		fmt.Fprintf(&b, "%s\n", strings.TrimRight(fmt.Sprintf("%-8s %s %s%s  %s", row[0], mark, then,
			strings.Repeat(" ", wide-utf8.RuneCountInString(then)), now), " "))
	}
	fmt.Fprintf(&b, "\nagent     would see %s\n", cell(r.agent))
	for _, note := range r.Notes {
		fmt.Fprintf(&b, "note      %s\n", note)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// asOf says at what time it is judged now.
func (r replayOf) asOf() string {
	if r.JudgedAt.Equal(r.At) {
		return "the same time (--now takes another)"
	}
	return r.JudgedAt.Format(time.RFC3339Nano)
}

// maxSide bounds the left one of two columns, in code points; audit show has all.
const maxSide = 60

// place is where a side refused; "" where it did not.
func (s side) place() string {
	if s.Layer == "" {
		return ""
	}
	return orRoot(s.At)
}
