package contract

import (
	"encoding/base64"
	"io/fs"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	yaml "go.yaml.in/yaml/v4"

	"github.com/hallmark-gate/hallmark/validators/format"
	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

var (
	requestForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.:-]{7,63}$`)
	sessionForm = regexp.MustCompile(`^[A-Za-z0-9._:@/-]{0,128}$`)
)

// parseTime reads a strict RFC 3339 date-time; a leap second is no clock's time.
func parseTime(s string) (time.Time, bool) {
	t, leap, err := format.DateTime(s)
	return t, err == nil && !leap
}

// A caseDraft is one case file being read.
type caseDraft struct {
	*source
	Case
	files map[string][]byte // of the contract's folder
	raws  []string          // the keys that gave raw bytes
	named string            // the file of raw_file
	// beyond is true where the case is of a kind that this program does not run.
	beyond bool
	// judged and accepted tell which members of want stand in the file.
	judged, accepted bool
}

// readCase reads one case; name is its path relative to the contract's folder dir.
func readCase(dir, name string, files map[string][]byte) *caseDraft {
	root, s := readYAML(dir+"/"+name, files[name])
	d := &caseDraft{source: s, files: files, Case: Case{File: name}}
	if root == nil {
		return d
	}
	if d.isArgumentCase(root) {
		return d
	}
	c := &d.Case
	d.object(root, "",
		need("why", d.text(&c.Why, maxSentence)),
		may("now", d.time(&c.Now)),
		may("request", d.request),
		may("evidence", d.list(0, d.fact)),
		may("upstream", d.upstream),
		may("raw", d.raw),
		may("raw_base64", d.raw),
		may("raw_file", d.raw),
		need("want", d.want),
	)
	if len(d.raws) > 1 {
		d.fault(root, "", "%s are given; a case has one of them", strings.Join(d.raws, " and "))
	}
	return d
}

// isArgumentCase notes the one fault of a case that asks for a decision about a call,
// in place of every fault that would follow from it.
func (d *caseDraft) isArgumentCase(root *yaml.Node) bool {
	if jsonKind(root) != strictjson.Object {
		return false
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		switch key := root.Content[i]; key.Value {
		case "call", "grants", "policies", "sources", "approval":
			d.beyond = true
			d.unsupported(key, key.Value+" (a case about a call's arguments)")
			return true
		}
	}
	return false
}

func (s *source) time(dst *time.Time) read {
	return func(n *yaml.Node, path string) {
		if !s.isKind(n, path, strictjson.String) {
			return
		}
		t, ok := parseTime(n.Value)
		if !ok {
			s.fault(n, "write it as in 2026-01-15T12:00:00Z", "%s: %s is not an RFC 3339 date-time", path, quote(n.Value))
			return
		}
		*dst = t
	}
}

func (d *caseDraft) request(n *yaml.Node, path string) {
	r := &d.Case.Request
	both := 0
	d.object(n, path,
		may("request_id", d.matching(&r.RequestID, requestForm, "a request id: 8 to 64 of letters, digits and _.:-")),
		may("session_id", d.matching(&r.SessionID, sessionForm, "a session id: at most 128 of letters, digits and ._:@/-")),
		may("call_id", d.text(&r.CallID, maxSource)),
		may("arguments", func(n *yaml.Node, path string) {
			both++
			if d.isKind(n, path, strictjson.Object) && d.json(n, path).Exists() {
				r.Arguments = string(appendJSON(nil, n))
			}
		}),
		may("arguments_json", func(n *yaml.Node, path string) {
			both++
			d.argumentsJSON(n, path)
		}),
		may("attempt", d.integer(&r.Attempt, 1, math.MaxInt32)),
		may("issued_at", d.time(&r.IssuedAt)),
		may("first_attempt_at", d.time(&r.FirstAttemptAt)),
	)
	if both > 1 {
		d.fault(n, "", "%s has arguments and arguments_json; a request has one of them", path)
	}
}

func (d *caseDraft) argumentsJSON(n *yaml.Node, path string) {
	if !d.isKind(n, path, strictjson.String) {
		return
	}
	v, err := strictjson.Parse([]byte(n.Value), strictjson.Ceilings())
	if err != nil || v.Kind() != strictjson.Object {
		d.fault(n, "", "%s is not one strict JSON object", path)
		return
	}
	d.Case.Request.Arguments = n.Value
}

func (d *caseDraft) fact(n *yaml.Node, path string) {
	var e CaseEvidence
	value := func(dst *strictjson.Value) read {
		return func(n *yaml.Node, path string) { *dst = d.json(n, path) }
	}
	d.object(n, path,
		need("tool", d.matching(&e.Tool, toolForm, "a tool name")),
		need("version", d.integer(&e.Version, 1, maxVersion)),
		may("arguments", value(&e.Arguments)),
		need("data", value(&e.Data)),
		may("observed_at", d.time(&e.ObservedAt)),
	)
	d.Case.Evidence = append(d.Case.Evidence, e)
}

func (d *caseDraft) upstream(n *yaml.Node, path string) {
	u := &d.Case.Upstream
	var given []string
	status := func(dst **int, least, most int) read {
		return func(n *yaml.Node, path string) {
			i := new(int)
			given = append(given, path)
			before := d.wrong
			d.integer(i, least, most)(n, path)
			if d.wrong == before {
				*dst = i
			}
		}
	}
	d.object(n, path,
		may("source", d.text(&u.Source, maxSource)),
		may("media_type", d.text(&u.MediaType, maxName)),
		may("adapter", d.matching(&u.Adapter, sessionForm, "an adapter's name: at most 128 of letters, digits and ._:@/-")),
		may("redirects", d.integer(&u.Redirects, 0, math.MaxInt32)),
		may("retry_after", d.duration(&u.RetryAfter, 0, maxAge)),
		may("http_status", status(&u.HTTPStatus, 0, math.MaxInt32)),
		may("exit_code", status(&u.ExitCode, math.MinInt32, math.MaxInt32)),
		may("grpc_status", status(&u.GRPCStatus, 0, math.MaxInt32)),
		may("jsonrpc_error", status(&u.JSONRPCError, math.MinInt32, math.MaxInt32)),
		may("transport_error", func(n *yaml.Node, path string) {
			given = append(given, path)
			word(d.source, &u.TransportError, TransportErrors()...)(n, path)
		}),
		may("tool_raised", func(n *yaml.Node, path string) {
			given = append(given, path)
			d.boolean(&u.ToolRaised)(n, path)
			if jsonKind(n) == strictjson.Bool && !u.ToolRaised {
				d.fault(n, "remove it", "%s can only be true", path)
			}
		}),
		may("raw_source", d.boolean(&u.RawSource)),
	)
	if len(given) > 1 {
		d.fault(n, "", "%s are given; a reply has one status at most", strings.Join(given, " and "))
	}
}

// raw reads the reply's bytes in whichever way they are given. No byte of them
// appears in a message.
func (d *caseDraft) raw(n *yaml.Node, key string) {
	d.raws = append(d.raws, key)
	if !d.isKind(n, key, strictjson.String) {
		return
	}
	switch key {
	case "raw":
		d.Case.Raw = []byte(n.Value)
	case "raw_base64":
		b, err := base64.StdEncoding.Strict().DecodeString(strings.Join(strings.Fields(n.Value), ""))
		if err != nil {
			d.fault(n, "", "raw_base64 is not base64 (RFC 4648 section 4, padded)")
			return
		}
		d.Case.Raw = b
	case "raw_file":
		if !fs.ValidPath(n.Value) {
			d.fault(n, "", "raw_file: %s is not a path below the contract's folder", quote(n.Value))
			return
		}
		b, ok := d.files[n.Value]
		if !ok {
			d.fault(n, "give the path relative to the contract's folder", "raw_file: there is no file %s", quote(n.Value))
			return
		}
		d.named = n.Value
		d.Case.Raw = slices.Clone(b)
	}
	if d.Case.Raw == nil {
		d.Case.Raw = []byte{}
	}
}
