package faulttest

import (
	"strings"

	"google.golang.org/protobuf/types/known/timestamppb"

	hallmarkv1 "github.com/hallmark-gate/hallmark/gen/hallmark/v1"
)

// reply is what a tool may return with a marker in it.
type reply struct {
	name string
	tool string
	args string
	up   *hallmarkv1.Upstream
	raw  func(marker string) string
	seen []string // sinks that may show the marker
	why  string
	kept bool // sealed, so that an operator can open it
}

// via is how a reply came.
func via(media string) *hallmarkv1.Upstream {
	return &hallmarkv1.Upstream{
		Source: "https://tool.example.test/v1", MediaType: media, ReceivedAt: timestamppb.Now(),
		Status: &hallmarkv1.Upstream_HttpStatus{HttpStatus: 200},
	}
}

func failed(media string, status uint32) *hallmarkv1.Upstream {
	u := via(media)
	u.Status = &hallmarkv1.Upstream_HttpStatus{HttpStatus: status}
	return u
}

func exited(code int32) *hallmarkv1.Upstream {
	return &hallmarkv1.Upstream{Source: "deployctl revision staging", Status: &hallmarkv1.Upstream_ExitCode{ExitCode: code}}
}

const (
	ofDeploy = `{"environment":"staging"}`
	ofReview = `{"change_id":"CR-1042"}`
	ofSearch = `{"query":"hallmarks of silver"}`
	ofPage   = `{"url":"https://docs.example.test/"}`

	// unknownName is why a name that nobody knows is seen: operators see where a reply
	// broke the contract, in the record and, with that role, in the reply (A17).
	unknownName = "a member's name that no schema knows, escaped and cut, in the pointer for operators"
)

var nameForOperators = []string{inRecord, inReply}

func around(before, after string) func(string) string {
	return func(m string) string { return before + m + after }
}

// jsonReplies: members of JSON, in every way in which a contract refuses or takes them.
func jsonReplies() []reply {
	deploy := func(name string, raw func(string) string) reply {
		return reply{name: name, tool: "deploy_status", args: ofDeploy, up: via("application/json"), raw: raw, kept: true}
	}
	named := func(r reply) reply {
		r.seen, r.why = nameForOperators, unknownName
		return r
	}
	accepted := deploy("an accepted name", func(m string) string {
		return `{"tool":"review_status","request_id":"` + payloadRequest + `","outcome":"success","data":{"change_id":"CR-1042","decision":"approved","reviewed_by":"` + m + `"}}`
	})
	accepted.tool, accepted.args, accepted.kept = "review_status", ofReview, false
	vendor := deploy("a vendor's member that nobody named", func(m string) string {
		return `{"number":1042,"title":"t","` + m + `":"` + m + `","review":{"id":7,"state":"APPROVED","user":{"id":7,"login":"ana"}}}`
	})
	vendor.tool, vendor.args, vendor.kept = "vendor_review", ofReview, false
	drifted := deploy("a vendor's state", func(m string) string {
		return `{"number":1042,"title":"t","review":{"id":7,"state":"` + m + `","user":{"id":7,"login":"ana"}}}`
	})
	drifted.tool, drifted.args = "vendor_review", ofReview
	redacted := deploy("an address that is redacted", around(`{"message_id":"m-1","to":"`, `@example.test"}`))
	redacted.tool, redacted.args, redacted.kept = "mail_send", `{"to":["ana@example.test"],"subject":"s","body":"b"}`, false
	unknown := deploy("a tool that nobody has", around(`{"a":"`, `"}`))
	unknown.tool = "nobody_has_it"
	return []reply{
		accepted, vendor, drifted, redacted, unknown,
		deploy("a value that no schema takes", around(`{"environment":"staging","revision":"a83f19c","state":"`, `"}`)),
		deploy("a value of another type", around(`{"environment":{"token":"`, `"},"revision":"a83f19c","state":"healthy"}`)),
		deploy("another environment", around(`{"environment":"`, `","revision":"a83f19c","state":"healthy"}`)),
		named(deploy("an unknown name", around(`{"environment":"staging","revision":"a83f19c","state":"healthy","`, `":1}`))),
		named(deploy("a repeated name", func(m string) string { return `{"` + m + `":1,"` + m + `":2}` })),
		deploy("broken off", around(`{"environment":"`, ``)),
		deploy("more behind it", around(`{"environment":"staging","revision":"a83f19c","state":"healthy"} `, ``)),
		deploy("too deep", func(m string) string { return strings.Repeat("[", 5000) + `"` + m + `"` }),
		deploy("too long", func(m string) string { return `{"environment":"` + strings.Repeat(m, 1000) + `"}` }),
		deploy("a large number", around(`{"environment":1e`, `}`)),
		deploy("an error page", around(`<html><body>password=`, `</body></html>`)),
		deploy("no UTF-8", around("{\"environment\":\"\xff", `"}`)),
	}
}

// textReplies: pages, texts, MCP and commands.
func textReplies() []reply {
	page := func(name, media string, raw func(string) string) reply {
		return reply{name: name, tool: "web_read", args: ofPage, up: via(media), raw: raw}
	}
	mcp := func(name string, raw func(string) string) reply {
		return reply{name: name, tool: "mcp_search", args: ofSearch, up: via("application/json"), raw: raw}
	}
	command := func(name string, code int32, raw func(string) string) reply {
		return reply{name: name, tool: "deployed_revision", args: ofDeploy, up: exited(code), raw: raw, kept: true}
	}
	refused := func(r reply) reply { r.kept = true; return r }
	down := page("a page of an error", "text/html", around("<p>trace ", "</p>"))
	down.up = failed("text/html", 503)
	raised := page("an exception", "text/plain", around("Traceback: password=", ""))
	raised.up = &hallmarkv1.Upstream{MediaType: "text/plain", Status: &hallmarkv1.Upstream_ToolRaised{ToolRaised: true}}
	named := refused(mcp("an unknown name of MCP", around(`{"content":[],"structuredContent":{"results":[],"`, `":1}}`)))
	named.seen, named.why = nameForOperators, unknownName
	return []reply{
		page("text", "text/plain", around("A word: ", ".")),
		page("visible text", "text/html", func(m string) string {
			return "<title>" + m + "</title><p title='" + m + "'>" + m + "<a href='https://ana:" + m + "@example.test/?q=" + m + "'>" + m + "</a>"
		}),
		page("hidden text", "text/html", func(m string) string {
			return "<!--" + m + "--><script>" + m + "</script><p hidden>" + m + "</p><input value=" + m + "><p>x"
		}),
		refused(page("no UTF-8", "text/plain", around("\xff\xfe ", ""))),
		refused(page("an image", "image/png", around("\x89PNG ", ""))),
		refused(down), refused(raised),
		mcp("text beside", around(`{"content":[{"type":"text","text":"`, `"}],"structuredContent":{"results":[]}}`)),
		mcp("an unknown member of the protocol", around(`{"content":[],"structuredContent":{"results":[]},"_meta":{"example.test/token":"`, `"}}`)),
		mcp("the words of an error", around(`{"content":[{"type":"text","text":"no: `, `"}],"isError":true}`)),
		refused(mcp("a value", around(`{"content":[],"structuredContent":{"results":"`, `"}}`))), named,
		refused(mcp("an unknown block", around(`{"content":[{"type":"`, `"}],"structuredContent":{"results":[]}}`))),
		command("output that is more", 0, around("revision=4f2a9c1d state=healthy\ntoken ", "\n")),
		command("other output", 0, around("", "\n")),
		command("output of a failure", 1, around("fatal: token=", "\n")),
	}
}
