package validators

import (
	"slices"
	"sort"

	"github.com/hallmark-gate/hallmark/contract"
	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// A framing is what stands around the payload of a tool's replies. It is immutable and
// safe for concurrent use.
type framing interface {
	// unframe takes the framing off v, a reply to r. A verdict, where there is one, is
	// final: the framing is broken, or it reports a failure.
	unframe(v strictjson.Value, r Request) (frame, *Verdict)
}

// frame is a reply with its framing taken off.
type frame struct {
	payload strictjson.Value // for kind text the list of blocks
	// under is where the payload stands in the received bytes; empty where an adapter
	// made it.
	under strictjson.Pointer
	// foreign is set where the reply belongs to another request than ours. It is refused
	// with the semantic checks, after the schema.
	foreign *Rejection
	// dropped counts, by signal, what stood beside the payload, or in it before an
	// adapter made it anew, and goes no further.
	dropped map[string]uint64
}

// framingOf returns the framing of a contract's replies.
func framingOf(c *contract.Contract) framing {
	switch c.Result.Framing {
	case contract.FramingEnvelope:
		return envelope{tool: c.Tool, codes: c.Result.FailureCodes, under: strictjson.Pointer{"data"}}
	case contract.FramingMCP:
		return callResultOf(c)
	case contract.FramingJSONRPC:
		return response{callResultOf(c)}
	}
	return bare{}
}

// bare is the framing of a payload that stands alone.
type bare struct{}

func (bare) unframe(v strictjson.Value, _ Request) (frame, *Verdict) { return frame{payload: v}, nil }

// reported is the verdict on a reply in which the tool itself, in the promised shape,
// says that it failed. None of the payload's rules are asked (D2).
func reported(code contract.FailureCode, at, detail string) Verdict {
	return Verdict{Code: code, Rejections: []Rejection{{
		Layer: contract.LayerTransport, Reason: contract.ReasonToolReported, At: at, Detail: detail,
	}}}
}

// A shape collects what is wrong with the framing of one reply, whose parts are the
// service's to know and not the contract's.
type shape struct {
	name   string      // of the framing
	faults []Rejection // Offset holds the place by which they are ordered
}

// refusal is the verdict on the faults, in the order of the input; nil without any.
func (s *shape) refusal() *Verdict {
	if len(s.faults) == 0 {
		return nil
	}
	sort.SliceStable(s.faults, func(i, j int) bool { return s.faults[i].Offset < s.faults[j].Offset })
	for i := range s.faults {
		s.faults[i].Offset = 0
	}
	refused := Refuse(s.faults...)
	return &refused
}

func (s *shape) fault(at, keyword string, order int) {
	s.faults = append(s.faults, Rejection{
		Layer: contract.LayerSchema, Reason: contract.ReasonSchema,
		At: at, Keyword: keyword, SchemaPath: s.name,
		Detail: "the framing has not the promised shape", Offset: order,
	})
}

// full reports whether more faults would not be reported anyway.
func (s *shape) full() bool { return len(s.faults) >= MaxRejections }

// is notes a value of another kind, and reports whether v is there with this one.
func (s *shape) is(v strictjson.Value, kind strictjson.Kind, at string) bool {
	if v.Exists() && v.Kind() != kind {
		s.fault(at, "type", v.Offset())
	}
	return v.Kind() == kind
}

// require notes members that are missing; their place is where the object ends.
func (s *shape) require(v strictjson.Value, under string, names ...string) {
	for _, name := range names {
		if !v.Member(name).Exists() {
			s.fault(under+"/"+name, "required", v.End())
		}
	}
}

// refuseOthers notes the first members that are not known; more than can be reported
// are not collected.
func (s *shape) refuseOthers(v strictjson.Value, under string, known ...string) {
	noted := 0
	for name, m := range v.Members() {
		if slices.Contains(known, name) {
			continue
		}
		if noted++; noted > MaxRejections {
			return
		}
		s.fault(under+shownPointer(strictjson.Pointer{name}), "additionalProperties", m.Offset())
	}
}
