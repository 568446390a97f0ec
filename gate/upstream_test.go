package gate

import (
	"testing"

	"github.com/hallmark-gate/hallmark/contract"
)

func readOnly() *contract.Contract {
	return &contract.Contract{
		Effect: contract.ReadOnly,
		Result: contract.Result{MediaTypes: []string{"application/json"}, NotFoundHTTP: []int{404, 410}},
	}
}

func TestArrive(t *testing.T) { // A7, A19, D11
	transport := func(e contract.TransportError) Status { return Status{Kind: StatusTransport, Transport: e} }
	for _, row := range []struct {
		line   string
		up     Upstream
		code   contract.FailureCode // "": arrives
		reason contract.Reason
		layer  contract.Layer
	}{
		{"no status means success", Upstream{}, "", "", ""},
		{"HTTP 200", Upstream{Status: Status{Kind: StatusHTTP, Code: 200}}, "", "", ""},
		{"HTTP 299", Upstream{Status: Status{Kind: StatusHTTP, Code: 299}}, "", "", ""},
		{"HTTP 0", Upstream{Status: Status{Kind: StatusHTTP}}, contract.InvalidResponse, contract.ReasonUpstreamStatus, contract.LayerTransport},
		{"HTTP 302", Upstream{Status: Status{Kind: StatusHTTP, Code: 302}}, contract.InvalidResponse, contract.ReasonUpstreamStatus, contract.LayerTransport},
		{"HTTP 400", Upstream{Status: Status{Kind: StatusHTTP, Code: 400}}, contract.InvalidResponse, contract.ReasonUpstreamStatus, contract.LayerTransport},
		{"HTTP 401", Upstream{Status: Status{Kind: StatusHTTP, Code: 401}}, contract.NotAuthorized, contract.ReasonUpstreamStatus, contract.LayerTransport},
		{"HTTP 403", Upstream{Status: Status{Kind: StatusHTTP, Code: 403}}, contract.NotAuthorized, contract.ReasonUpstreamStatus, contract.LayerTransport},
		{"HTTP 404 by contract", Upstream{Status: Status{Kind: StatusHTTP, Code: 404}}, contract.NotFound, contract.ReasonUpstreamStatus, contract.LayerTransport},
		{"HTTP 410 by contract", Upstream{Status: Status{Kind: StatusHTTP, Code: 410}}, contract.NotFound, contract.ReasonUpstreamStatus, contract.LayerTransport},
		{"HTTP 408", Upstream{Status: Status{Kind: StatusHTTP, Code: 408}}, contract.UpstreamUnavailable, contract.ReasonUpstreamStatus, contract.LayerTransport},
		{"HTTP 429", Upstream{Status: Status{Kind: StatusHTTP, Code: 429}}, contract.UpstreamUnavailable, contract.ReasonUpstreamStatus, contract.LayerTransport},
		{"HTTP 500", Upstream{Status: Status{Kind: StatusHTTP, Code: 500}}, contract.UpstreamUnavailable, contract.ReasonUpstreamStatus, contract.LayerTransport},
		{"HTTP 599", Upstream{Status: Status{Kind: StatusHTTP, Code: 599}}, contract.UpstreamUnavailable, contract.ReasonUpstreamStatus, contract.LayerTransport},
		{"HTTP 600", Upstream{Status: Status{Kind: StatusHTTP, Code: 600}}, contract.InvalidResponse, contract.ReasonUpstreamStatus, contract.LayerTransport},
		{"exit 0", Upstream{Status: Status{Kind: StatusExit}}, "", "", ""},
		{"exit 1", Upstream{Status: Status{Kind: StatusExit, Code: 1}}, contract.InvalidResponse, contract.ReasonUpstreamStatus, contract.LayerTransport},
		{"gRPC 0", Upstream{Status: Status{Kind: StatusGRPC}}, "", "", ""},
		{"gRPC 2", Upstream{Status: Status{Kind: StatusGRPC, Code: 2}}, contract.InvalidResponse, contract.ReasonUpstreamStatus, contract.LayerTransport},
		{"gRPC 4", Upstream{Status: Status{Kind: StatusGRPC, Code: 4}}, contract.UpstreamUnavailable, contract.ReasonUpstreamStatus, contract.LayerTransport},
		{"gRPC 5", Upstream{Status: Status{Kind: StatusGRPC, Code: 5}}, contract.NotFound, contract.ReasonUpstreamStatus, contract.LayerTransport},
		{"gRPC 7", Upstream{Status: Status{Kind: StatusGRPC, Code: 7}}, contract.NotAuthorized, contract.ReasonUpstreamStatus, contract.LayerTransport},
		{"gRPC 8", Upstream{Status: Status{Kind: StatusGRPC, Code: 8}}, contract.UpstreamUnavailable, contract.ReasonUpstreamStatus, contract.LayerTransport},
		{"gRPC 14", Upstream{Status: Status{Kind: StatusGRPC, Code: 14}}, contract.UpstreamUnavailable, contract.ReasonUpstreamStatus, contract.LayerTransport},
		{"gRPC 16", Upstream{Status: Status{Kind: StatusGRPC, Code: 16}}, contract.NotAuthorized, contract.ReasonUpstreamStatus, contract.LayerTransport},
		{"JSON-RPC invalid params", Upstream{Status: Status{Kind: StatusJSONRPC, Code: -32602}}, contract.InvalidArguments, contract.ReasonUpstreamStatus, contract.LayerTransport},
		{"JSON-RPC internal error", Upstream{Status: Status{Kind: StatusJSONRPC, Code: -32603}}, contract.ToolFailed, contract.ReasonUpstreamStatus, contract.LayerTransport},
		{"JSON-RPC code 0 is an error all the same", Upstream{Status: Status{Kind: StatusJSONRPC}}, contract.ToolFailed, contract.ReasonUpstreamStatus, contract.LayerTransport},
		{"an exception", Upstream{Status: Status{Kind: StatusRaised}}, contract.ToolFailed, contract.ReasonUpstreamStatus, contract.LayerTransport},
		{"time-out", Upstream{Status: transport(contract.TransportTimeout)}, contract.UpstreamUnavailable, contract.ReasonUpstreamTransport, contract.LayerTransport},
		{"connect", Upstream{Status: transport(contract.TransportConnect)}, contract.UpstreamUnavailable, contract.ReasonUpstreamTransport, contract.LayerTransport},
		{"tls", Upstream{Status: transport(contract.TransportTLS)}, contract.UpstreamUnavailable, contract.ReasonUpstreamTransport, contract.LayerTransport},
		{"cancelled", Upstream{Status: transport(contract.TransportCancelled)}, contract.UpstreamUnavailable, contract.ReasonUpstreamTransport, contract.LayerTransport},
		{"other", Upstream{Status: transport(contract.TransportOther)}, contract.UpstreamUnavailable, contract.ReasonUpstreamTransport, contract.LayerTransport},
		{"too large", Upstream{Status: transport(contract.TransportTooLarge)}, contract.InvalidResponse, contract.ReasonByteLimit, contract.LayerLimits},
		{"three redirects", Upstream{Redirects: 3}, "", "", ""},
		{"four redirects", Upstream{Redirects: 4}, contract.InvalidResponse, contract.ReasonRedirects, contract.LayerTransport},
		{"the media type with parameters and in capitals", Upstream{MediaType: "Application/JSON; charset=UTF-8"}, "", "", ""},
		{"another media type", Upstream{MediaType: "text/html"}, contract.InvalidResponse, contract.ReasonMediaType, contract.LayerTransport},
		{"a malformed media type", Upstream{MediaType: "application/json; charset"}, contract.InvalidResponse, contract.ReasonMediaType, contract.LayerTransport},
		{"status before redirects before media type", Upstream{Status: Status{Kind: StatusHTTP, Code: 503}, Redirects: 9, MediaType: "text/html"}, contract.UpstreamUnavailable, contract.ReasonUpstreamStatus, contract.LayerTransport},
		{"redirects before media type", Upstream{Redirects: 9, MediaType: "text/html"}, contract.InvalidResponse, contract.ReasonRedirects, contract.LayerTransport},
	} {
		t.Run(row.line, func(t *testing.T) {
			got, refused := arrive(readOnly(), Caller{}, row.up)
			if refused != (row.code != "") || got.code != row.code || got.rejection.Reason != row.reason || got.rejection.Layer != row.layer {
				t.Errorf("got %v %+v", refused, got)
			}
		})
	}
}

func TestSeveralMediaTypesNeedADeclaration(t *testing.T) {
	c := readOnly()
	c.Result.MediaTypes = []string{"application/json", "application/problem+json"}
	if _, refused := arrive(c, Caller{}, Upstream{}); !refused {
		t.Error("an undeclared media type was guessed")
	}
	if got := mediaType(c.Result.MediaTypes, "application/Problem+JSON"); got != "application/problem+json" {
		t.Errorf("spelled %q, want the contract's spelling", got)
	}
}

// A side effect that may have happened is never reported as one that did not (A19).
func TestSideEffectOutcome(t *testing.T) {
	for _, row := range []struct {
		line string
		s    Status
		want contract.FailureCode
	}{
		{"nothing left", Status{Kind: StatusTransport, Transport: contract.TransportConnect}, contract.UpstreamUnavailable},
		{"time-out", Status{Kind: StatusTransport, Transport: contract.TransportTimeout}, contract.OutcomeUnknown},
		{"tls", Status{Kind: StatusTransport, Transport: contract.TransportTLS}, contract.OutcomeUnknown},
		{"cancelled", Status{Kind: StatusTransport, Transport: contract.TransportCancelled}, contract.OutcomeUnknown},
		{"other", Status{Kind: StatusTransport, Transport: contract.TransportOther}, contract.OutcomeUnknown},
		{"too large a reply", Status{Kind: StatusTransport, Transport: contract.TransportTooLarge}, contract.OutcomeUnknown},
		{"HTTP 500", Status{Kind: StatusHTTP, Code: 500}, contract.OutcomeUnknown},
		{"HTTP 408", Status{Kind: StatusHTTP, Code: 408}, contract.OutcomeUnknown},
		{"refused before anything was done", Status{Kind: StatusHTTP, Code: 403}, contract.NotAuthorized},
		{"no such thing to act on", Status{Kind: StatusHTTP, Code: 404}, contract.NotFound},
		{"arguments that the method does not take", Status{Kind: StatusJSONRPC, Code: -32602}, contract.InvalidArguments},
		{"an exception", Status{Kind: StatusRaised}, contract.OutcomeUnknown},
	} {
		t.Run(row.line, func(t *testing.T) {
			for _, idempotent := range []bool{false, true} {
				c := readOnly()
				c.Effect, c.Idempotent = contract.SideEffect, idempotent
				c.Retry = &contract.Retry{MaxAttempts: 3, Budget: 1 << 40, Delay: 1, On: contract.FailureCodes()}
				a, _ := arrive(c, Caller{}, Upstream{Status: row.s})
				o := refuse(outcomeOf(c, a.code), prepared{}, Judgement{Now: noon}, a)
				got := o.Result.Failure
				if !idempotent && got.Code != row.want {
					t.Errorf("got %s, want %s", got.Code, row.want)
				}
				if idempotent && got.Code == contract.OutcomeUnknown {
					t.Error("an idempotent effect has no unknown outcome")
				}
				if got.Code == contract.OutcomeUnknown && got.Retryable {
					t.Error("an unknown outcome is never retried")
				}
			}
		})
	}
}
