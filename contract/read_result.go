package contract

import (
	"math"
	"slices"

	yaml "go.yaml.in/yaml/v4"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// The checks whose meaning the lint knows. All others are known to the registry of
// checks alone.
const (
	useEquals    = "equals"
	useFresh     = "fresh"
	useSignature = "signature"
	useAfter     = "after"
	useCEL       = "cel"
)

func (d *draft) result(n *yaml.Node, path string) {
	r := &d.contract.Result
	*r = Result{Framing: FramingPayload, Limits: strictjson.Ceilings()}
	members := !isText(n)
	d.object(n, path,
		need("kind", word(d.source, &r.Kind, KindJSON, KindText, KindCommand)),
		may("framing", word(d.source, &r.Framing, FramingPayload, FramingEnvelope, FramingMCP, FramingJSONRPC)),
		may("media_types", d.list(1, collect(d.source, &r.MediaTypes, func(dst *string) read {
			return d.matching(dst, mediaForm, "a media type: lowercase type/subtype without parameters")
		}))),
		may("limits", d.limits),
		field{"schema", members, d.schema(&r.Schema)},
		may("text_fields", d.list(0, d.textField)),
		may("max_list", d.maxList),
		may("checks", d.list(0, d.check)),
		field{"agent_fields", members, d.pointers(&r.AgentFields, 1)},
		may("not_given", d.reasons(&r.NotGiven)),
		may("not_found", d.notFound),
		may("failure", d.failure),
		may("failure_codes", d.failureCodes),
		may("unbound", d.text(&r.Unbound, maxSentence)),
		may("adapter", d.adapter),
		may("command", d.command),
		may("text", d.textRules),
	)
	d.commandKind(n)
	d.textKind()
	if r.MediaTypes == nil {
		r.MediaTypes = r.defaultMediaTypes()
	}
	if r.FailureCodes == nil && r.Framing == FramingEnvelope {
		r.FailureCodes = []FailureCode{NotFound, UpstreamUnavailable, InvalidResponse}
	}
}

// limits reads what narrows the service's ceilings.
func (d *draft) limits(n *yaml.Node, path string) {
	l := &d.contract.Result.Limits
	d.object(n, path,
		may("max_bytes", d.narrower(&l.MaxBytes)),
		may("max_depth", d.narrower(&l.MaxDepth)),
		may("max_items", d.narrower(&l.MaxItems)),
		may("max_string_chars", d.narrower(&l.MaxStringChars)),
		may("max_number_chars", d.narrower(&l.MaxNumberChars)),
	)
}

// narrower reads a limit that is not wider than the ceiling that dst holds.
func (d *draft) narrower(dst *int) read {
	return func(n *yaml.Node, path string) {
		limit := *dst
		d.integer(&limit, 1, math.MaxInt32)(n, path)
		if limit > *dst {
			d.fault(n, "a contract may limit further, never widen",
				"%s: %d is wider than the service's ceiling of %d", path, limit, *dst)
			return
		}
		*dst = limit
	}
}

func (d *draft) textField(n *yaml.Node, path string) {
	f := TextField{As: AsPlain, Profile: profileProse}
	before := d.wrong
	d.object(n, path,
		need("at", d.pointer(&f.At)),
		may("as", word(d.source, &f.As, AsPlain, AsHTML, AsURL)),
		may("max_chars", d.integer(&f.MaxChars, 1, maxTextChars)),
		may("profile", word(d.source, &f.Profile, profileProse, profileCode)),
	)
	if d.wrong > before {
		return
	}
	fields := &d.contract.Result.TextFields
	if slices.ContainsFunc(*fields, func(g TextField) bool { return slices.Equal(f.At, g.At) }) {
		d.fault(n, "", "%s: %s is declared twice", path, quote(f.At.String()))
		return
	}
	*fields = append(*fields, f)
}

// check reads {use, with, name} or {cel, name}.
func (d *draft) check(n *yaml.Node, path string) {
	c := Check{Line: n.Line, Column: n.Column}
	var expr string
	before := d.wrong
	d.object(n, path,
		may("use", d.matching(&c.Use, nameForm, "the name of a check")),
		may("with", func(n *yaml.Node, path string) {
			if d.isKind(n, path, strictjson.Object) {
				c.With = d.json(n, path)
			}
		}),
		may("cel", d.text(&expr, maxSentence)),
		may("name", d.matching(&c.Name, nameForm, "a name: letters, digits and _.-, at most 64")),
	)
	if d.wrong > before {
		return
	}
	switch {
	case expr != "" && (c.Use != "" || c.With.Exists()):
		d.fault(n, "split it", "%s has cel beside use or with", path)
	case c.Use == useCEL:
		d.fault(n, "write {cel: EXPRESSION, name: NAME}", "%s: cel is written as a key of its own", path)
	case expr != "":
		c.Use = useCEL
		text := append(strictjson.AppendString([]byte(`{"expr":`), expr), '}')
		c.With, _ = strictjson.Parse(text, strictjson.Ceilings())
	case c.Use == "":
		d.fault(n, "", "%s has neither use nor cel", path)
	case !c.With.Exists():
		d.fault(n, "", "%s.with is missing", path)
	}
	if c.Name == "" {
		c.Name = c.Use
	}
	if d.wrong == before {
		d.contract.Result.Checks = append(d.contract.Result.Checks, c)
	}
}

func (d *draft) notFound(n *yaml.Node, path string) {
	status := func(dst *int) read {
		return func(n *yaml.Node, path string) {
			d.integer(dst, 400, 499)(n, path)
			switch *dst {
			case 401, 403, 408, 429:
				d.fault(n, "", "%s: %d has a meaning of its own and cannot mean NOT_FOUND", path, *dst)
			}
		}
	}
	d.object(n, path, need("http_status", d.list(1, collect(d.source, &d.contract.Result.NotFoundHTTP, status))))
}

func (d *draft) failure(n *yaml.Node, path string) {
	d.object(n, path, need("display_text", d.integer(&d.contract.Result.DisplayText, 0, maxDisplay)))
}

func (d *draft) failureCodes(n *yaml.Node, path string) {
	codes := &d.contract.Result.FailureCodes
	*codes = []FailureCode{}
	d.list(0, collect(d.source, codes, func(dst *FailureCode) read {
		return word(d.source, dst, FailureCodes()...)
	}))(n, path)
}
