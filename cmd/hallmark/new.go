package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hallmark-gate/hallmark/scaffold"
	"github.com/hallmark-gate/hallmark/validators/schema"
	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// newFlags are the flags of new.
type newFlags struct {
	fromSchema, fromOpenAPI, fromMCP string
	operation, name                  string
	dir, effect                      string
	force                            bool
}

func newNew() *cobra.Command {
	var f newFlags
	cmd := &cobra.Command{
		Use:   "new [TOOL]",
		Short: "Draft a contract from what a vendor publishes",
		Long: `Writes the first draft of a contract to --dir: <tool>/v1/contract.yaml, its schemas
and every obligatory case. The source is a JSON Schema of the payload, an operation of
an OpenAPI 3.0 or 3.1 document, or a tool of an MCP server's tools/list; - reads
standard input. TOOL is the contract's name of the tool; OpenAPI and MCP have one.

A draft is strict where its source is not, and asks where a person must decide: each
open question is refused by check and by the service until it is answered. Correct the
value beside it, then delete the question.

Nothing is overwritten without --force. Exit codes: 0 written, 2 not.`,
		Example: `  hallmark new ticket_get --from-openapi openapi.yaml --operation tickets/get
  hallmark new ticket_get --from-openapi openapi.yaml --operation 'GET /tickets/{id}'
  hallmark new --from-mcp tools.json --name search
  hallmark new job_status --from-schema job.schema.json --effect read_only`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, strings.Join(args, "")) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.fromSchema, "from-schema", "", "JSON Schema of the payload")
	flags.StringVar(&f.fromOpenAPI, "from-openapi", "", "OpenAPI document, JSON or YAML, with --operation")
	flags.StringVar(&f.operation, "operation", "", `operationId or "METHOD /path" in the OpenAPI document`)
	flags.StringVar(&f.fromMCP, "from-mcp", "", "result of MCP's tools/list, with --name where it has several")
	flags.StringVar(&f.name, "name", "", "name of the tool in the MCP list")
	flags.StringVar(&f.dir, "dir", "contracts", "contracts directory to write to")
	flags.StringVar(&f.effect, "effect", "", "read_only or side_effect; empty: propose and ask")
	flags.BoolVar(&f.force, "force", false, "overwrite files of an earlier draft")
	cmd.MarkFlagsOneRequired("from-schema", "from-openapi", "from-mcp")
	cmd.MarkFlagsMutuallyExclusive("from-schema", "from-openapi", "from-mcp")
	cmd.MarkFlagsRequiredTogether("from-openapi", "operation")
	return cmd
}

func (f *newFlags) run(cmd *cobra.Command, tool string) error {
	d, err := f.draft(cmd, scaffold.Options{Tool: tool, Effect: f.effect, Compile: conforms})
	if err != nil {
		return err
	}
	if err := d.Write(f.dir, f.force); err != nil {
		if errors.Is(err, scaffold.ErrExists) || errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("%s; nothing was written: use another --dir or name, or --force to overwrite", printable(err.Error()))
		}
		return err
	}
	out := cmd.OutOrStdout()
	fmt.Fprintf(out, "wrote %s/%s, %s\n", printable(f.dir), d.Dir, plural(len(d.Files), "file"))
	for _, n := range d.Notes {
		fmt.Fprintf(out, "note  %s\n", printable(n))
	}
	for _, q := range d.Questions {
		fmt.Fprintf(out, "ask   %s\n", printable(q))
	}
	fmt.Fprintf(out, "%s to answer in %s/%s; then: hallmark check %s\n",
		plural(len(d.Questions), "question"), printable(f.dir), d.Dir, printable(f.dir))
	return nil
}

func (f *newFlags) draft(cmd *cobra.Command, o scaffold.Options) (*scaffold.Draft, error) {
	switch f.effect {
	case "", "read_only", "side_effect":
	default:
		return nil, fmt.Errorf("--effect %q is neither read_only nor side_effect", f.effect)
	}
	if f.name != "" && f.fromMCP == "" {
		return nil, errors.New("--name chooses a tool of --from-mcp; name the contract's tool as an argument")
	}
	src, err := readSource(cmd, f.fromSchema+f.fromOpenAPI+f.fromMCP)
	if err != nil {
		return nil, err
	}
	switch {
	case f.fromSchema != "":
		return scaffold.FromSchema(src, o)
	case f.fromMCP != "":
		return scaffold.FromMCP(src, f.name, o)
	}
	return scaffold.FromOpenAPI(src, f.operation, o)
}

// maxSource bounds what a draft is made of, in bytes; GitHub's OpenAPI has 13 MB.
const maxSource = 64 << 20

// readSource reads a file, or standard input for -.
func readSource(cmd *cobra.Command, name string) ([]byte, error) {
	in := cmd.InOrStdin()
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		in = file
	}
	src, err := io.ReadAll(io.LimitReader(in, maxSource+1))
	if err != nil {
		return nil, err
	}
	if len(src) > maxSource {
		return nil, fmt.Errorf("%s has more than %d bytes", printable(name), maxSource)
	}
	return src, nil
}

// conforms judges values by a schema that stands alone, with the service's engine; nil
// where the schema cannot be compiled.
func conforms(source []byte) func(value []byte) bool {
	const file = "draft.schema.json"
	s, err := schema.Compile(map[string][]byte{file: source}, file, schema.Options{})
	if err != nil {
		return nil
	}
	return func(value []byte) bool {
		v, err := strictjson.Parse(value, strictjson.Ceilings())
		if err != nil {
			return false
		}
		failures, err := s.Validate(context.Background(), v)
		return err == nil && len(failures) == 0
	}
}
