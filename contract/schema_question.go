package contract

import (
	"bytes"
	"strings"

	yaml "go.yaml.in/yaml/v4"

	"github.com/hallmark-gate/hallmark/validators/strictjson"
)

// Questions are how a scaffold of a contract says what its source left open. A contract
// with an open question is refused, so that no guess of a program goes into service as
// if a person had decided it. A question is answered by correcting the value beside it
// and removing the question.
const (
	// questionKeyword is an annotation beside the place of a schema that it asks about.
	questionKeyword = "x-question"
	// questionMark begins a value or a comment of contract.yaml.
	questionMark = "QUESTION"
)

const questionCure = "decide, correct the value beside it, and remove the question"

// lintQuestion refuses an annotation that asks something.
func (g *graph) lintQuestion(l *location, v strictjson.Value) {
	what := ""
	if v.Kind() == strictjson.String {
		what = ": " + shown(v.Text())
	}
	g.rep.at(l.file, v, "an open question"+what, questionCure)
}

// questions refuses what contract.yaml leaves to be filled in: comments on lines of
// their own, and keys and values, that begin with QUESTION.
func (s *source) questions(root *yaml.Node, src []byte) {
	number := 0
	for line := range bytes.Lines(src) {
		number++
		text := bytes.TrimLeft(line, " \t")
		comment, ok := bytes.CutPrefix(text, []byte("#"))
		comment = bytes.TrimSpace(comment)
		if ok && bytes.HasPrefix(comment, []byte(questionMark)) {
			at := place{number, len(line) - len(text) + 1}
			s.faultAt(at, questionCure, "an open question: %s", quote(string(comment)))
		}
	}
	if root != nil {
		s.questionsIn(root)
	}
}

// questionsIn walks a checked document, whose depth readYAML bounds.
func (s *source) questionsIn(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode && strings.HasPrefix(n.Value, questionMark) {
		s.fault(n, "write the answer here", "an open question: %s", quote(n.Value))
	}
	for _, c := range n.Content {
		s.questionsIn(c)
	}
}

// MachinePattern reports whether a regular expression makes a string a machine value:
// anchored at both ends, of at most 64 code points, without white space. It is false
// for what RE2 cannot compile.
func MachinePattern(expr string) bool { return matchesOf(expr).machine() }
