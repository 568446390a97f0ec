package contract

import (
	"io/fs"
	"strings"
	"time"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// Tree is everything that a contracts directory, and a policies directory beside it,
// declares, read and linted. It is immutable and safe for concurrent use.
type Tree struct {
	// Contracts are sorted by tool, then version.
	Contracts []*Contract
	// Current maps each tool to the version that serves requests naming none: what
	// serving.yaml says, else the highest.
	Current map[string]int
	// Drain maps each tool to its other live versions, ascending: those that
	// serving.yaml lists, or every other version of a tool that has no entry there. A
	// version that is neither current nor drained is not served.
	Drain map[string][]int
	// Policies are the rules of the deployment, sorted by name.
	Policies []Policy
	// Files are the paths and contents that Digest covers: every file of the contracts
	// directory whose path has no name beginning with ".", and every such file of the
	// policies directory, below the folder .policies, a name that no contract's file can
	// have. They are a copy in memory, so that what was linted is what is compiled.
	Files fs.FS
	// Digest is the lowercase hex SHA-256 over the sorted (path, bytes) of the files,
	// each preceded by its length as 8 bytes, big-endian.
	Digest string
}

// Contract is what one version of one tool promised: what its results look like, what
// of them an agent may see, and which arguments it takes.
type Contract struct {
	Dir         string // slash-separated folder below the contracts directory
	Tool        string
	Aliases     []string // other exact names of the same tool
	Version     int      // from 1
	Owner       string
	Description string
	Effect      Effect
	Egress      Egress
	Idempotent  bool // of a side effect: an unknown outcome may be retried
	Trust       Trust
	SourceLabel string // what the agent sees as the source; "" means derived
	Result      Result
	Retry       *Retry // nil: nothing is ever retried
	Retention   Retention
	Receipt     *Receipt   // nil: no receipts
	Arguments   *Arguments // nil: any arguments; read-only tools only
	Cases       []Case     // sorted by file
	// Files are the files of the contract's folder, by slash-separated path relative to
	// it, as they were when they were linted. They are only read.
	Files map[string][]byte
	// Digest is the lowercase hex SHA-256 of the folder's files, as Tree.Digest, with
	// paths relative to the folder.
	Digest string

	// places are where the keys of contract.yaml stand, by key path as in
	// "result.agent_fields[2]" and "arguments.unscoped[/run_id]".
	places map[string]place
}

// mainFile is the name of a contract's own file in its folder.
const mainFile = "contract.yaml"

// place is where something stands in a file, both from 1; the column counts code
// points. The zero place is unknown.
type place struct{ line, column int }

// Place returns where a key of contract.yaml stands, or else the nearest key around it.
// path names it as in "result.agent_fields[2]", "arguments.requires[0].when" and
// "arguments.unscoped[/run_id]". Line and column are from 1, in code points; they are
// zeros where the contract was not read from a file.
func (c *Contract) Place(path string) (line, column int) {
	p := placeAround(c.places, path)
	return p.line, p.column
}

// placeAround returns where a key stands, or else of the nearest key around it.
func placeAround(places map[string]place, path string) place {
	for path != "" {
		if p, ok := places[path]; ok {
			return p
		}
		path = path[:max(strings.LastIndexAny(path, ".["), 0)]
	}
	return place{}
}

// Effect says whether a tool changes anything.
type Effect string

// The effects.
const (
	ReadOnly   Effect = "read_only"
	SideEffect Effect = "side_effect"
)

// Egress says whether a read-only tool's arguments choose an outside destination.
type Egress string

// The kinds of egress; "" means that none was declared.
const (
	EgressNone    Egress = "none"
	EgressOpen    Egress = "open"
	EgressGranted Egress = "granted"
)

// Trust is how far results of a tool may be believed.
type Trust struct {
	Trusted bool
	Sources []string // prefixes of the final source, for Trusted
	Callers []string // authenticated callers, for Trusted
}

// Kind is what a result is made of.
type Kind string

// The kinds of results.
const (
	KindJSON    Kind = "json"
	KindText    Kind = "text"
	KindCommand Kind = "command"
)

// Framing is what stands around the payload.
type Framing string

// The framings.
const (
	FramingPayload  Framing = "payload"  // the bytes are the payload alone
	FramingEnvelope Framing = "envelope" // tool, request_id, outcome, data | error
	FramingMCP      Framing = "mcp"      // a CallToolResult
	FramingJSONRPC  Framing = "jsonrpc"  // a CallToolResult in its response message
)

// binding returns the name under which a rejection says that a reply's own id is
// another's; "" where the framing has none.
func (f Framing) binding() string {
	switch f {
	case FramingEnvelope:
		return "request_id"
	case FramingJSONRPC:
		return "id"
	}
	return ""
}

// Payload returns where the payload stands in a reply of this framing. The caller owns
// what it gets.
func (f Framing) Payload() strictjson.Pointer {
	switch f {
	case FramingEnvelope:
		return strictjson.Pointer{"data"}
	case FramingMCP:
		return strictjson.Pointer{"structuredContent"}
	case FramingJSONRPC:
		return strictjson.Pointer{"result", "structuredContent"}
	}
	return strictjson.Pointer{}
}

// Result is what a contract says about a tool's replies.
type Result struct {
	Kind         Kind
	Framing      Framing
	MediaTypes   []string // lowercase type/subtype, without parameters
	Limits       strictjson.Limits
	Command      *Command   // how a command's output is read; nil for other kinds
	Text         *TextRules // how a text is made fit to be shown; nil for other kinds
	Adapter      *Adapter   // nil: the payload is judged as it came
	Schema       *Schema    // of the payload, which the adapter makes where there is one; nil for kind text
	TextFields   []TextField
	MaxList      *ListLimit // nil: no list has a limit of its own
	Checks       []Check
	AgentFields  []strictjson.Pointer // with strictjson.EveryElement for array elements
	NotGiven     map[string]string    // required members that the agent does not get, and why
	NotFoundHTTP []int                // HTTP statuses that mean NOT_FOUND
	DisplayText  int                  // code points of the tool's own message that may be shown
	FailureCodes []FailureCode        // what an envelope may report
	Unbound      string               // why a payload needs no equals check
}

// Schema is a JSON Schema of the contract's folder with everything it refers to.
type Schema struct {
	// File is the root, relative to the contract's folder.
	File string
	// Files are the root and what its $refs reach, by path relative to the folder.
	Files map[string][]byte
	// Roots are the same files parsed.
	Roots map[string]strictjson.Value
}

// Command says how the text that a command printed becomes a payload (A16).
type Command struct {
	// Pattern is an RE2 expression; "" where JSON is set. Its named groups become the
	// members of the payload; one that takes no part in a match is an absent member.
	Pattern string
	// JSON is true where the whole output is one JSON value.
	JSON bool
	// ExitCodes are those with which a usable output may come; never empty.
	ExitCodes []int
	// Convert says of a group that it is not a string but the integer, number or
	// boolean that it spells in JSON.
	Convert map[string]string
}

// The kinds of [Command.Convert].
const (
	ConvertInteger = "integer"
	ConvertNumber  = "number"
	ConvertBoolean = "boolean"
)

// Expression returns Pattern as it is compiled: it must match the whole output.
func (c *Command) Expression() string { return `\A(?:` + c.Pattern + `)\z` }

// TextField declares a string member that holds outside text.
type TextField struct {
	At strictjson.Pointer
	As string // what the text is: AsPlain, AsHTML or AsURL
	// MaxChars is the number of code points after cleaning at which the text is cut, or,
	// of a URL, above which it is refused; 0 means that there is none.
	MaxChars int
	Profile  string // prose or code
}

// The kinds of [TextField.As].
const (
	AsPlain = "text/plain"
	AsHTML  = "text/html" // a page, of which the visible text is taken
	AsURL   = "url"       // a link that an agent may show or follow
)

// ListLimit bounds one list of the payload (B4).
type ListLimit struct {
	At    strictjson.Pointer // without strictjson.EveryElement
	Items int                // from 1
	// Cut says what happens beyond Items: true lets the first ones pass and marks the
	// result as truncated, false refuses it.
	Cut bool
}

// Check is one semantic check, by name and parameters. The contract does not know what
// a check does; the registry of checks decodes With strictly at load.
type Check struct {
	Use  string           // equals, fresh, listed, signature, after or cel
	Name string           // in rejections; defaults to Use
	With strictjson.Value // an object, with the digits of the file; for cel {"expr": "…"}
	// Line and Column are the place in contract.yaml, from 1.
	Line, Column int
}

// Retry says when an identical call may be repeated.
type Retry struct {
	MaxAttempts int // the first one included
	Budget      time.Duration
	Delay       time.Duration
	On          []FailureCode
}

// Retention says what is kept of the original bytes.
type Retention struct {
	Accepted string        // hash, sealed or none
	Rejected string        // hash, sealed or none
	Keep     time.Duration // 0 means the service's default
	Redact   []string      // email, phone, token
}

// Receipt says whether and how accepted facts are attested.
type Receipt struct {
	TTL    time.Duration
	Facts  bool
	Signed bool
}

// Arguments is what a contract says about a tool's arguments.
type Arguments struct {
	Schema        *Schema
	Audience      string // who executes; "" means the tool's name
	BigIntegers   bool   // integers beyond ±(2^53−1) keep their digits instead of being refused
	Scopes        []Scope
	Unscoped      map[string]string // argument pointers that need no scope, and why
	RequiresGrant bool
	Requires      []Evidence
}

// Scope names arguments that a grant must cover.
type Scope struct {
	Name     string
	Type     string
	At       []strictjson.Pointer
	Optional bool
}

// Evidence is a fact that must have been validated before a call.
type Evidence struct {
	Tool     string
	Versions []int
	MaxAge   time.Duration
	Match    map[string]string // pointer into the evidence: pointer into the arguments
	When     string            // CEL over evidence
	From     []string          // callers of Validate that count
	Reusable bool
}
