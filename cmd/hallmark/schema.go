package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/hallmark-gate/hallmark/validators/schema"
	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// remotesBase is where the public JSON Schema test suite expects its remote schemas.
const remotesBase = "http://localhost:1234/"

func newSchema() *cobra.Command {
	var rows, formats, remotes, form string
	cmd := &cobra.Command{
		Use:   "schema --rows FILE.jsonl",
		Short: "Judge JSON values by JSON Schemas, without contracts",
		Long: `Runs the schema engine alone, without a contract's lint, for trying things. Each
line of the file is {"schema": …, "instance": …}, or "raw_base64" for exact bytes in
place of "instance". Each gives one line of JSON:

  {"valid": true}
  {"valid": false, "reason": "SCHEMA", "failures": [{"at", "keyword", "schema_path"}]}
  {"valid": false, "reason": "DUPLICATE_NAME"}      the strict reader refused it
  {"schema_error": "…"}                             the schema cannot be compiled
  {"error": "…"}                                    the line is no row; the next are judged

"at" is a JSON Pointer into the instance. No value of an instance is ever printed.
--rows - reads standard input.

Exit codes: 0 every row was judged, 2 not every one, or no answer.`,
		Example: `  echo '{"schema":{"type":"integer"},"instance":1.0}' | hallmark schema --rows -
  hallmark schema --rows rows.jsonl --formats annotate --output json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if form != "json" {
				return fmt.Errorf("--output is json, the only form that results have here, not %q", printable(form))
			}
			engine, err := newRowEngine(formats, remotes)
			if err != nil {
				return err
			}
			in, closeIn, err := openInput(cmd, rows, "--rows")
			if err != nil {
				return err
			}
			defer closeIn()
			return engine.run(cmd.Context(), in, cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringVar(&rows, "rows", "", "file of rows, - for standard input")
	cmd.Flags().StringVar(&form, "output", "json", "json (one value a line), the only form")
	cmd.Flags().StringVar(&formats, "formats", "assert", "assert or annotate")
	cmd.Flags().StringVar(&remotes, "remotes", "", "directory of schemas that stand at "+remotesBase)
	return cmd
}

// openInput opens a file, or standard input for "-".
func openInput(cmd *cobra.Command, name, flag string) (io.Reader, func(), error) {
	switch name {
	case "":
		return nil, nil, fmt.Errorf("no input; name a file with %s, or - for standard input", flag)
	case "-":
		return cmd.InOrStdin(), func() {}, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, nil, fileFault(flag, name, err)
	}
	return f, func() { f.Close() }, nil
}

// rowEngine judges rows. It keeps the last schema, since rows come in groups.
type rowEngine struct {
	options  schema.Options
	last     []byte
	compiled *schema.Schema
	refused  error
}

// row is one line of input. Its members are kept as the bytes that they are.
type row struct {
	Schema    json.RawMessage `json:"schema"`
	Instance  json.RawMessage `json:"instance"`
	RawBase64 *string         `json:"raw_base64"`
}

// rowResult is one line of output.
type rowResult struct {
	Valid       *bool        `json:"valid,omitempty"`
	Reason      string       `json:"reason,omitempty"`
	Failures    []rowFailure `json:"failures,omitempty"`
	SchemaError string       `json:"schema_error,omitempty"`
	Error       string       `json:"error,omitempty"`
}

type rowFailure struct {
	At         string `json:"at"`
	Keyword    string `json:"keyword"`
	SchemaPath string `json:"schema_path"`
}

func newRowEngine(formats, remotes string) (*rowEngine, error) {
	e := &rowEngine{}
	switch formats {
	case "assert":
		// A name that is no format asserts nothing; only a contract's lint refuses it.
		e.options.Formats = schema.AssertKnown
	case "annotate":
		e.options.Formats = schema.Annotate
	default:
		return nil, fmt.Errorf("--formats is assert or annotate, not %q", printable(formats))
	}
	if remotes == "" {
		return e, nil
	}
	e.options.Remotes = map[string][]byte{}
	if info, err := os.Stat(remotes); err != nil {
		return nil, fileFault("--remotes", remotes, err)
	} else if !info.IsDir() {
		return nil, fileFault("--remotes", remotes, errors.New("is not a directory"))
	}
	dir := os.DirFS(remotes)
	return e, fs.WalkDir(dir, ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			e.options.Remotes[remotesBase+name], err = fs.ReadFile(dir, name)
		}
		if err != nil {
			return fileFault("--remotes", filepath.Join(remotes, name), err)
		}
		return nil
	})
}

// maxRow bounds one line of rows in bytes.
const maxRow = 32 << 20

// run judges row after row. One that is none gets a line that says so, and is counted in
// the error at the end.
func (e *rowEngine) run(ctx context.Context, in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 0, 64<<10), maxRow)
	results := bufio.NewWriter(out)
	encoder := json.NewEncoder(results)
	var bad int
	var first error
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		result, err := e.judge(ctx, lines.Bytes())
		if err != nil {
			result = rowResult{Error: err.Error()}
			if bad++; first == nil {
				first = fmt.Errorf("row %d: %w", n, err)
			}
		}
		if err := encoder.Encode(result); err != nil {
			return err
		}
	}
	if bad > 1 {
		first = fmt.Errorf("%w (and %s after it)", first, plural(bad-1, "bad row"))
	}
	return errors.Join(first, rowsFault(lines.Err()), results.Flush())
}

// rowsFault says what ended the reading of rows before their end.
func rowsFault(err error) error {
	if errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("--rows: a line holds more than %d bytes; it and those after it were not read", maxRow)
	}
	if err != nil {
		return fmt.Errorf("--rows: %w", err)
	}
	return nil
}

func (e *rowEngine) judge(ctx context.Context, line []byte) (rowResult, error) {
	var r row
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&r); err != nil {
		return rowResult{}, errors.New(`a row is {"schema": …, "instance": …} or has "raw_base64" for "instance"`)
	}
	instance := []byte(r.Instance)
	if r.RawBase64 != nil {
		decoded, err := base64.StdEncoding.DecodeString(*r.RawBase64)
		if err != nil {
			return rowResult{}, errors.New(`"raw_base64" is not base64`)
		}
		instance = decoded
	}
	if len(r.Schema) == 0 || (r.RawBase64 == nil) == (r.Instance == nil) {
		return rowResult{}, errors.New(`a row has "schema" and exactly one of "instance" and "raw_base64"`)
	}
	e.compile(r.Schema)
	if e.refused != nil {
		return rowResult{SchemaError: printable(e.refused.Error())}, nil
	}
	return judgeInstance(ctx, e.compiled, instance), nil
}

func (e *rowEngine) compile(source []byte) {
	if e.last != nil && bytes.Equal(e.last, source) {
		return
	}
	const root = "schema.json"
	e.last = bytes.Clone(source)
	e.compiled, e.refused = schema.Compile(map[string][]byte{root: e.last}, root, e.options)
}

func judgeInstance(ctx context.Context, s *schema.Schema, instance []byte) rowResult {
	refuse := func(reason string, failures []rowFailure) rowResult {
		return rowResult{Valid: new(false), Reason: reason, Failures: failures}
	}
	v, err := strictjson.Parse(instance, strictjson.Ceilings())
	if err != nil {
		var refused *strictjson.Error
		if errors.As(err, &refused) {
			return refuse(refused.Reason.String(), nil)
		}
		return refuse("JSON_SYNTAX", nil)
	}
	found, err := s.Validate(ctx, v)
	if err != nil {
		return refuse("EVALUATION_BUDGET", nil)
	}
	if len(found) == 0 {
		return rowResult{Valid: new(true)}
	}
	failures := make([]rowFailure, len(found))
	for i, f := range found {
		failures[i] = rowFailure{f.At.String(), f.Keyword, f.SchemaPath}
	}
	return refuse("SCHEMA", failures)
}
