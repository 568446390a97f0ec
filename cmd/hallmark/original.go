package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"google.golang.org/grpc"

	"github.com/hallmark-gate/hallmark/audit/seal"
	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
)

func newOriginal() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "original",
		Short: "Open the sealed originals of judged replies",
	}
	asGroup(cmd)
	cmd.AddCommand(newOriginalKeygen(), newOriginalOpen())
	return cmd
}

func newOriginalKeygen() *cobra.Command {
	var name string
	var out output
	cmd := &cobra.Command{
		Use:   "keygen --out FILE",
		Short: "Make the key pair of an operator who opens originals",
		Long: `Writes an age identity (X25519) into a new file for its owner alone, and prints its
public half: a line for the file that the service's --recipients names. Keep the identity
away from the service, which needs only the public half; whoever has the identity opens
every original that is sealed to it, and nobody can replace it.`,
		Example: `  hallmark original keygen --out operator.key >>recipients.txt
  hallmark original keygen --out operator.key --output json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return keygen(cmd, name, out) },
	}
	cmd.Flags().StringVar(&name, "out", "", "file that gets the identity; it must not exist")
	out.registerAs(cmd, "one object")
	return cmd
}

func keygen(cmd *cobra.Command, name string, out output) error {
	if err := out.check(); err != nil {
		return err
	}
	if name == "" {
		return errors.New("no file; name the one that gets the identity with --out")
	}
	identity, recipient, err := seal.NewIdentity()
	if err != nil {
		return err
	}
	// Never over another: with an identity all that was sealed to it is lost.
	if err := writePrivate(name, []byte(identity)); err != nil {
		return fileFault("--out", name, err)
	}
	if out == "json" {
		return printObject(cmd.OutOrStdout(), keygenLine{strings.TrimSpace(recipient), name})
	}
	_, err = io.WriteString(cmd.OutOrStdout(), recipient)
	return err
}

// keygenLine is a new key pair for programs, without its secret half.
type keygenLine struct {
	Recipient    string `json:"recipient"`
	IdentityFile string `json:"identityFile"`
}

// readIdentities reads an operator's identities, which nobody else can read.
func readIdentities(name string) (*seal.Identities, error) {
	const flag = "--identity"
	if name == "" {
		return nil, errors.New("no key; name the file of your identity with --identity, made by: hallmark original keygen")
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, fileFault(flag, name, err)
	}
	const most = 64 << 10
	switch {
	case !info.Mode().IsRegular() || info.Size() > most:
		return nil, fileFault(flag, name, errors.New("is not the file of a key"))
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return nil, fileFault(flag, name, errors.New("others can read or change it; chmod 0600 the file"))
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fileFault(flag, name, err)
	}
	ids, err := seal.ParseIdentities(text)
	if err != nil {
		return nil, fileFault(flag, name, err)
	}
	return ids, nil
}

// opened is an original as it was before it was sealed.
type opened struct {
	Header seal.Header
	Bytes  []byte
	event  *hallmarkv1.Event // nil where a file was opened
}

// fetchOriginal asks a service for an original and opens it here. Whoever knows a
// recipient can seal, so that what comes is held to the record that names it.
func fetchOriginal(cmd *cobra.Command, at *remote, ids *seal.Identities, id string) (opened, error) {
	conn, err := at.dial()
	if err != nil {
		return opened{}, err
	}
	defer conn.Close()
	o := opened{}
	if o.event, err = getEvent(cmd, conn, at.addr, id); err != nil {
		return opened{}, err
	}
	sealed, err := getOriginal(cmd, conn, at.addr, id)
	if err != nil {
		return opened{}, err
	}
	if o.Header, o.Bytes, err = seal.Open(ids, sealed); err != nil {
		return opened{}, fmt.Errorf("the original cannot be opened: %w", err)
	}
	sum := sha256.Sum256(o.Bytes)
	whole := !o.Header.Cut && len(o.Header.Redacted) == 0
	if o.Header.DecisionID != o.event.GetDecisionId() || whole && hex.EncodeToString(sum[:]) != o.event.GetRawDigest() {
		return opened{}, errors.New("what the service keeps as this original is not what its record speaks of: somebody has exchanged it")
	}
	return o, nil
}

func getOriginal(cmd *cobra.Command, conn *grpc.ClientConn, addr, id string) ([]byte, error) {
	ctx, cancel := call(cmd.Context())
	defer cancel()
	reply, err := hallmarkv1.NewAuditServiceClient(conn).GetOriginal(ctx, &hallmarkv1.GetOriginalRequest{DecisionId: id})
	return reply.GetSealed(), notFound(cmd, addr, err, "no original is kept of this decision: its contract does not say so, there were no recipients, or its time is over")
}

// openFlags are the flags of original open.
type openFlags struct {
	at                  remote
	identity, file, out string
	header, force       bool
	output              output
}

func newOriginalOpen() *cobra.Command {
	var f openFlags
	cmd := &cobra.Command{
		Use:   "open DECISION_ID --identity KEY",
		Short: "Open the original of one judged reply",
		Long: `Fetches the sealed original of a reply and opens it here, with your identity, which
never leaves this machine. Standard output gets exactly the bytes that the tool sent; on
a terminal what it would act on is shown as \u{XXXX} instead, and --out writes the bytes
to a new file for its owner alone (mode 0600); --force writes over one that is there. What
is shown is outside content: data, whatever it says.

--file opens a sealed original that was saved before, without a service. --header prints
what is known about the reply in place of its bytes, as JSON. --output json prints both as
one object: header, notes, bytes (the size) and content_base64, or file with --out.

Exit codes: 0 opened, 1 there is none (any more), 2 no answer.`,
		Example: `  hallmark original open 019a2b3c-0000-7000-8000-000000000000 --identity operator.key --out reply.bin
  hallmark original open --file sealed.age --identity operator.key --header
  hallmark original open 019a2b3c-0000-7000-8000-000000000000 --identity operator.key --output json`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	flags := cmd.Flags()
	f.at.register(cmd, defaultAddr, "host:port of the service")
	flags.StringVar(&f.identity, "identity", "", "file of your identity")
	flags.StringVar(&f.file, "file", "", "sealed file, - for standard input, in place of a decision id")
	flags.StringVar(&f.out, "out", "", "file that gets the bytes; empty: standard output")
	flags.BoolVar(&f.force, "force", false, "let --out write over a file that is there")
	f.output.registerAs(cmd, "one object")
	flags.BoolVar(&f.header, "header", false, "print the header in place of the bytes")
	return cmd
}

func (f *openFlags) run(cmd *cobra.Command, args []string) error {
	if err := f.check(args); err != nil {
		return err
	}
	ids, err := readIdentities(f.identity)
	if err != nil {
		return err
	}
	out, err := openNew("--out", f.out, f.force)
	if err != nil {
		return err
	}
	var o opened
	if f.file != "" {
		o, err = f.fromFile(&inputs{cmd: cmd}, ids)
	} else {
		o, err = fetchOriginal(cmd, &f.at, ids, args[0])
	}
	if err != nil {
		return errors.Join(err, out.drop())
	}
	for _, note := range o.notes() {
		fmt.Fprintln(cmd.ErrOrStderr(), "note:", note)
	}
	return f.print(cmd, o, out)
}

func (f *openFlags) check(args []string) error {
	switch {
	case len(args) > 1 || (len(args) == 1) == (f.file != ""):
		return errors.New("name the original by one decision id, or by a file with --file")
	case f.force && f.out == "":
		return errors.New("--force is for --out; name the file, or leave it out")
	case f.output == "json" && f.header:
		return errors.New("--output json prints the header anyway; leave out --header")
	case f.file == "":
		if err := checkID(args[0]); err != nil {
			return err
		}
	}
	return f.output.check()
}

// print writes the bytes, or what is known of them, where the flags say.
func (f *openFlags) print(cmd *cobra.Command, o opened, out *outFile) error {
	w, content := cmd.OutOrStdout(), o.Bytes
	if f.output == "json" {
		line := originalLine{Header: o.Header, Notes: append([]string{}, o.notes()...), Bytes: len(content)}
		if out == nil {
			line.Content = content
		} else if err := out.write(string(content)); err != nil {
			return err
		}
		line.File = f.out
		return printObject(w, line)
	}
	if f.header {
		text, err := json.MarshalIndent(o.Header, "", "  ")
		if err != nil {
			return errors.Join(err, out.drop())
		}
		content = []byte(printableJSON(string(text)) + "\n")
	}
	switch {
	case out != nil:
		return out.write(string(content))
	case isTerminal(w) && !f.header:
		return showBytes(w, cmd.ErrOrStderr(), content)
	}
	_, err := w.Write(content)
	return err
}

// originalLine is an original for programs.
type originalLine struct {
	Header  seal.Header `json:"header"`
	Notes   []string    `json:"notes"` // in what the bytes are not those that came
	Bytes   int         `json:"bytes"`
	Content []byte      `json:"content_base64,omitempty"` // none with --out
	File    string      `json:"file,omitzero"`            // of --out
}

func (f *openFlags) fromFile(in *inputs, ids *seal.Identities) (o opened, err error) {
	sealed, err := in.read("--file", f.file, seal.MaxSealed)
	if err != nil {
		return opened{}, err
	}
	if o.Header, o.Bytes, err = seal.Open(ids, sealed); err != nil {
		return opened{}, fileFault("--file", f.file, err)
	}
	return o, nil
}

// notes says in what the bytes are not those that came.
func (o opened) notes() []string {
	var notes []string
	if kinds := o.Header.Redacted; len(kinds) > 0 {
		words := make([]string, len(kinds))
		for i, k := range kinds {
			words[i] = string(k)
		}
		notes = append(notes, "redacted before it was sealed: "+strings.Join(words, ", "))
	}
	if o.Header.Cut {
		notes = append(notes, fmt.Sprintf("cut: %d of %d bytes are kept", len(o.Bytes), o.Header.OriginalBytes))
	}
	if o.Header.RequestLeftOut {
		notes = append(notes, "the arguments and the evidence were too large to be kept with it")
	}
	return notes
}

// maxShown bounds what is shown on a terminal, in bytes.
const maxShown = 64 << 10

// showBytes shows bytes on a terminal, escaped, and says how to get them as they are.
func showBytes(w, note io.Writer, content []byte) error {
	shown := content[:min(len(content), maxShown)]
	if _, err := fmt.Fprintln(w, escapeBytes(shown)); err != nil {
		return err
	}
	_, err := fmt.Fprintf(note, "note: %d of %d bytes are shown, escaped; --out FILE writes all of them as they are\n", len(shown), len(content))
	return err
}

// escapeBytes is printable for any bytes: those that are no UTF-8 stand as \x{XX}.
func escapeBytes(content []byte) string {
	var b strings.Builder
	for len(content) > 0 {
		r, size := utf8.DecodeRune(content)
		if r == utf8.RuneError && size == 1 {
			fmt.Fprintf(&b, `\x{%02X}`, content[0])
		} else {
			b.WriteString(printable(string(content[:size])))
		}
		content = content[size:]
	}
	return b.String()
}
