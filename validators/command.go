package validators

import (
	"path"
	"regexp"
	"unicode/utf8"

	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// commandReader reads what a command printed (A16): a pattern must match all of it,
// and the groups of the pattern become the members of a new object. Whatever a banner,
// a progress bar or an error message adds is a refusal; raw output goes nowhere.
//
// Matching takes time linear in the output (RE2), for a pattern whose size, together
// with the limit of bytes, the contract's lint bounds.
type commandReader struct {
	pattern *regexp.Regexp
	groups  []group
}

type group struct {
	name  string         // "" for one that gives no member
	token *regexp.Regexp // what the text must be to stand as a JSON token; nil for a string
}

// The tokens of RFC 8259 into which a group may be converted, exactly as written.
var tokens = map[string]*regexp.Regexp{
	contract.ConvertInteger: regexp.MustCompile(`^-?(?:0|[1-9][0-9]*)$`),
	contract.ConvertNumber:  regexp.MustCompile(`^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$`),
	contract.ConvertBoolean: regexp.MustCompile(`^(?:true|false)$`),
}

// readerOf returns the reader of a contract that has none coded in Go.
func readerOf(c *contract.Contract) (Reader, *contract.Fault) {
	command := c.Result.Command
	if command == nil || command.JSON {
		return jsonReader{}, nil
	}
	pattern, err := regexp.Compile(command.Expression())
	if err != nil {
		return nil, &contract.Fault{File: path.Join(c.Dir, "contract.yaml"), Message: "result.command.pattern cannot be compiled"}
	}
	r := commandReader{pattern: pattern}
	for _, name := range pattern.SubexpNames() {
		r.groups = append(r.groups, group{name, tokens[command.Convert[name]]})
	}
	return r, nil
}

// Read matches the output and makes the object. A nil raw is no output at all, which
// no pattern matches, not even one of the empty text.
func (c commandReader) Read(raw []byte, limits strictjson.Limits) (strictjson.Value, *Rejection) {
	if len(raw) > limits.MaxBytes {
		return strictjson.Value{}, &Rejection{
			Layer: contract.LayerLimits, Reason: contract.ReasonByteLimit,
			Detail: "the output is longer than the contract allows", Offset: limits.MaxBytes,
		}
	}
	if at := firstInvalid(raw); at >= 0 {
		return strictjson.Value{}, &Rejection{
			Layer: contract.LayerSyntax, Reason: contract.ReasonEncoding,
			Detail: "the output is not UTF-8", Offset: at,
		}
	}
	match := c.pattern.FindSubmatchIndex(raw)
	if raw == nil || match == nil {
		return strictjson.Value{}, notPromised("", "the output is not what the pattern describes")
	}
	object, refused := c.object(raw, match)
	if refused != nil {
		return strictjson.Value{}, refused
	}
	// The object is read like any other, so that its strings and numbers obey the limits.
	// Its bytes are ours; those of the output were counted above.
	limits.MaxBytes = len(object)
	v, refused := jsonReader{}.Read(object, limits)
	if refused != nil {
		refused.Offset = 0 // that of a text which nobody has seen
	}
	return v, refused
}

// object writes the groups that took part as the members of one JSON object.
func (c commandReader) object(raw []byte, match []int) ([]byte, *Rejection) {
	out := []byte{'{'}
	for i, g := range c.groups {
		from, to := match[2*i], match[2*i+1]
		if g.name == "" || from < 0 {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(strictjson.AppendString(out, g.name), ':')
		switch {
		case g.token == nil:
			out = strictjson.AppendString(out, string(raw[from:to]))
		case g.token.Match(raw[from:to]):
			out = append(out, raw[from:to]...)
		default:
			return nil, notPromised(shownPointer(strictjson.Pointer{g.name}), "the group is not of the kind that the contract names")
		}
	}
	return append(out, '}'), nil
}

func notPromised(at, detail string) *Rejection {
	return &Rejection{
		Layer: contract.LayerAdapter, Reason: contract.ReasonCommandOutput, At: at, Detail: detail,
	}
}

// firstInvalid returns the offset of the first byte that is not UTF-8, or -1.
func firstInvalid(raw []byte) int {
	if utf8.Valid(raw) {
		return -1
	}
	for i := 0; i < len(raw); {
		r, size := utf8.DecodeRune(raw[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}
