package contract

import (
	"encoding/base64"
	"io/fs"
	"math"
	"regexp"
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
	files    map[string][]byte // of the contract's folder
	raws     []string          // the keys that gave raw bytes
	named    []string          // the files that the case names
	policies string            // the one of them that holds policies
	// inCall is true where the case is about a call and not about a reply.
	inCall bool
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
	d.inCall = hasKey(root, "call")
	c := &d.Case
	d.object(root, "",
		need("why", d.text(&c.Why, maxSentence)),
		may("now", d.time(&c.Now)),
		may("request", d.request),
		may("evidence", d.list(0, d.fact)),
		may("upstream", d.only(false, d.upstream)),
		may("raw", d.only(false, d.rawText(&c.Raw))),
		may("raw_base64", d.only(false, d.rawBase64(&c.Raw))),
		may("raw_file", d.only(false, d.rawFile)),
		may("call", d.call),
		may("grants", d.only(true, d.atMost(maxGrants, d.grant))),
		may("policies", d.only(true, d.policyFile)),
		may("sources", d.only(true, d.list(0, d.delivered))),
		may("approval", d.only(true, word(d.source, &c.Approval, "approve", "reject"))),
		need("want", d.want),
	)
	if len(d.raws) > 1 && !d.inCall {
		d.fault(root, "", "%s are given; a case has one of them", strings.Join(d.raws, " and "))
	}
	if d.inCall {
		d.nameCall()
	}
	return d
}

func hasKey(n *yaml.Node, name string) bool {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return true
		}
	}
	return false
}

// only reads a key that belongs to cases about a call, or to those about a reply.
func (d *caseDraft) only(inCall bool, r read) read {
	return func(n *yaml.Node, path string) {
		switch {
		case inCall && !d.inCall:
			d.faultAt(d.places[path], "add call, or remove it", "%s belongs to a case about a call; this one has no call", path)
		case !inCall && d.inCall:
			d.faultAt(d.places[path], "remove it, or call", "%s belongs to a case about a reply; this one has call", path)
		}
		r(n, path)
	}
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

// request reads the outstanding request; of a call that is proposed, which names itself,
// what it can have of it.
func (d *caseDraft) request(n *yaml.Node, path string) {
	r := &d.Case.Request
	both := 0
	names := []field{
		may("request_id", d.matching(&r.RequestID, requestForm, "a request id: 8 to 64 of letters, digits and _.:-")),
		may("session_id", d.matching(&r.SessionID, sessionForm, "a session id: at most 128 of letters, digits and ._:@/-")),
	}
	if d.inCall {
		d.object(n, path, names...)
		return
	}
	d.object(n, path, append(names,
		may("call_id", d.text(&r.CallID, maxSource)),
		may("arguments", func(n *yaml.Node, path string) {
			both++
			if d.isKind(n, path, strictjson.Object) && d.json(n, path).Exists() {
				r.Arguments = string(appendJSON(nil, n))
			}
		}),
		may("arguments_json", func(n *yaml.Node, path string) {
			both++
			if d.isArguments(n, path) {
				r.Arguments = n.Value
			}
		}),
		may("attempt", d.integer(&r.Attempt, 1, math.MaxInt32)),
		may("issued_at", d.time(&r.IssuedAt)),
		may("first_attempt_at", d.time(&r.FirstAttemptAt)),
	)...)
	if both > 1 {
		d.fault(n, "", "%s has arguments and arguments_json; a request has one of them", path)
	}
}

// isArguments reports whether a node is the text of an argument object.
func (d *caseDraft) isArguments(n *yaml.Node, path string) bool {
	if !d.isKind(n, path, strictjson.String) {
		return false
	}
	v, err := strictjson.Parse([]byte(n.Value), strictjson.Ceilings())
	if err != nil || v.Kind() != strictjson.Object {
		d.fault(n, "", "%s is not one strict JSON object", path)
		return false
	}
	return true
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
	var ignored struct {
		at           time.Time
		reserialized bool
	}
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
		// What callers report for the record alone; no verdict depends on it.
		may("received_at", d.time(&ignored.at)),
		may("reserialized", d.boolean(&ignored.reserialized)),
	)
	if len(given) > 1 {
		d.fault(n, "", "%s are given; a reply has one status at most", strings.Join(given, " and "))
	}
}

// The ways to give raw bytes. No byte of them appears in a message.

func (d *caseDraft) rawText(dst *[]byte) read {
	return func(n *yaml.Node, path string) {
		d.raws = append(d.raws, path)
		if d.isKind(n, path, strictjson.String) {
			*dst = []byte(n.Value)
		}
	}
}

func (d *caseDraft) rawBase64(dst *[]byte) read {
	return func(n *yaml.Node, path string) {
		d.raws = append(d.raws, path)
		if !d.isKind(n, path, strictjson.String) {
			return
		}
		b, err := base64.StdEncoding.Strict().DecodeString(strings.Join(strings.Fields(n.Value), ""))
		if err != nil {
			d.fault(n, "", "%s is not base64 (RFC 4648 section 4, padded)", path)
			return
		}
		*dst = b
	}
}

func (d *caseDraft) rawFile(n *yaml.Node, path string) {
	d.raws = append(d.raws, path)
	if name, ok := d.folderFile(n, path); ok {
		d.Case.Raw = append([]byte{}, d.files[name]...)
	}
}

// folderFile reads the name of a file of the contract's folder: relative to the folder,
// or, where there is none, to that of the cases.
func (d *caseDraft) folderFile(n *yaml.Node, path string) (name string, ok bool) {
	if !d.isKind(n, path, strictjson.String) {
		return "", false
	}
	if !fs.ValidPath(n.Value) {
		d.fault(n, "", "%s: %s is not a path below the contract's folder", path, quote(n.Value))
		return "", false
	}
	for _, name := range []string{n.Value, casesDir + "/" + n.Value} {
		if _, ok := d.files[name]; ok {
			d.named = append(d.named, name)
			return name, true
		}
	}
	d.fault(n, "give the path relative to the contract's folder", "%s: there is no file %s", path, quote(n.Value))
	return "", false
}
