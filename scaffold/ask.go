package scaffold

import (
	"strconv"
	"strings"
)

// questionKeyword is the annotation that package contract refuses.
const questionKeyword = "x-question"

// ask puts a question beside a place of a schema; several are joined. The question
// comes first, so that its line can be deleted alone.
func ask(o *object, question string) {
	if old := text(o.get(questionKeyword)); old != "" {
		if !strings.Contains(old, question) {
			o.at[questionKeyword] = old + " " + question
		}
		return
	}
	o.at[questionKeyword] = question
	o.names = append([]string{questionKeyword}, o.names...)
}

// questionsIn lists the questions of a schema with their places, in its order.
func questionsIn(v any, at string) []string {
	var out []string
	switch v := v.(type) {
	case []any:
		for i, e := range v {
			out = append(out, questionsIn(e, at+"/"+strconv.Itoa(i))...)
		}
	case *object:
		for _, name := range v.names {
			if q, ok := v.at[name].(string); ok && name == questionKeyword {
				out = append(out, "#"+at+": "+q)
			} else {
				out = append(out, questionsIn(v.at[name], at+"/"+escape(name))...)
			}
		}
	}
	return out
}

// scalars are the types of values that need no description of what is in them.
var scalars = []string{"string", "number", "boolean", "null"}

// unknownValue is what stands where the source describes nothing: a scalar, since an
// object or an array that nobody describes cannot be judged.
func unknownValue(question string) *object {
	o := newObject().set("type", anys(scalars))
	ask(o, question)
	return o
}

// questionMark begins what contract.yaml leaves to be filled in.
const questionMark = "QUESTION"
