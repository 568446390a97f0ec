package contract

import (
	yaml "go.yaml.in/yaml/v4"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// want reads what a case must get: a failure, data, a text, or a decision.
func (d *caseDraft) want(n *yaml.Node, path string) {
	w := &d.Case.Want
	at := d.places[path]
	w.Line, w.Column = at.line, at.column
	var refusing, accepting []string // the keys of either kind that stand in the file
	refuse := func(r read) read {
		return d.only(false, func(n *yaml.Node, path string) { refusing = append(refusing, path); r(n, path) })
	}
	accept := func(r read) read {
		return d.only(false, func(n *yaml.Node, path string) { accepting = append(accepting, path); r(n, path) })
	}
	fields := []field{
		may("failure", func(n *yaml.Node, path string) {
			d.judged = true
			word(d.source, &w.Failure, FailureCodes()...)(n, path)
		}),
		may("retryable", refuse(func(n *yaml.Node, path string) {
			w.Retryable = new(bool)
			d.boolean(w.Retryable)(n, path)
		})),
		may("layer", refuse(word(d.source, &w.Layer, Layers()...))),
		may("reason", refuse(word(d.source, &w.Reason, Reasons()...))),
		may("at", func(n *yaml.Node, path string) {
			refusing = append(refusing, path)
			d.wantAt(n, path)
		}),
		may("check", refuse(d.matching(&w.Check, nameForm, "the name of a check"))),
		may("display_text", refuse(d.exactly(&w.DisplayText))),
		may("data", d.only(false, func(n *yaml.Node, path string) {
			d.accepted = true
			w.Data = d.json(n, path)
		})),
		may("text", d.only(false, func(n *yaml.Node, path string) {
			d.exactly(&w.Text)(n, path)
			d.accepted = d.accepted || w.Text != nil
		})),
		may("title", accept(d.exactly(&w.Title))),
		may("links", accept(d.wantLinks)),
		may("normalization", accept(word(d.source, &w.Normalization, "NFKC", "NFC"))),
		may("untrusted_text", accept(d.untrustedText)),
		may("truncated", accept(func(n *yaml.Node, path string) {
			w.Truncated = new(bool)
			d.boolean(w.Truncated)(n, path)
		})),
	}
	d.object(n, path, append(fields, d.decision()...)...)
	if d.inCall {
		d.checkDecision(n, path)
	} else {
		d.checkWant(n, path, refusing, accepting)
	}
}

// checkWant refuses a verdict that is both, neither, or a mixture.
func (d *caseDraft) checkWant(n *yaml.Node, path string, refusing, accepting []string) {
	switch {
	case jsonKind(n) != strictjson.Object, d.said("want.decision"): // a fault already
	case d.judged && d.accepted:
		d.fault(n, "", "%s has failure and data or text; a verdict is one of them", path)
	case !d.judged && !d.accepted:
		d.fault(n, "write {failure: …}, {data: …} or {text: …}", "%s has neither failure, data nor text", path)
	case d.Case.Want.Text != nil && d.Case.Want.Data.Exists():
		d.fault(n, "", "%s has data and text; a result is one of them", path)
	case d.accepted && len(refusing) > 0:
		d.fault(n, "", "%s belongs to a failure, and data or text is wanted", refusing[0])
	case d.judged && len(accepting) > 0:
		d.fault(n, "", "%s belongs to data or text, and a failure is wanted", accepting[0])
	}
}

// exactly reads a string that may be empty.
func (d *caseDraft) exactly(dst **string) read {
	return func(n *yaml.Node, path string) {
		if d.isKind(n, path, strictjson.String) {
			text := n.Value
			*dst = &text
		}
	}
}

func (d *caseDraft) wantLinks(n *yaml.Node, path string) {
	links := []WantLink{}
	d.list(0, func(n *yaml.Node, path string) {
		var l WantLink
		d.object(n, path,
			need("text", d.text(&l.Text, maxSentence)),
			need("href", d.text(&l.Href, maxSource)),
		)
		links = append(links, l)
	})(n, path)
	d.Case.Want.Links = links
}

func (d *caseDraft) wantAt(n *yaml.Node, path string) {
	if d.isPointer(n, path) {
		at := n.Value
		d.Case.Want.At = &at
	}
}

func (d *caseDraft) untrustedText(n *yaml.Node, path string) {
	texts := []string{}
	d.list(0, collect(d.source, &texts, func(dst *string) read {
		return func(n *yaml.Node, path string) {
			if d.isPointer(n, path) {
				*dst = n.Value
			}
		}
	}))(n, path)
	d.Case.Want.UntrustedText = texts
}
