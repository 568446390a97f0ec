package scaffold

import (
	"strconv"
	"strings"
)

// oneLine is a text for a comment or a description: one line, no longer than people
// read, without what does not print.
func oneLine(s string) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r <= ' ' || !strconv.IsPrint(r) }), " ")
	if r := []rune(s); len(r) > 400 {
		return string(r[:400]) + "…"
	}
	return s
}

func depth(v any) int {
	most := 0
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			most = max(most, depth(e))
		}
		return most + 1
	case *object:
		for _, name := range v.names {
			most = max(most, depth(v.at[name]))
		}
		return most + 1
	}
	return 0
}
